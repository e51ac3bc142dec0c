/** The service is told to stop while it is asked: a short run of what `npm run soak` does at length. */
import { expect, it } from "vitest";
import { startService } from "#soak/service.ts";
import { runStop } from "#soak/stop.ts";
import { demoPlace } from "#test/support/copies.ts";

/** Of two cold starts, on a machine that has other things to do. */
const startsMsMax = 240_000;

it(
  "SIGTERM under load fails no request: what was asked before it is answered, and what found the door closed has had no effect",
  async () => {
    await using service = await startService(await demoPlace("postgres"));
    const { violations, counts } = await runStop(service, {
      clients: 12,
      answersPerStop: 20,
      isOver: ({ stops }) => stops >= 1,
    });
    expect(violations).toEqual([]);
    expect(counts).toMatchObject({ stops: 1, failed: 0 });
    expect(counts["turned away"]).toBeGreaterThan(0);
  },
  startsMsMax,
);
