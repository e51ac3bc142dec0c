/**
 * Creates the async iterators behind GraphQL subscriptions. Each value (step) of an iterator means that the
 * subscribed object has changed. The resolver then reads the object again and checks the caller's access
 * again.
 */
import type { DatabasePoller } from "#database/polling.ts";
import type { ChangedDeliveryIdsOfEndpoint } from "#webhooks/watch-deliveries.ts";

export interface ObjectChangeForSubscription {
  /**
   * Records the version of the object that the resolver sends to the subscriber. After that, only a higher
   * version of the object causes another result.
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
): AsyncIterableIterator<ObjectChangeForSubscription> {
  let known: number | undefined;
  let found: number | null | undefined;
  let isBegun = false;
  const step: ObjectChangeForSubscription = { sentVersion: (version) => (known = version) };
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

export interface ChangedDeliveriesForSubscription {
  /**
   * The ids of the webhook deliveries that changed since the last result of the subscription. Null for the
   * first result, for which the resolver loads the newest deliveries instead.
   */
  readonly ids: readonly string[] | null;
  /** True if some changed deliveries may be missing in `ids`, because too many deliveries changed at once. */
  readonly isMore: boolean;
}

/**
 * Maximum number of webhook deliveries that one result of the subscription has; further deliveries follow in
 * the next result.
 */
export const deliveriesPerStepMax = 50;
/** Maximum number of changed deliveries that wait for a slow subscriber. */
const waitingMax = 1_000;

/**
 * Follows the webhook deliveries of an endpoint for a subscription. The first step of the iterator comes
 * after the first poll of the database, because changes are found by comparing each poll with the one before.
 * Each further step has all changes since the step before.
 */
export function followEndpointDeliveries(
  polling: DatabasePoller<ChangedDeliveryIdsOfEndpoint>,
  endpointId: string,
): AsyncIterableIterator<ChangedDeliveriesForSubscription> {
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
    // Too many changed deliveries wait for the subscriber, so only the newest are kept. `isMore` is then
    // true, which makes the subscriber load the whole list of deliveries again.
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

export interface NewEventsForSubscription {
  /** The cursor after which the resolver reads the next page; null begins with the oldest stored event. */
  readonly after: string | null;
  /**
   * Records the cursor and the position of the page that the resolver sends. After that, only an event with a
   * higher position causes another page.
   */
  readonly sentPage: (page: { readonly cursor: string; readonly position: number }) => void;
}

/**
 * Follows the event feed of a merchant. The iterator yields a step at the start. While events follow the last
 * sent page, it yields the next step at once; after that, it yields a step each time that events are added.
 */
export function followEventFeed(
  polling: DatabasePoller<number>,
  { merchantKey, after }: { readonly merchantKey: string; readonly after: string | null },
): AsyncIterableIterator<NewEventsForSubscription> {
  let cursor = after;
  let sentPosition = Infinity;
  let endPosition = 0;
  let isBegun = false;
  const sentPage: NewEventsForSubscription["sentPage"] = (page) => {
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
  /** Returns the next value of the iterator; undefined if nothing has changed since the last value. */
  readonly take: () => Step | undefined;
}

/**
 * An async iterator whose `return` also settles a pending `next`. In an async generator, `return` would wait
 * for the pending `next`, which may never settle.
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
