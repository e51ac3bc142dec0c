/**
 * Redis is killed under load and comes back: requests are counted all the while, none is refused because of
 * the outage, and the log has one line at each change.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createLog } from "#foundation/log.ts";
import { createRedisRateLimiter } from "#http/redis-limiter.ts";
import { hasRedis } from "#test/support/balancer.ts";
import { type Listening, startProgram } from "#test/support/program.ts";

if (!hasRedis)
  process.stderr.write(
    "test/faults/redis-away.test.ts is skipped: Redis is not installed (Debian: redis-server).\n",
  );

const startRedisAt = (port: number): Promise<Listening> => {
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-redis-"));
  return startProgram({
    file: "redis-server",
    args: ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""],
    port,
    folder,
  });
};

describe.runIf(hasRedis)("a Redis outage under load", () => {
  it("blocks nobody, disables no limit, and ends with shared counting", async () => {
    const port = await findFreePort();
    const logged: { event: string }[] = [];
    const log = createLog("info", {
      write: (line) => void logged.push(JSON.parse(line) as { event: string }),
    });
    const first = await startRedisAt(port);
    const limiter = createRedisRateLimiter(`redis://127.0.0.1:${port}`, 1, log);
    const taken = { admitted: 0, refused: 0 };
    const take = async (): Promise<void> => {
      const state = await limiter.consume("auth-fail", "guesser");
      taken[state?.isExceeded === true ? "refused" : "admitted"] += 1;
    };
    await using stack = new AsyncDisposableStack();
    const over = new AbortController();
    const load = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await take();
        // The in-memory limiter answers synchronously, so nothing else would get an event loop turn.
        await nextTurn();
      }
    };
    try {
      // Redis counts as unavailable until connected, which is logged too.
      await expect
        .poll(async () => [await limiter.consume("auth-fail", "early"), limiter.isAway()].at(-1))
        .toBe(false);
      logged.length = 0;
      const running = Promise.all([load(), load(), load(), load()]);
      await expect.poll(() => taken.refused).toBeGreaterThan(20);
      await first[Symbol.asyncDispose]();
      await expect.poll(() => limiter.isAway()).toBe(true);
      const before = taken.refused;
      await expect.poll(() => taken.refused - before).toBeGreaterThan(20);

      stack.use(await startRedisAt(port));
      await expect.poll(() => limiter.isAway()).toBe(false);
      const afterwards = taken.refused;
      await expect.poll(() => taken.refused - afterwards).toBeGreaterThan(20);
      over.abort();
      await running;
      // After a pause of this process, Redis counts as away until the next command.
      await expect
        .poll(async () => [await limiter.consume("auth-fail", "early"), limiter.isAway()].at(-1))
        .toBe(false);
      // The quota is 20 in five minutes, counted three times: by Redis, in memory, and by the new Redis
      // without earlier counts.
      expect(taken.admitted).toBeLessThanOrEqual(3 * 20);
      // On a busy machine Redis may be reported as away again; then both log lines are repeated.
      const pair = ["rate_limiter_away", "rate_limiter_back"];
      expect(logged.map(({ event }) => event)).toEqual(
        Array.from({ length: logged.length / 2 }, () => pair).flat(),
      );
      expect(logged.length).toBeGreaterThan(0);
    } finally {
      over.abort();
      await limiter.close();
    }
  });
});
