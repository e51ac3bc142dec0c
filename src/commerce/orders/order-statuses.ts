/**
 * Computes from the parts of an order what nobody sets: its statuses, what is still to be paid, and how many
 * units of a line are sent, lost, settled or waiting. Pure. Every save of an order calls `deriveStatuses`, so
 * a status never disagrees with the order's parts.
 */
import type {
  LineQuantity,
  OrderAggregate,
  OrderLine,
  OrderPayment,
  OrderReturn,
} from "./order-aggregate.ts";
import type {
  FulfillmentStatus,
  OrderFulfillmentStatus,
  OrderPaymentStatus,
  OrderReturnStatus,
  OrderStatus,
  ReturnStatus,
} from "./order-states.ts";

export interface DerivedStatuses {
  readonly status: OrderStatus;
  readonly paymentStatus: OrderPaymentStatus;
  readonly fulfillmentStatus: OrderFulfillmentStatus;
  readonly returnStatus: OrderReturnStatus;
}

type Parts = Pick<
  OrderAggregate,
  "status" | "totalMinor" | "reducedMinor" | "lines" | "fulfillments" | "payments" | "returns"
>;

export function deriveStatuses(order: Parts): DerivedStatuses {
  const paymentStatus = paymentStatusOf(order);
  const fulfillmentStatus = fulfillmentStatusOf(order);
  const returnStatus = returnStatusOf(order);
  return {
    status: statusOf(order, { paymentStatus, fulfillmentStatus, returnStatus }),
    paymentStatus,
    fulfillmentStatus,
    returnStatus,
  };
}

/** Captured and not given back. */
export function keptMinor({ payments }: Pick<Parts, "payments">): number {
  return payments.reduce((sum, { capturedMinor, refundedMinor }) => sum + capturedMinor - refundedMinor, 0);
}

/** Still to be paid; below zero: owed to the buyer. */
export function outstandingMinor(order: Pick<Parts, "totalMinor" | "reducedMinor" | "payments">): number {
  return order.totalMinor - order.reducedMinor - keptMinor(order);
}

/** Authorised, and neither captured nor let go. */
export function authorizedMinor({ amountMinor, capturedMinor, voidedMinor, status }: OrderPayment): number {
  return status === "pending" || status === "failed" || status === "canceled"
    ? 0
    : amountMinor - capturedMinor - voidedMinor;
}

/** Whether somebody has to send it, hand it out or give access to it. */
export function needsFulfillment({
  requiresShipping,
  restrictions,
}: Pick<OrderLine, "requiresShipping" | "restrictions">): boolean {
  return requiresShipping || restrictions.includes("digital") || restrictions.includes("gift_card");
}

/** Ordered and not canceled. */
export const wantedOf = ({ ordered, canceled }: Pick<OrderLine, "ordered" | "canceled">): number =>
  ordered - canceled;

function paymentStatusOf(order: Parts): OrderPaymentStatus {
  const { payments, totalMinor, reducedMinor } = order;
  const payment = payments.at(-1);
  if (payments.some(({ disputedAt }) => disputedAt !== null)) return "disputed";
  if (payment === undefined) return totalMinor === 0 ? "not_required" : "pending";
  const captured = payments.reduce((sum, { capturedMinor }) => sum + capturedMinor, 0);
  const refunded = payments.reduce((sum, { refundedMinor }) => sum + refundedMinor, 0);
  if (captured === 0) return uncaptured(payment);
  if (refunded > 0) return refunded === captured ? "refunded" : "partially_refunded";
  return captured >= totalMinor - reducedMinor ? "paid" : "partially_paid";
}

function uncaptured({ status }: OrderPayment): OrderPaymentStatus {
  if (status === "pending" || status === "failed") return status;
  return status === "canceled" ? "voided" : "authorized";
}

function fulfillmentStatusOf({ lines, fulfillments }: Parts): OrderFulfillmentStatus {
  const sent = lines.filter(needsFulfillment);
  if (sent.length === 0) return lines.every((line) => wantedOf(line) === 0) ? "canceled" : "not_required";
  const sum = (count: (line: OrderLine) => number): number =>
    sent.reduce((total, line) => total + count(line), 0);
  // What was paid back and got lost is neither waited for nor on its way.
  const settled = sum((line) => settledUnits({ fulfillments }, line));
  const wanted = sum(wantedOf) - settled;
  if (wanted === 0) return "canceled";
  const [shipped, delivered] = [sum((line) => line.shipped) - settled, sum((line) => line.delivered)];
  if (delivered === wanted) return "delivered";
  if (delivered > 0) return "partially_delivered";
  if (shipped === wanted) return "shipped";
  if (shipped > 0) return "partially_shipped";
  const underWay: ReadonlySet<string> = new Set(["pending", "packing", "ready_for_pickup"]);
  // What an exchange sends is nothing that was ordered.
  return fulfillments.some(({ status, returnId }) => returnId === null && underWay.has(status))
    ? "in_progress"
    : "unfulfilled";
}

const overReturnStatuses: ReadonlySet<ReturnStatus> = new Set(["declined", "closed", "canceled"]);

