/** When a delivery may be made once more. The one it was at first never changes; each further one counts for it. */
import type { FailureCode } from "#foundation/failure.ts";
import type { Selectable } from "kysely";
import type { WebhookDeliveryTable } from "#database/tables.ts";

export type DeliveryStatus = Selectable<WebhookDeliveryTable>["status"];
export type ReplayReason = NonNullable<Selectable<WebhookDeliveryTable>["replayReason"]>;

/** For so long after it an event, its bodies and its deliveries are kept. */
export const retentionDays = 30;
export const replaysMax = 10;

const dayMs = 86_400_000;

export type ReplayRefusal = Extract<
  FailureCode,
  "delivery_in_progress" | "delivery_already_succeeded" | "delivery_payload_expired" | "delivery_replay_limit_reached"
>;

export interface ReplayFacts {
  readonly status: DeliveryStatus;
  /** When the event happened. */
  readonly occurredAt: Date;
  /** How often the first delivery was replayed. */
  readonly replays: number;
}

const underWay = new Set<DeliveryStatus>(["pending", "sending", "retrying"]);

const isUnderWay = (status: DeliveryStatus): boolean => underWay.has(status);

export function payloadExpiryOf(occurredAt: Date): Date {
  return new Date(occurredAt.getTime() + retentionDays * dayMs);
}

/** Events that happened before are not kept any more. */
export function keptSince(now: Date): Date {
  return new Date(now.getTime() - retentionDays * dayMs);
}

/** Null: nothing is against it. */
export function replayRefusal(
  { status, occurredAt, replays }: ReplayFacts,
  { isForced, now }: { readonly isForced: boolean; readonly now: Date },
): ReplayRefusal | null {
  if (isUnderWay(status)) return "delivery_in_progress";
  if (status === "succeeded" && !isForced) return "delivery_already_succeeded";
  if (payloadExpiryOf(occurredAt) <= now) return "delivery_payload_expired";
  return replays >= replaysMax ? "delivery_replay_limit_reached" : null;
}
