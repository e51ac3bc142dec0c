/**
 * The embedded database works in the thread that serves: whatever waits for it, sockets and timers have their
 * turns.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "kysely";
import type { OpenDatabase } from "#database/connect.ts";
import { inTransaction } from "#database/transaction.ts";
import { openFresh } from "#test/support/databases.ts";

describe("the embedded database", () => {
  let database: OpenDatabase;
  beforeAll(async () => {
    database = await openFresh("pglite");
  });
  afterAll(() => database.close());

  /** How often everything else had its turn meanwhile. */
  const turnsDuring = async (work: () => Promise<unknown>): Promise<number> => {
    let [turns, isOver] = [0, false];
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await work();
    isOver = true;
    return turns;
  };
  const ask = (): Promise<unknown> =>
    inTransaction(database.db, (transaction) => sql`select 1`.execute(transaction));

  it("lets others have a turn before each of those that wait for it", async () => {
    expect(await turnsDuring(() => Promise.all(Array.from({ length: 20 }, ask)))).toBeGreaterThanOrEqual(20);
  });

  it("does so too where each comes only when the one before is done", async () => {
    const inTurn = async (): Promise<void> => {
      for (let asked = 0; asked < 20; asked += 1) await ask();
    };
    expect(await turnsDuring(inTurn)).toBeGreaterThanOrEqual(20);
  });
});
