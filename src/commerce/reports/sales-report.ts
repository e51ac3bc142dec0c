/**
 * Reads the reports on orders, by the time when the orders were placed: sales with later reductions and
 * refunds, and the discounts of promotions.
 */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseReader } from "#database/transaction.ts";
import type { PeriodBucket } from "#foundation/period.ts";
import {
  reportBucketNumberSql,
  buildReportScopeCondition,
  type ReportScope,
  parseSummedAmountMinor,
} from "./report-scope.ts";

type Amount = "gross" | "reduced" | "refunded" | "discount" | "shipping" | "tax";

/** Counts and amounts of orders in one currency; amounts in minor units. */
export interface SalesFigures extends Readonly<Record<`${Amount}Minor`, number>> {
  readonly currency: string;
  readonly orders: number;
  readonly canceledOrders: number;
  readonly units: number;
  readonly netMinor: number;
  /** Average gross amount of an order in minor units, rounded half up; null if there were no orders. */
  readonly averageOrderMinor: number | null;
}

/** The sales in one currency: totals and one entry per bucket. */
export interface CurrencySales {
  readonly currency: string;
  readonly totals: SalesFigures;
  readonly buckets: readonly (SalesFigures & PeriodBucket)[];
}

interface SalesReportQuery extends ReportScope {
  readonly buckets: readonly PeriodBucket[];
  /** Currencies that the report lists even without sales. */
  readonly currencies: readonly string[];
}

/** Reads the report on sales. */
export async function readSalesReport(
  reader: DatabaseReader,
  query: SalesReportQuery,
): Promise<readonly CurrencySales[]> {
  const { rows } = await salesStatement(query).execute(reader);
  const byCurrency = Map.groupBy(rows, ({ currency }) => currency);
  return [...new Set([...query.currencies, ...byCurrency.keys()])].toSorted().map((currency) => {
    const byBucket = new Map((byCurrency.get(currency) ?? []).map((row) => [row.bucket, row]));
    return {
      currency,
      totals: toFigures(currency, byBucket.get(null)),
      buckets: query.buckets.map((bucket, index) => ({
        ...bucket,
        ...toFigures(currency, byBucket.get(index + 1)),
      })),
    };
  });
}

/** A row of the sales statement; sums without rows are null. */
interface SalesRow extends Readonly<Record<Amount | "units", string | null>> {
  readonly currency: string;
  /** Number of the bucket, from 1; null in the row of the whole period. */
  readonly bucket: number | null;
  readonly orders: number;
  readonly canceledOrders: number;
}

/** Sums refunds and units separately from orders, so that an order with several refunds counts once. */
function salesStatement({ buckets, ...scope }: SalesReportQuery): RawBuilder<SalesRow> {
  return sql<SalesRow>`
    with placed as materialized (
      select o.id, ${reportBucketNumberSql("o.placed_at", buckets)} as bucket, o.currency, o.status,
      o.total_minor, o.reduced_minor, o.discount_minor, o.shipping_minor, o.tax_minor
      from sales_order o where ${buildReportScopeCondition(scope, "o", "placed_at")}),
    counted as (
      select currency, bucket, count(*) as orders, count(*) filter (where status = 'canceled') as
      canceled_orders, sum(total_minor) as gross,
        sum(reduced_minor) as reduced, sum(discount_minor) as discount, sum(shipping_minor) as shipping,
        sum(tax_minor) as tax, 0 as units, 0 as refunded
      from placed group by 1, 2
      union all
      select p.currency, p.bucket, 0, 0, 0, 0, 0, 0, 0, sum(l.ordered), 0 from placed p join order_line l
      on l.order_id = p.id group by 1, 2
      union all
      select p.currency, p.bucket, 0, 0, 0, 0, 0, 0, 0, 0, sum(r.amount_minor)
      from placed p join refund r on r.order_id = p.id where r.status = 'succeeded' group by 1, 2)
    select currency, bucket, sum(orders)::int as orders, sum(canceled_orders)::int as canceled_orders,
    sum(gross)::text as gross,
      sum(reduced)::text as reduced, sum(discount)::text as discount, sum(shipping)::text as shipping,
      sum(tax)::text as tax,
      sum(units)::text as units, sum(refunded)::text as refunded
    from counted group by grouping sets ((currency), (currency, bucket))`;
}

const emptySalesRow = {
  orders: 0,
  canceledOrders: 0,
  gross: "0",
  reduced: "0",
  refunded: "0",
  discount: "0",
  shipping: "0",
  tax: "0",
  units: "0",
};

