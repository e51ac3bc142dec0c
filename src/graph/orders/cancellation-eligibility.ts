/**
 * The GraphQL types for the cancellation eligibility of an order: whether the order can be canceled, and if
 * not, why.
 */
import {
  type OrderCancellationDeadline,
  evaluateCancellationEligibility,
  type CancellationEligibility,
  type OrderLineCancellationEligibility,
  type EstimatedCancellationRefund,
} from "#commerce/orders/cancellation/eligibility.ts";
import type {
  CancellationObstacle,
  CancellationReasonOption,
} from "#commerce/orders/cancellation/reasons.ts";
import {
  type TranslatedCancellationEligibility,
  translateCancellationEligibility,
} from "#commerce/orders/cancellation/translate-eligibility.ts";
import { builder } from "#graph/builder.ts";
import { PolicyTypeEnum } from "#graph/catalog/product-detail.ts";
import { MoneyRef, OrderRef } from "#graph/refs.ts";
import {
  AlternativeEnum,
  answerLanguagesArgument,
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

const CancellationReason = builder.objectRef<CancellationObstacle>("CancellationReason").implement({
  description: "Why units cannot be canceled, or only with the merchant's approval.",
  fields: (t) => ({
    code: t.expose("code", { type: CancellationObstacleEnum, description: "The reason as a code." }),
    message: t.exposeString("message", {
      description: "The reason as a text for people to read, in the answer's language.",
    }),
    blocking: t.exposeBoolean("blocking", {
      description: "True if the reason rules the cancellation out; false if the merchant decides.",
    }),
    data: t.field({
      type: "JSON",
      description: "Further data about the reason. The fields depend on `code`.",
      resolve: ({ data }) => data,
    }),
  }),
});

const LineEligibility = builder.objectRef<OrderLineCancellationEligibility>("CancellationLine").implement({
  description: "Whether units of one order line can be canceled.",
  fields: (t) => ({
    lineId: t.exposeID("lineId", { description: "The id of the order line, `oln_…`." }),
    decision: t.expose("decision", {
      type: EligibilityDecisionEnum,
      description: "Whether units of the line can be canceled.",
    }),
    cancelableQuantity: t.exposeInt("cancelableQuantity", {
      description: "The number of units that can be canceled; 0 if the cancellation is denied.",
    }),
    orderedQuantity: t.exposeInt("orderedQuantity", {
      description: "The number of ordered units of the line.",
    }),
    reasons: t.field({
      type: [CancellationReason],
      description: "Why the units cannot be canceled, or not at once; empty if the cancellation is allowed.",
      complexity: { multiplier: 2 },
      resolve: ({ reasons }) => [...reasons],
    }),
  }),
});

const Choice = builder.objectRef<CancellationReasonOption>("CancellationReasonChoice").implement({
  description: "A reason that can be given for a cancellation.",
  fields: (t) => ({
    code: t.expose("code", {
      type: CancellationReasonEnum,
      description: "The reason as a code, for the input of `orderCancel`.",
    }),
    label: t.exposeString("label", {
      description: "The reason as a text for people to read, in the answer's language.",
    }),
    actor: t.expose("actor", {
      type: CancellationActorEnum,
      description: "The party that may give the reason.",
    }),
  }),
});

const Deadline = builder.objectRef<OrderCancellationDeadline>("CancellationDeadline").implement({
  description:
    "The end of the time in which the cancellation policy lets buyers cancel or, if the policy needs the " +
    "merchant's approval, ask for the cancellation.",
  fields: (t) => ({
    at: t.expose("at", {
      type: "DateTime",
      nullable: true,
      description:
        "The time of the deadline; null if the deadline is the start of packing, whose time is not " +
        "known in advance.",
    }),
    clock: t.expose("clock", {
      type: CancellationClockEnum,
      description:
        "Whether the time to cancel ends a number of minutes after the order or when packing starts.",
    }),
    policyMinutes: t.exposeInt("policyMinutes", {
      nullable: true,
      description:
        "The number of minutes after the order in which the policy allows cancellations; null if the " +
        "policy allows them until packing starts.",
    }),
  }),
});

const Fee = builder.objectRef<EstimatedCancellationRefund["fees"][number]>("CancellationFee").implement({
  description: "A fee for a cancellation.",
  fields: (t) => ({
    code: t.expose("code", { type: FeeCodeEnum, description: "The purpose of the fee." }),
    amount: t.expose("amount", { type: MoneyRef, description: "The amount of the fee." }),
  }),
});

const Refund = builder.objectRef<EstimatedCancellationRefund>("CancellationRefund").implement({
  description: "The refund if all cancelable units are canceled.",
  fields: (t) => ({
    estimated: t.expose("estimated", {
      type: MoneyRef,
      description:
        "The estimated amount that is refunded, or that is never captured because it was only " +
        "authorized.",
    }),
    method: t.expose("method", {
      type: CancellationMethodEnum,
      description:
        "How the buyer gets the estimated amount back: as a refund, or by a void of an authorization that " +
        "was never captured.",
    }),
    shippingRefunded: t.exposeBoolean("shippingRefunded", {
      description: "True if the amount includes the shipping price.",
    }),
    fees: t.field({
      type: [Fee],
      description: "The fees that are deducted from the refund. Always empty: canceling costs no fee.",
      complexity: { multiplier: 1 },
      resolve: ({ fees }) => [...fees],
    }),
    promotionEffect: t.expose("promotionEffect", {
      type: PromotionEffectEnum,
      description: "How the cancellation changes the order's discounts.",
    }),
  }),
});

const Policy = builder.objectRef<CancellationEligibility["policy"]>("CancellationPolicy").implement({
  description: "The cancellation policy that applies to the order.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The id of the order's copy of the policy, `pol_…`." }),
    type: t.expose("type", {
      type: PolicyTypeEnum,
      description: "What the policy regulates: cancellations, returns, withdrawals or the warranty.",
    }),
    summary: t.exposeString("summary", {
      description:
        "The merchant's summary of the policy in the answer's language, as of the purchase. If the merchant " +
        "has none in this language, a description of the policy's rules.",
    }),
  }),
});

