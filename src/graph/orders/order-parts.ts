/**
 * What belongs to an order and has a life of its own: fulfillments, payments, refunds, returns and warranty
 * registrations.
 */
import type { LineQuantity, OrderWarranty, ReturnLine } from "#commerce/orders/order-aggregate.ts";
import type { RefundView } from "#commerce/orders/render-parts.ts";
import { builder } from "#graph/builder.ts";
import { getCallerKind, type GraphContext, staffCallers, hideFromAnalysts } from "#graph/context.ts";
import { FulfillmentRef, MoneyRef, PaymentRef, RefundRef, ReturnRef, WarrantyRef } from "#graph/refs.ts";
import {
  FulfillmentStatusEnum,
  FulfillmentTypeEnum,
  PaymentStatusEnum,
  RefundStatusEnum,
  ReturnKindEnum,
  ReturnMethodEnum,
  ReturnSettlementEnum,
  ReturnStatusEnum,
  WarrantyClaimKindEnum,
  WarrantyClaimStatusEnum,
  WarrantyStatusEnum,
} from "./order-enums.ts";

/** What only who runs the merchant may know: to others it is not there, so that one document serves all. */
export function forStaff<Value>(value: Value, { viewer }: Pick<GraphContext, "viewer">): Value | null {
  return staffCallers.includes(getCallerKind(viewer)) ? value : null;
}

export const OrderLineQuantity = builder.objectRef<LineQuantity>("OrderLineQuantity").implement({
  description: "So many units of an order's line.",
  fields: (t) => ({
    lineId: t.exposeID("lineId", { description: "The order's line, `oln_…`." }),
    quantity: t.exposeInt("quantity", { description: "How many units." }),
  }),
});

FulfillmentRef.implement({
  description: "Units of an order that go to the buyer together.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The fulfillment's id, `ful_…`." }),
    orderId: t.exposeID("orderId", { description: "The order it belongs to, `ord_…`." }),
    returnId: t.exposeID("returnId", {
      nullable: true,
      description: "The return in exchange for which it is sent, `ret_…`; null: it sends what was ordered.",
    }),
    status: t.expose("status", { type: FulfillmentStatusEnum, description: "Where it is." }),
    type: t.expose("type", { type: FulfillmentTypeEnum, description: "How it reaches the buyer." }),
    lines: t.field({
      type: [OrderLineQuantity],
      description: "What is in it.",
      complexity: { multiplier: 5 },
      resolve: ({ lines }) => [...lines],
    }),
    carrier: t.exposeString("carrier", { nullable: true, description: "Who carries it." }),
    trackingNumber: t.string({
      nullable: true,
      description: "The carrier's number for it. Analysts are not told: carriers show by it where it goes.",
      resolve: ({ trackingNumber }, _args, context) => hideFromAnalysts(trackingNumber, context),
    }),
    trackingUrl: t.field({
      type: "URL",
      nullable: true,
      description: "Where the buyer can follow it. Analysts are not told.",
      resolve: ({ trackingUrl }, _args, context) => hideFromAnalysts(trackingUrl, context),
    }),
    packingStartedAt: t.expose("packingStartedAt", {
      type: "DateTime",
      nullable: true,
      description: "When packing began.",
    }),
    shippedAt: t.expose("shippedAt", {
      type: "DateTime",
      nullable: true,
      description: "When it was handed over.",
    }),
    estimatedDeliveryAt: t.expose("estimatedDeliveryAt", {
      type: "DateTime",
      nullable: true,
      description: "When it should arrive.",
    }),
    deliveredAt: t.expose("deliveredAt", {
      type: "DateTime",
      nullable: true,
      description: "When it arrived.",
    }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
  }),
});

