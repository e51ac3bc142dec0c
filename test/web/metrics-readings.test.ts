/**
 * The gauges that are read at each request for /metrics show the current state, and a rate limiter that
 * answers again is shown as available.
 */
import { once } from "node:events";
import { createServer } from "node:net";
import { Registry } from "prom-client";
import { expect, it, onTestFinished } from "vitest";
import { findFreePort } from "#foundation/free-port.ts";
import { createLog } from "#foundation/log.ts";
import { createRedisRateLimiter } from "#http/redis-limiter.ts";
import {
  type AllServiceStateGaugeReaders,
  registerServiceStateMetrics,
} from "#observability/state-metrics.ts";
import { readScrape } from "./scrape.ts";

it("each state is read under the metric of its name", async () => {
  const registry = new Registry();
  const readings: AllServiceStateGaugeReaders = {
    pool: () => ({ max: 7, total: 5, idle: 2, waiting: 4 }),
    subscriptions: () => 6,
    isReceivingNotices: () => false,
    isLimiterAway: () => true,
    replicaLagSeconds: () => 3,
    isReplicaBehind: () => true,
    responseCache: () => ({ bytes: 4096, entries: 3 }),
    transactionsRunAgain: () => 9,
  };
  registerServiceStateMetrics(registry, readings);
  const { value } = readScrape(await registry.metrics());
  expect(value("commerce_database_connections", { state: "busy" })).toBe(3);
  expect(value("commerce_database_connections", { state: "idle" })).toBe(2);
  const others = [
    "database_connections_max",
    "database_waiting",
    "graphql_subscriptions_open",
    "notices_current",
    "rate_limiter_away",
    "replica_lag_seconds",
    "replica_behind",
    "response_cache_bytes",
    "response_cache_entries",
  ];
  expect(others.map((name) => value(`commerce_${name}`))).toEqual([7, 4, 6, 0, 1, 3, 1, 4096, 3]);
  expect(value("commerce_transactions_retried_total")).toBe(9);
});

it("a Redis that answers again is not away, also without further requests", async () => {
  // The fake Redis answers every command alike. It listens only after the rate limiter has failed to connect.
  const redis = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => socket.write("+OK\r\n".repeat(String(bytes).match(/^\*\d/gm)?.length ?? 0)));
  });
  const port = await findFreePort();
  const logged: string[] = [];
  const log = createLog("info", {
    write: (line) => void logged.push((JSON.parse(line) as { event: string }).event),
  });
  const limiter = createRedisRateLimiter(`redis://127.0.0.1:${port}`, 1, log);
  onTestFinished(async () => {
    await limiter.close();
    redis.close();
  });
  await expect.poll(() => limiter.isAway()).toBe(true);
  await once(redis.listen(port, "127.0.0.1"), "listening");
  await expect.poll(() => limiter.isAway()).toBe(false);
  expect(logged).toEqual(["rate_limiter_away", "rate_limiter_back"]);
});
