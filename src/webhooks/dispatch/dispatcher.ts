/**
 * Sends what has happened to whoever wants to hear of it. Everything it knows stands in the database, so that
 * any number of processes do it together and one that dies is missed by nobody; what it keeps in memory only
 * says where to look first.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createDispatchRound, type DispatcherOptions, type DispatchRound } from "./round.ts";
import { findNextRetryTime } from "./claim-deliveries.ts";

export interface Dispatcher {
  /** Something has happened. */
  readonly wake: () => void;
  readonly start: () => void;
  /** Waits a moment for what is being sent; what takes longer is given back. */
  readonly stop: () => Promise<void>;
  /** Does all that is due now, and waits for it. */
  readonly drain: () => Promise<void>;
}

const pollMs = 1_000;
const usualStopMsMax = 6_000;
/** Where a place or a bucket was taken a moment ago, it is looked again after this. */
const againMs = 20;
/** After a fault, so that a database that is away is not asked all the time. */
const faultPauseMs = 1_000;

export function createDispatcher(parts: DispatcherOptions): Dispatcher {
  const { db, clock, log, stopMsMax = usualStopMsMax } = parts;
  const round = createDispatchRound(parts);
  const passes = createPasses(round, (err) => log.error({ err }, "Webhooks could not be dispatched."));
  // Passes are made in nobody's name: whoever woke this may be in a trace of its own.
  const inNobodysName = AsyncLocalStorage.snapshot();
  let isOver = false;
  let early: NodeJS.Timeout | undefined;
  let poll: NodeJS.Timeout | undefined;
  /** The safety net: what nobody told of, and what comes due before the next look. */
  const look = async (): Promise<void> => {
    passes.call({ isTold: true });
    const at = await findNextRetryTime(db, { now: clock.now(), withinMs: pollMs });
    const inMs = at === null ? pollMs : at.getTime() - clock.now().getTime();
    clearTimeout(early);
    if (!isOver && inMs < pollMs) early = setTimeout(lookSafely, Math.max(inMs, 1));
  };
  const lookSafely = (): void =>
    void look().catch((err: unknown) => log.error({ err }, "Webhooks that are due could not be looked for."));
  return {
    wake: () => inNobodysName(() => passes.call({ isTold: true })),
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
      const calls = { onDone: () => undefined, onMore: () => (isMore = true), wasTold: true };
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
  /** A pass as soon as may be: one at a time, and a call that comes meanwhile is another one after it. */
  call(how?: { readonly isTold: boolean }): void;
  stop(): Promise<void>;
}

function createPasses(round: DispatchRound, onFault: (error: unknown) => void): Passes {
  const state = { isRunning: false, isCalled: false, isTold: false, isFaulty: false };
  let running: Promise<void> | undefined;
  let again: NodeJS.Timeout | undefined;
  const call: Passes["call"] = ({ isTold } = { isTold: false }) => {
    state.isTold ||= isTold;
    if (!state.isRunning) return;
    state.isCalled = true;
    if (!state.isFaulty) running ??= pass().catch(fault).finally(finish);
  };
  const fault = (error: unknown): void => {
    state.isFaulty = true;
    state.isTold = true;
    onFault(error);
  };
  const pass = async (): Promise<void> => {
    while (state.isCalled && state.isRunning) {
      const wasTold = state.isTold;
      state.isCalled = false;
      state.isTold = false;
      await round.go({ onDone: callSoon, onMore: () => call({ isTold: true }), wasTold });
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
   * Places that have become free are given away together. While a pass is under way it looks itself what is
   * to follow.
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
