/** A delivery with the attempts that were made of it: each when it was due, none of them answered but the last of one that arrived. */
import type { Insertable } from "kysely";
import type { WebhookAttemptTable, WebhookDeliveryTable } from "#database/tables.ts";
import { createId } from "#foundation/ids.ts";
import { delaySecondsBefore } from "#webhooks/delivery-rules.ts";
import type { DeliveryKey } from "./delivery-entries.ts";

export interface Delivered {
  readonly id: string;
  readonly createdAt: Date;
  readonly attempts: number;
  readonly ends: DeliveryKey;
}

export interface DeliveryRows {
  readonly delivery: Pick<Insertable<WebhookDeliveryTable>, "status" | "attemptCount" | "nextAttemptAt" | "finishedAt">;
  readonly attempts: readonly Insertable<WebhookAttemptTable>[];
}

const onTime = (): number => 0.5;
const answeredMs = 84;
const refusedMs = 1;

export function deliveryRows({ id, createdAt, attempts: count, ends }: Delivered): DeliveryRows {
  const times = attemptTimes(createdAt, count + 1);
  const attempts = times.slice(0, count).map((startedAt, index) => {
    const hasArrived = ends === "succeeded" && index === count - 1;
    return {
      id: createId("webhookAttempt", startedAt.getTime()),
      deliveryId: id,
      number: index + 1,
      startedAt,
      durationMs: hasArrived ? answeredMs : refusedMs,
      httpStatus: hasArrived ? 204 : null,
      errorCode: hasArrived ? null : ("connection" as const),
    };
  });
  const last = attempts.at(-1);
  const endedAt = last === undefined ? createdAt : new Date(last.startedAt.getTime() + last.durationMs);
  const isWaiting = ends === "retrying";
  return {
    delivery: { status: ends, attemptCount: count, nextAttemptAt: isWaiting ? (times[count] ?? null) : null, finishedAt: isWaiting ? null : endedAt },
    attempts,
  };
}

function attemptTimes(createdAt: Date, count: number): Date[] {
  const times: Date[] = [];
  for (let atMs = createdAt.getTime(), number = 1; number <= count; number += 1) {
    atMs += delaySecondsBefore(number, onTime) * 1000;
    times.push(new Date(atMs));
  }
  return times;
}
