/**
 * Records successful attempts in batches, with one statement for each batch. A success waits a few
 * milliseconds for others, and for the end of the previous statement. A success is recorded only if the lease
 * of its delivery is still valid. If the process is killed before the statement, the leases expire, and
 * another process sends the deliveries again.
 */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { runSqlStatementWithRetries } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import type { Clock } from "#foundation/clock.ts";
import type { DeliverySendResult } from "#webhooks/safe-request.ts";
import type { ClaimedDelivery } from "./claim-deliveries.ts";

/** A finished attempt of a webhook delivery, with its result. */
export interface CompletedDeliveryAttempt {
  readonly delivery: ClaimedDelivery;
  readonly startedAt: Date;
  readonly result: DeliverySendResult;
}

export interface DeliverySuccessRecorder {
  /**
   * Records a success. Records nothing and returns false if the lease has expired and another process has
   * claimed the delivery, or if the delivery was canceled during the attempt.
   */
  record(made: CompletedDeliveryAttempt): Promise<boolean>;
}

/**
 * Milliseconds for which a success waits for others. A success does not wait if `fullBatch` successes are
 * waiting, or if no other attempt is running.
 */
const collectMs = 5;
const fullBatch = 32;
/** The largest number of successes that one statement records. */
const batchMax = 256;

interface Waiting {
  readonly made: CompletedDeliveryAttempt;
  readonly resolve: (isRecorded: boolean) => void;
  readonly reject: (error: unknown) => void;
}

export function createDeliverySuccessRecorder({
  db,
  clock,
  countRunning,
}: {
  readonly db: Database;
  readonly clock: Clock;
  /** Returns the number of attempts that this process has started and whose results are not recorded yet. */
  readonly countRunning: () => number;
}): DeliverySuccessRecorder {
  const waiting: Waiting[] = [];
  let isWriting = false;
  let endCollecting: (() => void) | undefined;
  const isBatchFull = (): boolean => waiting.length >= Math.min(fullBatch, countRunning());
  const collect = (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, collectMs);
    endCollecting = () => {
      clearTimeout(timer);
      resolve();
    };
    return promise;
  };
  const write = async (): Promise<void> => {
    isWriting = true;
    while (waiting.length > 0) {
      if (!isBatchFull()) await collect();
      await settle(waiting.splice(0, batchMax));
    }
    isWriting = false;
  };
  /**
   * Writes a batch of successful attempts and then resolves or rejects the promise of each attempt; never
   * rejects itself. If the batch cannot be written, writes each attempt separately, because the error may
   * concern only one attempt.
   */
  const settle = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const leases = await insertSuccesses(db, { all: batch.map(({ made }) => made), now: clock.now() });
      for (const { made, resolve } of batch) resolve(leases.has(made.delivery.lease));
    } catch (error) {
      if (batch.length > 1) await Promise.all(batch.map((one) => settle([one])));
      else for (const { reject } of batch) reject(error);
    }
  };
  return {
    record: (made) =>
      new Promise((resolve, reject) => {
        waiting.push({ made, resolve, reject });
        if (!isWriting) void write();
        else if (isBatchFull()) endCollecting?.();
      }),
  };
}

/**
 * Records successful attempts in one statement. Returns the leases that were still valid. The health of a
 * healthy endpoint is updated at most once a second. The list of ids makes PostgreSQL read the deliveries by
 * their index even if it plans the statement for an unknown number of rows. Endpoints are locked in the order
 * of their ids, here and in the trigger that counts attempts, to prevent deadlocks between processes.
 */
async function insertSuccesses(
  db: Database,
  { all, now }: { readonly all: readonly CompletedDeliveryAttempt[]; readonly now: Date },
): Promise<ReadonlySet<string>> {
  const at = sql`${now}::timestamptz`;
  const made = all.map(
    ({ delivery: { id, lease, attemptNumber }, startedAt, result: { durationMs, httpStatus } }) => ({
      id,
      lease,
      attempt_id: createId("webhookAttempt", startedAt.getTime()),
      number: attemptNumber,
      started_at: startedAt,
      duration_ms: durationMs,
      http_status: httpStatus,
    }),
  );
  const statement = sql<{ lease: string }>`
    with done as (
      update webhook_delivery d set status = 'succeeded', next_attempt_at = null, lease = null, finished_at =
      ${at}
      from json_to_recordset(${JSON.stringify(made)}::json)
        as m(id text, lease text, attempt_id text, number integer, started_at timestamptz, duration_ms
        integer, http_status integer)
      where d.id = any(${made.map(({ id }) => id)}::text[]) and d.id = m.id and d.lease = m.lease
      returning d.endpoint_id, m.*
    ), attempt as (
      insert into webhook_attempt (id, delivery_id, number, started_at, duration_ms, http_status, error_code)
      select attempt_id, id, number, started_at, duration_ms, http_status, null from done order by endpoint_id
    ), unwell as (
      select endpoint_id from webhook_endpoint_health where endpoint_id in (select endpoint_id from done)
        and (consecutive_failures > 0 or failing_since is not null or last_success_at is null
        or last_success_at < ${at} - interval '1 second')
      order by endpoint_id for no key update
    ), health as (
      update webhook_endpoint_health h set consecutive_failures = 0, last_success_at = ${at}, failing_since =
      null, failed_since_success = 0,
        degraded_at = null, probe_at = null
      from unwell where h.endpoint_id = unwell.endpoint_id
    )
    select lease from done`;
  const rows = await runSqlStatementWithRetries(db, statement);
  return new Set(rows.map(({ lease }) => lease));
}
