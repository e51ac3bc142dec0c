/**
 * Several processes share a rate limiter: together they never exceed the quota, each sends one message per
 * turn, and each counts alone while the limiter does not answer.
 */
import { afterEach, describe, expect, it, vi } from "vitest";
import { createLog } from "#foundation/log.ts";
import { createMemoryRateLimiter, type RateLimitUsage, type RateLimiter } from "#http/rate-limiter.ts";
import {
  answerRateLimitRequestsOfChildProcess,
  createChildProcessRateLimiter,
  type InterProcessMessagePort,
} from "#http/shared-limiter.ts";

afterEach(() => vi.useRealTimers());

/** The two ends of a connection that copies messages, as between processes. It can be held back or cut. */
function createLine(): {
  near: InterProcessMessagePort;
  far: InterProcessMessagePort;
  carried: string[];
  hold: () => void;
  release: () => void;
  cut: () => void;
} {
  const listeners: Record<"near" | "far", ((message: unknown) => void)[]> = { near: [], far: [] };
  const carried: string[] = [];
  let held: (() => void)[] | undefined;
  let isCut = false;
  const end = (own: "near" | "far", other: "near" | "far"): InterProcessMessagePort => ({
    send: (message) => {
      if (isCut) return false;
      const text = JSON.stringify(message);
      carried.push(text);
      const deliver = (): void => listeners[other].forEach((listener) => listener(JSON.parse(text)));
      if (held === undefined) setImmediate(deliver);
      else held.push(deliver);
      return true;
    },
    onMessage: (listener) => void listeners[own].push(listener),
  });
  return {
    near: end("near", "far"),
    far: end("far", "near"),
    carried,
    hold: () => (held = []),
    release: () => {
      held?.forEach((deliver) => deliver());
      held = undefined;
    },
    cut: () => (isCut = true),
  };
}

interface Member extends Omit<ReturnType<typeof createLine>, "near" | "far"> {
  readonly limiter: RateLimiter;
  readonly logged: Record<string, unknown>[];
}

/** Creates processes that share one counting process. */
function createMembers(howMany: number, scale = 1): Member[] {
  const counting = createMemoryRateLimiter(scale, () => 0);
  return Array.from({ length: howMany }, () => {
    const { near, far, ...line } = createLine();
    const logged: Record<string, unknown>[] = [];
    answerRateLimitRequestsOfChildProcess(far, counting);
    const log = createLog("info", {
      write: (text) => void logged.push(JSON.parse(text) as Record<string, unknown>),
    });
    return { ...line, logged, limiter: createChildProcessRateLimiter(near, { scale, log }) };
  });
}

function member(): Member {
  const [only] = createMembers(1);
  if (only === undefined) throw new Error("There is none.");
  return only;
}

const admitted = (states: readonly (RateLimitUsage | undefined)[]): number =>
  states.filter((state) => state?.isExceeded === false).length;

describe("processes while the shared limiter answers", () => {
  it("admit together exactly the quota, even if all ask at the same time", async () => {
    const members = createMembers(3);
    const callers = Array.from({ length: 200 }, () => members).flat();
    const states = await Promise.all(
      callers.map(async ({ limiter }) => limiter.consume("anon-read", "192.0.2.1")),
    );
    expect(admitted(states)).toBe(300);
    const [first] = members;
    expect(await first?.limiter.consume("anon-read", "192.0.2.1")).toEqual({
      bucket: "anon-read",
      quota: 300,
      windowSeconds: 60,
      used: 601,
      remaining: 0,
      resetSeconds: 60,
      isExceeded: true,
    });
    expect(await first?.limiter.consume("anon-read", "192.0.2.2")).toMatchObject({
      remaining: 299,
      isExceeded: false,
    });
  });

  it("send one message per turn for all their callers, and each caller gets its own answer", async () => {
    const { limiter, carried } = member();
    const states = await Promise.all([
      limiter.consume("write", "a"),
      limiter.consume("write", "a"),
      limiter.peek("default", "b"),
    ]);
    expect(states.map((state) => [state?.bucket, state?.remaining])).toEqual([
      ["write", 119],
      ["write", 118],
      ["default", 600],
    ]);
    expect(carried).toHaveLength(2);
    await limiter.consume("write", "a");
    expect(carried).toHaveLength(4);
  });

  it("take back a request for all processes, and read the state without counting", async () => {
    const [one, other] = createMembers(2);
    await Promise.all([one?.limiter.consume("login-fail", "x"), one?.limiter.consume("login-fail", "x")]);
    await other?.limiter.giveBack("login-fail", "x");
    expect(await one?.limiter.peek("login-fail", "x")).toMatchObject({ remaining: 9 });
    expect(await other?.limiter.peek("login-fail", "x")).toMatchObject({ remaining: 9 });
  });

  it("send nothing if rate limits are disabled", async () => {
    const [only] = createMembers(1, 0);
    expect(await only?.limiter.consume("default", "x")).toBeUndefined();
    await only?.limiter.giveBack("default", "x");
    expect(only?.carried).toEqual([]);
  });
});

