/**
 * The webhook dispatcher: creates deliveries of new events and sends them. Its whole state is in the
 * database, so any number of processes can dispatch together and one may stop at any time. The memory of a
 * process only decides which endpoints it checks first.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createDispatchRound, type DispatcherOptions, type DispatchRound } from "./round.ts";
import { findNextRetryTime } from "./claim-deliveries.ts";

export interface Dispatcher {
  /** Starts a pass of the dispatcher, because there are new events or due deliveries. */
  readonly wake: () => void;
  readonly start: () => void;
  /**
   * Stops the dispatcher. Waits up to `stopMsMax` for attempts in progress, then aborts them and releases
   * their deliveries.
   */
  readonly stop: () => Promise<void>;
  /** Sends all deliveries that are due now, and resolves when all attempts have ended. */
  readonly drain: () => Promise<void>;
}

const pollMs = 1_000;
const usualStopMsMax = 6_000;
/**
 * Milliseconds until the next pass while endpoints are warm. The next pass also fills attempt slots that
 * became free.
 */
const againMs = 20;
/** Pause in ms after a failed pass, so that an unavailable database is not queried constantly. */
const faultPauseMs = 1_000;

export function createDispatcher(parts: DispatcherOptions): Dispatcher {
  const { db, clock, log, stopMsMax = usualStopMsMax } = parts;
  const round = createDispatchRound(parts);
  const passes = createPasses(round, (err) => log.error({ err }, "Webhooks could not be dispatched."));
  // Passes run in a detached async context, so that they do not join the trace of the caller of `wake`.
  const runDetached = AsyncLocalStorage.snapshot();
  let isOver = false;
  let early: NodeJS.Timeout | undefined;
  let poll: NodeJS.Timeout | undefined;
  /**
   * Polls the database for events and deliveries for which no notification arrived, and sets a timer for a
   * retry that comes due before the next poll.
   */
  const look = async (): Promise<void> => {
    passes.call({ isNotified: true });
    const at = await findNextRetryTime(db, { now: clock.now(), withinMs: pollMs });
    const inMs = at === null ? pollMs : at.getTime() - clock.now().getTime();
    clearTimeout(early);
    if (!isOver && inMs < pollMs) early = setTimeout(lookSafely, Math.max(inMs, 1));
  };
  const lookSafely = (): void =>
    void look().catch((err: unknown) => log.error({ err }, "Webhooks that are due could not be looked for."));
  return {
    wake: () => runDetached(() => passes.call({ isNotified: true })),
    start: () => {
      passes.start();
      poll = setInterval(lookSafely, pollMs);
      lookSafely();
    },
    stop: async () => {
      isOver = true;
      clearInterval(poll);
      clearTimeout(early);
      await passes.stop();
      await round.finish(stopMsMax);
    },
    drain: async () => {
      await round.lookAround();
      const calls = { onDone: () => undefined, onMore: () => (isMore = true), wasNotified: true };
      let isMore = true;
      for (let sent = 0; isMore || sent > 0;) {
        isMore = false;
        sent = await round.go(calls);
        await round.idle();
      }
    },
  };
}

interface Passes {
  start(): void;
  /** Requests a pass. Passes run one at a time; a request during a pass starts another pass after it. */
  call(how?: { readonly isNotified: boolean }): void;
  stop(): Promise<void>;
}

function createPasses(round: DispatchRound, onFault: (error: unknown) => void): Passes {
  const state = { isRunning: false, isCalled: false, isNotified: false, isFaulty: false };
  let running: Promise<void> | undefined;
  let again: NodeJS.Timeout | undefined;
  const call: Passes["call"] = ({ isNotified } = { isNotified: false }) => {
    state.isNotified ||= isNotified;
    if (!state.isRunning) return;
    state.isCalled = true;
    if (!state.isFaulty) running ??= pass().catch(fault).finally(finish);
  };
  const fault = (error: unknown): void => {
    state.isFaulty = true;
    state.isNotified = true;
    onFault(error);
  };
  const pass = async (): Promise<void> => {
    while (state.isCalled && state.isRunning) {
      const wasNotified = state.isNotified;
      state.isCalled = false;
      state.isNotified = false;
      await round.go({ onDone: callSoon, onMore: () => call({ isNotified: true }), wasNotified });
    }
  };
  const finish = (): void => {
    running = undefined;
    if (state.isFaulty) callIn(faultPauseMs);
    else if (state.isCalled) call();
    else if (round.isWarm()) callIn(againMs);
  };
  const callIn = (ms: number): void => {
    clearTimeout(again);
    if (state.isRunning) again = setTimeout(resume, ms);
  };
  /**
   * Requests a pass a little later, so that one pass fills the slots of several ended attempts. Does nothing
   * during a pass, because the pass itself requests the next one.
   */
  const callSoon = (): void => {
    if (again === undefined && running === undefined) callIn(againMs);
  };
  const resume = (): void => {
    again = undefined;
    state.isFaulty = false;
    call();
  };
  return {
    start: () => (state.isRunning = true),
    call,
    stop: async () => {
      state.isRunning = false;
      clearTimeout(again);
      await running;
    },
  };
}
