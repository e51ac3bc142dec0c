/**
 * What a subscription is made of: each step says that there is something to tell, which is then read with the
 * rights of that moment.
 */
import type { Polling } from "#database/polling.ts";
import type { DeliveryChanges } from "#webhooks/watch-deliveries.ts";

export interface VersionStep {
  /** Takes the version that was told. */
  readonly told: (version: number) => void;
}

/** A step at once, and one whenever the version is above the one told last. */
export function followVersion(polling: Polling<number>, id: string): AsyncIterableIterator<VersionStep> {
  let known: number | undefined;
  let found: number | null | undefined;
  let isBegun = false;
  const step: VersionStep = { told: (version) => (known = version) };
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

export interface DeliveriesStep {
  /** Null: the present state. */
  readonly ids: readonly string[] | null;
  /** More has changed than is told. */
  readonly isMore: boolean;
}

/** Told in one step; what is over follows in the next. */
export const stepMax = 50;
/** So many may wait for a subscriber that is slow to read. */
const waitingMax = 1_000;

/**
 * A first step once there is something to compare with, so that nothing happens unseen between; then one for
 * what has changed since the last one.
 */
export function followDeliveries(
  polling: Polling<DeliveryChanges>,
  endpointId: string,
): AsyncIterableIterator<DeliveriesStep> {
  const waiting = new Set<string>();
  let isMore = false;
  let isBegun = false;
  let isReady = false;
  const hear = (seen: DeliveryChanges | null): void => {
    isReady = true;
    if (!isBegun || seen === null) return;
    isMore ||= seen.isMore;
    for (const id of seen.changed) waiting.add(id);
    if (waiting.size <= waitingMax) return;
    isMore = true;
    // The newest are kept: the others are found where it is read anew.
    for (const id of [...waiting].slice(0, waiting.size - stepMax)) waiting.delete(id);
  };
  return new Follower({
    begin: (wake) =>
      polling.watch(endpointId, (seen) => {
        hear(seen);
        wake();
      }),
    take: () => {
      if (!isReady || (isBegun && waiting.size === 0 && !isMore)) return undefined;
      const ids = isBegun ? [...waiting].slice(0, stepMax) : null;
      const step = { ids, isMore };
      for (const id of ids ?? []) waiting.delete(id);
      isBegun = true;
      isMore = false;
      return step;
    },
  });
}

interface Following<Step> {
  /** Gives what ends it. */
  readonly begin: (wake: () => void) => () => void;
  /** Undefined: there is nothing to tell yet. */
  readonly take: () => Step | undefined;
}

/** `return` ends a `next` that waits, which a generator's would not. */
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
