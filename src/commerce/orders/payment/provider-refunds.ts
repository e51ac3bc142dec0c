/**
 * Records changes of refunds that this service has not requested. The merchant may have made a refund in the
 * payment provider's dashboard, or a refund may have failed after the provider had reported its success.
 */
import type { Transaction } from "#database/transaction.ts";
import {
  derivePaymentStatus,
  lockPayment,
  type PaymentRow,
  savePayment,
} from "#commerce/payments/payment-rows.ts";
import { lockCartAndCheckoutSession } from "#commerce/checkout/change-session.ts";
import { createId } from "#foundation/ids.ts";
import {
  applyChangeToLockedOrder,
  lockOrder,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";

export interface RefundMadeAtProvider {
  readonly order: OrderAggregate;
  readonly payment: PaymentRow;
  readonly amountMinor: number;
}

/**
 * Inserts a refund that the merchant made at the payment provider, with a finished payment operation. Returns
 * the id of the refund.
 */
export async function insertRefundMadeAtProvider(
  transaction: Transaction,
  { merchantId, now }: OrderCommandContext,
  { order, payment, amountMinor }: RefundMadeAtProvider,
): Promise<string> {
  const operationId = createId("paymentOperation", now.getTime());
  const refundId = createId("refund", now.getTime());
  const { id: paymentId, currency } = payment;
  await transaction
    .insertInto("paymentOperation")
    .values({
      id: operationId,
      merchantId,
      paymentId,
      kind: "refund",
      amountMinor,
      status: "succeeded",
      dueAt: now,
      createdAt: now,
      settledAt: now,
      leasedUntil: null,
      failureCode: null,
      traceparent: null,
    })
    .execute();
  await transaction
    .insertInto("refund")
    .values({
      id: refundId,
      merchantId,
      paymentId,
      orderId: order.id,
      returnId: null,
      operationId,
      status: "succeeded",
      amountMinor,
      currency,
      reason: "other",
      note: "Made at the payment provider.",
      createdAt: now,
      updatedAt: now,
    })
    .execute();
  return refundId;
}

/**
 * Marks refunds that the merchant made at the payment provider as failed, because the provider now reports a
 * lower refunded amount. `amountMinor` is the difference to the recorded amount. Takes a refund of exactly
 * this amount, or else the newest refunds. If the refunds taken exceed the difference, the rest is recorded
 * as a new refund.
 */
export async function failRefundsMadeAtProvider(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, payment, amountMinor }: RefundMadeAtProvider,
): Promise<{ readonly events: readonly OrderEvent[]; readonly endedMinor: number }> {
  const made = await findRefundsOfProvider(transaction, payment.id);
  const exact = made.find((refund) => refund.amountMinor === amountMinor);
  const ended: typeof made = [];
  let leftMinor = amountMinor;
  for (const refund of exact === undefined ? made : [exact]) {
    if (leftMinor <= 0) break;
    ended.push(refund);
    leftMinor -= refund.amountMinor;
  }
  const events: OrderEvent[] = ended.map(({ id }) => ({
    type: "refund.failed",
    id,
    previous: { status: "succeeded" },
  }));
  if (ended.length === 0) return { events, endedMinor: 0 };
  await transaction
    .updateTable("refund")
    .set((row) => ({ status: "failed" as const, version: row("version", "+", 1), updatedAt: context.now }))
    .where(
      "id",
      "in",
      ended.map(({ id }) => id),
    )
    .execute();
  if (leftMinor < 0) {
    const id = await insertRefundMadeAtProvider(transaction, context, {
      order,
      payment,
      amountMinor: -leftMinor,
    });
    events.push({ type: "refund.created", id });
  }
  return { events, endedMinor: amountMinor - Math.max(0, leftMinor) };
}

/**
 * Finds the successful refunds of a payment that the merchant made at the payment provider, newest first.
 * Their payment operations have no attempts, because this service has sent no request for them.
 */
function findRefundsOfProvider(
  transaction: Transaction,
  paymentId: string,
): Promise<{ id: string; amountMinor: number }[]> {
  return transaction
    .selectFrom("refund")
    .innerJoin("paymentOperation as o", "o.id", "refund.operationId")
    .select(["refund.id", "refund.amountMinor"])
    .where("refund.paymentId", "=", paymentId)
    .where("refund.status", "=", "succeeded")
    .where("o.attempts", "=", 0)
    .orderBy("refund.createdAt", "desc")
    .orderBy("refund.id", "desc")
    .execute();
}

/** A refund that this service has requested and that the payment provider reports as failed. */
interface FailedRefund {
  readonly paymentId: string;
  readonly operationId: string;
}

/**
 * Saves that a refund has failed after the provider had reported its success. The merchant then owes the
 * amount to the buyer again. Does nothing if this service has not recorded the refund as successful.
 */
export async function saveLateRefundFailure(
  transaction: Transaction,
  context: OrderCommandContext,
  { orderId, ...failed }: FailedRefund & { readonly orderId: string },
): Promise<void> {
  const { now } = context;
  const order = await lockOrder(transaction, context, orderId);
  await applyChangeToLockedOrder(transaction, context, {
    order,
    work: async () => {
      const event = await endSucceededRefund(transaction, failed, now);
      return event === undefined ? null : { events: [event] };
    },
  });
}

/**
 * Saves the late failure of a refund whose payment has no order, and publishes `payment.refund_required`.
 * Returns false if this service has recorded the refund as pending, so that the failure must be saved later.
 */
export async function saveLateRefundFailureOfPaymentWithoutOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  failed: FailedRefund,
): Promise<boolean> {
  const { now, outbox } = context;
  const { paymentId, operationId } = failed;
  const { sessionId, status } = await transaction
    .selectFrom("payment")
    .select(["sessionId", "status"])
    .where("id", "=", paymentId)
    .executeTakeFirstOrThrow();
  await lockCartAndCheckoutSession(transaction, context, sessionId);
  const event = await endSucceededRefund(transaction, failed, now);
  if (event !== undefined) {
    outbox.append({ type: event.type, id: event.id, previous: event.previous });
    outbox.append({ type: "payment.refund_required", id: paymentId, previous: { status } });
    return true;
  }
  const operation = await transaction
    .selectFrom("paymentOperation")
    .select("status")
    .where("id", "=", operationId)
    .where("paymentId", "=", paymentId)
    .executeTakeFirst();
  return operation?.status !== "pending";
}

/**
 * Marks the successful refund of a payment operation as failed, and lowers the refunded amount of its
 * payment. If this service has not recorded the refund as successful, changes nothing and returns undefined.
 */
async function endSucceededRefund(
  transaction: Transaction,
  { paymentId, operationId }: FailedRefund,
  now: Date,
): Promise<(OrderEvent & { readonly id: string; readonly previous: object }) | undefined> {
  const refund = await transaction
    .updateTable("refund")
    .set((row) => ({ status: "failed" as const, version: row("version", "+", 1), updatedAt: now }))
    .where("operationId", "=", operationId)
    .where("paymentId", "=", paymentId)
    .where("status", "=", "succeeded")
    .returning(["id", "amountMinor"])
    .executeTakeFirst();
  if (refund === undefined) return undefined;
  const payment = await lockPayment(transaction, paymentId);
  const refundedMinor = Math.max(0, payment.refundedMinor - refund.amountMinor);
  await savePayment(transaction, {
    payment,
    patch: { refundedMinor, status: derivePaymentStatus({ ...payment, refundedMinor }) },
    now,
  });
  return { type: "refund.failed", id: refund.id, previous: { status: "succeeded" } };
}
