/** The reports on selling: sales by currency, the funnel from cart to order, and what promotions brought. */
import {
  type PromotionSalesFigures,
  type PromotionReport,
  readPromotionReport,
  readSalesReport,
  type SalesFigures,
  type CurrencySales,
} from "#commerce/reports/sales-report.ts";
import type { Bucket, Period } from "#foundation/period.ts";
import { builder } from "#graph/builder.ts";
import { readers } from "#graph/context.ts";
import {
  type FunnelFigures,
  type FunnelReport,
  readFunnelReport,
  type SessionOutcomeCount,
} from "#commerce/reports/shopping-report.ts";
import { SessionCancelReasonEnum, SessionStatusEnum } from "#graph/checkout/session-types.ts";
import {
  ReportBucketRef,
  reportListCost,
  listReportCost,
  ReportPeriodRef,
  readShopReport,
  bucketedReportCost,
  reportTotalsCost,
  listLengthArgs,
  intervalArgs,
  marketArgs,
  reportArgs,
} from "./report-period.ts";

const SalesFiguresType = builder.interfaceRef<SalesFigures>("SalesFigures").implement({
  description:
    "Orders that were placed in a time, in one currency. An order counts when it was placed (its payment was authorised, or there was nothing to pay), whatever becomes of it later: what is canceled, returned and refunded is taken from the time in which its order was placed, so figures of the past change.",
  fields: (t) => ({
    currency: t.expose("currency", {
      type: "CurrencyCode",
      description: "The currency of all of its amounts.",
    }),
    orders: t.exposeInt("orders", { description: "Orders that were placed, those canceled since included." }),
    canceledOrders: t.exposeInt("canceledOrders", {
      description: "Of them, those that were canceled as a whole since.",
    }),
    units: t.exposeInt("units", {
      description: "Units that were ordered, those canceled or returned since included.",
    }),
    grossMinor: t.expose("grossMinor", {
      type: "MinorUnits",
      description:
        "What the buyers agreed to pay, in minor units: the totals of all of the orders as they were placed, after discounts, with shipping and tax.",
    }),
    reducedMinor: t.expose("reducedMinor", {
      type: "MinorUnits",
      description:
        "What of that they owe no longer, in minor units: what was canceled, returned (less its fees), forgiven or lost in a dispute since, paid already or not.",
    }),
    netMinor: t.expose("netMinor", {
      type: "MinorUnits",
      description: "grossMinor less reducedMinor, in minor units.",
    }),
    refundedMinor: t.expose("refundedMinor", {
      type: "MinorUnits",
      description:
        "What was given back to their buyers, in minor units: refunds that succeeded, whenever; without what a bank took back in a dispute. What is canceled before it was paid is reduced and never refunded.",
    }),
    discountMinor: t.expose("discountMinor", {
      type: "MinorUnits",
      description:
        "What promotions took off when they were placed, off the shipping included, in minor units; grossMinor is without it.",
    }),
    shippingMinor: t.expose("shippingMinor", {
      type: "MinorUnits",
      description:
        "What shipping cost when they were placed, before discounts, in minor units; part of grossMinor.",
    }),
    taxMinor: t.expose("taxMinor", {
      type: "MinorUnits",
      description: "The tax in grossMinor when they were placed, in minor units.",
    }),
    averageOrderMinor: t.expose("averageOrderMinor", {
      type: "MinorUnits",
      nullable: true,
      description: "grossMinor by orders, rounded half up, in minor units; null: there were no orders.",
    }),
  }),
});

const SalesTotals = builder
  .objectRef<SalesFigures>("SalesTotals")
  .implement({ description: "What was sold in the whole time.", interfaces: [SalesFiguresType] });

const SalesBucket = builder.objectRef<SalesFigures & Bucket>("SalesBucket").implement({
  description: "What was sold in a piece of the time.",
  interfaces: [ReportBucketRef, SalesFiguresType],
});

