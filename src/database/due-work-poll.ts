/**
 * Searches for due work at regular intervals, in addition to the notices that announce new work. Due work is
 * for example payment operations, webhook deliveries and exports. A process with work searches once a second
 * or two. A process that had no work for a minute searches every ten seconds, so that it uses almost no CPU
 * time. It searches more often if it does not receive the notices of other processes.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export interface DueWorkPollerOptions {
  /**
   * Searches for due work; must not throw or reject. `withinMs` is the number of milliseconds until the next
   * search. For work that becomes due earlier, the function must set its own timer.
   */
  readonly search: (withinMs: number) => void;
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
  readonly stop: () => void;
}

/** Milliseconds without work after which the process searches only every `idlePollMs` milliseconds. */
const idleAfterMs = 60_000;
/** Milliseconds between two searches for due work while the process has no work. */
export const idlePollMs = 10_000;

export function createDueWorkPoller({
  search,
  everyMs,
  areNoticesReceived,
}: DueWorkPollerOptions): DueWorkPoller {
  let timer: NodeJS.Timeout | undefined;
  let isStarted = false;
  let isSlow = false;
  let idleAtMs = 0;
  // Searches run in a detached async context, so that they do not join the trace of the request that called
  // `noteWork`.
  const inDetachedContext = AsyncLocalStorage.snapshot();
  const run = (): void => {
    isSlow = performance.now() >= idleAtMs && areNoticesReceived();
    const withinMs = isSlow ? Math.max(idlePollMs, everyMs) : everyMs;
    timer = inDetachedContext(() => setTimeout(run, withinMs));
    search(withinMs);
  };
  return {
    noteWork: () => {
      idleAtMs = performance.now() + idleAfterMs;
      if (!isStarted || !isSlow) return;
      isSlow = false;
      clearTimeout(timer);
      timer = inDetachedContext(() => setTimeout(run, everyMs));
    },
    start: () => {
      isStarted = true;
      idleAtMs = performance.now() + idleAfterMs;
      run();
    },
    stop: () => {
      isStarted = false;
      clearTimeout(timer);
    },
  };
}
