/**
 * Reads the report on buyers: how many buyers are new, and how many ordered again. Buyers who first ordered
 * in the same month form a cohort; the report says in which later months they ordered again. It contains only
 * numbers, no buyers.
 */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { dividePeriodIntoBuckets, type PeriodBucket } from "#foundation/period.ts";
import { buildReportScopeSqlCondition, type ReportScope } from "./report-scope.ts";

/** Numbers of buyers and orders in a period, without orders that were canceled as a whole. */
export interface BuyerTotals {
  readonly buyers: number;
  /** Number of buyers whose first order is in the period. */
  readonly newBuyers: number;
  /**
   * Number of buyers who ordered in the period and had placed at least two orders in total by the end of the
   * period.
   */
  readonly repeatBuyers: number;
  /** Number of orders with a buyer reference. */
  readonly orders: number;
  /** Number of orders without a buyer reference. */
  readonly guestOrders: number;
}

/** A cohort: all buyers whose first order was in the same month. */
export interface BuyerCohort {
  /** First day of the month in the report's time zone, as YYYY-MM-DD. */
  readonly month: string;
  readonly buyers: number;
  /**
   * Number of orders that the buyers of the cohort placed in the month of their first order, including the
   * first order.
   */
  readonly orders: number;
  /** The later months of the period in which buyers of the cohort ordered again, the earliest month first. */
  readonly later: readonly BuyerCohortMonth[];
}

/** The numbers of a cohort in one month after the month of the cohort's first orders. */
export interface BuyerCohortMonth {
  readonly month: string;
  readonly buyers: number;
  readonly orders: number;
}

export interface BuyerReport {
  readonly totals: BuyerTotals;
  readonly cohorts: readonly BuyerCohort[];
}

export async function readBuyerReport(
  reader: DatabaseOrTransaction,
  scope: ReportScope,
): Promise<BuyerReport> {
  const months = dividePeriodIntoBuckets(scope.period, "month");
  const { rows } = await buyerStatement(scope, months).execute(reader);
  const [row] = rows;
  if (row === undefined) throw new Error("The report on buyers has no row.");
  const { cohorts, ...totals } = row;
  const firstDayOf = (number: number): string => `${months[number - 1]?.day.slice(0, 7)}-01`;
  const named = (cohorts ?? []).map((numbered): CohortRow => ({
    cohort: firstDayOf(numbered.cohort),
    month: firstDayOf(numbered.month),
    buyers: numbered.buyers,
    orders: numbered.orders,
  }));
  return {
    totals,
    cohorts: [...Map.groupBy(named, ({ cohort }) => cohort)].map(([month, rowsOfMonth]) =>
      toCohort(month, rowsOfMonth),
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
 * Returns the scope of a report with its period extended back to 1970, so that each buyer's first order is
 * found.
 */
const untilPeriodEnd = ({ period, ...scope }: ReportScope): ReportScope => ({
  ...scope,
  period: { ...period, startsAt: new Date(0) },
});

interface CohortRow extends BuyerCohortMonth {
  /** First day of the month in which the buyers of the cohort placed their first order. */
  readonly cohort: string;
}

/**
 * The numbers of a cohort in one month. `cohort` and `month` are month numbers here and not dates: the first
 * month of the report's period has the number 1.
 */
type NumberedCohortRow = Omit<CohortRow, "cohort" | "month"> & Readonly<Record<"cohort" | "month", number>>;

interface BuyerStatementRow extends BuyerTotals {
  /**
   * The numbers of each cohort in each month in which its buyers ordered, including the cohort's first month.
   * Null if there are no cohorts.
   */
  readonly cohorts: readonly NumberedCohortRow[] | null;
}

/**
 * The statement reads the orders of each buyer once, in the order of an index by buyer and time, so that
 * PostgreSQL needs neither a sort nor a hash table. If the first order of a buyer is in the period, all
 * orders of this buyer are in the period. Each month counts a buyer once, with the buyer's first order of
 * that month. The preceding order of this order is in an earlier month.
 */
function buyerStatement(scope: ReportScope, months: readonly PeriodBucket[]): RawBuilder<BuyerStatementRow> {
  const start = sql`${scope.period.startsAt}::timestamptz`;
  const starts = sql`${months.map(({ startsAt }) => startsAt.toISOString())}::timestamptz[]`;
  return sql<BuyerStatementRow>`
    with buyers as materialized (
      select min(o.placed_at) as first_at, max(o.placed_at) as last_at, count(*) as orders,
        array_agg(o.placed_at order by o.placed_at) filter (where o.placed_at >= ${start}) as placed
      from sales_order o
      where ${buildReportScopeSqlCondition(untilPeriodEnd(scope), "o", "placed_at")} and o.status <> 'canceled'
        and o.buyer_reference is not null
      group by o.merchant_id, o.buyer_reference),
    cohorts as (
      select width_bucket(b.first_at, ${starts}) as cohort, width_bucket(p.at, ${starts}) as month,
        count(*) filter (where p.place = 1
          or width_bucket(b.placed[p.place - 1], ${starts}) < width_bucket(p.at, ${starts}))::int as buyers,
        count(*)::int as orders
      from buyers b cross join lateral unnest(b.placed) with ordinality as p(at, place)
      where b.first_at >= ${start} group by 1, 2)
    select count(*)::int as buyers, count(*) filter (where first_at >= ${start})::int as new_buyers,
      count(*) filter (where orders > 1)::int as repeat_buyers,
      coalesce(sum(cardinality(placed)), 0)::int as orders,
      (select count(*)::int from sales_order o
        where ${buildReportScopeSqlCondition(scope, "o", "placed_at")} and o.status <> 'canceled'
        and o.buyer_reference is null) as guest_orders,
      (select json_agg(c order by c.cohort, c.month) from cohorts c) as cohorts
    from buyers where last_at >= ${start}`;
}
