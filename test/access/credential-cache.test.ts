/**
 * The credential cache: how long it keeps verdicts, how many, and that a notice of a change removes outdated
 * ones.
 */
import { describe, expect, it, vi } from "vitest";
import { createCredentialCache, type CredentialCache } from "#access/credentials.ts";
import { TestClock } from "#test/support/test-clock.ts";

interface Row {
  readonly id: string;
  readonly merchantId: string | null;
}
const row = (id: string, merchantId: string | null = "mer_1"): Row => ({ id, merchantId });

interface Setting {
  readonly cache: CredentialCache<Row>;
  readonly clock: TestClock;
  readonly state: { isCurrent: boolean };
}

function create(): Setting {
  const clock = new TestClock(new Date("2026-06-01T00:00:00.000Z"));
  const state = { isCurrent: true };
  const cache = createCredentialCache<Row>({
    clock,
    isCurrent: () => state.isCurrent,
    ownersOf: ({ id, merchantId }) => [id, merchantId],
  });
  return { cache, clock, state };
}

/** Creates a lookup that ends when the test says so. */
function slow(): {
  readonly lookUp: () => Promise<Row | undefined>;
  readonly end: (found: Row | undefined) => void;
  readonly calls: () => number;
} {
  const { promise, resolve } = Promise.withResolvers<Row | undefined>();
  const lookUp = vi.fn<() => Promise<Row | undefined>>(() => promise);
  return { lookUp, end: resolve, calls: () => lookUp.mock.calls.length };
}

const finding = (found: Row | undefined) =>
  vi.fn<() => Promise<Row | undefined>>(() => Promise.resolve(found));

describe("a known credential", () => {
  it("is looked up once in 30 seconds", async () => {
    const { cache, clock } = create();
    const lookUp = finding(row("key_1"));
    for (const _ of [1, 2, 3]) expect(await cache.find("a", lookUp)).toEqual(row("key_1"));
    clock.advance(30_000);
    await cache.find("a", lookUp);
    expect(lookUp).toHaveBeenCalledTimes(1);
    clock.advance(1);
    await cache.find("a", lookUp);
    expect(lookUp).toHaveBeenCalledTimes(2);
  });

  it("is kept among up to ten thousand; the least recently used is dropped first", async () => {
    const { cache } = create();
    const first = finding(row("key_first"));
    await cache.find("first", first);
    const second = finding(row("key_second"));
    await cache.find("second", second);
    await cache.find("first", first);
    for (let count = 0; count < 9_999; count += 1)
      await cache.find(`other ${count}`, () => Promise.resolve(row(`key_${count}`)));
    await cache.find("first", first);
    await cache.find("second", second);
    expect(first).toHaveBeenCalledTimes(1);
    expect(second).toHaveBeenCalledTimes(2);
  });
});

describe("an unknown credential", () => {
  it("is looked up once in 5 seconds", async () => {
    const { cache, clock } = create();
    const lookUp = finding(undefined);
    for (const ms of [0, 5_000]) {
      clock.advance(ms);
      expect(await cache.find("a", lookUp)).toBeUndefined();
    }
    expect(lookUp).toHaveBeenCalledTimes(1);
    clock.advance(1);
    await cache.find("a", lookUp);
    expect(lookUp).toHaveBeenCalledTimes(2);
  });

  it("displaces no known one, however many unknown ones are tried", async () => {
    const { cache } = create();
    const known = finding(row("key_1"));
    await cache.find("known", known);
    for (let count = 0; count < 20_000; count += 1)
      await cache.find(`guess ${count}`, () => Promise.resolve(undefined));
    await cache.find("known", known);
    expect(known).toHaveBeenCalledTimes(1);
  });
});

