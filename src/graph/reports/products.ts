/** The GraphQL query for the report on products. */
import {
  type ProductFigures,
  type ProductReport,
  type ProductReportGroup,
  type ProductReportRow,
  type ProductReportSort,
  readProductReport,
} from "#commerce/reports/product-report.ts";
import type { Period } from "#foundation/period.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { merchantReaders } from "#graph/context.ts";
import {
  computeListReportCost,
  listLengthArgs,
  requireReportListLengthWithinLimit,
  marketArgs,
  readReportInReadOnlyTransaction,
  reportArgs,
  reportListCost,
  ReportPeriodRef,
  reportTotalsCost,
} from "./report-period.ts";

const ProductReportGroupEnum = defineGraphqlEnum<ProductReportGroup>("ProductReportGroup", {
  description:
    "What each row of a report on products is about: a product, variant, category, country or market.",
  values: {
    product: "One row for each product.",
    variant: "One row for each variant.",
    category:
      "One row for each category. A product with several categories counts in the row of each category. A " +
      "product without a category counts only in the totals.",
    country: "One row for each country to which the orders were sold.",
    market: "One row for each of the merchant's markets.",
  },
});

const ProductReportSortEnum = defineGraphqlEnum<ProductReportSort>("ProductReportSort", {
  description: "The order of the rows of a report on products, within each currency.",
  values: {
    net: "Rows with the highest net amount come first.",
    gross: "Rows with the highest gross amount come first.",
    units: "Rows with the most ordered units come first.",
    returned_units: "Rows with the most returned units come first.",
    return_rate:
      "Rows with the highest return rate come first. Rows whose units were all canceled have no return " +
      "rate and come last.",
  },
});

const ProductFiguresType = builder.interfaceRef<ProductFigures>("ProductFigures").implement({
  description:
    "Figures about the lines of orders that were placed in a period, in one currency. Later cancellations and " +
    "returns count in the period of the order.",
  fields: (t) => ({
    currency: t.expose("currency", { type: "CurrencyCode", description: "The currency of all amounts." }),
    units: t.exposeInt("units", { description: "The number of ordered units, including canceled units." }),
    canceledUnits: t.exposeInt("canceledUnits", {
      description: "The number of ordered units that were canceled.",
    }),
    returnedUnits: t.exposeInt("returnedUnits", {
      description: "The number of ordered units that came back and were accepted by the merchant.",
    }),
    returnRate: t.float({
      nullable: true,
      description:
        "The share of units that were returned: `returnedUnits` divided by `units` less `canceledUnits`, 0 to 1; " +
        "null if all units were canceled.",
      resolve: ({ units, canceledUnits, returnedUnits }) =>
        units === canceledUnits ? null : returnedUnits / (units - canceledUnits),
    }),
    grossMinor: t.expose("grossMinor", {
      type: "MinorUnits",
      description:
        "The prices of all ordered units less discounts, with taxes and without shipping, in minor units.",
    }),
    netMinor: t.expose("netMinor", {
      type: "MinorUnits",
      description:
        "`grossMinor` less the amounts that were canceled, returned or otherwise refunded, in minor units.",
    }),
  }),
});

const ProductTotalsType = builder.objectRef<ProductFigures>("ProductTotals").implement({
  description: "Figures about all order lines in one currency.",
  interfaces: [ProductFiguresType],
});

const ProductReportRowType = builder.objectRef<ProductReportRow>("ProductReportRow").implement({
  description: "Figures about one product, variant, category, country or market, in one currency.",
  interfaces: [ProductFiguresType],
  fields: (t) => ({
    key: t.exposeString("key", {
      description:
        "The id of the product, `prd_…`, variant, `var_…`, category, `cat_…`, or market, `mkt_…`, that the " +
        "row is about; the country code if the row is about a country.",
    }),
    title: t.exposeString("title", {
      nullable: true,
      description:
        "The title of the product (for a variant, of its product), or the name of the category, in the " +
        "merchant's default locale if there is one; or the name of the market. Null if the row is about a " +
        "country.",
    }),
    sku: t.exposeString("sku", {
      nullable: true,
      description: "The variant's SKU if the row is about a variant; null otherwise.",
    }),
  }),
});

const ProductReportType = builder
  .objectRef<ProductReport & { readonly period: Period }>("ProductReport")
  .implement({
    description:
      "A report on what was sold, canceled and returned, by product, variant, category, country or market.",
    fields: (t) => ({
      period: t.expose("period", {
        type: ReportPeriodRef,
        complexity: reportTotalsCost,
        description: "The period of the report.",
      }),
      totals: t.field({
        type: [ProductTotalsType],
        description:
          "Figures about all order lines, one entry per currency. Amounts of different currencies are never added.",
        complexity: reportTotalsCost,
        resolve: ({ totals }) => totals,
      }),
      rows: t.field({
        type: [ProductReportRowType],
        description:
          "The rows of the report, sorted by currency, and within a currency in the order that `sort` " +
          "sets: at most `first` rows for each currency.",
        complexity: reportListCost,
        resolve: ({ rows }) => rows,
      }),
    }),
  });

builder.queryField("productReport", (t) =>
  t.field({
    type: ProductReportType,
    description:
      "Reports which products were sold, canceled and returned in a period, for example the ten products with the " +
      "highest net sales. An order counts in the period in which it was placed.",
    authScopes: { callers: merchantReaders },
    complexity: computeListReportCost,
    args: {
      ...reportArgs,
      ...marketArgs,
      groupBy: t.arg({
        type: ProductReportGroupEnum,
        required: true,
        defaultValue: "product",
        description: "What each row of the report is about, for example a product or a country.",
      }),
      sort: t.arg({
        type: ProductReportSortEnum,
        required: true,
        defaultValue: "net",
        description: "The order of the rows within each currency.",
      }),
      ...listLengthArgs,
    },
    resolve: (_root, { groupBy, sort, first, ...args }, context) => {
      requireReportListLengthWithinLimit(context, first);
      return readReportInReadOnlyTransaction(context, args, (reader, scope) =>
        readProductReport(reader, { ...scope, groupBy, sort, first }),
      );
    },
  }),
);
