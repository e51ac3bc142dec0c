/** The GraphQL mutations of orders: confirming and holding orders, fulfillments, and cancellations. */
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import {
  confirmOrder,
  putOrderOnHold,
  holdReasonLengthMax,
  releaseOrderHold,
} from "#commerce/orders/order-life.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { frontendCallers, type GraphqlContext } from "#graph/context.ts";
import { fulfillmentMutationKind, orderMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";
import { FulfillmentRef, OrderRef, type GraphqlOrder } from "#graph/refs.ts";
import {
  cancelFulfillment,
  markFulfillmentDelivered,
  markFulfillmentFailed,
  packFulfillment,
  shipFulfillment,
  recordFulfillmentTrackingStatus,
  trackingNumberLengthMax,
} from "#commerce/orders/fulfillment/move-fulfillment.ts";
import { carrierLengthMax, createFulfillment } from "#commerce/orders/fulfillment/create-fulfillment.ts";
import type { OrderAndIdOfChangedPart } from "#commerce/orders/change-order.ts";
import type { ReportedTrackingStatus } from "#commerce/orders/fulfillment/fulfillment-rules.ts";
import type { FulfillmentView } from "#commerce/orders/render-parts.ts";
import {
  approveCancellationRequest,
  cancelOrder,
  declineCancellationRequest,
} from "#commerce/orders/cancellation/cancel-order.ts";
import {
  CancellationAnswerInput,
  OrderCancelInputType,
  OrderLineQuantityInput,
  orderVersionDescription,
} from "./order-inputs.ts";
import { toGraphqlOrder, requireOrderPart } from "./orders.ts";
import { FulfillmentTypeEnum } from "./order-enums.ts";

const OrderStepInput = builder.inputType("OrderStepInput", {
  description: "The order to confirm or release, with its expected version.",
  fields: (t) => ({ expectedVersion: t.int({ description: orderVersionDescription }) }),
});

const OrderHoldInput = builder.inputType("OrderHoldInput", {
  description: "The reason for putting an order on hold.",
  fields: (t) => ({
    reason: t.string({
      required: true,
      description:
        `The reason for putting the order on hold, 1 to ${holdReasonLengthMax} characters. Only the ` +
        "merchant's staff can read the reason.",
    }),
    expectedVersion: t.int({ description: orderVersionDescription }),
  }),
});

const answerOrder = (context: GraphqlContext, order: OrderAggregate): GraphqlOrder =>
  toGraphqlOrder(order, context);

defineMutation({
  ...orderMutationKind,
  name: "orderConfirm",
  description: "Confirms an order. Only confirmed orders can be fulfilled.",
  input: OrderStepInput,
  type: OrderRef,
  run: confirmOrder,
  answer: answerOrder,
});

defineMutation({
  ...orderMutationKind,
  name: "orderHold",
  description: "Puts an order on hold: no new fulfillment can be created or shipped.",
  input: OrderHoldInput,
  type: OrderRef,
  run: putOrderOnHold,
  answer: answerOrder,
});

defineMutation({
  ...orderMutationKind,
  name: "orderRelease",
  description: "Releases an order that is on hold.",
  input: OrderStepInput,
  type: OrderRef,
  run: releaseOrderHold,
  answer: answerOrder,
});

/**
 * The GraphQL mutations of fulfillments, which are the parcels and downloads of an order, from packing to
 * delivery.
 */
const FulfillmentCreateInput = builder.inputType("FulfillmentCreateInput", {
  description: "The units that are sent to the buyer together.",
  fields: (t) => ({
    lines: t.field({
      type: [OrderLineQuantityInput],
      description:
        "The lines and quantities of the fulfillment, 1 to 200 lines. If left out, the fulfillment " +
        "gets all units that are in no other fulfillment.",
    }),
    type: t.field({
      type: FulfillmentTypeEnum,
      description:
        "How the fulfillment reaches the buyer. If left out, the service derives the type from the " +
        "lines and the chosen delivery method.",
    }),
    carrier: t.string({
      description:
        `The name of the carrier, 1 to ${carrierLengthMax} characters. If left out, the carrier of the ` +
        "order's delivery method is used.",
    }),
    expectedVersion: t.int({ description: orderVersionDescription }),
  }),
});

const FulfillmentStepInput = builder.inputType("FulfillmentStepInput", {
  description: "The fulfillment to move to its next status, with the expected version of its order.",
  fields: (t) => ({ expectedVersion: t.int({ description: orderVersionDescription }) }),
});

const TrackingInput = builder.inputType("TrackingInput", {
  description: "The tracking data of a fulfillment.",
  fields: (t) => ({
    carrier: t.string({
      description:
        `The name of the carrier, 1 to ${carrierLengthMax} characters. If left out, the fulfillment ` +
        "keeps its carrier.",
    }),
    number: t.string({
      description: `The carrier's tracking number, 1 to ${trackingNumberLengthMax} characters.`,
    }),
    url: t.string({ description: "The URL of the carrier's tracking page: https, at most 2048 characters." }),
  }),
});

const FulfillmentShipInput = builder.inputType("FulfillmentShipInput", {
  description: "The data of a fulfillment that is being shipped.",
  fields: (t) => ({
    tracking: t.field({ type: TrackingInput, description: "The tracking data for the buyer." }),
    estimatedDeliveryAt: t.field({ type: "DateTime", description: "The estimated time of delivery." }),
    expectedVersion: t.int({ description: orderVersionDescription }),
  }),
});

const TrackedStatusEnum = defineGraphqlEnum<ReportedTrackingStatus>("FulfillmentTrackedStatus", {
  description: "The status that a carrier or pickup store reports for a fulfillment.",
  values: {
    in_transit: "The fulfillment is in transit.",
    out_for_delivery: "The carrier is delivering the fulfillment today.",
    ready_for_pickup: "The buyer can pick the fulfillment up.",
    returned_to_sender: "The fulfillment came back undelivered.",
  },
});

const FulfillmentTrackInput = builder.inputType("FulfillmentTrackInput", {
  description: "The reported status of a fulfillment.",
  fields: (t) => ({
    status: t.field({
      type: TrackedStatusEnum,
      required: true,
      description: "The new status of the fulfillment, as the carrier or pickup store reported it.",
    }),
    expectedVersion: t.int({ description: orderVersionDescription }),
  }),
});

const answerFulfillment = (
  _context: GraphqlContext,
  { order, id }: OrderAndIdOfChangedPart,
): FulfillmentView => requireOrderPart(order, "fulfillments", id);

defineMutation({
  ...orderMutationKind,
  name: "fulfillmentCreate",
  description: "Creates a fulfillment for units of a confirmed order.",
  input: FulfillmentCreateInput,
  type: FulfillmentRef,
  run: createFulfillment,
  answer: answerFulfillment,
});

defineMutation({
  ...fulfillmentMutationKind,
  name: "fulfillmentPack",
  description:
    "Starts packing a fulfillment. Backordered units are taken from the stock at this moment. After " +
    "packing has started, a cancellation needs the merchant's approval.",
  input: FulfillmentStepInput,
  type: FulfillmentRef,
  run: packFulfillment,
  answer: answerFulfillment,
});

defineMutation({
  ...fulfillmentMutationKind,
  name: "fulfillmentShip",
  description:
    "Marks a fulfillment as handed over to its carrier, or gives the buyer access to digital goods.",
  input: FulfillmentShipInput,
  type: FulfillmentRef,
  run: shipFulfillment,
  answer: answerFulfillment,
});

defineMutation({
  ...fulfillmentMutationKind,
  name: "fulfillmentTrack",
  description:
    "Records the status that a carrier or pickup store reports. Units that came back undelivered can be " +
    "put into another fulfillment.",
  input: FulfillmentTrackInput,
  type: FulfillmentRef,
  run: recordFulfillmentTrackingStatus,
  answer: answerFulfillment,
});

defineMutation({
  ...fulfillmentMutationKind,
  name: "fulfillmentDeliver",
  description:
    "Marks a fulfillment as delivered. An order that is completely delivered and paid is completed " +
    "automatically.",
  input: FulfillmentStepInput,
  type: FulfillmentRef,
  run: markFulfillmentDelivered,
  answer: answerFulfillment,
});

defineMutation({
  ...fulfillmentMutationKind,
  name: "fulfillmentFail",
  description:
    "Marks a fulfillment as lost or damaged. Its units are reserved from the stock again and can be put " +
    "into another fulfillment.",
  input: FulfillmentStepInput,
  type: FulfillmentRef,
  run: markFulfillmentFailed,
  answer: answerFulfillment,
});

defineMutation({
  ...fulfillmentMutationKind,
  name: "fulfillmentCancel",
  description: "Cancels a fulfillment before it is shipped. Its units can be put into another fulfillment.",
  input: FulfillmentStepInput,
  type: FulfillmentRef,
  run: cancelFulfillment,
  answer: answerFulfillment,
});

/**
 * The GraphQL mutations that cancel orders, and those with which the merchant answers a buyer's cancellation
 * request.
 */
defineMutation({
  ...orderMutationKind,
  name: "orderCancel",
  description:
    "Cancels an order or some of its units, by the same rules as `cancellationEligibility`. If the " +
    "cancellation is not possible, the error 409 invalid_state names the reasons. If a buyer may only " +
    "request the cancellation, the mutation creates a request, which the merchant approves or declines. " +
    "Captured money is refunded, and reserved stock is released.",
  callers: frontendCallers,
  input: OrderCancelInputType,
  type: OrderRef,
  run: cancelOrder,
  answer: (context, order) => toGraphqlOrder(order, context),
});

defineMutation({
  ...orderMutationKind,
  name: "orderCancellationApprove",
  description: "Approves a buyer's cancellation request and cancels the units, if that is still possible.",
  input: CancellationAnswerInput,
  type: OrderRef,
  run: approveCancellationRequest,
  answer: (context, order) => toGraphqlOrder(order, context),
});

defineMutation({
  ...orderMutationKind,
  name: "orderCancellationDecline",
  description: "Declines a buyer's cancellation request; the order stays unchanged.",
  input: CancellationAnswerInput,
  type: OrderRef,
  run: declineCancellationRequest,
  answer: (context, order) => toGraphqlOrder(order, context),
});
