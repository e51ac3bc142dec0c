/** Whether an order can be canceled, as it is shown. */
import {
  type CancellationDeadline,
  cancellationEligibility,
  type CancellationEligibility,
  type CancellationLine,
  type CancellationRefund,
} from "#commerce/orders/cancellation/eligibility.ts";
import type { CancellationReasonView, ReasonChoice } from "#commerce/orders/cancellation/reasons.ts";
import { builder } from "#graph/builder.ts";
import { PolicyTypeEnum } from "#graph/catalog/product-detail.ts";
import { MoneyRef, OrderRef } from "#graph/refs.ts";
import {
  AlternativeEnum,
  CancellationActionEnum,
  CancellationActorEnum,
  CancellationClockEnum,
  CancellationMethodEnum,
  CancellationObstacleEnum,
  CancellationScopeEnum,
  ConsequenceEnum,
  EligibilityDecisionEnum,
  FeeCodeEnum,
  PromotionEffectEnum,
} from "./eligibility-enums.ts";
import { CancellationReasonEnum } from "./order-inputs.ts";

const CancellationReason = builder.objectRef<CancellationReasonView>("CancellationReason").implement({
  description: "Why something cannot be canceled, or not without the merchant.",
  fields: (t) => ({
    code: t.expose("code", { type: CancellationObstacleEnum, description: "What it is." }),
    message: t.exposeString("message", { description: "English, for people." }),
    blocking: t.exposeBoolean("blocking", {
      description: "Whether it rules it out; else the merchant decides.",
    }),
    data: t.field({ type: "JSON", description: "What the code says is in it.", resolve: ({ data }) => data }),
  }),
});

const LineEligibility = builder.objectRef<CancellationLine>("CancellationLine").implement({
  description: "What can be canceled of one line.",
  fields: (t) => ({
    lineId: t.exposeID("lineId", { description: "The line, `oln_…`." }),
    decision: t.expose("decision", { type: EligibilityDecisionEnum, description: "Whether it can be." }),
    cancelableQuantity: t.exposeInt("cancelableQuantity", {
      description: "How many units; 0 when it is denied.",
    }),
    orderedQuantity: t.exposeInt("orderedQuantity", { description: "How many were ordered." }),
    reasons: t.field({
      type: [CancellationReason],
      description: "Why not, or not at once; empty when it is allowed.",
      complexity: { multiplier: 2 },
      resolve: ({ reasons }) => [...reasons],
    }),
  }),
});

const Choice = builder.objectRef<ReasonChoice>("CancellationReasonChoice").implement({
  description: "A reason that may be given for a cancellation.",
  fields: (t) => ({
    code: t.expose("code", { type: CancellationReasonEnum, description: "What it is given by." }),
    label: t.exposeString("label", { description: "English, for people." }),
    actor: t.expose("actor", { type: CancellationActorEnum, description: "Who may give it." }),
  }),
});

const Deadline = builder.objectRef<CancellationDeadline>("CancellationDeadline").implement({
  description: "Until when a buyer can cancel without the merchant.",
  fields: (t) => ({
    at: t.expose("at", {
      type: "DateTime",
      nullable: true,
      description: "From then on no more; null: nobody knows when the packing will begin.",
    }),
    clock: t.expose("clock", { type: CancellationClockEnum, description: "What ends it." }),
    policyMinutes: t.exposeInt("policyMinutes", {
      nullable: true,
      description: "The minutes that the policy gives; null: until the packing begins.",
    }),
  }),
});

const Fee = builder.objectRef<CancellationRefund["fees"][number]>("CancellationFee").implement({
  description: "A fee for a cancellation.",
  fields: (t) => ({
    code: t.expose("code", { type: FeeCodeEnum, description: "What it is for." }),
    amount: t.expose("amount", { type: MoneyRef, description: "How much." }),
  }),
});

