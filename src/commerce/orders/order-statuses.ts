/**
 * Computes values of an order from its parts: the statuses, the outstanding amount, and for each line the
 * numbers of sent, lost, refunded and waiting units. Pure. Every save of an order calls
 * `deriveOrderStatuses`, so the statuses always match the parts.
 */
import type {
  OrderLineIdAndQuantity,
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

export interface DerivedOrderStatuses {
  readonly status: OrderStatus;
  readonly paymentStatus: OrderPaymentStatus;
  readonly fulfillmentStatus: OrderFulfillmentStatus;
  readonly returnStatus: OrderReturnStatus;
}

type StatusInputs = Pick<
  OrderAggregate,
  "status" | "totalMinor" | "reducedMinor" | "lines" | "fulfillments" | "payments" | "returns"
>;

export function deriveOrderStatuses(order: StatusInputs): DerivedOrderStatuses {
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

/** Returns the captured amount of all payments of an order minus their refunded amount, in minor units. */
export function computeNetCapturedAmountMinor({ payments }: Pick<StatusInputs, "payments">): number {
  return payments.reduce((sum, { capturedMinor, refundedMinor }) => sum + capturedMinor - refundedMinor, 0);
}

/**
 * Returns the amount that the buyer still owes for the order, in minor units; negative if the merchant owes
 * the buyer.
 */
export function computeOutstandingAmountMinor(
  order: Pick<StatusInputs, "totalMinor" | "reducedMinor" | "payments">,
): number {
  return order.totalMinor - order.reducedMinor - computeNetCapturedAmountMinor(order);
}

/** Returns the part of a payment's authorized amount that was neither captured nor voided. */
export function computeRemainingAuthorizedAmountMinor({
  amountMinor,
  capturedMinor,
  voidedMinor,
  status,
}: OrderPayment): number {
  return status === "pending" || status === "failed" || status === "canceled"
    ? 0
    : amountMinor - capturedMinor - voidedMinor;
}

/** Returns true if the units of the order line must be shipped, handed over or made accessible to the buyer. */
export function isFulfillmentNeededForLine({
  requiresShipping,
  restrictions,
}: Pick<OrderLine, "requiresShipping" | "restrictions">): boolean {
  return requiresShipping || restrictions.includes("digital") || restrictions.includes("gift_card");
}

/** Returns the number of units of an order line that were ordered and not canceled. */
export const getUncanceledQuantity = ({
  ordered,
  canceled,
}: Pick<OrderLine, "ordered" | "canceled">): number => ordered - canceled;

function paymentStatusOf(order: StatusInputs): OrderPaymentStatus {
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

function fulfillmentStatusOf({ lines, fulfillments }: StatusInputs): OrderFulfillmentStatus {
  const sent = lines.filter(isFulfillmentNeededForLine);
  if (sent.length === 0)
    return lines.every((line) => getUncanceledQuantity(line) === 0) ? "canceled" : "not_required";
  const sum = (count: (line: OrderLine) => number): number =>
    sent.reduce((total, line) => total + count(line), 0);
  // Units that were refunded and then lost are neither waiting for shipment nor in transit. They are
  // therefore subtracted from the units to be sent and from the shipped units.
  const settled = sum((line) => countUnitsRefundedBeforeLoss({ fulfillments }, line));
  const wanted = sum(getUncanceledQuantity) - settled;
  if (wanted === 0) return "canceled";
  const [shipped, delivered] = [sum((line) => line.shipped) - settled, sum((line) => line.delivered)];
  if (delivered === wanted) return "delivered";
  if (delivered > 0) return "partially_delivered";
  if (shipped === wanted) return "shipped";
  if (shipped > 0) return "partially_shipped";
  const underWay: ReadonlySet<string> = new Set(["pending", "packing", "ready_for_pickup"]);
  // Fulfillments of returns are left out, because they send the items of an exchange or replacement, not
  // ordered units.
  return fulfillments.some(({ status, returnId }) => returnId === null && underWay.has(status))
    ? "in_progress"
    : "unfulfilled";
}

const overReturnStatuses: ReadonlySet<ReturnStatus> = new Set(["declined", "closed", "canceled"]);

/** Returns true if the return is open: not declined, closed or canceled. */
export const isOpenReturn = ({ status }: Pick<OrderReturn, "status">): boolean =>
  !overReturnStatuses.has(status);

function returnStatusOf({ lines, returns }: StatusInputs): OrderReturnStatus {
  const open = returns.filter(isOpenReturn);
  if (open.length > 0)
    return open.every(({ status }) => status === "requested") ? "requested" : "in_progress";
  const returned = lines.reduce((sum, line) => sum + line.returned, 0);
  if (returned === 0) return "none";
  return returned === lines.reduce((sum, line) => sum + line.delivered, 0)
    ? "returned"
    : "partially_returned";
}

/**
 * Computes the status of an order. A confirmed order becomes completed under three conditions. All units that
 * need delivery are delivered. The buyer owes nothing, and the payment status is not pending, failed or
 * disputed. No return is open. A completed order stays completed, even if units are returned later.
 */
function statusOf(
  order: StatusInputs,
  { paymentStatus, fulfillmentStatus, returnStatus }: Omit<DerivedOrderStatuses, "status">,
): OrderStatus {
  if (order.status !== "confirmed") return order.status;
  const isFulfilled = ["delivered", "not_required", "canceled"].includes(fulfillmentStatus);
  // An authorized or voided payment is treated as paid if the buyer owes nothing, because the merchant will
  // capture nothing more.
  const isPaid =
    !["pending", "failed", "disputed"].includes(paymentStatus) && computeOutstandingAmountMinor(order) <= 0;
  const isQuiet = returnStatus !== "requested" && returnStatus !== "in_progress";
  return isFulfilled && isPaid && isQuiet ? "completed" : "confirmed";
}

type Fulfilled = Pick<OrderAggregate, "fulfillments">;

export function countUnitsInNonReplacementFulfillments(
  fulfillments: OrderAggregate["fulfillments"],
  id: string,
): number {
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
  return countUnitsInNonReplacementFulfillments(
    fulfillments.filter(({ status }) => statuses.has(status)),
    id,
  );
}

/**
 * Counts the units of an order line that were refunded and whose parcel was then lost or came back. These
 * units are still counted as shipped, and are not sent again.
 */
export function countUnitsRefundedBeforeLoss(order: Fulfilled, line: OrderLine): number {
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
 * Counts the refunded units of an order line that never reached the buyer. Takes the larger of two numbers:
 * the refunded units that were reported as not received, and the refunded units minus the delivered units.
 * Subtracts the units that `countUnitsRefundedBeforeLoss` counts.
 */
export function countRefundedUndeliveredUnits(order: Refunded, line: OrderLine): number {
  if (line.refunded === 0) return 0;
  const missed = Math.min(line.refunded, missedUnits(order, line));
  return Math.max(
    0,
    Math.max(missed, line.refunded - line.delivered) - countUnitsRefundedBeforeLoss(order, line),
  );
}

function missedUnits({ refunds, returns }: Refunded, { id }: OrderLine): number {
  const notReceived = [
    ...refunds.filter(({ reason }) => reason === "not_received"),
    ...returns.filter(
      ({ kind, reason, status }) =>
        kind === "refund_only" && reason === "not_received" && status === "closed",
    ),
  ];
  return notReceived
    .flatMap(({ lines }): readonly OrderLineIdAndQuantity[] => lines)
    .reduce((sum, { lineId, quantity }) => (lineId === id ? sum + quantity : sum), 0);
}

/**
 * Counts the units of an order line that must not be sent, because they were refunded without being
 * delivered. Refunded units in transit are left out, because they have already been sent.
 */
export function countRefundedUnitsExcludedFromShipping(order: Refunded, line: OrderLine): number {
  return (
    countUnitsRefundedBeforeLoss(order, line) +
    Math.max(0, countRefundedUndeliveredUnits(order, line) - unitsAt(order, line, underwayStatuses))
  );
}

/** Counts the lost units of an order line that must be sent again and have no reserved stock. */
export function countLostUnitsWithoutReservedStock({ fulfillments }: Fulfilled, id: string): number {
  const lines = fulfillments
    .filter(({ returnId }) => returnId === null)
    .flatMap((fulfillment) => fulfillment.lines);
  return lines.reduce((sum, { lineId, unreserved = 0 }) => (lineId === id ? sum + unreserved : sum), 0);
}

/** Counts the units of services and digital products that were ordered, and neither provided nor refunded. */
export function countUnsentIntangibleUnits(line: OrderLine): number {
  if (line.requiresShipping) return 0;
  return Math.max(0, getUncanceledQuantity(line) - line.shipped - Math.max(0, line.refunded - line.shipped));
}
