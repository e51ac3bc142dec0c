/** Concurrent writers on the same carts: a short version of `npm run soak`. */
import { expect, it } from "vitest";
import { runHistories } from "#soak/histories.ts";
import { checkHistories } from "#soak/history-checks.ts";
import { openShop } from "#soak/shop.ts";
import { createWorld } from "#test/support/world.ts";
import { askOf } from "./ask.ts";

it.each(["pglite", "postgres"] as const)(
  "eight writers on three carts lose no update and get no version twice on %s",
  async (engine) => {
    await using world = await createWorld(engine);
    const ask = askOf(world.app);
    const shop = await openShop(ask, world.demo);
    const history = await runHistories(ask, shop, {
      engine,
      writers: 8,
      carts: 3,
      isOver: (operations) => operations >= 8 * 60,
    });
    const { violations, counts } = await checkHistories(world.database.db, history);
    expect(violations).toEqual([]);
    expect(counts["operations"]).toBe(8 * 60);
    for (const name of ["changed", "conflicts", "merges"]) expect(counts[name]).toBeGreaterThan(0);
  },
);
