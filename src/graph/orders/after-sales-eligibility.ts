/**
 * What a buyer may ask for after the sale: the eligibility of an order and its lines, and the reasons of
 * returns.
 */
import {
  evaluateAfterSalesEligibility,
  type AfterSalesEligibility,
  type AfterSalesLineEligibility,
  type OpenReturnSummary,
} from "#commerce/after-sales/eligibility.ts";
import type { AfterSalesPolicy } from "#commerce/after-sales/after-sales-policies.ts";
import type {
  AfterSalesOption,
  AfterSalesFee,
  AfterSalesOptionOf,
  OrderLevelOption,
} from "#commerce/after-sales/after-sales-option.ts";
import type { AfterSalesReason, ReturnReason } from "#commerce/after-sales/reasons.ts";
import type { Window } from "#commerce/orders/order-terms.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { PolicyTypeEnum } from "#graph/catalog/product-detail.ts";
import { MoneyRef, OrderRef } from "#graph/refs.ts";
import {
  AfterSalesObstacleEnum,
  EligibilityDecisionEnum,
  FeeCodeEnum,
  FeePayerEnum,
  WindowClockEnum,
} from "./eligibility-enums.ts";
import { ReturnKindEnum, ReturnMethodEnum, ReturnSettlementEnum, ReturnStatusEnum } from "./order-enums.ts";
import { OrderLineQuantity } from "./order-parts.ts";
import { OrderQuantities } from "./order-pieces.ts";

/** Why a buyer returns something. */
export const ReturnReasonEnum = defineEnum<ReturnReason>("ReturnReason", {
  description:
    "Why a buyer asks. What is the merchant's fault costs the buyer nothing, and has the time of the legal guarantee.",
  values: {
    size_too_small: "It is too small.",
    size_too_large: "It is too large.",
    color: "Its colour is not the one expected.",
    style: "It does not please.",
    unwanted: "It is not wanted any more.",
    not_as_described: "It is not what was described; the merchant's fault.",
    wrong_item: "It is not what was ordered; the merchant's fault.",
    missing_item: "Something was missing; the merchant's fault.",
    defective: "It does not work; the merchant's fault.",
    damaged_in_transit: "It was damaged on its way; the merchant's fault.",
    arrived_late: "It came too late.",
    not_received: "It never came; the merchant's fault.",
    better_price: "It is cheaper elsewhere.",
    ordered_by_mistake: "It was ordered by mistake.",
    other: "Something else.",
  },
});

const AfterSalesDecisionEnum = defineEnum<AfterSalesEligibility["decision"]>("AfterSalesDecision", {
  description: "For how much of an order something can be asked for after the sale.",
  values: {
    eligible: "For each of its lines.",
    partially_eligible: "For some of its lines.",
    not_eligible: "For none.",
  },
});

const OrderOptionKindEnum = defineEnum<OrderLevelOption["kind"]>("AfterSalesOrderOptionKind", {
  description: "What can be asked for about an order as a whole.",
  values: {
    refund_undelivered: "The money for what was sent and never came.",
    withdrawal: "To withdraw from the purchase.",
  },
});

const EvidenceEnum = defineEnum<AfterSalesOption["evidenceRequired"][number]>("AfterSalesEvidence", {
  description: "What a buyer has to show.",
  values: { photo: "A picture.", serial_number: "The serial number.", receipt: "The receipt." },
});

const Reason = builder.objectRef<AfterSalesReason>("AfterSalesReason").implement({
  description: "Why something cannot be asked for, or not without the merchant.",
  fields: (t) => ({
    code: t.expose("code", { type: AfterSalesObstacleEnum, description: "What it is." }),
    message: t.exposeString("message", { description: "English, for people." }),
    blocking: t.exposeBoolean("blocking", {
      description: "Whether it rules it out; else the merchant decides.",
    }),
    data: t.field({ type: "JSON", description: "What the code says is in it.", resolve: ({ data }) => data }),
  }),
});

