/**
 * Several processes are measured as one: their sum, without those that do not answer, and without anything
 * that was counted going back.
 */
import { Counter, Gauge, Registry } from "prom-client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Port } from "#http/shared-limiter.ts";
import { createMetricsExposition } from "#observability/plugin.ts";
import { sumMetrics, createMetricsExchange, createMetricsHub } from "#observability/gather-metrics.ts";
import { readScrape, type Scrape } from "./scrape.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => vi.useRealTimers());

/** Two ends of a line that copies what it carries, as the one between processes does. */
function createLine(): { near: Port; far: Port; cut: () => void; hold: () => void; release: () => void } {
  const listeners = { near: [] as ((message: unknown) => void)[], far: [] as ((message: unknown) => void)[] };
  const state = { isCut: false, isHeld: false };
  const held: (() => void)[] = [];
  const end = (own: "near" | "far", other: "near" | "far"): Port => ({
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
  /** It stands still. */
  readonly hold: () => void;
  /** And goes on with what it was told meanwhile; what it says arrives. */
  readonly release: () => void;
  readonly cut: () => void;
}

const room = (): (() => Process) => {
  const { join } = createMetricsHub();
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
    const { text } = createMetricsExposition({
      registry,
      readQueue: () => Promise.resolve(new Registry()),
      exchange: createMetricsExchange(near),
    });
    return {
      count: (howMany) => {
        counter.inc({ kind: "any" }, howMany);
        gauge.inc(howMany);
      },
      scrape: async () => {
        const asked = text();
        // Whoever waits for an answer that does not come.
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

/** Lets messages go to and fro until it is there, and time pass where they do not suffice. */
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

it("whichever is asked gives the sum of all", async () => {
  const start = room();
  const [one, two, three] = [start(), start(), start()];
  one.count(1);
  two.count(20);
  three.count(300);
  expect(valuesOf(await one.scrape())).toEqual([321, 321, 3, 0]);
  expect(valuesOf(await three.scrape())).toEqual([321, 321, 3, 0]);
});

it("one that stands still is missing, and what it had counted stays in the sum", async () => {
  const start = room();
  const [one, two] = [start(), start()];
  one.count(1);
  two.count(20);
  await one.scrape();
  two.hold();
  one.count(1);
  expect(valuesOf(await one.scrape())).toEqual([22, 2, 1, 1]);
});

it("what one that has ended had counted when it was last heard stays, also beside the one that takes its place", async () => {
  const start = room();
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

it("what one had counted that ends while others are waited for is in the sum once", async () => {
  const start = room();
  const [one, two, three] = [start(), start(), start()];
  two.count(50);
  await one.scrape();
  two.count(50);
  three.hold();
  const asked = one.scrape();
  // By then it has answered, and the third one is waited for.
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  two.leave();
  expect(valuesOf(await asked)).toEqual([100, 100, 2, 1]);
  expect(valuesOf(await one.scrape())).toEqual([100, 0, 1, 1]);
});

it("an answer that comes too late is kept for the next time", async () => {
  const start = room();
  const [one, two] = [start(), start()];
  two.count(20);
  two.hold();
  expect(valuesOf(await one.scrape())).toEqual([undefined, 0, 1, 1]);
  two.release();
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  two.hold();
  expect(valuesOf(await one.scrape())).toEqual([20, 0, 1, 1]);
});

it("each is added up as it is meant: the least, the most, or the average of all", async () => {
  const ways = ["min", "max", "average", "sum"] as const;
  const measured = async (value: number): Promise<string> => {
    const registry = new Registry();
    for (const aggregator of ways)
      new Gauge({ name: `things_${aggregator}`, help: "Things.", aggregator, registers: [registry] }).set(
        value,
      );
    return JSON.stringify(await registry.getMetricsAsJSON());
  };
  const added = await sumMetrics(await Promise.all([1, 2, 6].map(measured)));
  const { value } = readScrape(await added.metrics());
  expect(ways.map((way) => value(`things_${way}`))).toEqual([1, 6, 3, 9]);
});

it("where the one that started them does not answer, each answers for itself and says so", async () => {
  const start = room();
  const [one, two] = [start(), start()];
  one.count(1);
  two.count(20);
  one.cut();
  expect(valuesOf(await one.scrape())).toEqual([1, 1, 1, 1]);
  two.hold();
  expect(valuesOf(await two.scrape())).toEqual([20, 20, 1, 1]);
});