const OfCurrency = builder.objectRef<CurrencySales>("SalesOfCurrency").implement({
  description: "What was sold in one currency. Amounts of two currencies are never added.",
  fields: (t) => ({
    currency: t.expose("currency", {
      type: "CurrencyCode",
      complexity: reportTotalsCost,
      description: "The currency.",
    }),
    totals: t.expose("totals", {
      type: SalesTotals,
      complexity: reportTotalsCost,
      description: "The whole time.",
    }),
    buckets: t.field({
      type: [SalesBucket],
      description: "Each piece of the time, in order, also where nothing was sold.",
      complexity: reportListCost,
      resolve: ({ buckets }) => buckets,
    }),
  }),
});

interface SalesReport {
  readonly period: Period;
  readonly currencies: readonly CurrencySales[];
}

const SalesReportType = builder.objectRef<SalesReport>("SalesReport").implement({
  description: "What was sold, by currency and over time.",
  fields: (t) => ({
    period: t.expose("period", {
      type: ReportPeriodRef,
      complexity: reportTotalsCost,
      description: "The time that it is about.",
    }),
    currencies: t.field({
      type: [OfCurrency],
      description:
        "Each currency that is sold in, or was, by its code; one in which nothing was sold has zeros.",
      complexity: reportListCost,
      resolve: ({ currencies }) => currencies,
    }),
  }),
});

builder.queryField("salesReport", (t) =>
  t.field({
    type: SalesReportType,
    description:
      "What was sold: orders, units and amounts, by currency and over time. An order counts when it was placed.",
    authScopes: { callers: readers },
    complexity: bucketedReportCost,
    args: { ...reportArgs, ...intervalArgs, ...marketArgs },
    resolve: (_root, args, context) =>
      readShopReport(context, args, async (reader, scope) => ({
        currencies: await readSalesReport(reader, scope),
      })),
  }),
);

/** The report on how far carts come. */
const FunnelOutcome = builder.objectRef<SessionOutcomeCount>("FunnelOutcome").implement({
  description: "Where checkout sessions are, and why they ended.",
  fields: (t) => ({
    status: t.expose("status", {
      type: SessionStatusEnum,
      description:
        "COMPLETED: there is an order. CANCELED and EXPIRED: it ended without one. OPEN and PROCESSING: it has no end yet.",
    }),
    reason: t.expose("reason", {
      type: SessionCancelReasonEnum,
      nullable: true,
      description: "Why it was canceled; null: it was not.",
    }),
    sessions: t.exposeInt("sessions", { description: "How many sessions." }),
  }),
});

const FunnelFiguresType = builder.interfaceRef<FunnelFigures>("FunnelFigures").implement({
  description:
    "How far carts came. A cart counts when it was made, with all that becomes of it later, so figures of the past change; carts that were merged into another are left out.",
  fields: (t) => ({
    carts: t.exposeInt("carts", { description: "Carts that were made." }),
    checkouts: t.exposeInt("checkouts", {
      description: "Of them, those with a checkout session, or several.",
    }),
    submittedCheckouts: t.exposeInt("submittedCheckouts", {
      description: "Of them, those with a session that was submitted, also where its payment failed then.",
    }),
    orders: t.exposeInt("orders", {
      description: "Of them, those that became an order, canceled since or not.",
    }),
    sessions: t.exposeInt("sessions", {
      description: "Checkout sessions of these carts; a cart may have had several.",
    }),
    conversionRate: t.exposeFloat("conversionRate", {
      nullable: true,
      description: "Orders of all carts, 0 to 1; null: there were no carts.",
    }),
    outcomes: t.field({
      type: [FunnelOutcome],
      description:
        "The sessions by where they are and why they ended, the most frequent first; what did not occur is left out.",
      complexity: { multiplier: 3 },
      resolve: ({ outcomes }) => outcomes,
    }),
  }),
});

const FunnelTotals = builder.objectRef<FunnelFigures>("FunnelTotals").implement({
  description: "How far the carts of the whole time came.",
  interfaces: [FunnelFiguresType],
});

const FunnelBucket = builder.objectRef<FunnelFigures & Bucket>("FunnelBucket").implement({
  description: "How far the carts of a piece of the time came.",
  interfaces: [ReportBucketRef, FunnelFiguresType],
});

