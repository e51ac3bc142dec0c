/**
 * The error that refuses the replay of a delivery that has not ended yet. The error says when the next
 * attempt is due, and how the caller can make the attempt due at once.
 */
import { createFailure, type Failure } from "#foundation/failure.ts";
import type { DeliveryStatus } from "./delivery-rules.ts";

export interface UnfinishedDelivery {
  readonly id: string;
  readonly status: DeliveryStatus;
  /** The number of attempts of the delivery that have begun. */
  readonly attemptCount: number;
  /**
   * Time of the next attempt; while an attempt is in progress, the end of its lease; null if the delivery is
   * finished.
   */
  readonly nextAttemptAt: Date | null;
  /** Time of the next probe while the circuit breaker of the endpoint is open; otherwise null. */
  readonly probeAt: Date | null;
}

/**
 * The number of seconds after which the caller is asked to try again if the delivery waits for a disabled
 * endpoint.
 */
const disabledEndpointSeconds = 60;

/**
 * Creates the failure `delivery_in_progress`. Its `retryAfterSeconds` is the time until the lease of the
 * running attempt ends, or until the next attempt. For a disabled endpoint, it is at least 60 seconds.
 */
export function createDeliveryInProgressFailure(
  delivery: UnfinishedDelivery,
  { endpointStatus, now }: { readonly endpointStatus: string; readonly now: Date },
): Failure {
  const { id, status, attemptCount, nextAttemptAt, probeAt } = delivery;
  const isSending = status === "sending";
  const times = [nextAttemptAt, isSending ? null : probeAt].flatMap((at) => at?.getTime() ?? []);
  const at = new Date(Math.max(now.getTime(), ...times));
  const secondsLeft = Math.max(1, Math.ceil((at.getTime() - now.getTime()) / 1000));
  const isStopped = !isSending && endpointStatus !== "enabled";
  return createFailure("delivery_in_progress", {
    message: describeProgress({ isSending, isStopped, attempt: attemptCount + 1, at, secondsLeft }),
    retryAfterSeconds: isStopped ? Math.max(secondsLeft, disabledEndpointSeconds) : secondsLeft,
    conflict: {
      resource: "webhook_delivery",
      id,
      currentStatus: status,
      currentVersion: null,
      reason: null,
      data: { attemptCount, nextAttemptAt: isSending || isStopped ? null : at.toISOString() },
    },
  });
}

interface Progress {
  readonly isSending: boolean;
  /** True if the delivery waits until its endpoint is enabled again. */
  readonly isStopped: boolean;
  /** The number of the delivery's next attempt. */
  readonly attempt: number;
  readonly at: Date;
  readonly secondsLeft: number;
}

function describeProgress({ isSending, isStopped, attempt, at, secondsLeft }: Progress): string {
  if (isSending) return `The delivery is being sent; the attempt ends in at most ${secondsLeft} s.`;
  if (isStopped) return "The delivery waits until its endpoint is enabled. Enable the endpoint first.";
  return (
    `The delivery is not finished: its attempt ${attempt} is due at ${at.toISOString()}. To send the delivery at ` +
    "once, use “Retry now” in the console or the mutation webhookDeliveryRetry."
  );
}
