/** Takes one request from a bucket, says in the answer's headers what is left, and refuses when nothing is. */
import type { FastifyReply } from "fastify";
import { type Bucket, shownName } from "#access/limits.ts";
import { fail } from "#foundation/failure.ts";
import type { LimitState, RateLimiter } from "./rate-limiter.ts";

export interface Counted {
  readonly bucket: Bucket;
  readonly key: string;
}

/** Waits only where the limiter does. */
export function takeOne(limiter: RateLimiter, reply: FastifyReply, { bucket, key }: Counted): Promise<void> | void {
  const counted = limiter.consume(bucket, key);
  if (counted instanceof Promise) return counted.then((state) => judge(reply, state));
  judge(reply, counted);
}

function judge(reply: FastifyReply, state: LimitState | undefined): void {
  if (state === undefined) return;
  showLimit(reply, state);
  if (state.isExceeded) throw limitFailure("rate_limited", state);
}

/** As the next that is taken would be, and takes nothing. */
export async function refuseUsedUp(limiter: RateLimiter, reply: FastifyReply, { bucket, key }: Counted): Promise<void> {
  const state = await limiter.peek(bucket, key);
  if (state === undefined || state.remaining > 0) return;
  showLimit(reply, state);
  throw limitFailure("rate_limited", state);
}

/** draft-ietf-httpapi-ratelimit-headers: additive, for clients that look there. */
function showLimit(reply: FastifyReply, { bucket, quota, windowSeconds, remaining, resetSeconds }: LimitState): void {
  void reply
    .header("ratelimit-policy", `"${bucket}";q=${quota};w=${windowSeconds}`)
    .header("ratelimit", `"${bucket}";r=${remaining};t=${resetSeconds}`);
}

export function limitFailure(code: "rate_limited" | "too_many_failed_attempts", state: LimitState): Error {
  const what = state.bucket.includes("-fail") ? "failed attempts" : "requests";
  const message = `At most ${state.quota} ${what} in ${state.windowSeconds} s; try again in ${state.resetSeconds} s.`;
  return fail(code, {
    retryAfterSeconds: state.resetSeconds,
    details: [{ in: "limit", field: shownName(state.bucket), code: "quota_exceeded", message }],
  });
}
