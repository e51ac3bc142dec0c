/** Stops the service under load: a short version of `npm run soak`. */
import { expect, it } from "vitest";
import { startService } from "#soak/service.ts";
import { runStop } from "#soak/stop.ts";
import { demoPlace } from "#test/support/copies.ts";

/** Two cold starts on a busy machine. */
const startsMsMax = 240_000;

it(
  "SIGTERM under load fails no request: earlier requests are answered, and refused connections have no effect",
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
