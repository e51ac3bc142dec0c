/**
 * Updates the stock and the order lines when the status of a fulfillment changes. Packing takes the units of
 * a fulfillment from the stock on hand; they are then called allocated. Lost units are recorded as unreserved
 * if no stock could be reserved to send them again. Fulfillments of an exchange have their own stock and do
 * not change the unit counts of order lines.
 */
import { sql } from "kysely";
import {
  takeReservedUnitsFromStock,
  releaseStockOfOrder,
  reserveAvailableStockForOrder,
  restockReturnedUnits,
} from "#commerce/inventory/order-stock.ts";
import type { StockShortage } from "#commerce/inventory/stock-holds.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import type { OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import { createOrderConflictFailure } from "#commerce/orders/order-checks.ts";
import {
  countRefundedUndeliveredUnits,
  countUnitsRefundedBeforeLoss,
  countUnitsInNonReplacementFulfillments,
  countLostUnitsWithoutReservedStock,
  getUncanceledQuantity,
} from "#commerce/orders/order-statuses.ts";
import { insertFulfillment } from "./create-fulfillment.ts";
import type {
  FulfillmentLine,
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderFulfillment,
  OrderLine,
} from "#commerce/orders/order-aggregate.ts";
import type { FulfillmentStatus } from "#commerce/orders/order-states.ts";

export interface OrderAndFulfillment {
  readonly order: OrderAggregate;
  readonly fulfillment: OrderFulfillment;
}

/**
 * How the unit counts of an order line (allocated, shipped, delivered) change for each unit of a fulfillment:
 * by 1, -1 or 0.
 */
export interface OrderLineFulfillmentCountDeltas {
  readonly allocated?: number;
  readonly shipped?: number;
  readonly delivered?: number;
}

/**
 * Changes the numbers of allocated, shipped and delivered units of order lines. The change applies to the
 * units in `lines`; if `lines` is left out, to all units of the fulfillment.
 */
export async function applyOrderLineFulfillmentCountDeltas(
  transaction: Transaction,
  {
    fulfillment,
    lines = fulfillment.lines,
  }: Pick<OrderAndFulfillment, "fulfillment"> & { readonly lines?: readonly OrderLineIdAndQuantity[] },
  { allocated = 0, shipped = 0, delivered = 0 }: OrderLineFulfillmentCountDeltas,
): Promise<void> {
  if (fulfillment.returnId !== null || lines.length === 0) return;
  await sql`
    update order_line l set allocated = l.allocated + ${allocated}::int * f.quantity, shipped = l.shipped +
    ${shipped}::int * f.quantity,
      delivered = l.delivered + ${delivered}::int * f.quantity
    from unnest(${lines.map(({ lineId }) => lineId)}::text[], ${lines.map(({ quantity }) => quantity)}::int[])
    as f(line_id, quantity)
    where l.id = f.line_id`.execute(transaction);
}

const taken: ReadonlySet<FulfillmentStatus> = new Set([
  "packing",
  "ready_for_pickup",
  "shipped",
  "in_transit",
  "out_for_delivery",
  "delivered",
]);

/**
 * Takes the units of a fulfillment from the stock on hand. Skips units that were already taken from the stock
 * for this order, for example for an earlier fulfillment that was canceled. Throws if the stock is too low.
 */
export async function takeFulfillmentUnitsFromStock(
  transaction: Transaction,
  context: OrderCommandContext,
  change: OrderAndFulfillment,
): Promise<void> {
  const { order, fulfillment } = change;
  if (taken.has(fulfillment.status)) return;
  const waiting = fulfillment.returnId === null ? waitingUnits(change) : replacementUnits(change);
  if (waiting.length === 0) return;
  requireStock(order, await reserveAvailableStockForOrder(transaction, context, unreservedOf(waiting)));
  requireStock(order, await takeReservedUnitsFromStock(transaction, context, waiting, order.number));
  await decreaseUnreservedUnitsOfFulfillments(transaction, {
    order,
    returnId: fulfillment.returnId,
    lines: unreservedOf(waiting),
  });
  await applyOrderLineFulfillmentCountDeltas(transaction, { fulfillment, lines: waiting }, { allocated: 1 });
}

interface WaitingUnits extends OrderLineIdAndQuantity {
  readonly variantId: string;
  /** Number of the `quantity` units for which no stock is reserved. */
  readonly unreserved: number;
}

