/**
 * What comes due by the clock alone is written from time to time; until then every read counts it from the
 * clock itself.
 */
import { sweepDpopProofs } from "#access/oauth/dpop.ts";
import { sweepOauthItems } from "#access/oauth/oauth-items.ts";
import { sweepGrants } from "#access/oauth/grants.ts";
import { sweepSigningKeys } from "#access/oauth/signing-keys.ts";
import { sweepApiRequests } from "#access/request-log.ts";
import { sweepStaffSessions } from "#access/people/staff-sessions.ts";
import { eraseDuePersonalData } from "#commerce/addresses/personal-data.ts";
import { expireCarts } from "#commerce/carts/cart-transitions.ts";
import { expireSessions } from "#commerce/checkout/release-sessions.ts";
import { endDuePromotions, startDuePromotions } from "#commerce/promotions/promotion-status.ts";
import { indexProducts, refreshDueProducts, refreshPopularity } from "#commerce/search/index-products.ts";
import { placeFreeCheckouts } from "#commerce/orders/complete-session.ts";
import { deleteOldSearchCounts } from "#commerce/search/search-counts.ts";
import { sweepRecords } from "#database/idempotency.ts";
import type { Log } from "#foundation/log.ts";
import { publishExpiringKeyEvents } from "#graph/access/access-events.ts";
import type { GraphServices } from "#graph/context.ts";
import { closeDeliveries, sweepEvents } from "#webhooks/sweeps.ts";

export interface SweepRound {
  readonly now: Date;
  /** Ends it between two transactions. */
  readonly signal: AbortSignal;
}

interface Sweep {
  readonly name: string;
  /** Not in every round: so long after the last time. */
  readonly everyMs?: number;
  /** All that is due, however much it is. */
  readonly run: (services: GraphServices, round: SweepRound) => Promise<unknown>;
}

export const sweeps: readonly Sweep[] = [
  {
    name: "count what is ordered",
    everyMs: 3_600_000,
    run: ({ db }, round) => refreshPopularity({ db, ...round }),
  },
  {
    name: "expire checkout sessions",
    run: ({ db, publicUrl, render }, round) => expireSessions({ db, publicUrl, render, ...round }),
  },
  {
    name: "expire carts",
    run: ({ db, publicUrl, render }, round) => expireCarts({ db, publicUrl, render, ...round }),
  },
  // After what brings stock back. A pre-order is found as one for a minute at most after its date.
  { name: "index what came due", run: ({ db }, { now, signal }) => refreshDueProducts(db, now, signal) },
  { name: "start promotions", run: ({ db, render }, round) => startDuePromotions({ db, render, ...round }) },
  { name: "end promotions", run: ({ db, render }, round) => endDuePromotions({ db, render, ...round }) },
  // Those that were priced anew on the way; anything else is placed when it is submitted.
  {
    name: "place free checkouts",
    run: (services, round) => placeFreeCheckouts({ ...services, reindex: indexProducts, ...round }),
  },
  {
    name: "tell of keys that end soon",
    run: ({ db, render }, round) => publishExpiringKeyEvents({ db, render, ...round }),
  },
  { name: "erase personal data", run: ({ db }, { now }) => eraseDuePersonalData(db, now) },
  { name: "delete idempotency records", run: ({ db }, { now, signal }) => sweepRecords(db, now, signal) },
  { name: "forget used proofs", run: ({ db }, { now, signal }) => sweepDpopProofs(db, now, signal) },
  {
    name: "delete what the authorization server need not keep",
    run: ({ db }, { now, signal }) => sweepOauthItems(db, now, signal),
  },
  {
    name: "delete what apps sent some days ago",
    run: ({ db }, { now, signal }) => sweepApiRequests(db, now, signal),
  },
  {
    name: "forget sessions at the console",
    run: ({ db }, { now, signal }) => sweepStaffSessions(db, now, signal),
  },
  {
    name: "delete grants that are long over",
    run: ({ db }, { now, signal }) => sweepGrants(db, now, signal),
  },
  { name: "delete signing keys that are over", run: ({ db }, { now }) => sweepSigningKeys(db, now) },
  {
    name: "close deliveries that nobody awaits",
    run: ({ db }, { now, signal }) => closeDeliveries(db, now, signal),
  },
  {
    name: "forget what was searched for long ago",
    everyMs: 3_600_000,
    run: ({ db }, { now }) => deleteOldSearchCounts(db, now),
  },
  { name: "delete old events", run: ({ db }, { now, signal }) => sweepEvents(db, now, signal) },
];

/** One round at a time; what is returned waits for the one that runs. */
export function startSweeps(services: GraphServices, log: Log, everyMs = 60_000): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let isIdle = true;
  const stop = new AbortController();
  const ranAtMs = new Map<string, number>();
  const round = async (): Promise<void> => {
    isIdle = false;
    for (const { name, everyMs: pauseMs = 0, run } of sweeps) {
      if (stop.signal.aborted) break;
      const now = services.clock.now();
      if (now.getTime() - (ranAtMs.get(name) ?? 0) < pauseMs) continue;
      ranAtMs.set(name, now.getTime());
      await run(services, { now, signal: stop.signal }).catch((error: unknown) =>
        logFailure(log, name, error),
      );
    }
    isIdle = true;
  };
  const timer = setInterval(() => {
    if (isIdle) running = round();
  }, everyMs);
  return () => {
    clearInterval(timer);
    stop.abort();
    return running;
  };
}

/** Of one that went on after a row failed, each row's failure has a line of its own. */
function logFailure(log: Log, sweep: string, error: unknown): void {
  log.error({ err: error, sweep }, "A sweep failed.");
  if (error instanceof AggregateError)
    for (const err of error.errors) log.error({ err, sweep }, "A sweep passed over what failed.");
}
