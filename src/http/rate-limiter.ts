/**
 * Limits how many requests a caller may send. Counts the requests of each caller in time windows of a fixed
 * length that start with the first request, reports the remaining quota in the headers of the answer, and
 * refuses requests above the quota. The limiter in this file counts in the memory of one process.
 * shared-limiter.ts counts for all processes of one machine, redis-limiter.ts for several machines.
 *
 * The class RateLimiterMemory of the package rate-limiter-flexible 11.4.0 is not used, for three reasons. Its
 * table of callers has no size limit (lib/component/MemoryStorage/MemoryStorage.js:10, a Map and a timer for
 * each key). It keeps time windows that end too late after the clock was set back (lines 17 and 66 of the
 * same file). It answers only by promises.
 */
import { LRUCache } from "lru-cache";
import type { FastifyReply } from "fastify";
import { limitGrowingCache } from "#foundation/growing-cache.ts";
import {
  type RateLimitBucket,
  rateLimitQuotas,
  type RateLimitQuotaFactors,
  getScaledRateLimitQuota,
  getPublicRateLimitBucketName,
} from "#access/viewer.ts";
import { createFailure } from "#foundation/failure.ts";

export interface RateLimitUsage {
  readonly bucket: RateLimitBucket;
  readonly quota: number;
  readonly windowSeconds: number;
  /** The number of requests or points that the current time window has counted. */
  readonly used: number;
  readonly remaining: number;
  readonly resetSeconds: number;
  readonly isExceeded: boolean;
}

export interface RateLimiter {
  /**
   * Counts a request of a caller and returns the state of the caller's quota; undefined if limits are off. A
   * request counts as `points`, 1 if left out. The state is exceeded if the quota was already used up before
   * the request. A request with more points than are left is accepted as the last one of its time window.
   */
  consume(
    bucket: RateLimitBucket,
    key: string,
    points?: number,
  ): Promise<RateLimitUsage | undefined> | RateLimitUsage | undefined;
  /** Returns the current state of a caller's quota without counting a request. */
  peek(
    bucket: RateLimitBucket,
    key: string,
  ): Promise<RateLimitUsage | undefined> | RateLimitUsage | undefined;
  /** Subtracts one counted request of a caller, for example because the attempt did not fail. */
  giveBack(bucket: RateLimitBucket, key: string): Promise<void> | void;
  /**
   * Returns true while the shared counter (Redis or the parent process) does not answer. This process then
   * counts its own requests.
   */
  isAway(): boolean;
  close(): Promise<void>;
}

/**
 * The maximum number of callers whose requests are counted at a time. If there are more callers, the counts
 * of the callers whose last request is the oldest are dropped.
 */
const callersMax = 200_000;

export function createMemoryRateLimiter(
  scale: RateLimitQuotaFactors,
  now: () => number = Date.now,
): RateLimiter {
  const windows = new LRUCache<string, { count: number; endsAt: number }>(limitGrowingCache(callersMax));
  const countIn = (bucket: RateLimitBucket, key: string, points: number): RateLimitUsage | undefined => {
    const quota = getScaledRateLimitQuota(bucket, scale);
    if (quota === undefined) return undefined;
    const { windowSeconds } = rateLimitQuotas[bucket];
    const time = now();
    const name = `${bucket}:${key}`;
    let window = windows.get(name);
    // A time window that ends too far in the future began before the system clock was set back. It is
    // replaced by a new one, so that the caller does not wait too long.
    if (window === undefined || window.endsAt <= time || window.endsAt > time + windowSeconds * 1000) {
      window = { count: 0, endsAt: time + windowSeconds * 1000 };
      if (points > 0) windows.set(name, window);
    }
    window.count += points;
    return calculateRateLimitUsage(bucket, quota, {
      count: window.count,
      points,
      msLeft: window.endsAt - time,
    });
  };
  return {
    consume: (bucket, key, points = 1) => countIn(bucket, key, points),
    peek: (bucket, key) => countIn(bucket, key, 0),
    giveBack: (bucket, key) => {
      const name = `${bucket}:${key}`;
      const window = windows.get(name);
      // The request is subtracted only from a time window that has not ended. Windows with a count of 0 are
      // deleted, because they would displace the counts of other callers.
      if (window === undefined || window.endsAt <= now()) return;
      window.count -= 1;
      if (window.count <= 0) windows.delete(name);
    },
    isAway: () => false,
    close: () => Promise.resolve(),
  };
}

