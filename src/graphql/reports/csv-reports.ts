/**
 * The definitions of the reports that can be downloaded as CSV. A definition has a GraphQL query and a
 * function that converts the query's result to rows.
 */
import { type DocumentNode, parse } from "graphql";
import {
  type BuyerCohortRow,
  cancellationColumns,
  deliveryErrorColumns,
  type CheckoutFunnelBucketRow,
  type DeliveryHealthBucketRow,
  outcomeColumns,
  toBuyerCohortCsvRows,
  toCheckoutFunnelCsvRow,
  toDeliveryHealthCsvRow,
} from "./csv-rows.ts";
import { addMajorUnitAmountCells, type CsvReportRow as Row, getMajorUnitAmountColumns } from "./csv-table.ts";

export interface CsvReportDefinition {
  readonly document: DocumentNode;
  /** True if the report requires the query parameters from and to. */
  readonly hasPeriod: boolean;
  /**
   * The report's query parameters besides `from` and `to`, by name. The value is the accepted type: a text,
   * an integer, a maximum number of rows (`rows`), or a list of allowed words.
   */
  readonly parameters: Readonly<Record<string, "text" | "integer" | "rows" | readonly string[]>>;
  /**
   * The column whose values divide the rows of the file into lists. The maximum number of rows applies to
   * each list. Left out if all rows form one list.
   */
  readonly listColumn?: string;
  readonly columns: readonly string[];
  readonly toRows: (data: unknown) => readonly Row[];
}

const interval = ["hour", "day", "week", "month"];
const shop = { merchantId: "text", market: "text", timeZone: "text" } as const;
const spread = ["day", "startsAt", "endsAt"];
const sold = [
  "key",
  "title",
  "sku",
  "currency",
  "units",
  "canceledUnits",
  "returnedUnits",
  "returnRate",
  "grossMinor",
  "netMinor",
];
const promotion = [
  "title",
  "currency",
  "orders",
  "canceledOrders",
  "discountMinor",
  "grossMinor",
  "netMinor",
];
const returned = [
  "currency",
  "returns",
  "units",
  "declined",
  "canceled",
  "closed",
  "promisedMinor",
  "feeMinor",
  "refundedMinor",
];
const carts = ["carts", "checkouts", "submittedCheckouts", "orders", "sessions", "conversionRate"];
const attempts = ["attempts", "successes", "failures", "successRate", "p50DurationMs", "p95DurationMs"];
const sales = [
  "currency",
  "orders",
  "canceledOrders",
  "units",
  "grossMinor",
  "reducedMinor",
  "netMinor",
  "refundedMinor",
  "discountMinor",
  "netDiscountMinor",
  "discountShare",
  "shippingMinor",
  "taxMinor",
  "netTaxMinor",
  "averageOrderMinor",
  "averageNetOrderMinor",
];
const taxes = "country currency taxClass name basisPoints orders taxableMinor taxMinor netTaxMinor".split(
  " ",
);
const refunded = ["currency", "refunds", "refundedMinor", "pendingMinor", "failedMinor"];
const carrier = ["carrier", "parcels", "delivered", "failed", "late", "medianDeliveryHours"];
const stock = [
  "variantId",
  "sku",
  "title",
  "onHandUnits",
  "reservedUnits",
  "freeUnits",
  "soldUnits",
  "coverDays",
];
const shopVariables = "$from: Date!, $to: Date!, $merchantId: ID, $market: String, $timeZone: String";
const shopArguments = "from: $from, to: $to, merchantId: $merchantId, market: $market, timeZone: $timeZone";