const WindowType = builder.objectRef<Window>("AfterSalesWindow").implement({
  description: "The time in which something can be asked for.",
  fields: (t) => ({
    clock: t.expose("clock", { type: WindowClockEnum, description: "What it counts from." }),
    startsAt: t.expose("startsAt", {
      type: "DateTime",
      nullable: true,
      description: "Its beginning; null: not known yet.",
    }),
    endsAt: t.expose("endsAt", {
      type: "DateTime",
      nullable: true,
      description:
        "Its last millisecond, the end of a day in the market's time zone; null: it has no end, or none that is known yet.",
    }),
    estimated: t.exposeBoolean("estimated", {
      description: "Whether a delivery that nobody has reported is reckoned with.",
    }),
  }),
});

const Fee = builder.objectRef<AfterSalesFee>("AfterSalesFee").implement({
  description: "A fee, and who bears it.",
  fields: (t) => ({
    code: t.expose("code", { type: FeeCodeEnum, description: "What it is for." }),
    amount: t.expose("amount", { type: MoneyRef, nullable: true, description: "How much." }),
    basisPoints: t.exposeInt("basisPoints", {
      nullable: true,
      description: "In hundredths of a percent of what is returned; null: it is a fixed amount.",
    }),
    payer: t.expose("payer", { type: FeePayerEnum, description: "Who bears it." }),
  }),
});

const Offer = builder.interfaceRef<AfterSalesOptionOf<string>>("AfterSalesOffer").implement({
  description: "What every option after the sale says.",
  fields: (t) => ({
    decision: t.expose("decision", {
      type: EligibilityDecisionEnum,
      description: "Whether it can be asked for.",
    }),
    eligibleQuantity: t.exposeInt("eligibleQuantity", {
      description: "For how many units; 0 when it is denied.",
    }),
    reasons: t.field({
      type: [Reason],
      description: "Why not, or not without the merchant; empty when it is allowed.",
      complexity: { multiplier: 1 },
      resolve: ({ reasons }) => [...reasons],
    }),
    allowedReasonCodes: t.field({
      type: [ReturnReasonEnum],
      description: "The reasons that may be given for it; none when it is denied.",
      complexity: { multiplier: 1 },
      resolve: ({ allowedReasonCodes }) => [...allowedReasonCodes],
    }),
    window: t.expose("window", { type: WindowType, description: "The time for it." }),
    methods: t.field({
      type: [ReturnMethodEnum],
      description: "How it can come back.",
      complexity: { multiplier: 1 },
      resolve: ({ methods }) => [...methods],
    }),
    fees: t.field({
      type: [Fee],
      description: "What it costs, and whom.",
      complexity: { multiplier: 1 },
      resolve: ({ fees }) => [...fees],
    }),
    estimatedRefund: t.expose("estimatedRefund", {
      type: MoneyRef,
      nullable: true,
      description:
        "What is given back for all of these units, less the buyer's fees; null where no money is.",
    }),
    settlement: t.field({
      type: [ReturnSettlementEnum],
      description: "What the buyer may have for it.",
      complexity: { multiplier: 1 },
      resolve: ({ settlement }) => [...settlement],
    }),
    evidenceRequired: t.field({
      type: [EvidenceEnum],
      description: "What the buyer has to show.",
      complexity: { multiplier: 1 },
      resolve: ({ evidenceRequired }) => [...evidenceRequired],
    }),
    policyId: t.exposeID("policyId", { description: "The policy it was decided by, `pol_…`." }),
  }),
});

const Option = builder.objectRef<AfterSalesOption>("AfterSalesOption").implement({
  description: "What can be asked for about a line.",
  interfaces: [Offer],
  fields: (t) => ({ kind: t.expose("kind", { type: ReturnKindEnum, description: "What it is." }) }),
});

const OrderOptionType = builder.objectRef<OrderLevelOption>("AfterSalesOrderOption").implement({
  description: "What can be asked for about an order as a whole.",
  interfaces: [Offer],
  fields: (t) => ({ kind: t.expose("kind", { type: OrderOptionKindEnum, description: "What it is." }) }),
});

