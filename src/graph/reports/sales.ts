/** The report on what was sold. */
import { readSales, type SalesFigures, type SalesOfCurrency } from "#commerce/reports/sales-report.ts";
import type { Bucket, Period } from "#foundation/period.ts";
import { builder, readers } from "#graph/builder.ts";
import { BucketRef, bucketsCost, intervalArgs, marketArgs, PeriodRef, readShopReport, reportArgs, spreadCost, totalsCost } from "./report-period.ts";

const Figures = builder.interfaceRef<SalesFigures>("SalesFigures").implement({
  description:
    "Orders that were placed in a time, in one currency. An order counts when it was placed (its payment was authorised, or there was nothing to pay), whatever becomes of it later: what is canceled, returned and refunded is taken from the time in which its order was placed, so figures of the past change.",
  fields: (t) => ({
    currency: t.expose("currency", { type: "CurrencyCode", description: "The currency of all of its amounts." }),
    orders: t.exposeInt("orders", { description: "Orders that were placed, those canceled since included." }),
    canceledOrders: t.exposeInt("canceledOrders", { description: "Of them, those that were canceled as a whole since." }),
    units: t.exposeInt("units", { description: "Units that were ordered, those canceled or returned since included." }),
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
    netMinor: t.expose("netMinor", { type: "MinorUnits", description: "grossMinor less reducedMinor, in minor units." }),
    refundedMinor: t.expose("refundedMinor", {
      type: "MinorUnits",
      description:
        "What was given back to their buyers, in minor units: refunds that succeeded, whenever; without what a bank took back in a dispute. What is canceled before it was paid is reduced and never refunded.",
    }),
    discountMinor: t.expose("discountMinor", {
      type: "MinorUnits",
      description: "What promotions took off when they were placed, off the shipping included, in minor units; grossMinor is without it.",
    }),
    shippingMinor: t.expose("shippingMinor", {
      type: "MinorUnits",
      description: "What shipping cost when they were placed, before discounts, in minor units; part of grossMinor.",
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

const Totals = builder.objectRef<SalesFigures>("SalesTotals").implement({ description: "What was sold in the whole time.", interfaces: [Figures] });

const SalesBucket = builder.objectRef<SalesFigures & Bucket>("SalesBucket").implement({
  description: "What was sold in a piece of the time.",
  interfaces: [BucketRef, Figures],
});

const OfCurrency = builder.objectRef<SalesOfCurrency>("SalesOfCurrency").implement({
  description: "What was sold in one currency. Amounts of two currencies are never added.",
  fields: (t) => ({
    currency: t.expose("currency", { type: "CurrencyCode", complexity: totalsCost, description: "The currency." }),
    totals: t.expose("totals", { type: Totals, complexity: totalsCost, description: "The whole time." }),
    buckets: t.field({
      type: [SalesBucket],
      description: "Each piece of the time, in order, also where nothing was sold.",
      complexity: bucketsCost,
      resolve: ({ buckets }) => buckets,
    }),
  }),
});

interface SalesReport {
  readonly period: Period;
  readonly currencies: readonly SalesOfCurrency[];
}

const Report = builder.objectRef<SalesReport>("SalesReport").implement({
  description: "What was sold, by currency and over time.",
  fields: (t) => ({
    period: t.expose("period", { type: PeriodRef, complexity: totalsCost, description: "The time that it is about." }),
    currencies: t.field({
      type: [OfCurrency],
      description: "Each currency that is sold in, or was, by its code; one in which nothing was sold has zeros.",
      complexity: bucketsCost,
      resolve: ({ currencies }) => currencies,
    }),
  }),
});

builder.queryField("salesReport", (t) =>
  t.field({
    type: Report,
    description: "What was sold: orders, units and amounts, by currency and over time. An order counts when it was placed.",
    authScopes: { callers: readers },
    complexity: spreadCost,
    args: { ...reportArgs, ...intervalArgs, ...marketArgs },
    resolve: (_root, args, context) => readShopReport(context, args, async (reader, scope) => ({ currencies: await readSales(reader, scope) })),
  }),
);