interface CountedWindow {
  /** The number of requests or points in the current time window, with those of the current request. */
  readonly count: number;
  /** The points of the current request; 0 if it was not counted. */
  readonly points: number;
  readonly msLeft: number;
}

/**
 * Calculates the state of a caller's quota (for example how many requests remain) from the number of requests
 * or points in the caller's current time window.
 */
export function calculateRateLimitUsage(
  bucket: RateLimitBucket,
  quota: number,
  { count, points, msLeft }: CountedWindow,
): RateLimitUsage {
  return {
    bucket,
    quota,
    windowSeconds: rateLimitQuotas[bucket].windowSeconds,
    used: count,
    remaining: Math.max(0, quota - count),
    resetSeconds: Math.max(1, Math.ceil(msLeft / 1000)),
    isExceeded: count > quota && count - points >= quota,
  };
}

/** The key of a request counter: the name of the rate limit, and the caller whose requests are counted. */
export interface RateLimitCounterKey {
  readonly bucket: RateLimitBucket;
  readonly key: string;
}

/**
 * Counts a request, sets the rate limit headers of the answer, and throws if the quota is exceeded. If the
 * limiter answers synchronously, as the limiter in memory does, this function does too; otherwise it returns
 * a promise.
 */
export function countRequestAgainstQuota(
  limiter: RateLimiter,
  reply: FastifyReply,
  { bucket, key }: RateLimitCounterKey,
): Promise<void> | void {
  const counted = limiter.consume(bucket, key);
  if (counted instanceof Promise) return counted.then((state) => applyLimit(reply, state));
  applyLimit(reply, counted);
}

function applyLimit(reply: FastifyReply, state: RateLimitUsage | undefined): void {
  if (state === undefined) return;
  setLimitHeaders(reply, state);
  if (state.isExceeded) throw createRateLimitFailure("rate_limited", state);
}

/** Throws if one more request would exceed the caller's quota, but does not count a request. */
export async function requireRemainingQuota(
  limiter: RateLimiter,
  reply: FastifyReply,
  { bucket, key }: RateLimitCounterKey,
): Promise<void> {
  const state = await limiter.peek(bucket, key);
  if (state === undefined || state.remaining > 0) return;
  setLimitHeaders(reply, state);
  throw createRateLimitFailure("rate_limited", state);
}

/** Sets the rate limit headers that draft-ietf-httpapi-ratelimit-headers defines. */
function setLimitHeaders(
  reply: FastifyReply,
  { bucket, quota, windowSeconds, remaining, resetSeconds }: RateLimitUsage,
): void {
  void reply
    .header("ratelimit-policy", `"${bucket}";q=${quota};w=${windowSeconds}`)
    .header("ratelimit", `"${bucket}";r=${remaining};t=${resetSeconds}`);
}

export function createRateLimitFailure(
  code: "rate_limited" | "too_many_failed_attempts",
  state: RateLimitUsage,
): Error {
  const message =
    `At most ${state.quota} ${describeCountedUnits(state)} in ${state.windowSeconds} s; try again in ` +
    `${state.resetSeconds} s.`;
  return createFailure(code, {
    ...(state.bucket.startsWith("graphql") ? { message } : {}),
    retryAfterSeconds: state.resetSeconds,
    details: [
      { in: "limit", field: getPublicRateLimitBucketName(state.bucket), code: "quota_exceeded", message },
    ],
  });
}

/** Says what a rate limit counts. For points, also says how many points the time window has counted. */
function describeCountedUnits({ bucket, used }: RateLimitUsage): string {
  if (bucket.includes("-fail")) return "failed attempts";
  const owner = bucket.startsWith("graphql") && bucket.endsWith("-merchant") ? " of the merchant" : "";
  return bucket.startsWith("graphql-cost")
    ? `points of cost${owner}, of which ${used} are used,`
    : `requests${owner}`;
}
