/**
 * Statements that are pipelined with a transaction's begin or commit, or with other statements, are as
 * reliable as statements sent one by one.
 */
import { CompiledQuery, sql } from "kysely";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "#database/connect.ts";
import { buildInsertSqlQuery } from "#database/prepared-template.ts";
import { getSqlState, uniqueViolation } from "#database/database-errors.ts";
import {
  runInTransaction,
  runStatementsPipelined,
  bufferWriteUntilNextStatement,
  type Transaction,
} from "#database/transaction.ts";
import { createDatabase } from "#test/support/create-database.ts";
import { describeOnBoth } from "#test/support/databases.ts";

const createdAt = new Date("2026-01-01T00:00:00.000Z");
const text = "insert into app (id, name, created_at) values ($1, $1, $2)";
const insert = (id: string): CompiledQuery => CompiledQuery.raw(text, [id, createdAt]);
const write = (transaction: Transaction, id: string): Promise<unknown> =>
  transaction.executeQuery(insert(id));
const record = (status: number): CompiledQuery =>
  CompiledQuery.raw(
    `insert into idempotency_record (owner_id, idempotency_key, fingerprint, status, content_type, sealed,
      data_key, key_id, created_at) values ('o', $1, '', $2, '', '', '', '', $3)`,
    [Buffer.from([status]), status, createdAt],
  );
const isWrite = (statement: string): boolean => /insert/.test(statement);
const buffer = (transaction: Transaction, query: CompiledQuery): Promise<void> =>
  bufferWriteUntilNextStatement(transaction, { query, tables: ["app"] });
const idsOf = async (db: Pick<Database, "selectFrom">): Promise<string[]> =>
  (await db.selectFrom("app").select("id").orderBy("id").execute()).map(({ id }) => id);
const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
const count = CompiledQuery.raw(`select count(*)::int as "soMany" from app`);
const broken = CompiledQuery.raw("select 1 / $1::int as quotient", [0]);
const divisionByZero = "22012";

