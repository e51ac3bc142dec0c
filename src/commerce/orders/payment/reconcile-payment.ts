/**
 * Updates an order's payment after changes at the payment provider that this service has not requested.
 * Examples are an expired authorization, and a capture, a refund or a failed refund in the provider's
 * dashboard.
 */
import type { Transaction } from "#database/transaction.ts";
import {
  lockPayment,
  type PaymentRow,
  savePayment,
  derivePaymentStatus,
} from "#commerce/payments/payment-rows.ts";
import type { PaymentAmountsAtProvider } from "#commerce/payments/provider.ts";
import {
  applyChangeToLockedOrder,
  lockOrder,
  type OrderColumnUpdateAndEvents,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import { computeOverpaidAmountMinor } from "#commerce/orders/order-value.ts";
import {
  failRefundsMadeAtProvider,
  insertRefundMadeAtProvider,
  type RefundMadeAtProvider,
} from "./provider-refunds.ts";

export interface ProviderAmountsToApplyToPayment {
  readonly orderId: string;
  readonly paymentId: string;
  readonly amounts: PaymentAmountsAtProvider;
  /** The time directly before this service asked the provider for the amounts of the payment. */
  readonly askedAt: Date;
  /**
   * True if a refund that the merchant made at the provider has failed. The refunded amount can then be lower
   * at the provider than in this service.
   */
  readonly hasFailedRefund: boolean;
}

/**
 * Saves amounts that are higher at the provider than in this service; after a failed refund, also a lower
 * refunded amount. Returns false and changes nothing if the amounts cannot be compared yet, so that the
 * provider must be asked again. This is the case while an operation of the payment is pending, and if an
 * operation has ended since the provider was asked.
 */
export async function applyProviderAmountsToPayment(
  transaction: Transaction,
  context: OrderCommandContext,
  { orderId, paymentId, amounts, askedAt, hasFailedRefund }: ProviderAmountsToApplyToPayment,
): Promise<boolean> {
  const order = await lockOrder(transaction, context, orderId);
  const pending = order.payments.find(({ id }) => id === paymentId)?.pending ?? [];
  if (pending.length > 0) return false;
  if (await hasNewerOperation(transaction, paymentId, askedAt)) return false;
  await applyChangeToLockedOrder(transaction, context, {
    order,
    work: async () => {
      const payment = await lockPayment(transaction, paymentId);
      const { refundedMinor } = payment;
      const capturedMinor = Math.max(payment.capturedMinor, amounts.capturedMinor);
      const voidedMinor = Math.max(payment.voidedMinor, amounts.voidedMinor);
      const refundMinor = await readRefundDifference(transaction, payment, amounts);
      const newRefundMinor = Math.min(Math.max(0, refundMinor), capturedMinor - refundedMinor);
      const next = { capturedMinor, voidedMinor, refundedMinor: refundedMinor + newRefundMinor };
      if (hasFailedRefund && refundMinor < 0)
        return endFailedRefunds(transaction, context, { order, payment, amountMinor: -refundMinor });
      const isChanged =
        capturedMinor > payment.capturedMinor || voidedMinor > payment.voidedMinor || newRefundMinor > 0;
      return isChanged ? adopt(transaction, context, { order, payment, next, newRefundMinor }) : null;
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

/**
 * Returns how much higher the refunded amount is at the provider than in this service, in minor units. This
 * service also counts amounts that were lost in disputes as refunded; the comparison leaves them out.
 */
async function readRefundDifference(
  transaction: Transaction,
  { id: paymentId, refundedMinor }: PaymentRow,
  amounts: PaymentAmountsAtProvider,
): Promise<number> {
  const rows = await transaction
    .selectFrom("paymentDispute")
    .select("amountMinor")
    .where("paymentId", "=", paymentId)
    .where("status", "=", "lost")
    .execute();
  const lostMinor = rows.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  return amounts.refundedMinor + lostMinor - refundedMinor;
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
): Promise<OrderColumnUpdateAndEvents> {
  const { id, amountMinor, status } = payment;
  const after = await savePayment(transaction, {
    payment,
    patch: { ...next, status: derivePaymentStatus({ amountMinor, ...next }) },
    now: context.now,
  });
  const refundId =
    newRefundMinor > 0
      ? await insertRefundMadeAtProvider(transaction, context, {
          order,
          payment,
          amountMinor: newRefundMinor,
        })
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
    // The part of the refund that exceeds the overpaid amount reduces the cost of the order, like a goodwill
    // refund.
    reducedMinor: Math.min(
      Math.max(0, newRefundMinor - computeOverpaidAmountMinor(order)),
      order.totalMinor - order.reducedMinor,
    ),
  };
}

/**
 * Marks refunds that the merchant made at the provider as failed. The merchant then owes their amount to the
 * buyer again.
 */
async function endFailedRefunds(
  transaction: Transaction,
  context: OrderCommandContext,
  failed: RefundMadeAtProvider,
): Promise<OrderColumnUpdateAndEvents | null> {
  const { payment } = failed;
  const { events, endedMinor } = await failRefundsMadeAtProvider(transaction, context, failed);
  if (endedMinor === 0) return null;
  const refundedMinor = payment.refundedMinor - endedMinor;
  await savePayment(transaction, {
    payment,
    patch: { refundedMinor, status: derivePaymentStatus({ ...payment, refundedMinor }) },
    now: context.now,
  });
  return { events };
}