const FunnelReportType = builder
  .objectRef<FunnelReport & { readonly period: Period }>("FunnelReport")
  .implement({
    description: "How far carts came: to a checkout, to its submission, to an order.",
    fields: (t) => ({
      period: t.expose("period", {
        type: ReportPeriodRef,
        complexity: reportTotalsCost,
        description: "The time that it is about: that in which the carts were made.",
      }),
      totals: t.expose("totals", {
        type: FunnelTotals,
        complexity: reportTotalsCost,
        description: "The whole time.",
      }),
      buckets: t.field({
        type: [FunnelBucket],
        description: "Each piece of the time, in order, also where no cart was made.",
        complexity: reportListCost,
        resolve: ({ buckets }) => buckets,
      }),
    }),
  });

builder.queryField("funnelReport", (t) =>
  t.field({
    type: FunnelReportType,
    description:
      "How far carts came, over time: carts, checkouts, submissions, orders; and why checkouts ended. A cart counts when it was made.",
    authScopes: { callers: readers },
    complexity: bucketedReportCost,
    args: { ...reportArgs, ...intervalArgs, ...marketArgs },
    resolve: (_root, args, context) =>
      readShopReport(context, args, (reader, scope) =>
        readFunnelReport(reader, { ...scope, now: context.clock.now() }),
      ),
  }),
);

/** The report on what promotions did. */
const PromotionFiguresType = builder.interfaceRef<PromotionSalesFigures>("PromotionFigures").implement({
  description:
    "Orders of a time that had a promotion, in one currency. An order counts when it was placed, with the promotions that it had then.",
  fields: (t) => ({
    currency: t.expose("currency", {
      type: "CurrencyCode",
      description: "The currency of all of its amounts.",
    }),
    orders: t.exposeInt("orders", { description: "Orders that had it, those canceled since included." }),
    canceledOrders: t.exposeInt("canceledOrders", {
      description: "Of them, those that were canceled as a whole since.",
    }),
    discountMinor: t.expose("discountMinor", {
      type: "MinorUnits",
      description: "What was taken off when they were placed, in minor units.",
    }),
    grossMinor: t.expose("grossMinor", {
      type: "MinorUnits",
      description:
        "What the orders came to when they were placed, in minor units: after all discounts, with shipping and tax.",
    }),
    netMinor: t.expose("netMinor", {
      type: "MinorUnits",
      description:
        "grossMinor less what their buyers owe no longer since: canceled, returned or forgiven. In minor units.",
    }),
  }),
});

const PromotionTotals = builder.objectRef<PromotionSalesFigures>("PromotionTotals").implement({
  description: "Orders with any promotion, in one currency; one with two of them counts once.",
  interfaces: [PromotionFiguresType],
});

const OfPromotion = builder.objectRef<PromotionReport["promotions"][number]>("PromotionReportRow").implement({
  description:
    "Orders with one promotion, in one currency. An order with two promotions counts with each of them.",
  interfaces: [PromotionFiguresType],
  fields: (t) => ({ promotionId: t.exposeID("promotionId", { description: "The promotion, `prm_…`." }) }),
});

const PromotionReportType = builder
  .objectRef<PromotionReport & { readonly period: Period }>("PromotionReport")
  .implement({
    description: "What promotions took off the orders of a time.",
    fields: (t) => ({
      period: t.expose("period", {
        type: ReportPeriodRef,
        complexity: reportTotalsCost,
        description: "The time that it is about.",
      }),
      totals: t.field({
        type: [PromotionTotals],
        description: "Orders with any promotion, by currency; amounts of two currencies are never added.",
        complexity: reportTotalsCost,
        resolve: ({ totals }) => totals,
      }),
      promotions: t.field({
        type: [OfPromotion],
        description: "By promotion and currency, those with the most orders first.",
        complexity: reportListCost,
        resolve: ({ promotions }) => promotions,
      }),
    }),
  });

builder.queryField("promotionReport", (t) =>
  t.field({
    type: PromotionReportType,
    description:
      "What promotions took off the orders of a time: by promotion and currency. An order counts when it was placed.",
    authScopes: { callers: readers },
    complexity: listReportCost,
    args: { ...reportArgs, ...marketArgs, ...listLengthArgs },
    resolve: (_root, args, context) =>
      readShopReport(context, args, (reader, scope) =>
        readPromotionReport(reader, { ...scope, first: args.first }),
      ),
  }),
);
