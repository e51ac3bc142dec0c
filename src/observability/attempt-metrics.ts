/** What became of webhooks: every attempt with its end, and how long an event waited for its first. */
import { Counter, Histogram, type Registry } from "prom-client";
import type { AttemptObserver } from "#webhooks/dispatch/dispatch-parts.ts";

const attemptBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const waitBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600];

export function createAttemptMetrics(registry: Registry): AttemptObserver {
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

/** A receiver may answer with any number: its class is one of five. */
const labelOf = (outcome: Parameters<AttemptObserver>[0]["outcome"]): string =>
  typeof outcome === "number" ? (outcome >= 100 && outcome < 600 ? `${Math.floor(outcome / 100)}xx` : "other") : outcome;
