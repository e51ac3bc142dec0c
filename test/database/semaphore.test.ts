/** A semaphore limits concurrent work, runs waiting work in order, and bounds every wait. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createSemaphore } from "#database/read-only.ts";

const limits = { runningMax: 2, waitingMax: 2, waitMs: 60_000, refusal: "Later." };
const refused = {
  code: "service_unavailable",
  message: "Later.",
  retryable: true,
  parts: { retryAfterSeconds: 5 },
};

interface Job {
  readonly end: (error?: Error) => void;
  readonly done: Promise<string>;
}

describe("a semaphore", () => {
  const setUp = (over: Partial<typeof limits> = {}): { begun: string[]; start: (name: string) => Job } => {
    const semaphore = createSemaphore({ ...limits, ...over });
    const begun: string[] = [];
    const start = (name: string): Job => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const done = semaphore(() => {
        begun.push(name);
        return promise;
      });
      return { done, end: (error) => (error === undefined ? resolve(name) : reject(error)) };
    };
    return { begun, start };
  };

  it("runs as much work as allowed, and the next in order once one is done or has failed", async () => {
    const { begun, start } = setUp();
    const [a, b, c, d] = ["a", "b", "c", "d"].map(start);
    if (a === undefined || b === undefined || c === undefined || d === undefined)
      throw new Error("There are four.");
    await setImmediate();
    expect(begun).toEqual(["a", "b"]);
    b.end(new Error("Broken."));
    await expect(b.done).rejects.toThrow("Broken.");
    await setImmediate();
    expect(begun).toEqual(["a", "b", "c"]);
    a.end();
    expect(await a.done).toBe("a");
    await setImmediate();
    expect(begun).toEqual(["a", "b", "c", "d"]);
    c.end();
    d.end();
    expect(await Promise.all([c.done, d.done])).toEqual(["c", "d"]);
    const e = start("e");
    e.end();
    expect(await e.done).toBe("e");
  });

  it("refuses a caller if the queue is full", async () => {
    const { begun, start } = setUp();
    const jobs = ["a", "b", "c", "d"].map(start);
    await expect(start("e").done).rejects.toMatchObject(refused);
    for (const job of jobs) job.end();
    await Promise.all(jobs.map(({ done }) => done));
    expect(begun).toEqual(["a", "b", "c", "d"]);
  });

  it("refuses a caller that waited too long, and never starts its work", async () => {
    const { begun, start } = setUp({ runningMax: 1, waitMs: 10 });
    const a = start("a");
    await expect(start("b").done).rejects.toMatchObject(refused);
    a.end();
    await a.done;
    const c = start("c");
    c.end();
    await c.done;
    expect(begun).toEqual(["a", "c"]);
  });
});