const Line = builder.objectRef<AfterSalesLineEligibility>("AfterSalesLine").implement({
  description: "What can be asked for about one line.",
  fields: (t) => ({
    lineId: t.exposeID("lineId", { description: "The line, `oln_…`." }),
    quantities: t.expose("quantities", {
      type: OrderQuantities,
      description: "What has become of its units.",
    }),
    options: t.field({
      type: [Option],
      description: "One for each kind, denied ones too.",
      complexity: { multiplier: 6 },
      resolve: ({ options }) => [...options],
    }),
  }),
});

const Case = builder.objectRef<OpenReturnSummary>("AfterSalesCase").implement({
  description: "A return that is not over.",
  fields: (t) => ({
    returnId: t.exposeID("returnId", { description: "The return, `ret_…`." }),
    kind: t.expose("kind", { type: ReturnKindEnum, description: "What it is for." }),
    status: t.expose("status", { type: ReturnStatusEnum, description: "How far it is." }),
    lines: t.field({
      type: [OrderLineQuantity],
      description: "What it is about.",
      complexity: { multiplier: 2 },
      resolve: ({ lines }) => [...lines],
    }),
  }),
});

const Policy = builder.objectRef<AfterSalesPolicy>("AfterSalesPolicy").implement({
  description: "A policy that the order was placed under.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The snapshot's id, `pol_…`." }),
    type: t.expose("type", { type: PolicyTypeEnum, description: "What it is about." }),
    clock: t.expose("clock", { type: WindowClockEnum, description: "What its time counts from." }),
    windowDays: t.exposeInt("windowDays", {
      nullable: true,
      description: "Its days; null: it has no end, or is counted in months.",
    }),
    summary: t.exposeString("summary", { description: "What it says, in the order's locale." }),
    url: t.expose("url", { type: "URL", nullable: true, description: "Where the whole text is." }),
  }),
});

const Eligibility = builder.objectRef<AfterSalesEligibility>("AfterSalesEligibility").implement({
  description:
    "What its buyer may ask for about an order after the sale; asking is decided by the same rules.",
  fields: (t) => ({
    orderId: t.exposeID("orderId", { description: "The order, `ord_…`." }),
    orderVersion: t.exposeInt("orderVersion", { description: "Its version." }),
    decision: t.expose("decision", {
      type: AfterSalesDecisionEnum,
      description: "For how much of it something can be asked for.",
    }),
    lines: t.field({
      type: [Line],
      description: "Line by line.",
      complexity: { multiplier: 5 },
      resolve: ({ lines }) => [...lines],
    }),
    orderLevel: t.field({
      type: [OrderOptionType],
      description: "For the order as a whole.",
      complexity: { multiplier: 2 },
      resolve: ({ orderLevel }) => [...orderLevel],
    }),
    openCases: t.field({
      type: [Case],
      description: "What is under way.",
      complexity: { multiplier: 2 },
      resolve: ({ openCases }) => [...openCases],
    }),
    policies: t.field({
      type: [Policy],
      description: "What it was decided by.",
      complexity: { multiplier: 3 },
      resolve: ({ policies }) => [...policies],
    }),
    evaluatedAt: t.expose("evaluatedAt", { type: "DateTime", description: "When it was decided." }),
    validUntil: t.expose("validUntil", {
      type: "DateTime",
      description: "Until then the answer stays the same if nobody changes the order; 15 minutes at most.",
    }),
  }),
});

builder.objectFields(OrderRef, (t) => ({
  afterSalesEligibility: t.field({
    type: Eligibility,
    description: "What its buyer may ask for after the sale.",
    resolve: async ({ stored }, _args, { loaders, clock }) =>
      evaluateAfterSalesEligibility(
        stored,
        await loaders.afterSalesFacts.load({ order: stored, now: clock.now() }),
      ),
  }),
}));
