/** A buyer's request to cancel, answered by the merchant. What can be canceled is decided anew: the order may have left since. */
import type { Transaction } from "#database/transaction.ts";
import { requireCancelable, cancelUnits } from "./cancel-order.ts";
import { cancellationEligibility } from "./cancellation-eligibility.ts";
import { changeLocked, lockOrder, type OrderTarget, type OrderTenant, refuseOrder } from "./change-order.ts";
import type { CancellationRequest, OrderAggregate } from "./order-aggregate.ts";

/** In the name of who asked for it. */
export async function approveCancellation(transaction: Transaction, tenant: OrderTenant, target: OrderTarget): Promise<OrderAggregate> {
  const order = await lockOrder(transaction, tenant, target.orderId);
  const { lines, reason, note, actor } = requestOf(order);
  // The request itself is what keeps others from asking; without it the order is judged as it stands.
  requireCancelable(order, { lines, eligibility: cancellationEligibility({ ...order, cancellationRequest: null }, tenant.now, tenant.actor) });
  return changeLocked(transaction, tenant, {
    order,
    expectedVersion: target.expectedVersion,
    work: () => cancelUnits(transaction, tenant, { order, lines, reason, note, actor }),
  });
}

export async function declineCancellation(transaction: Transaction, tenant: OrderTenant, target: OrderTarget): Promise<OrderAggregate> {
  const order = await lockOrder(transaction, tenant, target.orderId);
  requestOf(order);
  return changeLocked(transaction, tenant, {
    order,
    expectedVersion: target.expectedVersion,
    work: () => Promise.resolve({ cancellationRequest: null, happenings: [{ type: "order.cancellation_declined" }] }),
  });
}

function requestOf(order: OrderAggregate): CancellationRequest {
  if (order.cancellationRequest !== null) return order.cancellationRequest;
  throw refuseOrder("invalid_state", order, { reason: "cancellation_not_requested", message: "Nobody has asked to cancel the order." });
}
