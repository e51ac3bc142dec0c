/** The GraphQL query for the report on sales, by currency and country, and over time. */
import { type GraphQLResolveInfo, Kind, type SelectionSetNode } from "graphql";
import { z } from "zod";
import {
  type SalesToCountry,
  type SalesInOneCurrency,
  readSalesByCountry,
  readSalesReport,
  type SalesFigures,
} from "#commerce/reports/sales-report.ts";
import { readTaxesByCountry } from "#commerce/reports/tax-report.ts";
import type { PeriodBucket, Period } from "#foundation/period.ts";
import { builder } from "#graph/builder.ts";
import { merchantReaders } from "#graph/context.ts";
import { defineGraphqlFieldCostByArguments } from "#graph/field-costs.ts";
import { CountryTaxType } from "./taxes.ts";
import {
  ReportBucketRef,
  reportListCost,
  ReportPeriodRef,
  readReportInReadOnlyTransaction,
  type ReportScopeWithCurrenciesAndBuckets,
  computeBucketedReportCost,
  reportTotalsCost,
  intervalArgs,
  marketArgs,
  reportArgs,
} from "./report-period.ts";

const SalesFiguresType = builder.interfaceRef<SalesFigures>("SalesFigures").implement({
  description:
    "Figures about orders that were placed in a period, in one currency. An order " +
    "counts in the period in which it was placed (its payment was authorized, or " +
    "nothing had to be paid). Later cancellations, returns and refunds are deducted " +
    "from that period, so past figures can change.",
  fields: (t) => ({
    currency: t.expose("currency", {
      type: "CurrencyCode",
      description: "The currency of all amounts.",
    }),
    orders: t.exposeInt("orders", {
      description:
        "The number of orders that were placed in the period, including orders that were canceled later.",
    }),
    canceledOrders: t.exposeInt("canceledOrders", {
      description: "The number of orders placed in the period that were later canceled as a whole.",
    }),
    units: t.exposeInt("units", {
      description:
        "The number of units that were ordered in the period, including units that were canceled or " +
        "returned later.",
    }),
    grossMinor: t.expose("grossMinor", {
      type: "MinorUnits",
      description:
        "The sum of the totals that the orders had when they were placed, in minor units: after discounts, " +
        "including shipping and tax.",
    }),
    reducedMinor: t.expose("reducedMinor", {
      type: "MinorUnits",
      description:
        "The part of `grossMinor` that buyers no longer owe, in minor units, because units were canceled " +
        "or returned (less fees), an amount was waived, or a dispute was lost. The amount counts whether " +
        "the buyer had paid it or not.",
    }),
    netMinor: t.expose("netMinor", {
      type: "MinorUnits",
      description: "`grossMinor` less `reducedMinor`, in minor units.",
    }),
    refundedMinor: t.expose("refundedMinor", {
      type: "MinorUnits",
      description:
        "The refunds for orders that were placed in the period, in minor units. Every successful refund " +
        "counts, also after the period. Amounts that a bank took back in a dispute do not count. Units " +
        "that were canceled before they were paid count in `reducedMinor`, but not here.",
    }),
    discountMinor: t.expose("discountMinor", {
      type: "MinorUnits",
      description:
        "The discounts that promotions gave when the orders were placed, including discounts on shipping, " +
        "in minor units. `grossMinor` is the amount after these discounts.",
    }),
    shippingMinor: t.expose("shippingMinor", {
      type: "MinorUnits",
      description:
        "The shipping prices of the period's orders before discounts, in minor units; part of " +
        "`grossMinor`.",
    }),
    taxMinor: t.expose("taxMinor", {
      type: "MinorUnits",
      description: "The tax included in `grossMinor` when the orders were placed, in minor units.",
    }),
    averageOrderMinor: t.expose("averageOrderMinor", {
      type: "MinorUnits",
      nullable: true,
      description:
        "The average total of an order: `grossMinor` divided by `orders`, rounded half up, in minor " +
        "units; null if there were no orders.",
    }),
  }),
});

