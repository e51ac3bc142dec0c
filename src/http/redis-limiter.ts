/**
 * Counts requests in Redis or Valkey, for several machines, with rate-limiter-flexible. While Redis is away,
 * each process counts in its memory, so that no request fails and limits stay in force. Loaded only if
 * REDIS_URL is set.
 *
 * The library's `insuranceLimiter` is not used: its answers do not say who counted
 * (lib/RateLimiterInsuredAbstract.js:32), so a Redis that accepts connections and never answers could not be
 * reported by the log and by `commerce_rate_limiter_away`.
 */
import { Redis } from "ioredis";
import { RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { type RateBucket, rateQuotas, scaledQuota } from "#access/viewer.ts";
import type { Log } from "#foundation/log.ts";
import { createMemoryLimiter, type LimitState, type RateLimiter, stateOf } from "./rate-limiter.ts";

export function createRedisLimiter(url: string, scale: number, log: Log): RateLimiter {
  const redis = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 250 });
  const memory = createMemoryLimiter(scale);
  let isAway = false;
  const noteRedis = (isThere: boolean): void => {
    if (isAway === !isThere) return;
    isAway = !isThere;
    if (isAway)
      log.warn({ event: "rate_limiter_away" }, "Redis is away: rate limits are counted per process.");
    else log.info({ event: "rate_limiter_back" }, "Redis is back: rate limits are shared again.");
  };
  redis.on("error", () => noteRedis(false));
  // Reported also in processes that count nothing, such as workers.
  redis.on("ready", () => noteRedis(true));
  const limiters = new Map<RateBucket, RateLimiterRedis>();
  const limiterOf = (bucket: RateBucket, quota: number): RateLimiterRedis => {
    const known =
      limiters.get(bucket) ??
      new RateLimiterRedis({
        storeClient: redis,
        keyPrefix: `cg:${bucket}`,
        points: quota,
        duration: rateQuotas[bucket].windowSeconds,
      });
    limiters.set(bucket, known);
    return known;
  };
  const ask = async (bucket: RateBucket, key: string, cost: 0 | 1): Promise<LimitState | undefined> => {
    const quota = scaledQuota(bucket, scale);
    if (quota === undefined) return undefined;
    const limiter = limiterOf(bucket, quota);
    try {
      const result = cost === 1 ? await limiter.consume(key) : await limiter.get(key);
      noteRedis(true);
      return stateOf(bucket, quota, {
        count: result?.consumedPoints ?? 0,
        msLeft: result?.msBeforeNext ?? rateQuotas[bucket].windowSeconds * 1000,
      });
    } catch (error) {
      // The library rejects with the count when the quota is exceeded: Redis has answered.
      noteRedis(error instanceof RateLimiterRes);
      if (error instanceof RateLimiterRes)
        return stateOf(bucket, quota, { count: error.consumedPoints, msLeft: error.msBeforeNext });
      return cost === 1 ? memory.consume(bucket, key) : memory.peek(bucket, key);
    }
  };
  return {
    consume: (bucket, key) => ask(bucket, key, 1),
    peek: (bucket, key) => ask(bucket, key, 0),
    giveBack: async (bucket, key) => {
      const quota = scaledQuota(bucket, scale);
      if (quota === undefined) return;
      try {
        const limiter = limiterOf(bucket, quota);
        const counted = await limiter.get(key);
        // If a new window has begun since, there is nothing to take back; `reward` would create a window with
        // a count of -1.
        if (counted !== null && counted.consumedPoints > 0) await limiter.reward(key);
        noteRedis(true);
      } catch {
        noteRedis(false);
        await memory.giveBack(bucket, key);
      }
    },
    isAway: () => isAway,
    close: async () => {
      redis.disconnect();
      await memory.close();
    },
  };
}
