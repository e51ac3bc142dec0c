/**
 * Manages the fulfillment that sends a replacement for returned goods. Its stock is reserved when the return
 * is approved. The sent replacement is not counted in the quantities of the order's lines. If the inspection
 * refuses returned units, no replacement is sent for these units.
 */
import { releaseStockOfOrder, reserveStockForOrder } from "#commerce/inventory/order-stock.ts";
import type { OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import { createOrderConflictFailure } from "#commerce/orders/order-checks.ts";
import type {
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderFulfillment,
  OrderReturn,
} from "#commerce/orders/order-aggregate.ts";
import type { FulfillmentStatus } from "#commerce/orders/order-states.ts";
import { sentStatuses } from "#commerce/orders/order-statuses.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";

interface ReplacementContext {
  readonly order: OrderAggregate;
  readonly found: Pick<OrderReturn, "id" | "kind" | "exchangeVariantId"> & {
    readonly lines: readonly OrderLineIdAndQuantity[];
  };
}

/** Returns true for the kinds of return that send goods to the buyer: exchange and replacement. */
export const isExchangeOrReplacementReturn = ({ kind }: Pick<OrderReturn, "kind">): boolean =>
  kind === "exchange" || kind === "replacement";

/**
 * Returns true for repairs and replacements. The buyer gets an equal item back, so the order line counts no
 * units as returned.
 */
export const isRepairOrReplacementReturn = ({ kind }: Pick<OrderReturn, "kind">): boolean =>
  kind === "repair" || kind === "replacement";

/**
 * Reserves the stock of a replacement and creates the fulfillment that sends the replacement. Throws
 * `invalid_state` if the stock is too low.
 */
export async function createReplacementFulfillment(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found }: ReplacementContext,
): Promise<OrderEvent[]> {
  const lines = replacementStock(order, found, found.lines);
  const shortages = await reserveStockForOrder(transaction, context, lines);
  if (shortages.length > 0)
    throw createOrderConflictFailure("invalid_state", order, {
      reason: "exchange_out_of_stock",
      data: { shortages },
    });
  const { merchantId, now } = context;
  const id = createId("fulfillment", now.getTime());
  await transaction
    .insertInto("fulfillment")
    .values({
      id,
      orderId: order.id,
      merchantId,
      returnId: found.id,
      type: fulfillmentTypeOf(order, found),
      createdAt: now,
      updatedAt: now,
    })
    .execute();
  await transaction
    .insertInto("fulfillmentLine")
    .values(found.lines.map(({ lineId, quantity }) => ({ fulfillmentId: id, orderLineId: lineId, quantity })))
    .execute();
  const created: OrderEvent[] = [{ type: "fulfillment.created", id }];
  return found.kind === "exchange" ? [{ type: "exchange.created", id: found.id }, ...created] : created;
}

function fulfillmentTypeOf(
  { lines, delivery }: OrderAggregate,
  found: ReplacementContext["found"],
): OrderFulfillment["type"] {
  const isShipped = found.lines.some(
    ({ lineId }) => lines.find(({ id }) => id === lineId)?.requiresShipping === true,
  );
  if (!isShipped) return "digital";
  return delivery?.pickup === true ? "pickup" : "shipping";
}

/**
 * Cancels the fulfillment of the replacement if the return has ended. Does nothing if there is no such
 * fulfillment or if the replacement was already sent.
 */
export async function cancelReplacementFulfillment(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found }: ReplacementContext,
): Promise<OrderEvent[]> {
  return removeUnitsFromUnsentReplacement(transaction, context, { order, found, keep: [] });
}

export interface UnitsToKeepInUnsentReplacement extends ReplacementContext {
  /** The units that stay in the unsent replacement after the removal, by order line. */
  readonly keep: readonly OrderLineIdAndQuantity[];
}

/**
 * Removes units from a replacement that was not sent yet, and releases their stock. If no units remain,
 * cancels the fulfillment of the replacement.
 */
