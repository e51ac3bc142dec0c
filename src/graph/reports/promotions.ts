/** The report on what promotions did. */
import { type PromotedFigures, type PromotionReport, readPromotions } from "#commerce/reports/promotion-report.ts";
import type { Period } from "#foundation/period.ts";
import { builder, readers } from "#graph/builder.ts";
import { bucketsCost, firstArgs, firstCost, marketArgs, PeriodRef, readShopReport, reportArgs, totalsCost } from "./report-period.ts";

const Figures = builder.interfaceRef<PromotedFigures>("PromotionFigures").implement({
  description: "Orders of a time that had a promotion, in one currency. An order counts when it was placed, with the promotions that it had then.",
  fields: (t) => ({
    currency: t.expose("currency", { type: "CurrencyCode", description: "The currency of all of its amounts." }),
    orders: t.exposeInt("orders", { description: "Orders that had it, those canceled since included." }),
    canceledOrders: t.exposeInt("canceledOrders", { description: "Of them, those that were canceled as a whole since." }),
    discountMinor: t.expose("discountMinor", { type: "MinorUnits", description: "What was taken off when they were placed, in minor units." }),
    grossMinor: t.expose("grossMinor", {
      type: "MinorUnits",
      description: "What the orders came to when they were placed, in minor units: after all discounts, with shipping and tax.",
    }),
    netMinor: t.expose("netMinor", {
      type: "MinorUnits",
      description: "grossMinor less what their buyers owe no longer since: canceled, returned or forgiven. In minor units.",
    }),
  }),
});

const Totals = builder.objectRef<PromotedFigures>("PromotionTotals").implement({
  description: "Orders with any promotion, in one currency; one with two of them counts once.",
  interfaces: [Figures],
});

const OfPromotion = builder.objectRef<PromotionReport["promotions"][number]>("PromotionReportRow").implement({
  description: "Orders with one promotion, in one currency. An order with two promotions counts with each of them.",
  interfaces: [Figures],
  fields: (t) => ({ promotionId: t.exposeID("promotionId", { description: "The promotion, `prm_…`." }) }),
});

const Report = builder.objectRef<PromotionReport & { readonly period: Period }>("PromotionReport").implement({
  description: "What promotions took off the orders of a time.",
  fields: (t) => ({
    period: t.expose("period", { type: PeriodRef, complexity: totalsCost, description: "The time that it is about." }),
    totals: t.field({
      type: [Totals],
      description: "Orders with any promotion, by currency; amounts of two currencies are never added.",
      complexity: totalsCost,
      resolve: ({ totals }) => totals,
    }),
    promotions: t.field({
      type: [OfPromotion],
      description: "By promotion and currency, those with the most orders first.",
      complexity: bucketsCost,
      resolve: ({ promotions }) => promotions,
    }),
  }),
});

builder.queryField("promotionReport", (t) =>
  t.field({
    type: Report,
    description: "What promotions took off the orders of a time: by promotion and currency. An order counts when it was placed.",
    authScopes: { callers: readers },
    complexity: firstCost,
    args: { ...reportArgs, ...marketArgs, ...firstArgs },
    resolve: (_root, args, context) => readShopReport(context, args, (reader, scope) => readPromotions(reader, { ...scope, first: args.first })),
  }),
);
