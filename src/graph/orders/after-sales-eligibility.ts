/**
 * The GraphQL types for the after-sales eligibility of orders and order lines, for example whether a line can
 * be returned. Also the types for the reasons of returns.
 */
import {
  evaluateAfterSalesEligibility,
  type AfterSalesEligibility,
  type OrderLineAfterSalesEligibility,
  type OpenReturnSummary,
} from "#commerce/after-sales/eligibility.ts";
import type { AfterSalesPolicy } from "#commerce/after-sales/after-sales-policies.ts";
import type {
  AfterSalesOption,
  AfterSalesOptionOfKind,
  OrderLevelAfterSalesOption,
} from "#commerce/after-sales/after-sales-option.ts";
import {
  translateAfterSalesEligibility,
  type TranslatedAfterSalesEligibility,
} from "#commerce/after-sales/translate-eligibility.ts";
import type { AfterSalesObstacle } from "#commerce/after-sales/reasons.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { PolicyTypeEnum } from "#graph/catalog/product-detail.ts";
import { MoneyRef, OrderRef } from "#graph/refs.ts";
import {
  AfterSalesObstacleEnum,
  answerLanguagesArgument,
  EligibilityDecisionEnum,
  ReturnReasonEnum,
  WindowClockEnum,
} from "./eligibility-enums.ts";
import { AfterSalesFeeType, AfterSalesWindowType } from "./after-sales-terms.ts";
import { ReturnKindEnum, ReturnMethodEnum, ReturnSettlementEnum, ReturnStatusEnum } from "./order-enums.ts";
import { OrderLineQuantity } from "./order-parts.ts";
import { OrderQuantities } from "./order-pieces.ts";

const AfterSalesDecisionEnum = defineGraphqlEnum<AfterSalesEligibility["decision"]>("AfterSalesDecision", {
  description: "For how many lines of an order the buyer has after-sales options.",
  values: {
    eligible: "At least one after-sales option, for example a return, is possible for every line.",
    partially_eligible: "At least one after-sales option is possible for some of the lines.",
    not_eligible: "No after-sales option is possible for any line.",
  },
});

const OrderOptionKindEnum = defineGraphqlEnum<OrderLevelAfterSalesOption["kind"]>(
  "AfterSalesOrderOptionKind",
  {
    description: "An after-sales option for a whole order.",
    values: {
      refund_undelivered: "The buyer asks for a refund of units that were shipped and did not arrive.",
      withdrawal: "The buyer withdraws from the purchase of the whole order.",
    },
  },
);

const EvidenceEnum = defineGraphqlEnum<AfterSalesOption["evidenceRequired"][number]>("AfterSalesEvidence", {
  description: "Evidence that the buyer must provide with an after-sales request.",
  values: {
    photo: "A photo of the product.",
    serial_number: "The serial number of the product.",
    receipt: "The receipt of the purchase.",
  },
});

const Reason = builder.objectRef<AfterSalesObstacle>("AfterSalesReason").implement({
  description: "Why an after-sales option is not possible, or only with the merchant's approval.",
  fields: (t) => ({
    code: t.expose("code", {
      type: AfterSalesObstacleEnum,
      description:
        "The reason why a request about an order is not possible, or only with the merchant's approval, as " +
        "a code.",
    }),
    message: t.exposeString("message", {
      description: "The reason as a text for people, in the language of the answer (`locale`).",
    }),
    blocking: t.exposeBoolean("blocking", {
      description:
        "Whether the reason rules the after-sales option out; if false, the merchant decides about the " +
        "request.",
    }),
    data: t.field({
      type: "JSON",
      description: "Further data about the reason, as a JSON object. The fields depend on `code`.",
      resolve: ({ data }) => data,
    }),
  }),
});

const Offer = builder.interfaceRef<AfterSalesOptionOfKind<string>>("AfterSalesOffer").implement({
  description:
    "The fields of every after-sales option, for example a return or an exchange, but not a cancellation.",
  fields: (t) => ({
    decision: t.expose("decision", {
      type: EligibilityDecisionEnum,
      description: "Whether the buyer can make the after-sales request that the option describes.",
    }),
    eligibleQuantity: t.exposeInt("eligibleQuantity", {
      description:
        "The number of units for which the buyer can make the request; 0 if the request is denied.",
    }),
    reasons: t.field({
      type: [Reason],
      description:
        "The reasons why the request is not possible, or only with the merchant's approval; empty if the " +
        "request is allowed.",
      complexity: { multiplier: 1 },
      resolve: ({ reasons }) => [...reasons],
    }),
    allowedReasonCodes: t.field({
      type: [ReturnReasonEnum],
      description:
        "The reasons that the buyer may give with the after-sales request; empty if the request is denied.",
      complexity: { multiplier: 1 },
      resolve: ({ allowedReasonCodes }) => [...allowedReasonCodes],
    }),
    window: t.expose("window", {
      type: AfterSalesWindowType,
      description: "The time window in which the buyer can make the request.",
    }),
    methods: t.field({
      type: [ReturnMethodEnum],
      description: "The ways in which the buyer can send the units back.",
      complexity: { multiplier: 1 },
      resolve: ({ methods }) => [...methods],
    }),
    fees: t.field({
      type: [AfterSalesFeeType],
      description: "The fees of the option, with the party that pays each fee.",
      complexity: { multiplier: 1 },
      resolve: ({ fees }) => [...fees],
    }),
    estimatedRefund: t.expose("estimatedRefund", {
      type: MoneyRef,
      nullable: true,
      description:
        "The estimated refund of all units for which the request is possible, less fees; null if there is " +
        "no refund.",
    }),
    settlement: t.field({
      type: [ReturnSettlementEnum],
      description: "The ways in which the return can be settled, for example a refund or a replacement.",
      complexity: { multiplier: 1 },
      resolve: ({ settlement }) => [...settlement],
    }),
    evidenceRequired: t.field({
      type: [EvidenceEnum],
      description: "The evidence, for example a photo, that the buyer must provide with the request.",
      complexity: { multiplier: 1 },
      resolve: ({ evidenceRequired }) => [...evidenceRequired],
    }),
    policyId: t.exposeID("policyId", {
      description: "The id of the policy by which the option was decided, `pol_…`.",
    }),
  }),
});

