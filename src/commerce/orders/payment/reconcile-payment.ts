/**
 * Adopts what has happened to an order's payment at the payment provider without a request of this service:
 * an authorization that has expired, a capture or a refund in the provider's dashboard, and a refund that
 * failed after it had succeeded.
 */
import type { Transaction } from "#database/transaction.ts";
import {
  lockPayment,
  type PaymentRow,
  savePayment,
  derivePaymentStatus,
} from "#commerce/payments/payment-rows.ts";
import type { ProviderPaymentAmounts } from "#commerce/payments/provider.ts";
import { createId } from "#foundation/ids.ts";
import {
  changeLockedOrder,
  lockOrder,
  type OrderChangeOutcome,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import { computeRefundableOrderAmountMinor } from "#commerce/orders/order-value.ts";

export interface ProviderPaymentState {
  readonly orderId: string;
  readonly paymentId: string;
  readonly amounts: ProviderPaymentAmounts;
  /** The time before the provider was asked for the amounts. */
  readonly askedAt: Date;
}

/**
 * Saves amounts that are higher at the provider than here. Returns false without a change if the amounts
 * cannot be compared yet, so that the provider must be asked again later: an operation of the payment is
 * pending, whose amount may be among them, or an operation has ended since the provider was asked, so that
 * the amounts may be older than the payment.
 */
export async function adoptProviderPaymentState(
  transaction: Transaction,
  context: OrderCommandContext,
  { orderId, paymentId, amounts, askedAt }: ProviderPaymentState,
): Promise<boolean> {
  const order = await lockOrder(transaction, context, orderId);
  const pending = order.payments.find(({ id }) => id === paymentId)?.pending ?? [];
  if (pending.length > 0) return false;
  if (await hasNewerOperation(transaction, paymentId, askedAt)) return false;
  await changeLockedOrder(transaction, context, {
    order,
    work: async () => {
      const payment = await lockPayment(transaction, paymentId);
      const lostMinor = await readLostMinor(transaction, paymentId);
      const capturedMinor = Math.max(payment.capturedMinor, amounts.capturedMinor);
      const voidedMinor = Math.max(payment.voidedMinor, amounts.voidedMinor);
      const newRefundMinor = Math.min(
        Math.max(0, amounts.refundedMinor - (payment.refundedMinor - lostMinor)),
        capturedMinor - payment.refundedMinor,
      );
      const refundedMinor = payment.refundedMinor + newRefundMinor;
      const isChanged =
        capturedMinor > payment.capturedMinor || voidedMinor > payment.voidedMinor || newRefundMinor > 0;
      if (!isChanged) return null;
      return adopt(transaction, context, {
        order,
        payment,
        next: { capturedMinor, voidedMinor, refundedMinor },
        newRefundMinor,
      });
    },
  });
  return true;
}

async function hasNewerOperation(
  transaction: Transaction,
  paymentId: string,
  askedAt: Date,
): Promise<boolean> {
  const row = await transaction
    .selectFrom("paymentOperation")
    .select("id")
    .where("paymentId", "=", paymentId)
    .where("settledAt", ">=", askedAt)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Reads the amount that was lost in disputes. It counts as refunded here, but not at the provider. */
async function readLostMinor(transaction: Transaction, paymentId: string): Promise<number> {
  const rows = await transaction
    .selectFrom("paymentDispute")
    .select("amountMinor")
    .where("paymentId", "=", paymentId)
    .where("status", "=", "lost")
    .execute();
  return rows.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
}

interface Adoption {
  readonly order: OrderAggregate;
  readonly payment: PaymentRow;
  readonly next: Pick<PaymentRow, "capturedMinor" | "voidedMinor" | "refundedMinor">;
  readonly newRefundMinor: number;
}

async function adopt(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, payment, next, newRefundMinor }: Adoption,
): Promise<OrderChangeOutcome> {
  const { id, amountMinor, status } = payment;
  const after = await savePayment(transaction, {
    payment,
    patch: { ...next, status: derivePaymentStatus({ amountMinor, ...next }) },
    now: context.now,
  });
  const refundId =
    newRefundMinor > 0
      ? await insertRefundOfProvider(transaction, context, { order, payment, amountMinor: newRefundMinor })
      : undefined;
  const events: OrderEvent[] = [
    ...(next.capturedMinor > payment.capturedMinor
      ? [{ type: "payment.captured" as const, id, previous: { status } }]
      : []),
    ...(after.status === "canceled" ? [{ type: "payment.canceled" as const, id, previous: { status } }] : []),
    ...(refundId === undefined
      ? []
      : [
          { type: "refund.created" as const, id: refundId },
          { type: "refund.succeeded" as const, id: refundId, previous: { status: "pending" } },
        ]),
  ];
  return {
    events: events.length === 0 ? [{ type: "order.updated" }] : events,
    // A refund that exceeds what the buyer has overpaid reduces the cost of the order, as goodwill does.
    reducedMinor: Math.min(
      Math.max(0, newRefundMinor - overpaidMinor(order)),
      order.totalMinor - order.reducedMinor,
    ),
  };
}

const overpaidMinor = (order: OrderAggregate): number =>
  Math.max(0, computeRefundableOrderAmountMinor(order) - (order.totalMinor - order.reducedMinor));

/** Inserts a refund that was made at the provider, with its finished operation, and returns the refund's id. */
async function insertRefundOfProvider(
  transaction: Transaction,
  { merchantId, now }: OrderCommandContext,
  { order, payment, amountMinor }: Pick<Adoption, "order" | "payment"> & { readonly amountMinor: number },
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
 * Saves that a refund has failed after the provider had reported its success. The merchant then owes the
 * amount to the buyer again. Does nothing if the refund has not succeeded here.
 */
export async function saveLateRefundFailure(
  transaction: Transaction,
  context: OrderCommandContext,
  { orderId, operationId }: { readonly orderId: string; readonly operationId: string },
): Promise<void> {
  const { now } = context;
  const order = await lockOrder(transaction, context, orderId);
  await changeLockedOrder(transaction, context, {
    order,
    work: async () => {
      const refund = await transaction
        .updateTable("refund")
        .set((row) => ({ status: "failed" as const, version: row("version", "+", 1), updatedAt: now }))
        .where("operationId", "=", operationId)
        .where("orderId", "=", orderId)
        .where("status", "=", "succeeded")
        .returning(["id", "paymentId", "amountMinor"])
        .executeTakeFirst();
      if (refund === undefined) return null;
      const payment = await lockPayment(transaction, refund.paymentId);
      const refundedMinor = Math.max(0, payment.refundedMinor - refund.amountMinor);
      await savePayment(transaction, {
        payment,
        patch: { refundedMinor, status: derivePaymentStatus({ ...payment, refundedMinor }) },
        now,
      });
      return { events: [{ type: "refund.failed", id: refund.id, previous: { status: "succeeded" } }] };
    },
  });
}
