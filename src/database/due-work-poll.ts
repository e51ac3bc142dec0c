/**
 * Searches for due work at regular intervals, in addition to the notices that announce new work. Due work is
 * for example payment operations, webhook deliveries and exports. A process with work searches once a second
 * or two. A process that had no work for a minute searches when known work becomes due, and otherwise every
 * thirty seconds, so that it uses almost no CPU time. It searches more often if it does not receive the
 * notices of other processes.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export interface DueWorkPollerOptions {
  /**
   * Searches for due work and starts it; must not throw or reject. `withinMs` is the number of milliseconds
   * until the next regular search. Resolves to the number of milliseconds until the next work becomes due,
   * for an earlier search; undefined if no further work is known. The process must not wait for the started
   * work.
   */
  readonly search: (withinMs: number) => Promise<number | undefined>;
  /** Milliseconds between two searches for due work, while the process has work or receives no notices. */
  readonly everyMs: number;
  /**
   * Returns whether this process receives notices of new work. Without notices, the process searches more
   * often.
   */
  readonly areNoticesReceived: () => boolean;
}

export interface DueWorkPoller {
  /**
   * Reports that work was announced or found. For the next minute, the process then searches every `everyMs`
   * milliseconds.
   */
  readonly noteWork: () => void;
  /** Searches for due work at once, and from then on at regular intervals. */
  readonly start: () => void;
  /** Stops the searches. Resolves when the running search has ended. */
  readonly stop: () => Promise<void>;
}

/** Milliseconds without work after which the process searches only every `idlePollMs` milliseconds. */
const idleAfterMs = 60_000;
/** Maximum number of milliseconds between two searches for due work while the process has no work. */
export const idlePollMs = 30_000;

/**
 * Resolves when the last search of an idle process has ended. The pollers of an idle process search one after
 * the other, so that they use the same database connection, and no second one must be opened.
 */
let lastIdleSearch: Promise<unknown> = Promise.resolve();

/**
 * Lets the next search of an idle process start at once. Only the simulation calls this function, because in
 * it a process can be killed during a search, and later processes share its modules.
 */
export function forgetIdleSearches(): void {
  lastIdleSearch = Promise.resolve();
}

export function createDueWorkPoller({
  search,
  everyMs,
  areNoticesReceived,
}: DueWorkPollerOptions): DueWorkPoller {
  let timer: NodeJS.Timeout | undefined;
  let nextAtMs = 0;
  let searching: Promise<void> = Promise.resolve();
  let isStarted = false;
  let isSlow = false;
  let idleAtMs = 0;
  // Searches run in a detached async context, so that they do not join the trace of the request that called
  // `noteWork`.
  const inDetachedContext = AsyncLocalStorage.snapshot();
  const searchIn = (ms: number): void => {
    clearTimeout(timer);
    nextAtMs = performance.now() + ms;
    timer = inDetachedContext(() => setTimeout(run, ms));
  };
  const startSearch = (withinMs: number): Promise<number | undefined> => {
    if (!isSlow) return search(withinMs);
    const searched = lastIdleSearch.then(() => (isStarted ? search(withinMs) : undefined));
    lastIdleSearch = searched;
    return searched;
  };
  const searchAndPlan = async (withinMs: number): Promise<void> => {
    const dueInMs = await startSearch(withinMs);
    if (isStarted && dueInMs !== undefined && performance.now() + dueInMs < nextAtMs)
      searchIn(Math.max(dueInMs, 1));
  };
  const run = (): void => {
    isSlow = performance.now() >= idleAtMs && areNoticesReceived();
    const withinMs = isSlow ? Math.max(idlePollMs, everyMs) : everyMs;
    searchIn(withinMs);
    searching = searchAndPlan(withinMs);
  };
  return {
    noteWork: () => {
      idleAtMs = performance.now() + idleAfterMs;
      if (!isStarted || !isSlow) return;
      isSlow = false;
      if (performance.now() + everyMs < nextAtMs) searchIn(everyMs);
    },
    start: () => {
      isStarted = true;
      idleAtMs = performance.now() + idleAfterMs;
      run();
    },
    stop: () => {
      isStarted = false;
      clearTimeout(timer);
      return searching;
    },
  };
}
