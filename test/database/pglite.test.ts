/**
 * PGlite runs in the thread that serves requests. Sockets and timers must get event loop turns between
 * statements.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "kysely";
import type { OpenedDatabase } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { openFresh } from "#test/support/databases.ts";

describe("the embedded database", () => {
  let database: OpenedDatabase;
  beforeAll(async () => {
    database = await openFresh("pglite");
  });
  afterAll(() => database.close());

  /** Counts the event loop turns during the work. */
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
    runInTransaction(database.db, (transaction) => sql`select 1`.execute(transaction));

  it("lets the event loop turn before each waiting statement", async () => {
    expect(await turnsDuring(() => Promise.all(Array.from({ length: 20 }, ask)))).toBeGreaterThanOrEqual(20);
  });

  it("lets the event loop turn also between statements that are sent one after another", async () => {
    const inTurn = async (): Promise<void> => {
      for (let asked = 0; asked < 20; asked += 1) await ask();
    };
    expect(await turnsDuring(inTurn)).toBeGreaterThanOrEqual(20);
  });
});
