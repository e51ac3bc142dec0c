/**
 * Ends the process if its event loop is blocked, for example by an endless loop. Such a process answers no
 * requests, keeps its locks, and cannot stop by itself. A separate thread (watchdog-thread.mjs) checks that a
 * counter of the event loop keeps rising. The watchdog does not act while a debugger can connect, because a
 * breakpoint stops the event loop too.
 */
import inspector from "node:inspector";
import { Worker } from "node:worker_threads";
import type { Log } from "#foundation/log.ts";

export interface EventLoopWatchdogOptions {
  /** Milliseconds that the event loop may be blocked before the process is ended; 0 switches the watchdog off. */
  readonly limitMs: number;
  readonly log: Log;
}

export interface EventLoopWatchdogThreadOptions extends Pick<EventLoopWatchdogOptions, "limitMs"> {
  /** False if the service writes no log. */
  readonly isLogged: boolean;
  /** Milliseconds between two checks. */
  readonly checkMs: number;
  /**
   * The counter that the event loop of the main thread raises every `checkMs` milliseconds. If the counter
   * does not rise, the event loop is blocked.
   */
  readonly beats: Int32Array<SharedArrayBuffer>;
  /** 1 while a debugger can connect to the process, otherwise 0. */
  readonly debuggers: Int32Array<SharedArrayBuffer>;
}

/** Number of times that the watchdog checks the counter within `limitMs` milliseconds. */
const checksPerLimit = 10;
const checkMsMax = 5_000;

const createSharedNumber = (): Int32Array<SharedArrayBuffer> =>
  new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Starts the watchdog of this process, and returns the function that stops it. */
export function startEventLoopWatchdog({ limitMs, log }: EventLoopWatchdogOptions): () => Promise<void> {
  if (limitMs === 0) return () => Promise.resolve();
  const checkMs = Math.min(checkMsMax, limitMs / checksPerLimit);
  const [beats, debuggers] = [createSharedNumber(), createSharedNumber()];
  const beat = (): void => {
    Atomics.add(beats, 0, 1);
    Atomics.store(debuggers, 0, inspector.url() === undefined ? 0 : 1);
  };
  beat();
  const timer = setInterval(beat, checkMs).unref();
  const thread = new Worker(new URL("watchdog-thread.mjs", import.meta.url), {
    workerData: {
      beats,
      debuggers,
      limitMs,
      checkMs,
      isLogged: log.isLevelEnabled("fatal"),
    } satisfies EventLoopWatchdogThreadOptions,
    // The thread needs none of the options of the process, for example no preloaded modules.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  });
  thread.on("error", (error) => log.error({ err: error }, "The process runs without a watchdog."));
  thread.unref();
  return async () => {
    clearInterval(timer);
    await thread.terminate();
  };
}
