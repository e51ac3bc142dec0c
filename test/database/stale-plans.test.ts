/**
 * A migration adds a column while an older process runs: the process prepares its statements again and
 * repeats the query.
 */
import { expect, it } from "vitest";
import { sql } from "kysely";
import { openDatabase } from "#database/connect.ts";
import { isStalePreparedStatementError } from "#database/database-errors.ts";
import { runInTransaction, runSqlStatementWithRetries } from "#database/transaction.ts";
import { createDatabase } from "#test/support/create-database.ts";

it("a table with a new column is read again by transactions and statements on every connection", async () => {
  const url = await createDatabase();
  await using stack = new AsyncDisposableStack();
  const [older, newer] = [await openDatabase({ url, poolSize: 2 }), await openDatabase({ url })];
  for (const database of [older, newer]) stack.defer(() => database.close());
  await newer.script((run) => run("create table thing as select 1 as id"));
  const read = sql<{ id: number }>`select * from thing where id = ${1}`;
  // Runs on both connections.
  await Promise.all([read.execute(older.db), read.execute(older.db)]);

  await newer.script((run) => run("alter table thing add column size integer"));
  expect(
    await runInTransaction(older.db, async (transaction) => (await read.execute(transaction)).rows),
  ).toEqual([{ id: 1, size: null }]);
  for (const rows of await Promise.all([
    runSqlStatementWithRetries(older.db, read),
    runSqlStatementWithRetries(older.db, read),
  ]))
    expect(rows).toEqual([{ id: 1, size: null }]);

  await newer.script((run) => run("alter table thing add column colour text"));
  const first = await read.execute(older.db).catch((error: unknown) => error);
  expect(isStalePreparedStatementError(first)).toBe(true);
  expect((await read.execute(older.db)).rows).toEqual([{ id: 1, size: null, colour: null }]);
});
