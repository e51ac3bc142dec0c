/**
 * Creates the async iterators behind GraphQL subscriptions. Each value (step) of an iterator means that the
 * subscribed object has changed. The resolver then reads the object again and checks the caller's access
 * again.
 */
import type { DatabasePoller } from "#database/polling.ts";
import type { ChangedDeliveryIdsOfEndpoint } from "#webhooks/watch-deliveries.ts";

export interface SentObjectVersionRecorder {
  /**
   * Records which version of the object the resolver has sent to the subscriber. The subscription then waits
   * for a higher version.
   */
  readonly sentVersion: (version: number) => void;
}

/**
 * Follows one object for a subscription. The iterator yields one step at the start. It then yields a step
 * whenever the object's version is higher than the version last sent, or the object no longer exists.
 */
export function watchObjectVersion(
  polling: DatabasePoller<number>,
  id: string,
): AsyncIterableIterator<SentObjectVersionRecorder> {
  let known: number | undefined;
  let found: number | null | undefined;
  let isBegun = false;
  const step: SentObjectVersionRecorder = { sentVersion: (version) => (known = version) };
  const isDue = (): boolean =>
    found === null || (found !== undefined && known !== undefined && found > known);
  return new Follower({
    begin: (wake) =>
      polling.watch(id, (version) => {
        found = version;
        if (isDue()) wake();
      }),
    take: () => {
      if (isBegun && !isDue()) return undefined;
      isBegun = true;
      return step;
    },
  });
}

export interface DeliveryIdsChangedSinceLastResult {
  /**
   * The ids of the webhook deliveries that changed since the last result of the subscription. Null for the
   * first result, for which the resolver loads the newest deliveries instead.
   */
  readonly ids: readonly string[] | null;
  /** True if `ids` may lack some changed deliveries, because too many deliveries changed at once. */
  readonly isMore: boolean;
}

/**
 * Maximum number of webhook deliveries per result of the subscription. Further deliveries follow in the next
 * result.
 */
export const deliveriesPerStepMax = 50;
/** Maximum number of changed deliveries in the queue of a slow subscriber. */
const waitingMax = 1_000;

/**
 * Follows the webhook deliveries of an endpoint for a subscription. The iterator yields its first step after
 * the first poll of the database, because each poll is compared with the previous one. Each further step
 * contains all changes since the previous step.
 */
export function watchDeliveriesOfEndpoint(
  polling: DatabasePoller<ChangedDeliveryIdsOfEndpoint>,
  endpointId: string,
): AsyncIterableIterator<DeliveryIdsChangedSinceLastResult> {
  const waiting = new Set<string>();
  let isMore = false;
  let isBegun = false;
  let isReady = false;
  const addChanges = (seen: ChangedDeliveryIdsOfEndpoint | null): void => {
    isReady = true;
    if (!isBegun || seen === null) return;
    isMore ||= seen.isMore;
    for (const id of seen.changed) waiting.add(id);
    if (waiting.size <= waitingMax) return;
    isMore = true;
    // The queue is full, so only its newest deliveries are kept. `isMore` makes the subscriber load the whole
    // list of deliveries again.
    for (const id of [...waiting].slice(0, waiting.size - deliveriesPerStepMax)) waiting.delete(id);
  };
  return new Follower({
    begin: (wake) =>
      polling.watch(endpointId, (seen) => {
        addChanges(seen);
        wake();
      }),
    take: () => {
      if (!isReady || (isBegun && waiting.size === 0 && !isMore)) return undefined;
      const ids = isBegun ? [...waiting].slice(0, deliveriesPerStepMax) : null;
      const step = { ids, isMore };
      for (const id of ids ?? []) waiting.delete(id);
      isBegun = true;
      isMore = false;
      return step;
    },
  });
}

export interface EventFeedSubscriptionProgress {
  /** The cursor after which the resolver reads the next page; null begins with the oldest stored event. */
  readonly after: string | null;
  /**
   * Records the end of the page that the resolver has sent: its cursor and its position in the event feed.
   * The subscription then waits for an event with a higher position.
   */
  readonly sentPage: (page: { readonly cursor: string; readonly position: number }) => void;
}

/**
 * Follows the event feed of a merchant. The iterator yields a first step immediately. It yields further steps
 * without waiting until the subscriber has the newest event, and then one step after each poll that finds new
 * events.
 */
export function watchMerchantEventFeed(
  polling: DatabasePoller<number>,
  { merchantKey, after }: { readonly merchantKey: string; readonly after: string | null },
): AsyncIterableIterator<EventFeedSubscriptionProgress> {
  let cursor = after;
  let sentPosition = Infinity;
  let endPosition = 0;
  let isBegun = false;
  const sentPage: EventFeedSubscriptionProgress["sentPage"] = (page) => {
    cursor = page.cursor;
    sentPosition = page.position;
  };
  return new Follower({
    begin: (wake) =>
      polling.watch(merchantKey, (position) => {
        endPosition = position ?? 0;
        if (endPosition > sentPosition) wake();
      }),
    take: () => {
      if (isBegun && endPosition <= sentPosition) return undefined;
      isBegun = true;
      return { after: cursor, sentPage };
    },
  });
}

interface Following<Step> {
  /**
   * Starts watching the object that the subscription follows. Calls `wake` after each change. Returns a
   * function that stops watching.
   */
  readonly begin: (wake: () => void) => () => void;
  /** Returns the iterator's next value; undefined while there is no new change. */
  readonly take: () => Step | undefined;
}

/**
 * An async iterator whose `return` also ends a waiting `next`. With an async generator, `return` would wait
 * for that `next`, which may never settle.
 */
class Follower<Step> implements AsyncIterableIterator<Step> {
  readonly #take: () => Step | undefined;
  readonly #end: () => void;
  #isOver = false;
  #wake: (() => void) | undefined;

  constructor({ begin, take }: Following<Step>) {
    this.#take = take;
    this.#end = begin(() => this.#wake?.());
  }

  async next(): Promise<IteratorResult<Step>> {
    while (!this.#isOver) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const step = this.#take();
      if (step !== undefined) return { done: false, value: step };
      await promise;
    }
    return { done: true, value: undefined };
  }

  return(): Promise<IteratorResult<Step>> {
    this.#isOver = true;
    this.#end();
    this.#wake?.();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Step> {
    return this;
  }
}