function toFigures(
  currency: string,
  row: Omit<SalesRow, "currency" | "bucket"> = emptySalesRow,
): SalesFigures {
  const { orders, canceledOrders } = row;
  const [grossMinor, reducedMinor] = [parseSummedAmountMinor(row.gross), parseSummedAmountMinor(row.reduced)];
  return {
    currency,
    orders,
    canceledOrders,
    units: parseSummedAmountMinor(row.units),
    grossMinor,
    reducedMinor,
    netMinor: grossMinor - reducedMinor,
    refundedMinor: parseSummedAmountMinor(row.refunded),
    discountMinor: parseSummedAmountMinor(row.discount),
    shippingMinor: parseSummedAmountMinor(row.shipping),
    taxMinor: parseSummedAmountMinor(row.tax),
    averageOrderMinor: orders === 0 ? null : divideHalfUp(grossMinor, orders),
  };
}

/** Divides with integers, because a quotient of floating-point numbers could be rounded twice. */
function divideHalfUp(amountMinor: number, parts: number): number {
  return Number((BigInt(amountMinor) * 2n + BigInt(parts)) / (BigInt(parts) * 2n));
}

/** Counts and amounts of the orders with a promotion, in one currency; amounts in minor units. */
export interface PromotionSalesFigures {
  readonly currency: string;
  readonly orders: number;
  readonly canceledOrders: number;
  readonly discountMinor: number;
  readonly grossMinor: number;
  readonly netMinor: number;
}

/** Totals of all orders with a promotion, and figures per promotion. */
export interface PromotionReport {
  /** Figures of orders with any promotion, by currency; an order with two promotions counts once. */
  readonly totals: readonly PromotionSalesFigures[];
  readonly promotions: readonly (PromotionSalesFigures & { readonly promotionId: string })[];
}

interface PromotionReportQuery extends ReportScope {
  readonly first: number;
  readonly currencies: readonly string[];
}

/** Reads the report on promotions. */
export async function readPromotionReport(
  reader: DatabaseReader,
  query: PromotionReportQuery,
): Promise<PromotionReport> {
  const { rows } = await promotionStatement(query).execute(reader);
  const totals = new Map(rows.flatMap((row) => (row.promotionId === null ? [[row.currency, row]] : [])));
  return {
    totals: [...new Set([...query.currencies, ...totals.keys()])]
      .toSorted()
      .map((currency) => toPromotedFigures(currency, totals.get(currency))),
    promotions: rows.flatMap((row) =>
      row.promotionId === null
        ? []
        : [{ promotionId: row.promotionId, ...toPromotedFigures(row.currency, row) }],
    ),
  };
}

interface PromotionReportRow {
  /** The promotion; null in the row of totals. */
  readonly promotionId: string | null;
  readonly currency: string;
  readonly orders: number;
  readonly canceledOrders: number;
  readonly discount: string;
  readonly gross: string;
  readonly net: string;
}

/** Uses the discounts that each order stored when it was placed. */
function promotionStatement({ first, ...scope }: PromotionReportQuery): RawBuilder<PromotionReportRow> {
  const figures = sql`count(*)::int as orders, count(*) filter (where status = 'canceled')::int as
    canceled_orders, sum(discount_minor)::text as discount,
    sum(total_minor)::text as gross, sum(total_minor - reduced_minor)::text as net`;
  return sql<PromotionReportRow>`
    with placed as materialized (
      select o.currency, o.status, o.total_minor, o.reduced_minor, o.discount_minor, o.promotions
      from sales_order o
      where ${buildReportScopeCondition(scope, "o", "placed_at")} and o.promotions <> '[]'),
    applied as (
      select a."promotionId" as promotion_id, p.currency, p.status, p.total_minor, p.reduced_minor,
      a."discountMinor" as discount_minor
      from placed p cross join lateral jsonb_to_recordset(p.promotions) as a("promotionId" text,
      "discountMinor" bigint)),
    ranked as (select promotion_id, currency, ${figures} from applied group by 1, 2
    order by orders desc, promotion_id, currency limit ${first})
    select null as promotion_id, currency, ${figures} from placed group by currency
    union all
    select * from ranked`;
}

function toPromotedFigures(currency: string, row: PromotionReportRow | undefined): PromotionSalesFigures {
  return {
    currency,
    orders: row?.orders ?? 0,
    canceledOrders: row?.canceledOrders ?? 0,
    discountMinor: parseSummedAmountMinor(row?.discount),
    grossMinor: parseSummedAmountMinor(row?.gross),
    netMinor: parseSummedAmountMinor(row?.net),
  };
}
