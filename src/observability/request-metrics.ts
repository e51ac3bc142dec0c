/**
 * Counts requests by route and outcome, refusals of rate limits, and the outcomes of requests under
 * idempotency keys. The labelled metrics of a route are prepared at the route's first request.
 */
import type { FastifyReply } from "fastify";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { RouteConfig, ServerObserver } from "#http/server.ts";
import { type RateBucket, rateQuotas } from "#access/viewer.ts";
import type { DoOnce } from "#database/idempotency.ts";
import { Failure } from "#foundation/failure.ts";
import type { LimitState, RateLimiter } from "#http/rate-limiter.ts";

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Route {
  readonly count: (status: number, code: string | null) => void;
  readonly observe: (seconds: number) => void;
}

export function createHttpMetrics(registry: Registry): ServerObserver {
  const routeOf = createRoutes(registry);
  return {
    began: createPassage(registry, ({ failureCode, routeOptions }, { statusCode }) =>
      routeOf(routeOptions.config).count(statusCode, failureCode),
    ),
    answered: ({ failureCode }, reply, config) => {
      const { count, observe } = routeOf(config);
      count(reply.statusCode, failureCode);
      if (!isStream(reply)) observe(reply.elapsedTime / 1000);
    },
  };
}

/** Finds the metrics of a route by Fastify's config object of the route, without looking at the request. */
function createRoutes(registry: Registry): (config: RouteConfig) => Route {
  const registers = [registry];
  const requests = new Counter({
    name: "commerce_http_requests_total",
    help: "Requests answered, by operation (or the route's template), status, and the failure's code.",
    labelNames: ["operation", "status", "code"],
    registers,
  });
  const durations = new Histogram({
    name: "commerce_http_request_duration_seconds",
    help: "How long requests took until the answer was given away. Subscriptions are not among them.",
    labelNames: ["operation"],
    buckets: durationBuckets,
    registers,
  });
  const routes = new Map<RouteConfig, Route>();
  const prepare = (operation: string): Route => {
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
  return (config) => {
    let route = routes.get(config);
    if (route === undefined)
      routes.set(config, (route = prepare(config.operationId ?? config.url ?? "unknown")));
    return route;
  };
}

/**
 * Counts open requests, and those whose caller left before an answer began. A caller that leaves during an
 * answer, as subscribers do, was answered.
 */
function createPassage(registry: Registry, countLeft: ServerObserver["began"]): ServerObserver["began"] {
  const registers = [registry];
  const inFlight = new Gauge({
    name: "commerce_http_requests_in_flight",
    help: "Requests that are being answered, open subscriptions among them.",
    registers,
  });
  const aborted = new Counter({
    name: "commerce_http_requests_aborted_total",
    help: "Requests whose caller went away before there was an answer.",
    registers,
  });
  return (request, reply) => {
    inFlight.inc();
    reply.raw.once("close", () => {
      inFlight.dec();
      // `answered` counts answers that were written completely.
      if (reply.raw.writableEnded) return;
      if (reply.raw.headersSent) countLeft(request, reply);
      else aborted.inc();
    });
  };
}

/** A subscription lasts as long as its subscriber listens: its duration says nothing. */
function isStream(reply: FastifyReply): boolean {
  const type = reply.getHeader("content-type");
  return typeof type === "string" && type.startsWith("text/event-stream");
}

/** Wraps a limiter and counts its refusals. */
export function countRateLimitRefusals(registry: Registry): (limiter: RateLimiter) => RateLimiter {
  const refusals = new Counter({
    name: "commerce_rate_limit_refusals_total",
    help: "Requests that a quota refused, by bucket.",
    labelNames: ["bucket"],
    registers: [registry],
  });
  for (const bucket of Object.keys(rateQuotas)) refusals.inc({ bucket }, 0);
  const see = (bucket: RateBucket, isRefused: boolean): void => {
    if (isRefused) refusals.inc({ bucket });
  };
  return (limiter) => ({
    consume: (bucket, key) =>
      seen(limiter.consume(bucket, key), (state) => see(bucket, state?.isExceeded === true)),
    // Callers of `peek` refuse the request when nothing is left.
    peek: (bucket, key) => seen(limiter.peek(bucket, key), (state) => see(bucket, state?.remaining === 0)),
    giveBack: (bucket, key) => limiter.giveBack(bucket, key),
    isAway: () => limiter.isAway(),
    close: () => limiter.close(),
  });
}

type Counted = LimitState | undefined;

/** Returns a promise only if the limiter does. */
function seen(
  counted: Promise<Counted> | Counted,
  see: (state: Counted) => void,
): Promise<Counted> | Counted {
  if (counted instanceof Promise)
    return counted.then((state) => {
      see(state);
      return state;
    });
  see(counted);
  return counted;
}

const refusals: Readonly<Record<string, string>> = {
  idempotency_in_progress: "in_progress",
  idempotency_key_reused: "key_reused",
};

/** Wraps the execution under idempotency keys and counts the outcomes. */
export function countIdempotentRequests(registry: Registry): (doOnce: DoOnce) => DoOnce {
  const outcomes = new Counter({
    name: "commerce_idempotent_requests_total",
    help: "Requests under an idempotency key, at any door, by what came of them.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  for (const outcome of ["executed", "replayed", "refused", ...Object.values(refusals)])
    outcomes.inc({ outcome }, 0);
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
