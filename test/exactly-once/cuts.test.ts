/** The connections to PostgreSQL are cut at commits: a short run of what `npm run soak` does at length. */
import { expect, it } from "vitest";
import { runCuts } from "#soak/cuts.ts";
import { demoPlace } from "#test/support/copies.ts";

/** Of a cold start, on a machine that has other things to do. */
const startMsMax = 240_000;

it(
  "after each connection that was cut at a commit every acknowledged change is there, once, and sent again it is the same answer",
  async () => {
    const { databaseUrl = "", ...place } = await demoPlace("postgres");
    // PostgreSQL itself is everybody's here, and is not killed.
    const plan = {
      clients: 4,
      keysPerCut: 4,
      crashEvery: Infinity,
      isOver: ({ kills }: { kills: number }) => kills >= 8,
    };
    const { violations, counts } = await runCuts({ ...plan, ...place, databaseUrl });
    expect(violations).toEqual([]);
    expect(counts).toMatchObject({ faults: 8, cuts: 8, replays: counts["keys"] });
  },
  startMsMax,
);
