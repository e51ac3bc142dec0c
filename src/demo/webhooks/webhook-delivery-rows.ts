/** Creates the rows of a webhook delivery of the demo and of its attempts. */
import type { Insertable } from "kysely";
import type { WebhookAttemptTable, WebhookDeliveryTable } from "#database/tables.ts";
import type { DemoDeliveryName } from "#demo/demo-file.ts";
import { createId } from "#foundation/ids.ts";
import { getAttemptDelaySeconds } from "#webhooks/delivery-rules.ts";

/** The name of a seeded delivery, which is also its status. demo.json lists all of them except `skipped`. */
export type SeededDeliveryName = DemoDeliveryName | "skipped";

/**
 * The values of a delivery to create. Each attempt starts at its due time. All attempts fail with a
 * connection error, except the last attempt of a succeeded delivery.
 */
export interface WebhookDeliveryInput {
  readonly id: string;
  readonly createdAt: Date;
  readonly attempts: number;
  readonly finalStatus: SeededDeliveryName;
}

interface WebhookDeliveryRows {
  readonly delivery: Pick<
    Insertable<WebhookDeliveryTable>,
    "status" | "attemptCount" | "nextAttemptAt" | "finishedAt"
  >;
  readonly attempts: readonly Insertable<WebhookAttemptTable>[];
}

/** Replaces the random jitter of attempt delays by its mean, so that the times are reproducible. */
const withoutJitter = (): number => 0.5;
const deliveredAttemptMs = 84;
const failedAttemptMs = 1;

export function createWebhookDeliveryRows({
  id,
  createdAt,
  attempts: count,
  finalStatus,
}: WebhookDeliveryInput): WebhookDeliveryRows {
  const times = computeAttemptTimes(createdAt, count + 1);
  const attempts = times.slice(0, count).map((startedAt, index) => {
    const isDelivered = finalStatus === "succeeded" && index === count - 1;
    return {
      id: createId("webhookAttempt", startedAt.getTime()),
      deliveryId: id,
      number: index + 1,
      startedAt,
      durationMs: isDelivered ? deliveredAttemptMs : failedAttemptMs,
      httpStatus: isDelivered ? 204 : null,
      errorCode: isDelivered ? null : ("connection" as const),
    };
  });
  const last = attempts.at(-1);
  const endedAt = last === undefined ? createdAt : new Date(last.startedAt.getTime() + last.durationMs);
  const isWaiting = finalStatus === "retrying";
  return {
    delivery: {
      status: finalStatus,
      attemptCount: count,
      nextAttemptAt: isWaiting ? (times[count] ?? null) : null,
      finishedAt: isWaiting ? null : endedAt,
    },
    attempts,
  };
}

function computeAttemptTimes(createdAt: Date, count: number): Date[] {
  const times: Date[] = [];
  for (let atMs = createdAt.getTime(), number = 1; number <= count; number += 1) {
    atMs += getAttemptDelaySeconds(number, withoutJitter) * 1000;
    times.push(new Date(atMs));
  }
  return times;
}
