/** Lets go what was authorized and not captured: because the merchant wants it, or because nothing is owed any more that it could be captured for. */
import { queueOperation } from "#commerce/payments/payment-operations.ts";
import type { Transaction } from "#database/transaction.ts";
import { uncapturedMinor } from "./order-value.ts";
import { changeLocked, type OrderTenant } from "./change-order.ts";
import { refuseOrder } from "./order-checks.ts";
import type { OrderAggregate, OrderPayment } from "./order-aggregate.ts";
import { lockWithOrder, type PaymentTarget, stillOwedMinor } from "./order-payment.ts";

/** What is being captured already is captured. */
export async function voidPayment(
  transaction: Transaction,
  tenant: OrderTenant,
  { paymentId, expectedVersion }: PaymentTarget,
): Promise<OrderAggregate> {
  const { order, payment } = await lockWithOrder(transaction, tenant, paymentId);
  if (uncapturedMinor(payment) === 0)
    throw refuseOrder("invalid_state", order, { reason: "nothing_to_void", message: "Nothing is authorized and not captured." });
  return changeLocked(transaction, tenant, {
    order,
    expectedVersion,
    work: async () => {
      await queueVoid(transaction, tenant, payment);
      return { happenings: [] };
    },
  });
}

export interface OwedAfter {
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
  tenant: Pick<OrderTenant, "merchantId" | "now" | "events">,
  { order, reducedMinor = 0, refundMinor = 0 }: OwedAfter,
): Promise<void> {
  if (stillOwedMinor(order) - reducedMinor + refundMinor > 0) return;
  for (const payment of order.payments) await queueVoid(transaction, tenant, payment);
}

async function queueVoid(
  transaction: Transaction,
  { merchantId, now, events }: Pick<OrderTenant, "merchantId" | "now" | "events">,
  payment: OrderPayment,
): Promise<void> {
  const amountMinor = uncapturedMinor(payment);
  if (amountMinor > 0) await queueOperation(transaction, { merchantId, paymentId: payment.id, kind: "void", amountMinor, now, events });
}
