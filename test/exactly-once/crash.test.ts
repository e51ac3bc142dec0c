/** Kills the service during its work, while clients repeat requests: a short version of `npm run soak`. */
import { expect, it } from "vitest";
import { runCrash } from "#soak/crash.ts";
import { startService } from "#soak/service.ts";
import { demoPlace } from "#test/support/copies.ts";

/** Three cold starts with requests in between, on a busy machine. */
const startsMsMax = 120_000;

it.each([
  ["pglite", 1],
  ["postgres", 2],
] as const)(
  "after each kill -9 on %s every acknowledged change exists once, with its original answer",
  async (engine, kills) => {
    await using service = await startService(await demoPlace(engine));
    const { violations, counts } = await runCrash(service, {
      clients: 4,
      keysPerKill: 30,
      isOver: (done) => done.kills >= kills,
    });
    expect(violations).toEqual([]);
    expect(counts["kills"]).toBe(kills);
    expect(counts["replays"]).toBe(counts["keys"]);
    expect(counts["unanswered"]).toBeGreaterThan(0);
  },
  startsMsMax,
);