describe("a process while the shared limiter does not answer", () => {
  const fakeTimers = (): unknown => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const turn = (): Promise<void> => new Promise((done) => setImmediate(done));
  const sent = async ({ carried }: Member, messages: number): Promise<void> => {
    while (carried.length < messages) await turn();
  };

  it("waits for a second, then counts alone, and shares again once a late answer arrives", async () => {
    fakeTimers();
    const only = member();
    await only.limiter.consume("auth-fail", "x");
    only.hold();
    let answered = 0;
    const pending = [1, 2].map(async () => {
      const state = await only.limiter.consume("auth-fail", "x");
      answered += 1;
      return state;
    });
    await sent(only, 3);
    vi.advanceTimersByTime(999);
    await turn();
    expect(answered).toBe(0);
    vi.advanceTimersByTime(1);
    expect((await Promise.all(pending)).map((state) => state?.remaining)).toEqual([19, 18]);
    // The next calls do not wait.
    for (let count = 3; count <= 20; count += 1)
      expect(only.limiter.consume("auth-fail", "x")).toMatchObject({ isExceeded: false });
    expect(only.limiter.consume("auth-fail", "x")).toMatchObject({ isExceeded: true });
    expect(only.carried).toHaveLength(3);
    expect(only.logged).toEqual([expect.objectContaining({ level: "warn", event: "rate_limiter_away" })]);

    only.release();
    await expect.poll(() => only.logged.length).toBe(2);
    expect(only.logged[1]).toMatchObject({ level: "info", event: "rate_limiter_back" });
    // Four requests count: one before the hold, two that the limiter received late, and this one.
    expect(await only.limiter.consume("auth-fail", "x")).toMatchObject({ remaining: 16 });
  });

  it("accepts an answer that arrived while the process itself was busy for a second", async () => {
    fakeTimers();
    const only = member();
    const pending = only.limiter.consume("auth-fail", "x");
    await sent(only, 2);
    // The answer has arrived but is not processed yet; the timer fires first.
    vi.advanceTimersByTime(1_000);
    expect(await pending).toMatchObject({ remaining: 19 });
    await turn();
    expect(only.logged).toEqual([]);
  });

  it("counts alone at once if the limiter is gone, and if the process itself ends", async () => {
    // The fake time does not advance.
    fakeTimers();
    const gone = member();
    gone.cut();
    const states = await Promise.all(
      Array.from({ length: 21 }, async () => gone.limiter.consume("auth-fail", "x")),
    );
    expect(admitted(states)).toBe(20);
    expect(gone.limiter.peek("auth-fail", "x")).toMatchObject({ remaining: 0 });
    expect(gone.logged).toHaveLength(1);

    const ending = member();
    ending.hold();
    const pending = ending.limiter.consume("auth-fail", "x");
    await sent(ending, 1);
    await ending.limiter.close();
    expect(await pending).toMatchObject({ remaining: 19 });
  });
});
