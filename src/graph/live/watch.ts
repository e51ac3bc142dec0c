/**
 * Polls the objects that the subscriptions of this process follow, about twice a second. Each poll needs four
 * SQL statements: for all carts, all orders, webhook deliveries, and event feeds.
 */
import { findCartVersions, findOrderVersions } from "#commerce/versions.ts";
import type { Database } from "#database/connect.ts";
import { createDatabasePoller, type DatabasePoller } from "#database/polling.ts";
import type { InProcessEventEmitter } from "#foundation/events.ts";
import type { Log } from "#foundation/log.ts";
import { findEventFeedEndPositions } from "#webhooks/event-feed.ts";
import {
  createChangedDeliveryIdsFinder,
  type ChangedDeliveryIdsOfEndpoint,
} from "#webhooks/watch-deliveries.ts";

export interface SubscriptionPollers {
  /** Polls the versions of the carts that subscriptions follow. The property `orders` is the same for orders. */
  readonly carts: DatabasePoller<number>;
  readonly orders: DatabasePoller<number>;
  /** Polls for changed webhook deliveries of the webhook endpoints that subscriptions follow. */
  readonly deliveries: DatabasePoller<ChangedDeliveryIdsOfEndpoint>;
  /** Polls the position of the last event in each merchant's event feed, with `findEventFeedEndPositions`. */
  readonly eventFeeds: DatabasePoller<number>;
  /** True if a subscription of this process follows the given object. */
  readonly isWatched: (subject: { readonly type: string; readonly id: string }) => boolean;
  readonly watchers: () => number;
  readonly close: () => void;
}

/**
 * The intervals and minimum pauses of the polls, in milliseconds. Polls of carts, orders and event feeds read
 * one index entry per followed object. Polls of deliveries read a few hundred rows per followed endpoint, so
 * they are less frequent.
 */
const versionsPace = { everyMs: 400, pauseMsMin: 25 };
const deliveriesPace = { everyMs: 500, pauseMsMin: 150 };

export function createSubscriptionDatabasePollers(
  db: Database,
  events: InProcessEventEmitter,
  log: Log,
): SubscriptionPollers {
  const onError = (err: unknown): void =>
    log.warn({ event: "live_look_failed", err }, "The subjects of subscriptions could not be read.");
  const carts = createDatabasePoller({
    readStates: (ids) => findCartVersions(db, ids),
    onError,
    ...versionsPace,
  });
  const orders = createDatabasePoller({
    readStates: (ids) => findOrderVersions(db, ids),
    onError,
    ...versionsPace,
  });
  const deliveries = createDatabasePoller({
    readStates: createChangedDeliveryIdsFinder(db),
    onError,
    ...deliveriesPace,
  });
  const eventFeeds = createDatabasePoller({
    readStates: (merchantIds) => findEventFeedEndPositions(db, merchantIds),
    onError,
    ...versionsPace,
  });
  const all = [carts, orders, deliveries, eventFeeds];
  const bySubject = new Map<string, DatabasePoller<number>>([
    ["cart", carts],
    ["order", orders],
  ]);
  events.on("subjectChanged", (type) => bySubject.get(type)?.wake());
  events.on("deliveriesChanged", () => {
    deliveries.wake();
    eventFeeds.wake();
  });
  return {
    carts,
    orders,
    deliveries,
    eventFeeds,
    isWatched: ({ type, id }) => bySubject.get(type)?.isWatched(id) === true,
    watchers: () => all.reduce((sum, { watchers }) => sum + watchers(), 0),
    close: () => {
      for (const { close } of all) close();
    },
  };
}