PaymentRef.implement({
  description: "One attempt to pay a checkout; the order's, when the order was placed with it.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The payment's id, `pay_…`." }),
    orderId: t.exposeID("orderId", {
      nullable: true,
      description: "The order it pays, `ord_…`; null: none, or none yet.",
    }),
    sessionId: t.exposeID("sessionId", { description: "The checkout session it was made in, `chs_…`." }),
    status: t.expose("status", { type: PaymentStatusEnum, description: "Where it is." }),
    methodType: t.exposeString("methodType", {
      description: "The kind of means it is paid with, for example `card`.",
    }),
    amount: t.expose("amount", { type: MoneyRef, description: "What was asked for." }),
    capturedAmount: t.expose("capturedAmount", { type: MoneyRef, description: "What was taken." }),
    voidedAmount: t.expose("voidedAmount", {
      type: MoneyRef,
      description: "What was held and let go without having been taken.",
    }),
    refundedAmount: t.expose("refundedAmount", {
      type: MoneyRef,
      description: "What was given back of what was taken.",
    }),
    failureCode: t.exposeString("failureCode", {
      nullable: true,
      description: "Why the provider declined it.",
    }),
    disputedAt: t.expose("disputedAt", {
      type: "DateTime",
      nullable: true,
      description: "Since when the buyer disputes it; null: not.",
    }),
    disputeReason: t.exposeString("disputeReason", { nullable: true, description: "Why it is disputed." }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was begun." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
  }),
});

const RefundLine = builder.objectRef<RefundView["lines"][number]>("RefundLine").implement({
  description: "What is given back for units of a line.",
  fields: (t) => ({
    lineId: t.exposeID("lineId", { description: "The order's line, `oln_…`." }),
    quantity: t.exposeInt("quantity", { description: "For how many units." }),
    amount: t.expose("amount", { type: MoneyRef, description: "How much for them." }),
  }),
});

RefundRef.implement({
  description: "Money that goes back to the buyer.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The refund's id, `rfd_…`." }),
    orderId: t.exposeID("orderId", {
      nullable: true,
      description: "The order, `ord_…`; null: of a payment that came too late for one.",
    }),
    paymentId: t.exposeID("paymentId", { description: "The payment it is taken from, `pay_…`." }),
    returnId: t.exposeID("returnId", { nullable: true, description: "The return it is for, `ret_…`." }),
    status: t.expose("status", { type: RefundStatusEnum, description: "Where it is." }),
    amount: t.expose("amount", { type: MoneyRef, description: "How much." }),
    reason: t.exposeString("reason", { description: "Why, as a code." }),
    note: t.string({
      nullable: true,
      description: "Why, in words. Only who runs the merchant is told.",
      resolve: ({ note }, _args, context) => forStaff(note, context),
    }),
    lines: t.field({
      type: [RefundLine],
      description: "What of it is for lines; the rest is shipping, or was agreed on.",
      complexity: { multiplier: 5 },
      resolve: ({ lines }) => [...lines],
    }),
    shipping: t.expose("shipping", { type: MoneyRef, description: "What of it is for shipping." }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was decided." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
  }),
});

const ReturnLineType = builder.objectRef<ReturnLine>("ReturnLine").implement({
  description: "Units of a line that come back.",
  fields: (t) => ({
    lineId: t.exposeID("lineId", { description: "The order's line, `oln_…`." }),
    quantity: t.exposeInt("quantity", { description: "How many units were announced." }),
    received: t.exposeInt("received", { description: "How many of them have arrived." }),
    accepted: t.exposeInt("accepted", { description: "How many of those are as they should be." }),
    restocked: t.exposeInt("restocked", { description: "How many of those can be sold again." }),
  }),
});

