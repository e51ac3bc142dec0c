/** The GraphQL types of the returns and warranty registrations of an order. */
import type { OrderWarranty, ReturnLine } from "#commerce/orders/order-aggregate.ts";
import { builder } from "#graph/builder.ts";
import { hideFromAnalysts } from "#graph/context.ts";
import { MoneyRef, ReturnRef, WarrantyRef } from "#graph/refs.ts";
import {
  ReturnKindEnum,
  ReturnMethodEnum,
  ReturnSettlementEnum,
  ReturnStatusEnum,
  WarrantyClaimKindEnum,
  WarrantyClaimStatusEnum,
  WarrantyStatusEnum,
} from "./order-enums.ts";
import { ReturnReasonEnum } from "./eligibility-enums.ts";
import { getValueIfCallerIsMerchantStaff } from "./order-parts.ts";

const ReturnLineType = builder.objectRef<ReturnLine>("ReturnLine").implement({
  description: "Units of an order line that are returned.",
  fields: (t) => ({
    lineId: t.exposeID("lineId", { description: "The id of the order line, `oln_…`." }),
    quantity: t.exposeInt("quantity", { description: "The number of units that the buyer announced." }),
    received: t.exposeInt("received", { description: "The number of announced units that have arrived." }),
    accepted: t.exposeInt("accepted", {
      description: "The number of received units that passed the inspection.",
    }),
    restocked: t.exposeInt("restocked", {
      description: "The number of accepted units that can be sold again.",
    }),
  }),
});

ReturnRef.implement({
  description:
    "A buyer's request about delivered units: a return, exchange, refund without return, repair, " +
    "replacement or withdrawal.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The id of the return, `ret_…`." }),
    orderId: t.exposeID("orderId", {
      description: "The id of the order to which the returned units belong, `ord_…`.",
    }),
    status: t.expose("status", { type: ReturnStatusEnum, description: "The status of the return." }),
    kind: t.expose("kind", {
      type: ReturnKindEnum,
      description: "The kind of the buyer's request, for example a return with refund or a repair.",
    }),
    reason: t.expose("reason", { type: ReturnReasonEnum, description: "Why the buyer made the request." }),
    note: t.string({
      nullable: true,
      description:
        "The buyer's reason in the buyer's own words; null if the buyer gave none. Analysts always get null.",
      resolve: ({ note }, _args, context) => hideFromAnalysts(note, context),
    }),
    declineReason: t.string({
      nullable: true,
      description:
        "The reason for which the merchant declined the return, in words; null if the return was not " +
        "declined. Analysts always get null.",
      resolve: ({ declineReason }, _args, context) => hideFromAnalysts(declineReason, context),
    }),
    inspectionNote: t.string({
      nullable: true,
      description:
        "The note that the merchant's staff wrote at the inspection. Only the merchant's staff can read " +
        "the note; null for other callers.",
      resolve: ({ inspectionNote }, _args, context) =>
        getValueIfCallerIsMerchantStaff(inspectionNote, context),
    }),
  }),
});

builder.objectFields(ReturnRef, (t) => ({
  method: t.expose("method", {
    type: ReturnMethodEnum,
    nullable: true,
    description: "How the units are sent back; null if no way has been chosen yet.",
  }),
  settlement: t.expose("settlement", {
    type: ReturnSettlementEnum,
    nullable: true,
    description:
      "How the return is settled for the buyer, for example by a refund; null if that is not decided yet.",
  }),
  refund: t.expose("refund", {
    type: MoneyRef,
    description: "The refund that was promised to the buyer, less the fee.",
  }),
  fee: t.expose("fee", {
    type: MoneyRef,
    description: "The fee that is deducted from the refund.",
  }),
  exchangeVariantId: t.exposeID("exchangeVariantId", {
    nullable: true,
    description:
      "The id of the variant that the buyer gets in exchange, `var_…`; null if nothing is exchanged.",
  }),
  fulfillmentIds: t.idList({
    description: "The ids of the fulfillments that send the exchange or replacement, `ful_…`.",
    complexity: { multiplier: 1 },
    resolve: ({ fulfillmentIds }) => [...fulfillmentIds],
  }),
  policyId: t.exposeID("policyId", {
    nullable: true,
    description:
      "The id of the order's policy under which the return was granted, `pol_…`; null if no policy applied.",
  }),
  lines: t.field({
    type: [ReturnLineType],
    description: "The returned units.",
    complexity: { multiplier: 5 },
    resolve: ({ lines }) => [...lines],
  }),
  requestedAt: t.expose("requestedAt", { type: "DateTime", description: "When the return was requested." }),
  closedAt: t.expose("closedAt", {
    type: "DateTime",
    nullable: true,
    description: "When the return was settled and closed; null unless the status is CLOSED.",
  }),
  version: t.exposeInt("version", {
    description: "The version of the return, which rises by one with every change.",
  }),
  updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When the return last changed." }),
}));

const WarrantyClaim = builder.objectRef<OrderWarranty["claims"][number]>("WarrantyClaim").implement({
  description: "A buyer's claim under a warranty.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The id of the claim, `wcl_…`." }),
    kind: t.expose("kind", {
      type: WarrantyClaimKindEnum,
      description: "What the warranty claim requests: a repair or a replacement.",
    }),
    status: t.expose("status", {
      type: WarrantyClaimStatusEnum,
      description: "The status of the warranty claim.",
    }),
    description: t.string({
      nullable: true,
      description:
        "The defect in the buyer's words; null if the buyer described none. Analysts always get null.",
      resolve: ({ description }, _args, context) => hideFromAnalysts(description, context),
    }),
    resolution: t.string({
      nullable: true,
      description:
        "The merchant's decision in words; null if there is no decision yet. Analysts always get null.",
      resolve: ({ resolution }, _args, context) => hideFromAnalysts(resolution, context),
    }),
    openedAt: t.expose("openedAt", { type: "DateTime", description: "When the claim was opened." }),
    resolvedAt: t.expose("resolvedAt", {
      type: "DateTime",
      nullable: true,
      description: "When the merchant decided about the claim; null if there is no decision yet.",
    }),
  }),
});

WarrantyRef.implement({
  description: "A warranty that was registered for an order line.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The id of the registration, `wty_…`." }),
    orderId: t.exposeID("orderId", { description: "The id of the order, `ord_…`." }),
    lineId: t.exposeID("lineId", { description: "The id of the order line, `oln_…`." }),
    serialNumber: t.string({
      nullable: true,
      description: "The serial number of the unit; null if none was given. Analysts always get null.",
      resolve: ({ serialNumber }, _args, context) => hideFromAnalysts(serialNumber, context),
    }),
    status: t.expose("status", { type: WarrantyStatusEnum, description: "Whether the warranty is valid." }),
    startsAt: t.expose("startsAt", { type: "DateTime", description: "When the warranty starts." }),
    endsAt: t.expose("endsAt", { type: "DateTime", description: "When the warranty ends." }),
    repairsLeft: t.exposeInt("repairsLeft", {
      description: "The number of repairs that the warranty still covers.",
    }),
    replacementsLeft: t.exposeInt("replacementsLeft", {
      description: "The number of replacements that the warranty still covers.",
    }),
    claims: t.field({
      type: [WarrantyClaim],
      description: "The claims under the warranty.",
      complexity: { multiplier: 3 },
      resolve: ({ claims }) => [...claims],
    }),
    version: t.exposeInt("version", {
      description: "The version of the registration, which rises by one with every change.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the warranty was registered." }),
    updatedAt: t.expose("updatedAt", {
      type: "DateTime",
      description: "When the registration last changed.",
    }),
  }),
});