describeOnBoth("a transaction", (open) => {
  let db: Database;
  const statements: string[] = [];
  beforeAll(async () => {
    ({ db } = await open({ poolSize: 1, onStatement: ({ query }) => statements.push(query.sql) }));
  });
  beforeEach(() => db.deleteFrom("app").execute());

  describe("whose first statement is sent with its begin", () => {
    it("gets the statement's result, and holds its locks", async () => {
      await db.executeQuery(insert("a"));
      const opened = await runInTransaction(
        db,
        async (transaction, [counted, locked]) => {
          const { rows } = await sql<{ held: number }>`
            select count(*)::int as held from pg_locks where locktype = 'advisory'
            and pid = pg_backend_pid()`.execute(transaction);
          return [counted?.rows, locked?.rows, rows];
        },
        {
          opening: [
            count,
            CompiledQuery.raw(`select pg_try_advisory_xact_lock($1::bigint) as "isHeld"`, ["7"]),
          ],
        },
      );
      expect(opened).toEqual([[{ soMany: 1 }], [{ isHeld: true }], [{ held: 1 }]]);
    });

    it("does not start if the statement fails, throws its error, and cleans the connection", async () => {
      let runs = 0;
      const work = (): Promise<number> => Promise.resolve((runs += 1));
      // The statement's first preparation fails because the one before failed, so the next use must prepare
      // it again.
      const fresh = CompiledQuery.raw(`select $1::text as "fresh"`, ["x"]);
      expect(
        getSqlState(await thrownBy(runInTransaction(db, work, { opening: [broken, fresh, fresh] }))),
      ).toBe(divisionByZero);
      expect(runs).toBe(0);
      expect((await db.executeQuery(fresh)).rows).toEqual([{ fresh: "x" }]);
      await runInTransaction(db, (transaction) => write(transaction, "a"));
      expect(await idsOf(db)).toEqual(["a"]);
    });
  });

  describe("that buffers writes", () => {
    it("sends them with its commit, in order, combined if they write different tables", async () => {
      statements.length = 0;
      await runInTransaction(db, async (transaction) => {
        await buffer(transaction, insert("b"));
        await bufferWriteUntilNextStatement(transaction, { query: record(1), tables: ["idempotencyRecord"] });
        await bufferWriteUntilNextStatement(transaction, { query: record(2), tables: ["idempotencyRecord"] });
        await buffer(transaction, insert("c"));
        expect(statements.filter(isWrite)).toEqual([]);
      });
      expect(statements.filter(isWrite)).toEqual([
        expect.stringMatching(/^with write_0 as \(insert into app .*, write_1 as \(insert into idempotency/s),
        expect.stringMatching(/^with write_0 as \(insert into idempotency.*, write_1 as \(insert into app/s),
      ]);
      expect(await idsOf(db)).toEqual(["b", "c"]);
      const { rows } = await sql`select status from idempotency_record order by 1`.execute(db);
      expect(rows).toEqual([{ status: 1 }, { status: 2 }]);
      await sql`delete from idempotency_record`.execute(db);
    });

    it("lets its next statement see them", async () => {
      const seen = await runInTransaction(db, async (transaction) => {
        await buffer(transaction, insert("b"));
        await buffer(transaction, CompiledQuery.raw("update app set name = 'changed' where id = $1", ["b"]));
        await write(transaction, "a");
        return idsOf(transaction);
      });
      expect(seen).toEqual(["a", "b"]);
      expect(await db.selectFrom("app").select(["id", "name"]).orderBy("id").execute()).toEqual([
        { id: "a", name: "a" },
        { id: "b", name: "changed" },
      ]);
    });

    it("executes none of them if the work throws", async () => {
      const failure = new Error("no");
      const work = runInTransaction(db, async (transaction) => {
        await buffer(transaction, insert("b"));
        await write(transaction, "a");
        throw failure;
      });
      expect(await thrownBy(work)).toBe(failure);
      expect(await idsOf(db)).toEqual([]);
    });

    it.each([
      ["the first", [insert("a"), insert("b")]],
      ["the last", [insert("b"), insert("a")]],
    ])("commits nothing if %s of them fails, and throws its error", async (_which, queries) => {
      const work = runInTransaction(db, async (transaction) => {
        await write(transaction, "a");
        for (const query of queries) await buffer(transaction, query);
      });
      expect(getSqlState(await thrownBy(work))).toBe(uniqueViolation);
      expect(await idsOf(db)).toEqual([]);
      await runInTransaction(db, (transaction) => write(transaction, "c"));
      expect(await idsOf(db)).toEqual(["c"]);
    });

    it("runs again with all of them after a serialization failure or deadlock", async () => {
      let runs = 0;
      await runInTransaction(db, async (transaction) => {
        runs += 1;
        await buffer(transaction, insert(`run ${runs}`));
        if (runs < 3) throw Object.assign(new Error("could not serialize access"), { code: "40001" });
      });
      expect(await idsOf(db)).toEqual(["run 3"]);
    });

    it("does not commit if a statement cannot be sent", async () => {
      const unsendable = {
        toPostgres: () => {
          throw new Error("cannot be sent");
        },
        toString: () => {
          throw new Error("cannot be sent");
        },
      };
      const work = runInTransaction(db, async (transaction) => {
        await write(transaction, "a");
        await buffer(transaction, CompiledQuery.raw("update app set name = $1", [unsendable]));
      });
      expect(await thrownBy(work)).toMatchObject({ message: "cannot be sent" });
      expect(await idsOf(db)).toEqual([]);
    });
  });

  it("runs pipelined statements in order, and each sees the results of the ones before", async () => {
    const results = await runInTransaction(db, (transaction) =>
      runStatementsPipelined(transaction, [insert("a"), count, insert("b"), count]),
    );
    expect(results.map(({ rows }) => rows)).toEqual([[], [{ soMany: 1 }], [], [{ soMany: 2 }]]);
    const work = runInTransaction(db, (transaction) =>
      runStatementsPipelined(transaction, [insert("c"), insert("a"), broken]),
    );
    expect(getSqlState(await thrownBy(work))).toBe(uniqueViolation);
    expect(await idsOf(db)).toEqual(["a", "b"]);
  });

  it.each([1, 2, 4, 5, 9])(
    "inserts %d rows, and uses the same statement text for the same number of rows",
    async (length) => {
      const rows = (letter: string): { id: string; name: string; createdAt: Date }[] =>
        Array.from({ length }, (_, index) => ({
          id: `${letter}${index}`,
          name: `name of ${letter}${index}`,
          createdAt,
        }));
      const [first, second] = [
        buildInsertSqlQuery(db, "app", rows("a")),
        buildInsertSqlQuery(db, "app", rows("b")),
      ];
      expect(second.sql).toBe(first.sql);
      await db.executeQuery(first);
      await db.executeQuery(second);
      expect(await db.selectFrom("app").select(["id", "name", "createdAt"]).orderBy("id").execute()).toEqual([
        ...rows("a"),
        ...rows("b"),
      ]);
    },
  );
});

it.each([true, false])(
  "sees rows committed while it waited for a lock, though both statements were sent at once (prepared: %s)",
  async (prepared) => {
    const url = await createDatabase();
    const [mine, theirs] = await Promise.all([
      openDatabase({ url, prepared, poolSize: 1 }),
      openDatabase({ url, poolSize: 1 }),
    ]);
    await mine.db.executeQuery(insert("a"));
    const { promise: isLocked, resolve: lock } = Promise.withResolvers<void>();
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const changing = runInTransaction(theirs.db, async (transaction) => {
      await transaction.executeQuery(
        CompiledQuery.raw("update app set name = 'theirs' where id = $1", ["a"]),
      );
      await write(transaction, "b");
      lock();
      await mayEnd;
    });
    await isLocked;
    const wait = CompiledQuery.raw("select id from app where id = $1 for no key update", ["a"]);
    const read = CompiledQuery.raw("select id, name from app where id <> $1 order by id", ["none"]);
    const reading = runInTransaction(mine.db, (transaction) =>
      runStatementsPipelined(transaction, [wait, read]),
    );
    const isWaiting = async (): Promise<boolean> =>
      (
        await theirs.script((run) =>
          run(
            "select 1 from pg_locks join pg_stat_activity using (pid) " +
              "where not granted and locktype = 'transactionid' and datname = current_database()",
          ),
        )
      )[0]?.length === 1;
    await expect.poll(isWaiting).toBe(true);
    end();
    await changing;
    const [, found] = await reading;
    expect(found?.rows).toEqual([
      { id: "a", name: "theirs" },
      { id: "b", name: "b" },
    ]);
    await Promise.all([mine.close(), theirs.close()]);
  },
);
