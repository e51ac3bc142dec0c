/** Kills the service during payments: a short version of `npm run soak`. */
import { sql } from "kysely";
import { expect, it } from "vitest";
import { findCheckoutFaults } from "#soak/checkout-checks.ts";
import { awaitDecisions, buyAndKill, createCheckoutLoad } from "#soak/checkout-crash.ts";
import { startService } from "#soak/service.ts";
import { openShop } from "#soak/shop.ts";
import { demoPlace } from "#test/support/copies.ts";

/** Several cold starts with requests in between, on a busy machine. */
const startsMsMax = 180_000;

it(
  "after each kill -9 during payments every buyer who paid has an order, and nobody pays without one",
  async () => {
    await using service = await startService(await demoPlace("postgres"));
    const buying = createCheckoutLoad(service.ask, await openShop(service.ask, service.access));
    expect(await buyAndKill(buying, { services: [service], buyers: 4, kills: 2, submitsPerKill: 6 })).toBe(2);
    // Ends the leases of the killed process, which would last half a minute.
    await service.inspect(({ db }) =>
      sql`update payment_operation set leased_until = null, due_at = now() where status = 'pending'`.execute(
        db,
      ),
    );
    await service.start();
    const { ordered, declined } = await awaitDecisions(buying);
    expect(await service.inspect(({ db }) => findCheckoutFaults(db, buying.sessionIds))).toEqual([]);
    expect([...buying.violations, ...service.faults]).toEqual([]);
    expect(ordered + declined).toBe(buying.submitted.length);
    expect(Math.min(ordered, declined, buying.unanswered)).toBeGreaterThan(0);
  },
  startsMsMax,
);
