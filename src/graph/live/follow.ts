/**
 * The steps of a subscription. Each step means that the subject has changed; the subject is then read with
 * the caller's present rights.
 */
import type { Polling } from "#database/polling.ts";
import type { DeliveryChanges } from "#webhooks/watch-deliveries.ts";

export interface VersionStep {
  /** Records the version that was sent to the subscriber. */
  readonly sentVersion: (version: number) => void;
}

/** Yields a step at once, and a step whenever the version is higher than the last sent version. */
export function followVersion(polling: Polling<number>, id: string): AsyncIterableIterator<VersionStep> {
  let known: number | undefined;
  let found: number | null | undefined;
  let isBegun = false;
  const step: VersionStep = { sentVersion: (version) => (known = version) };
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
  /** The ids of changed deliveries; null for the first step, which sends the present state. */
  readonly ids: readonly string[] | null;
  /** True if more deliveries have changed than `ids` contains. */
  readonly isMore: boolean;
}

/** Maximum number of deliveries in one step; further deliveries follow in the next step. */
export const deliveriesPerStepMax = 50;
/** Maximum number of changed deliveries that wait for a slow subscriber. */
const waitingMax = 1_000;

/**
 * Yields a first step as soon as the polling has a state to compare with, so that no change is missed. Then
 * yields a step for the changes since the last step.
 */
export function followDeliveries(
  polling: Polling<DeliveryChanges>,
  endpointId: string,
): AsyncIterableIterator<DeliveriesStep> {
  const waiting = new Set<string>();
  let isMore = false;
  let isBegun = false;
  let isReady = false;
  const addChanges = (seen: DeliveryChanges | null): void => {
    isReady = true;
    if (!isBegun || seen === null) return;
    isMore ||= seen.isMore;
    for (const id of seen.changed) waiting.add(id);
    if (waiting.size <= waitingMax) return;
    isMore = true;
    // Keeps the newest changes. The subscriber gets `isMore` and reads the others again.
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

interface Following<Step> {
  /** Starts watching and returns a function that ends it. */
  readonly begin: (wake: () => void) => () => void;
  /** Returns the next step; undefined if there is no change yet. */
  readonly take: () => Step | undefined;
}

/** An async iterator whose `return` also ends a waiting `next`; `return` of a generator would not. */
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
