/**
 * Reads two reports on shopping. The funnel report says how many carts of a period reached a checkout, a
 * submission and an order, and how their checkout sessions ended. The other report lists the most frequent
 * searches, with and without results.
 */
import { type RawBuilder, sql } from "kysely";
import type { CheckoutSessionCancelReason } from "#commerce/checkout/end-session.ts";
import type { CheckoutSessionStatus } from "#commerce/checkout/session-aggregate.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import type { PeriodBucket } from "#foundation/period.ts";
import {
  reportTimeBucketNumberSql,
  buildReportScopeSqlCondition,
  type ReportScope,
  parseSummedAmountMinor,
} from "./report-scope.ts";

/** Number of the checkout sessions that have the same status and the same cancellation reason. */
export interface CheckoutSessionOutcomeCount {
  readonly status: CheckoutSessionStatus;
  /** The reason why these checkout sessions were canceled; null if they have another status. */
  readonly reason: CheckoutSessionCancelReason | null;
  readonly sessions: number;
}

type FunnelCount = "carts" | "checkouts" | "submittedCheckouts" | "orders" | "sessions";

/** The numbers of carts that reached each step of the funnel, and how their checkout sessions ended. */
export interface CheckoutFunnelFigures extends Readonly<Record<FunnelCount, number>> {
  /** Number of orders divided by number of carts, from 0 to 1; null if there were no carts. */
  readonly conversionRate: number | null;
  /** The numbers of checkout sessions by the way in which they ended, the most frequent status first. */
  readonly outcomes: readonly CheckoutSessionOutcomeCount[];
}

/**
 * The funnel report: the numbers of carts, checkouts, submissions and orders, for the whole period and for
 * each bucket.
 */
export interface CheckoutFunnelReport {
  readonly totals: CheckoutFunnelFigures;
  readonly buckets: readonly (CheckoutFunnelFigures & PeriodBucket)[];
}

interface FunnelReportQuery extends ReportScope {
  readonly buckets: readonly PeriodBucket[];
  readonly now: Date;
}

/** Reads the funnel report: how many carts reached a checkout, a submission and an order. */
export async function readCheckoutFunnelReport(
  reader: DatabaseOrTransaction,
  query: FunnelReportQuery,
): Promise<CheckoutFunnelReport> {
  const { rows } = await funnelStatement(query).execute(reader);
  const byBucket = Map.groupBy(rows, ({ bucket }) => bucket);
  return {
    totals: toFunnelFigures(rows),
    buckets: query.buckets.map((bucket, index) => ({
      ...bucket,
      ...toFunnelFigures(byBucket.get(index + 1) ?? []),
    })),
  };
}

/**
 * Numbers of carts of one bucket. Each row counts the carts whose checkout sessions have the same status and
 * cancellation reason.
 */
interface FunnelRow extends Readonly<Record<FunnelCount, number>> {
  readonly bucket: number;
  /** Status of the counted checkout sessions; null in rows that count carts without a checkout session. */
  readonly status: CheckoutSessionStatus | null;
  readonly reason: CheckoutSessionCancelReason | null;
}

/**
 * Counts carts, checkouts, submissions and orders. A checkout session whose expiry time has passed counts as
 * expired, even if it is still stored as open. A session whose payment failed is open again, but counts as
 * submitted, because it has a payment. The statement reads each cart once with each of its sessions,
 * submitted sessions first; only the first of these rows (`place` 1) counts the cart. PostgreSQL reads both
 * tables in the order of the cart ids, from two indexes that contain all needed columns. So a million carts
 * need neither a hash table nor a sort of all rows.
 */
function funnelStatement({ buckets, now, ...scope }: FunnelReportQuery): RawBuilder<FunnelRow> {
  return sql<FunnelRow>`
    with visit as (
      select c.id as cart_id, c.created_at, c.order_id is not null as is_ordered,
        case when s.status = 'open' and s.expires_at <= ${now}::timestamptz
        then 'expired' else s.status end as status, s.cancel_reason,
        s.submitted_at is not null
          or (select true from payment p where p.session_id = s.id limit 1) as is_submitted
      from cart c left join hosted_checkout_session s on s.cart_id = c.id
      where ${buildReportScopeSqlCondition(scope, "c", "created_at")} and c.status <> 'merged'),
    ranked as (
      select *, row_number() over (partition by cart_id order by is_submitted desc nulls last) as place
      from visit)
    select ${reportTimeBucketNumberSql("created_at", buckets)} as bucket, status, cancel_reason as reason,
      count(*) filter (where place = 1)::int as carts,
      count(status) filter (where place = 1)::int as checkouts,
      count(*) filter (where place = 1 and is_submitted)::int as submitted_checkouts,
      count(*) filter (where place = 1 and is_ordered)::int as orders, count(status)::int as sessions
    from ranked group by 1, 2, 3`;
}

