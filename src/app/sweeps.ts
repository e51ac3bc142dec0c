/**
 * Runs the sweeps. A sweep is a periodic job that stores changes which the passing of time causes, for
 * example the expiry of a cart. Reads do not depend on the sweeps: until a sweep has stored such a change,
 * every read compares the stored times with the current time.
 */
import { deleteExpiredDpopProofs } from "#access/oauth/dpop.ts";
import { deleteExpiredOauthServerRecords } from "#access/oauth/oauth-items.ts";
import { deleteOauthGrantsPastRetention } from "#access/oauth/grants.ts";
import { deleteExpiredOauthSigningKeys } from "#access/oauth/signing-keys.ts";
import { deleteExpiredApiRequestLogEntries } from "#access/request-log.ts";
import { deleteExpiredStaffSessions } from "#access/people/staff-sessions.ts";
import { erasePersonalDataPastRetention } from "#commerce/addresses/personal-data.ts";
import { endExpiredPricesOfAllMerchants } from "#commerce/catalog/end-prices.ts";
import { deleteEndedCarts } from "#commerce/carts/delete-ended-carts.ts";
import { expireCarts } from "#commerce/carts/cart-transitions.ts";
import { expireCheckoutSessions } from "#commerce/checkout/release-sessions.ts";
import { endDuePromotions, startDuePromotions } from "#commerce/promotions/promotion-status.ts";
import { deleteExpiredExportJobs } from "#commerce/exports/export-jobs.ts";
import { indexProducts, reindexProductsWithChangedAvailability } from "#commerce/search/index-products.ts";
import { refreshProductPopularity } from "#commerce/search/refresh-popularity.ts";
import {
  deleteOldPaymentProviderEvents,
  handleMissedPaymentProviderEvents,
} from "#commerce/orders/payment/read-provider-events.ts";
import { placeOrdersOfFreeCheckouts } from "#commerce/orders/complete-session.ts";
import { deleteOldSearchQueryCounts } from "#commerce/search/search-counts.ts";
import { createDayPartitions } from "#database/day-partitions.ts";
import { deleteExpiredIdempotencyRecords } from "#database/idempotency-maintenance.ts";
import type { Log } from "#foundation/log.ts";
import { publishExpiringKeyEvents } from "#graph/access/access-events.ts";
import type { GraphqlServices } from "#graph/context.ts";
import { endUndeliverableWebhookDeliveries, deleteExpiredEvents } from "#webhooks/sweeps.ts";
import { createPaymentProviderEventServices } from "./provider-events.ts";

export interface CleanupSweepTimeAndAbortSignal {
  readonly now: Date;
  /**
   * An abort signal, aborted when the service stops. The running sweep then ends after its current
   * transaction.
   */
  readonly signal: AbortSignal;
}

interface Sweep {
  readonly name: string;
  /** Minimum number of milliseconds between two runs of the sweep. If left out, the sweep runs once a minute. */
  readonly everyMs?: number;
  /**
   * True if the sweep sends requests to another service. It then has a timer of its own, so that a slow
   * service does not delay the other sweeps.
   */
  readonly isRemote?: true;
  /** Runs the sweep once: stores all changes whose time has come, for example that a cart has expired. */
  readonly run: (services: GraphqlServices, round: CleanupSweepTimeAndAbortSignal) => Promise<unknown>;
}

/**
 * Milliseconds between two runs of a sweep that only deletes rows after their retention, to free disk space.
 * These sweeps run less often than the others, so that an idle process runs fewer statements.
 */
const spaceSweepMs = 300_000;

