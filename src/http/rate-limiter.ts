/**
 * Rate limits: counts the requests of a caller in fixed windows that start with the first request, reports
 * the remaining quota in the headers of the answer, and refuses requests above the quota. The limiter in
 * memory is here; shared-limiter.ts counts for the processes of one start, redis-limiter.ts for several
 * machines.
 *
 * RateLimiterMemory of rate-limiter-flexible 11.4.0 is not used for three reasons: its table of callers has
 * no bound (lib/component/MemoryStorage/MemoryStorage.js:10, a Map and a timer for each key), it keeps
 * windows that end too late after the clock was set back (lines 17 and 66), and it answers only by promises.
 */
import { LRUCache } from "lru-cache";
import type { FastifyReply } from "fastify";
import { type RateBucket, rateQuotas, scaledQuota, publicBucketName } from "#access/viewer.ts";
import { fail } from "#foundation/failure.ts";

export interface LimitState {
  readonly bucket: RateBucket;
  readonly quota: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  readonly resetSeconds: number;
  readonly isExceeded: boolean;
}

export interface RateLimiter {
  /** Counts one request; undefined when limits are off. */
  consume(bucket: RateBucket, key: string): Promise<LimitState | undefined> | LimitState | undefined;
  /** Looks without counting. */
  peek(bucket: RateBucket, key: string): Promise<LimitState | undefined> | LimitState | undefined;
  /** Takes back one counted request. */
  giveBack(bucket: RateBucket, key: string): Promise<void> | void;
  /**
   * True while the shared counter (Redis or the parent process) does not answer: this process then counts by
   * itself.
   */
  isAway(): boolean;
  close(): Promise<void>;
}

/** The largest number of remembered callers; the caller unseen for longest is forgotten first. */
const callersMax = 200_000;

export function createMemoryLimiter(scale: number, now: () => number = Date.now): RateLimiter {
  const windows = new LRUCache<string, { count: number; endsAt: number }>({ max: callersMax });
  const look = (bucket: RateBucket, key: string, cost: number): LimitState | undefined => {
    const quota = scaledQuota(bucket, scale);
    if (quota === undefined) return undefined;
    const { windowSeconds } = rateQuotas[bucket];
    const at = now();
    const name = `${bucket}:${key}`;
    let window = windows.get(name);
    // A window that ends too late began before the clock was set back: it is dropped, so that no caller waits
    // that long.
    if (window === undefined || window.endsAt <= at || window.endsAt > at + windowSeconds * 1000) {
      window = { count: 0, endsAt: at + windowSeconds * 1000 };
      if (cost > 0) windows.set(name, window);
    }
    window.count += cost;
    return stateOf(bucket, quota, { count: window.count, msLeft: window.endsAt - at });
  };
  return {
    consume: (bucket, key) => look(bucket, key, 1),
    peek: (bucket, key) => look(bucket, key, 0),
    giveBack: (bucket, key) => {
      const name = `${bucket}:${key}`;
      const window = windows.get(name);
      // Ended windows are ignored; empty ones are deleted, because they would push out other callers.
      if (window === undefined || window.endsAt <= now()) return;
      window.count -= 1;
      if (window.count <= 0) windows.delete(name);
    },
    isAway: () => false,
    close: () => Promise.resolve(),
  };
}

/** The state of a caller's quota, by the count of its window. */
export function stateOf(
  bucket: RateBucket,
  quota: number,
  { count, msLeft }: { count: number; msLeft: number },
): LimitState {
  return {
    bucket,
    quota,
    windowSeconds: rateQuotas[bucket].windowSeconds,
    remaining: Math.max(0, quota - count),
    resetSeconds: Math.max(1, Math.ceil(msLeft / 1000)),
    isExceeded: count > quota,
  };
}

/** The bucket and the key that a request is counted under. */
export interface Counted {
  readonly bucket: RateBucket;
  readonly key: string;
}

/**
 * Counts a request, sets the rate limit headers, and throws if the quota is exceeded. Returns a promise only
 * if the limiter does.
 */
export function takeOne(
  limiter: RateLimiter,
  reply: FastifyReply,
  { bucket, key }: Counted,
): Promise<void> | void {
  const counted = limiter.consume(bucket, key);
  if (counted instanceof Promise) return counted.then((state) => judge(reply, state));
  judge(reply, counted);
}

function judge(reply: FastifyReply, state: LimitState | undefined): void {
  if (state === undefined) return;
  showLimit(reply, state);
  if (state.isExceeded) throw limitFailure("rate_limited", state);
}

/** Throws if the next request would exceed the quota, and counts nothing. */
export async function refuseUsedUp(
  limiter: RateLimiter,
  reply: FastifyReply,
  { bucket, key }: Counted,
): Promise<void> {
  const state = await limiter.peek(bucket, key);
  if (state === undefined || state.remaining > 0) return;
  showLimit(reply, state);
  throw limitFailure("rate_limited", state);
}

/** draft-ietf-httpapi-ratelimit-headers: additive, for clients that look there. */
function showLimit(
  reply: FastifyReply,
  { bucket, quota, windowSeconds, remaining, resetSeconds }: LimitState,
): void {
  void reply
    .header("ratelimit-policy", `"${bucket}";q=${quota};w=${windowSeconds}`)
    .header("ratelimit", `"${bucket}";r=${remaining};t=${resetSeconds}`);
}

export function limitFailure(code: "rate_limited" | "too_many_failed_attempts", state: LimitState): Error {
  const what = state.bucket.includes("-fail") ? "failed attempts" : "requests";
  const message = `At most ${state.quota} ${what} in ${state.windowSeconds} s; try again in ${state.resetSeconds} s.`;
  return fail(code, {
    retryAfterSeconds: state.resetSeconds,
    details: [{ in: "limit", field: publicBucketName(state.bucket), code: "quota_exceeded", message }],
  });
}
