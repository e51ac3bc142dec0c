/**
 * Reads the report on the inventory: the stock of variants that have sold units, and the number of days for
 * which this stock lasts.
 */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { parseSummedAmountMinor } from "./report-scope.ts";

export interface InventoryReportFilter {
  /** Id of the merchant whose variants are reported; null for all merchants. */
  readonly merchantId: string | null;
  /** Number of days before `now` whose sales are counted, to calculate how long the stock lasts. */
  readonly days: number;
  /** Maximum number of days for which the stock of a reported variant lasts; null to report all variants. */
  readonly coverDaysMax: number | null;
  /** Maximum number of rows of the report. */
  readonly first: number;
  readonly now: Date;
}

/** The stock of a variant of which units were sold in the period of the report. */
export interface InventoryReportRow {
  readonly variantId: string;
  readonly sku: string;
  readonly title: string | null;
  readonly onHand: number;
  readonly reserved: number;
  /** Number of units that are on hand and not reserved; 0 if more units are reserved than are on hand. */
  readonly free: number;
  readonly soldUnits: number;
  /**
   * Number of whole days for which the free units last, if as many units are sold per day as in the period of
   * the report.
   */
  readonly coverDays: number;
}

export interface InventoryReport {
  readonly totals: {
    /** Number of variants that are not discontinued. */
    readonly variants: number;
    /** Number of variants without a free unit. */
    readonly outOfStock: number;
    readonly onHand: number;
    readonly reserved: number;
  };
  /** The reported variants, sorted by the number of days for which their stock lasts, the shortest time first. */
  readonly rows: readonly InventoryReportRow[];
}

export async function readInventoryReport(
  reader: DatabaseOrTransaction,
  query: InventoryReportFilter,
): Promise<InventoryReport> {
  const [totals, rows] = [
    await totalsStatement(query).execute(reader),
    await rowsStatement(query).execute(reader),
  ];
  const [total] = totals.rows;
  return {
    totals: {
      variants: total?.variants ?? 0,
      outOfStock: total?.outOfStock ?? 0,
      onHand: parseSummedAmountMinor(total?.onHand),
      reserved: parseSummedAmountMinor(total?.reserved),
    },
    rows: rows.rows,
  };
}

interface TotalsRow {
  readonly variants: number;
  readonly outOfStock: number;
  /** Number of units on hand of all variants together, as decimal digits; null if there are no variants. */
  readonly onHand: string | null;
  readonly reserved: string | null;
}

const ofMerchant = (alias: string, merchantId: string | null): RawBuilder<unknown> =>
  merchantId === null ? sql`true` : sql`${sql.ref(`${alias}.merchant_id`)} = ${merchantId}`;

/**
 * SQL for a `from` clause that returns the stock of all variants that are not discontinued, with the alias
 * `s`.
 */
const stockSql = ({ merchantId, now }: InventoryReportFilter): RawBuilder<unknown> => sql`(
  select v.id, v.sku, v.product_id, coalesce(sl.on_hand, 0) as on_hand,
    (coalesce(sl.reserved, 0) - coalesce(expired.units, 0))::int as reserved
  from variant v left join stock_level sl on sl.variant_id = v.id
  left join (select variant_id, sum(quantity) as units from stock_hold
    where expires_at <= ${now}::timestamptz group by 1) as expired on expired.variant_id = sl.variant_id
  where not v.discontinued and ${ofMerchant("v", merchantId)}) as s`;

function totalsStatement(query: InventoryReportFilter): RawBuilder<TotalsRow> {
  return sql<TotalsRow>`
    select count(*)::int as variants, count(*) filter (where on_hand <= reserved)::int as out_of_stock,
      sum(on_hand)::text as on_hand, sum(reserved)::text as reserved
    from ${stockSql(query)}`;
}

function rowsStatement(query: InventoryReportFilter): RawBuilder<InventoryReportRow> {
  const { merchantId, days, coverDaysMax, first, now } = query;
  const since = new Date(now.getTime() - days * 86_400_000);
  return sql<InventoryReportRow>`
    with sold as materialized (
      select l.variant_id, sum(l.ordered - l.canceled)::int as units
      from sales_order o join order_line l on l.order_id = o.id
      where o.placed_at > ${since} and o.placed_at <= ${now} and ${ofMerchant("o", merchantId)}
      group by 1 having sum(l.ordered - l.canceled) > 0),
    stock as (
      select s.*, sold.units, greatest(s.on_hand - s.reserved, 0) as free
      from sold join ${stockSql(query)} on s.id = sold.variant_id),
    covered as (select *, (free::bigint * ${days}::int / units)::int as cover_days from stock)
    select c.id as variant_id, c.sku, (
        select t.title from product_translation t join merchant m on m.id = t.merchant_id
        where t.product_id = c.product_id order by t.locale = m.default_locale desc, t.locale limit 1) as title,
      c.on_hand, c.reserved, c.free, c.units as sold_units, c.cover_days
    from covered c where ${coverDaysMax === null ? sql`true` : sql`c.cover_days <= ${coverDaysMax}`}
    order by c.cover_days, c.units desc, c.id limit ${first}`;
}
