/**
 * Measures how late the event loop runs timers, which shows whether the process is overloaded. Four times a
 * second, a timer compares the time at which it runs with the time at which it was due. The timer runs only
 * while the process gets requests, so that it does not wake an idle process. Packages for this purpose use
 * `perf_hooks.monitorEventLoopDelay`, which wakes the process a hundred times a second and uses 4 ms of CPU
 * time a second in an idle process.
 */
export interface EventLoopDelayMeter {
  /**
   * Returns the mean delay of the last four timers in milliseconds. A single long turn of the event loop
   * delays only one of the four timers: a turn of 3 s gives a mean below 1000. Turns of more than 1.25 s in a
   * row give a mean above 1000.
   */
  readonly getMeanDelayMs: () => number;
  /** Must be called for each request. Resumes the measurement if it has paused for lack of requests. */
  readonly noteRequest: () => void;
  readonly start: () => void;
  readonly stop: () => void;
}

const everyMs = 250;
const samples = 4;
/** Number of measurements without a request after which the measurement pauses; 20 measurements take 5 s. */
const measurementsWithoutRequestMax = 20;

export function createEventLoopDelayMeter(): EventLoopDelayMeter {
  const delaysMs: number[] = Array.from({ length: samples }, () => 0);
  let timer: NodeJS.Timeout | undefined;
  let isStarted = false;
  let dueAtMs = 0;
  let measured = 0;
  let withoutRequest = 0;
  const resume = (): void => {
    delaysMs.fill(0);
    dueAtMs = performance.now() + everyMs;
    timer = setTimeout(measure, everyMs).unref();
  };
  const measure = (): void => {
    const now = performance.now();
    delaysMs[measured % samples] = Math.max(0, now - dueAtMs);
    measured += 1;
    withoutRequest += 1;
    if (withoutRequest >= measurementsWithoutRequestMax) {
      timer = undefined;
      return;
    }
    dueAtMs = now + everyMs;
    timer?.refresh();
  };
  return {
    getMeanDelayMs: () => delaysMs.reduce((sum, ms) => sum + ms, 0) / samples,
    noteRequest: () => {
      withoutRequest = 0;
      if (isStarted && timer === undefined) resume();
    },
    start: () => {
      isStarted = true;
      resume();
    },
    stop: () => {
      isStarted = false;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