const Option = builder.objectRef<AfterSalesOption>("AfterSalesOption").implement({
  description: "An after-sales option for one order line.",
  interfaces: [Offer],
  fields: (t) => ({
    kind: t.expose("kind", {
      type: ReturnKindEnum,
      description: "The kind of request that the option describes.",
    }),
  }),
});

const OrderOptionType = builder.objectRef<OrderLevelAfterSalesOption>("AfterSalesOrderOption").implement({
  description: "An after-sales option for a whole order.",
  interfaces: [Offer],
  fields: (t) => ({
    kind: t.expose("kind", {
      type: OrderOptionKindEnum,
      description: "The kind of request that the option describes.",
    }),
  }),
});

const Line = builder.objectRef<OrderLineAfterSalesEligibility>("AfterSalesLine").implement({
  description: "The after-sales options of one order line.",
  fields: (t) => ({
    lineId: t.exposeID("lineId", { description: "The id of the order line, `oln_…`." }),
    quantities: t.expose("quantities", {
      type: OrderQuantities,
      description: "The numbers of units of the line by their state, for example ordered or shipped.",
    }),
    options: t.field({
      type: [Option],
      description: "One option for each kind of after-sales request, including denied options.",
      complexity: { multiplier: 6 },
      resolve: ({ options }) => [...options],
    }),
  }),
});

const Case = builder.objectRef<OpenReturnSummary>("AfterSalesCase").implement({
  description: "A return of an order that has not ended.",
  fields: (t) => ({
    returnId: t.exposeID("returnId", { description: "The id of the return, `ret_…`." }),
    kind: t.expose("kind", {
      type: ReturnKindEnum,
      description: "The kind of the buyer's request, for example a return with refund or a repair.",
    }),
    status: t.expose("status", { type: ReturnStatusEnum, description: "The status of the return." }),
    lines: t.field({
      type: [OrderLineQuantity],
      description: "The order lines of the return, with the number of units of each.",
      complexity: { multiplier: 2 },
      resolve: ({ lines }) => [...lines],
    }),
  }),
});

const Policy = builder.objectRef<AfterSalesPolicy>("AfterSalesPolicy").implement({
  description: "A policy that applies to the order.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The id of the order's copy of the policy, `pol_…`." }),
    type: t.expose("type", {
      type: PolicyTypeEnum,
      description: "What the policy regulates: cancellations, returns, withdrawals or the warranty.",
    }),
    clock: t.expose("clock", {
      type: WindowClockEnum,
      description: "The event at which the policy's time window starts.",
    }),
    windowDays: t.exposeInt("windowDays", {
      nullable: true,
      description:
        "The length of the policy's time window in days; null if the window has no end or is counted " +
        "in months.",
    }),
    summary: t.exposeString("summary", {
      description:
        "The merchant's summary of the policy as of the time of purchase, in the language of the answer. " +
        "If the merchant has no summary in this language, a description of the policy's rules.",
    }),
    url: t.expose("url", {
      type: "URL",
      nullable: true,
      description: "The URL of the policy's full text; null if there is none.",
    }),
  }),
});

const Eligibility = builder.objectRef<TranslatedAfterSalesEligibility>("AfterSalesEligibility").implement({
  description:
    "The after-sales options that the buyer of an order has now. The mutation `returnRequest` " +
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
    decision: t.expose("decision", {
      type: AfterSalesDecisionEnum,
      description: "Whether the buyer has after-sales options for all, some or none of the order lines.",
    }),
    lines: t.field({
      type: [Line],
      description: "The after-sales options of each order line.",
      complexity: { multiplier: 5 },
      resolve: ({ lines }) => [...lines],
    }),
    orderLevel: t.field({
      type: [OrderOptionType],
      description: "The after-sales options for the whole order.",
      complexity: { multiplier: 2 },
      resolve: ({ orderLevel }) => [...orderLevel],
    }),
    openCases: t.field({
      type: [Case],
      description: "The returns of the order that have not ended.",
      complexity: { multiplier: 2 },
      resolve: ({ openCases }) => [...openCases],
    }),
    policies: t.field({
      type: [Policy],
      description: "The policies of the order by which the options were decided.",
      complexity: { multiplier: 3 },
      resolve: ({ policies }) => [...policies],
    }),
    evaluatedAt: t.expose("evaluatedAt", { type: "DateTime", description: "When the answer was computed." }),
    validUntil: t.expose("validUntil", {
      type: "DateTime",
      description:
        "The time until which the answer stays the same if the order does not change; at most 15 minutes " +
        "from now.",
    }),
  }),
});

builder.objectFields(OrderRef, (t) => ({
  afterSalesEligibility: t.field({
    type: Eligibility,
    description:
      "The after-sales requests that the buyer can make for the order at present, for example a return.",
    args: { languages: t.arg(answerLanguagesArgument) },
    resolve: async ({ stored }, { languages }, context) => {
      const { loaders, clock } = context;
      const facts = await loaders.afterSalesFacts.load({ order: stored, now: clock.now() });
      const answer = evaluateAfterSalesEligibility(stored, facts);
      return translateAfterSalesEligibility(stored, answer, languages ?? context.languages);
    },
  }),
}));
