/**
 * The reports that are available as CSV: the GraphQL query of each, and the conversion of its result into
 * rows.
 */
import { type DocumentNode, parse } from "graphql";

type Row = Readonly<Record<string, Cell>>;

export interface CsvReport {
  readonly document: DocumentNode;
  /**
   * The query parameters of a report in addition to `from` and `to`. The value of each is a text, an integer,
   * or one of the listed words.
   */
  readonly parameters: Readonly<Record<string, "text" | "integer" | readonly string[]>>;
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
const promotion = ["currency", "orders", "canceledOrders", "discountMinor", "grossMinor", "netMinor"];
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
  "shippingMinor",
  "taxMinor",
  "averageOrderMinor",
];
const outcomes = ["COMPLETED", "EXPIRED", "OPEN", "PROCESSING"];
const cancellations = [
  "BUYER_ABANDONED",
  "BUYER_CHANGED_MIND",
  "MERCHANT_REQUEST",
  "PRICE_CHANGED",
  "OUT_OF_STOCK",
  "FRAUD_SUSPECTED",
  "DUPLICATE",
  "TEST",
  "OTHER",
].map((reason) => `CANCELED_${reason}`);
const errors = ["TIMEOUT", "DNS", "TLS", "CONNECTION", "HTTP_STATUS", "BLOCKED_ADDRESS", "REDIRECT"];

const shopVariables = "$from: Date!, $to: Date!, $merchantId: ID, $market: String, $timeZone: String";
const shopArguments = "from: $from, to: $to, merchantId: $merchantId, market: $market, timeZone: $timeZone";

/** The CSV reports by their name in the URL, without `.csv`. */
export const csvReports: ReadonlyMap<string, CsvReport> = new Map([
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
    "funnel",
    report({
      parameters: { ...shop, interval },
      columns: [...spread, ...carts, ...outcomes, ...cancellations],
      query: `query (${shopVariables}, $interval: ReportInterval! = DAY) {
        report: funnelReport(${shopArguments}, interval: $interval) { buckets {
        ${[...spread, ...carts].join(" ")} outcomes { status reason sessions } } } }`,
      toRows: ({ buckets }: { readonly buckets: readonly FunnelBucket[] }) => buckets.map(toFunnelRow),
    }),
  ],
  [
    "products",
    report({
      parameters: {
        ...shop,
        first: "integer",
        groupBy: ["product", "variant", "category", "country", "market"],
        sort: ["net", "gross", "units", "returned_units", "return_rate"],
      },
      columns: sold,
      query: `query (${shopVariables}, $first: Int! = 100, $groupBy: ProductReportGroup! = PRODUCT,
        $sort: ProductReportSort! = NET) {
        report: productReport(${shopArguments}, first: $first, groupBy: $groupBy, sort: $sort) { rows {
        ${sold.join(" ")} } } }`,
      toRows: ({ rows }: { readonly rows: readonly Row[] }) => rows,
    }),
  ],
  [
    "promotions",
    report({
      parameters: { ...shop, first: "integer" },
      columns: ["promotionId", ...promotion],
      query: `query (${shopVariables}, $first: Int! = 100) {
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
      parameters: { ...shop, first: "integer" },
      columns: ["list", "query", "searches", "empty"],
      query: `query ($from: Date!, $to: Date!, $merchantId: ID, $market: CountryCode, $timeZone: String,
        $first: Int! = 100) {
        report: searchReport(${shopArguments}, first: $first) { top { query searches empty } withoutResults {
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
      columns: [...spread, ...attempts, ...errors],
      query: `query ($from: Date!, $to: Date!, $merchantId: ID, $timeZone: String, $interval: ReportInterval!
        = DAY, $endpointId: ID, $installationId: ID) {
        report: webhookHealthReport(from: $from, to: $to, merchantId: $merchantId, timeZone: $timeZone,
        interval: $interval, endpointId: $endpointId,
          installationId: $installationId) { buckets { ${[...spread, ...attempts].join(" ")} failuresByCode {
          code count } } } }`,
      toRows: ({ buckets }: { readonly buckets: readonly HealthBucket[] }) => buckets.map(toHealthRow),
    }),
  ],
]);

interface CsvReportParts<Answer> extends Pick<CsvReport, "parameters" | "columns"> {
  /** The text of the GraphQL query of a report. Its only root field has the alias `report`. */
  readonly query: string;
  readonly toRows: (report: Answer) => readonly Row[];
}

function report<Answer>({ query, toRows, ...rest }: CsvReportParts<Answer>): CsvReport {
  return {
    ...rest,
    document: parse(query),
    toRows: (data) => toRows((data as { readonly report: Answer }).report),
  };
}

interface FunnelBucket extends Readonly<Record<string, unknown>> {
  readonly outcomes: readonly {
    readonly status: string;
    readonly reason: string | null;
    readonly sessions: number;
  }[];
}

/**
 * Builds the CSV row of one bucket of the funnel report. Each outcome of a checkout has its own column, with
 * 0 if the outcome did not occur.
 */
function toFunnelRow({ outcomes: found, ...bucket }: FunnelBucket): Row {
  const counts = new Map(
    found.map(({ status, reason, sessions }) => [reason === null ? status : `${status}_${reason}`, sessions]),
  );
  return {
    ...(bucket as Row),
    ...Object.fromEntries([...outcomes, ...cancellations].map((name) => [name, counts.get(name) ?? 0])),
  };
}

interface HealthBucket extends Readonly<Record<string, unknown>> {
  readonly failuresByCode: readonly { readonly code: string; readonly count: number }[];
}

function toHealthRow({ failuresByCode, ...bucket }: HealthBucket): Row {
  const counts = new Map(failuresByCode.map(({ code, count }) => [code, count]));
  return { ...(bucket as Row), ...Object.fromEntries(errors.map((code) => [code, counts.get(code) ?? 0])) };
}

type Cell = string | number | boolean | null;

/**
 * Characters that make a spreadsheet run a cell as a formula if the cell begins with one of them. Their
 * full-width forms are included.
 */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;
const special = /[",\r\n]/;

/** Writes rows as CSV (RFC 4180). Texts that a spreadsheet would run as a formula are escaped. */
export function toCsv(columns: readonly string[], rows: readonly Readonly<Record<string, Cell>>[]): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? null))];
  return lines.map((cells) => `${cells.map(toField).join(",")}\r\n`).join("");
}

/**
 * Writes one cell of a CSV row; null becomes an empty cell. Numbers are not escaped, even if they begin with
 * a minus sign, because they come from this service and not from a buyer.
 */
function toField(cell: Cell): string {
  if (typeof cell !== "string") return cell === null ? "" : String(cell);
  const text = formula.test(cell) ? `'${cell}` : cell;
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
