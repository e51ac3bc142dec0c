/** Counts what the limiter and the guard of idempotency decide, by standing before them. */
import { Counter, type Registry } from "prom-client";
import { type Bucket, quotas } from "#access/limits.ts";
import type { DoOnce } from "#database/idempotency.ts";
import { Failure } from "#foundation/failure.ts";
import type { LimitState, RateLimiter } from "#http/rate-limiter.ts";

export function countLimits(registry: Registry): (limiter: RateLimiter) => RateLimiter {
  const refusals = new Counter({
    name: "commerce_rate_limit_refusals_total",
    help: "Requests that a quota refused, by bucket.",
    labelNames: ["bucket"],
    registers: [registry],
  });
  for (const bucket of Object.keys(quotas)) refusals.inc({ bucket }, 0);
  const see = (bucket: Bucket, isRefused: boolean): void => {
    if (isRefused) refusals.inc({ bucket });
  };
  return (limiter) => ({
    consume: (bucket, key) => seen(limiter.consume(bucket, key), (state) => see(bucket, state?.isExceeded === true)),
    // Where nothing is left, whoever looks refuses.
    peek: (bucket, key) => seen(limiter.peek(bucket, key), (state) => see(bucket, state?.remaining === 0)),
    giveBack: (bucket, key) => limiter.giveBack(bucket, key),
    isAway: () => limiter.isAway(),
    close: () => limiter.close(),
  });
}

type Counted = LimitState | undefined;

/** Waits only where the limiter does. */
function seen(counted: Promise<Counted> | Counted, see: (state: Counted) => void): Promise<Counted> | Counted {
  if (counted instanceof Promise)
    return counted.then((state) => {
      see(state);
      return state;
    });
  see(counted);
  return counted;
}

const refusals: Readonly<Record<string, string>> = { idempotency_in_progress: "in_progress", idempotency_key_reused: "key_reused" };

export function countOnce(registry: Registry): (doOnce: DoOnce) => DoOnce {
  const outcomes = new Counter({
    name: "commerce_idempotent_requests_total",
    help: "Requests under an idempotency key, at any door, by what came of them.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  for (const outcome of ["executed", "replayed", "refused", ...Object.values(refusals)]) outcomes.inc({ outcome }, 0);
  return (doOnce) => async (claim, work) => {
    try {
      const once = await doOnce(claim, work);
      outcomes.inc({ outcome: once.isReplay ? "replayed" : "executed" });
      return once;
    } catch (error) {
      outcomes.inc({ outcome: (error instanceof Failure && refusals[error.code]) || "refused" });
      throw error;
    }
  };
}
