/**
 * Counts requests in Redis or Valkey, for several machines, with the package rate-limiter-flexible. While
 * Redis does not answer, each process counts its own requests in memory, so that no request fails and limits
 * stay in force. This file is loaded only if REDIS_URL is set.
 *
 * The option `insuranceLimiter` of the package, which also counts in memory, is not used. With this option,
 * the answers do not show whether Redis has counted (lib/RateLimiterInsuredAbstract.js:32). If Redis accepted
 * connections but never answered, the log and the metric `commerce_rate_limiter_away` could not report it.
 */
import { Redis } from "ioredis";
import { RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import {
  type RateLimitBucket,
  type RateLimitQuotaFactors,
  rateLimitQuotas,
  getScaledRateLimitQuota,
} from "#access/viewer.ts";
import type { Log } from "#foundation/log.ts";
import {
  createMemoryRateLimiter,
  type RateLimitUsage,
  type RateLimiter,
  calculateRateLimitUsage,
} from "./rate-limiter.ts";

/** The state of a caller's quota; undefined if the rate limit does not apply to the caller. */
type CountedState = RateLimitUsage | undefined;

export function createRedisRateLimiter(url: string, scale: RateLimitQuotaFactors, log: Log): RateLimiter {
  const redis = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 250 });
  const memory = createMemoryRateLimiter(scale);
  let isAway = false;
  const recordRedisState = (isReachable: boolean): void => {
    if (isAway === !isReachable) return;
    isAway = !isReachable;
    if (isAway)
      log.warn({ event: "rate_limiter_away" }, "Redis is away: rate limits are counted per process.");
    else log.info({ event: "rate_limiter_back" }, "Redis is back: rate limits are shared again.");
  };
  redis.on("error", () => recordRedisState(false));
  // The event `ready` shows that Redis is reachable again. A process that counts no requests, such as a
  // worker, would not notice it otherwise.
  redis.on("ready", () => recordRedisState(true));
  const getLimiter = createLimiterFinder(redis);
  const readState = async (bucket: RateLimitBucket, key: string, points: number): Promise<CountedState> => {
    const quota = getScaledRateLimitQuota(bucket, scale);
    if (quota === undefined) return undefined;
    const limiter = getLimiter(bucket, quota);
    try {
      const result = points > 0 ? await limiter.consume(key, points) : await limiter.get(key);
      recordRedisState(true);
      return calculateRateLimitUsage(bucket, quota, {
        count: result?.consumedPoints ?? 0,
        points,
        msLeft: result?.msBeforeNext ?? rateLimitQuotas[bucket].windowSeconds * 1000,
      });
    } catch (error) {
      // A `RateLimiterRes` is thrown if the quota is exceeded, so Redis has answered. Every other error means
      // that Redis has not answered.
      recordRedisState(error instanceof RateLimiterRes);
      if (error instanceof RateLimiterRes)
        return calculateRateLimitUsage(bucket, quota, {
          count: error.consumedPoints,
          points,
          msLeft: error.msBeforeNext,
        });
      return points > 0 ? memory.consume(bucket, key, points) : memory.peek(bucket, key);
    }
  };
  return {
    consume: (bucket, key, points = 1) => readState(bucket, key, points),
    peek: (bucket, key) => readState(bucket, key, 0),
    giveBack: async (bucket, key) => {
      const quota = getScaledRateLimitQuota(bucket, scale);
      if (quota === undefined) return;
      try {
        const limiter = getLimiter(bucket, quota);
        const counted = await limiter.get(key);
        // A request is taken off the count only if the current time window has counted one. In a new time
        // window, `reward` of rate-limiter-flexible would create a count of -1.
        if (counted !== null && counted.consumedPoints > 0) await limiter.reward(key);
        recordRedisState(true);
      } catch {
        recordRedisState(false);
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

/**
 * Returns a function that finds the object of rate-limiter-flexible for a rate limit, and creates each object
 * only once.
 */
function createLimiterFinder(redis: Redis): (bucket: RateLimitBucket, quota: number) => RateLimiterRedis {
  const limiters = new Map<RateLimitBucket, RateLimiterRedis>();
  return (bucket, quota) => {
    const known =
      limiters.get(bucket) ??
      new RateLimiterRedis({
        storeClient: redis,
        keyPrefix: `cg:${bucket}`,
        points: quota,
        duration: rateLimitQuotas[bucket].windowSeconds,
      });
    limiters.set(bucket, known);
    return known;
  };
}
