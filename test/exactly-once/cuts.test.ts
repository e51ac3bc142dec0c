/** Cuts connections to PostgreSQL at commits: a short version of `npm run soak`. */
import { expect, it } from "vitest";
import { runCuts } from "#soak/cuts.ts";
import { demoPlace } from "#test/support/copies.ts";

/** A cold start on a busy machine. */
const startMsMax = 240_000;

it(
  "after each connection cut at a commit every acknowledged change exists once, and its retry gets the " +
    "same answer",
  async () => {
    const { databaseUrl = "", ...place } = await demoPlace("postgres");
    // The other tests share this PostgreSQL, so it is not killed.
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
