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
    code: t.expose("code", {
      type: CancellationObstacleEnum,
      description:
        "The reason why a request about an order is not possible, or only with the merchant's approval, as " +
        "a code.",
    }),
    message: t.exposeString("message", {
      description: "The reason as a text for people, in the language of the answer (`locale`).",
    }),
    blocking: t.exposeBoolean("blocking", {
      description:
        "Whether the reason rules the cancellation out; if false, the merchant decides about the " +
        "cancellation.",
    }),
    data: t.field({
      type: "JSON",
      description: "Further data about the reason, as a JSON object. The fields depend on `code`.",
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
      description: "Whether the buyer can cancel units of the line.",
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
  description: "A reason that a caller can give for a cancellation.",
  fields: (t) => ({
    code: t.expose("code", {
      type: CancellationReasonEnum,
      description: "The reason for a cancellation as a code, for the input of `orderCancel`.",
    }),
    label: t.exposeString("label", {
      description: "The reason as a text for people, in the language of the answer (`locale`).",
    }),
    actor: t.expose("actor", {
      type: CancellationActorEnum,
      description: "The party that can choose the reason.",
    }),
  }),
});

const Deadline = builder.objectRef<OrderCancellationDeadline>("CancellationDeadline").implement({
  description:
    "The end of the time in which buyers can cancel by the cancellation policy. If the policy needs the " +
    "merchant's approval, the end of the time in which buyers can request a cancellation.",
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
        "Whether the time to cancel ends a number of minutes after the order was placed, or when packing " +
        "starts.",
    }),
    policyMinutes: t.exposeInt("policyMinutes", {
      nullable: true,
      description:
        "The number of minutes after the order was placed in which the policy allows cancellations; null " +
        "if the policy allows them until packing starts.",
    }),
  }),
});

const Fee = builder.objectRef<EstimatedCancellationRefund["fees"][number]>("CancellationFee").implement({
  description: "A fee for a cancellation.",
  fields: (t) => ({
    code: t.expose("code", {
      type: FeeCodeEnum,
      description: "The purpose of the fee, for example restocking.",
    }),
    amount: t.expose("amount", { type: MoneyRef, description: "The amount of the fee." }),
  }),
});

const Refund = builder.objectRef<EstimatedCancellationRefund>("CancellationRefund").implement({
  description: "The refund that the buyer would get if all cancelable units were canceled.",
  fields: (t) => ({
    estimated: t.expose("estimated", {
      type: MoneyRef,
      description:
        "The estimated amount that the buyer gets back: captured money that is refunded, or an authorized " +
        "amount that is never captured.",
    }),
    method: t.expose("method", {
      type: CancellationMethodEnum,
      description:
        "How the buyer gets the estimated amount back: as a refund, or by a void of an authorization that " +
        "was never captured.",
    }),
    shippingRefunded: t.exposeBoolean("shippingRefunded", {
      description: "Whether the refunded amount includes the shipping price.",
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
        "The merchant's summary of the policy as of the time of purchase, in the language of the answer. " +
        "If the merchant has no summary in this language, a description of the policy's rules.",
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
        description: "The version of the order from which the answer was computed.",
      }),
      locale: t.expose("locale", {
        type: "LocaleCode",
        description:
          "The language of all texts in the answer: the first of the preferred languages that the service " +
          "has (English, German or Japanese), else the language of the order, else English.",
      }),
      action: t.expose("action", {
        type: CancellationActionEnum,
        description: "The action of the buyer that the answer is about; always CANCEL.",
      }),
      decision: t.expose("decision", {
        type: EligibilityDecisionEnum,
        description:
          "Whether the buyer can cancel: the decision of the order line that is most favourable to the " +
          "buyer.",
      }),
      scope: t.expose("scope", {
        type: CancellationScopeEnum,
        description: "Whether the whole order, only some of its units, or nothing can be canceled.",
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
        description:
          "The reasons that a caller can give for a cancellation; empty if the cancellation is denied.",
        complexity: { multiplier: 5 },
        resolve: ({ allowedReasonCodes }) => [...allowedReasonCodes],
      }),
      deadline: t.expose("deadline", {
        type: Deadline,
        nullable: true,
        description:
          "The end of the time in which the policy allows cancellations. Null if the policy allows no " +
          "cancellations, or if the cancellation is denied for another reason than a missed deadline.",
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
    description: "The consequences that a cancellation of all cancelable units would have.",
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
    description:
      "The time until which the answer stays the same if the order does not change; at most 15 minutes " +
      "from now.",
  }),
}));

builder.objectFields(OrderRef, (t) => ({
  cancellationEligibility: t.field({
    type: Eligibility,
    description: "Whether the buyer can cancel the order or some of its units at present.",
    args: { languages: t.arg(answerLanguagesArgument) },
    resolve: ({ stored }, { languages }, context) =>
      translateCancellationEligibility(
        stored,
        evaluateCancellationEligibility(stored, context.clock.now()),
        languages ?? context.languages,
      ),
  }),
}));
