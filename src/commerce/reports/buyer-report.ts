/**
 * Reads the report on buyers: how many buyers are new, how many ordered again, and in which months the buyers
 * who first ordered in one month came back. The report contains only numbers, no buyers.
 */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseReader } from "#database/transaction.ts";
import { buildReportScopeCondition, type ReportScope } from "./report-scope.ts";

/** Numbers of buyers and orders in a period. Orders that were canceled as a whole do not count. */
export interface BuyerTotals {
  readonly buyers: number;
  /** Number of buyers whose first order is in the period. */
  readonly newBuyers: number;
  /** Number of buyers of the period who had placed at least two orders by the end of the period. */
  readonly repeatBuyers: number;
  /** Number of orders of buyers with a buyer reference. */
  readonly orders: number;
  /** Orders without a buyer reference. */
  readonly guestOrders: number;
}

/** A cohort: all buyers whose first order was in the same month. */
export interface BuyerCohort {
  /** First day of the month in the report's time zone, as YYYY-MM-DD. */
  readonly month: string;
  readonly buyers: number;
  /** Number of orders of these buyers in the month of their first order. */
  readonly orders: number;
  /** The later months of the period in which buyers of the cohort ordered again, in chronological order. */
  readonly later: readonly BuyerCohortMonth[];
}

/** The numbers of a cohort in one later month. */
export interface BuyerCohortMonth {
  readonly month: string;
  readonly buyers: number;
  readonly orders: number;
}

export interface BuyerReport {
  readonly totals: BuyerTotals;
  readonly cohorts: readonly BuyerCohort[];
}

/** Reads the report on buyers. */
export async function readBuyerReport(reader: DatabaseReader, scope: ReportScope): Promise<BuyerReport> {
  const { rows } = await buyerStatement(scope).execute(reader);
  const [row] = rows;
  if (row === undefined) throw new Error("The report on buyers has no row.");
  const { cohorts, ...totals } = row;
  return {
    totals,
    cohorts: [...Map.groupBy(cohorts ?? [], ({ cohort }) => cohort)].map(([month, months]) =>
      toCohort(month, months),
    ),
  };
}

function toCohort(cohort: string, rows: readonly CohortRow[]): BuyerCohort {
  const first = rows.find(({ month }) => month === cohort);
  return {
    month: cohort,
    buyers: first?.buyers ?? 0,
    orders: first?.orders ?? 0,
    later: rows.flatMap(({ month, buyers, orders }) => (month === cohort ? [] : [{ month, buyers, orders }])),
  };
}

/**
 * Returns the same report scope, but with a period from 1970 to the end of the original period, so that each
 * buyer's first order is found.
 */
const untilPeriodEnd = ({ period, ...scope }: ReportScope): ReportScope => ({
  ...scope,
  period: { ...period, startsAt: new Date(0) },
});

interface CohortRow extends BuyerCohortMonth {
  /** First day of the month in which the buyers of the cohort placed their first order. */
  readonly cohort: string;
}

interface BuyerStatementRow extends BuyerTotals {
  /**
   * The numbers of each cohort in every month in which its buyers ordered, including the first month; sorted
   * by cohort and month. Null if there are no cohorts.
   */
  readonly cohorts: readonly CohortRow[] | null;
}

/**
 * Sums up the orders for each buyer and month first, so that every order is read only once. All orders of a
 * new buyer are in the period, so the months of new buyers need no condition on the period.
 */
function buyerStatement(scope: ReportScope): RawBuilder<BuyerStatementRow> {
  const { startsAt, timeZone } = scope.period;
  const start = sql`${startsAt}::timestamptz`;
  return sql<BuyerStatementRow>`
    with monthly as materialized (
      select o.merchant_id, o.buyer_reference, date_trunc('month', o.placed_at at time zone ${timeZone}) as month,
        min(o.placed_at) as first_at, max(o.placed_at) as last_at, count(*) as orders,
        count(*) filter (where o.placed_at >= ${start}) as orders_in
      from sales_order o
      where ${buildReportScopeCondition(untilPeriodEnd(scope), "o", "placed_at")} and o.status <> 'canceled'
        and o.buyer_reference is not null
      group by 1, 2, 3),
    buyers as materialized (
      select merchant_id, buyer_reference, min(month) as month, min(first_at) as first_at,
        max(last_at) as last_at, sum(orders) as orders, sum(orders_in) as orders_in
      from monthly group by 1, 2),
    cohorts as (
      select b.month as cohort, m.month, count(*)::int as buyers, sum(m.orders)::int as orders
      from buyers b join monthly m using (merchant_id, buyer_reference)
      where b.first_at >= ${start} group by 1, 2)
    select count(*)::int as buyers, count(*) filter (where first_at >= ${start})::int as new_buyers,
      count(*) filter (where orders > 1)::int as repeat_buyers, coalesce(sum(orders_in), 0)::int as orders,
      (select count(*)::int from sales_order o
        where ${buildReportScopeCondition(scope, "o", "placed_at")} and o.status <> 'canceled'
        and o.buyer_reference is null) as guest_orders,
      (select json_agg(json_build_object('cohort', to_char(c.cohort, 'YYYY-MM-DD'),
        'month', to_char(c.month, 'YYYY-MM-DD'), 'buyers', c.buyers, 'orders', c.orders) order by c.cohort, c.month)
        from cohorts c) as cohorts
    from buyers where last_at >= ${start}`;
}
