/** A cache of limited size that takes memory only for the entries that it has. */
import { LRUCache } from "lru-cache";
import { expect, it } from "vitest";
import { limitGrowingCache } from "#foundation/growing-cache.ts";

it("a growing cache takes no memory for entries that it does not have yet", () => {
  const before = process.memoryUsage().arrayBuffers;
  const cache = new LRUCache<string, number>(limitGrowingCache(1_000_000));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
  expect([cache.size, cache.maxSize]).toEqual([0, 1_000_000]);
});

it("a growing cache drops the entry that was not used for the longest time", () => {
  const cache = new LRUCache<string, number>(limitGrowingCache(2));
  cache.set("a", 1);
  cache.set("b", 2);
  cache.get("a");
  cache.set("c", 3);
  expect([...cache.keys()]).toEqual(["c", "a"]);
});

it("a growing cache drops entries whose time to live has passed", () => {
  let now = 1;
  const perf = { now: () => now };
  const cache = new LRUCache<string, number>({ perf, ttlResolution: 0, ttl: 10, ...limitGrowingCache(2) });
  cache.set("a", 1);
  now = 11;
  expect(cache.get("a")).toBe(1);
  now = 12;
  expect(cache.get("a")).toBeUndefined();
});
