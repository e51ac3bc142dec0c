/**
 * Loads statistics of the webhook delivery attempts in a period: the numbers, errors and durations of
 * attempts.
 */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import type { PeriodBucket, Period } from "#foundation/period.ts";
import type { DeliveryAttemptView } from "./delivery-log.ts";

export type StoredDeliveryAttemptErrorCode = NonNullable<DeliveryAttemptView["errorCode"]>;

export const deliveryErrorCodes = [
  "timeout",
  "dns",
  "tls",
  "connection",
  "http_status",
  "blocked_address",
  "redirect",
] as const satisfies readonly StoredDeliveryAttemptErrorCode[];

export interface DeliveryHealthFigures {
  readonly attempts: number;
  readonly successes: number;
  readonly failures: number;
  /** Share of successful delivery attempts, from 0 to 1; null if there were no attempts. */
  readonly successRate: number | null;
  /** The errors of the delivery attempts in the period, most frequent first. */
  readonly failuresByCode: readonly {
    readonly code: StoredDeliveryAttemptErrorCode;
    readonly count: number;
  }[];
  /** Median duration of the attempts in milliseconds; null if there were no attempts. */
  readonly p50DurationMs: number | null;
  readonly p95DurationMs: number | null;
}

export interface DeliveryHealthReport {
  readonly totals: DeliveryHealthFigures;
  readonly buckets: readonly (DeliveryHealthFigures & PeriodBucket)[];
  /** The endpoints with delivery attempts in the period, those with the most failures first. */
  readonly endpoints: readonly (DeliveryHealthFigures & { readonly endpointId: string })[];
}

export interface DeliveryHealthReportFilter {
  /** The merchant whose delivery attempts are counted; null if the attempts of all merchants are counted. */
  readonly merchantId: string | null;
  readonly endpointId: string | null;
  readonly installationId: string | null;
  readonly period: Period;
  readonly buckets: readonly PeriodBucket[];
}

export const reportedEndpointsMax = 100;

export async function loadDeliveryHealthReport(
  reader: DatabaseOrTransaction,
  filter: DeliveryHealthReportFilter,
): Promise<DeliveryHealthReport> {
  const { rows } = await healthStatement(filter).execute(reader);
  const byBucket = new Map(rows.flatMap((row) => (row.bucket === null ? [] : [[row.bucket, row]])));
  const total = rows.find(({ bucket, endpointId }) => bucket === null && endpointId === null);
  const endpoints = rows.flatMap((row) =>
    row.endpointId === null ? [] : [{ endpointId: row.endpointId, ...toFigures(row) }],
  );
  return {
    totals: toFigures(total),
    buckets: filter.buckets.map((bucket, index) => ({ ...bucket, ...toFigures(byBucket.get(index + 1)) })),
    endpoints: endpoints
      .toSorted(
        (one, other) =>
          other.failures - one.failures ||
          other.attempts - one.attempts ||
          (one.endpointId < other.endpointId ? -1 : 1),
      )
      .slice(0, reportedEndpointsMax),
  };
}

interface Row {
  /**
   * The number of the time bucket (for example the hour) whose attempts the row counts, from 1; null if the
   * row counts the whole period.
   */
  readonly bucket: number | null;
  /** The endpoint whose attempts the row counts; null if the row counts all endpoints. */
  readonly endpointId: string | null;
  readonly attempts: number;
  readonly successes: number;
  readonly byCode: Readonly<Record<StoredDeliveryAttemptErrorCode, number>>;
  readonly durations: readonly [number, number] | null;
}

/**
 * Creates the SQL statement that counts the attempts by endpoint, by time bucket and in total. The 95th
 * percentile, for example, is the shortest duration within which 95 % of the attempts ended. The statement
 * first counts how many attempts had each duration, so that it finds the percentiles without sorting all
 * attempts.
 */
function healthStatement({
  merchantId,
  endpointId,
  installationId,
  period,
  buckets,
}: DeliveryHealthReportFilter): RawBuilder<Row> {
  const counts = deliveryErrorCodes.map(
    (code) => sql`${sql.lit(code)}, coalesce(sum(attempts) filter (where error_code = ${sql.lit(code)}), 0)`,
  );
  const starts = buckets.map(({ startsAt }) => startsAt.toISOString());
  return sql<Row>`
    with made as (
      select width_bucket(a.started_at, ${starts}::timestamptz[]) as bucket, d.endpoint_id, a.error_code,
      a.duration_ms, count(*) as attempts
      from webhook_attempt a join webhook_delivery d on d.id = a.delivery_id
      where a.started_at >= ${period.startsAt}::timestamptz and a.started_at < ${period.endsAt}::timestamptz
        ${merchantId === null ? sql`` : sql`and d.merchant_id = ${merchantId}`}
        ${endpointId === null ? sql`` : sql`and d.endpoint_id = ${endpointId}`}
        ${installationId === null ? sql`` : sql`and d.installation_id = ${installationId}`}
      group by 1, 2, 3, 4),
    counted as (
      select bucket, endpoint_id, sum(attempts)::int as attempts,
        coalesce(sum(attempts) filter (where error_code is null), 0)::int as successes,
        jsonb_build_object(${sql.join(counts)}) as by_code
      from made group by grouping sets ((), (bucket), (endpoint_id))),
    ranked as (
      select bucket, endpoint_id, duration_ms,
        sum(sum(attempts)) over (partition by bucket, endpoint_id order by duration_ms) as attempts_up_to,
        sum(sum(attempts)) over (partition by bucket, endpoint_id) as attempts
      from made group by grouping sets ((duration_ms), (bucket, duration_ms), (endpoint_id, duration_ms))),
    percentiles as (
      select bucket, endpoint_id, array[min(duration_ms) filter (where attempts_up_to >= 0.5 * attempts),
        min(duration_ms) filter (where attempts_up_to >= 0.95 * attempts)] as durations
      from ranked group by 1, 2)
    select c.bucket, c.endpoint_id, coalesce(c.attempts, 0) as attempts, c.successes, c.by_code, p.durations
    from counted c left join percentiles p on p.bucket is not distinct from c.bucket
      and p.endpoint_id is not distinct from c.endpoint_id`;
}

function toFigures(row: Row | undefined): DeliveryHealthFigures {
  const { attempts = 0, successes = 0, byCode, durations = null } = row ?? {};
  const failuresByCode = deliveryErrorCodes
    .map((code) => ({ code, count: byCode?.[code] ?? 0 }))
    .filter(({ count }) => count > 0);
  return {
    attempts,
    successes,
    failures: attempts - successes,
    successRate: attempts === 0 ? null : successes / attempts,
    failuresByCode: failuresByCode.toSorted((one, other) => other.count - one.count),
    p50DurationMs: durations?.[0] ?? null,
    p95DurationMs: durations?.[1] ?? null,
  };
}
