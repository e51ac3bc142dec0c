/**
 * Where the units of an order's line are that were put into fulfillments, and which are not to be sent any more because their buyer has the money
 * back. What an exchange sends is nothing that was ordered, and counts nowhere here. Pure.
 */
import type { LineQuantity, OrderAggregate, OrderLine } from "./order-aggregate.ts";
import type { FulfillmentStatus } from "./order-words.ts";

type Fulfilled = Pick<OrderAggregate, "fulfillments">;

export function unitsIn(fulfillments: OrderAggregate["fulfillments"], id: string): number {
  const lines = fulfillments.filter(({ returnId }) => returnId === null).flatMap((fulfillment) => fulfillment.lines);
  return lines.reduce((sum, { lineId, quantity }) => (lineId === id ? sum + quantity : sum), 0);
}

const onTheWay: ReadonlySet<FulfillmentStatus> = new Set(["shipped", "in_transit", "out_for_delivery"]);
const sent: ReadonlySet<FulfillmentStatus> = new Set([...onTheWay, "delivered"]);
const lost: ReadonlySet<FulfillmentStatus> = new Set(["failed", "returned_to_sender"]);

function unitsAt({ fulfillments }: Fulfilled, { id }: OrderLine, statuses: ReadonlySet<FulfillmentStatus>): number {
  return unitsIn(
    fulfillments.filter(({ status }) => statuses.has(status)),
    id,
  );
}

/** Paid back before they got lost or came back: they stay counted as sent, and nothing goes in their place. */
export function settledUnits(order: Fulfilled, line: OrderLine): number {
  if (line.refunded === 0) return 0;
  return Math.max(0, Math.min(line.refunded, unitsAt(order, line, lost), line.shipped - unitsAt(order, line, sent)));
}

type Refunded = Pick<OrderAggregate, "fulfillments" | "refunds" | "returns">;

/** Paid back though they never arrived, as far as they are not settled: those that are told not to have been received, and those beyond what arrived. */
export function refundedUndelivered(order: Refunded, line: OrderLine): number {
  if (line.refunded === 0) return 0;
  const missed = Math.min(line.refunded, missedUnits(order, line));
  return Math.max(0, Math.max(missed, line.refunded - line.delivered) - settledUnits(order, line));
}

function missedUnits({ refunds, returns }: Refunded, { id }: OrderLine): number {
  const told = [
    ...refunds.filter(({ reason }) => reason === "not_received"),
    ...returns.filter(({ kind, reason, status }) => kind === "refund_only" && reason === "not_received" && status === "closed"),
  ];
  return told.flatMap(({ lines }): readonly LineQuantity[] => lines).reduce((sum, { lineId, quantity }) => (lineId === id ? sum + quantity : sum), 0);
}

/** Of those that wait to be sent, and are in no fulfillment, what is not to be sent: it was paid back, and is not on its way either. */
export function unsendableUnits(order: Refunded, line: OrderLine): number {
  return settledUnits(order, line) + Math.max(0, refundedUndelivered(order, line) - unitsAt(order, line, onTheWay));
}

/** In place of lost ones, with nothing promised for them. */
export function unreservedUnits({ fulfillments }: Fulfilled, id: string): number {
  const lines = fulfillments.filter(({ returnId }) => returnId === null).flatMap((fulfillment) => fulfillment.lines);
  return lines.reduce((sum, { lineId, unreserved = 0 }) => (lineId === id ? sum + unreserved : sum), 0);
}