describe("a notice of a change", () => {
  it.each(["key_1", "mer_1"])("to %s drops all its credentials, and no others", async (ownerId) => {
    const { cache } = create();
    const [own, other] = [finding(row("key_1")), finding(row("key_2", null))];
    await cache.find("own", own);
    await cache.find("other", other);
    cache.invalidate(ownerId);
    await cache.find("own", own);
    await cache.find("other", other);
    expect(own).toHaveBeenCalledTimes(2);
    expect(other).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["to its owner", (cache: CredentialCache<Row>) => cache.invalidate("key_1")],
    ["of which nobody knows what it was", (cache: CredentialCache<Row>) => cache.clear()],
  ])("%s that arrives during a lookup prevents caching of its result", async (_name, notify) => {
    const { cache } = create();
    const old = slow();
    const before = cache.find("a", old.lookUp);
    notify(cache);
    const fresh = finding(undefined);
    // A later caller does not wait for the outdated lookup either.
    expect(await cache.find("a", fresh)).toBeUndefined();
    old.end(row("key_1"));
    expect(await before).toEqual(row("key_1"));
    expect(await cache.find("a", fresh)).toBeUndefined();
    expect(fresh).toHaveBeenCalledTimes(1);
  });

  it("that may have been missed drops everything", async () => {
    const { cache } = create();
    const [known, unknown] = [finding(row("key_1")), finding(undefined)];
    await cache.find("known", known);
    await cache.find("unknown", unknown);
    cache.clear();
    await cache.find("known", known);
    await cache.find("unknown", unknown);
    expect(known).toHaveBeenCalledTimes(2);
    expect(unknown).toHaveBeenCalledTimes(2);
  });
});

describe("while notices may be missing", () => {
  it("no cached verdict is used, and none is cached", async () => {
    const { cache, state } = create();
    const lookUp = finding(row("key_1"));
    await cache.find("a", lookUp);
    state.isCurrent = false;
    await cache.find("a", lookUp);
    await cache.find("a", lookUp);
    expect(lookUp).toHaveBeenCalledTimes(3);
    await cache.find("b", lookUp);
    state.isCurrent = true;
    await cache.find("b", lookUp);
    expect(lookUp).toHaveBeenCalledTimes(5);
  });

  it("a lookup that began earlier is not cached when it ends", async () => {
    const { cache, state } = create();
    const old = slow();
    const found = cache.find("a", old.lookUp);
    state.isCurrent = false;
    old.end(row("key_1"));
    await found;
    state.isCurrent = true;
    const fresh = finding(undefined);
    expect(await cache.find("a", fresh)).toBeUndefined();
    expect(fresh).toHaveBeenCalledTimes(1);
  });
});

describe("simultaneous lookups", () => {
  it("of one credential are shared, of two are separate, and a later one is new", async () => {
    const { cache, state } = create();
    state.isCurrent = false;
    const [one, two] = [slow(), slow()];
    const all = [cache.find("a", one.lookUp), cache.find("a", one.lookUp), cache.find("b", two.lookUp)];
    one.end(row("key_1"));
    two.end(undefined);
    expect(await Promise.all(all)).toEqual([row("key_1"), row("key_1"), undefined]);
    expect([one.calls(), two.calls()]).toEqual([1, 1]);
    await cache.find("a", one.lookUp);
    expect(one.calls()).toBe(2);
  });

  it("fail together, and the next one tries again", async () => {
    const { cache } = create();
    const lookUp = vi.fn<() => Promise<Row>>(() => Promise.reject(new Error("away")));
    const both = await Promise.allSettled([cache.find("a", lookUp), cache.find("a", lookUp)]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(lookUp).toHaveBeenCalledTimes(1);
    expect(await cache.find("a", finding(row("key_1")))).toEqual(row("key_1"));
  });

  it("are not shared with a slow one, which may have read outdated rows", async () => {
    const { cache } = create();
    const now = vi.spyOn(performance, "now").mockReturnValue(1_000);
    try {
      const [old, fresh] = [slow(), slow()];
      void cache.find("a", old.lookUp);
      now.mockReturnValue(1_250);
      void cache.find("a", fresh.lookUp);
      expect(fresh.calls()).toBe(0);
      now.mockReturnValue(1_251);
      void cache.find("a", fresh.lookUp);
      expect([old.calls(), fresh.calls()]).toEqual([1, 1]);
    } finally {
      now.mockRestore();
    }
  });
});
