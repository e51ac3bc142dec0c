/**
 * Creates every metric of one service, under the names that docs/metrics.md explains; the metrics of webhook
 * attempts and of GraphQL costs are defined here. Code that is measured emits events or calls a function, and
 * does not know prom-client. No label value is chosen by a client, a merchant or a receiver.
 */
import { readFileSync } from "node:fs";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { DoOnce } from "#database/idempotency.ts";
import { transactionsRunAgain } from "#database/transaction.ts";
import type { DeliveryAttempted, ServiceEvents } from "#foundation/events.ts";
import type { RateLimiter } from "#http/rate-limiter.ts";
import type { ServerObserver } from "#http/server.ts";
import { countRateLimitRefusals, countIdempotentRequests, createHttpMetrics } from "./request-metrics.ts";
import { type StateReadings, registerStateMetrics } from "./state-metrics.ts";

export interface ServiceMetrics {
  readonly registry: Registry;
  readonly http: ServerObserver;
  /** Adds gauges that are read whenever metrics are asked for. */
  readonly addReadings: (readings: StateReadings) => void;
  /** Wraps a limiter, so that its refusals are counted. */
  readonly ofLimiter: (limiter: RateLimiter) => RateLimiter;
  readonly ofOnce: (doOnce: DoOnce) => DoOnce;
}

export interface ProcessDescription {
  readonly role: string;
  readonly engine: string;
}

export function createServiceMetrics(
  { role, engine }: ProcessDescription,
  events: ServiceEvents,
): ServiceMetrics {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: "commerce_build_info",
    help: "1 for each kind of process: which version of the service runs on which Node, with which database, and what it does.",
    labelNames: ["version", "node", "engine", "role"],
    aggregator: "max",
    registers,
  }).set({ version: packageVersion, node: process.version, engine, role }, 1);
  events.on("deliveryAttempted", createAttemptMetrics(registry));
  events.on("documentExecuted", createGraphqlCosts(registry));
  return {
    registry,
    http: createHttpMetrics(registry),
    addReadings: (readings) => registerStateMetrics(registry, { ...readings, transactionsRunAgain }),
    ofLimiter: countRateLimitRefusals(registry),
    ofOnce: countIdempotentRequests(registry),
  };
}

const { version: packageVersion } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { readonly version: string };

const attemptBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const waitBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600];

/** Counts webhook attempts by outcome, and observes how long an event waited for its first attempt. */
export function createAttemptMetrics(registry: Registry): (attempt: DeliveryAttempted) => void {
  const registers = [registry];
  const attempts = new Counter({
    name: "commerce_webhook_attempts_total",
    help: "Attempts to deliver a webhook, by what came of them.",
    labelNames: ["outcome"],
    registers,
  });
  const durations = new Histogram({
    name: "commerce_webhook_attempt_duration_seconds",
    help: "How long attempts took, from the first look-up to the answer.",
    buckets: attemptBuckets,
    registers,
  });
  const waits = new Histogram({
    name: "commerce_webhook_first_attempt_delay_seconds",
    help: "How long an event waited, from when it happened to its first attempt at an endpoint.",
    buckets: waitBuckets,
    registers,
  });
  return ({ outcome, durationMs, waitedMs }) => {
    attempts.inc({ outcome: labelOf(outcome) });
    if (durationMs !== null) durations.observe(durationMs / 1000);
    if (waitedMs !== null) waits.observe(Math.max(0, waitedMs) / 1000);
  };
}

/** A receiver may answer with any status; the label is one of its five classes. */
const labelOf = (outcome: DeliveryAttempted["outcome"]): string =>
  typeof outcome === "number"
    ? outcome >= 100 && outcome < 600
      ? `${Math.floor(outcome / 100)}xx`
      : "other"
    : outcome;

const costBuckets = [10, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000];

/**
 * Observes the cost of accepted GraphQL documents; those above the cost limit are counted as refused
 * requests.
 */
function createGraphqlCosts(registry: Registry): (cost: number) => void {
  const costs = new Histogram({
    name: "commerce_graphql_document_cost",
    help: "The cost of each GraphQL document that was let in, in points.",
    buckets: costBuckets,
    registers: [registry],
  });
  return (cost) => costs.observe(cost);
}
