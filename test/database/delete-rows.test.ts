/** Rows are deleted in batches, and each batch reads only its own rows, whatever the planner expects. */
import { sql } from "kysely";
import { beforeAll, expect, it } from "vitest";
import type { Database } from "#database/connect.ts";
import { deleteRowsInBatches } from "#database/delete-rows.ts";
import { runInTransaction } from "#database/transaction.ts";
import { countReadRows, describeOnBoth } from "#test/support/databases.ts";

const batch = 1_000;
const expired = 2_100;
const valid = 3_000;
/** Fixed days: at midnight, PostgreSQL's 'today' would become another day within a test. */
const yesterday = "2026-01-01";
const today = "2026-01-02";
const tomorrow = "2026-01-03";

describeOnBoth("expired rows", (open, engine) => {
  let db: Database;
  beforeAll(async () => {
    ({ db } = await open());
  });

  const insertProofs = async (count: number, expiresAt: string): Promise<void> => {
    await sql`insert into dpop_proof (digest, expires_at)
      select decode(md5(${expiresAt} || n), 'hex'), ${expiresAt}::timestamptz
      from generate_series(1, ${count}::int) as n`.execute(db);
  };
  const deleteExpired = (signal?: AbortSignal): Promise<number> =>
    deleteRowsInBatches(
      db,
      { table: "dpop_proof", where: sql`expires_at <= ${today}`, orderBy: sql`expires_at` },
      signal,
    );
  const takeRest = async (): Promise<number> => {
    const { rows } = await sql`delete from dpop_proof returning expires_at`.execute(db);
    return rows.length;
  };

  /** Counts the statements that delete proofs and wait for a lock. */
  const countWaitingDeletions = async (): Promise<number> => {
    const { rows } = await sql`select from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock' and query like '%delete from "dpop_proof"%'`.execute(db);
    return rows.length;
  };

  it("are deleted in batches, the oldest first; an aborted signal stops before the next batch", async () => {
    await insertProofs(expired - batch, today);
    await insertProofs(batch, yesterday);
    await insertProofs(valid, tomorrow);
    expect(await deleteExpired(AbortSignal.abort())).toBe(batch);
    const { rows } = await sql`select from dpop_proof where expires_at = ${yesterday}`.execute(db);
    expect(rows).toHaveLength(0);
    expect(await deleteExpired()).toBe(expired - batch);
    expect(await deleteExpired()).toBe(0);
    expect(await takeRest()).toBe(valid);
  });

  it.runIf(engine === "postgres")("stay if another transaction renews them at the same moment", async () => {
    await insertProofs(10, today);
    const [isRenewed, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const renewed = runInTransaction(db, async (transaction) => {
      await sql`update dpop_proof set expires_at = ${tomorrow}`.execute(transaction);
      isRenewed.resolve();
      await commit.promise;
    });
    await isRenewed.promise;
    const deleted = deleteExpired();
    try {
      await expect.poll(countWaitingDeletions).toBe(1);
    } finally {
      commit.resolve();
      await renewed;
    }
    expect(await deleted).toBe(0);
    expect(await takeRest()).toBe(10);
  });

  it.runIf(engine === "pglite")("are read a few times, also if ANALYZE found an empty table", async () => {
    await insertProofs(valid, today);
    await sql`delete from dpop_proof`.execute(db);
    await sql`analyze dpop_proof`.execute(db);
    await insertProofs(valid, tomorrow);
    await insertProofs(expired, today);
    const before = await countReadRows(db, "dpop_proof");
    expect(await deleteExpired()).toBe(expired);
    const read = (await countReadRows(db, "dpop_proof")) - before;
    expect(read).toBeGreaterThan(expired);
    expect(read).toBeLessThan(10 * (expired + valid));
  });
});
