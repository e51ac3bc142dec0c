/**
 * The metrics of the event loop's lag, with the names and meanings of prom-client's own metrics. prom-client
 * measures at a fixed interval, which wakes an idle process as often as a busy one. This file measures ten
 * times a second while the process is busy, and every five seconds while it is idle.
 */
import { createHistogram, eventLoopUtilization } from "node:perf_hooks";
import { Gauge, type Registry } from "prom-client";

/**
 * Milliseconds between two measurements of a busy process. The measured lags include this time, so a process
 * whose event loop is never late has a lag of 0.1 s.
 */
export const eventLoopSampleMs = 100;
/** Maximum number of milliseconds between two measurements of an idle process. */
export const idleEventLoopSampleMs = 5_000;
/**
 * The utilization of the event loop (its working time divided by the elapsed time) from which a process
 * counts as busy.
 */
const busyShare = 0.05;

export interface EventLoopLagSamplerOptions {
  /** Called with each lag in milliseconds. */
  readonly onLag: (ms: number) => void;
  /**
   * Returns the utilization of the event loop since the last call: its working time divided by the elapsed
   * time, from 0 to 1.
   */
  readonly readUtilization: () => number;
}

/** Starts to measure the lag of the event loop. Returns a function that ends the measurement. */
export function startEventLoopLagSampler({ onLag, readUtilization }: EventLoopLagSamplerOptions): () => void {
  let pauseMs = eventLoopSampleMs;
  let dueAtMs = 0;
  let timer: NodeJS.Timeout | undefined;
  const plan = (): void => {
    dueAtMs = performance.now() + pauseMs;
    timer = setTimeout(sample, pauseMs).unref();
  };
  const sample = (): void => {
    const lateMs = Math.max(0, performance.now() - dueAtMs);
    onLag(eventLoopSampleMs + lateMs);
    const isBusy = readUtilization() >= busyShare;
    pauseMs = isBusy ? eventLoopSampleMs : Math.min(2 * pauseMs, idleEventLoopSampleMs);
    plan();
  };
  plan();
  return () => clearTimeout(timer);
}

function createUtilizationReader(): () => number {
  let last = eventLoopUtilization();
  return () => {
    const now = eventLoopUtilization();
    const { utilization } = eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

type LagHistogram = ReturnType<typeof createHistogram>;

interface LagMetric {
  readonly name: string;
  readonly help: string;
  /** How the gauge's values of several processes are combined into one value; `average` if left out. */
  readonly aggregator?: "min" | "max" | "average";
  readonly read: (lags: LagHistogram) => number;
}

const lagMetrics: readonly LagMetric[] = [
  { name: "min", help: "The minimum recorded event loop delay.", aggregator: "min", read: ({ min }) => min },
  { name: "max", help: "The maximum recorded event loop delay.", aggregator: "max", read: ({ max }) => max },
  { name: "mean", help: "The mean of the recorded event loop delays.", read: ({ mean }) => mean },
  {
    name: "stddev",
    help: "The standard deviation of the recorded event loop delays.",
    read: ({ stddev }) => stddev,
  },
  ...[50, 90, 99].map((percent): LagMetric => ({
    name: `p${percent}`,
    help: `The ${percent}th percentile of the recorded event loop delays.`,
    read: (lags) => lags.percentile(percent),
  })),
];

const metricName = (name: string): string => `nodejs_eventloop_lag_${name}_seconds`;
const currentLagName = "nodejs_eventloop_lag_seconds";

/** The names of the metrics that `registerEventLoopMetrics` registers. */
export const eventLoopMetricNames: readonly string[] = [
  currentLagName,
  ...lagMetrics.map(({ name }) => metricName(name)),
];

/** Starts to measure the lag of the event loop, and registers its metrics. */
export function registerEventLoopMetrics(registry: Registry): void {
  const lags = createHistogram();
  const registers = [registry];
  const current = new Gauge({
    name: currentLagName,
    help: "Lag of event loop in seconds.",
    registers,
    aggregator: "average",
    collect: () => {
      const startMs = performance.now();
      setImmediate(() => current.set((performance.now() - startMs) / 1000));
      // If no lag was measured since the last request for metrics, the gauges keep their values.
      if (lags.count === 0) return;
      for (const { gauge, read } of gauges) gauge.set(read(lags) / 1e9);
      lags.reset();
    },
  });
  const gauges = lagMetrics.map(({ name, help, aggregator = "average", read }) => ({
    gauge: new Gauge({ name: metricName(name), help, registers, aggregator }),
    read,
  }));
  startEventLoopLagSampler({
    onLag: (ms) => lags.record(Math.round(ms * 1e6)),
    readUtilization: createUtilizationReader(),
  });
}
