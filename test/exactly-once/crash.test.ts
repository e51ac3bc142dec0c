/**
 * The service is killed in the middle of its work, and clients send the same again: a short run of what `npm
 * run soak` does at length.
 */
import { expect, it } from "vitest";
import { runCrash } from "#soak/crash.ts";
import { startService } from "#soak/service.ts";
import { demoPlace } from "#test/support/copies.ts";

/** Of three cold starts and what is between them, on a machine that has other things to do. */
const startsMsMax = 120_000;

it.each(["pglite", "postgres"] as const)(
  "after each kill -9 on %s every acknowledged change is there, once, with the answer that it had",
  async (engine) => {
    await using service = await startService(await demoPlace(engine));
    const { violations, counts } = await runCrash(service, {
      clients: 4,
      keysPerKill: 30,
      isOver: ({ kills }) => kills >= 2,
    });
    expect(violations).toEqual([]);
    expect(counts["kills"]).toBe(2);
    expect(counts["replays"]).toBe(counts["keys"]);
    expect(counts["unanswered"]).toBeGreaterThan(0);
  },
  startsMsMax,
);
