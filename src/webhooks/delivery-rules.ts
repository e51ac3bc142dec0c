/**
 * The rules of webhook deliveries. They say how an attempt changes the status of its delivery and of its
 * endpoint, how long events are stored, and when a delivery may be replayed. All functions are pure and
 * receive the current time as an argument, so that tests of delays of several days need not wait.
 */
import type { Selectable } from "kysely";
import type { FailureCode } from "#foundation/failure.ts";
import type { WebhookDeliveryTable } from "#database/tables.ts";
import type { DeliverySendResult } from "./safe-request.ts";

/** The delay in seconds before each of the attempts 1 to 10 of a delivery; 75 h 35 min in total. */
const delaysSeconds = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
const jitterShare = 0.1;
const retryAfterSecondsMax = 86_400;

const breakerFailures = 20;
const probeEveryMs = 60_000;
const degradedAfterMs = 24 * 3_600_000;
const disabledAfterMs = 5 * 24 * 3_600_000;
const disabledAfterFailed = 10;

export const attemptsMax = delaysSeconds.length;

export type DeliveryAttemptOutcome =
  | { readonly kind: "succeeded" }
  | { readonly kind: "retrying"; readonly at: Date }
  | { readonly kind: "exhausted" }
  /** The receiver answered with status 410 (Gone), so the endpoint is disabled. */
  | { readonly kind: "gone" };

export interface DeliveryAttemptOutcomeInput {
  /** The number of the finished attempt; the first attempt of a delivery has the number 1. */
  readonly attempt: number;
  readonly now: Date;
  /** Returns a random number from 0 to 1, as `Math.random` does. */
  readonly random: () => number;
  /** The setting WEBHOOK_RETRY_SCALE, by which all delays are multiplied. */
  readonly scale: number;
}

export function decideDeliveryAttemptOutcome(
  result: DeliverySendResult,
  { attempt, now, random, scale }: DeliveryAttemptOutcomeInput,
): DeliveryAttemptOutcome {
  if (isSuccess(result)) return { kind: "succeeded" };
  if (result.httpStatus === 410) return { kind: "gone" };
  if (attempt >= attemptsMax) return { kind: "exhausted" };
  const seconds = Math.max(
    getDeliveryAttemptDelaySeconds(attempt + 1, random),
    Math.min(result.retryAfterSeconds ?? 0, retryAfterSecondsMax),
  );
  return { kind: "retrying", at: later(now, seconds * 1000 * scale) };
}

function isSuccess({ errorCode }: Pick<DeliverySendResult, "errorCode">): boolean {
  return errorCode === null;
}

/**
 * Returns the delay before an attempt. A random jitter of up to 10 percent spreads the retries of deliveries
 * that failed at the same time.
 */
export function getDeliveryAttemptDelaySeconds(attempt: number, random: () => number): number {
  return (delaysSeconds[attempt - 1] ?? 0) * (1 + jitterShare * (2 * random() - 1));
}

/**
 * The recent failures of one endpoint: their number and their time. They determine when the circuit breaker
 * of the endpoint opens and closes.
 */
export interface EndpointHealthCounters {
  readonly consecutiveFailures: number;
  /**
   * Time of the first failed attempt since the last success; null if no attempt has failed since the last
   * success.
   */
  readonly failingSince: Date | null;
  /**
   * Number of deliveries whose first attempt failed since the last success. Only first attempts are counted.
   * Exhausted deliveries are not counted instead, because no delivery uses up its attempts while the circuit
   * breaker is open.
   */
  readonly failedSinceSuccess: number;
  readonly degradedAt: Date | null;
  /**
   * Earliest time of the next probe (a single test attempt) while the circuit breaker is open; null if the
   * breaker is closed.
   */
  readonly probeAt: Date | null;
}

export const initialEndpointHealth: EndpointHealthCounters = {
  consecutiveFailures: 0,
  failingSince: null,
  failedSinceSuccess: 0,
  degradedAt: null,
  probeAt: null,
};

