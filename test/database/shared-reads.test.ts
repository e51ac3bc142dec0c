/**
 * Reads of one event loop turn are sent as one statement. Each caller gets its rows, and an error fails only
 * its caller.
 */
import { setImmediate, setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createReadCoalescer, type ReadCoalescer } from "#database/shared-reads.ts";

interface Asked {
  readonly keys: readonly string[];
  readonly answer: (rows?: Readonly<Record<string, string>>) => void;
  readonly fail: (error: Error) => void;
}

/** Creates shared reads whose statements wait until the test answers them. */
function createDesk(): { readonly asked: Asked[]; readonly reads: ReadCoalescer<string, string> } {
  const asked: Asked[] = [];
  const find = (keys: readonly string[]): Promise<ReadonlyMap<string, string>> =>
    new Promise((resolve, reject) => {
      const own = Object.fromEntries(keys.map((key) => [key, `row ${key}`]));
      asked.push({ keys, answer: (rows = own) => resolve(new Map(Object.entries(rows))), fail: reject });
    });
  return { asked, reads: createReadCoalescer({ nameOf: (key: string) => key.toLowerCase(), find }) };
}

const range = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => String(from + index));
const keysOf = (asked: readonly Asked[]): (readonly string[])[] => asked.map(({ keys }) => keys);

describe("reads of many requests", () => {
  it("of one event loop turn are one statement; a duplicate is read once", async () => {
    const { asked, reads } = createDesk();
    const rows = ["a", "b", "A", "c"].map((key) => reads.load(key));
    expect(asked).toEqual([]);
    await setImmediate();
    expect(keysOf(asked)).toEqual([["a", "b", "c"]]);
    asked[0]?.answer({ a: "first", c: "third" });
    expect(await Promise.all(rows)).toEqual(["first", null, "first", "third"]);
  });

  it("wait while two statements run, and are sent together when one is answered", async () => {
    const { asked, reads } = createDesk();
    const rows: Promise<string | null>[] = [];
    for (const key of ["1", "2"]) {
      rows.push(reads.load(key));
      await setImmediate();
    }
    for (const key of ["3", "4", "5"]) {
      rows.push(reads.load(key));
      await setImmediate();
    }
    expect(keysOf(asked)).toEqual([["1"], ["2"]]);
    asked[1]?.answer();
    await setImmediate();
    expect(keysOf(asked)).toEqual([["1"], ["2"], ["3", "4", "5"]]);
    asked[0]?.answer();
    asked[2]?.answer();
    expect(await Promise.all(rows)).toEqual(["row 1", "row 2", "row 3", "row 4", "row 5"]);
  });

  it("never get results of a statement that was sent before them", async () => {
    const { asked, reads } = createDesk();
    const before = reads.load("a");
    await setImmediate();
    const after = reads.load("a");
    await setImmediate();
    expect(keysOf(asked)).toEqual([["a"], ["a"]]);
    asked[0]?.answer({ a: "as it was" });
    asked[1]?.answer({ a: "as it is" });
    expect([await before, await after]).toEqual(["as it was", "as it is"]);
  });

  it("are at most thirty-two in one statement", async () => {
    const { asked, reads } = createDesk();
    const rows = range(0, 70).map((key) => reads.load(key));
    await setImmediate();
    expect(asked.map(({ keys }) => keys.length)).toEqual([32, 32]);
    for (const { answer } of asked) answer();
    await setTimeout(1);
    expect(asked.map(({ keys }) => keys.length)).toEqual([32, 32, 6]);
    asked[2]?.answer();
    expect(await Promise.all(rows)).toEqual(range(0, 70).map((key) => `row ${key}`));
  });

  it("that fail together are repeated one by one, so that only the wrong one fails", async () => {
    const { asked, reads } = createDesk();
    const rows = Promise.allSettled(["a", "bad", "c"].map((key) => reads.load(key)));
    await setImmediate();
    asked[0]?.fail(new Error("There is something wrong with one of them."));
    await setTimeout(1);
    expect(keysOf(asked)).toEqual([["a", "bad", "c"], ["a"], ["bad"], ["c"]]);
    asked[1]?.answer();
    asked[2]?.fail(new Error("It is this one."));
    asked[3]?.answer();
    expect(await rows).toMatchObject([
      { value: "row a" },
      { reason: { message: "It is this one." } },
      { value: "row c" },
    ]);
    const next = reads.load("d");
    await setImmediate();
    asked[4]?.answer();
    expect(await next).toBe("row d");
  });

  it("fail at once if the database is unreachable, and are not repeated", async () => {
    const { asked, reads } = createDesk();
    const rows = Promise.allSettled(["a", "b"].map((key) => reads.load(key)));
    await setImmediate();
    asked[0]?.fail(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }));
    expect(await rows).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
    expect(asked).toHaveLength(1);
  });
});
