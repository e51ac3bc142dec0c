/** Sends the same write fifty times at once to two processes: a short version of `npm run soak`. */
import { expect, it } from "vitest";
import type { ServiceApp } from "#app/app.ts";
import { findDuplicateFaults, runDuplicates } from "#soak/duplicates.ts";
import { openShop } from "#soak/shop.ts";
import { manyConnections } from "#test/support/databases.ts";
import { createWorld } from "#test/support/world.ts";
import { askOf, environment, startBeside } from "./ask.ts";

it.each(["pglite", "postgres"] as const)(
  "twenty writes, each fifty times at once, have one effect and one answer each on %s",
  async (engine) => {
    await using world = await createWorld(engine, { environment, poolSize: manyConnections });
    // PGlite allows one process; on PostgreSQL two apps share nothing but the database.
    const others: ServiceApp[] = engine === "pglite" ? [] : [await startBeside(world, world.database)];
    const ask = askOf(world.app);
    const shop = await openShop(ask, world.demo);
    const plan = {
      engine,
      senders: [ask, ...others.map(askOf)] as const,
      copies: 50,
      isOver: ({ keys }: { keys: number }) => keys >= 20,
    };
    const { violations, counts, sent } = await runDuplicates(shop, plan);
    expect([...violations, ...(await findDuplicateFaults(world.database.db, sent))]).toEqual([]);
    expect(counts).toMatchObject({ keys: 20, answers: 1000 });
    expect(Number(counts["replays"]) + Number(counts["inProgress"])).toBe(20 * 49);
    for (const other of others) await other.close();
  },
);
