/**
 * A buyer's bank takes a payment back. While it is disputed nothing is captured or refunded. Won, all is as
 * before; lost, what was kept of the payment is gone, and the buyer owes that much less: a merchant cannot
 * ask again for what a bank has given back.
 */
import { paymentStatusFromAmounts } from "#commerce/payments/payment-rows.ts";
import type { Transaction } from "#database/transaction.ts";
import { changeLocked, type OrderOutcome, type OrderCommandContext } from "#commerce/orders/change-order.ts";
import { refuseOrder } from "#commerce/orders/order-checks.ts";
import type { OrderAggregate, OrderPayment } from "#commerce/orders/order-aggregate.ts";
import { refundableOfPayment } from "#commerce/orders/order-value.ts";
import { lockWithOrder, type PaymentOfOrder, type PaymentTarget } from "./order-payment.ts";

export const disputeReasons = [
  "fraudulent",
  "unrecognized",
  "not_received",
  "not_as_described",
  "duplicate",
  "canceled",
  "other",
] as const;
export type DisputeReason = (typeof disputeReasons)[number];

export interface DisputeOpenInput extends PaymentTarget {
  readonly reason: DisputeReason;
}

export async function openDispute(
  transaction: Transaction,
  context: OrderCommandContext,
  input: DisputeOpenInput,
): Promise<OrderAggregate> {
  const found = await lockWithOrder(transaction, context, input.paymentId);
  const { order, payment } = found;
  if (payment.disputedAt !== null)
    throw refuseOrder("invalid_state", order, {
      reason: "payment_disputed",
      message: "The payment is disputed already.",
    });
  if (refundableOfPayment(payment) === 0)
    throw refuseOrder("invalid_state", order, {
      reason: "nothing_captured",
      message: "Nothing of the payment is kept.",
    });
  return changePayment(transaction, context, {
    ...found,
    expectedVersion: input.expectedVersion,
    values: { disputedAt: context.now, disputeReason: input.reason },
    outcome: {
      happenings: [
        { type: "payment.disputed", id: payment.id, previous: { disputedAt: null, disputeReason: null } },
      ],
    },
  });
}

export type DisputeOutcome = "won" | "lost";

export interface DisputeCloseInput extends PaymentTarget {
  readonly outcome: DisputeOutcome;
}

export async function closeDispute(
  transaction: Transaction,
  context: OrderCommandContext,
  input: DisputeCloseInput,
): Promise<OrderAggregate> {
  const found = await lockWithOrder(transaction, context, input.paymentId);
  const { order, payment } = found;
  if (payment.disputedAt === null)
    throw refuseOrder("invalid_state", order, {
      reason: "payment_not_disputed",
      message: "The payment is not disputed.",
    });
  const { disputedAt, disputeReason, status } = payment;
  const lostMinor = input.outcome === "lost" ? refundableOfPayment(payment) : 0;
  return changePayment(transaction, context, {
    ...found,
    expectedVersion: input.expectedVersion,
    values: { disputedAt: null, disputeReason: null, ...(lostMinor > 0 ? lost(payment, lostMinor) : {}) },
    outcome: {
      reducedMinor: Math.min(lostMinor, order.totalMinor - order.reducedMinor),
      happenings: [
        {
          type: "payment.dispute_closed",
          id: payment.id,
          previous: { disputedAt, disputeReason, ...(lostMinor > 0 ? { status } : {}) },
        },
      ],
    },
  });
}

function lost(payment: OrderPayment, lostMinor: number): Pick<PaymentValues, "refundedMinor" | "status"> {
  const refundedMinor = payment.refundedMinor + lostMinor;
  return { refundedMinor, status: paymentStatusFromAmounts({ ...payment, refundedMinor }) };
}

interface PaymentValues {
  readonly disputedAt: Date | null;
  readonly disputeReason: DisputeReason | null;
  readonly refundedMinor?: number;
  readonly status?: OrderPayment["status"];
}

interface PaymentChange extends PaymentOfOrder {
  readonly expectedVersion: number | null | undefined;
  readonly values: PaymentValues;
  readonly outcome: OrderOutcome;
}

function changePayment(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, payment, expectedVersion, values, outcome }: PaymentChange,
): Promise<OrderAggregate> {
  return changeLocked(transaction, context, {
    order,
    expectedVersion,
    work: async () => {
      await transaction
        .updateTable("payment")
        .set((row) => ({ ...values, version: row("version", "+", 1), updatedAt: context.now }))
        .where("id", "=", payment.id)
        .execute();
      return outcome;
    },
  });
}
