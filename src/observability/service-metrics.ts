/**
 * Creates all metrics of one service; docs/metrics.md explains them. This file defines the metrics of webhook
 * attempts and GraphQL costs; other files define the rest. The code that is measured emits events or calls a
 * function, and does not import prom-client. Clients, merchants and webhook receivers never choose the value
 * of a label, so the number of label values is limited.
 */
import { readFileSync } from "node:fs";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { IdempotentRequestRunner } from "#database/idempotency.ts";
import { getRetriedTransactionCount } from "#database/transaction.ts";
import type { WebhookAttemptResult, InProcessEventEmitter } from "#foundation/events.ts";
import type { RateLimiter } from "#http/rate-limiter.ts";
import type { HttpRequestObserver } from "#http/server.ts";
import { createRateLimitMetrics, createIdempotencyMetrics, createHttpMetrics } from "./request-metrics.ts";
import { type ServiceStateGaugeReaders, registerServiceStateMetrics } from "./state-metrics.ts";

/** The metrics of one service, and the functions with which other modules record them. */
export interface ServiceMetrics {
  readonly registry: Registry;
  readonly http: HttpRequestObserver;
  /** Adds gauges whose values are read whenever `/metrics` is requested. */
  readonly addStateReadings: (readings: ServiceStateGaugeReaders) => void;
  /** Wraps a rate limiter so that the requests that it refuses are counted. */
  readonly measureLimiter: (limiter: RateLimiter) => RateLimiter;
  /** Wraps the execution of requests with idempotency keys so that their outcomes are counted. */
  readonly measureDoOnce: (doOnce: IdempotentRequestRunner) => IdempotentRequestRunner;
}

/** The labels of the metric `commerce_build_info`. */
export interface BuildInfoMetricLabels {
  /** The role of the process: `all`, `gateway` or `worker`. */
  readonly role: string;
  /** The kind of database: `pglite` or `postgres`. */
  readonly engine: string;
}

export function createServiceMetrics(
  { role, engine }: BuildInfoMetricLabels,
  events: InProcessEventEmitter,
): ServiceMetrics {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: "commerce_build_info",
    help:
      "Always 1; the labels are the version of the service, the version of Node, the database engine and " +
      "the role of the process.",
    labelNames: ["version", "node", "engine", "role"],
    aggregator: "max",
    registers,
  }).set({ version: packageVersion, node: process.version, engine, role }, 1);
  events.on("deliveryAttempted", createWebhookAttemptMetrics(registry));
  events.on("documentExecuted", createGraphqlCosts(registry));
  events.on("responseCacheUsed", createResponseCacheMetrics(registry));
  return {
    registry,
    http: createHttpMetrics(registry),
    addStateReadings: (readings) =>
      registerServiceStateMetrics(registry, {
        ...readings,
        transactionsRunAgain: getRetriedTransactionCount,
      }),
    measureLimiter: createRateLimitMetrics(registry),
    measureDoOnce: createIdempotencyMetrics(registry),
  };
}

const { version: packageVersion } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { readonly version: string };

const attemptBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const waitBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600];

/**
 * Counts webhook delivery attempts by their outcome, and records how long an event waited for its first
 * attempt.
 */
export function createWebhookAttemptMetrics(registry: Registry): (attempt: WebhookAttemptResult) => void {
  const registers = [registry];
  const attempts = new Counter({
    name: "commerce_webhook_attempts_total",
    help: "Attempts to deliver a webhook, by outcome.",
    labelNames: ["outcome"],
    registers,
  });
  const durations = new Histogram({
    name: "commerce_webhook_attempt_duration_seconds",
    help: "Seconds from the DNS lookup of a webhook attempt to the receiver's answer.",
    buckets: attemptBuckets,
    registers,
  });
  const waits = new Histogram({
    name: "commerce_webhook_first_attempt_delay_seconds",
    help: "Seconds from an event to the first attempt to deliver the event to an endpoint.",
    buckets: waitBuckets,
    registers,
  });
  return ({ outcome, durationMs, waitedMs }) => {
    attempts.inc({ outcome: getOutcomeLabel(outcome) });
    if (durationMs !== null) durations.observe(durationMs / 1000);
    if (waitedMs !== null) waits.observe(Math.max(0, waitedMs) / 1000);
  };
}

/**
 * Returns the value of the metric label `outcome` for a webhook attempt. An HTTP status becomes its class
 * (`1xx` to `5xx`), because a receiver may answer with any status and the number of label values must be
 * bounded.
 */
const getOutcomeLabel = (outcome: WebhookAttemptResult["outcome"]): string =>
  typeof outcome === "number"
    ? outcome >= 100 && outcome < 600
      ? `${Math.floor(outcome / 100)}xx`
      : "other"
    : outcome;

/** Counts requests to operations with cached answers, by operation and by whether the answer was in the cache. */
function createResponseCacheMetrics(registry: Registry): (operation: string, isHit: boolean) => void {
  const requests = new Counter({
    name: "commerce_response_cache_requests_total",
    help: "Requests to operations whose answers are kept in memory: hit if the answer was in memory, else miss.",
    labelNames: ["operation", "result"],
    registers: [registry],
  });
  return (operation, isHit) => requests.inc({ operation, result: isHit ? "hit" : "miss" });
}

const costBuckets = [10, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000];

/**
 * Records the cost of accepted GraphQL documents. A document above the cost limit only counts as a refused
 * request, and its cost is not recorded.
 */
function createGraphqlCosts(registry: Registry): (cost: number) => void {
  const costs = new Histogram({
    name: "commerce_graphql_document_cost",
    help: "The cost in points of accepted GraphQL documents.",
    buckets: costBuckets,
    registers: [registry],
  });
  return (cost) => costs.observe(cost);
}
