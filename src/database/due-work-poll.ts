/**
 * Looks for due work (payment operations, webhook deliveries, exports) at regular intervals, in addition to
 * the notices that announce new work. While a process has work, it looks once a second or two. A process that
 * had no work for a minute looks every thirty seconds, as long as it receives the notices of other processes,
 * so that an idle process uses almost no CPU time.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export interface DueWorkPollOptions {
  /**
   * Looks for due work, and must not reject. `withinMs` is the time until the next call: work that becomes
   * due earlier needs a timer of its own.
   */
  readonly search: (withinMs: number) => void;
  /** Milliseconds between two searches while the process has work or receives no notices. */
  readonly everyMs: number;
  /** Returns whether notices of new work reach this process. Without them, the process searches more often. */
  readonly areNoticesReceived: () => boolean;
}

export interface DueWorkPoll {
  /** Makes the next minute a time with work. Called when work was announced or found. */
  readonly noteWork: () => void;
  /** Searches at once, and then regularly. */
  readonly start: () => void;
  readonly stop: () => void;
}

/** Milliseconds without work after which a process searches less often. */
const idleAfterMs = 60_000;
/** Milliseconds between two searches of a process without work. */
export const idlePollMs = 30_000;

export function createDueWorkPoll({ search, everyMs, areNoticesReceived }: DueWorkPollOptions): DueWorkPoll {
  let timer: NodeJS.Timeout | undefined;
  let isStarted = false;
  let isSlow = false;
  let idleAtMs = 0;
  // `noteWork` can be called during a request that is being traced. The searches do not belong to its trace.
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