/**
 * Adds fields to the GraphQL interface of sales figures. `discountShare` is the share of discounts in the
 * prices before discounts. The fields `net…` leave out orders and articles that were later canceled or
 * returned.
 */
builder.interfaceFields(SalesFiguresType, (t) => ({
  discountShare: t.float({
    nullable: true,
    description:
      "The share of discounts in the prices before discounts: `discountMinor` divided by the sum of `grossMinor` " +
      "and `discountMinor`, 0 to 1; null if that sum is 0.",
    resolve: ({ grossMinor, discountMinor }) =>
      grossMinor + discountMinor === 0 ? null : discountMinor / (grossMinor + discountMinor),
  }),
  netDiscountMinor: t.expose("netDiscountMinor", {
    type: "MinorUnits",
    description:
      "The part of `discountMinor` that belongs to `netMinor`, in minor units: the discount of each order " +
      "in proportion to the order's net amount. If an order cost nothing because of its discount, its " +
      "whole discount counts, unless the order was canceled.",
  }),
  netTaxMinor: t.expose("netTaxMinor", {
    type: "MinorUnits",
    description:
      "The tax that is contained in `netMinor`, in minor units. A reduction of a line or of shipping reduces its " +
      "tax in proportion, and a reduction of the whole order reduces all of its taxes in proportion. For orders " +
      "that were placed and reduced before tax rates were recorded: the order's tax, multiplied by its net amount " +
      "and divided by its total, rounded.",
  }),
  averageNetOrderMinor: t.expose("averageNetOrderMinor", {
    type: "MinorUnits",
    nullable: true,
    description:
      "The average amount of the orders that were not completely canceled: `netMinor` divided by `orders` " +
      "less `canceledOrders`, rounded half up, in minor units; null if there was no such order.",
  }),
}));

const SalesTotals = builder
  .objectRef<SalesFigures>("SalesTotals")
  .implement({ description: "Sales figures of the whole period.", interfaces: [SalesFiguresType] });

const SalesBucket = builder.objectRef<SalesFigures & PeriodBucket>("SalesBucket").implement({
  description: "Sales figures of one bucket (an hour, day, week or month) of the period.",
  interfaces: [ReportBucketRef, SalesFiguresType],
});

const CurrencySalesType = builder.objectRef<SalesInOneCurrency>("SalesOfCurrency").implement({
  description: "Sales figures in one currency. Amounts of different currencies are never added.",
  fields: (t) => ({
    currency: t.expose("currency", {
      type: "CurrencyCode",
      complexity: reportTotalsCost,
      description: "The currency of the figures.",
    }),
    totals: t.expose("totals", {
      type: SalesTotals,
      complexity: reportTotalsCost,
      description: "The figures about the whole period of the report.",
    }),
    buckets: t.field({
      type: [SalesBucket],
      description: "The figures of each bucket in chronological order, including buckets without sales.",
      complexity: reportListCost,
      resolve: ({ buckets }) => buckets,
    }),
  }),
});

const CountrySalesType = builder.objectRef<SalesToCountry>("SalesOfCountry").implement({
  description: "Sales figures of orders to one country, in one currency.",
  fields: (t) => ({
    country: t.expose("country", {
      type: "CountryCode",
      complexity: reportTotalsCost,
      description: "The country to which the orders were sold.",
    }),
    currency: t.expose("currency", {
      type: "CurrencyCode",
      complexity: reportTotalsCost,
      description: "The currency of the figures.",
    }),
    totals: t.expose("totals", {
      type: SalesTotals,
      complexity: reportTotalsCost,
      description: "The figures about the whole period of the report.",
    }),
    buckets: t.field({
      type: [SalesBucket],
      description: "The figures of each bucket in chronological order, including buckets without sales.",
      complexity: reportListCost,
      resolve: ({ buckets }) => buckets,
    }),
  }),
});

interface SalesReport {
  readonly scope: ReportScopeWithCurrenciesAndBuckets;
  readonly period: Period;
  readonly currencies: readonly SalesInOneCurrency[];
}

const countriesMax = 50;

