/**
 * What is sent for what comes back: a fulfillment of its own beside the return, with stock kept back from the
 * moment the return is approved. It is no part of what was ordered, so the order's lines count nothing of it.
 * Sent once the thing is there; whatever of it is refused then is not sent.
 */
import { releaseOrderStock, reserveStock } from "#commerce/inventory/stock-holds.ts";
import type { OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import { refuseOrder } from "#commerce/orders/order-checks.ts";
import type {
  LineQuantity,
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
    readonly lines: readonly LineQuantity[];
  };
}

export const sendsReplacement = ({ kind }: Pick<OrderReturn, "kind">): boolean =>
  kind === "exchange" || kind === "replacement";

/**
 * Repaired or replaced, the buyer has what was bought, with all that holds for it: nothing of the line was
 * returned.
 */
export const isRepairOrReplacement = ({ kind }: Pick<OrderReturn, "kind">): boolean =>
  kind === "repair" || kind === "replacement";

/** Refused where nothing is left to send: what was promised to somebody else is not promised again. */
export async function createReplacementFulfillment(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found }: ReplacementContext,
): Promise<OrderEvent[]> {
  const lines = replacementStock(order, found, found.lines);
  const shortages = await reserveStock(transaction, context, lines);
  if (shortages.length > 0)
    throw refuseOrder("invalid_state", order, { reason: "exchange_out_of_stock", data: { shortages } });
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

/** The return will not be. Nothing where nothing is to be sent, or it has left. */
export async function cancelReplacementFulfillment(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found }: ReplacementContext,
): Promise<OrderEvent[]> {
  return reduceReplacement(transaction, context, { order, found, keep: [] });
}

export interface ReplacementReduction extends ReplacementContext {
  /** What shall still be sent, by the order's lines. */
  readonly keep: readonly LineQuantity[];
}

/** Sends less, or nothing, of what has not left yet, and gives the stock of the rest back. */
export async function reduceReplacement(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found, keep }: ReplacementReduction,
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
  await releaseOrderStock(
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

interface DroppedLine extends LineQuantity {
  /** Of them, those that nothing was promised for; these go first. */
  readonly unreserved: number;
}

const toDropped = ({ lineId, quantity, unreserved }: DroppedLine): DroppedLine => ({
  lineId,
  quantity,
  unreserved: Math.min(quantity, unreserved),
});

const unsentStatuses: ReadonlySet<FulfillmentStatus> = new Set(["pending", "packing", "ready_for_pickup"]);

/** The newest: one that was lost on its way may have been followed by another. */
export function findReplacementFulfillment(
  { fulfillments }: Pick<OrderAggregate, "fulfillments">,
  { id }: Pick<OrderReturn, "id">,
): OrderFulfillment | undefined {
  return fulfillments.findLast(({ returnId }) => returnId === id);
}

/** Whether what is given for the thing is on its way, or there. */
export function isReplacementSent(
  order: Pick<OrderAggregate, "fulfillments">,
  found: Pick<OrderReturn, "id">,
): boolean {
  return order.fulfillments.some(({ returnId, status }) => returnId === found.id && sentStatuses.has(status));
}

/** Until it is packed its units are only reserved; from then on they were taken from what is on hand. */
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
  quantities: readonly LineQuantity[],
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

/** A fulfillment that is canceled still tells what it was to send. */
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