function unreservedOf(waiting: readonly WaitingUnits[]): WaitingUnits[] {
  return waiting
    .filter(({ unreserved }) => unreserved > 0)
    .map(({ lineId, variantId, unreserved }) => ({ lineId, variantId, quantity: unreserved, unreserved }));
}

/**
 * Returns the units of a fulfillment that are not allocated to the order yet and must be taken from the stock
 * on hand. `unreserved` is the number of these units for which the order has reserved no stock.
 */
function waitingUnits({ order, fulfillment }: OrderAndFulfillment): WaitingUnits[] {
  const others = order.fulfillments.filter(({ id, status }) => id !== fulfillment.id && taken.has(status));
  return fulfillment.lines.flatMap(({ lineId, quantity }) => {
    const line = lineOf(order, lineId);
    const missing =
      quantity -
      Math.max(
        0,
        line.allocated -
          countUnitsRefundedBeforeLoss(order, line) -
          countUnitsInNonReplacementFulfillments(others, lineId),
      );
    const promised =
      getUncanceledQuantity(line) - line.allocated - countLostUnitsWithoutReservedStock(order, lineId);
    return missing <= 0
      ? []
      : [
          {
            lineId,
            variantId: line.variantId,
            quantity: missing,
            unreserved: Math.max(0, missing - promised),
          },
        ];
  });
}

/**
 * Reserves stock to send lost units again, as far as stock is available. If too little stock is available,
 * records the other units as unreserved. The fulfillment can therefore become `failed` even if stock is
 * missing.
 */
export async function reserveStockToResendLostUnits(
  transaction: Transaction,
  context: OrderCommandContext,
  change: OrderAndFulfillment,
): Promise<OrderEvent[]> {
  const { fulfillment } = change;
  if (fulfillment.returnId !== null) return createReplacementFulfillment(transaction, context, change);
  const { again } = splitLost(change);
  await applyOrderLineFulfillmentCountDeltas(
    transaction,
    { fulfillment, lines: again },
    { shipped: -1, allocated: -1 },
  );
  await markUnreserved(
    transaction,
    fulfillment.id,
    missingOf(again, await reserveAvailableStockForOrder(transaction, context, again)),
  );
  return [];
}

/**
 * Updates the stock when a fulfillment came back to the sender. Its refunded units are added to the stock on
 * hand, and its other units can be sent with another fulfillment. For replacements of an exchange, creates
 * the next fulfillment at once.
 */
export async function updateStockForUnitsReturnedToSender(
  transaction: Transaction,
  context: OrderCommandContext,
  change: OrderAndFulfillment,
): Promise<OrderEvent[]> {
  const { order, fulfillment } = change;
  if (fulfillment.returnId === null) {
    const { again, settled } = splitLost(change);
    await applyOrderLineFulfillmentCountDeltas(transaction, { fulfillment, lines: again }, { shipped: -1 });
    await restockReturnedUnits(transaction, context, settled, order.number);
    return [];
  }
  const back = replacementUnits(change).map(({ variantId, quantity }) => ({
    variantId,
    waiting: 0,
    allocated: quantity,
  }));
  await releaseStockOfOrder(transaction, context, back, order.number);
  return createReplacementFulfillment(transaction, context, change);
}

type LostUnits = OrderLineIdAndQuantity & { readonly variantId: string };

/** Divides the units of a lost fulfillment into units that must be sent again and units that were refunded. */
function splitLost({ order, fulfillment }: OrderAndFulfillment): {
  readonly again: readonly LostUnits[];
  readonly settled: readonly LostUnits[];
} {
  const parts = fulfillment.lines.map(({ lineId, quantity }) => {
    const line = lineOf(order, lineId);
    const settled = Math.min(quantity, countRefundedUndeliveredUnits(order, line));
    return { lineId, variantId: line.variantId, settled, again: quantity - settled };
  });
  const of = (name: "settled" | "again"): LostUnits[] =>
    parts
      .map(({ lineId, variantId, [name]: quantity }) => ({ lineId, variantId, quantity }))
      .filter(({ quantity }) => quantity > 0);
  return { again: of("again"), settled: of("settled") };
}

/**
 * Distributes the units of each variant for which stock is missing over the lost units, to earlier lines
 * first. Returns, for each line, the number of units without stock.
 */
function missingOf(
  lines: readonly LostUnits[],
  shortages: readonly StockShortage[],
): OrderLineIdAndQuantity[] {
  const missing = new Map(
    shortages.map(({ variantId, wanted, available }) => [variantId, wanted - available]),
  );
  return lines.map(({ lineId, variantId, quantity }) => {
    const here = Math.min(quantity, missing.get(variantId) ?? 0);
    missing.set(variantId, (missing.get(variantId) ?? 0) - here);
    return { lineId, quantity: here };
  });
}

