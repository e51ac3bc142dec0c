/**
 * Rules of deliveries: what follows an attempt for its delivery (succeeded, retried, exhausted) and for its
 * endpoint (breaker, degraded, disabled), how long events are kept, and when a delivery may be replayed.
 * Pure, so that 75 hours and five days pass in a test without waiting.
 */
import type { Selectable } from "kysely";
import type { FailureCode } from "#foundation/failure.ts";
import type { WebhookDeliveryTable } from "#database/tables.ts";
import type { AttemptResult } from "./safe-request.ts";

/** Before attempt 1, 2, … 10: 75 h 35 min in all. */
const delaysSeconds = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
const jitterShare = 0.1;
const retryAfterSecondsMax = 86_400;

const breakerFailures = 20;
const probeEveryMs = 60_000;
const degradedAfterMs = 24 * 3_600_000;
const disabledAfterMs = 5 * 24 * 3_600_000;
const disabledAfterFailed = 10;

export const attemptsMax = delaysSeconds.length;

export type AttemptOutcome =
  | { readonly kind: "succeeded" }
  | { readonly kind: "retrying"; readonly at: Date }
  | { readonly kind: "exhausted" }
  /** 410: the receiver wants nothing more, ever. */
  | { readonly kind: "gone" };

export interface AttemptContext {
  /** The number of the attempt that gave the result, from 1. */
  readonly attempt: number;
  readonly now: Date;
  /** From 0 to 1, as `Math.random`. */
  readonly random: () => number;
  /** WEBHOOK_RETRY_SCALE: multiplies all waiting. */
  readonly scale: number;
}

export function attemptOutcome(
  result: AttemptResult,
  { attempt, now, random, scale }: AttemptContext,
): AttemptOutcome {
  if (isSuccess(result)) return { kind: "succeeded" };
  if (result.httpStatus === 410) return { kind: "gone" };
  if (attempt >= attemptsMax) return { kind: "exhausted" };
  const seconds = Math.max(
    attemptDelaySeconds(attempt + 1, random),
    Math.min(result.retryAfterSeconds ?? 0, retryAfterSecondsMax),
  );
  return { kind: "retrying", at: later(now, seconds * 1000 * scale) };
}

function isSuccess({ errorCode }: Pick<AttemptResult, "errorCode">): boolean {
  return errorCode === null;
}

/**
 * Attempt 2 and later come up to a tenth earlier or later, so that what failed together does not return
 * together.
 */
export function attemptDelaySeconds(attempt: number, random: () => number): number {
  return (delaysSeconds[attempt - 1] ?? 0) * (1 + jitterShare * (2 * random() - 1));
}

/** What is known of an endpoint's receiver. */
export interface EndpointHealth {
  readonly consecutiveFailures: number;
  /** Since when nothing has arrived any more; null: the last attempt arrived, or there was none. */
  readonly failingSince: Date | null;
  /**
   * Deliveries that were tried since something arrived, and failed: those behind an open breaker are never
   * tried to their end.
   */
  readonly failedSinceSuccess: number;
  readonly degradedAt: Date | null;
  /** Set: the breaker is open, and one probe may go from then on. */
  readonly probeAt: Date | null;
}

export const initialEndpointHealth: EndpointHealth = {
  consecutiveFailures: 0,
  failingSince: null,
  failedSinceSuccess: 0,
  degradedAt: null,
  probeAt: null,
};

export interface EndpointHealthChange {
  readonly health: EndpointHealth;
  /** What the endpoint becomes by this attempt; null: it stays what it is. */
  readonly becomes: "degraded" | "gone" | "failing" | null;
}

/** One success makes an endpoint as good as new and closes its breaker. */
export function updateEndpointHealth(
  health: EndpointHealth,
  step: AttemptOutcome,
  { attempt, now, scale }: Omit<AttemptContext, "random">,
): EndpointHealthChange {
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
export type ReplayReason = NonNullable<Selectable<WebhookDeliveryTable>["replayReason"]>;

/** An event, its bodies and its deliveries are kept for this long after the event. */
export const eventRetentionDays = 30;
export const replaysMax = 10;

const dayMs = 86_400_000;

export type ReplayRefusal = Extract<
  FailureCode,
  | "delivery_in_progress"
  | "delivery_already_succeeded"
  | "delivery_payload_expired"
  | "delivery_replay_limit_reached"
>;

export interface ReplayState {
  readonly status: DeliveryStatus;
  /** When the event happened. */
  readonly occurredAt: Date;
  /** How often the first delivery was replayed. */
  readonly replays: number;
}

const underWay = new Set<DeliveryStatus>(["pending", "sending", "retrying"]);

const isUnderWay = (status: DeliveryStatus): boolean => underWay.has(status);

export function payloadExpiryTime(occurredAt: Date): Date {
  return new Date(occurredAt.getTime() + eventRetentionDays * dayMs);
}

/** Events from before this time are not kept. */
export function eventRetentionStart(now: Date): Date {
  return new Date(now.getTime() - eventRetentionDays * dayMs);
}

/**
 * `null` if the delivery may be replayed. A replay is a new delivery; the original never changes, and counts
 * its replays.
 */
export function replayRefusal(
  { status, occurredAt, replays }: ReplayState,
  { isForced, now }: { readonly isForced: boolean; readonly now: Date },
): ReplayRefusal | null {
  if (isUnderWay(status)) return "delivery_in_progress";
  if (status === "succeeded" && !isForced) return "delivery_already_succeeded";
  if (payloadExpiryTime(occurredAt) <= now) return "delivery_payload_expired";
  return replays >= replaysMax ? "delivery_replay_limit_reached" : null;
}
