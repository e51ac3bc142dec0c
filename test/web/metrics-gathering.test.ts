/**
 * The metrics of several processes are added up. Processes that do not answer are missing, and no counter
 * decreases.
 */
import { Counter, Gauge, Registry } from "prom-client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { InterProcessMessagePort } from "#http/shared-limiter.ts";
import { createPrometheusExposition } from "#observability/plugin.ts";
import {
  mergeProcessMetrics,
  createChildToParentMetricsConnection,
  createMultiProcessMetricsCollector,
} from "#observability/gather-metrics.ts";
import { readScrape, type Scrape } from "./scrape.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => vi.useRealTimers());

/** Two connected ports. Messages are copied, as between processes. */
function createLine(): {
  near: InterProcessMessagePort;
  far: InterProcessMessagePort;
  cut: () => void;
  hold: () => void;
  release: () => void;
} {
  const listeners = { near: [] as ((message: unknown) => void)[], far: [] as ((message: unknown) => void)[] };
  const state = { isCut: false, isHeld: false };
  const held: (() => void)[] = [];
  const end = (own: "near" | "far", other: "near" | "far"): InterProcessMessagePort => ({
    send: (message) => {
      if (state.isCut) return false;
      const text = JSON.stringify(message);
      const arrive = (): void => listeners[other].forEach((listener) => listener(JSON.parse(text)));
      if (state.isHeld) held.push(arrive);
      else setImmediate(arrive);
      return true;
    },
    onMessage: (listener) => void listeners[own].push(listener),
  });
  return {
    near: end("near", "far"),
    far: end("far", "near"),
    cut: () => (state.isCut = true),
    hold: () => (state.isHeld = true),
    release: () => {
      state.isHeld = false;
      for (const arrive of held.splice(0)) setImmediate(arrive);
    },
  };
}

interface Process {
  readonly count: (howMany: number) => void;
  readonly scrape: () => Promise<Scrape>;
  readonly leave: () => void;
  /** Stops the delivery of messages, as if the process did not respond. */
  readonly hold: () => void;
  /** Delivers all waiting messages. */
  readonly release: () => void;
  readonly cut: () => void;
}

const createParent = (): (() => Process) => {
  const { join } = createMultiProcessMetricsCollector();
  return () => {
    const { near, far, hold, release, cut } = createLine();
    const registry = new Registry();
    const counter = new Counter({
      name: "things_total",
      help: "Things.",
      labelNames: ["kind"],
      registers: [registry],
    });
    const gauge = new Gauge({ name: "things_here", help: "Things here.", registers: [registry] });
    const leave = join(far);
    const { text } = createPrometheusExposition({
      registry,
      readQueue: () => Promise.resolve(new Registry()),
      exchange: createChildToParentMetricsConnection(near),
    });
    return {
      count: (howMany) => {
        counter.inc({ kind: "any" }, howMany);
        gauge.inc(howMany);
      },
      scrape: async () => {
        const asked = text();
        // Timers of requests that get no answer.
        await vi.advanceTimersByTimeAsync(0);
        return readScrape(await settled(asked));
      },
      leave: () => {
        cut();
        leave();
      },
      hold,
      release,
      cut,
    };
  };
};

/** Exchanges messages until the promise resolves, and advances the time if that is not enough. */
async function settled<Value>(asked: Promise<Value>): Promise<Value> {
  const state = { isThere: false };
  const noted = asked.finally(() => (state.isThere = true));
  for (let turn = 0; !state.isThere && turn < 100; turn += 1) {
    for (let step = 0; step < 20; step += 1) await new Promise(setImmediate);
    if (!state.isThere) await vi.advanceTimersByTimeAsync(500);
  }
  return noted;
}

const valuesOf = ({ value }: Scrape): (number | undefined)[] => [
  value("things_total", { kind: "any" }),
  value("things_here"),
  value("commerce_processes", { state: "answered" }),
  value("commerce_processes", { state: "missing" }),
];

it("every process answers with the sum of all processes", async () => {
  const start = createParent();
  const [one, two, three] = [start(), start(), start()];
  one.count(1);
  two.count(20);
  three.count(300);
  expect(valuesOf(await one.scrape())).toEqual([321, 321, 3, 0]);
  expect(valuesOf(await three.scrape())).toEqual([321, 321, 3, 0]);
});

it("a process that does not respond is missing, and its last counters remain in the sum", async () => {
  const start = createParent();
  const [one, two] = [start(), start()];
  one.count(1);
  two.count(20);
  await one.scrape();
  two.hold();
  one.count(1);
  expect(valuesOf(await one.scrape())).toEqual([22, 2, 1, 1]);
});

it("the last counters of an ended process remain in the sum, also after it is replaced", async () => {
  const start = createParent();
  const [one, two] = [start(), start()];
  two.count(20);
  await one.scrape();
  two.count(5);
  two.leave();
  one.count(1);
  expect(valuesOf(await one.scrape())).toEqual([21, 1, 1, 0]);
  const three = start();
  three.count(300);
  expect(valuesOf(await three.scrape())).toEqual([321, 301, 2, 0]);
  three.leave();
  expect(valuesOf(await one.scrape())).toEqual([321, 1, 1, 0]);
});

it("a process that ends while others are waited for is counted once", async () => {
  const start = createParent();
  const [one, two, three] = [start(), start(), start()];
  two.count(50);
  await one.scrape();
  two.count(50);
  three.hold();
  const asked = one.scrape();
  // The ended process has answered by now, and the third one has not.
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  two.leave();
  expect(valuesOf(await asked)).toEqual([100, 100, 2, 1]);
  expect(valuesOf(await one.scrape())).toEqual([100, 0, 1, 1]);
});

it("a late answer is used for the next request", async () => {
  const start = createParent();
  const [one, two] = [start(), start()];
  two.count(20);
  two.hold();
  expect(valuesOf(await one.scrape())).toEqual([undefined, 0, 1, 1]);
  two.release();
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  two.hold();
  expect(valuesOf(await one.scrape())).toEqual([20, 0, 1, 1]);
});

it("gauges are combined by their aggregator: minimum, maximum, average or sum", async () => {
  const ways = ["min", "max", "average", "sum"] as const;
  const measured = async (value: number): Promise<string> => {
    const registry = new Registry();
    for (const aggregator of ways)
      new Gauge({ name: `things_${aggregator}`, help: "Things.", aggregator, registers: [registry] }).set(
        value,
      );
    return JSON.stringify(await registry.getMetricsAsJSON());
  };
  const added = await mergeProcessMetrics(await Promise.all([1, 2, 6].map(measured)));
  const { value } = readScrape(await added.metrics());
  expect(ways.map((way) => value(`things_${way}`))).toEqual([1, 6, 3, 9]);
});

it("if the parent process does not answer, a process returns only its own metrics", async () => {
  const start = createParent();
  const [one, two] = [start(), start()];
  one.count(1);
  two.count(20);
  one.cut();
  expect(valuesOf(await one.scrape())).toEqual([1, 1, 1, 1]);
  two.hold();
  expect(valuesOf(await two.scrape())).toEqual([20, 20, 1, 1]);
});
