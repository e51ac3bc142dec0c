/**
 * Determines the health of a webhook endpoint from its status and the success rate of its recent delivery
 * attempts.
 */
import type { ConsoleWebhookEndpoint } from "./endpoint-documents.ts";

type JudgedState = "DISABLED" | "UNKNOWN" | "HEALTHY" | "SOME_FAILURES" | "DEGRADED" | "FAILING";

interface JudgedHealth {
  /**
   * The state that the service reports (`WebhookEndpointHealthState`). Two states exist only in the console:
   * DISABLED, and SOME_FAILURES for an endpoint of whose deliveries some fail, which the service still
   * reports as healthy or unknown.
   */
  readonly state: JudgedState;
  /**
   * The numbers behind the endpoint's health, for example “62.5 % successful in 24 hours, 3 failures in a
   * row”.
   */
  readonly reason: string;
  /**
   * The end of the pause in deliveries to the endpoint, which follows too many failed attempts in a row; null
   * if deliveries are not paused.
   */
  readonly pausedUntil: string | null;
}

/** An endpoint has some failures if less than this share of its delivery attempts succeeded in 24 hours. */
const usualSuccessRate = 0.95;

export function assessEndpointHealth(
  { status, health }: Pick<ConsoleWebhookEndpoint, "status" | "health">,
  nowMs: number = Date.now(),
): JudgedHealth {
  const state = judgedState(status, health);
  if (state === "DISABLED") return { state, reason: "receives no deliveries", pausedUntil: null };
  const { pausedUntil, consecutiveFailures } = health;
  if (pausedUntil === null) return { state, reason: reasonOf(health), pausedUntil };
  const failures = formatFailures(consecutiveFailures);
  return Date.parse(pausedUntil) > nowMs
    ? { state, reason: `after ${failures}`, pausedUntil }
    : { state, reason: `${failures}; the next delivery is tried now`, pausedUntil: null };
}

const formatFailures = (count: number): string =>
  count === 1 ? "1 failure in a row" : `${count} failures in a row`;

function judgedState(
  status: ConsoleWebhookEndpoint["status"],
  { state, successRate24h, consecutiveFailures }: ConsoleWebhookEndpoint["health"],
): JudgedState {
  if (status !== "ENABLED") return "DISABLED";
  if (state === "FAILING" || state === "DEGRADED") return state;
  const isRateLow = successRate24h !== null && successRate24h < usualSuccessRate;
  return isRateLow || consecutiveFailures > 0 ? "SOME_FAILURES" : state;
}

function reasonOf({ successRate24h, consecutiveFailures }: ConsoleWebhookEndpoint["health"]): string {
  // The success rate is rounded down, so that an endpoint with failures never shows 100 %.
  const percent = successRate24h === null ? null : Math.floor(successRate24h * 1000) / 10;
  const rate = percent === null ? "no attempt in 24 hours" : `${percent} % successful in 24 hours`;
  if (consecutiveFailures === 0) return rate;
  return `${rate}, ${formatFailures(consecutiveFailures)}`;
}
