/**
 * Makes the next attempt of a waiting delivery due at once. The attempt is one of the delivery's ten
 * attempts, not an additional attempt. If the circuit breaker of the endpoint is open, the attempt still
 * waits for the next probe (a single test attempt).
 */
import { sql } from "kysely";
import { runAfterCommit, type Transaction } from "#database/transaction.ts";
import { createFailure, type Failure } from "#foundation/failure.ts";
import { formatCountWithNoun, isTextWithoutForbiddenCharacters } from "#foundation/text.ts";
import { heldAtSql } from "./delivery-order.ts";
import type { DeliveryStatus } from "./delivery-rules.ts";
import { equalsUnlessNullConditionSql, type DeliveryReplayCommandContext } from "./replay-delivery.ts";

export interface RetryDeliveryInput {
  readonly deliveryId: string;
  /**
   * The number of attempts that the delivery had when the caller read it. The retry is refused if another
   * attempt was made since then.
   */
  readonly expectedAttemptCount: number;
}

interface WaitingDelivery {
  readonly id: string;
  readonly status: DeliveryStatus;
  readonly attemptCount: number;
  readonly nextAttemptAt: Date | null;
  /** True if the delivery must wait until an earlier delivery about the same subject has ended. */
  readonly isHeld: boolean;
  readonly endpointId: string;
  readonly isOpen: boolean;
}

/**
 * Makes the next attempt of a delivery due at once, and returns the delivery's id. Changes nothing if the
 * attempt is already due.
 */
export async function retryDelivery(
  transaction: Transaction,
  { merchantId, now, events }: DeliveryReplayCommandContext,
  { deliveryId, expectedAttemptCount }: RetryDeliveryInput,
): Promise<string> {
  const { rows } = await sql<WaitingDelivery>`
    select d.id, d.status, d.attempt_count, d.endpoint_id,
      nullif(d.next_attempt_at, ${heldAtSql}) as next_attempt_at,
      coalesce(d.next_attempt_at = ${heldAtSql}, false) as is_held,
      w.status = 'enabled' and i.status = 'active' as is_open
    from webhook_delivery d join webhook_endpoint w on w.id = d.endpoint_id
      join installation i on i.id = d.installation_id
    where d.id = ${isTextWithoutForbiddenCharacters(deliveryId) ? deliveryId : ""}
      and ${equalsUnlessNullConditionSql(sql`d.merchant_id`, merchantId)}
    for no key update of d`.execute(transaction);
  const [delivery] = rows;
  if (delivery === undefined) throw createFailure("webhook_delivery_not_found");
  const { status, attemptCount, nextAttemptAt, isOpen } = delivery;
  const isWaiting = status === "pending" || status === "retrying";
  if (!isWaiting || attemptCount !== expectedAttemptCount) throw notWaitingFailure(delivery);
  if (!isOpen) throw createFailure("webhook_endpoint_disabled");
  if (delivery.isHeld) throw heldFailure(delivery);
  if (nextAttemptAt !== null && nextAttemptAt > now) {
    await sql`update webhook_delivery set next_attempt_at = ${now}::timestamptz
      where id = ${delivery.id}`.execute(transaction);
  }
  runAfterCommit(transaction, () => events.emit("deliveriesDue"));
  return delivery.id;
}

const notWaitingFailure = (delivery: WaitingDelivery): Failure =>
  conflictFailure(delivery, {
    message:
      `The delivery has changed: its status is ${delivery.status}, after ` +
      `${formatCountWithNoun(delivery.attemptCount, "attempt")}.`,
    reason: null,
  });

const heldFailure = (delivery: WaitingDelivery): Failure =>
  conflictFailure(delivery, {
    message:
      "The delivery waits for an earlier delivery about the same subject, because the endpoint's " +
      "`deliveryOrder` is SUBJECT. Retry the earlier delivery.",
    reason: "waits_for_earlier_delivery",
  });

function conflictFailure(
  { id, status, attemptCount }: WaitingDelivery,
  { message, reason }: { readonly message: string; readonly reason: string | null },
): Failure {
  return createFailure("version_conflict", {
    message,
    conflict: {
      resource: "webhook_delivery",
      id,
      currentStatus: status,
      currentVersion: null,
      reason,
      data: { attemptCount },
    },
  });
}
