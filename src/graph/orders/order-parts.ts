/** The GraphQL types of the parts of an order that have a status: fulfillments, payments and refunds. */
import type { OrderLineIdAndQuantity } from "#commerce/orders/order-aggregate.ts";
import type { RefundView } from "#commerce/orders/render-parts.ts";
import { builder } from "#graph/builder.ts";
import {
  getCallerKindOfViewer,
  type GraphqlContext,
  staffCallers,
  hideFromAnalysts,
} from "#graph/context.ts";
import { resolveFromObjectAndViewer } from "#graph/kept-results.ts";
import { FulfillmentRef, MoneyRef, PaymentRef, RefundRef } from "#graph/refs.ts";
import {
  FulfillmentStatusEnum,
  FulfillmentTypeEnum,
  PaymentStatusEnum,
  RefundStatusEnum,
} from "./order-enums.ts";
import { RefundCauseEnum } from "./order-inputs.ts";

/**
 * Returns the value for the merchant's staff, and null for all other callers. Other callers get no error, so
 * that one GraphQL document works for all callers.
 */
export function getValueIfCallerIsMerchantStaff<Value>(
  value: Value,
  { viewer }: Pick<GraphqlContext, "viewer">,
): Value | null {
  return staffCallers.includes(getCallerKindOfViewer(viewer)) ? value : null;
}

export const OrderLineQuantity = builder.objectRef<OrderLineIdAndQuantity>("OrderLineQuantity").implement({
  description: "A number of units of an order line.",
  fields: (t) => ({
    lineId: t.exposeID("lineId", { description: "The id of the order line, `oln_…`." }),
    quantity: t.exposeInt("quantity", { description: "The number of units." }),
  }),
});

FulfillmentRef.implement({
  description: "Units of an order that are sent to the buyer together.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The id of the fulfillment, `ful_…`." }),
    orderId: t.exposeID("orderId", { description: "The id of the fulfillment's order, `ord_…`." }),
    returnId: t.exposeID("returnId", {
      nullable: true,
      description:
        "The id of the return for which the fulfillment sends a replacement, `ret_…`; null if the " +
        "fulfillment sends ordered units.",
    }),
    status: t.expose("status", {
      type: FulfillmentStatusEnum,
      description: "The status of the fulfillment.",
    }),
    type: t.expose("type", {
      type: FulfillmentTypeEnum,
      description: "How the fulfillment reaches the buyer.",
    }),
    lines: t.field({
      type: [OrderLineQuantity],
      description: "The order lines of the fulfillment, with the number of units of each.",
      complexity: { multiplier: 5 },
      resolve: ({ lines }) => [...lines],
    }),
    carrier: t.exposeString("carrier", {
      nullable: true,
      description: "The name of the carrier; null if no carrier is set.",
    }),
    trackingNumber: t.string({
      nullable: true,
      description:
        "The carrier's tracking number; null if no number is set. Always null for analysts, because a " +
        "carrier shows the buyer's destination for a tracking number.",
      resolve: resolveFromObjectAndViewer(({ trackingNumber }, caller) =>
        hideFromAnalysts(trackingNumber, caller),
      ),
    }),
    trackingUrl: t.field({
      type: "URL",
      nullable: true,
      description: "The URL of the carrier's tracking page; null if no URL is set. Always null for analysts.",
      resolve: resolveFromObjectAndViewer(({ trackingUrl }, caller) => hideFromAnalysts(trackingUrl, caller)),
    }),
  }),
});

builder.objectFields(FulfillmentRef, (t) => ({
  packingStartedAt: t.expose("packingStartedAt", {
    type: "DateTime",
    nullable: true,
    description: "When the packing of the fulfillment started; null if packing has not started.",
  }),
  shippedAt: t.expose("shippedAt", {
    type: "DateTime",
    nullable: true,
    description: "When the fulfillment was shipped; null if the fulfillment has not been shipped.",
  }),
  estimatedDeliveryAt: t.expose("estimatedDeliveryAt", {
    type: "DateTime",
    nullable: true,
    description: "The estimated time of delivery; null if unknown.",
  }),
  deliveredAt: t.expose("deliveredAt", {
    type: "DateTime",
    nullable: true,
    description: "When the fulfillment was delivered; null if the fulfillment has not been delivered.",
  }),
  version: t.exposeInt("version", {
    description: "The version of the fulfillment, which rises by one with every change.",
  }),
  createdAt: t.expose("createdAt", { type: "DateTime", description: "When the fulfillment was created." }),
  updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When the fulfillment last changed." }),
}));