/**
 * Creates another fulfillment for an exchange whose parcel did not reach the buyer, because staff cannot
 * create fulfillments of exchanges themselves.
 */
async function createReplacementFulfillment(
  transaction: Transaction,
  context: OrderCommandContext,
  change: OrderAndFulfillment,
): Promise<OrderEvent[]> {
  const { order, fulfillment } = change;
  const { returnId, type, carrier } = fulfillment;
  const units = replacementUnits(change);
  const missing = new Map(
    missingOf(units, await reserveAvailableStockForOrder(transaction, context, units)).map(
      ({ lineId, quantity }) => [lineId, quantity],
    ),
  );
  const lines: FulfillmentLine[] = units.map(({ lineId, quantity }) => ({
    lineId,
    quantity,
    unreserved: missing.get(lineId) ?? 0,
  }));
  const id = createId("fulfillment", context.now.getTime());
  await insertFulfillment(transaction, context, { id, orderId: order.id, returnId, type, carrier, lines });
  return [{ type: "fulfillment.created", id }];
}

/**
 * Returns the units that the fulfillment of an exchange or replacement sends. These are units of the variant
 * that the buyer chose; without a choice, of the ordered variant.
 */
function replacementUnits({ order, fulfillment }: OrderAndFulfillment): WaitingUnits[] {
  const chosen = order.returns.find(({ id }) => id === fulfillment.returnId)?.exchangeVariantId ?? null;
  return fulfillment.lines.map(({ lineId, quantity, unreserved = 0 }) => ({
    lineId,
    variantId: chosen ?? lineOf(order, lineId).variantId,
    quantity,
    unreserved,
  }));
}

function lineOf({ id, lines }: OrderAggregate, lineId: string): OrderLine {
  const line = lines.find((candidate) => candidate.id === lineId);
  if (line === undefined) throw new Error(`Order ${id} has no line ${lineId}.`);
  return line;
}

function requireStock(order: OrderAggregate, shortages: readonly StockShortage[]): void {
  if (shortages.length === 0) return;
  const message = "The stock is too low for this fulfillment.";
  const details = { reason: "insufficient_stock", data: { shortages }, message };
  throw createOrderConflictFailure("invalid_state", order, details);
}

/**
 * Records, for each line of a lost fulfillment, how many of its units have no reserved stock for another
 * shipment.
 */
async function markUnreserved(
  transaction: Transaction,
  fulfillmentId: string,
  lines: readonly OrderLineIdAndQuantity[],
): Promise<void> {
  const missing = lines.filter(({ quantity }) => quantity > 0);
  if (missing.length === 0) return;
  await sql`
    update fulfillment_line f set unreserved = m.quantity
    from unnest(${missing.map(({ lineId }) => lineId)}::text[],
    ${missing.map(({ quantity }) => quantity)}::int[]) as m(line_id, quantity)
    where f.fulfillment_id = ${fulfillmentId} and f.order_line_id = m.line_id`.execute(transaction);
}

interface DroppedUnits {
  readonly order: Pick<OrderAggregate, "fulfillments">;
  /**
   * The id of the return if the units belong to an exchange or replacement; null for units of the original
   * order.
   */
  readonly returnId: string | null;
  readonly lines: readonly OrderLineIdAndQuantity[];
}

/**
 * Reduces the recorded numbers of units without reserved stock, because stock has now been reserved for these
 * units or they were canceled. Reduces the numbers of older fulfillments first.
 */
export async function decreaseUnreservedUnitsOfFulfillments(
  transaction: Transaction,
  { order, returnId, lines }: DroppedUnits,
): Promise<void> {
  const left = new Map(lines.map(({ lineId, quantity }) => [lineId, quantity]));
  for (const fulfillment of order.fulfillments.filter((found) => found.returnId === returnId)) {
    for (const { lineId, unreserved = 0 } of fulfillment.lines) {
      const dropped = Math.min(unreserved, left.get(lineId) ?? 0);
      if (dropped === 0) continue;
      left.set(lineId, (left.get(lineId) ?? 0) - dropped);
      const line = transaction
        .updateTable("fulfillmentLine")
        .set((row) => ({ unreserved: row("unreserved", "-", dropped) }));
      await line.where("fulfillmentId", "=", fulfillment.id).where("orderLineId", "=", lineId).execute();
    }
  }
}
