/**
 * Polls for all waiting callers in one query at intervals, at once after a local change, and not at all if
 * nobody waits.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createDatabasePoller, type DatabasePoller } from "#database/polling.ts";

const everyMs = 400;
const pauseMsMin = 25;

describe("polling", () => {
  let asked: (readonly string[])[] = [];
  let faults: unknown[] = [];
  let versions = new Map<string, number>();
  let readStates = (ids: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    asked.push(ids);
    return Promise.resolve(new Map(versions));
  };
  const usual = readStates;
  let polling: DatabasePoller<number>;
  beforeEach(() => {
    vi.useFakeTimers();
    [asked, faults, versions, readStates] = [[], [], new Map([["a", 1]]), usual];
    polling = createDatabasePoller({
      readStates: (ids) => readStates(ids),
      everyMs,
      pauseMsMin,
      onError: (error) => void faults.push(error),
    });
  });
  afterEach(() => {
    polling.close();
    vi.useRealTimers();
  });
  const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

  it("queries nothing while no caller waits", async () => {
    polling.wake();
    await pass(10 * everyMs);
    const stop = polling.watch("a", () => undefined);
    await pass(everyMs);
    expect(asked.length).toBeGreaterThan(0);
    stop();
    asked = [];
    polling.wake();
    await pass(10 * everyMs);
    expect({ asked, watchers: polling.watchers(), isWatched: polling.isWatched("a") }).toEqual({
      asked: [],
      watchers: 0,
      isWatched: false,
    });
  });

  it("queries for all callers at once, and gives each its result", async () => {
    const results: string[] = [];
    for (const id of ["a", "b", "a"]) polling.watch(id, (version) => void results.push(`${id} ${version}`));
    await pass(pauseMsMin);
    expect(asked).toEqual([["a", "b"]]);
    expect(results.toSorted()).toEqual(["a 1", "a 1", "b null"]);
    await pass(3 * everyMs);
    expect(asked).toHaveLength(4);
  });

  it("queries at once after a local change, but not more often than allowed", async () => {
    polling.watch("a", () => undefined);
    await pass(2 * pauseMsMin);
    asked = [];
    polling.wake();
    await pass(1);
    expect(asked).toHaveLength(1);
    for (let ms = 0; ms < 250; ms += 1) {
      polling.wake();
      await pass(1);
    }
    expect(asked.length).toBeGreaterThan(5);
    expect(asked.length).toBeLessThanOrEqual(1 + 250 / pauseMsMin);
  });

  it("queries again after a change during a query", async () => {
    const { promise, resolve } = Promise.withResolvers<ReadonlyMap<string, number>>();
    readStates = (ids) => {
      asked.push(ids);
      return promise;
    };
    const results: (number | null)[] = [];
    polling.watch("a", (version) => void results.push(version));
    await pass(1);
    polling.wake();
    readStates = usual;
    versions.set("a", 2);
    resolve(new Map([["a", 1]]));
    await pass(pauseMsMin);
    expect(results).toEqual([1, 2]);
  });

  it("continues after an error, which is reported once", async () => {
    readStates = () => Promise.reject(new Error("away"));
    const results: (number | null)[] = [];
    polling.watch("a", (version) => void results.push(version));
    await pass(5 * everyMs);
    expect(faults).toEqual([new Error("away")]);
    readStates = usual;
    await pass(everyMs);
    expect(results).toEqual([1]);
  });

  it("continues for a new caller after an error during which all others had left", async () => {
    readStates = () => Promise.reject(new Error("away"));
    const stop = polling.watch("a", () => undefined);
    await pass(1);
    expect(faults).toHaveLength(1);
    stop();
    readStates = usual;
    const results: (number | null)[] = [];
    polling.watch("a", (version) => void results.push(version));
    await pass(2 * everyMs);
    expect(results.length).toBeGreaterThan(0);
  });

  it("pauses for four times the duration of a query, whatever changes locally", async () => {
    readStates = async (ids) => {
      asked.push(ids);
      await new Promise((over) => setTimeout(over, 200));
      return new Map(versions);
    };
    polling.watch("a", () => undefined);
    for (let ms = 0; ms < 4_900; ms += 10) {
      polling.wake();
      await pass(10);
    }
    expect(asked).toHaveLength(5);
  });

  it("stops when it is closed", async () => {
    polling.watch("a", () => undefined);
    await pass(1);
    polling.close();
    asked = [];
    polling.wake();
    await pass(10 * everyMs);
    expect(asked).toEqual([]);
  });
});
