/** What a report of the shop is about: whose orders, of which markets, in which time. */
import { type RawBuilder, sql } from "kysely";
import type { Reader } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import type { Bucket, Period } from "#foundation/period.ts";

export interface ReportScope {
  /** Null: everybody's. */
  readonly merchantId: string | null;
  /** Null: all of them. */
  readonly marketIds: readonly string[] | null;
  readonly period: Period;
}

export interface ReportMarkets {
  /** Null: all of them. */
  readonly ids: readonly string[] | null;
  /** What they sell in, in order. */
  readonly currencies: readonly string[];
  /** Null: none was named, or several that are not of one time zone. */
  readonly timeZone: string | null;
}

interface ReportMarketsQuery {
  readonly merchantId: string | null;
  /** An id or a handle; null: all of them. */
  readonly market: string | null;
}

/** With a token of the platform a handle may name a market of several merchants. */
export async function findReportMarkets(
  reader: Reader,
  { merchantId, market }: ReportMarketsQuery,
): Promise<ReportMarkets> {
  const ofMerchant = merchantId === null ? sql`true` : sql`merchant_id = ${merchantId}`;
  if (market === null) {
    const { rows } = await sql<{
      currency: string;
    }>`select distinct currency from market where ${ofMerchant} order by currency`.execute(reader);
    return { ids: null, currencies: rows.map(({ currency }) => currency), timeZone: null };
  }
  const { rows } = await sql<{ id: string; currency: string; timeZone: string }>`
    select id, currency, time_zone from market where ${ofMerchant} and (id = ${market} or handle = ${market}) order by currency, id`.execute(
    reader,
  );
  const [first] = rows;
  if (first === undefined) throw fail("resource_not_found", { message: "There is no such market." });
  const isOneZone = rows.every(({ timeZone }) => timeZone === first.timeZone);
  return {
    ids: rows.map(({ id }) => id),
    currencies: [...new Set(rows.map(({ currency }) => currency))],
    timeZone: isOneZone ? first.timeZone : null,
  };
}

/** A condition on a row of that name that has a merchant, a market and the moment by which it counts. */
export function reportScopeCondition(
  { merchantId, marketIds, period }: ReportScope,
  row: string,
  moment: string,
): RawBuilder<boolean> {
  const column = (name: string): RawBuilder<unknown> => sql.ref(`${row}.${name}`);
  return sql<boolean>`${column(moment)} >= ${period.startsAt}::timestamptz and ${column(moment)} < ${period.endsAt}::timestamptz
    ${merchantId === null ? sql`` : sql`and ${column("merchant_id")} = ${merchantId}`}
    ${marketIds === null ? sql`` : sql`and ${column("market_id")} = any(${marketIds}::text[])`}`;
}

/** The number of its bucket, from 1. */
export const reportBucketNumber = (moment: string, buckets: readonly Bucket[]): RawBuilder<number> =>
  sql<number>`width_bucket(${sql.ref(moment)}, ${buckets.map(({ startsAt }) => startsAt.toISOString())}::timestamptz[])`;

/** A sum as the database gives it, in digits. */
export function toSafeAmount(digits: string | null | undefined): number {
  const amountMinor = Number(digits ?? 0);
  if (Number.isSafeInteger(amountMinor)) return amountMinor;
  throw fail("invalid_field", {
    message: "A sum is more than 9007199254740991 minor units: ask for fewer days, or for one merchant.",
  });
}
