/** A single statement is retried like a transaction, for the same errors only. */
import { beforeAll, beforeEach, expect, it } from "vitest";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { getSqlState } from "#database/database-errors.ts";
import { runSqlStatementWithRetries } from "#database/transaction.ts";
import { describeOnBoth } from "#test/support/databases.ts";

describeOnBoth("a single statement", (open) => {
  let db: Database;
  beforeAll(async () => {
    const database = await open({ poolSize: 2 });
    ({ db } = database);
    // A sequence keeps the effect of a failed statement, so it counts the attempts.
    await database.script((run) =>
      run(`create sequence tries; create function try_it(failures int, code text) returns bigint language plpgsql as $$
        declare number bigint := nextval('tries');
        begin
          if number <= failures then raise exception using errcode = code; end if;
          return number;
        end $$;
        grant all on sequence tries to public`),
    );
  });
  beforeEach(() => sql`select setval('tries', 1, false)`.execute(db));

  const tryIt = (failures: number, code: string): RawBuilder<{ number: number }> =>
    sql`select try_it(${failures}, ${code}) as number`;
  const tries = async (): Promise<number | undefined> =>
    (await sql<{ value: number }>`select last_value as value from tries`.execute(db)).rows[0]?.value;

  it.each(["40001", "40P01"])("is retried after a conflict with other transactions: %s", async (code) => {
    expect(await runSqlStatementWithRetries(db, tryIt(2, code))).toEqual([{ number: 3 }]);
  });

  it("fails after three attempts", async () => {
    const error = await runSqlStatementWithRetries(db, tryIt(3, "40001")).catch((thrown: unknown) => thrown);
    expect(getSqlState(error)).toBe("40001");
    expect(await tries()).toBe(3);
  });

  it("is not retried after other errors", async () => {
    const error = await runSqlStatementWithRetries(db, tryIt(1, "23505")).catch((thrown: unknown) => thrown);
    expect(getSqlState(error)).toBe("23505");
    expect(await tries()).toBe(1);
  });
});
