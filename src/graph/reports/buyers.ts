/** The GraphQL query for the report on buyers. */
import {
  type BuyerCohort,
  type BuyerCohortMonth,
  type BuyerReport,
  type BuyerTotals,
  readBuyerReport,
} from "#commerce/reports/buyer-report.ts";
import type { Period } from "#foundation/period.ts";
import { builder } from "#graph/builder.ts";
import { merchantReaders } from "#graph/context.ts";
import {
  marketArgs,
  readReportInReadOnlyTransaction,
  reportArgs,
  reportListCost,
  ReportPeriodRef,
  reportTotalsCost,
} from "./report-period.ts";
import { reportBaseCost } from "#graph/limits.ts";

const BuyerTotalsType = builder.objectRef<BuyerTotals>("BuyerTotals").implement({
  description: "Counts of buyers and orders. Orders that were canceled as a whole are not counted.",
  fields: (t) => ({
    buyers: t.exposeInt("buyers", {
      description:
        "The number of buyers who ordered in the period. Orders with the same buyer reference at a " +
        "merchant count as one buyer.",
    }),
    newBuyers: t.exposeInt("newBuyers", {
      description: "The number of buyers who placed their first order in the period.",
    }),
    repeatBuyers: t.exposeInt("repeatBuyers", {
      description:
        "The number of buyers who ordered in the period and had placed at least two orders by the end of " +
        "the period. The first of these orders may be older than the period.",
    }),
    repeatRate: t.float({
      nullable: true,
      description:
        "The share of buyers who ordered repeatedly: `repeatBuyers` divided by `buyers`, 0 to 1; null if " +
        "there were no buyers.",
      resolve: ({ buyers, repeatBuyers }) => (buyers === 0 ? null : repeatBuyers / buyers),
    }),
    orders: t.exposeInt("orders", {
      description: "The number of orders in the period that have a buyer reference.",
    }),
    guestOrders: t.exposeInt("guestOrders", {
      description:
        "The number of orders in the period without a buyer reference. These orders do not count in any " +
        "other number.",
    }),
  }),
});

const BuyerCohortMonthType = builder.objectRef<BuyerCohortMonth>("BuyerCohortMonth").implement({
  description: "A later month in which buyers of a cohort ordered again.",
  fields: (t) => ({
    month: t.expose("month", { type: "Date", description: "The first day of the later month." }),
    buyers: t.exposeInt("buyers", {
      description: "The number of the cohort's buyers who ordered in the later month.",
    }),
    orders: t.exposeInt("orders", {
      description: "The number of orders of the cohort's buyers in the later month.",
    }),
  }),
});

const BuyerCohortType = builder.objectRef<BuyerCohort>("BuyerCohort").implement({
  description: "A cohort: the buyers whose first order was in the same calendar month.",
  fields: (t) => ({
    month: t.expose("month", {
      type: "Date",
      description:
        "The first day of the calendar month in which the cohort's buyers placed their first order.",
    }),
    buyers: t.exposeInt("buyers", { description: "The number of the cohort's buyers." }),
    orders: t.exposeInt("orders", {
      description: "The number of orders of the cohort's buyers in the month of their first order.",
    }),
    later: t.field({
      type: [BuyerCohortMonthType],
      description:
        "The later months of the period in which buyers of the cohort ordered again, in chronological order.",
      complexity: { field: 1, multiplier: 12 },
      resolve: ({ later }) => later,
    }),
  }),
});

const BuyerReportType = builder
  .objectRef<BuyerReport & { readonly period: Period }>("BuyerReport")
  .implement({
    description: "A report on new and returning buyers. It contains counts only, no personal data.",
    fields: (t) => ({
      period: t.expose("period", {
        type: ReportPeriodRef,
        complexity: reportTotalsCost,
        description: "The period of the report.",
      }),
      totals: t.expose("totals", {
        type: BuyerTotalsType,
        complexity: reportTotalsCost,
        description: "The counts of the whole period.",
      }),
      cohorts: t.field({
        type: [BuyerCohortType],
        description:
          "The buyers who are new in the period, by the month of their first order, in chronological order. Months " +
          "begin in the report's time zone.",
        complexity: reportListCost,
        resolve: ({ cohorts }) => cohorts,
      }),
    }),
  });

builder.queryField("buyerReport", (t) =>
  t.field({
    type: BuyerReportType,
    description:
      "Reports how many buyers of a period are new, how many order repeatedly, and in which months the " +
      "buyers came back. If a market is given, only orders of that market count, also for deciding which " +
      "order is a buyer's first one.",
    authScopes: { callers: merchantReaders },
    complexity: { field: reportBaseCost, multiplier: 24 },
    args: { ...reportArgs, ...marketArgs },
    resolve: (_root, args, context) =>
      readReportInReadOnlyTransaction(context, args, (reader, scope) => readBuyerReport(reader, scope)),
  }),
);