function toFunnelFigures(rows: readonly FunnelRow[]): CheckoutFunnelFigures {
  const total = (name: FunnelCount): number => rows.reduce((sum, row) => sum + row[name], 0);
  const [carts, orders] = [total("carts"), total("orders")];
  return {
    carts,
    checkouts: total("checkouts"),
    submittedCheckouts: total("submittedCheckouts"),
    orders,
    sessions: total("sessions"),
    conversionRate: carts === 0 ? null : orders / carts,
    outcomes: toOutcomes(rows),
  };
}

function toOutcomes(rows: readonly FunnelRow[]): CheckoutSessionOutcomeCount[] {
  const groups = Map.groupBy(rows, ({ status, reason }) => `${status} ${reason}`);
  const outcomes = [...groups.values()].flatMap(([first, ...others]): CheckoutSessionOutcomeCount[] =>
    first === undefined || first.status === null
      ? []
      : [
          {
            status: first.status,
            reason: first.reason,
            sessions: others.reduce((sum, { sessions }) => sum + sessions, first.sessions),
          },
        ],
  );
  return outcomes.toSorted(
    (one, other) =>
      other.sessions - one.sessions ||
      (`${one.status} ${one.reason}` < `${other.status} ${other.reason}` ? -1 : 1),
  );
}

/** The number of searches, and the number of searches without results. */
export interface SearchFigures {
  readonly searches: number;
  readonly empty: number;
}

/** The totals of all searches, the most frequent queries, and the most frequent queries without results. */
export interface SearchReport {
  readonly totals: SearchFigures & { readonly queries: number };
  readonly top: readonly (SearchFigures & { readonly query: string })[];
  readonly withoutResults: readonly (SearchFigures & { readonly query: string })[];
}

interface SearchReportQuery {
  /**
   * Id of the merchant of the report; null for all merchants. A search in the products of all merchants
   * counts for every merchant.
   */
  readonly merchantId: string | null;
  /** The country for which buyers searched; null for all countries. */
  readonly country: string | null;
  /** First day (UTC) of the searches in the report. The last day is `to`; both days are included. */
  readonly from: string;
  readonly to: string;
  readonly first: number;
}

export async function readSearchReport(
  reader: DatabaseOrTransaction,
  query: SearchReportQuery,
): Promise<SearchReport> {
  const { rows } = await searchStatement(query).execute(reader);
  const listed = (list: SearchRow["list"]): SearchReport["top"] =>
    rows.flatMap((row) =>
      row.list === list && row.query !== null ? [{ query: row.query, ...toSearchFigures(row) }] : [],
    );
  const total = rows.find(({ list }) => list === "totals");
  return {
    totals: { queries: total?.queries ?? 0, ...toSearchFigures(total) },
    top: listed("top"),
    withoutResults: listed("empty"),
  };
}

interface SearchRow {
  readonly list: "totals" | "top" | "empty";
  readonly query: string | null;
  readonly searches: string | null;
  readonly empty: string | null;
  readonly queries: number | null;
}

function searchStatement({ merchantId, country, from, to, first }: SearchReportQuery): RawBuilder<SearchRow> {
  return sql<SearchRow>`
    with counted as materialized (
      select query, sum(searches) as searches, sum(empty) as empty from search_query_day
      where day between ${from}::date and ${to}::date
        ${merchantId === null ? sql`` : sql`and (merchant_id = ${merchantId} or merchant_id is null)`}
        ${country === null ? sql`` : sql`and country = ${country}`}
      group by query)
    select 'totals' as list, null as query, sum(searches)::text as searches, sum(empty)::text as empty,
    count(*)::int as queries from counted
    union all
    (select 'top', query, searches::text, empty::text, null from counted order by counted.searches desc, query
    limit ${first})
    union all
    (select 'empty', query, searches::text, empty::text, null from counted where empty > 0
    order by counted.empty desc, query limit ${first})`;
}

function toSearchFigures(row: SearchRow | undefined): SearchFigures {
  return { searches: parseSummedAmountMinor(row?.searches), empty: parseSummedAmountMinor(row?.empty) };
}