export interface EndpointHealthAfterAttempt {
  readonly health: EndpointHealthCounters;
  /** The state that the endpoint gets because of this attempt; null if its state does not change. */
  readonly becomes: "degraded" | "gone" | "failing" | null;
}

/**
 * Computes the health of an endpoint after an attempt. One success resets the health and closes the circuit
 * breaker.
 */
export function calculateEndpointHealthAfterAttempt(
  health: EndpointHealthCounters,
  step: DeliveryAttemptOutcome,
  { attempt, now, scale }: Omit<DeliveryAttemptOutcomeInput, "random">,
): EndpointHealthAfterAttempt {
  if (step.kind === "succeeded") return { health: initialEndpointHealth, becomes: null };
  const consecutiveFailures = health.consecutiveFailures + 1;
  const failingSince = health.failingSince ?? now;
  const failed = {
    consecutiveFailures,
    failingSince,
    failedSinceSuccess: health.failedSinceSuccess + (attempt === 1 ? 1 : 0),
    degradedAt: health.degradedAt,
    probeAt: consecutiveFailures >= breakerFailures ? later(now, probeEveryMs * scale) : null,
  };
  const failingMs = now.getTime() - failingSince.getTime();
  if (step.kind === "gone") return { health: failed, becomes: "gone" };
  if (failingMs >= disabledAfterMs && failed.failedSinceSuccess >= disabledAfterFailed)
    return { health: failed, becomes: "failing" };
  if (failingMs >= degradedAfterMs && failed.degradedAt === null)
    return { health: { ...failed, degradedAt: now }, becomes: "degraded" };
  return { health: failed, becomes: null };
}

function later(now: Date, ms: number): Date {
  return new Date(now.getTime() + Math.round(ms));
}

export type DeliveryStatus = Selectable<WebhookDeliveryTable>["status"];
export type DeliveryReplayReason = NonNullable<Selectable<WebhookDeliveryTable>["replayReason"]>;

/** The number of days for which an event is stored, with its bodies and deliveries. */
export const eventRetentionDays = 30;
export const replaysMax = 10;

const dayMs = 86_400_000;

export type DeliveryReplayRefusalCode = Extract<
  FailureCode,
  | "delivery_in_progress"
  | "delivery_already_succeeded"
  | "delivery_payload_expired"
  | "delivery_replay_limit_reached"
>;

export interface DeliveryStateForReplayCheck {
  readonly status: DeliveryStatus;
  /** Time at which the event of the delivery occurred. */
  readonly occurredAt: Date;
  /** The number of times that the original delivery has been replayed before. */
  readonly replays: number;
}

const underWay = new Set<DeliveryStatus>(["pending", "sending", "retrying"]);

const isUnderWay = (status: DeliveryStatus): boolean => underWay.has(status);

export function getEventPayloadExpiryTime(occurredAt: Date): Date {
  return new Date(occurredAt.getTime() + eventRetentionDays * dayMs);
}

/**
 * Returns the start of the period for which events are stored. Events from before this time are not
 * available.
 */
export function getEventRetentionStart(now: Date): Date {
  return new Date(now.getTime() - eventRetentionDays * dayMs);
}

/**
 * Returns the reason why a delivery must not be replayed; null if a replay is allowed. An original delivery
 * can be replayed at most `replaysMax` times.
 */
export function findReplayRefusalCode(
  { status, occurredAt, replays }: DeliveryStateForReplayCheck,
  { isForced, now }: { readonly isForced: boolean; readonly now: Date },
): DeliveryReplayRefusalCode | null {
  if (isUnderWay(status)) return "delivery_in_progress";
  if (status === "succeeded" && !isForced) return "delivery_already_succeeded";
  if (getEventPayloadExpiryTime(occurredAt) <= now) return "delivery_payload_expired";
  return replays >= replaysMax ? "delivery_replay_limit_reached" : null;
}
