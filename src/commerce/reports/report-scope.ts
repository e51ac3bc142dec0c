/**
 * The scope of a report: one merchant or all merchants, the markets, and the period. Only orders or carts in
 * this scope are counted.
 */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { createInvalidFieldFailure } from "#foundation/faults.ts";
import { createFailure } from "#foundation/failure.ts";
import type { PeriodBucket, Period } from "#foundation/period.ts";

/** The merchant, markets and period that a report covers. */
export interface ReportScope {
  /** Id of the merchant whose data is reported; null for all merchants. */
  readonly merchantId: string | null;
  /** Ids of the markets whose data is reported; null for all markets. */
  readonly marketIds: readonly string[] | null;
  readonly period: Period;
}

/** The markets that a report covers. */
export interface MarketsCoveredByReport {
  /** Ids of the markets that the report covers; null for all markets. */
  readonly ids: readonly string[] | null;
  /** Currencies of the markets that the report covers, sorted. */
  readonly currencies: readonly string[];
  /**
   * The common time zone of the markets; null if no market was named, or if the markets have different time
   * zones.
   */
  readonly timeZone: string | null;
}

interface ReportMarketsQuery {
  readonly merchantId: string | null;
  /** Id or handle of the market whose data is reported; null for all markets. */
  readonly market: string | null;
}

/**
 * Finds the markets that a report covers. If the caller may read the data of all merchants, a handle can
 * match markets of several merchants.
 */
export async function findMarketsCoveredByReport(
  reader: DatabaseOrTransaction,
  { merchantId, market }: ReportMarketsQuery,
): Promise<MarketsCoveredByReport> {
  const ofMerchant = merchantId === null ? sql`true` : sql`merchant_id = ${merchantId}`;
  if (market === null) {
    const { rows } = await sql<{
      currency: string;
    }>`select distinct currency from market where ${ofMerchant} order by currency`.execute(reader);
    return { ids: null, currencies: rows.map(({ currency }) => currency), timeZone: null };
  }
  const { rows } = await sql<{ id: string; currency: string; timeZone: string }>`
    select id, currency, time_zone from market where ${ofMerchant} and (id = ${market} or handle = ${market})
    order by currency, id`.execute(reader);
  const [first] = rows;
  if (first === undefined)
    throw createInvalidFieldFailure("resource_not_found", "/market", {
      code: "unknown",
      message: '"market" must be the id or handle of an existing market.',
    });
  const isOneZone = rows.every(({ timeZone }) => timeZone === first.timeZone);
  return {
    ids: rows.map(({ id }) => id),
    currencies: [...new Set(rows.map(({ currency }) => currency))],
    timeZone: isOneZone ? first.timeZone : null,
  };
}

/**
 * SQL condition that is true for the rows in the scope of the report. The rows must have the columns
 * `merchant_id` and `market_id` and the time column that the caller names.
 */
export function buildReportScopeSqlCondition(
  { merchantId, marketIds, period }: ReportScope,
  row: string,
  moment: string,
): RawBuilder<boolean> {
  const column = (name: string): RawBuilder<unknown> => sql.ref(`${row}.${name}`);
  return sql<boolean>`${column(moment)} >= ${period.startsAt}::timestamptz
    and ${column(moment)} < ${period.endsAt}::timestamptz
    ${merchantId === null ? sql`` : sql`and ${column("merchant_id")} = ${merchantId}`}
    ${marketIds === null ? sql`` : sql`and ${column("market_id")} = any(${marketIds}::text[])`}`;
}

/**
 * SQL for the number of the bucket (an hour, day, week or month of the report's period) that contains the
 * time. The first bucket has the number 1.
 */
export const reportTimeBucketNumberSql = (
  moment: string,
  buckets: readonly PeriodBucket[],
): RawBuilder<number> =>
  sql<number>`width_bucket(${sql.ref(moment)},
    ${buckets.map(({ startsAt }) => startsAt.toISOString())}::timestamptz[])`;

/**
 * Converts a sum of amounts from decimal digits to a number. Throws `invalid_field` if the sum is above 2^53
 * − 1, the largest integer that a JavaScript number represents exactly.
 */
export function parseSummedAmountMinor(digits: string | null | undefined): number {
  const amountMinor = Number(digits ?? 0);
  if (Number.isSafeInteger(amountMinor)) return amountMinor;
  throw createFailure("invalid_field", {
    message: "A sum exceeds 9007199254740991 minor units. Request fewer days, or one merchant.",
  });
}