ReturnRef.implement({
  description: "Units of an order that come back, or that something is made good for.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The return's id, `ret_…`." }),
    orderId: t.exposeID("orderId", { description: "The order it belongs to, `ord_…`." }),
    status: t.expose("status", { type: ReturnStatusEnum, description: "Where it is." }),
    kind: t.expose("kind", { type: ReturnKindEnum, description: "What it is for." }),
    reason: t.exposeString("reason", { description: "Why, as a code." }),
    note: t.string({
      nullable: true,
      description: "Why, in the buyer's words. Analysts are not told.",
      resolve: ({ note }, _args, context) => hideFromAnalysts(note, context),
    }),
    declineReason: t.string({
      nullable: true,
      description: "Why the merchant did not agree, in words. Analysts are not told.",
      resolve: ({ declineReason }, _args, context) => hideFromAnalysts(declineReason, context),
    }),
    inspectionNote: t.string({
      nullable: true,
      description: "What was said about it when it was looked at. Only who runs the merchant is told.",
      resolve: ({ inspectionNote }, _args, context) => forStaff(inspectionNote, context),
    }),
    method: t.expose("method", { type: ReturnMethodEnum, nullable: true, description: "How it comes back." }),
    settlement: t.expose("settlement", {
      type: ReturnSettlementEnum,
      nullable: true,
      description: "What the buyer gets for it.",
    }),
    refund: t.expose("refund", { type: MoneyRef, description: "What was promised to be given back." }),
    fee: t.expose("fee", {
      type: MoneyRef,
      description: "What is taken off for it; `refund` is without it.",
    }),
    exchangeVariantId: t.exposeID("exchangeVariantId", {
      nullable: true,
      description: "What is sent instead, `var_…`.",
    }),
    fulfillmentIds: t.idList({
      description: "The fulfillments that send it, `ful_…`.",
      complexity: { multiplier: 1 },
      resolve: ({ fulfillmentIds }) => [...fulfillmentIds],
    }),
    policyId: t.exposeID("policyId", {
      nullable: true,
      description: "The order's policy it was granted under, `pol_…`.",
    }),
    lines: t.field({
      type: [ReturnLineType],
      description: "What comes back.",
      complexity: { multiplier: 5 },
      resolve: ({ lines }) => [...lines],
    }),
    requestedAt: t.expose("requestedAt", { type: "DateTime", description: "When it was asked for." }),
    closedAt: t.expose("closedAt", { type: "DateTime", nullable: true, description: "When it was over." }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
  }),
});

const WarrantyClaim = builder.objectRef<OrderWarranty["claims"][number]>("WarrantyClaim").implement({
  description: "What a buyer asks for under a warranty.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The claim's id, `wcl_…`." }),
    kind: t.expose("kind", { type: WarrantyClaimKindEnum, description: "What is asked for." }),
    status: t.expose("status", { type: WarrantyClaimStatusEnum, description: "Where it is." }),
    description: t.string({
      nullable: true,
      description: "What is wrong, in the buyer's words. Analysts are not told.",
      resolve: ({ description }, _args, context) => hideFromAnalysts(description, context),
    }),
    resolution: t.string({
      nullable: true,
      description: "What was decided, in words. Analysts are not told.",
      resolve: ({ resolution }, _args, context) => hideFromAnalysts(resolution, context),
    }),
    openedAt: t.expose("openedAt", { type: "DateTime", description: "When it was made." }),
    resolvedAt: t.expose("resolvedAt", {
      type: "DateTime",
      nullable: true,
      description: "When it was decided.",
    }),
  }),
});

WarrantyRef.implement({
  description: "A warranty that was registered for a line of an order.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The registration's id, `wty_…`." }),
    orderId: t.exposeID("orderId", { description: "The order it belongs to, `ord_…`." }),
    lineId: t.exposeID("lineId", { description: "The order's line, `oln_…`." }),
    serialNumber: t.string({
      nullable: true,
      description: "The thing's own number. Analysts are not told.",
      resolve: ({ serialNumber }, _args, context) => hideFromAnalysts(serialNumber, context),
    }),
    status: t.expose("status", { type: WarrantyStatusEnum, description: "Whether it counts." }),
    startsAt: t.expose("startsAt", { type: "DateTime", description: "When it begins." }),
    endsAt: t.expose("endsAt", { type: "DateTime", description: "When it ends." }),
    repairsLeft: t.exposeInt("repairsLeft", { description: "How many repairs it still grants." }),
    replacementsLeft: t.exposeInt("replacementsLeft", {
      description: "How many replacements it still grants.",
    }),
    claims: t.field({
      type: [WarrantyClaim],
      description: "What was asked for under it.",
      complexity: { multiplier: 3 },
      resolve: ({ claims }) => [...claims],
    }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was registered." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
  }),
});
