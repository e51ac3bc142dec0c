/** How what was ordered gets to its buyer. */
import {
  cancelFulfillment,
  deliverFulfillment,
  failFulfillment,
  packFulfillment,
  shipFulfillment,
  trackFulfillment,
  trackingNumberMax,
} from "#commerce/orders/fulfillments.ts";
import { carrierMax, type ChangedFulfillment, createFulfillment } from "#commerce/orders/fulfillments-create.ts";
import type { TrackedStatus } from "#commerce/orders/fulfillments-life.ts";
import type { FulfillmentView } from "#commerce/orders/render-parts.ts";
import { builder } from "#graph/builder.ts";
import type { GraphContext } from "#graph/context.ts";
import { defineEnum } from "#graph/enums.ts";
import { FulfillmentRef } from "#graph/refs.ts";
import { FulfillmentTypeEnum } from "./order-enums.ts";
import { OrderLineQuantityInput, orderVersion } from "./order-inputs.ts";
import { orderMutation } from "./order-mutation.ts";
import { showPart } from "./orders.ts";

const FulfillmentCreateInput = builder.inputType("FulfillmentCreateInput", {
  description: "What shall go to the buyer together.",
  fields: (t) => ({
    lines: t.field({ type: [OrderLineQuantityInput], description: "What is in it, 1 to 200 lines; without them everything that is in no other." }),
    type: t.field({ type: FulfillmentTypeEnum, description: "How it reaches the buyer; without it what the lines and the delivery chosen need." }),
    carrier: t.string({ description: `Who carries it; without it who carries the delivery chosen. 1 to ${carrierMax} characters.` }),
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
    carrier: t.string({ description: `Who carries it; without it as before. 1 to ${carrierMax} characters.` }),
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

const answerFulfillment = (_context: GraphContext, { order, id }: ChangedFulfillment): FulfillmentView => showPart(order, "fulfillments", id);

orderMutation("fulfillmentCreate", {
  description: "Puts together what shall go to the buyer, of an order that is confirmed.",
  on: "orderId",
  input: FulfillmentCreateInput,
  type: FulfillmentRef,
  change: createFulfillment,
  answer: answerFulfillment,
});

orderMutation("fulfillmentPack", {
  description: "Begins to pack: what was ordered beyond the stock is taken from it now. From here on a cancellation is asked for.",
  on: "fulfillmentId",
  input: FulfillmentStepInput,
  type: FulfillmentRef,
  change: packFulfillment,
  answer: answerFulfillment,
});

orderMutation("fulfillmentShip", {
  description: "Hands a fulfillment over to its carrier, or gives access to what is digital.",
  on: "fulfillmentId",
  input: FulfillmentShipInput,
  type: FulfillmentRef,
  change: shipFulfillment,
  answer: answerFulfillment,
});

orderMutation("fulfillmentTrack", {
  description: "Says where a fulfillment is. What came back undelivered can be put into another one.",
  on: "fulfillmentId",
  input: FulfillmentTrackInput,
  type: FulfillmentRef,
  change: trackFulfillment,
  answer: answerFulfillment,
});

orderMutation("fulfillmentDeliver", {
  description: "The buyer has it. An order of which everything arrived and is paid completes by itself.",
  on: "fulfillmentId",
  input: FulfillmentStepInput,
  type: FulfillmentRef,
  change: deliverFulfillment,
  answer: answerFulfillment,
});

orderMutation("fulfillmentFail", {
  description: "It got lost or broken: the same is promised from the stock again, and can be put into another one.",
  on: "fulfillmentId",
  input: FulfillmentStepInput,
  type: FulfillmentRef,
  change: failFulfillment,
  answer: answerFulfillment,
});

orderMutation("fulfillmentCancel", {
  description: "Calls a fulfillment off before it is sent; what is in it can be put into another one.",
  on: "fulfillmentId",
  input: FulfillmentStepInput,
  type: FulfillmentRef,
  change: cancelFulfillment,
  answer: answerFulfillment,
});
