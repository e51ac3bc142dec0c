/**
 * A withdrawal from what was never sent: a service, or something digital that nobody has given out yet. Nothing comes back, so it is settled with its
 * approval: what an order still had to do is canceled, and what it has done with is paid back.
 */
import { unsentIntangibles } from "#commerce/orders/cancellation/eligibility.ts";
import { cancelUnits } from "#commerce/orders/cancellation/cancel-order.ts";
import type { OrderOutcome, OrderTenant } from "#commerce/orders/change-order.ts";
import type { OrderAggregate, OrderReturn } from "#commerce/orders/order-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";
import { refuseReturn } from "./return-transitions.ts";
import { type ReturnToSettle, settleReturn } from "./settle-return.ts";

export async function withdrawUnsent(transaction: Transaction, tenant: OrderTenant, { order, found }: ReturnToSettle): Promise<OrderOutcome> {
  if (order.status === "completed") return settleReturn(transaction, tenant, { order, found, units: found.lines });
  const { id: returnId, lines } = found;
  const cancellation = { order, lines, reason: "changed_mind", note: null, actor: tenant.actor, returnId };
  const canceled = await cancelUnits(transaction, tenant, cancellation);
  await transaction
    .updateTable("orderReturn")
    .set({ refundMinor: canceled.reducedMinor ?? 0 })
    .where("id", "=", found.id)
    .execute();
  const { cancellationRequest, ...outcome } = canceled;
  // What somebody asks to have canceled beside it is still asked for, unless nothing is left.
  return outcome.status === undefined ? outcome : { ...outcome, cancellationRequest: cancellationRequest ?? null };
}

/** It was unsent when it was asked for: whatever has been given out since is no longer. */
export function requireUnsent({ lines }: OrderAggregate, found: OrderReturn): void {
  const sent = found.lines.filter(({ lineId, quantity }) => {
    const line = lines.find(({ id }) => id === lineId);
    return line === undefined || unsentIntangibles(line) < quantity;
  });
  if (sent.length === 0) return;
  const data = { lineIds: sent.map(({ lineId }) => lineId) };
  throw refuseReturn("invalid_state", found, { reason: "units_sent", message: "It has been sent since it was asked for.", data });
}
