/**
 * A server that accepts no changes, as a connection can reach it during a failover: the pool closes the
 * connection, and the next caller gets a connection to the present primary. A database whose sessions are
 * read-only stands for the standby.
 */
import { sql } from "kysely";
import { expect, it } from "vitest";
import { type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { toServiceUnavailableIfTemporary, isReadOnlyServerError } from "#database/database-errors.ts";
import { runInTransaction } from "#database/transaction.ts";
import { toFailure } from "#foundation/failure.ts";
import { createDatabase } from "#test/support/create-database.ts";

const insert = ({ db }: OpenedDatabase, id: string): Promise<unknown> =>
  runInTransaction(db, (transaction) =>
    transaction.insertInto("app").values({ id, name: id, createdAt: new Date() }).execute(),
  );
const pidOf = async ({ db }: OpenedDatabase): Promise<unknown> =>
  (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid;

it("a connection to a server that accepts no changes is closed, and the change can be repeated", async () => {
  const url = await createDatabase();
  const name = new URL(url).pathname.slice(1);
  const changeDefault = async (value: "on" | "off"): Promise<void> => {
    const root = await openDatabase({ url });
    await root
      .script(async (run) => {
        await run("set default_transaction_read_only = off");
        await run(`alter database "${name}" set default_transaction_read_only = ${value}`);
      })
      .finally(() => root.close());
  };
  await changeDefault("on");
  const database = await openDatabase({ url, poolSize: 1 });
  const former = await pidOf(database);
  // Reads succeed, and the connection stays open.
  expect(await pidOf(database)).toBe(former);
  // The session that is open already stays read-only, as the connection to a former primary does.
  await changeDefault("off");
  const error: unknown = await insert(database, "a").catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "25006" });
  expect(isReadOnlyServerError(new Error("outer", { cause: error }))).toBe(true);
  expect(toServiceUnavailableIfTemporary(toFailure(error))).toMatchObject({
    code: "service_unavailable",
    status: 503,
    parts: { retryAfterSeconds: 2 },
  });
  expect(await pidOf(database)).not.toBe(former);
  await insert(database, "a");
  expect(await database.db.selectFrom("app").select("id").execute()).toEqual([{ id: "a" }]);
  await database.close();
});
