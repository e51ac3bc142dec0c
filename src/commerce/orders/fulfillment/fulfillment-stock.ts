/**
 * What a move of a fulfillment changes in the units of the order's lines, in the stock, and in the units that
 * nothing is reserved for. From packing on, its units were taken from what is on hand. What an exchange sends
 * has stock of its own, and the order's lines count nothing of it.
 */
import { sql } from "kysely";
import {
  allocateStock,
  releaseOrderStock,
  reserveAvailableStock,
  restockReturnedUnits,
} from "#commerce/inventory/order-stock.ts";
import type { StockShortage } from "#commerce/inventory/stock-holds.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import type { OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import { refuseOrder } from "#commerce/orders/order-checks.ts";
import {
  refundedUndelivered,
  settledUnits,
  unitsIn,
  unreservedUnits,
  wantedOf,
} from "#commerce/orders/order-statuses.ts";
import { insertFulfillment } from "./create-fulfillment.ts";
import type {
  FulfillmentLine,
  LineQuantity,
  OrderAggregate,
  OrderFulfillment,
  OrderLine,
} from "#commerce/orders/order-aggregate.ts";
import type { FulfillmentStatus } from "#commerce/orders/order-states.ts";

export interface Moved {
  readonly order: OrderAggregate;
  readonly fulfillment: OrderFulfillment;
}

/** Each of the units counts so much more, or less. */
export interface UnitChange {
  readonly allocated?: number;
  readonly shipped?: number;
  readonly delivered?: number;
}

