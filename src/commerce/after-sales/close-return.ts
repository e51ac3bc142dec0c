/**
 * Settles a return that was inspected. Money for what was accepted goes back; of an exchange or a replacement what is sent instead must have left;
 * what was repaired or replaced is the buyer's as before. Nothing is left open after it.
 */
import type { OrderHappening, OrderOutcome, OrderTenant } from "#commerce/orders/change-order.ts";
import type { LineQuantity, OrderAggregate, OrderReturn, OrderWarranty } from "#commerce/orders/order-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";
import type { ChangedPart } from "./change-part.ts";
import { isReplacementSent, sendsReplacement, staysWithBuyer } from "./exchange.ts";
import { changeReturn, type FoundReturn, type ReturnTarget } from "./return-life.ts";
import { moveOrderLines, moveReturn } from "./return-rows.ts";
import { refuseReturn } from "./return-transitions.ts";
import { requireSettleable, settleReturn } from "./settle-return.ts";
import { voidWarranties } from "./warranty-benefits.ts";

export function closeReturn(transaction: Transaction, tenant: OrderTenant, target: ReturnTarget): Promise<ChangedPart> {
  return changeReturn(transaction, tenant, {
    target,
    step: "close",
    requireState: requireClosable,
    work: (found) => close(transaction, tenant, found),
  });
}

function requireClosable({ order, found }: FoundReturn): void {
  requireSent(order, found);
  if (found.kind !== "repair" && !sendsReplacement(found)) requireSettleable({ order, found, units: acceptedUnits(found) });
}

async function close(transaction: Transaction, tenant: OrderTenant, { order, found }: FoundReturn): Promise<OrderOutcome> {
  const closed: OrderHappening = { type: "return.closed", id: found.id };
  await moveReturn(transaction, tenant, { id: found.id, status: "closed" });
  if (staysWithBuyer(found)) {
    await moveOrderLines(
      transaction,
      found.lines.map(({ lineId, quantity }) => ({ lineId, returnRequested: -quantity })),
    );
    return { happenings: [closed] };
  }
  if (sendsReplacement(found)) {
    const isExchanged = found.kind === "exchange" && acceptedOf(found) > 0;
    return { happenings: [closed, ...(isExchanged ? [{ type: "exchange.completed" as const, id: found.id }] : [])] };
  }
  await voidWarranties(transaction, tenant, withoutObject(order, found));
  const { happenings, ...patch } = await settleReturn(transaction, tenant, { order, found, units: acceptedUnits(found) });
  return { ...patch, happenings: [closed, ...happenings] };
}

/** Whoever gave something back has what it was given back for. */
function requireSent(order: OrderAggregate, found: OrderReturn): void {
  if (!sendsReplacement(found) || acceptedOf(found) === 0 || isReplacementSent(order, found)) return;
  throw refuseReturn("invalid_state", found, {
    reason: "replacement_not_sent",
    message: "What is sent instead has not left yet.",
    data: { fulfillmentIds: order.fulfillments.filter(({ returnId }) => returnId === found.id).map(({ id }) => id) },
  });
}

const acceptedUnits = ({ lines }: OrderReturn): LineQuantity[] => lines.map(({ lineId, accepted: quantity }) => ({ lineId, quantity }));

function acceptedOf({ lines }: OrderReturn): number {
  return lines.reduce((sum, { accepted }) => sum + accepted, 0);
}

/** Of lines that this brought back the last units of. */
function withoutObject({ lines, warranties }: OrderAggregate, found: OrderReturn): OrderWarranty[] {
  const returned = lines.filter(
    ({ id, ordered, canceled, returned: units }) => found.lines.some(({ lineId }) => lineId === id) && units === ordered - canceled,
  );
  return warranties.filter(({ lineId, status }) => status === "active" && returned.some(({ id }) => id === lineId));
}
