/** Rows are deleted in batches, and each batch reads only its own rows, whatever the planner expects. */
import { sql } from "kysely";
import { beforeAll, expect, it } from "vitest";
import type { Database } from "#database/connect.ts";
import { deleteRowsInBatches } from "#database/delete-rows.ts";
import { countReadRows, describeOnBoth } from "#test/support/databases.ts";

const batch = 1_000;
const expired = 2_100;
const valid = 3_000;

describeOnBoth("deleted rows", (open, engine) => {
  let db: Database;
  beforeAll(async () => {
    ({ db } = await open());
  });

  /** Inserts rows that expire today or tomorrow. */
  const insertProofs = async (count: number, expiresAt: "today" | "tomorrow"): Promise<void> => {
    await sql`insert into dpop_proof (digest, expires_at)
      select decode(md5(${expiresAt} || n), 'hex'), ${expiresAt}::timestamptz
      from generate_series(1, ${count}::int) as n`.execute(db);
  };
  const deleteExpired = (signal?: AbortSignal): Promise<number> =>
    deleteRowsInBatches(
      db,
      { table: "dpop_proof", where: sql`expires_at <= 'today'`, orderBy: sql`expires_at` },
      signal,
    );

  it("are those of the condition, in several batches, of which a signal stops the next one", async () => {
    await insertProofs(expired, "today");
    await insertProofs(valid, "tomorrow");
    expect(await deleteExpired(AbortSignal.abort())).toBe(batch);
    expect(await deleteExpired()).toBe(expired - batch);
    expect(await deleteExpired()).toBe(0);
    const { rows } = await sql`delete from dpop_proof returning expires_at`.execute(db);
    expect(rows).toHaveLength(valid);
  });

  it.runIf(engine === "pglite")(
    "are read a few times, also if the planner expects an empty table",
    async () => {
      await insertProofs(valid, "today");
      await sql`delete from dpop_proof`.execute(db);
      await sql`analyze dpop_proof`.execute(db);
      await insertProofs(valid, "tomorrow");
      await insertProofs(expired, "today");
      const before = await countReadRows(db, "dpop_proof");
      expect(await deleteExpired()).toBe(expired);
      expect((await countReadRows(db, "dpop_proof")) - before).toBeLessThan(10 * (expired + valid));
    },
  );
});