/**
 * Computes the cost of the list of countries in the sales report: the cost of the selected fields is
 * multiplied by `first`.
 */
const computeCountriesCost = defineGraphqlFieldCostByArguments(
  { sizedBy: ["first"], factor: "`first`" },
  ({ first }: { readonly first: number }) => ({
    field: 1,
    multiplier: Math.min(Math.max(first, 1), countriesMax),
  }),
);

const taxesMax = 1000;

/**
 * Computes the cost of the sales report's list of taxes, which needs one SQL statement and has no nested
 * lists.
 */
const computeTaxesCost = defineGraphqlFieldCostByArguments(
  { sizedBy: ["first"], factor: "a hundredth of `first`" },
  ({ first }: { readonly first: number }) => ({
    field: 1,
    multiplier: Math.ceil(Math.min(Math.max(first, 1), taxesMax) / 100),
  }),
);

const SalesReportType = builder.objectRef<SalesReport>("SalesReport").implement({
  description: "A report on sales, by currency and over time.",
  fields: (t) => ({
    period: t.expose("period", {
      type: ReportPeriodRef,
      complexity: reportTotalsCost,
      description: "The period of the report.",
    }),
    currencies: t.field({
      type: [CurrencySalesType],
      description:
        "The sales figures, one entry for each currency in which the markets sell or sold, sorted by " +
        "currency code. A currency without sales has zeros.",
      complexity: reportListCost,
      resolve: ({ currencies }) => currencies,
    }),
    countries: t.field({
      type: [CountrySalesType],
      description:
        "The sales by country and currency, sorted by currency code, and within a currency by the highest net " +
        "amount. Countries without orders are not listed.",
      complexity: computeCountriesCost,
      args: {
        first: t.arg.int({
          required: true,
          defaultValue: 20,
          description: `The maximum number of countries of each currency, 1 to ${countriesMax}.`,
          validate: z.int().min(1).max(countriesMax),
        }),
      },
      resolve: ({ scope }, { first }, context) =>
        context.services.readOnly((reader) => readSalesByCountry(reader, { ...scope, first })),
    }),
    taxes: t.field({
      type: [CountryTaxType],
      description:
        "The taxes by country, currency and tax rate, for the whole period, sorted by currency and country, the " +
        "highest rate first.",
      complexity: computeTaxesCost,
      args: {
        first: t.arg.int({
          required: true,
          defaultValue: 50,
          description: `The maximum number of entries, 1 to ${taxesMax}.`,
          validate: z.int().min(1).max(taxesMax),
        }),
      },
      resolve: ({ scope }, { first }, context) =>
        context.services.readOnly((reader) => readTaxesByCountry(reader, { ...scope, first })),
    }),
  }),
});

/**
 * Returns whether the client selects the named field of a report. The service does not read the data of
 * fields that are not selected.
 */
function selectsField({ fieldNodes, fragments }: GraphQLResolveInfo, name: string): boolean {
  const isSelected = (set: SelectionSetNode | undefined): boolean =>
    set?.selections.some((node) => {
      if (node.kind === Kind.FIELD) return node.name.value === name;
      return isSelected(
        node.kind === Kind.INLINE_FRAGMENT ? node.selectionSet : fragments[node.name.value]?.selectionSet,
      );
    }) ?? false;
  return fieldNodes.some(({ selectionSet }) => isSelected(selectionSet));
}

builder.queryField("salesReport", (t) =>
  t.field({
    type: SalesReportType,
    description:
      "Reports sales in a period: orders, units and amounts, by currency or country, and by hour, day, " +
      "week or month. An order counts in the period in which it was placed.",
    authScopes: { callers: merchantReaders },
    complexity: computeBucketedReportCost,
    args: { ...reportArgs, ...intervalArgs, ...marketArgs },
    resolve: (...[, args, context, info]) =>
      readReportInReadOnlyTransaction(context, args, async (reader, scope) => ({
        scope,
        currencies: selectsField(info, "currencies") ? await readSalesReport(reader, scope) : [],
      })),
  }),
);