export async function removeUnitsFromUnsentReplacement(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found, keep }: UnitsToKeepInUnsentReplacement,
): Promise<OrderEvent[]> {
  const fulfillment = findReplacementFulfillment(order, found);
  if (fulfillment === undefined || !unsentStatuses.has(fulfillment.status)) return [];
  const kept = new Map(keep.map(({ lineId, quantity }) => [lineId, quantity]));
  const dropped = fulfillment.lines
    .map(({ lineId, quantity, unreserved = 0 }) =>
      toDropped({ lineId, quantity: quantity - (kept.get(lineId) ?? 0), unreserved }),
    )
    .filter(({ quantity }) => quantity > 0);
  if (dropped.length === 0) return [];
  const promised = dropped.map(({ lineId, quantity, unreserved }) => ({
    lineId,
    quantity: quantity - unreserved,
  }));
  await releaseStockOfOrder(
    transaction,
    context,
    toReleasedStock(fulfillment, replacementStock(order, found, promised)),
    order.number,
  );
  const isCanceled = [...kept.values()].every((quantity) => quantity === 0);
  await writeReduction(transaction, context, { fulfillment, dropped, isCanceled });
  return isCanceled
    ? [{ type: "fulfillment.canceled", id: fulfillment.id, previous: { status: fulfillment.status } }]
    : [];
}

interface DroppedLine extends OrderLineIdAndQuantity {
  /**
   * Number of removed units for which no stock was reserved. A removal takes units without reserved stock
   * first.
   */
  readonly unreserved: number;
}

const toDropped = ({ lineId, quantity, unreserved }: DroppedLine): DroppedLine => ({
  lineId,
  quantity,
  unreserved: Math.min(quantity, unreserved),
});

const unsentStatuses: ReadonlySet<FulfillmentStatus> = new Set(["pending", "packing", "ready_for_pickup"]);

/**
 * Returns the newest fulfillment that sends the replacement of a return. A return has several such
 * fulfillments if a replacement was lost in transit and sent again.
 */
export function findReplacementFulfillment(
  { fulfillments }: Pick<OrderAggregate, "fulfillments">,
  { id }: Pick<OrderReturn, "id">,
): OrderFulfillment | undefined {
  return fulfillments.findLast(({ returnId }) => returnId === id);
}

/** Returns true if a replacement for the return is in transit or was delivered. */
export function isReplacementSent(
  order: Pick<OrderAggregate, "fulfillments">,
  found: Pick<OrderReturn, "id">,
): boolean {
  return order.fulfillments.some(({ returnId, status }) => returnId === found.id && sentStatuses.has(status));
}

/**
 * Returns the stock that becomes free if units are removed from a replacement. Before packing, these are
 * reserved units (`waiting`). From packing on, these are units taken from the stock on hand (`allocated`).
 */
function toReleasedStock(
  { status }: OrderFulfillment,
  lines: ReturnType<typeof replacementStock>,
): { variantId: string; waiting: number; allocated: number }[] {
  return lines.map(({ variantId, quantity }) => ({
    variantId,
    waiting: status === "pending" ? quantity : 0,
    allocated: status === "pending" ? 0 : quantity,
  }));
}

function replacementStock(
  { lines }: OrderAggregate,
  { exchangeVariantId }: ReplacementContext["found"],
  quantities: readonly OrderLineIdAndQuantity[],
): { variantId: string; quantity: number }[] {
  return quantities.flatMap(({ lineId, quantity }) => {
    const variantId = exchangeVariantId ?? lines.find(({ id }) => id === lineId)?.variantId;
    return variantId === undefined ? [] : [{ variantId, quantity }];
  });
}

interface ReductionRows {
  readonly fulfillment: OrderFulfillment;
  readonly dropped: readonly DroppedLine[];
  readonly isCanceled: boolean;
}

/**
 * Saves the reduced or canceled fulfillment of a replacement. A canceled fulfillment keeps its lines, so that
 * readers see which units it would have sent.
 */
async function writeReduction(
  transaction: Transaction,
  { now }: OrderCommandContext,
  { fulfillment, dropped, isCanceled }: ReductionRows,
): Promise<void> {
  await transaction
    .updateTable("fulfillment")
    .set((row) => ({
      version: row("version", "+", 1),
      updatedAt: now,
      ...(isCanceled ? { status: "canceled" as const } : {}),
    }))
    .where("id", "=", fulfillment.id)
    .execute();
  for (const { lineId, quantity, unreserved } of isCanceled ? [] : dropped) {
    const line = transaction.updateTable("fulfillmentLine").set((row) => ({
      quantity: row("quantity", "-", quantity),
      unreserved: row("unreserved", "-", unreserved),
    }));
    await line.where("fulfillmentId", "=", fulfillment.id).where("orderLineId", "=", lineId).execute();
  }
}
