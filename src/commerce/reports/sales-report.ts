/**
 * Reads the report on sales: the orders that were placed in a period, with their later reductions and
 * refunds. The report is grouped by currency or by country. It has totals, and numbers for each bucket (hour,
 * day, week or month).
 */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import type { PeriodBucket } from "#foundation/period.ts";
import { remainingTaxSql } from "./tax-report.ts";
import {
  reportTimeBucketNumberSql,
  buildReportScopeSqlCondition,
  type ReportScope,
  parseSummedAmountMinor,
} from "./report-scope.ts";

type Amount = "gross" | "reduced" | "refunded" | "discount" | "netDiscount" | "shipping" | "tax" | "netTax";

/** Numbers and amounts of orders in one currency; amounts in minor units. */
export interface SalesFigures extends Readonly<Record<`${Amount}Minor`, number>> {
  readonly currency: string;
  readonly orders: number;
  readonly canceledOrders: number;
  readonly units: number;
  readonly netMinor: number;
  /**
   * Average gross amount of an order in minor units, halves rounded up; null if there were no orders. The
   * gross amount is the total without later reductions.
   */
  readonly averageOrderMinor: number | null;
  /**
   * Average net amount of the orders that were not canceled as a whole, in minor units; null if there are no
   * such orders. The net amount is the total minus later reductions.
   */
  readonly averageNetOrderMinor: number | null;
}

/** The sales in one currency: the totals, and an entry for each bucket (hour, day, week or month). */
export interface SalesInOneCurrency {
  readonly currency: string;
  readonly totals: SalesFigures;
  readonly buckets: readonly (SalesFigures & PeriodBucket)[];
}

/**
 * The sales to one country in one currency: the totals, and an entry for each bucket (hour, day, week or
 * month).
 */
export interface SalesToCountry extends SalesInOneCurrency {
  readonly country: string;
}

interface SalesReportQuery extends ReportScope {
  readonly buckets: readonly PeriodBucket[];
  /** Currencies for which the report contains an entry even if nothing was sold in them. */
  readonly currencies: readonly string[];
}

export async function readSalesReport(
  reader: DatabaseOrTransaction,
  query: SalesReportQuery,
): Promise<readonly SalesInOneCurrency[]> {
  const { rows } = await salesStatement(query, "currency").execute(reader);
  const byCurrency = Map.groupBy(rows, ({ currency }) => currency);
  return [...new Set([...query.currencies, ...byCurrency.keys()])]
    .toSorted()
    .map((currency) => toCurrencySales(currency, byCurrency.get(currency) ?? [], query.buckets));
}

/**
 * Reads the sales to each country in each currency. For each currency, returns the `first` countries with the
 * highest net amounts (totals minus later reductions), the highest first.
 */
export async function readSalesByCountry(
  reader: DatabaseOrTransaction,
  { first, ...query }: Omit<SalesReportQuery, "currencies"> & { readonly first: number },
): Promise<readonly SalesToCountry[]> {
  const { rows } = await salesStatement(query, "country").execute(reader);
  const groups = [...Map.groupBy(rows, ({ currency, country }) => `${currency} ${country}`).values()];
  const sales = groups.flatMap((group) => {
    const [row] = group;
    if (row === undefined) return [];
    return [{ country: row.country ?? "", ...toCurrencySales(row.currency, group, query.buckets) }];
  });
  return [...Map.groupBy(sales, ({ currency }) => currency)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, ofCurrency]) => ofCurrency.toSorted(compareByNetAmount).slice(0, first));
}

const compareByNetAmount = (one: SalesToCountry, other: SalesToCountry): number =>
  other.totals.netMinor - one.totals.netMinor || (one.country < other.country ? -1 : 1);

function toCurrencySales(
  currency: string,
  rows: readonly SalesRow[],
  buckets: readonly PeriodBucket[],
): SalesInOneCurrency {
  const byBucket = new Map(rows.map((row) => [row.bucket, row]));
  return {
    currency,
    totals: toFigures(currency, byBucket.get(null)),
    buckets: buckets.map((bucket, index) => ({ ...bucket, ...toFigures(currency, byBucket.get(index + 1)) })),
  };
}

/** A row that the statement of the sales report returns. A sum is null if there is no value to sum up. */
interface SalesRow extends Readonly<Record<Amount | "units", string | null>> {
  readonly currency: string;
  /** Country of the orders; null in a report that is not grouped by country. */
  readonly country: string | null;
  /**
   * Number of the bucket, counted from 1; null in the row with the totals of the whole period. A bucket is an
   * hour, day, week or month of the period.
   */
  readonly bucket: number | null;
  readonly orders: number;
  readonly canceledOrders: number;
}

/**
 * SQL for the sum of the discounts over the orders. Each order adds only the share that belongs to its net
 * amount: the discount × (total − later reductions) ÷ total, rounded for each order. An order with the total
 * 0 adds its whole discount. A canceled order adds 0.
 */