/** Neither declined, closed nor canceled. */
export const isOpenReturn = ({ status }: Pick<OrderReturn, "status">): boolean =>
  !overReturnStatuses.has(status);

function returnStatusOf({ lines, returns }: Parts): OrderReturnStatus {
  const open = returns.filter(isOpenReturn);
  if (open.length > 0)
    return open.every(({ status }) => status === "requested") ? "requested" : "in_progress";
  const returned = lines.reduce((sum, line) => sum + line.returned, 0);
  if (returned === 0) return "none";
  return returned === lines.reduce((sum, line) => sum + line.delivered, 0)
    ? "returned"
    : "partially_returned";
}

/** Completed: nothing left to send, and nothing owed. What is completed stays so, whatever comes back later. */
function statusOf(
  order: Parts,
  { paymentStatus, fulfillmentStatus, returnStatus }: Omit<DerivedStatuses, "status">,
): OrderStatus {
  if (order.status !== "confirmed") return order.status;
  const isFulfilled = ["delivered", "not_required", "canceled"].includes(fulfillmentStatus);
  // Of what was only authorized, or let go, nothing is taken where nothing is owed.
  const isPaid = !["pending", "failed", "disputed"].includes(paymentStatus) && outstandingMinor(order) <= 0;
  const isQuiet = returnStatus !== "requested" && returnStatus !== "in_progress";
  return isFulfilled && isPaid && isQuiet ? "completed" : "confirmed";
}

type Fulfilled = Pick<OrderAggregate, "fulfillments">;

export function unitsIn(fulfillments: OrderAggregate["fulfillments"], id: string): number {
  const lines = fulfillments
    .filter(({ returnId }) => returnId === null)
    .flatMap((fulfillment) => fulfillment.lines);
  return lines.reduce((sum, { lineId, quantity }) => (lineId === id ? sum + quantity : sum), 0);
}

const underwayStatuses: ReadonlySet<FulfillmentStatus> = new Set([
  "shipped",
  "in_transit",
  "out_for_delivery",
]);
export const sentStatuses: ReadonlySet<FulfillmentStatus> = new Set([...underwayStatuses, "delivered"]);
const lostStatuses: ReadonlySet<FulfillmentStatus> = new Set(["failed", "returned_to_sender"]);

function unitsAt(
  { fulfillments }: Fulfilled,
  { id }: OrderLine,
  statuses: ReadonlySet<FulfillmentStatus>,
): number {
  return unitsIn(
    fulfillments.filter(({ status }) => statuses.has(status)),
    id,
  );
}

/** Paid back before they got lost or came back: they stay counted as sent, and nothing goes in their place. */
export function settledUnits(order: Fulfilled, line: OrderLine): number {
  if (line.refunded === 0) return 0;
  return Math.max(
    0,
    Math.min(
      line.refunded,
      unitsAt(order, line, lostStatuses),
      line.shipped - unitsAt(order, line, sentStatuses),
    ),
  );
}

type Refunded = Pick<OrderAggregate, "fulfillments" | "refunds" | "returns">;

/**
 * Paid back though they never arrived, as far as they are not settled: those that are told not to have been
 * received, and those beyond what arrived.
 */
export function refundedUndelivered(order: Refunded, line: OrderLine): number {
  if (line.refunded === 0) return 0;
  const missed = Math.min(line.refunded, missedUnits(order, line));
  return Math.max(0, Math.max(missed, line.refunded - line.delivered) - settledUnits(order, line));
}

function missedUnits({ refunds, returns }: Refunded, { id }: OrderLine): number {
  const told = [
    ...refunds.filter(({ reason }) => reason === "not_received"),
    ...returns.filter(
      ({ kind, reason, status }) =>
        kind === "refund_only" && reason === "not_received" && status === "closed",
    ),
  ];
  return told
    .flatMap(({ lines }): readonly LineQuantity[] => lines)
    .reduce((sum, { lineId, quantity }) => (lineId === id ? sum + quantity : sum), 0);
}

/**
 * Of those that wait to be sent, and are in no fulfillment, what is not to be sent: it was paid back, and is
 * not on its way either.
 */
export function unsendableUnits(order: Refunded, line: OrderLine): number {
  return (
    settledUnits(order, line) +
    Math.max(0, refundedUndelivered(order, line) - unitsAt(order, line, underwayStatuses))
  );
}

/** In place of lost ones, with nothing promised for them. */
export function unreservedUnits({ fulfillments }: Fulfilled, id: string): number {
  const lines = fulfillments
    .filter(({ returnId }) => returnId === null)
    .flatMap((fulfillment) => fulfillment.lines);
  return lines.reduce((sum, { lineId, unreserved = 0 }) => (lineId === id ? sum + unreserved : sum), 0);
}

/** Services, and digital things that nobody has given out yet: ordered, not sent, and not paid back. */
export function unsentIntangibles(line: OrderLine): number {
  if (line.requiresShipping) return 0;
  return Math.max(0, wantedOf(line) - line.shipped - Math.max(0, line.refunded - line.shipped));
}
