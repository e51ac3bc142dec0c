/**
 * Checks of the connection on which a process listens for notices (notices.ts): regular checks, and checks
 * for callers that wait for one.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";

/**
 * Milliseconds between two checks that the listening connection still answers, while callers use `isCurrent`
 * of notices.ts.
 */
const beatMs = 250;
/**
 * Milliseconds between two checks of the listening connection while no caller uses `isCurrent` of notices.ts.
 * The first use after such a pause starts a check at once, and may return false.
 */
const idleBeatMs = 5_000;
/** Maximum milliseconds for which `confirm` of notices.ts waits for the answer of the connection. */
const confirmMsMax = 100;

/** A running check of the connection. */
interface ConnectionCheck {
  readonly begunAtMs: number;
  readonly done: Promise<void>;
  /** A promise that is resolved when the check has ended, at the latest `confirmMsMax` after the check began. */
  readonly settled: Promise<void>;
  /** A promise of the check that begins after this one; undefined if no caller waits for a later check. */
  next: Promise<void> | undefined;
}

interface ConnectionCheckParts {
  readonly check: (connected: Client) => Promise<void>;
  /** Returns whether a check of the connection may begin now for a caller that waits for the result. */
  readonly canBegin: (connected: Client) => boolean;
}

interface ConnectionChecks {
  /** Checks the connection; callers at the same time share one check. Closes a connection that fails. */
  readonly checkOnce: (connected: Client) => ConnectionCheck;
  /**
   * Waits for a check of the connection that begins after this call. If a check is running, the next check
   * begins after it, and all waiting callers share the next check.
   */
  readonly checkFromNow: (connected: Client) => Promise<void>;
  readonly isRunning: () => boolean;
}

export function createConnectionCheckRunner({ check, canBegin }: ConnectionCheckParts): ConnectionChecks {
  let running: ConnectionCheck | undefined;
  const checkOnce = (connected: Client): ConnectionCheck => {
    if (running !== undefined) return running;
    const begunAtMs = performance.now();
    const end = (): void => void (running = undefined);
    const done = check(connected).then(end, (): Promise<void> => {
      end();
      return closeConnectionIgnoringErrors(connected);
    });
    const settled = Promise.race([done, sleep(confirmMsMax, undefined, { ref: false })]);
    running = { begunAtMs, done, settled, next: undefined };
    return running;
  };
  const checkFromNow = (connected: Client): Promise<void> => {
    if (running === undefined) return checkOnce(connected).settled;
    const { settled, begunAtMs } = running;
    // A check that has already run for more than `confirmMsMax` will probably fail, so the caller does not
    // wait.
    if (performance.now() - begunAtMs > confirmMsMax) return Promise.resolve();
    return (running.next ??= settled.then(() =>
      running === undefined && canBegin(connected) ? checkOnce(connected).settled : undefined,
    ));
  };
  return { checkOnce, checkFromNow, isRunning: () => running !== undefined };
}

interface RegularConnectionChecks {
  /** Starts the timer of the next regular check. */
  readonly plan: () => void;
  /**
   * Reports that a caller has used `isCurrent`, so that regular checks become frequent. If they were rare,
   * starts a check at once.
   */
  readonly noteUse: () => void;
  readonly cancel: () => void;
}

/**
 * Creates the regular checks of the connection. Checks are frequent while callers use `isCurrent` of
 * notices.ts, and rare after `idleAfterMs` without use. At its end, `check` must call `plan`.
 */
export function createConnectionCheckScheduler(
  check: () => Promise<void>,
  idleAfterMs: number,
): RegularConnectionChecks {
  let timer: NodeJS.Timeout | undefined;
  let usedAtMs = performance.now();
  let isRare = false;
  const checkNow = (): void => {
    isRare = false;
    clearTimeout(timer);
    void check();
  };
  return {
    plan: () => {
      isRare = performance.now() - usedAtMs > idleAfterMs;
      timer = setTimeout(checkNow, isRare ? idleBeatMs : beatMs);
    },
    noteUse: () => {
      usedAtMs = performance.now();
      if (isRare) checkNow();
    },
    cancel: () => {
      isRare = false;
      clearTimeout(timer);
    },
  };
}

export async function closeConnectionIgnoringErrors(client: Client | undefined): Promise<void> {
  await client?.end().catch(() => undefined);
}
