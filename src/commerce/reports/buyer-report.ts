/**
 * Reads the report on buyers: how many are new, how many order again, and in which months the buyers of one
 * month came back. Buyers are counted, never named.
 */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseReader } from "#database/transaction.ts";
import { buildReportScopeCondition, type ReportScope } from "./report-scope.ts";

/** Counts of buyers and orders of a period. Orders that were canceled as a whole are not counted. */
export interface BuyerTotals {
  readonly buyers: number;
  /** Buyers whose first order is in the period. */
  readonly newBuyers: number;
  /** Buyers who had placed at least two orders by the end of the period. */
  readonly repeatBuyers: number;
  /** Orders of buyers with a reference. */
  readonly orders: number;
  /** Orders without a buyer reference. */
  readonly guestOrders: number;
}

/** The buyers whose first order was in the same month. */
export interface BuyerCohort {
  /** First day of the month in the report's time zone, as YYYY-MM-DD. */
  readonly month: string;
  readonly buyers: number;
  /** Orders of these buyers in that month. */
  readonly orders: number;
  /** Later months of the period in which buyers of the cohort ordered again, in chronological order. */
  readonly later: readonly BuyerCohortMonth[];
}

/** One later month of a cohort. */
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
  const totals = await totalsStatement(scope).execute(reader);
  const months = await cohortStatement(scope).execute(reader);
  return {
    totals: totals.rows[0] ?? { buyers: 0, newBuyers: 0, repeatBuyers: 0, orders: 0, guestOrders: 0 },
    cohorts: [...Map.groupBy(months.rows, ({ cohort }) => cohort)].map(([month, rows]) =>
      toCohort(month, rows),
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

/** The scope from the beginning of time to the end of the period, so that first orders are found. */
const untilPeriodEnd = ({ period, ...scope }: ReportScope): ReportScope => ({
  ...scope,
  period: { ...period, startsAt: new Date(0) },
});

/** The buyers up to the end of the period, with the times of their first and last order, as a statement. */
const buyersSql = (scope: ReportScope): RawBuilder<unknown> => sql`
  select o.merchant_id, o.buyer_reference, min(o.placed_at) as first_at, max(o.placed_at) as last_at,
    count(*) as orders, count(*) filter (where o.placed_at >= ${scope.period.startsAt}::timestamptz) as orders_in
  from sales_order o
  where ${buildReportScopeCondition(untilPeriodEnd(scope), "o", "placed_at")} and o.status <> 'canceled'
    and o.buyer_reference is not null
  group by 1, 2`;

function totalsStatement(scope: ReportScope): RawBuilder<BuyerTotals> {
  return sql<BuyerTotals>`
    with buyers as (${buyersSql(scope)})
    select count(*)::int as buyers,
      count(*) filter (where first_at >= ${scope.period.startsAt}::timestamptz)::int as new_buyers,
      count(*) filter (where orders > 1)::int as repeat_buyers, coalesce(sum(orders_in), 0)::int as orders,
      (select count(*)::int from sales_order o
        where ${buildReportScopeCondition(scope, "o", "placed_at")} and o.status <> 'canceled'
        and o.buyer_reference is null) as guest_orders
    from buyers where last_at >= ${scope.period.startsAt}::timestamptz`;
}

interface CohortRow extends BuyerCohortMonth {
  /** First day of the month of the buyers' first order. */
  readonly cohort: string;
}

/** Counts the buyers of each cohort in each month in which they ordered, including the first. */
function cohortStatement(scope: ReportScope): RawBuilder<CohortRow> {
  const { startsAt, timeZone } = scope.period;
  const month = (moment: RawBuilder<unknown>): RawBuilder<string> =>
    sql<string>`to_char(${moment} at time zone ${timeZone}, 'YYYY-MM-"01"')`;
  return sql<CohortRow>`
    with buyers as (${buyersSql(scope)}),
    monthly as (
      select b.merchant_id, b.buyer_reference, ${month(sql`b.first_at`)} as cohort,
        ${month(sql`o.placed_at`)} as month, count(*) as orders
      from buyers b join sales_order o
        on o.merchant_id = b.merchant_id and o.buyer_reference = b.buyer_reference and o.status <> 'canceled'
      where b.first_at >= ${startsAt}::timestamptz and ${buildReportScopeCondition(scope, "o", "placed_at")}
      group by 1, 2, 3, 4)
    select cohort, month, count(*)::int as buyers, sum(orders)::int as orders from monthly
    group by 1, 2 order by 1, 2`;
}
