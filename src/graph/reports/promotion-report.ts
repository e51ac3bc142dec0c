/** The GraphQL query for the report on the discounts of promotions. */
import {
  type PromotionReport,
  type PromotionReportEntry,
  type PromotionSalesFigures,
  readPromotionReport,
} from "#commerce/reports/promotion-report.ts";
import type { Period } from "#foundation/period.ts";
import { builder } from "#graph/builder.ts";
import { merchantReaders } from "#graph/context.ts";
import {
  listLengthArgs,
  requireReportListLengthWithinLimit,
  computeListReportCost,
  marketArgs,
  readReportInReadOnlyTransaction,
  reportArgs,
  reportListCost,
  ReportPeriodRef,
  reportTotalsCost,
} from "./report-period.ts";

const PromotionFiguresType = builder.interfaceRef<PromotionSalesFigures>("PromotionFigures").implement({
  description:
    "Figures about orders with a promotion, in one currency. An order counts in the period in which it was " +
    "placed, with the promotions that it had at that time.",
  fields: (t) => ({
    currency: t.expose("currency", {
      type: "CurrencyCode",
      description: "The currency of all amounts.",
    }),
    orders: t.exposeInt("orders", {
      description: "The number of orders with the promotion, including orders canceled later.",
    }),
    canceledOrders: t.exposeInt("canceledOrders", {
      description: "The number of orders with the promotion that were later canceled as a whole.",
    }),
    discountMinor: t.expose("discountMinor", {
      type: "MinorUnits",
      description: "The discounts that the promotion gave when the orders were placed, in minor units.",
    }),
    grossMinor: t.expose("grossMinor", {
      type: "MinorUnits",
      description:
        "The sum of the totals that the orders had when they were placed, in minor units: after all " +
        "discounts, including shipping and tax.",
    }),
    netMinor: t.expose("netMinor", {
      type: "MinorUnits",
      description:
        "`grossMinor` less the amounts that buyers no longer owe (canceled, returned or waived), in minor " +
        "units.",
    }),
  }),
});

const PromotionTotals = builder.objectRef<PromotionSalesFigures>("PromotionTotals").implement({
  description:
    "Figures about orders with any promotion, in one currency. An order with several " +
    "promotions counts once.",
  interfaces: [PromotionFiguresType],
});

const PromotionReportRowType = builder.objectRef<PromotionReportEntry>("PromotionReportRow").implement({
  description:
    "Figures about orders with one promotion, in one currency. An order with several " +
    "promotions counts for each of them.",
  interfaces: [PromotionFiguresType],
  fields: (t) => ({
    promotionId: t.exposeID("promotionId", { description: "The id of the promotion, `prm_…`." }),
    title: t.exposeString("title", {
      nullable: true,
      description:
        "The promotion's title in the merchant's default locale, or in another locale if the promotion has " +
        "no title in the default locale.",
    }),
  }),
});

const PromotionReportType = builder
  .objectRef<PromotionReport & { readonly period: Period }>("PromotionReport")
  .implement({
    description: "A report on the discounts of promotions.",
    fields: (t) => ({
      period: t.expose("period", {
        type: ReportPeriodRef,
        complexity: reportTotalsCost,
        description: "The period of the report.",
      }),
      totals: t.field({
        type: [PromotionTotals],
        description:
          "Figures about orders with any promotion, one entry per currency. Amounts of " +
          "different currencies are never added.",
        complexity: reportTotalsCost,
        resolve: ({ totals }) => totals,
      }),
      promotions: t.field({
        type: [PromotionReportRowType],
        description:
          "Figures about orders with one promotion, one entry for each promotion and currency. The " +
          "promotion with the most orders comes first.",
        complexity: reportListCost,
        resolve: ({ promotions }) => promotions,
      }),
    }),
  });

builder.queryField("promotionReport", (t) =>
  t.field({
    type: PromotionReportType,
    description:
      "Reports the discounts of promotions in a period, by promotion and currency. An " +
      "order counts in the period in which it was placed.",
    authScopes: { callers: merchantReaders },
    complexity: computeListReportCost,
    args: { ...reportArgs, ...marketArgs, ...listLengthArgs },
    resolve: (_root, args, context) => {
      requireReportListLengthWithinLimit(context, args.first);
      return readReportInReadOnlyTransaction(context, args, (reader, scope) =>
        readPromotionReport(reader, { ...scope, first: args.first }),
      );
    },
  }),
);
