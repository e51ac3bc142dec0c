/**
 * Cancels units of an order. The caller has already decided that they can be canceled. Releases stock and
 * promotion uses, updates fulfillments, and voids or refunds payments.
 */
import type { CancellationReason } from "./reasons.ts";
import { sql } from "kysely";
import { releaseStockOfOrder } from "#commerce/inventory/order-stock.ts";
import { restorePromotionUses } from "#commerce/promotions/promotion-uses.ts";
import type { Transaction } from "#database/transaction.ts";
import {
  type CanceledOrderLineUnits,
  type CanceledUnitsValue,
  calculateCanceledUnitsValue,
  type FulfillmentAfterCancellation,
} from "#commerce/orders/order-value.ts";
import { type OrderColumnUpdateAndEvents, type OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import type { OrderLineIdAndQuantity, OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { OrderActor } from "#commerce/orders/order-states.ts";
import { allocateRefundToLinesAndShipping, queueRefund } from "#commerce/orders/payment/refunds.ts";
import { decreaseUnreservedUnitsOfFulfillments } from "#commerce/orders/fulfillment/fulfillment-stock.ts";
import { voidAuthorizationsIfNothingOwed } from "#commerce/orders/payment/order-payment.ts";

export interface OrderUnitsToCancel {
  readonly order: OrderAggregate;
  readonly lines: readonly OrderLineIdAndQuantity[];
  readonly reason: CancellationReason;
  readonly note: string | null;
  /** The actor that the order records for this cancellation: the buyer, the merchant or the system. */
  readonly actor: OrderActor;
  /**
   * Id of the withdrawal (a kind of return) that this cancellation completes; undefined for other
   * cancellations.
   */
  readonly returnId?: string;
}

/**
 * Cancels units of an order. The caller must have decided that the cancellation is possible. Promotions are
 * locked before the stock, so that transactions cannot deadlock.
 */
export async function cancelOrderUnits(
  transaction: Transaction,
  context: OrderCommandContext,
  cancellation: OrderUnitsToCancel,
): Promise<OrderColumnUpdateAndEvents> {
  const { order, lines, reason, note, actor } = cancellation;
  const value = calculateCanceledUnitsValue(order, lines);
  if (value.isWhole) await restorePromotionUses(transaction, { orderId: order.id, now: context.now });
  const stock = value.lines.map(({ variantId, waiting, unreserved, allocated }) => ({
    variantId,
    waiting: waiting - unreserved,
    allocated,
  }));
  await releaseStockOfOrder(transaction, context, stock, order.number);
  const unreserved = value.lines.map((units) => ({ lineId: units.lineId, quantity: units.unreserved }));
  await decreaseUnreservedUnitsOfFulfillments(transaction, { order, returnId: null, lines: unreserved });
  await cancelLineUnits(transaction, order.id, value.lines);
  const events: OrderEvent[] = [
    { type: value.isWhole ? "order.canceled" : "order.partially_canceled" },
    ...(await cutFulfillments(transaction, context, { order, cuts: value.cuts })),
    ...(await moveMoney(transaction, context, { cancellation, value })),
  ];
  const { reducedMinor, shippingMinor: shippingReducedMinor } = value;
  const ended: Partial<OrderColumnUpdateAndEvents> = {
    status: "canceled",
    holdReason: null,
    cancellation: { reason, note, actor },
  };
  return {
    cancellationRequest: null,
    reducedMinor,
    shippingReducedMinor,
    events,
    ...(value.isWhole ? ended : {}),
  };
}

async function cancelLineUnits(
  transaction: Transaction,
  orderId: string,
  units: readonly CanceledOrderLineUnits[],
): Promise<void> {
  await sql`
    update order_line l set canceled = l.canceled + u.quantity, allocated = l.allocated - u.allocated,
    reduced_minor = l.reduced_minor + u.amount_minor
    from unnest(${units.map(({ lineId }) => lineId)}::text[],
    ${units.map(({ quantity }) => quantity)}::integer[],
      ${units.map(({ allocated }) => allocated)}::integer[],
      ${units.map(({ amountMinor }) => amountMinor)}::bigint[])
      as u(id, quantity, allocated, amount_minor)
    where l.id = u.id and l.order_id = ${orderId}`.execute(transaction);
}

/**
 * Removes canceled units from fulfillments. A fulfillment that loses all its units is canceled and keeps its
 * lines for display.
 */
async function cutFulfillments(
  transaction: Transaction,
  { now }: OrderCommandContext,
  { order, cuts }: { readonly order: OrderAggregate; readonly cuts: readonly FulfillmentAfterCancellation[] },
): Promise<OrderEvent[]> {
  const events: OrderEvent[] = [];
  for (const { fulfillmentId, lines } of cuts) {
    const isCanceled = lines.length === 0;
    if (!isCanceled) await keepLines(transaction, fulfillmentId, lines);
    await transaction
      .updateTable("fulfillment")
      .set((fulfillment) => ({
        version: fulfillment("version", "+", 1),
        updatedAt: now,
        ...(isCanceled ? { status: "canceled" as const } : {}),
      }))
      .where("id", "=", fulfillmentId)
      .execute();
    const previous = { status: order.fulfillments.find(({ id }) => id === fulfillmentId)?.status };
    if (isCanceled) events.push({ type: "fulfillment.canceled", id: fulfillmentId, previous });
  }
  return events;
}

async function keepLines(
  transaction: Transaction,
  fulfillmentId: string,
  lines: readonly OrderLineIdAndQuantity[],
): Promise<void> {
  const ids = lines.map(({ lineId }) => lineId);
  await transaction
    .deleteFrom("fulfillmentLine")
    .where("fulfillmentId", "=", fulfillmentId)
    .where("orderLineId", "not in", ids)
    .execute();
  await sql`
    update fulfillment_line f set quantity = k.quantity from unnest(${ids}::text[],
    ${lines.map(({ quantity }) => quantity)}::integer[]) as k(id, quantity)
    where f.fulfillment_id = ${fulfillmentId} and f.order_line_id = k.id`.execute(transaction);
}

/**
 * Gives the buyer's money back after a cancellation: voids the payment authorizations if the buyer owes
 * nothing any more, and refunds what the buyer has paid too much.
 */
async function moveMoney(
  transaction: Transaction,
  context: OrderCommandContext,
  { cancellation, value }: { readonly cancellation: OrderUnitsToCancel; readonly value: CanceledUnitsValue },
): Promise<OrderEvent[]> {
  const { order, note, returnId = null } = cancellation;
  const { reducedMinor, refundMinor } = value;
  await voidAuthorizationsIfNothingOwed(transaction, context, { order, reducedMinor, refundMinor });
  if (value.refundMinor === 0) return [];
  const covered = allocateRefundToLinesAndShipping(value.refundMinor, {
    lines: value.lines.map(({ lineId, quantity, amountMinor }) => ({ lineId, quantity, amountMinor })),
    shippingMinor: value.shippingMinor,
  });
  const refund = {
    order,
    amountMinor: value.refundMinor,
    reason: "order_canceled",
    note,
    returnId,
    ...covered,
  };
  const id = await queueRefund(transaction, context, refund);
  return [{ type: "refund.created", id }];
}
