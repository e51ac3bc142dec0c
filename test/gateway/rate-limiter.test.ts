/** The counter of rate limits: fixed windows, and counting in the process while Redis does not answer. */
import { createServer, type AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createLog } from "#foundation/log.ts";
import { createMemoryRateLimiter, type RateLimiter } from "#http/rate-limiter.ts";
import { createRedisRateLimiter } from "#http/redis-limiter.ts";

describe("the rate limiter in memory", () => {
  it("counts from a caller's first request to the end of the window, then from zero", () => {
    let now = 1_000_000;
    const limiter = createMemoryRateLimiter(1, () => now);
    const state = { bucket: "default", quota: 600, windowSeconds: 60, isExceeded: false };
    expect(limiter.consume("default", "a")).toEqual({ ...state, used: 1, remaining: 599, resetSeconds: 60 });
    now += 59_999;
    expect(limiter.consume("default", "a")).toEqual({ ...state, used: 2, remaining: 598, resetSeconds: 1 });
    expect(limiter.consume("default", "b")).toEqual({ ...state, used: 1, remaining: 599, resetSeconds: 60 });
    now += 1;
    expect(limiter.consume("default", "a")).toEqual({ ...state, used: 1, remaining: 599, resetSeconds: 60 });
  });

  it("refuses requests beyond the quota until the reported time has passed", () => {
    let now = 0;
    const limiter = createMemoryRateLimiter(1, () => now);
    for (let count = 0; count < 20; count += 1)
      expect(limiter.consume("auth-fail", "x")).toMatchObject({ isExceeded: false });
    now += 1;
    expect(limiter.consume("auth-fail", "x")).toMatchObject({
      isExceeded: true,
      remaining: 0,
      resetSeconds: 300,
    });
    now += 300_000;
    expect(limiter.consume("auth-fail", "x")).toMatchObject({ isExceeded: false });
  });

  it("reads the state without counting", () => {
    const limiter = createMemoryRateLimiter(1, () => 0);
    expect(limiter.peek("write", "a")).toMatchObject({ remaining: 120 });
    expect(limiter.consume("write", "a")).toMatchObject({ remaining: 119 });
    expect(limiter.peek("write", "a")).toMatchObject({ remaining: 119 });
    expect(limiter.peek("write", "a")).toMatchObject({ remaining: 119 });
  });

  it("takes back a counted request in the same window", () => {
    let now = 0;
    const limiter = createMemoryRateLimiter(1, () => now);
    for (let count = 0; count < 10; count += 1)
      expect(limiter.consume("login-fail", "x")).toMatchObject({ isExceeded: false });
    void limiter.giveBack("login-fail", "x");
    expect(limiter.consume("login-fail", "x")).toMatchObject({ remaining: 0, isExceeded: false });
    expect(limiter.consume("login-fail", "x")).toMatchObject({ isExceeded: true });
    now += 600_000;
    void limiter.giveBack("login-fail", "x");
    void limiter.giveBack("login-fail", "nobody");
    expect(limiter.consume("login-fail", "x")).toMatchObject({ remaining: 9 });
    expect(limiter.consume("login-fail", "nobody")).toMatchObject({ remaining: 9 });
  });

  it.each([
    [0.1, 60],
    [2, 1200],
    [0.000_1, 1],
  ])("multiplies every quota by %d, with a minimum of one", (scale, quota) => {
    expect(createMemoryRateLimiter(scale, () => 0).consume("default", "a")).toMatchObject({ quota });
  });

  it("counts points, and refuses a request if nothing was left before it", () => {
    const limiter = createMemoryRateLimiter({ all: 2, graphql: 0.001 }, () => 0);
    expect(limiter.consume("graphql-cost", "a", 1_499)).toMatchObject({ quota: 1_500, remaining: 1 });
    expect(limiter.consume("graphql-cost", "a", 700)).toMatchObject({ used: 2_199, isExceeded: false });
    expect(limiter.consume("graphql-cost", "a", 1)).toMatchObject({ used: 2_200, isExceeded: true });
    expect(limiter.consume("graphql-cost", "b", 9_000)).toMatchObject({ isExceeded: false });
    expect(limiter.consume("default", "a")).toMatchObject({ quota: 1_200 });
  });

  it("counts nothing at scale 0", () => {
    const limiter = createMemoryRateLimiter({ all: 1, graphql: 0 });
    expect(limiter.consume("graphql", "a")).toBeUndefined();
    expect(limiter.consume("default", "a")).toBeDefined();
    expect(createMemoryRateLimiter(0).consume("default", "a")).toBeUndefined();
  });
});

describe("the rate limiter with Redis", () => {
  const opened: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0)) await close();
  });

  function open(port: number): { limiter: RateLimiter; logged: string[] } {
    const logged: string[] = [];
    const limiter = createRedisRateLimiter(
      `redis://127.0.0.1:${port}`,
      1,
      createLog("info", { write: (line) => void logged.push(line) }),
    );
    opened.push(() => limiter.close());
    return { limiter, logged };
  }

  /** A port that accepts connections without answering, or a closed port. */
  async function portOf({ isOpen }: { isOpen: boolean }): Promise<number> {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    if (!isOpen) await new Promise((done) => server.close(done));
    else opened.push(() => void server.close());
    return port;
  }

  it.each([
    ["Redis refuses connections", { isOpen: false }],
    ["Redis does not answer", { isOpen: true }],
  ])("counts in the process while %s, enforces the limit and logs one line", async (_name, there) => {
    const { limiter, logged } = open(await portOf(there));
    for (let count = 1; count <= 20; count += 1)
      expect(await limiter.consume("auth-fail", "x")).toMatchObject({
        quota: 20,
        remaining: 20 - count,
        isExceeded: false,
      });
    expect(await limiter.consume("auth-fail", "x")).toMatchObject({ isExceeded: true });
    expect(await limiter.peek("auth-fail", "x")).toMatchObject({ remaining: 0 });
    await limiter.giveBack("auth-fail", "x");
    await limiter.giveBack("auth-fail", "x");
    expect(await limiter.peek("auth-fail", "x")).toMatchObject({ remaining: 1 });
    expect(logged).toHaveLength(1);
    expect(JSON.parse(logged[0] ?? "")).toMatchObject({ level: "warn", event: "rate_limiter_away" });
  });
});
