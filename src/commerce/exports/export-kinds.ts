/**
 * The kinds of exports: for each kind, the columns and the SQL that selects the rows. No column contains
 * personal data of buyers (names, addresses, notes, buyer references or tracking numbers).
 */
import { type RawBuilder, sql } from "kysely";
import type { ExportJobTable } from "#database/tables.ts";
import { getLowestIdAtTime, type IdKind } from "#foundation/ids.ts";

export type ExportKind = ExportJobTable["kind"];

/** A key by which the rows of an export are sorted: an SQL expression and its PostgreSQL type. */
interface SortKey {
  readonly sql: string;
  readonly type: "text" | "timestamptz" | "bigint";
}

interface ExportSource {
  /** The columns of an exported row in their order: for each column, its name and its SQL expression. */
  readonly columns: Readonly<Record<string, string>>;
  readonly from: string;
  readonly merchantId: string;
  /**
   * The keys by which the rows are sorted. An index of the table has the same keys in the same order. The
   * first key is the creation time, or an id that begins with the creation time.
   */
  readonly keys: readonly [SortKey, ...SortKey[]];
  /** The kind of id that the first sort key contains; left out if the first sort key is a time. */
  readonly idKind?: IdKind;
}

const text = (expression: string): SortKey => ({ sql: expression, type: "text" });
const time = (expression: string): SortKey => ({ sql: expression, type: "timestamptz" });

const toSnakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Returns the columns of a kind of export. Each column is the table's column of the same name, unless
 * `expressions` contains another SQL expression for it.
 */
function toColumns(
  table: string,
  names: string,
  expressions: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const columns: Record<string, string> = {};
  for (const name of names.trim().split(/\s+/))
    columns[name] = expressions[name] ?? `${table}.${toSnakeCase(name)}`;
  return columns;
}

export const exportSources: Readonly<Record<ExportKind, ExportSource>> = {
  orders: {
    columns: toColumns(
      "o",
      `
        orderId number status paymentStatus fulfillmentStatus returnStatus marketId country locale
        taxIncluded currency subtotalMinor discountMinor shippingMinor shippingDiscountMinor
        taxMinor totalMinor reducedMinor cancellationReason placedAt canceledAt updatedAt version
      `,
      { orderId: "o.id", cancellationReason: "o.canceled_reason" },
    ),
    from: "sales_order o",
    merchantId: "o.merchant_id",
    keys: [time("o.placed_at"), text("o.id")],
  },
  order_lines: {
    columns: toColumns(
      "l",
      `
        orderLineId orderId orderNumber placedAt position productId variantId sku title currency
        unitPriceMinor subtotalMinor discountMinor taxClass taxName taxBasisPoints taxMinor totalMinor
        reducedMinor orderedUnits
        canceledUnits shippedUnits deliveredUnits returnedUnits refundedUnits
      `,
      {
        orderLineId: "l.id",
        orderId: "o.id",
        orderNumber: "o.number",
        placedAt: "o.placed_at",
        sku: "l.display ->> 'sku'",
        title: "l.display ->> 'title'",
        currency: "o.currency",
        taxClass: "l.tax_rate ->> 'taxClass'",
        taxName: "l.tax_rate ->> 'name'",
        taxBasisPoints: "(l.tax_rate ->> 'basisPoints')::integer",
        orderedUnits: "l.ordered",
        canceledUnits: "l.canceled",
        shippedUnits: "l.shipped",
        deliveredUnits: "l.delivered",
        returnedUnits: "l.returned",
        refundedUnits: "l.refunded",
      },
    ),
    from: "sales_order o join order_line l on l.order_id = o.id",
    merchantId: "o.merchant_id",
    keys: [time("o.placed_at"), text("o.id"), text("l.id")],
  },
  payments: {
    columns: toColumns(
      "p",
      `
        paymentId orderId status methodType currency amountMinor capturedMinor voidedMinor
        refundedMinor failureCode disputedAt disputeReason createdAt updatedAt version
      `,
      { paymentId: "p.id" },
    ),
    from: "payment p",
    merchantId: "p.merchant_id",
    keys: [text("p.id")],
    idKind: "payment",
  },
  refunds: {
    columns: toColumns(
      "r",
      `
        refundId paymentId orderId returnId status reason currency amountMinor shippingMinor
        createdAt updatedAt version
      `,
      { refundId: "r.id" },
    ),
    from: "refund r",
    merchantId: "r.merchant_id",
    keys: [text("r.id")],
    idKind: "refund",
  },
  returns: {
    columns: toColumns(
      "r",
      `
        returnId orderId kind status reason method settlement units currency refundMinor feeMinor
        requestedAt closedAt updatedAt version
      `,
      {
        returnId: "r.id",
        units: "(select sum(l.quantity)::integer from return_line l where l.return_id = r.id)",
        currency: "o.currency",
      },
    ),
    from: "order_return r join sales_order o on o.id = r.order_id",
    merchantId: "r.merchant_id",
    keys: [text("r.id")],
    idKind: "return",
  },
  fulfillments: {
    columns: toColumns(
      "f",
      `
        fulfillmentId orderId returnId status type carrier units shippedAt estimatedDeliveryAt
        deliveredAt createdAt updatedAt version
      `,
      {
        fulfillmentId: "f.id",
        units: "(select sum(l.quantity)::integer from fulfillment_line l where l.fulfillment_id = f.id)",
      },
    ),
    from: "fulfillment f",
    merchantId: "f.merchant_id",
    keys: [text("f.id")],
    idKind: "fulfillment",
  },
  products: {
    columns: toColumns(
      "p",
      `
        productId status title brand variants ratingAverage ratingCount publishedAt createdAt
        updatedAt version
      `,
      {
        productId: "p.id",
        title:
          "(select t.title from product_translation t where t.product_id = p.id and t.locale = m.default_locale)",
        variants: "(select count(*)::integer from variant v where v.product_id = p.id)",
      },
    ),
    from: "product p join merchant m on m.id = p.merchant_id",
    merchantId: "p.merchant_id",
    keys: [time("p.created_at"), text("p.id")],
  },
  stock_movements: {
    columns: toColumns(
      "s",
      `
        movementId variantId sku deltaUnits onHandUnitsAfter reason createdAt
      `,
      { movementId: "s.id::text", sku: "v.sku", deltaUnits: "s.delta", onHandUnitsAfter: "s.on_hand_after" },
    ),
    from: "stock_movement s join variant v on v.id = s.variant_id",
    merchantId: "s.merchant_id",
    keys: [time("s.created_at"), { sql: "s.id", type: "bigint" }],
  },
};