/** The CSV reports. The key is the report's name in the URL, without `.csv`. */
export const csvReports: ReadonlyMap<string, CsvReportDefinition> = new Map([
  [
    "sales",
    report({
      parameters: { ...shop, interval },
      columns: [...spread, ...sales],
      query: `query (${shopVariables}, $interval: ReportInterval! = DAY) {
        report: salesReport(${shopArguments}, interval: $interval) { currencies { buckets {
        ${[...spread, ...sales].join(" ")} } } } }`,
      toRows: ({ currencies }: { readonly currencies: readonly { readonly buckets: readonly Row[] }[] }) =>
        currencies.flatMap(({ buckets }) => buckets),
    }),
  ],
  [
    "sales-by-country",
    report({
      parameters: { ...shop, interval, first: "integer" },
      columns: ["country", ...spread, ...sales],
      query: `query (${shopVariables}, $interval: ReportInterval! = MONTH, $first: Int! = 50) {
        report: salesReport(${shopArguments}, interval: $interval) { countries(first: $first) { country buckets {
        ${[...spread, ...sales].join(" ")} } } } }`,
      toRows: ({
        countries,
      }: {
        readonly countries: readonly { readonly country: string; readonly buckets: readonly Row[] }[];
      }) =>
        countries.flatMap(({ country, buckets }) =>
          buckets.map((bucket) => Object.assign({ country }, bucket)),
        ),
    }),
  ],
  [
    "taxes",
    report({
      parameters: { ...shop, first: "integer" },
      columns: taxes,
      query: `query (${shopVariables}, $first: Int! = 1000) {
        report: salesReport(${shopArguments}) { taxes(first: $first) { ${taxes.join(" ")} } } }`,
      toRows: ({ taxes: rows }: { readonly taxes: readonly Row[] }) => rows,
    }),
  ],
  [
    "refunds",
    report({
      parameters: shop,
      columns: ["reason", ...refunded],
      query: `query (${shopVariables}) { report: refundReport(${shopArguments}) { reasons { reason
        ${refunded.join(" ")} } } }`,
      toRows: ({ reasons }: { readonly reasons: readonly Row[] }) => reasons,
    }),
  ],
  [
    "buyers",
    report({
      parameters: shop,
      columns: ["firstMonth", "month", "buyers", "orders"],
      query: `query (${shopVariables}) { report: buyerReport(${shopArguments}) { cohorts { month buyers orders
        later { month buyers orders } } } }`,
      toRows: ({ cohorts }: { readonly cohorts: readonly BuyerCohortRow[] }) =>
        cohorts.flatMap(toBuyerCohortCsvRows),
    }),
  ],
  [
    "fulfillments",
    report({
      parameters: { ...shop, first: "rows" },
      columns: carrier,
      query: `query (${shopVariables}, $first: Int!) {
        report: fulfillmentReport(${shopArguments}, first: $first) { carriers { ${carrier.join(" ")} } } }`,
      toRows: ({ carriers }: { readonly carriers: readonly Row[] }) => carriers,
    }),
  ],
  [
    "inventory",
    report({
      hasPeriod: false,
      parameters: { merchantId: "text", days: "integer", coverDaysMax: "integer", first: "rows" },
      columns: stock,
      query: `query ($merchantId: ID, $days: Int! = 30, $coverDaysMax: Int, $first: Int!) {
        report: inventoryReport(merchantId: $merchantId, days: $days, coverDaysMax: $coverDaysMax, first: $first) {
        rows { ${stock.join(" ")} } } }`,
      toRows: ({ rows }: { readonly rows: readonly Row[] }) => rows,
    }),
  ],
  [
    "funnel",
    report({
      parameters: { ...shop, interval },
      columns: [...spread, ...carts, ...outcomeColumns, ...cancellationColumns],
      query: `query (${shopVariables}, $interval: ReportInterval! = DAY) {
        report: funnelReport(${shopArguments}, interval: $interval) { buckets {
        ${[...spread, ...carts].join(" ")} outcomes { status reason sessions } } } }`,
      toRows: ({ buckets }: { readonly buckets: readonly CheckoutFunnelBucketRow[] }) =>
        buckets.map(toCheckoutFunnelCsvRow),
    }),
  ],
  [
    "products",
    report({
      parameters: {
        ...shop,
        first: "rows",
        groupBy: ["product", "variant", "category", "country", "market"],
        sort: ["net", "gross", "units", "returned_units", "return_rate"],
      },
      columns: sold,
      listColumn: "currency",
      query: `query (${shopVariables}, $first: Int!, $groupBy: ProductReportGroup! = PRODUCT,
        $sort: ProductReportSort! = NET) {
        report: productReport(${shopArguments}, first: $first, groupBy: $groupBy, sort: $sort) { rows {
        ${sold.join(" ")} } } }`,
      toRows: ({ rows }: { readonly rows: readonly Row[] }) => rows,
    }),
  ],
  [
    "promotions",
    report({
      parameters: { ...shop, first: "rows" },
      columns: ["promotionId", ...promotion],
      query: `query (${shopVariables}, $first: Int!) {
        report: promotionReport(${shopArguments}, first: $first) { promotions { promotionId
        ${promotion.join(" ")} } } }`,
      toRows: ({ promotions }: { readonly promotions: readonly Row[] }) => promotions,
    }),
  ],
  [
    "returns",
    report({
      parameters: shop,
      columns: ["kind", "reason", ...returned],
      query:
        `query (${shopVariables}) { report: returnReport(${shopArguments}) { reasons { kind reason ` +
        `${returned.join(" ")} } } }`,
      toRows: ({ reasons }: { readonly reasons: readonly Row[] }) => reasons,
    }),
  ],
  [
    "searches",
    report({
      parameters: { merchantId: "text", country: "text", timeZone: "text", first: "rows" },
      columns: ["list", "query", "searches", "empty"],
      listColumn: "list",
      query: `query ($from: Date!, $to: Date!, $merchantId: ID, $country: CountryCode, $timeZone: String,
        $first: Int!) {
        report: searchReport(from: $from, to: $to, merchantId: $merchantId, country: $country,
        timeZone: $timeZone, first: $first) { top { query searches empty } withoutResults {
        query searches empty } } }`,
      toRows: ({
        top,
        withoutResults,
      }: {
        readonly top: readonly Row[];
        readonly withoutResults: readonly Row[];
      }) => [
        ...top.map((row) => ({ list: "top", ...row })),
        ...withoutResults.map((row) => ({ list: "withoutResults", ...row })),
      ],
    }),
  ],
  [
    "webhook-health",
    report({
      parameters: {
        merchantId: "text",
        timeZone: "text",
        interval,
        endpointId: "text",
        installationId: "text",
      },
      columns: [...spread, ...attempts, ...deliveryErrorColumns],
      query: `query ($from: Date!, $to: Date!, $merchantId: ID, $timeZone: String, $interval: ReportInterval!
        = DAY, $endpointId: ID, $installationId: ID) {
        report: webhookHealthReport(from: $from, to: $to, merchantId: $merchantId, timeZone: $timeZone,
        interval: $interval, endpointId: $endpointId,
          installationId: $installationId) { buckets { ${[...spread, ...attempts].join(" ")} failuresByCode {
          code count } } } }`,
      toRows: ({ buckets }: { readonly buckets: readonly DeliveryHealthBucketRow[] }) =>
        buckets.map(toDeliveryHealthCsvRow),
    }),
  ],
]);

interface CsvReportParts<Answer> extends Pick<CsvReportDefinition, "parameters" | "columns" | "listColumn"> {
  readonly hasPeriod?: boolean;
  /** The text of the GraphQL query for a report. The only root field of the query has the alias `report`. */
  readonly query: string;
  readonly toRows: (report: Answer) => readonly Row[];
}

/**
 * Creates the definition of a CSV report. For each column with an amount in minor units, a column with the
 * amount in major units is added after all other columns.
 */
function report<Answer>({
  query,
  toRows,
  columns,
  hasPeriod = true,
  ...rest
}: CsvReportParts<Answer>): CsvReportDefinition {
  return {
    ...rest,
    hasPeriod,
    columns: [...columns, ...getMajorUnitAmountColumns(columns)],
    document: parse(query),
    toRows: (data) => toRows((data as { readonly report: Answer }).report).map(addMajorUnitAmountCells),
  };
}
