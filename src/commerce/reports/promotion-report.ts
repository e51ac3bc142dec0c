/** What promotions did to the orders of a time: how many had each, what it took off, and what these orders came to. */
import { type RawBuilder, sql } from "kysely";
import type { Reader } from "#database/transaction.ts";
import { isInScope, type ReportScope, toAmount } from "./report-scope.ts";

export interface PromotedFigures {
  readonly currency: string;
  readonly orders: number;
  readonly canceledOrders: number;
  readonly discountMinor: number;
  readonly grossMinor: number;
  readonly netMinor: number;
}

export interface PromotionReport {
  /** With any promotion; an order with two of them counts once. */
  readonly totals: readonly PromotedFigures[];
  readonly promotions: readonly (PromotedFigures & { readonly promotionId: string })[];
}

interface PromotionsAsked extends ReportScope {
  readonly first: number;
  readonly currencies: readonly string[];
}

export async function readPromotions(reader: Reader, asked: PromotionsAsked): Promise<PromotionReport> {
  const { rows } = await promotionStatement(asked).execute(reader);
  const totals = new Map(rows.flatMap((row) => (row.promotionId === null ? [[row.currency, row]] : [])));
  return {
    totals: [...new Set([...asked.currencies, ...totals.keys()])].toSorted().map((currency) => toFigures(currency, totals.get(currency))),
    promotions: rows.flatMap((row) => (row.promotionId === null ? [] : [{ promotionId: row.promotionId, ...toFigures(row.currency, row) }])),
  };
}

interface Row {
  /** Null: any. */
  readonly promotionId: string | null;
  readonly currency: string;
  readonly orders: number;
  readonly canceledOrders: number;
  readonly discount: string;
  readonly gross: string;
  readonly net: string;
}

/** An order keeps what its promotions took off as they were when it was placed. */
function promotionStatement({ first, ...scope }: PromotionsAsked): RawBuilder<Row> {
  const figures = sql`count(*)::int as orders, count(*) filter (where status = 'canceled')::int as canceled_orders, sum(discount_minor)::text as discount,
    sum(total_minor)::text as gross, sum(total_minor - reduced_minor)::text as net`;
  return sql<Row>`
    with placed as materialized (
      select o.currency, o.status, o.total_minor, o.reduced_minor, o.discount_minor, o.promotions from sales_order o
      where ${isInScope(scope, "o", "placed_at")} and o.promotions <> '[]'),
    applied as (
      select a."promotionId" as promotion_id, p.currency, p.status, p.total_minor, p.reduced_minor, a."discountMinor" as discount_minor
      from placed p cross join lateral jsonb_to_recordset(p.promotions) as a("promotionId" text, "discountMinor" bigint)),
    ranked as (select promotion_id, currency, ${figures} from applied group by 1, 2 order by orders desc, promotion_id, currency limit ${first})
    select null as promotion_id, currency, ${figures} from placed group by currency
    union all
    select * from ranked`;
}

function toFigures(currency: string, row: Row | undefined): PromotedFigures {
  return {
    currency,
    orders: row?.orders ?? 0,
    canceledOrders: row?.canceledOrders ?? 0,
    discountMinor: toAmount(row?.discount),
    grossMinor: toAmount(row?.gross),
    netMinor: toAmount(row?.net),
  };
}
