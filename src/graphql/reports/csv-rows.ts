/** Converts report entries with nested lists to rows of a CSV table. */
import type { CsvReportRow } from "./csv-table.ts";

export const outcomeColumns = ["COMPLETED", "EXPIRED", "OPEN", "PROCESSING"];
export const cancellationColumns = [
  "BUYER_ABANDONED",
  "BUYER_CHANGED_MIND",
  "MERCHANT_REQUEST",
  "PRICE_CHANGED",
  "OUT_OF_STOCK",
  "FRAUD_SUSPECTED",
  "DUPLICATE",
  "TEST",
  "OTHER",
].map((reason) => `CANCELED_${reason}`);
export const deliveryErrorColumns = [
  "TIMEOUT",
  "DNS",
  "TLS",
  "CONNECTION",
  "HTTP_STATUS",
  "BLOCKED_ADDRESS",
  "REDIRECT",
];

interface FunnelOutcome {
  readonly status: string;
  readonly reason: string | null;
  readonly sessions: number;
}

export type CheckoutFunnelBucketRow = CsvReportRow & { readonly outcomes: readonly FunnelOutcome[] };

/**
 * Builds one CSV row of the funnel report, which shows how many buyers go from cart to order. The row covers
 * one part of the period, for example a day. Each outcome of a checkout has its own column, with the value 0
 * if the outcome did not occur.
 */
export function toCheckoutFunnelCsvRow({
  outcomes: found,
  ...bucket
}: CheckoutFunnelBucketRow): CsvReportRow {
  const counts = new Map(
    found.map(({ status, reason, sessions }) => [reason === null ? status : `${status}_${reason}`, sessions]),
  );
  return {
    ...bucket,
    ...Object.fromEntries(
      [...outcomeColumns, ...cancellationColumns].map((name) => [name, counts.get(name) ?? 0]),
    ),
  };
}

export type DeliveryHealthBucketRow = CsvReportRow & {
  readonly failuresByCode: readonly { readonly code: string; readonly count: number }[];
};

export function toDeliveryHealthCsvRow({ failuresByCode, ...bucket }: DeliveryHealthBucketRow): CsvReportRow {
  const counts = new Map(failuresByCode.map(({ code, count }) => [code, count]));
  return {
    ...bucket,
    ...Object.fromEntries(deliveryErrorColumns.map((code) => [code, counts.get(code) ?? 0])),
  };
}

export interface BuyerCohortRow {
  readonly month: string;
  readonly buyers: number;
  readonly orders: number;
  readonly later: readonly { readonly month: string; readonly buyers: number; readonly orders: number }[];
}

/**
 * Returns the CSV rows of one cohort, the group of buyers whose first orders were in the same month. The
 * first row is for that month, and each further row for a later month.
 */
export function toBuyerCohortCsvRows({ later, ...first }: BuyerCohortRow): readonly CsvReportRow[] {
  return [first, ...later].map((row) => Object.assign({ firstMonth: first.month }, row));
}
