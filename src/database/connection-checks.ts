/**
 * Checks of the connection on which a process listens for notices (notices.ts): regular checks, and checks
 * for callers that wait for one.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";

/** Milliseconds between two checks that the listening connection still answers, while `isCurrent` is used. */
const beatMs = 250;
/**
 * Milliseconds between two checks while nothing uses `isCurrent`. The first use after such a time gets false,
 * and starts a check at once.
 */
const idleBeatMs = 5_000;
/** Milliseconds for which `confirm` waits for the answer of the connection. */
const confirmMsMax = 100;

/** A running check of the connection. */
interface ConnectionCheck {
  readonly begunAtMs: number;
  readonly done: Promise<void>;
  /** Resolved when the check is done, but not later than `confirmMsMax` after its beginning. */
  readonly settled: Promise<void>;
  /** The check that begins after this one; undefined if no caller waits for it. */
  next: Promise<void> | undefined;
}

interface ConnectionCheckParts {
  readonly check: (connected: Client) => Promise<void>;
  /** Returns whether a check may begin now for a caller that waits for it. */
  readonly canBegin: (connected: Client) => boolean;
}

interface ConnectionChecks {
  /** Checks the connection; callers at the same time share one check. Closes a connection that fails. */
  readonly checkOnce: (connected: Client) => ConnectionCheck;
  /** Checks the connection from now on. If a check is running, another one begins after it. */
  readonly checkFromNow: (connected: Client) => Promise<void>;
  readonly isRunning: () => boolean;
}

export function createConnectionChecks({ check, canBegin }: ConnectionCheckParts): ConnectionChecks {
  let running: ConnectionCheck | undefined;
  const checkOnce = (connected: Client): ConnectionCheck => {
    if (running !== undefined) return running;
    const begunAtMs = performance.now();
    const end = (): void => void (running = undefined);
    const done = check(connected).then(end, (): Promise<void> => {
      end();
      return closeConnection(connected);
    });
    const settled = Promise.race([done, sleep(confirmMsMax, undefined, { ref: false })]);
    running = { begunAtMs, done, settled, next: undefined };
    return running;
  };
  const checkFromNow = (connected: Client): Promise<void> => {
    if (running === undefined) return checkOnce(connected).settled;
    const { settled, begunAtMs } = running;
    // A check that takes this long will probably fail, so no caller waits for it.
    if (performance.now() - begunAtMs > confirmMsMax) return Promise.resolve();
    return (running.next ??= settled.then(() =>
      running === undefined && canBegin(connected) ? checkOnce(connected).settled : undefined,
    ));
  };
  return { checkOnce, checkFromNow, isRunning: () => running !== undefined };
}

interface RegularConnectionChecks {
  /** Plans the next check. */
  readonly plan: () => void;
  /** Makes the checks frequent again. If they were rare, checks the connection at once. */
  readonly noteUse: () => void;
  readonly cancel: () => void;
}

/** Checks the connection often while `isCurrent` is used, otherwise rarely. `check` plans the next check. */
export function createRegularConnectionChecks(
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

export async function closeConnection(client: Client | undefined): Promise<void> {
  await client?.end().catch(() => undefined);
}
