/** A payment and the order it is of, held together; and what of it can still be captured. */
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { refundableMinor, uncapturedMinor } from "./order-value.ts";
import { lockOrder, orderIdOf, type OrderTenant } from "./change-order.ts";
import type { OrderAggregate, OrderPayment } from "./order-aggregate.ts";
import type { Expected } from "#commerce/carts/cart-status.ts";

export interface PaymentTarget extends Expected {
  readonly paymentId: string;
}

export interface PaymentOfOrder {
  readonly order: OrderAggregate;
  readonly payment: OrderPayment;
}

/** Whoever changes a payment locks its order; the version that is expected is the order's. */
export async function lockWithOrder(transaction: Transaction, tenant: OrderTenant, paymentId: string): Promise<PaymentOfOrder> {
  const order = await lockOrder(transaction, tenant, await orderIdOf(transaction, tenant, { part: "payment", id: paymentId }));
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
  return order.totalMinor - order.reducedMinor - refundableMinor(order) - captures.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
}
