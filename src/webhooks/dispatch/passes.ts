/**
 * The passes of the webhook dispatcher: one round after the other, at the request of the dispatcher, after
 * attempts that have ended, and again after a short pause while endpoints have due deliveries.
 */
import type { WebhookDispatchRoundRunner } from "./round.ts";

/**
 * Milliseconds from a pass that has claimed deliveries to the next pass, if endpoints still have due
 * deliveries. During this pause, some of the running attempts end, so that the next pass can start others.
 */
const pauseMsMin = 20;
/**
 * The longest of these pauses in milliseconds. The pause doubles with each pass that claims nothing although
 * deliveries are due, for example because their endpoints already have as many attempts in progress as they
 * may have. An endpoint that allows one request per second gets its requests up to this much later.
 */
const pauseMsMax = 80;
/**
 * Milliseconds from a failed pass of the dispatcher to its next pass, so that an unavailable database is not
 * queried constantly.
 */
const faultPauseMs = 1_000;

export interface DispatchPasses {
  start(): void;
  /**
   * Requests a pass of the dispatcher. Passes run one at a time: if a pass is running, another pass starts
   * after it.
   */
  request(how?: { readonly isNotified: boolean }): void;
  stop(): Promise<void>;
}

/** Creates the passes of a round runner. `onFault` gets the error of each failed pass. */
export function createDispatchPasses(
  round: Pick<WebhookDispatchRoundRunner, "run" | "hasActiveEndpoints">,
  onFault: (error: unknown) => void,
): DispatchPasses {
  const state = { isRunning: false, isRequested: false, isNotified: false, isFaulty: false };
  /** Whether an attempt has ended since the running pass started. */
  let hasAttemptEnded = false;
  let running: Promise<void> | undefined;
  let nextTimer: NodeJS.Timeout | undefined;
  let pauseMs = pauseMsMin;
  const request: DispatchPasses["request"] = ({ isNotified } = { isNotified: false }) => {
    state.isNotified ||= isNotified;
    if (!state.isRunning) return;
    state.isRequested = true;
    if (!state.isFaulty) running ??= pass().catch(fault).finally(finish);
  };
  const fault = (error: unknown): void => {
    state.isFaulty = true;
    state.isNotified = true;
    onFault(error);
  };
  const pass = async (): Promise<void> => {
    while (state.isRequested && state.isRunning) {
      const wasNotified = state.isNotified;
      state.isRequested = false;
      state.isNotified = false;
      hasAttemptEnded = false;
      const claimed = await round.run({
        onAttemptEnded: requestSoon,
        onFullBatch: () => request({ isNotified: true }),
        wasNotified,
      });
      const isIdle = !wasNotified && claimed === 0 && !hasAttemptEnded;
      pauseMs = isIdle ? Math.min(2 * pauseMs, pauseMsMax) : pauseMsMin;
    }
  };
  const finish = (): void => {
    running = undefined;
    if (state.isFaulty) requestIn(faultPauseMs);
    else if (state.isRequested) request();
    else if (round.hasActiveEndpoints()) requestIn(pauseMs);
  };
  const requestIn = (ms: number): void => {
    clearTimeout(nextTimer);
    if (state.isRunning) nextTimer = setTimeout(resume, ms);
  };
  /**
   * Requests a pass of the dispatcher after a short delay, so that all attempts that end within the delay
   * cause only one pass. Does nothing while a pass runs, because each pass itself requests the next one if
   * one is needed.
   */
  const requestSoon = (): void => {
    hasAttemptEnded = true;
    const isSoon = nextTimer !== undefined && pauseMs === pauseMsMin;
    if (running !== undefined || state.isFaulty || isSoon) return;
    pauseMs = pauseMsMin;
    requestIn(pauseMs);
  };
  const resume = (): void => {
    nextTimer = undefined;
    state.isFaulty = false;
    request();
  };
  return {
    start: () => (state.isRunning = true),
    request,
    stop: async () => {
      state.isRunning = false;
      clearTimeout(nextTimer);
      await running;
    },
  };
}