/** All units of the fulfillment, unless told. */
export async function countUnits(
  transaction: Transaction,
  {
    fulfillment,
    lines = fulfillment.lines,
  }: Pick<Moved, "fulfillment"> & { readonly lines?: readonly LineQuantity[] },
  { allocated = 0, shipped = 0, delivered = 0 }: UnitChange,
): Promise<void> {
  if (fulfillment.returnId !== null || lines.length === 0) return;
  await sql`
    update order_line l set allocated = l.allocated + ${allocated}::int * f.quantity, shipped = l.shipped + ${shipped}::int * f.quantity,
      delivered = l.delivered + ${delivered}::int * f.quantity
    from unnest(${lines.map(({ lineId }) => lineId)}::text[], ${lines.map(({ quantity }) => quantity)}::int[]) as f(line_id, quantity)
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

/** Takes from the stock what of it still waits; refused where that is not on hand. */
export async function takeUnits(
  transaction: Transaction,
  context: OrderCommandContext,
  moved: Moved,
): Promise<void> {
  const { order, fulfillment } = moved;
  if (taken.has(fulfillment.status)) return;
  const waiting = fulfillment.returnId === null ? waitingUnits(moved) : replacementUnits(moved);
  if (waiting.length === 0) return;
  requireStock(order, await reserveAvailableStock(transaction, context, unreservedOf(waiting)));
  requireStock(order, await allocateStock(transaction, context, waiting, order.number));
  await dropUnreserved(transaction, { order, returnId: fulfillment.returnId, lines: unreservedOf(waiting) });
  await countUnits(transaction, { fulfillment, lines: waiting }, { allocated: 1 });
}

interface WaitingUnits extends LineQuantity {
  readonly variantId: string;
  /** Of them, those that nothing is promised for yet. */
  readonly unreserved: number;
}

function unreservedOf(waiting: readonly WaitingUnits[]): WaitingUnits[] {
  return waiting
    .filter(({ unreserved }) => unreserved > 0)
    .map(({ lineId, variantId, unreserved }) => ({ lineId, variantId, quantity: unreserved, unreserved }));
}

/**
 * Of the fulfillment's units, those for which the line has none to spare of what was taken for it; what is
 * promised goes first.
 */
function waitingUnits({ order, fulfillment }: Moved): WaitingUnits[] {
  const others = order.fulfillments.filter(({ id, status }) => id !== fulfillment.id && taken.has(status));
  return fulfillment.lines.flatMap(({ lineId, quantity }) => {
    const line = lineOf(order, lineId);
    const missing =
      quantity - Math.max(0, line.allocated - settledUnits(order, line) - unitsIn(others, lineId));
    const promised = wantedOf(line) - line.allocated - unreservedUnits(order, lineId);
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
 * The goods are gone: others are promised in their place as far as there are any, so that they can be sent
 * again. That they got lost is a fact.
 */
export async function replaceLost(
  transaction: Transaction,
  context: OrderCommandContext,
  moved: Moved,
): Promise<OrderEvent[]> {
  const { fulfillment } = moved;
  if (fulfillment.returnId !== null) return sendAgain(transaction, context, moved);
  const { again } = splitLost(moved);
  await countUnits(transaction, { fulfillment, lines: again }, { shipped: -1, allocated: -1 });
  await markUnreserved(
    transaction,
    fulfillment.id,
    missingOf(again, await reserveAvailableStock(transaction, context, again)),
  );
  return [];
}

/**
 * The goods are here again: what was paid back can be sold, the rest waits for the next fulfillment; that of
 * an exchange is made at once.
 */
export async function takeBack(
  transaction: Transaction,
  context: OrderCommandContext,
  moved: Moved,
): Promise<OrderEvent[]> {
  const { order, fulfillment } = moved;
  if (fulfillment.returnId === null) {
    const { again, settled } = splitLost(moved);
    await countUnits(transaction, { fulfillment, lines: again }, { shipped: -1 });
    await restockReturnedUnits(transaction, context, settled, order.number);
    return [];
  }
  const back = replacementUnits(moved).map(({ variantId, quantity }) => ({
    variantId,
    waiting: 0,
    allocated: quantity,
  }));
  await releaseOrderStock(transaction, context, back, order.number);
  return sendAgain(transaction, context, moved);
}

type LostUnits = LineQuantity & { readonly variantId: string };

/** What is to be sent again, and what its buyer has the money back for. */
function splitLost({ order, fulfillment }: Moved): {
  readonly again: readonly LostUnits[];
  readonly settled: readonly LostUnits[];
} {
  const parts = fulfillment.lines.map(({ lineId, quantity }) => {
    const line = lineOf(order, lineId);
    const settled = Math.min(quantity, refundedUndelivered(order, line));
    return { lineId, variantId: line.variantId, settled, again: quantity - settled };
  });
  const of = (name: "settled" | "again"): LostUnits[] =>
    parts
      .map(({ lineId, variantId, [name]: quantity }) => ({ lineId, variantId, quantity }))
      .filter(({ quantity }) => quantity > 0);
  return { again: of("again"), settled: of("settled") };
}

/** Line by line, for as long as anything is missing of their variant. */
function missingOf(lines: readonly LostUnits[], shortages: readonly StockShortage[]): LineQuantity[] {
  const missing = new Map(
    shortages.map(({ variantId, wanted, available }) => [variantId, wanted - available]),
  );
  return lines.map(({ lineId, variantId, quantity }) => {
    const here = Math.min(quantity, missing.get(variantId) ?? 0);
    missing.set(variantId, (missing.get(variantId) ?? 0) - here);
    return { lineId, quantity: here };
  });
}

/** Nobody but its return makes the fulfillment of an exchange: one that did not arrive is followed by another. */
async function sendAgain(
  transaction: Transaction,
  context: OrderCommandContext,
  moved: Moved,
): Promise<OrderEvent[]> {
  const { order, fulfillment } = moved;
  const { returnId, type, carrier } = fulfillment;
  const units = replacementUnits(moved);
  const missing = new Map(
    missingOf(units, await reserveAvailableStock(transaction, context, units)).map(({ lineId, quantity }) => [
      lineId,
      quantity,
    ]),
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

/** What an exchange sends: the variant chosen, or the same again. */
function replacementUnits({ order, fulfillment }: Moved): WaitingUnits[] {
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
  const message = "There is not enough of it in stock.";
  throw refuseOrder("invalid_state", order, { reason: "insufficient_stock", data: { shortages }, message });
}

/**
 * Records units that nothing is reserved for: lost units with the fulfillment that lost them, units of an
 * exchange with its next fulfillment.
 */
async function markUnreserved(
  transaction: Transaction,
  fulfillmentId: string,
  lines: readonly LineQuantity[],
): Promise<void> {
  const missing = lines.filter(({ quantity }) => quantity > 0);
  if (missing.length === 0) return;
  await sql`
    update fulfillment_line f set unreserved = m.quantity
    from unnest(${missing.map(({ lineId }) => lineId)}::text[], ${missing.map(({ quantity }) => quantity)}::int[]) as m(line_id, quantity)
    where f.fulfillment_id = ${fulfillmentId} and f.order_line_id = m.line_id`.execute(transaction);
}

interface DroppedUnits {
  readonly order: Pick<OrderAggregate, "fulfillments">;
  /** Of what was ordered, or of this exchange. */
  readonly returnId: string | null;
  readonly lines: readonly LineQuantity[];
}

/** They are promised by now, or given up; those that were lost first go first. */
export async function dropUnreserved(
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
