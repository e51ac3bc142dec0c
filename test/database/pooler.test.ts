/**
 * A transaction pooler without support for named statements and for settings of a session: the service
 * notices both by itself and continues without them. Needs PgBouncer before version 1.21.
 */
import { spawnSync } from "node:child_process";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { createServiceApp } from "#app/app.ts";
import { parseServiceSettings } from "#app/settings.ts";
import { type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { type DatabaseOrTransaction, runInTransaction } from "#database/transaction.ts";
import { createLog } from "#foundation/log.ts";
import { encryptionKeys } from "#test/support/copies.ts";
import { createDatabase } from "#test/support/create-database.ts";
import { hasPooler, startPooler } from "#test/support/pooler.ts";

const version = hasPooler ? spawnSync("/usr/sbin/pgbouncer", ["--version"], { encoding: "utf8" }).stdout : "";
const minor = Number(/PgBouncer 1\.(\d+)/.exec(version)?.[1] ?? "99");
const warnings: string[] = [];

describe.skipIf(minor >= 21)("a transaction pooler without named statements", () => {
  async function openThroughPooler(stack: AsyncDisposableStack): Promise<OpenedDatabase> {
    const pooler = stack.use(await startPooler(await createDatabase()));
    warnings.length = 0;
    const database = await openDatabase({
      url: pooler.url,
      poolSize: 20,
      limits: { outsideTransactionMs: 2_500, inTransactionMs: 10_000 },
      onPoolerLimitation: (limitation) => warnings.push(limitation),
    });
    stack.defer(() => database.close());
    return database;
  }

  it("is noticed once, and statements and transactions of many connections succeed", async () => {
    await using stack = new AsyncDisposableStack();
    const { db } = await openThroughPooler(stack);
    await sql`create table counter (id int primary key, value int)`.execute(db);
    await sql`insert into counter values (${1}, ${0})`.execute(db);
    for (let round = 1; round <= 5; round += 1)
      await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          if (index % 2 === 0) await sql`update counter set value = value + ${1}`.execute(db);
          else
            await runInTransaction(db, async (transaction) => {
              await sql`select value from counter where id = ${1} for update`.execute(transaction);
              await sql`update counter set value = value + ${1} where id = ${1}`.execute(transaction);
            });
        }),
      );
    expect((await sql`select value from counter`.execute(db)).rows).toEqual([{ value: 200 }]);
    const merchantIdOf = async (handle: DatabaseOrTransaction): Promise<unknown> =>
      (await sql`select current_setting('commerce.merchant', true) as id`.execute(handle)).rows[0];
    const merchantIds = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        index % 2 === 0
          ? merchantIdOf(db)
          : runInTransaction(db, merchantIdOf, { merchantId: `mer_${index}` }),
      ),
    );
    for (const [index, found] of merchantIds.entries())
      if (index % 2 === 1) expect(found).toEqual({ id: `mer_${index}` });
      else expect([{ id: null }, { id: "" }]).toContainEqual(found);
    expect(warnings.toSorted()).toEqual(["no_server_timeouts", "unnamed_statements"]);
  });

  it("passes on the cancel request of a statement that takes too long", async () => {
    await using stack = new AsyncDisposableStack();
    const url = await createDatabase();
    const pooler = stack.use(await startPooler(url));
    const limits = { outsideTransactionMs: 200, inTransactionMs: 1_000 };
    const [database, direct] = [await openDatabase({ url: pooler.url, limits }), await openDatabase({ url })];
    stack.defer(() => database.close());
    stack.defer(() => direct.close());
    await expect(sql`select pg_sleep(30)`.execute(database.db)).rejects.toThrow("Query read timeout");
    const running = async (): Promise<unknown> =>
      (
        await sql`select count(*) as count from pg_stat_activity where datname = current_database()
          and state = 'active' and query = 'select pg_sleep(30)'`.execute(direct.db)
      ).rows[0];
    await expect.poll(running).toEqual({ count: 0 });
  });

  it("serves a service, which logs one warning for each missing feature", async () => {
    await using stack = new AsyncDisposableStack();
    const url = await createDatabase();
    const pooler = stack.use(await startPooler(url));
    const logged: string[] = [];
    const app = await createServiceApp({
      settings: parseServiceSettings({
        DATABASE_URL: pooler.url,
        DATABASE_DIRECT_URL: url,
        ENCRYPTION_KEYS: encryptionKeys,
      }),
      log: createLog("warn", { write: (line) => void logged.push(line) }),
    });
    stack.defer(() => app.close());
    const answers = await Promise.all(
      Array.from({ length: 60 }, () =>
        app.server.inject({ url: "/api/v1/search?q=&locale=en&market=DE&sort=relevance&page=1&pageSize=1" }),
      ),
    );
    expect(new Set(answers.map(({ statusCode }) => statusCode))).not.toContain(503);
    expect(new Set(answers.map(({ statusCode }) => statusCode))).not.toContain(500);
    const found = logged.map((line) => JSON.parse(line) as { event?: string; msg: string });
    expect(found.filter(({ event }) => event === "pooler_found").map(({ msg }) => msg)).toEqual([
      expect.stringContaining("Set statement_timeout"),
      expect.stringContaining("Set DATABASE_PREPARED=0"),
    ]);
  });
});
