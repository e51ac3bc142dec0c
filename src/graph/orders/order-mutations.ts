/** Mutations of orders: confirming and holding them, fulfillments, and cancellations. */
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { confirmOrder, holdOrder, holdReasonMax, releaseOrder } from "#commerce/orders/order-life.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { frontendCallers, type GraphContext } from "#graph/context.ts";
import { fulfillmentMutationKind, orderMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";
import { FulfillmentRef, OrderRef, type GraphOrder } from "#graph/refs.ts";
import {
  cancelFulfillment,
  deliverFulfillment,
  failFulfillment,
  packFulfillment,
  shipFulfillment,
  trackFulfillment,
  trackingNumberMax,
} from "#commerce/orders/fulfillment/move-fulfillment.ts";
import { carrierMax, createFulfillment } from "#commerce/orders/fulfillment/create-fulfillment.ts";
import type { ChangedPart } from "#commerce/orders/change-order.ts";
import type { TrackedStatus } from "#commerce/orders/fulfillment/fulfillment-rules.ts";
import type { FulfillmentView } from "#commerce/orders/render-parts.ts";
import {
  approveCancellation,
  cancelOrder,
  declineCancellation,
} from "#commerce/orders/cancellation/cancel-order.ts";
import {
  CancellationAnswerInput,
  OrderCancelInput,
  OrderLineQuantityInput,
  orderVersion,
} from "./order-inputs.ts";
import { showOrder, showPart } from "./orders.ts";
import { FulfillmentTypeEnum } from "./order-enums.ts";

const OrderStepInput = builder.inputType("OrderStepInput", {
  description: "A step in an order's life.",
  fields: (t) => ({ expectedVersion: t.int({ description: orderVersion }) }),
});

const OrderHoldInput = builder.inputType("OrderHoldInput", {
  description: "Why an order is stopped.",
  fields: (t) => ({
    reason: t.string({
      required: true,
      description: `For who runs the merchant. 1 to ${holdReasonMax} characters.`,
    }),
    expectedVersion: t.int({ description: orderVersion }),
  }),
});

const answerOrder = (context: GraphContext, order: OrderAggregate): GraphOrder => showOrder(order, context);

defineMutation({
  ...orderMutationKind,
  name: "orderConfirm",
  description: "Takes an order on: from then on it can be sent.",
  input: OrderStepInput,
  type: OrderRef,
  run: confirmOrder,
  answer: answerOrder,
});

defineMutation({
  ...orderMutationKind,
  name: "orderHold",
  description: "Stops an order for the time being: nothing new of it is sent.",
  input: OrderHoldInput,
  type: OrderRef,
  run: holdOrder,
  answer: answerOrder,
});

defineMutation({
  ...orderMutationKind,
  name: "orderRelease",
  description: "Lets an order that is on hold go on.",
  input: OrderStepInput,
  type: OrderRef,
  run: releaseOrder,
  answer: answerOrder,
});

/** Fulfillments: parcels and downloads of an order, from packing to delivery. */
const FulfillmentCreateInput = builder.inputType("FulfillmentCreateInput", {
  description: "What shall go to the buyer together.",
  fields: (t) => ({
    lines: t.field({
      type: [OrderLineQuantityInput],
      description: "What is in it, 1 to 200 lines; without them everything that is in no other.",
    }),
    type: t.field({
      type: FulfillmentTypeEnum,
      description: "How it reaches the buyer; without it what the lines and the delivery chosen need.",
    }),
    carrier: t.string({
      description: `Who carries it; without it who carries the delivery chosen. 1 to ${carrierMax} characters.`,
    }),
    expectedVersion: t.int({ description: orderVersion }),
  }),
});

const FulfillmentStepInput = builder.inputType("FulfillmentStepInput", {
  description: "A step on a fulfillment's way.",
  fields: (t) => ({ expectedVersion: t.int({ description: orderVersion }) }),
});

const TrackingInput = builder.inputType("TrackingInput", {
  description: "How the buyer can follow it.",
  fields: (t) => ({
    carrier: t.string({
      description: `Who carries it; without it as before. 1 to ${carrierMax} characters.`,
    }),
    number: t.string({ description: `The carrier's number for it. 1 to ${trackingNumberMax} characters.` }),
    url: t.string({ description: "Where it can be followed: an https address of at most 2048 characters." }),
  }),
});

const FulfillmentShipInput = builder.inputType("FulfillmentShipInput", {
  description: "What is known of a fulfillment that is handed over.",
  fields: (t) => ({
    tracking: t.field({ type: TrackingInput, description: "How the buyer can follow it." }),
    estimatedDeliveryAt: t.field({ type: "DateTime", description: "When it should arrive." }),
    expectedVersion: t.int({ description: orderVersion }),
  }),
});

const TrackedStatusEnum = defineEnum<TrackedStatus>("FulfillmentTrackedStatus", {
  description: "What the carrier, or the shop it is fetched from, tells of a fulfillment.",
  values: {
    in_transit: "It is under way.",
    out_for_delivery: "It is on the last stretch.",
    ready_for_pickup: "The buyer can fetch it.",
    returned_to_sender: "It came back undelivered.",
  },
});

const FulfillmentTrackInput = builder.inputType("FulfillmentTrackInput", {
  description: "Where a fulfillment is.",
  fields: (t) => ({
    status: t.field({ type: TrackedStatusEnum, required: true, description: "Where it is by now." }),
    expectedVersion: t.int({ description: orderVersion }),
  }),
});

const answerFulfillment = (_context: GraphContext, { order, id }: ChangedPart): FulfillmentView =>
  showPart(order, "fulfillments", id);

defineMutation({
  ...orderMutationKind,
  name: "fulfillmentCreate",
  description: "Puts together what shall go to the buyer, of an order that is confirmed.",
  input: FulfillmentCreateInput,
  type: FulfillmentRef,
  run: createFulfillment,
  answer: answerFulfillment,
});

defineMutation({
  ...fulfillmentMutationKind,
  name: "fulfillmentPack",
  description:
    "Begins to pack: what was ordered beyond the stock is taken from it now. From here on a cancellation is asked for.",
  input: FulfillmentStepInput,
  type: FulfillmentRef,
  run: packFulfillment,
  answer: answerFulfillment,
});

defineMutation({
  ...fulfillmentMutationKind,
  name: "fulfillmentShip",
  description: "Hands a fulfillment over to its carrier, or gives access to what is digital.",
  input: FulfillmentShipInput,
  type: FulfillmentRef,
  run: shipFulfillment,
  answer: answerFulfillment,
});

defineMutation({
  ...fulfillmentMutationKind,
  name: "fulfillmentTrack",
  description: "Says where a fulfillment is. What came back undelivered can be put into another one.",
  input: FulfillmentTrackInput,
  type: FulfillmentRef,
  run: trackFulfillment,
  answer: answerFulfillment,
});

defineMutation({
  ...fulfillmentMutationKind,
  name: "fulfillmentDeliver",
  description: "The buyer has it. An order of which everything arrived and is paid completes by itself.",
  input: FulfillmentStepInput,
  type: FulfillmentRef,
  run: deliverFulfillment,
  answer: answerFulfillment,
});

defineMutation({
  ...fulfillmentMutationKind,
  name: "fulfillmentFail",
  description:
    "It got lost or broken: the same is promised from the stock again, and can be put into another one.",
  input: FulfillmentStepInput,
  type: FulfillmentRef,
  run: failFulfillment,
  answer: answerFulfillment,
});

defineMutation({
  ...fulfillmentMutationKind,
  name: "fulfillmentCancel",
  description: "Calls a fulfillment off before it is sent; what is in it can be put into another one.",
  input: FulfillmentStepInput,
  type: FulfillmentRef,
  run: cancelFulfillment,
  answer: answerFulfillment,
});

/** Cancellations of orders: by the buyer or the merchant, and the merchant's answers to a buyer's request. */
defineMutation({
  ...orderMutationKind,
  name: "orderCancel",
  description:
    "Cancels an order or some of it, decided by the same rules as `cancellationEligibility` (409 invalid_state gives the reasons). Where a buyer may only ask, it becomes a request that the merchant answers. What was paid for it goes back, and what was reserved is free again.",
  callers: frontendCallers,
  input: OrderCancelInput,
  type: OrderRef,
  run: cancelOrder,
  answer: (context, order) => showOrder(order, context),
});

defineMutation({
  ...orderMutationKind,
  name: "orderCancellationApprove",
  description: "Cancels what a buyer asked to have canceled, if it still can be.",
  input: CancellationAnswerInput,
  type: OrderRef,
  run: approveCancellation,
  answer: (context, order) => showOrder(order, context),
});

defineMutation({
  ...orderMutationKind,
  name: "orderCancellationDecline",
  description: "Tells a buyer that the order is not canceled; all stays as it is.",
  input: CancellationAnswerInput,
  type: OrderRef,
  run: declineCancellation,
  answer: (context, order) => showOrder(order, context),
});
