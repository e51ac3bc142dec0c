/**
 * The rules for the transitions of fulfillments, for example pack, ship and deliver. For each transition, the
 * rules say in which statuses of each fulfillment type it is possible, and which state of the order it
 * requires.
 */
import { createFailure, type Failure } from "#foundation/failure.ts";
import type { EventType } from "#webhooks/event-types.ts";
import {
  type OrderConflictFailureOptions,
  createOrderConflictFailure,
} from "#commerce/orders/order-checks.ts";
import type { OrderAggregate, OrderFulfillment, OrderReturn } from "#commerce/orders/order-aggregate.ts";
import type { FulfillmentStatus } from "#commerce/orders/order-states.ts";

export type FulfillmentType = OrderFulfillment["type"];

const underwayStatuses = ["shipped", "in_transit", "out_for_delivery"] as const;

export const fulfillmentTransitions = {
  pack: {
    to: "packing",
    event: "fulfillment.packed",
    from: { shipping: ["pending"], pickup: ["pending"], digital: ["pending"] },
  },
  ship: {
    to: "shipped",
    event: "fulfillment.shipped",
    from: { shipping: ["packing"], pickup: [], digital: ["pending", "packing"] },
  },
  in_transit: {
    to: "in_transit",
    event: "fulfillment.in_transit",
    from: { shipping: ["shipped"], pickup: [], digital: [] },
  },
  // The transition to `out_for_delivery` has no event of its own; only `order.updated` is published.
  out_for_delivery: {
    to: "out_for_delivery",
    event: null,
    from: { shipping: ["shipped", "in_transit"], pickup: [], digital: [] },
  },
  ready_for_pickup: {
    to: "ready_for_pickup",
    event: "fulfillment.ready_for_pickup",
    from: { shipping: [], pickup: ["packing"], digital: [] },
  },
  returned_to_sender: {
    to: "returned_to_sender",
    event: "fulfillment.returned_to_sender",
    from: { shipping: underwayStatuses, pickup: [], digital: [] },
  },
  deliver: {
    to: "delivered",
    event: "fulfillment.delivered",
    from: { shipping: underwayStatuses, pickup: ["ready_for_pickup"], digital: ["shipped"] },
  },
  fail: {
    to: "failed",
    event: "fulfillment.failed",
    from: { shipping: underwayStatuses, pickup: [], digital: ["shipped"] },
  },
  cancel: {
    to: "canceled",
    event: "fulfillment.canceled",
    from: {
      shipping: ["pending", "packing"],
      pickup: ["pending", "packing", "ready_for_pickup"],
      digital: ["pending", "packing"],
    },
  },
} as const satisfies Record<
  string,
  {
    readonly to: FulfillmentStatus;
    readonly event: EventType | null;
    readonly from: Readonly<Record<FulfillmentType, readonly FulfillmentStatus[]>>;
  }
>;
export type FulfillmentStatusTransition = keyof typeof fulfillmentTransitions;

/**
 * The fulfillment statuses that the merchant learns from the carrier or the pickup shop, and then reports to
 * this service.
 */
export const reportedTrackingStatuses = [
  "in_transit",
  "out_for_delivery",
  "ready_for_pickup",
  "returned_to_sender",
] as const;
export type ReportedTrackingStatus = (typeof reportedTrackingStatuses)[number];

/**
 * The statuses of fulfillments whose units will not reach the buyer, so that the units need another
 * fulfillment.
 */
const endedStatuses: ReadonlySet<FulfillmentStatus> = new Set(["canceled", "failed", "returned_to_sender"]);
export const isFulfillmentInProgress = ({ status }: Pick<OrderFulfillment, "status">): boolean =>
  !endedStatuses.has(status);

const shippingMoves: ReadonlySet<FulfillmentStatusTransition> = new Set(["pack", "ship", "ready_for_pickup"]);

/**
 * Returns true if the transition hands units over to a carrier or to the buyer, or prepares the handover, for
 * example by packing. A handover is possible only if the order may be shipped. The delivery of a parcel in
 * transit is no handover, so it is possible in every status of the order.
 */
const isHandover = (move: FulfillmentStatusTransition, { type }: OrderFulfillment): boolean =>
  shippingMoves.has(move) || (move === "deliver" && type === "pickup");

export function requireAllowedFulfillmentStatusTransition(
  order: OrderAggregate,
  fulfillment: OrderFulfillment,
  move: FulfillmentStatusTransition,
): void {
  const from: readonly FulfillmentStatus[] = fulfillmentTransitions[move].from[fulfillment.type];
  if (!from.includes(fulfillment.status)) {
    const message =
      `A fulfillment of type ${fulfillment.type} that is ${fulfillment.status} cannot become ` +
      `${fulfillmentTransitions[move].to}.`;
    throw refuseFulfillment(fulfillment, { message, data: { type: fulfillment.type, allowed: from } });
  }
  if (move === "cancel" && fulfillment.returnId !== null) {
    const message = "The fulfillment of an exchange is canceled by canceling its return.";
    throw refuseFulfillment(fulfillment, {
      message,
      reason: "belongs_to_return",
      data: { returnId: fulfillment.returnId },
    });
  }
  if (!isHandover(move, fulfillment)) return;
  requireShippableOrder(order, fulfillment);
  requireReturned(order, fulfillment);
}

const receivedStatuses: ReadonlySet<OrderReturn["status"]> = new Set(["received", "inspected", "closed"]);

/** Throws if the fulfillment is a replacement, and the goods that it replaces have not been received. */
function requireReturned({ returns }: OrderAggregate, fulfillment: OrderFulfillment): void {
  const found = returns.find(({ id }) => id === fulfillment.returnId);
  if (found === undefined || receivedStatuses.has(found.status)) return;
  const message = "The returned units have not been received yet.";
  throw refuseFulfillment(fulfillment, {
    message,
    reason: "return_not_received",
    data: { returnId: found.id, returnStatus: found.status },
  });
}

/**
 * Throws if the order is not confirmed or its payment is disputed. A replacement for returned goods may also
 * be sent for a completed order.
 */
export function requireShippableOrder(
  order: OrderAggregate,
  { returnId }: Pick<OrderFulfillment, "returnId">,
): void {
  const isShippable = order.status === "confirmed" || (order.status === "completed" && returnId !== null);
  if (!isShippable)
    throw createOrderConflictFailure("invalid_state", order, {
      message: `Units of an order that is ${order.status} cannot be sent.`,
    });
  if (order.paymentStatus !== "disputed") return;
  throw createOrderConflictFailure("invalid_state", order, {
    reason: "payment_disputed",
    message: "Units cannot be sent while the payment is disputed.",
  });
}

function refuseFulfillment(
  { id, status, version }: OrderFulfillment,
  { message, reason = null, data = {} }: OrderConflictFailureOptions & { readonly message: string },
): Failure {
  return createFailure("invalid_state", {
    message,
    conflict: { resource: "fulfillment", id, currentStatus: status, currentVersion: version, reason, data },
  });
}