const Refund = builder.objectRef<CancellationRefund>("CancellationRefund").implement({
  description: "What becomes of the money when all that can be is canceled.",
  fields: (t) => ({
    estimated: t.expose("estimated", { type: MoneyRef, description: "What is given back, or not taken." }),
    method: t.expose("method", { type: CancellationMethodEnum, description: "Which of the two." }),
    shippingRefunded: t.exposeBoolean("shippingRefunded", { description: "Whether the shipping is in it." }),
    fees: t.field({
      type: [Fee],
      description: "What is kept; none at present.",
      complexity: { multiplier: 1 },
      resolve: ({ fees }) => [...fees],
    }),
    promotionEffect: t.expose("promotionEffect", {
      type: PromotionEffectEnum,
      description: "What becomes of the discounts.",
    }),
  }),
});

const Policy = builder.objectRef<CancellationEligibility["policy"]>("CancellationPolicy").implement({
  description: "The policy that the order was placed under.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The snapshot's id, `pol_…`." }),
    type: t.expose("type", { type: PolicyTypeEnum, description: "What it is about." }),
    summary: t.exposeString("summary", { description: "What it says, in the order's locale." }),
  }),
});

const Eligibility = builder.objectRef<CancellationEligibility>("CancellationEligibility").implement({
  description:
    "Whether its buyer can cancel an order, or some of it; the cancellation itself is decided by the same rules.",
  fields: (t) => ({
    orderId: t.exposeID("orderId", { description: "The order, `ord_…`." }),
    orderVersion: t.exposeInt("orderVersion", { description: "Its version." }),
    action: t.expose("action", { type: CancellationActionEnum, description: "Always the same." }),
    decision: t.expose("decision", {
      type: EligibilityDecisionEnum,
      description: "The best that holds for any of its lines.",
    }),
    scope: t.expose("scope", {
      type: CancellationScopeEnum,
      description: "How much of it the decision holds for.",
    }),
    reasons: t.field({
      type: [CancellationReason],
      description: "Why not, or not at once; empty when it is allowed.",
      complexity: { multiplier: 2 },
      resolve: ({ reasons }) => [...reasons],
    }),
    lines: t.field({
      type: [LineEligibility],
      description: "Line by line.",
      complexity: { multiplier: 10 },
      resolve: ({ lines }) => [...lines],
    }),
    allowedReasonCodes: t.field({
      type: [Choice],
      description: "The reasons that may be given; none when it is denied.",
      complexity: { multiplier: 5 },
      resolve: ({ allowedReasonCodes }) => [...allowedReasonCodes],
    }),
    deadline: t.expose("deadline", {
      type: Deadline,
      nullable: true,
      description: "Until when; null where buyers do not cancel by themselves.",
    }),
    refund: t.expose("refund", {
      type: Refund,
      nullable: true,
      description: "What becomes of the money; null when it is denied.",
    }),
    consequences: t.field({
      type: [ConsequenceEnum],
      description: "What follows.",
      complexity: { multiplier: 1 },
      resolve: ({ consequences }) => [...consequences],
    }),
    alternatives: t.field({
      type: [AlternativeEnum],
      description: "What the buyer can do instead.",
      complexity: { multiplier: 1 },
      resolve: ({ alternatives }) => [...alternatives],
    }),
    policy: t.expose("policy", { type: Policy, description: "What it was decided by." }),
    evaluatedAt: t.expose("evaluatedAt", { type: "DateTime", description: "When it was decided." }),
    validUntil: t.expose("validUntil", {
      type: "DateTime",
      description: "Until then the answer stays the same if nobody changes the order; 15 minutes at most.",
    }),
  }),
});

builder.objectFields(OrderRef, (t) => ({
  cancellationEligibility: t.field({
    type: Eligibility,
    description: "Whether its buyer can cancel it, or some of it.",
    resolve: ({ stored }, _args, { clock }) => cancellationEligibility(stored, clock.now()),
  }),
}));
