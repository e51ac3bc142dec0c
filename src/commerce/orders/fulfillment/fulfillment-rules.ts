/**
 * Which moves a fulfillment may make from its status and type, and what its order must be like for them. The
 * only place that says so.
 */
import { fail, type Failure } from "#foundation/failure.ts";
import type { EventType } from "#webhooks/event-types.ts";
import { type RefusedOrder, refuseOrder } from "#commerce/orders/order-checks.ts";
import type { OrderAggregate, OrderFulfillment, OrderReturn } from "#commerce/orders/order-aggregate.ts";
import type { FulfillmentStatus } from "#commerce/orders/order-states.ts";

export type FulfillmentType = OrderFulfillment["type"];

const underWay = ["shipped", "in_transit", "out_for_delivery"] as const;

export const fulfillmentMoves = {
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
  // Has no event of its own: the order's tells it.
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
    from: { shipping: underWay, pickup: [], digital: [] },
  },
  deliver: {
    to: "delivered",
    event: "fulfillment.delivered",
    from: { shipping: underWay, pickup: ["ready_for_pickup"], digital: ["shipped"] },
  },
  fail: {
    to: "failed",
    event: "fulfillment.failed",
    from: { shipping: underWay, pickup: [], digital: ["shipped"] },
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
export type FulfillmentMove = keyof typeof fulfillmentMoves;

/** What its carrier, or the shop it is fetched from, tells of it. */
export const trackedStatuses = [
  "in_transit",
  "out_for_delivery",
  "ready_for_pickup",
  "returned_to_sender",
] as const;
export type TrackedStatus = (typeof trackedStatuses)[number];

/** Units it has are used up or spoken for; what never arrived, and what was called off, is to be sent anew. */
const given: ReadonlySet<FulfillmentStatus> = new Set(["canceled", "failed", "returned_to_sender"]);
export const isLive = ({ status }: Pick<OrderFulfillment, "status">): boolean => !given.has(status);

const outward: ReadonlySet<FulfillmentMove> = new Set(["pack", "ship", "ready_for_pickup"]);

/**
 * What leaves the house, fetched things as well, needs an order that stands; what is on its way arrives
 * whatever becomes of the order.
 */
const leavesHouse = (move: FulfillmentMove, { type }: OrderFulfillment): boolean =>
  outward.has(move) || (move === "deliver" && type === "pickup");

export function requireMove(
  order: OrderAggregate,
  fulfillment: OrderFulfillment,
  move: FulfillmentMove,
): void {
  const from: readonly FulfillmentStatus[] = fulfillmentMoves[move].from[fulfillment.type];
  if (!from.includes(fulfillment.status)) {
    const message = `A fulfillment of type ${fulfillment.type} that is ${fulfillment.status} cannot become ${fulfillmentMoves[move].to}.`;
    throw refuseFulfillment(fulfillment, { message, data: { type: fulfillment.type, allowed: from } });
  }
  if (move === "cancel" && fulfillment.returnId !== null) {
    const message = "What an exchange sends is called off with its return.";
    throw refuseFulfillment(fulfillment, {
      message,
      reason: "belongs_to_return",
      data: { returnId: fulfillment.returnId },
    });
  }
  if (!leavesHouse(move, fulfillment)) return;
  requireStanding(order, fulfillment);
  requireReturned(order, fulfillment);
}

const isThere: ReadonlySet<OrderReturn["status"]> = new Set(["received", "inspected", "closed"]);

/** What is given in exchange leaves once what it is given for is there. */
function requireReturned({ returns }: OrderAggregate, fulfillment: OrderFulfillment): void {
  const found = returns.find(({ id }) => id === fulfillment.returnId);
  if (found === undefined || isThere.has(found.status)) return;
  const message = "What it is given for has not come back yet.";
  throw refuseFulfillment(fulfillment, {
    message,
    reason: "return_not_received",
    data: { returnId: found.id, returnStatus: found.status },
  });
}

/** What is given in exchange is sent of an order that was completed long ago as well. */
export function requireStanding(
  order: OrderAggregate,
  { returnId }: Pick<OrderFulfillment, "returnId">,
): void {
  const isStanding = order.status === "confirmed" || (order.status === "completed" && returnId !== null);
  if (!isStanding)
    throw refuseOrder("invalid_state", order, {
      message: `Nothing is sent of an order that is ${order.status}.`,
    });
  if (order.paymentStatus !== "disputed") return;
  throw refuseOrder("invalid_state", order, {
    reason: "payment_disputed",
    message: "Nothing is sent while the payment is disputed.",
  });
}

function refuseFulfillment(
  { id, status, version }: OrderFulfillment,
  { message, reason = null, data = {} }: RefusedOrder & { readonly message: string },
): Failure {
  return fail("invalid_state", {
    message,
    conflict: { resource: "fulfillment", id, currentStatus: status, currentVersion: version, reason, data },
  });
}
