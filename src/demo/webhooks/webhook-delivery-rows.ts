/** Creates the database rows of a webhook delivery of the demo, and of the attempts to deliver it. */
import type { Insertable } from "kysely";
import type { WebhookAttemptTable, WebhookDeliveryTable } from "#database/tables.ts";
import type { DemoWebhookDeliveryName } from "#demo/demo-file.ts";
import { createId } from "#foundation/ids.ts";
import { getDeliveryAttemptDelaySeconds } from "#webhooks/delivery-rules.ts";

/**
 * The name of a webhook delivery of the demo, which is also its status. demo.json lists all of these
 * deliveries except `skipped`.
 */
export type DemoSeededWebhookDeliveryName = DemoWebhookDeliveryName | "skipped";

/**
 * The values of a webhook delivery to create. Each attempt starts exactly when it is due. All attempts fail
 * with a connection error, except the last attempt of a delivery that succeeded.
 */
export interface CreateWebhookDeliveryRowsInput {
  readonly id: string;
  readonly createdAt: Date;
  readonly attempts: number;
  readonly finalStatus: DemoSeededWebhookDeliveryName;
}

interface WebhookDeliveryRows {
  readonly delivery: Pick<
    Insertable<WebhookDeliveryTable>,
    "status" | "attemptCount" | "nextAttemptAt" | "finishedAt"
  >;
  readonly attempts: readonly Insertable<WebhookAttemptTable>[];
}

/**
 * Returns 0.5 in place of a random number from 0 to 1. The service computes the delay before a webhook
 * attempt from this number, so the demo has the same times in every run.
 */
const withoutJitter = (): number => 0.5;
const deliveredAttemptMs = 84;
const failedAttemptMs = 1;

export function createWebhookDeliveryRows({
  id,
  createdAt,
  attempts: count,
  finalStatus,
}: CreateWebhookDeliveryRowsInput): WebhookDeliveryRows {
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
    atMs += getDeliveryAttemptDelaySeconds(number, withoutJitter) * 1000;
    times.push(new Date(atMs));
  }
  return times;
}
