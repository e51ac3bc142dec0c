/** Reads the report on promotions: the discounts that promotions gave to the orders of a period. */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { buildReportScopeSqlCondition, type ReportScope, parseSummedAmountMinor } from "./report-scope.ts";

/** Numbers and amounts of the orders with a promotion, in one currency; amounts in minor units. */
export interface PromotionSalesFigures {
  readonly currency: string;
  readonly orders: number;
  readonly canceledOrders: number;
  readonly discountMinor: number;
  readonly grossMinor: number;
  readonly netMinor: number;
}

/** The totals of all orders with a promotion, and the numbers of each promotion. */
export interface PromotionReport {
  /**
   * The totals of all orders with at least one promotion, one entry for each currency. An order with two
   * promotions is included only once.
   */
  readonly totals: readonly PromotionSalesFigures[];
  readonly promotions: readonly PromotionReportEntry[];
}

/** Numbers and amounts of the orders to which one promotion was applied, in one currency. */
export interface PromotionReportEntry extends PromotionSalesFigures {
  readonly promotionId: string;
  /**
   * Title of the promotion in the merchant's default locale, or else in another locale; null if there is no
   * title.
   */
  readonly title: string | null;
}

interface PromotionReportQuery extends ReportScope {
  readonly first: number;
  readonly currencies: readonly string[];
}

export async function readPromotionReport(
  reader: DatabaseOrTransaction,
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
        : [{ promotionId: row.promotionId, title: row.title, ...toPromotedFigures(row.currency, row) }],
    ),
  };
}

interface PromotionReportRow {
  /** The id of the promotion; null in the row with the totals of all promotions. */
  readonly promotionId: string | null;
  readonly title: string | null;
  readonly currency: string;
  readonly orders: number;
  readonly canceledOrders: number;
  readonly discount: string;
  readonly gross: string;
  readonly net: string;
}

/**
 * The report uses the discounts that each order stored when it was placed, so later changes of a promotion do
 * not change the report.
 */
function promotionStatement({ first, ...scope }: PromotionReportQuery): RawBuilder<PromotionReportRow> {
  const figures = sql`count(*)::int as orders, count(*) filter (where status = 'canceled')::int as
    canceled_orders, sum(discount_minor)::text as discount,
    sum(total_minor)::text as gross, sum(total_minor - reduced_minor)::text as net`;
  return sql<PromotionReportRow>`
    with placed as materialized (
      select o.currency, o.status, o.total_minor, o.reduced_minor, o.discount_minor, o.promotions
      from sales_order o
      where ${buildReportScopeSqlCondition(scope, "o", "placed_at")} and o.promotions <> '[]'),
    applied as (
      select a."promotionId" as promotion_id, p.currency, p.status, p.total_minor, p.reduced_minor,
      a."discountMinor" as discount_minor
      from placed p cross join lateral jsonb_to_recordset(p.promotions) as a("promotionId" text,
      "discountMinor" bigint)),
    ranked as (select promotion_id, currency, ${figures} from applied group by 1, 2
    order by orders desc, promotion_id, currency limit ${first})
    select null as promotion_id, null as title, currency, ${figures} from placed group by currency
    union all
    select promotion_id, (
        select coalesce(p.titles ->> m.default_locale, (select min(t.value) from jsonb_each_text(p.titles) t))
        from promotion p join merchant m on m.id = p.merchant_id where p.id = r.promotion_id),
      currency, orders, canceled_orders, discount, gross, net
    from ranked r`;
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
