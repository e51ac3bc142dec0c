/** A change of something that belongs to an order, by that thing's own id: to who may not see the order, the thing is not there either. */
import { changeOrder, type ChangeOrderWork, type OrderTenant } from "#commerce/orders/change-order.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";
import { fail, Failure } from "#foundation/failure.ts";

/** A part of an order that was changed, or made. */
export interface ChangedPart {
  readonly order: OrderAggregate;
  readonly id: string;
}

export interface PartChange {
  readonly orderId: string;
  readonly work: ChangeOrderWork;
}

export async function changePart(transaction: Transaction, tenant: OrderTenant, { orderId, work }: PartChange): Promise<OrderAggregate> {
  try {
    return await changeOrder(transaction, tenant, { target: { orderId }, work });
  } catch (error) {
    if (error instanceof Failure && error.code === "order_not_found") throw fail("resource_not_found");
    throw error;
  }
}