/**
 * Name of the additional column that follows the column `currency` in every exported row with amounts. It
 * contains the number of digits after the decimal point in this currency.
 */
export const exponentColumn = "exponent";

/** Returns the column names of a kind of export, in the order in which an exported row has them. */
export const listExportColumns = (kind: ExportKind): readonly string[] =>
  Object.keys(exportSources[kind].columns).flatMap((name) =>
    name === "currency" ? [name, exponentColumn] : [name],
  );

/**
 * Defines which rows an export contains: the rows of one merchant that were created in a period. The end of
 * the period is exclusive.
 */
export interface ExportKindMerchantAndPeriod {
  readonly kind: ExportKind;
  readonly merchantId: string;
  /**
   * Start of the period in which the exported rows were created; null if the export begins with the oldest
   * row.
   */
  readonly periodStart: Date | null;
  readonly periodEnd: Date;
}

/** The sort keys of one exported row, converted to texts. */
export type ExportRowSortKeys = readonly string[];

const toKeySql = ({ type }: SortKey, value: string | undefined): RawBuilder<unknown> =>
  sql`${value}::${sql.raw(type)}`;

/** Returns the SQL condition that selects the rows of an export after the row with the given sort keys. */
function buildExportCondition(
  scope: ExportKindMerchantAndPeriod,
  after: ExportRowSortKeys | null,
): RawBuilder<boolean> {
  const { merchantId, keys, idKind } = exportSources[scope.kind];
  const [first] = keys;
  const key = sql.raw(first.sql);
  const bound = (at: Date): RawBuilder<unknown> =>
    toKeySql(first, idKind === undefined ? at.toISOString() : getLowestIdAtTime(idKind, at.getTime()));
  const conditions = [
    sql`${sql.raw(merchantId)} = ${scope.merchantId}`,
    sql`${key} < ${bound(scope.periodEnd)}`,
  ];
  if (after !== null) {
    const values = sql.join(keys.map((each, index) => toKeySql(each, after[index])));
    // The first condition excludes no row that the second condition includes. It helps if the sort keys are
    // columns of several tables: PostgreSQL can then limit the range of an index only with the first
    // condition.
    conditions.push(
      sql`${key} >= ${toKeySql(first, after[0])}`,
      sql`(${sql.join(keys.map((each) => sql.raw(each.sql)))}) > (${values})`,
    );
  } else if (scope.periodStart !== null) conditions.push(sql`${key} >= ${bound(scope.periodStart)}`);
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

/** One value of an exported row, as the database returns it. */
export type ExportRowCell = string | number | boolean | Date | null;

/**
 * Returns the query for one page of the rows of an export. The additional column `row_keys` contains the sort
 * keys of each row.
 */
export function buildExportRowSqlQuery(
  scope: ExportKindMerchantAndPeriod,
  { after, limit }: { readonly after: ExportRowSortKeys | null; readonly limit: number },
): RawBuilder<Readonly<Record<string, ExportRowCell>> & { readonly rowKeys: ExportRowSortKeys }> {
  const { columns, from, keys } = exportSources[scope.kind];
  const selected = Object.entries(columns).map(
    ([name, expression]) => sql`${sql.raw(expression)} as ${sql.ref(name)}`,
  );
  const keyTexts = keys.map(({ sql: expression }) => sql`(${sql.raw(expression)})::text`);
  return sql`
    select ${sql.join(selected)}, array[${sql.join(keyTexts)}] as row_keys
    from ${sql.raw(from)} where ${buildExportCondition(scope, after)}
    order by ${sql.join(keys.map((each) => sql.raw(each.sql)))} limit ${limit}`;
}

/** Returns the query that counts the rows of an export. The counting stops at `limit`. */
export const buildExportRowCountSqlQuery = (
  scope: ExportKindMerchantAndPeriod,
  limit: number,
): RawBuilder<{ count: number }> => sql`
  select count(*) as count from (
    select from ${sql.raw(exportSources[scope.kind].from)} where ${buildExportCondition(scope, null)}
    limit ${limit}
  ) as counted`;
