/**
 * A PostgreSQL that accepts requests and does not answer: a separate server whose processes are paused and
 * resumed. Tests that only wait run at the same time.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type ServiceApp, createServiceApp } from "#app/app.ts";
import { parseServiceSettings } from "#app/settings.ts";
import { type Database, openDatabase } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { getSqlState, isDatabaseUnreachableError } from "#database/database-errors.ts";
import { prepareDemoDataAndFile } from "#demo/prepare-demo.ts";
import { createLog } from "#foundation/log.ts";
import { createDatabase } from "#test/support/create-database.ts";
import { expectError } from "#test/support/expect-error.ts";
import { type PostgresServer, startPostgres } from "#test/support/postgres.ts";
import { temporaryFolder } from "#test/support/process.ts";
import { type Answer, publicUrl } from "#test/support/world.ts";

describe("a PostgreSQL that does not answer", () => {
  let postgres: PostgresServer;
  let app: ServiceApp;
  const halted = new Set<number>();
  const product = "/api/v1/catalog/merchants/lindenhof/products/fjell-2-trekking-tent";

  beforeAll(async () => {
    postgres = await startPostgres();
    const environment = {
      DATABASE_URL: postgres.url,
      DATABASE_POOL: "4",
      ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
    };
    const settings = parseServiceSettings({
      PORT: "4000",
      PUBLIC_URL: publicUrl,
      RATE_LIMIT_SCALE: "0",
      ...environment,
    });
    app = await createServiceApp({ settings, log: createLog("fatal") });
  });
  afterAll(async () => {
    goOn();
    await app?.close();
    await postgres?.stop();
  });

  async function halt(): Promise<void> {
    const stop = (pid: number): void => {
      process.kill(pid, "SIGSTOP");
      halted.add(pid);
    };
    // When the main process is stopped, no process is started, and the id of one that ends stays in use.
    stop(Number(readFileSync(join(postgres.folder, "data", "postmaster.pid"), "utf8").split("\n")[0]));
    const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity`.execute(app.database.db);
    for (const { pid } of rows) stop(pid);
  }
  function goOn(): void {
    for (const pid of halted) process.kill(pid, "SIGCONT");
    halted.clear();
  }
  async function get(url: string, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await app.server.inject({ url, headers });
    return {
      status: response.statusCode,
      headers: response.headers as Answer["headers"],
      text: response.body,
      body: response.json<unknown>(),
    };
  }

  it("causes 503 on every connection, and is used again later", async ({ expect }) => {
    const demo = await prepareDemoDataAndFile(app.database, {
      ...app.services,
      dataDir: temporaryFolder(),
      now: new Date(),
    });
    const requests = (): Promise<Answer[]> =>
      Promise.all([
        ...Array.from({ length: 8 }, () => get(product)),
        get("/api/v1/open/identity", { authorization: `Bearer ${demo?.keys.full}` }),
      ]);
    for (const { status } of await requests()) expect(status).toBe(200);

    await halt();
    // The first round uses connections that were open; the second has to open new ones.
    for (let round = 1; round <= 2; round += 1) {
      for (const answer of await requests())
        expectError(answer, { status: 503, code: "service_unavailable", retryAfterSeconds: 2 });
    }
    goOn();
    for (const { status } of await requests()) expect(status).toBe(200);
  });
});

describe.concurrent.each([true, false])(
  "a statement that exceeds its time limit (prepared: %s)",
  (prepared) => {
    async function open(): Promise<Awaited<ReturnType<typeof openDatabase>>> {
      return openDatabase({
        url: await createDatabase(),
        poolSize: 1,
        prepared,
        limits: { outsideTransactionMs: 1_000, inTransactionMs: 4_000 },
      });
    }
    /** Returns the number of statements `pg_sleep` that the server runs. */
    const sleeping = async (db: Database): Promise<unknown> => {
      const { rows } = await sql<{ running: number }>`select count(*) as running from pg_stat_activity
      where datname = current_database() and state = 'active' and query like 'select pg_sleep%'`.execute(db);
      return rows[0]?.running;
    };
    const sleep = (db: Pick<Database, "getExecutor">, seconds: number): Promise<unknown> =>
      sql`select pg_sleep(${seconds})`.execute(db);
    const pidOf = async (db: Database): Promise<unknown> =>
      (await sql`select pg_backend_pid() as pid`.execute(db)).rows[0];

    it("fails and closes its connection, and the next caller gets another one", async ({ expect }) => {
      const { db, ...database } = await open();
      const pid = await pidOf(db);
      const error: unknown = await sleep(db, 30).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ message: "Query read timeout" });
      expect(isDatabaseUnreachableError(error)).toBe(true);
      expect(await pidOf(db)).not.toEqual(pid);
      await expect.poll(() => sleeping(db)).toBe(0);
      await database.close();
    });

    it("has a longer limit inside a transaction, and rolls everything back if it exceeds it", async ({
      expect,
    }) => {
      const { db, ...database } = await open();
      const insert = (id: string, seconds: number): Promise<void> =>
        runInTransaction(db, async (transaction) => {
          await transaction.insertInto("app").values({ id, name: id, createdAt: new Date() }).execute();
          await sleep(transaction, seconds);
        });
      await insert("a", 1);
      // The server's own limit is 250 ms shorter than that of the process, which a busy process may overlook.
      let error: unknown;
      for (let attempt = 1; attempt <= 3 && getSqlState(error) !== "57014"; attempt += 1)
        error = await insert("b", 8).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "57014" });
      await expect.poll(() => db.selectFrom("app").select("id").execute()).toEqual([{ id: "a" }]);
      expect(await pidOf(db)).toBeDefined();
      await database.close();
    });
  },
);

