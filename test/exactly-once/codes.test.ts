/** Redeems one code twenty times at once in two processes: a short version of `npm run soak`. */
import { expect, it } from "vitest";
import type { ServiceApp } from "#app/app.ts";
import { findCodeFaults, runCodes } from "#soak/codes.ts";
import { manyConnections } from "#test/support/databases.ts";
import { createWorld, publicUrl } from "#test/support/world.ts";
import { askOf, environment, startBeside } from "./ask.ts";

const codes = 5;

it.each(["pglite", "postgres"] as const)(
  `${codes} codes, each redeemed twenty times at once, give one token each on %s`,
  async (engine) => {
    await using world = await createWorld(engine, { environment, poolSize: manyConnections });
    // PGlite allows one process; on PostgreSQL two apps share nothing but the database.
    const others: ServiceApp[] = engine === "pglite" ? [] : [await startBeside(world, world.database)];
    const senders = [askOf(world.app), ...others.map(askOf)] as const;
    const plan = {
      engine,
      senders,
      publicUrl,
      access: world.demo,
      copies: 20,
      isOver: (counts: { codes: number }) => counts.codes >= codes,
    };
    const { violations, counts } = await runCodes(plan);
    const { clientId } = world.demo.oauthClient;
    expect([...violations, ...(await findCodeFaults(world.database.db, { clientId, codes }))]).toEqual([]);
    expect(counts).toEqual({ codes, redemptions: codes * 20, tokens: codes, refused: codes * 19 });
    for (const other of others) await other.close();
  },
);
