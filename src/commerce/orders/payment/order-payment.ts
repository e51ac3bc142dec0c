/**
 * Captures or voids what was authorized, with the order of the payment locked: the provider is asked later,
 * and its answer is written then.
 */
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import type { ExpectedVersionInput } from "#commerce/carts/cart-status.ts";
import { requireNoFaults } from "#foundation/faults.ts";
import { queuePaymentOperation } from "#commerce/payments/payment-operations.ts";
import { money } from "#foundation/money.ts";
import { refundableMinor, uncapturedMinor } from "#commerce/orders/order-value.ts";
import {
  changeLocked,
  lockOrder,
  orderIdOf,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import type { OrderAggregate, OrderPayment } from "#commerce/orders/order-aggregate.ts";
import {
  amountFaults,
  type AmountInput,
  refuseOrder,
  requireCurrency,
  requireNoDispute,
} from "#commerce/orders/order-checks.ts";

export interface PaymentTarget extends ExpectedVersionInput {
  readonly paymentId: string;
}

export interface PaymentOfOrder {
  readonly order: OrderAggregate;
  readonly payment: OrderPayment;
}

/** Whoever changes a payment locks its order; the version that is expected is the order's. */
export async function lockWithOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  paymentId: string,
): Promise<PaymentOfOrder> {
  const order = await lockOrder(
    transaction,
    context,
    await orderIdOf(transaction, context, { part: "payment", id: paymentId }),
  );
  const payment = order.payments.find(({ id }) => id === paymentId);
  if (payment === undefined) throw fail("resource_not_found");
  return { order, payment };
}

/** Authorized, still owed, and not asked for already. */
export function capturableMinor({ order, payment }: PaymentOfOrder): number {
  return Math.max(0, Math.min(uncapturedMinor(payment), stillOwedMinor(order)));
}

/** Once all that the provider was asked for is done. */
export function stillOwedMinor(order: OrderAggregate): number {
  const captures = order.payments.flatMap(({ pending }) => pending).filter(({ kind }) => kind === "capture");
  return (
    order.totalMinor -
    order.reducedMinor -
    refundableMinor(order) -
    captures.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
  );
}

interface PaymentCaptureInput extends PaymentTarget {
  /** Left out: all that is authorized and still owed. */
  readonly amount?: AmountInput | null | undefined;
}

export async function capturePayment(
  transaction: Transaction,
  context: OrderCommandContext,
  input: PaymentCaptureInput,
): Promise<OrderAggregate> {
  requireNoFaults(amountFaults(input.amount));
  const found = await lockWithOrder(transaction, context, input.paymentId);
  requireCurrency(found.order, input.amount);
  const amountMinor = amountToCapture(found, input.amount?.amountMinor);
  const { merchantId, now, events } = context;
  return changeLocked(transaction, context, {
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
      return { happenings: [] };
    },
  });
}

function amountToCapture(found: PaymentOfOrder, asked: number | undefined): number {
  const { order } = found;
  requireNoDispute(order);
  const capturable = capturableMinor(found);
  if (capturable > 0 && (asked ?? capturable) <= capturable) return asked ?? capturable;
  const isNothing = capturable === 0;
  throw refuseOrder("invalid_state", order, {
    reason: isNothing ? "nothing_to_capture" : "capture_exceeds_authorized",
    message: isNothing
      ? "Nothing is authorized that is still owed."
      : "That is more than is authorized and still owed.",
    data: { capturable: money(capturable, order.currency) },
  });
}

/** What is being captured already is captured. */
export async function voidPayment(
  transaction: Transaction,
  context: OrderCommandContext,
  { paymentId, expectedVersion }: PaymentTarget,
): Promise<OrderAggregate> {
  const { order, payment } = await lockWithOrder(transaction, context, paymentId);
  if (uncapturedMinor(payment) === 0)
    throw refuseOrder("invalid_state", order, {
      reason: "nothing_to_void",
      message: "Nothing is authorized and not captured.",
    });
  return changeLocked(transaction, context, {
    order,
    expectedVersion,
    work: async () => {
      await queueVoid(transaction, context, payment);
      return { happenings: [] };
    },
  });
}

interface OwedAfter {
  /** As it was locked, before this change. */
  readonly order: OrderAggregate;
  /** What this change takes off what the buyer owes. */
  readonly reducedMinor?: number;
  /** What this change has asked the provider to give back. */
  readonly refundMinor?: number;
}

/** The buyer's hold ends with what is owed. As long as anything is, all of it stays: it may still be captured. */
export async function voidIfNothingOwed(
  transaction: Transaction,
  context: Pick<OrderCommandContext, "merchantId" | "now" | "events">,
  { order, reducedMinor = 0, refundMinor = 0 }: OwedAfter,
): Promise<void> {
  if (stillOwedMinor(order) - reducedMinor + refundMinor > 0) return;
  for (const payment of order.payments) await queueVoid(transaction, context, payment);
}

async function queueVoid(
  transaction: Transaction,
  { merchantId, now, events }: Pick<OrderCommandContext, "merchantId" | "now" | "events">,
  payment: OrderPayment,
): Promise<void> {
  const amountMinor = uncapturedMinor(payment);
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
