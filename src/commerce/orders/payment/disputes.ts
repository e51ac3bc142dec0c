/**
 * Records disputes (chargebacks): a buyer's bank claims a payment back. A disputed payment can be neither
 * captured nor refunded. If the merchant wins the dispute, the payment gets the status that it had before. If
 * the merchant loses the dispute, the captured amount is recorded as refunded. The cost of the order is then
 * reduced by this amount, because the merchant cannot charge it again.
 */
import { derivePaymentStatus } from "#commerce/payments/payment-rows.ts";
import type { Transaction } from "#database/transaction.ts";
import {
  applyChangeToLockedOrder,
  type OrderColumnUpdateAndEvents,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import { createOrderConflictFailure } from "#commerce/orders/order-checks.ts";
import type { OrderAggregate, OrderPayment } from "#commerce/orders/order-aggregate.ts";
import { computeRefundablePaymentAmountMinor } from "#commerce/orders/order-value.ts";
import {
  lockPaymentWithOrder,
  type OrderAndPayment,
  type PaymentIdAndExpectedVersion,
} from "./order-payment.ts";

export const disputeReasons = [
  "fraudulent",
  "unrecognized",
  "not_received",
  "not_as_described",
  "duplicate",
  "canceled",
  "other",
] as const;
export type PaymentDisputeReasonCode = (typeof disputeReasons)[number];

export interface OpenPaymentDisputeInput extends PaymentIdAndExpectedVersion {
  readonly reason: PaymentDisputeReasonCode;
}

export async function openPaymentDispute(
  transaction: Transaction,
  context: OrderCommandContext,
  input: OpenPaymentDisputeInput,
): Promise<OrderAggregate> {
  const found = await lockPaymentWithOrder(transaction, context, input.paymentId);
  const { order, payment } = found;
  if (payment.disputedAt !== null)
    throw createOrderConflictFailure("invalid_state", order, {
      reason: "payment_disputed",
      message: "The payment is already disputed.",
    });
  if (computeRefundablePaymentAmountMinor(payment) === 0)
    throw createOrderConflictFailure("invalid_state", order, {
      reason: "nothing_captured",
      message: "No captured amount of the payment is left.",
    });
  return changePayment(transaction, context, {
    ...found,
    expectedVersion: input.expectedVersion,
    values: { disputedAt: context.now, disputeReason: input.reason },
    outcome: {
      events: [
        { type: "payment.disputed", id: payment.id, previous: { disputedAt: null, disputeReason: null } },
      ],
    },
  });
}

export type PaymentDisputeOutcomeCode = "won" | "lost";

export interface ClosePaymentDisputeInput extends PaymentIdAndExpectedVersion {
  readonly outcome: PaymentDisputeOutcomeCode;
}

export async function closePaymentDispute(
  transaction: Transaction,
  context: OrderCommandContext,
  { paymentId, expectedVersion, outcome }: ClosePaymentDisputeInput,
): Promise<OrderAggregate> {
  const found = await lockPaymentWithOrder(transaction, context, paymentId);
  const { order, payment } = found;
  if (payment.disputedAt === null)
    throw createOrderConflictFailure("invalid_state", order, {
      reason: "payment_not_disputed",
      message: "The payment is not disputed.",
    });
  return savePaymentDisputeEnd(transaction, context, {
    ...found,
    expectedVersion,
    lostMinor: outcome === "lost" ? computeRefundablePaymentAmountMinor(payment) : 0,
    staysDisputed: false,
  });
}

export interface PaymentDisputeToClose extends OrderAndPayment {
  readonly expectedVersion?: number | null | undefined;
  /** The amount that the merchant has lost, in minor units; 0 if the merchant has won. */
  readonly lostMinor: number;
  /** True if the payment has another dispute that is still open. */
  readonly staysDisputed: boolean;
}

/** Saves the end of a payment dispute in its order, which the caller has locked. */
export function savePaymentDisputeEnd(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, payment, expectedVersion, lostMinor, staysDisputed }: PaymentDisputeToClose,
): Promise<OrderAggregate> {
  const { id, disputedAt, disputeReason, status } = payment;
  return changePayment(transaction, context, {
    order,
    payment,
    expectedVersion,
    values: {
      ...(staysDisputed ? {} : { disputedAt: null, disputeReason: null }),
      ...(lostMinor > 0 ? lost(payment, lostMinor) : {}),
    },
    outcome: {
      reducedMinor: Math.min(lostMinor, order.totalMinor - order.reducedMinor),
      events: [
        {
          type: "payment.dispute_closed",
          id,
          previous: {
            ...(staysDisputed ? {} : { disputedAt, disputeReason }),
            ...(lostMinor > 0 ? { status } : {}),
          },
        },
      ],
    },
  });
}

function lost(payment: OrderPayment, lostMinor: number): Pick<PaymentValues, "refundedMinor" | "status"> {
  const refundedMinor = payment.refundedMinor + lostMinor;
  return { refundedMinor, status: derivePaymentStatus({ ...payment, refundedMinor }) };
}

interface PaymentValues {
  readonly disputedAt?: Date | null;
  readonly disputeReason?: PaymentDisputeReasonCode | null;
  readonly refundedMinor?: number;
  readonly status?: OrderPayment["status"];
}

interface PaymentChange extends OrderAndPayment {
  readonly expectedVersion?: number | null | undefined;
  readonly values: PaymentValues;
  readonly outcome: OrderColumnUpdateAndEvents;
}

function changePayment(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, payment, expectedVersion, values, outcome }: PaymentChange,
): Promise<OrderAggregate> {
  return applyChangeToLockedOrder(transaction, context, {
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