describe.concurrent("the server's own time limits", () => {
  it("are set on every connection, for a process that cannot cancel its statements", async ({ expect }) => {
    const database = await openDatabase({
      url: await createDatabase(),
      limits: { outsideTransactionMs: 2_000, inTransactionMs: 8_000 },
    });
    const { rows } = await sql`select current_setting('statement_timeout') as statement,
      current_setting('idle_in_transaction_session_timeout') as idle`.execute(database.db);
    expect(rows).toEqual([{ statement: "7750ms", idle: "30s" }]);
    await database.close();
  });

  it("count as a temporary failure of the database", async ({ expect }) => {
    const database = await openDatabase({ url: await createDatabase(), poolSize: 1 });
    const error = await runInTransaction(database.db, async (transaction) => {
      await sql`set local statement_timeout = 50`.execute(transaction);
      await sql`select pg_sleep(30)`.execute(transaction);
    }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "57014" });
    expect(isDatabaseUnreachableError(error)).toBe(true);
    await database.close();
  });
});

it.concurrent("a statement has no time limit if none is configured", async ({ expect }) => {
  const { db, ...database } = await openDatabase({ url: await createDatabase(), poolSize: 1 });
  await expect(sql`select pg_sleep(3)`.execute(db)).resolves.toBeDefined();
  await database.close();
});

it("changes fail while the synchronous standby is away, and their backends do not wait for it", async ({
  expect,
}) => {
  const poolSize = 3;
  await using stack = new AsyncDisposableStack();
  const postgres = await startPostgres({ synchronous_commit: "on" });
  stack.defer(() => postgres.stop());
  const database = await openDatabase({
    url: postgres.url,
    poolSize,
    limits: { outsideTransactionMs: 150, inTransactionMs: 600 },
  });
  stack.defer(() => database.close());
  await database.script(async (run) => {
    await run("create table note (id int)");
    await run("alter system set synchronous_standby_names = 'missing'");
    await run("select pg_reload_conf()");
    await expect
      .poll(async () => (await run("show synchronous_standby_names"))[0])
      .toEqual([{ synchronous_standby_names: "missing" }]);
    const write = (id: number): Promise<unknown> =>
      id % 2 === 0
        ? sql`insert into note values (${id})`.execute(database.db)
        : runInTransaction(database.db, (transaction) =>
            sql`insert into note values (${id})`.execute(transaction),
          );
    // Commits wait for the standby from a moment on that a connection cannot see.
    const isRefused = (): Promise<boolean> =>
      write(0).then(
        () => false,
        () => true,
      );
    await expect.poll(isRefused).toBe(true);
    const written = await Promise.allSettled(Array.from({ length: 15 }, (_, id) => write(id)));
    for (const result of written)
      expect(result.status === "rejected" && isDatabaseUnreachableError(result.reason)).toBe(true);
    const backends = async (): Promise<unknown> => {
      const [[row] = []] = await run(`select count(*) <= ${poolSize} as are_within_pool,
        count(*) filter (where wait_event = 'SyncRep') as waiting
        from pg_stat_activity where application_name = 'commerce-gateway'`);
      return row;
    };
    await expect.poll(backends).toEqual({ are_within_pool: true, waiting: 0 });
  });
  // The server does not wait for the standby if a statement only reads. A busy machine may need more than the
  // limit of 150 ms.
  const isReadAnswered = (): Promise<boolean> =>
    sql`select count(*) from note`.execute(database.db).then(
      () => true,
      () => false,
    );
  await expect.poll(isReadAnswered).toBe(true);
});