const netDiscountSql = sql<string>`sum(case when o.status = 'canceled' then 0
  when o.total_minor = 0 or o.reduced_minor = 0 then o.discount_minor
  else round(o.discount_minor::numeric * (o.total_minor - o.reduced_minor) / o.total_minor) end)`;

/**
 * Refunds and orders are summed up separately, so that an order with several refunds is counted once. The
 * third part adds the units of orders of earlier releases, which do not store the number of their units.
 *
 * The statement joins the numbers of the buckets, although it could compute them, because PostgreSQL then
 * expects only as many groups as there are buckets. Otherwise, PostgreSQL would expect as many groups as
 * orders, and parallel processes would not add up the amounts.
 */
function salesStatement(
  { buckets, ...scope }: Omit<SalesReportQuery, "currencies">,
  groupBy: "currency" | "country",
): RawBuilder<SalesRow> {
  const group = groupBy === "country" ? sql`currency, country` : sql`currency`;
  const keys = sql`o.currency, ${groupBy === "country" ? sql`o.country` : sql`null::text`} as country,
    b.number as bucket`;
  const orders = sql`sales_order o join unnest(${buckets.map((_bucket, index) => index + 1)}::int[]) as b(number)
    on b.number = ${reportTimeBucketNumberSql("o.placed_at", buckets)}`;
  const inScope = buildReportScopeSqlCondition(scope, "o", "placed_at");
  return sql<SalesRow>`
    with counted as (
      select ${keys}, count(*) as orders, count(*) filter (where o.status = 'canceled') as canceled_orders,
        sum(o.total_minor) as gross, sum(o.reduced_minor) as reduced, sum(o.discount_minor) as discount,
        ${netDiscountSql} as net_discount, sum(o.shipping_minor) as shipping,
        sum(o.tax_minor) as tax, sum(${remainingTaxSql}) as net_tax, sum(o.units) as units, 0 as refunded
      from ${orders} where ${inScope} group by 1, 2, 3
      union all
      select ${keys}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, sum(r.amount_minor)
      from refund r join ${orders} on o.id = r.order_id
      where r.status = 'succeeded' and ${inScope} group by 1, 2, 3
      union all
      select ${keys}, 0, 0, 0, 0, 0, 0, 0, 0, 0, sum(l.ordered), 0
      from ${orders} join order_line l on l.order_id = o.id
      where o.units is null and ${inScope} group by 1, 2, 3)
    select currency, ${groupBy === "country" ? sql`country` : sql`null as country`}, bucket,
      sum(orders)::int as orders, sum(canceled_orders)::int as canceled_orders, sum(gross)::text as gross,
      sum(reduced)::text as reduced, sum(discount)::text as discount, sum(net_discount)::text as net_discount,
      sum(shipping)::text as shipping, sum(tax)::text as tax, sum(net_tax)::text as net_tax,
      sum(units)::text as units, sum(refunded)::text as refunded
    from counted group by grouping sets ((${group}), (${group}, bucket))`;
}

const emptySalesRow = {
  orders: 0,
  canceledOrders: 0,
  gross: "0",
  reduced: "0",
  refunded: "0",
  discount: "0",
  netDiscount: "0",
  shipping: "0",
  tax: "0",
  netTax: "0",
  units: "0",
};

function toFigures(
  currency: string,
  row: Omit<SalesRow, "currency" | "country" | "bucket"> = emptySalesRow,
): SalesFigures {
  const { orders, canceledOrders } = row;
  const [grossMinor, reducedMinor] = [parseSummedAmountMinor(row.gross), parseSummedAmountMinor(row.reduced)];
  const netMinor = grossMinor - reducedMinor;
  return {
    currency,
    orders,
    canceledOrders,
    units: parseSummedAmountMinor(row.units),
    grossMinor,
    reducedMinor,
    netMinor,
    refundedMinor: parseSummedAmountMinor(row.refunded),
    discountMinor: parseSummedAmountMinor(row.discount),
    netDiscountMinor: parseSummedAmountMinor(row.netDiscount),
    shippingMinor: parseSummedAmountMinor(row.shipping),
    taxMinor: parseSummedAmountMinor(row.tax),
    netTaxMinor: parseSummedAmountMinor(row.netTax),
    averageOrderMinor: orders === 0 ? null : divideHalfUp(grossMinor, orders),
    averageNetOrderMinor: orders === canceledOrders ? null : divideHalfUp(netMinor, orders - canceledOrders),
  };
}

/**
 * Divides an amount by a number in integer arithmetic, halves rounded up. Dividing floating-point numbers
 * could give a wrong last digit, because the quotient is already rounded.
 */
function divideHalfUp(amountMinor: number, parts: number): number {
  return Number((BigInt(amountMinor) * 2n + BigInt(parts)) / (BigInt(parts) * 2n));
}