PaymentRef.implement({
  description:
    "One attempt to pay a checkout session. If the attempt succeeds and the order is placed, the payment " +
    "belongs to the order.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The id of the payment, `pay_…`." }),
    orderId: t.exposeID("orderId", {
      nullable: true,
      description: "The id of the paid order, `ord_…`; null if the payment has placed no order (yet).",
    }),
    sessionId: t.exposeID("sessionId", { description: "The id of the checkout session, `chs_…`." }),
    status: t.expose("status", { type: PaymentStatusEnum, description: "The status of the payment." }),
    methodType: t.exposeString("methodType", {
      description: "The kind of payment method, for example `card`.",
    }),
    amount: t.expose("amount", { type: MoneyRef, description: "The amount of the payment." }),
    capturedAmount: t.expose("capturedAmount", {
      type: MoneyRef,
      description: "The part of the payment's amount that was captured.",
    }),
    voidedAmount: t.expose("voidedAmount", {
      type: MoneyRef,
      description: "The authorized amount that was voided without a capture.",
    }),
    refundedAmount: t.expose("refundedAmount", {
      type: MoneyRef,
      description: "The refunded part of the captured amount.",
    }),
    failureCode: t.exposeString("failureCode", {
      nullable: true,
      description:
        "The code of the reason for which the payment provider declined the payment; null if the " +
        "provider did not decline.",
    }),
    disputedAt: t.expose("disputedAt", {
      type: "DateTime",
      nullable: true,
      description: "Since when the buyer's bank disputes the payment; null if there is no open dispute.",
    }),
    disputeReason: t.exposeString("disputeReason", {
      nullable: true,
      description:
        "The reason for which the buyer's bank disputes the payment, as a code; null if there is no open " +
        "dispute.",
    }),
    version: t.exposeInt("version", {
      description: "The version of the payment, which rises by one with every change.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the payment was started." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When the payment last changed." }),
  }),
});

const RefundLine = builder.objectRef<RefundView["lines"][number]>("RefundLine").implement({
  description: "The refunded amount for units of an order line.",
  fields: (t) => ({
    lineId: t.exposeID("lineId", { description: "The id of the order line, `oln_…`." }),
    quantity: t.exposeInt("quantity", { description: "The number of refunded units." }),
    amount: t.expose("amount", {
      type: MoneyRef,
      description: "The refunded amount for the units of the line.",
    }),
  }),
});

RefundRef.implement({
  description: "Money that the merchant returns to the buyer of an order.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The id of the refund, `rfd_…`." }),
    orderId: t.exposeID("orderId", {
      nullable: true,
      description:
        "The id of the order, `ord_…`; null if the refunded payment came too late to place an order.",
    }),
    paymentId: t.exposeID("paymentId", { description: "The id of the refunded payment, `pay_…`." }),
    returnId: t.exposeID("returnId", {
      nullable: true,
      description:
        "The id of the return that the refund settles, `ret_…`; null if the refund settles no return.",
    }),
    status: t.expose("status", { type: RefundStatusEnum, description: "The status of the refund." }),
    amount: t.expose("amount", { type: MoneyRef, description: "The refunded amount." }),
    reason: t.expose("reason", {
      type: RefundCauseEnum,
      description: "The reason for which the refund was made.",
    }),
    note: t.string({
      nullable: true,
      description:
        "The reason for the refund in words; null if none was given. Only the merchant's staff can read " +
        "the note; null for other callers.",
      resolve: ({ note }, _args, context) => getValueIfCallerIsMerchantStaff(note, context),
    }),
    lines: t.field({
      type: [RefundLine],
      description:
        "The refunded units, by order line. The rest of `amount` refunds shipping, or is an amount that " +
        "the merchant agreed with the buyer.",
      complexity: { multiplier: 5 },
      resolve: ({ lines }) => [...lines],
    }),
    shipping: t.expose("shipping", {
      type: MoneyRef,
      description: "The part of the amount that refunds shipping.",
    }),
    version: t.exposeInt("version", {
      description: "The version of the refund, which rises by one with every change.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the refund was created." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When the refund last changed." }),
  }),
});
