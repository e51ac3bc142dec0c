/**
 * Counts requests by route and outcome, requests that rate limits refused, and the outcomes of requests with
 * idempotency keys. The metrics of a route are created when the route gets its first request.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { HttpRequestObserver } from "#http/server.ts";
import { type RateLimitBucket, rateLimitQuotas } from "#access/viewer.ts";
import type { IdempotentRequestRunner } from "#database/idempotency.ts";
import { Failure } from "#foundation/failure.ts";
import type { RateLimitUsage, RateLimiter } from "#http/rate-limiter.ts";

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface RouteMetrics {
  readonly count: (status: number, code: string | null) => void;
  readonly observe: (seconds: number) => void;
}

/**
 * Creates the metrics of HTTP requests. Returns an observer, whose functions the HTTP server calls for each
 * request.
 */
export function createHttpMetrics(registry: Registry): HttpRequestObserver {
  const findRoute = createRouteMetrics(registry);
  return {
    began: createOpenRequestMetrics(registry, (request, { statusCode }) =>
      findRoute(request).count(statusCode, request.failureCode),
    ),
    answered: (request, reply) => {
      const { count, observe } = findRoute(request);
      count(reply.statusCode, request.failureCode);
      if (!isStream(reply)) observe(reply.elapsedTime / 1000);
    },
  };
}

/** Returns a function that finds the metrics of a request's operation, or else of the template of its path. */
function createRouteMetrics(registry: Registry): (request: FastifyRequest) => RouteMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: "commerce_http_requests_total",
    help: "Answered requests, by operation (or route template), status and error code.",
    labelNames: ["operation", "status", "code"],
    registers,
  });
  const durations = new Histogram({
    name: "commerce_http_request_duration_seconds",
    help: "Seconds from the headers of a request to the end of the answer, without subscriptions.",
    labelNames: ["operation"],
    buckets: durationBuckets,
    registers,
  });
  const routes = new Map<string, RouteMetrics>();
  const prepare = (operation: string): RouteMetrics => {
    const child = durations.labels(operation);
    const counters = new Map<string, () => void>();
    const counterOf = (status: number, code: string | null): (() => void) => {
      const counter = requests.labels(operation, String(status), code ?? "none");
      return () => counter.inc();
    };
    return {
      observe: (seconds) => child.observe(seconds),
      count: (status, code) => {
        const name = code === null ? String(status) : `${status} ${code}`;
        let counter = counters.get(name);
        if (counter === undefined) counters.set(name, (counter = counterOf(status, code)));
        counter();
      },
    };
  };
  return ({ origin }) => {
    const operation = origin?.operationId ?? origin?.route ?? "unknown";
    let route = routes.get(operation);
    if (route === undefined) routes.set(operation, (route = prepare(operation)));
    return route;
  };
}

/**
 * Counts how many requests are in progress, and how many requests were aborted: the caller disconnected
 * before the answer began. If the caller disconnects while the answer is sent, the request counts as
 * answered, because subscribers always disconnect in this way.
 */
function createOpenRequestMetrics(
  registry: Registry,
  countAnswered: HttpRequestObserver["began"],
): HttpRequestObserver["began"] {
  const registers = [registry];
  const inFlight = new Gauge({
    name: "commerce_http_requests_in_flight",
    help: "Requests in progress, including open subscriptions.",
    registers,
  });
  const aborted = new Counter({
    name: "commerce_http_requests_aborted_total",
    help: "Requests whose caller disconnected before the answer began.",
    registers,
  });
  return (request, reply) => {
    inFlight.inc();
    reply.raw.once("close", () => {
      inFlight.dec();
      // A completely sent answer is not counted here, because the observer's function `answered` counts it.
      if (reply.raw.writableEnded) return;
      if (reply.raw.headersSent) countAnswered(request, reply);
      else aborted.inc();
    });
  };
}

/**
 * Returns whether the answer is a stream of events. The duration of a stream is not measured, because the
 * subscriber decides how long it lasts.
 */
function isStream(reply: FastifyReply): boolean {
  const type = reply.getHeader("content-type");
  return typeof type === "string" && type.startsWith("text/event-stream");
}

/** Returns a function that wraps a rate limiter and counts how many requests the rate limiter refuses. */
export function createRateLimitMetrics(registry: Registry): (limiter: RateLimiter) => RateLimiter {
  const refusals = new Counter({
    name: "commerce_rate_limit_refusals_total",
    help: "Requests refused by a rate limit, by bucket.",
    labelNames: ["bucket"],
    registers: [registry],
  });
  for (const bucket of Object.keys(rateLimitQuotas)) refusals.inc({ bucket }, 0);
  const countRefusal = (bucket: RateLimitBucket, isRefused: boolean): void => {
    if (isRefused) refusals.inc({ bucket });
  };
  return (limiter) => ({
    consume: (bucket, key, points) =>
      observeState(limiter.consume(bucket, key, points), (state) =>
        countRefusal(bucket, state?.isExceeded === true),
      ),
    // The function `peek` returns how much of the limit is left, without using any of it. If nothing is left,
    // its callers refuse the request. This case is therefore counted as a refusal.
    peek: (bucket, key) =>
      observeState(limiter.peek(bucket, key), (state) => countRefusal(bucket, state?.remaining === 0)),
    giveBack: (bucket, key) => limiter.giveBack(bucket, key),
    isAway: () => limiter.isAway(),
    close: () => limiter.close(),
  });
}

type LimitResult = RateLimitUsage | undefined;

/**
 * Calls `observe` with the state that a rate limiter returned, and returns this state. If the limiter
 * returned a promise, calls `observe` when the promise has resolved.
 */
function observeState(
  counted: Promise<LimitResult> | LimitResult,
  observe: (state: LimitResult) => void,
): Promise<LimitResult> | LimitResult {
  if (counted instanceof Promise)
    return counted.then((state) => {
      observe(state);
      return state;
    });
  observe(counted);
  return counted;
}

/**
 * The values of the metric label `outcome` for requests with an idempotency key, by the error code of the
 * answer. An error code that is missing here has the outcome `refused`.
 */
const refusalOutcomes: Readonly<Record<string, string>> = {
  idempotency_in_progress: "in_progress",
  idempotency_key_reused: "key_reused",
};

/**
 * Returns a function that wraps the execution of requests with idempotency keys and counts their outcomes,
 * for example replayed or refused.
 */
export function createIdempotencyMetrics(
  registry: Registry,
): (doOnce: IdempotentRequestRunner) => IdempotentRequestRunner {
  const outcomes = new Counter({
    name: "commerce_idempotent_requests_total",
    help: "Requests with an idempotency key over REST and GraphQL, by outcome.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  for (const outcome of ["executed", "replayed", "refused", ...Object.values(refusalOutcomes)])
    outcomes.inc({ outcome }, 0);
  return (doOnce) =>
    async (...request) => {
      try {
        const once = await doOnce(...request);
        outcomes.inc({ outcome: once.isReplay ? "replayed" : "executed" });
        return once;
      } catch (error) {
        outcomes.inc({ outcome: (error instanceof Failure && refusalOutcomes[error.code]) || "refused" });
        throw error;
      }
    };
}
