/**
 * Commands that capture or void an authorized amount. They lock the order and queue a request to the payment
 * provider. The request is sent later, outside of the transaction, and the provider's answer is saved then.
 */
import type { Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import type { ExpectedVersionInput } from "#commerce/carts/cart-status.ts";
import { requireNoInputFieldErrors } from "#foundation/faults.ts";
import { queuePaymentOperation } from "#commerce/payments/payment-operations.ts";
import { createMoney } from "#foundation/money.ts";
import {
  computeRefundableOrderAmountMinor,
  computeUncapturedAmountMinor,
} from "#commerce/orders/order-value.ts";
import {
  applyChangeToLockedOrder,
  lockOrder,
  findOrderIdOfOrderPart,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import type { OrderAggregate, OrderPayment } from "#commerce/orders/order-aggregate.ts";
import {
  findMoneyAmountFaults,
  type MoneyAmountInput,
  createOrderConflictFailure,
  requireAmountInOrderCurrency,
  requireNoDisputedPayment,
} from "#commerce/orders/order-checks.ts";

export interface PaymentIdAndExpectedVersion extends ExpectedVersionInput {
  readonly paymentId: string;
}

export interface OrderAndPayment {
  readonly order: OrderAggregate;
  readonly payment: OrderPayment;
}

/**
 * Locks the order of a payment, and returns the order and the payment. In payment commands, `expectedVersion`
 * is the version of the order.
 */
export async function lockPaymentWithOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  paymentId: string,
): Promise<OrderAndPayment> {
  const order = await lockOrder(
    transaction,
    context,
    await findOrderIdOfOrderPart(transaction, context, { part: "payment", id: paymentId }),
  );
  const payment = order.payments.find(({ id }) => id === paymentId);
  if (payment === undefined) throw createFailure("resource_not_found");
  return { order, payment };
}

/**
 * Returns the amount of a payment that can be captured now. This is the authorized amount minus successful
 * and pending captures and voids, but at most the amount that the buyer will still owe after all pending
 * operations.
 */
export function computeCapturableAmountMinor({ order, payment }: OrderAndPayment): number {
  return Math.max(
    0,
    Math.min(computeUncapturedAmountMinor(payment), computeOwedAmountAfterPendingOperationsMinor(order)),
  );
}

/** Returns the amount that the buyer will owe if all pending captures and refunds succeed. */
export function computeOwedAmountAfterPendingOperationsMinor(order: OrderAggregate): number {
  const captures = order.payments.flatMap(({ pending }) => pending).filter(({ kind }) => kind === "capture");
  return (
    order.totalMinor -
    order.reducedMinor -
    computeRefundableOrderAmountMinor(order) -
    captures.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
  );
}

interface PaymentCaptureInput extends PaymentIdAndExpectedVersion {
  /** The amount to capture. If left out: the highest amount that can be captured. */
  readonly amount?: MoneyAmountInput | null | undefined;
}

export async function capturePayment(
  transaction: Transaction,
  context: OrderCommandContext,
  input: PaymentCaptureInput,
): Promise<OrderAggregate> {
  requireNoInputFieldErrors(findMoneyAmountFaults(input.amount));
  const found = await lockPaymentWithOrder(transaction, context, input.paymentId);
  requireAmountInOrderCurrency(found.order, input.amount);
  const amountMinor = amountToCapture(found, input.amount?.amountMinor);
  const { merchantId, now, events } = context;
  return applyChangeToLockedOrder(transaction, context, {
    order: found.order,
    expectedVersion: input.expectedVersion,
    work: async () => {
      await queuePaymentOperation(transaction, {
        merchantId,
        paymentId: found.payment.id,
        kind: "capture",
        amountMinor,
        now,
        events,
      });
      return { events: [] };
    },
  });
}

function amountToCapture(found: OrderAndPayment, requested: number | undefined): number {
  const { order } = found;
  requireNoDisputedPayment(order);
  const capturable = computeCapturableAmountMinor(found);
  if (capturable > 0 && (requested ?? capturable) <= capturable) return requested ?? capturable;
  const isNothing = capturable === 0;
  throw createOrderConflictFailure("invalid_state", order, {
    reason: isNothing ? "nothing_to_capture" : "capture_exceeds_authorized",
    message: isNothing
      ? "No authorized amount is still owed."
      : "The amount exceeds the amount that is authorized and still owed.",
    data: { capturable: createMoney(capturable, order.currency) },
  });
}

/** Voids the part of a payment's authorized amount that is neither captured nor in a pending capture. */
export async function voidPayment(
  transaction: Transaction,
  context: OrderCommandContext,
  { paymentId, expectedVersion }: PaymentIdAndExpectedVersion,
): Promise<OrderAggregate> {
  const { order, payment } = await lockPaymentWithOrder(transaction, context, paymentId);
  if (computeUncapturedAmountMinor(payment) === 0)
    throw createOrderConflictFailure("invalid_state", order, {
      reason: "nothing_to_void",
      message: "No authorized amount is left to void.",
    });
  return applyChangeToLockedOrder(transaction, context, {
    order,
    expectedVersion,
    work: async () => {
      await queueVoid(transaction, context, payment);
      return { events: [] };
    },
  });
}

interface OrderAfterChange {
  /** The order as it was when this transaction locked it, before this change. */
  readonly order: OrderAggregate;
  /** The amount by which this change reduces the cost of the order, in minor units. */
  readonly reducedMinor?: number;
  /** Amount of the refund that this order change has queued, in minor units. */
  readonly refundMinor?: number;
}

/**
 * Voids all payment authorizations of an order if the buyer owes nothing any more. If the buyer still owes an
 * amount, voids nothing, because the authorizations may still be captured.
 */
export async function voidAuthorizationsIfNothingOwed(
  transaction: Transaction,
  context: Pick<OrderCommandContext, "merchantId" | "now" | "events">,
  { order, reducedMinor = 0, refundMinor = 0 }: OrderAfterChange,
): Promise<void> {
  if (computeOwedAmountAfterPendingOperationsMinor(order) - reducedMinor + refundMinor > 0) return;
  for (const payment of order.payments) await queueVoid(transaction, context, payment);
}

async function queueVoid(
  transaction: Transaction,
  { merchantId, now, events }: Pick<OrderCommandContext, "merchantId" | "now" | "events">,
  payment: OrderPayment,
): Promise<void> {
  const amountMinor = computeUncapturedAmountMinor(payment);
  if (amountMinor > 0)
    await queuePaymentOperation(transaction, {
      merchantId,
      paymentId: payment.id,
      kind: "void",
      amountMinor,
      now,
      events,
    });
}