export const sweeps: readonly Sweep[] = [
  {
    name: "create day partitions",
    everyMs: 3_600_000,
    run: ({ db }, { now }) => createDayPartitions(db, now),
  },
  {
    name: "count ordered products",
    everyMs: 3_600_000,
    run: ({ db }, round) => refreshProductPopularity({ db, ...round }),
  },
  {
    name: "expire checkout sessions",
    run: ({ db, publicUrl, render }, round) => expireCheckoutSessions({ db, publicUrl, render, ...round }),
  },
  {
    name: "expire carts",
    run: ({ db, publicUrl, render }, round) => expireCarts({ db, publicUrl, render, ...round }),
  },
  // This sweep stores and publishes that temporary prices have ended. Reads ignore an ended price at once,
  // even before the sweep. It runs before the search index is refreshed, so that the index gets the new
  // prices.
  {
    name: "end prices",
    run: ({ db, render }, round) =>
      endExpiredPricesOfAllMerchants({ db, render, reindex: indexProducts, ...round }),
  },
  // This sweep refreshes the search index. It runs after the sweeps that release stock, so that the index
  // shows the released stock at once. Sweeps run once a minute, so a product can appear as a preorder for up
  // to a minute after its release date.
  {
    name: "index due changes",
    run: ({ db }, { now, signal }) => reindexProductsWithChangedAvailability(db, now, signal),
  },
  { name: "start promotions", run: ({ db, render }, round) => startDuePromotions({ db, render, ...round }) },
  { name: "end promotions", run: ({ db, render }, round) => endDuePromotions({ db, render, ...round }) },
  // This sweep places the orders of submitted checkout sessions whose total became 0 when their prices were
  // calculated again. If the total is 0 from the start, the order is placed when the session is submitted.
  {
    name: "place free checkouts",
    run: (services, round) => placeOrdersOfFreeCheckouts({ ...services, reindex: indexProducts, ...round }),
  },
  {
    name: "announce expiring API keys",
    run: ({ db, render }, round) => publishExpiringKeyEvents({ db, render, ...round }),
  },
  // This sweep reads the events of payment providers that did not arrive as webhooks, and handles them.
  {
    name: "read payment provider events",
    everyMs: 300_000,
    isRemote: true,
    run: (services, round) =>
      handleMissedPaymentProviderEvents({ ...createPaymentProviderEventServices(services), ...round }),
  },
  {
    name: "delete old payment provider events",
    everyMs: 3_600_000,
    run: ({ db }, { now }) => deleteOldPaymentProviderEvents(db, now),
  },
  {
    name: "delete ended carts",
    everyMs: 3_600_000,
    run: ({ db, cartRetentionDays }, round) =>
      deleteEndedCarts({ db, retentionDays: cartRetentionDays, ...round }),
  },
  { name: "erase personal data", run: ({ db }, { now }) => erasePersonalDataPastRetention(db, now) },
  {
    name: "delete idempotency records",
    everyMs: spaceSweepMs,
    run: ({ db }, { now, signal }) => deleteExpiredIdempotencyRecords(db, now, signal),
  },
  {
    name: "delete used DPoP proofs",
    everyMs: spaceSweepMs,
    run: ({ db }, { now, signal }) => deleteExpiredDpopProofs(db, now, signal),
  },
  {
    name: "delete expired OAuth items",
    everyMs: spaceSweepMs,
    run: ({ db }, { now, signal }) => deleteExpiredOauthServerRecords(db, now, signal),
  },
  {
    name: "delete old API requests",
    everyMs: spaceSweepMs,
    run: ({ db }, { now, signal }) => deleteExpiredApiRequestLogEntries(db, now, signal),
  },
  {
    name: "delete expired console sessions",
    everyMs: spaceSweepMs,
    run: ({ db }, { now, signal }) => deleteExpiredStaffSessions(db, now, signal),
  },
  {
    name: "delete old OAuth grants",
    everyMs: spaceSweepMs,
    run: ({ db }, { now, signal }) => deleteOauthGrantsPastRetention(db, now, signal),
  },
  {
    name: "delete old signing keys",
    everyMs: spaceSweepMs,
    run: ({ db }, { now }) => deleteExpiredOauthSigningKeys(db, now),
  },
  {
    name: "close unneeded deliveries",
    run: ({ db }, { now, signal }) => endUndeliverableWebhookDeliveries(db, now, signal),
  },
  {
    name: "delete old search counts",
    everyMs: 3_600_000,
    run: ({ db }, { now }) => deleteOldSearchQueryCounts(db, now),
  },
  {
    name: "delete expired exports",
    everyMs: spaceSweepMs,
    run: ({ db }, { now, signal }) => deleteExpiredExportJobs(db, now, signal),
  },
  {
    name: "delete old events",
    everyMs: spaceSweepMs,
    run: ({ db }, { now, signal }) => deleteExpiredEvents(db, now, signal),
  },
];

/**
 * Starts to run all sweeps (periodic jobs) one after the other, once a minute. The sweeps that send requests
 * to other services run beside the others, so that a slow service does not delay the other sweeps. Returns a
 * function that stops the sweeps and waits until the running sweeps have ended.
 */
export function startPeriodicCleanupSweeps(
  services: GraphqlServices,
  log: Log,
  everyMs = 60_000,
): () => Promise<void> {
  const stop = new AbortController();
  const ranAtMs = new Map<string, number>();
  const runAll = async (chosen: readonly Sweep[]): Promise<void> => {
    for (const { name, everyMs: pauseMs = 0, run } of chosen) {
      if (stop.signal.aborted) break;
      const now = services.clock.now();
      if (now.getTime() - (ranAtMs.get(name) ?? 0) < pauseMs) continue;
      ranAtMs.set(name, now.getTime());
      await run(services, { now, signal: stop.signal }).catch((error: unknown) =>
        logFailure(log, name, error),
      );
    }
  };
  const rounds = [undefined, true].map((remote) => {
    const chosen = sweeps.filter(({ isRemote }) => isRemote === remote);
    return startRounds(() => runAll(chosen), everyMs);
  });
  return async () => {
    stop.abort();
    await Promise.all(rounds.map((stopRounds) => stopRounds()));
  };
}

/**
 * Runs a function at fixed intervals, but never twice at the same time. Returns a function that stops the
 * runs and waits until the current run has ended.
 */
function startRounds(run: () => Promise<void>, everyMs: number): () => Promise<void> {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= run().finally(() => (running = undefined));
  }, everyMs);
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/**
 * Logs that a sweep failed. If the sweep skipped rows because of errors, also logs the error of each of these
 * rows.
 */
function logFailure(log: Log, sweep: string, error: unknown): void {
  log.error({ err: error, sweep }, "A sweep failed.");
  if (error instanceof AggregateError)
    for (const err of error.errors) log.error({ err, sweep }, "A sweep skipped a row that failed.");
}