const Eligibility = builder
  .objectRef<TranslatedCancellationEligibility>("CancellationEligibility")
  .implement({
    description:
      "Whether the buyer can cancel an order or some of its units now. The mutation `orderCancel` " +
      "decides by the same rules.",
    fields: (t) => ({
      orderId: t.exposeID("orderId", { description: "The id of the order, `ord_…`." }),
      orderVersion: t.exposeInt("orderVersion", {
        description: "The version of the order for which the answer was computed.",
      }),
      locale: t.expose("locale", {
        type: "LocaleCode",
        description:
          "The language of all texts in the answer: the first of the preferred languages that the service " +
          "has (English, German or Japanese), else the language of the order, else English.",
      }),
      action: t.expose("action", {
        type: CancellationActionEnum,
        description: "The action that the answer is about; always CANCEL.",
      }),
      decision: t.expose("decision", {
        type: EligibilityDecisionEnum,
        description:
          "The decision for the order: the decision of the line that is most favourable to the buyer.",
      }),
      scope: t.expose("scope", {
        type: CancellationScopeEnum,
        description: "How much of the order the decision applies to.",
      }),
      reasons: t.field({
        type: [CancellationReason],
        description:
          "Why the order cannot be canceled, or not at once; empty if the cancellation is allowed.",
        complexity: { multiplier: 2 },
        resolve: ({ reasons }) => [...reasons],
      }),
      lines: t.field({
        type: [LineEligibility],
        description: "The decision for each order line.",
        complexity: { multiplier: 10 },
        resolve: ({ lines }) => [...lines],
      }),
      allowedReasonCodes: t.field({
        type: [Choice],
        description: "The reasons that can be given; empty if the cancellation is denied.",
        complexity: { multiplier: 5 },
        resolve: ({ allowedReasonCodes }) => [...allowedReasonCodes],
      }),
      deadline: t.expose("deadline", {
        type: Deadline,
        nullable: true,
        description:
          "The end of the time in which the policy allows cancellations; null if the policy allows none, or " +
          "if the cancellation is denied for another reason than a missed deadline.",
      }),
      refund: t.expose("refund", {
        type: Refund,
        nullable: true,
        description:
          "The expected refund if all cancelable units are canceled; null if the cancellation is denied.",
      }),
    }),
  });

builder.objectFields(Eligibility, (t) => ({
  consequences: t.field({
    type: [ConsequenceEnum],
    description: "The consequences of the cancellation.",
    complexity: { multiplier: 1 },
    resolve: ({ consequences }) => [...consequences],
  }),
  alternatives: t.field({
    type: [AlternativeEnum],
    description: "What the buyer can do instead of canceling, for example return units after the delivery.",
    complexity: { multiplier: 1 },
    resolve: ({ alternatives }) => [...alternatives],
  }),
  policy: t.expose("policy", {
    type: Policy,
    description: "The cancellation policy by which the answer was computed.",
  }),
  evaluatedAt: t.expose("evaluatedAt", { type: "DateTime", description: "When the answer was computed." }),
  validUntil: t.expose("validUntil", {
    type: "DateTime",
    description: "Until when the answer stays the same if the order does not change; at most 15 minutes.",
  }),
}));

builder.objectFields(OrderRef, (t) => ({
  cancellationEligibility: t.field({
    type: Eligibility,
    description: "Whether the buyer can cancel the order or some of its units now.",
    args: { languages: t.arg(answerLanguagesArgument) },
    resolve: ({ stored }, { languages }, context) =>
      translateCancellationEligibility(
        stored,
        evaluateCancellationEligibility(stored, context.clock.now()),
        languages ?? context.languages,
      ),
  }),
}));
