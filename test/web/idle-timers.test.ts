/**
 * A process without requests is woken rarely: the timers that measure the event loop stop or slow down. The
 * test counts timers with a fake clock and measures no CPU time.
 */
import perfHooks from "node:perf_hooks";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Registry } from "prom-client";
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { createApiRequestLog } from "#access/request-log.ts";
import type { Tables } from "#database/tables.ts";
import { systemClock } from "#foundation/clock.ts";
import { createLog } from "#foundation/log.ts";
import { createEventLoopDelayMeter } from "#http/event-loop-delay.ts";
import {
  eventLoopMetricNames,
  eventLoopSampleMs,
  idleEventLoopSampleMs,
  startEventLoopLagSampler,
} from "#observability/event-loop-metrics.ts";
import { readScrape } from "./scrape.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the meter of overload", () => {
  it("has no timer when there has been no request for five seconds, until the next request", () => {
    const meter = createEventLoopDelayMeter();
    meter.start();
    vi.advanceTimersByTime(4_000);
    meter.noteRequest();
    vi.advanceTimersByTime(4_999);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1);
    expect(vi.getTimerCount()).toBe(0);
    meter.noteRequest();
    expect(vi.getTimerCount()).toBe(1);
    meter.stop();
    meter.noteRequest();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("the log of API requests", () => {
  it("has a timer only while requests wait to be written", async () => {
    const db = new Kysely<Tables>({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (introspected) => new PostgresIntrospector(introspected),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
    });
    const requests = createApiRequestLog({ db, clock: systemClock, log: createLog("silent") });
    const request = {
      id: "req_1",
      merchantId: "mer_1",
      installationId: "ins_1",
      credentialId: "key_1",
      operation: "getPublicCart",
      method: "GET",
      status: 200,
      errorCode: null,
      durationMs: 1,
    };
    requests.start();
    expect(vi.getTimerCount()).toBe(0);
    requests.add(request);
    requests.add(request);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(vi.getTimerCount()).toBe(0);
    requests.add(request);
    await requests.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("the lag of the event loop", () => {
  /** Runs the sampler at the given utilization, and returns how many lags it measures within 50 seconds. */
  function countLags(utilization: number): number {
    const lags: number[] = [];
    const stop = startEventLoopLagSampler({
      onLag: (ms) => void lags.push(ms),
      readUtilization: () => utilization,
    });
    vi.advanceTimersByTime(20_000);
    lags.length = 0;
    vi.advanceTimersByTime(50_000);
    stop();
    expect(vi.getTimerCount()).toBe(0);
    expect(new Set(lags)).toEqual(new Set([eventLoopSampleMs]));
    return lags.length;
  }

  it("is measured ten times a second by a busy process, and every five seconds by an idle one", () => {
    expect(countLags(0.5)).toBe(50_000 / eventLoopSampleMs);
    expect(countLags(0.01)).toBe(50_000 / idleEventLoopSampleMs);
  });

  it("has the metrics of prom-client, which itself measures only once an hour", async () => {
    const measure = vi.spyOn(perfHooks, "monitorEventLoopDelay");
    // The metrics are registered once for the process, when the module is loaded for the first time.
    vi.resetModules();
    const { createPrometheusExposition } = await import("#observability/plugin.ts");
    const { text } = createPrometheusExposition({
      registry: new Registry(),
      readQueue: () => Promise.resolve(new Registry()),
    });
    expect(measure.mock.calls).toEqual([[{ resolution: 3_600_000 }]]);
    vi.advanceTimersByTime(10_000);
    const { value, types } = readScrape(await text());
    expect(eventLoopMetricNames.map((name) => types.get(name))).toEqual(
      eventLoopMetricNames.map(() => "gauge"),
    );
    for (const name of ["min", "max", "mean", "p50", "p99"])
      expect(value(`nodejs_eventloop_lag_${name}_seconds`)).toBeCloseTo(eventLoopSampleMs / 1000, 2);
  });
});
