/**
 * Kills the service while buyers pay at a fake Stripe: a short version of `npm run soak -- --only
 * stripe-crash`.
 */
import { sql } from "kysely";
import { expect, it } from "vitest";
import { findCheckoutFaults } from "#soak/checkout-checks.ts";
import { findStripeFaults } from "#soak/stripe-checks.ts";
import { crashKey, runStripeCrash } from "#soak/stripe-crash.ts";
import { startService } from "#soak/service.ts";
import { startFakeStripe } from "#test/stripe/fake-stripe.ts";
import { demoPlace } from "#test/support/copies.ts";

/** Several cold starts with requests in between, on a busy machine. */
const startsMsMax = 300_000;

it(
  "after each kill -9 during payments at Stripe, no payment is lost or doubled",
  async () => {
    const account = { id: "acct_crash", name: "Crash test", isLive: false };
    await using stripe = await startFakeStripe({ accounts: { [crashKey]: account }, isLive: false });
    const place = await demoPlace("postgres");
    await using service = await startService({
      ...place,
      environment: { ...place.environment, STRIPE_API_BASE: stripe.url },
    });
    // Ends the leases of the killed process, which would last half a minute.
    const startLast = async (): Promise<void> => {
      await service.inspect(({ db }) =>
        sql`update payment_operation set leased_until = null, due_at = now() where status = 'pending'`.execute(
          db,
        ),
      );
      await service.start();
    };
    const { counts, sessionIds, violations } = await runStripeCrash(service, {
      stripe,
      buyers: 3,
      kills: 2,
      submitsPerKill: 5,
      startLast,
    });
    const faults = await service.inspect(async ({ db }) => [
      ...(await findStripeFaults(db, stripe)),
      ...(await findCheckoutFaults(db, sessionIds, "stripe")),
    ]);
    expect([...violations, ...faults, ...service.faults]).toEqual([]);
    expect(counts).toMatchObject({ kills: 2 });
    expect(Math.min(counts["ordered"] ?? 0, counts["webhooks"] ?? 0)).toBeGreaterThan(0);
  },
  startsMsMax,
);
