/**
 * Records the result of an attempt if its lease is still valid: in the delivery, in the health of the
 * endpoint, and as an event for the installation when the endpoint becomes degraded or is disabled. A failure
 * is recorded in its own transaction; successes are recorded in batches (`createSuccessRecorder`).
 */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { inTransaction, runStatement, type Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { type DomainEvent, type Outbox, type RenderEventSubject, withOutbox } from "#webhooks/outbox.ts";
import {
  type EndpointHealth,
  type EndpointHealthChange,
  updateEndpointHealth,
  type AttemptOutcome,
  attemptOutcome,
} from "#webhooks/delivery-rules.ts";
import type { Clock } from "#foundation/clock.ts";
import type { AttemptResult } from "#webhooks/safe-request.ts";
import type { ClaimedDelivery } from "./claim-deliveries.ts";

export interface AttemptRecordContext {
  readonly db: Database;
  readonly successes: SuccessRecorder;
  readonly render: RenderEventSubject;
  readonly now: Date;
  readonly scale: number;
  readonly random: () => number;
}

/**
 * Records the result of an attempt. Returns false if the lease expired and another process has the delivery,
 * or if the delivery was canceled meanwhile.
 */
export function recordAttempt(recording: AttemptRecordContext, made: CompletedAttempt): Promise<boolean> {
  const { now, scale, random } = recording;
  const step = attemptOutcome(made.result, { attempt: made.delivery.attemptNumber, now, random, scale });
  return step.kind === "succeeded"
    ? recording.successes.record(made)
    : recordFailure(recording, { ...made, step });
}

interface FailedAttempt extends CompletedAttempt {
  readonly step: Exclude<AttemptOutcome, { readonly kind: "succeeded" }>;
}

function recordFailure(
  { db, render, now, scale }: AttemptRecordContext,
  failed: FailedAttempt,
): Promise<boolean> {
  const { merchantId } = failed.delivery;
  const cause = { operationId: null, actor: "system", requestId: null } as const;
  return inTransaction(db, (transaction) =>
    withOutbox(transaction, { merchantId, now, cause, render }, async (outbox) => {
      // The endpoint is locked first, as in commands on endpoints, to prevent deadlocks.
      await transaction
        .selectFrom("webhookEndpoint")
        .select("id")
        .where("id", "=", failed.delivery.endpointId)
        .forNoKeyUpdate()
        .execute();
      if (!(await updateFailedDelivery(transaction, failed, now))) return false;
      // Health before attempt: successes lock them in the same order.
      const step = await recordFailureInHealth(transaction, { failed, now, scale });
      await insertAttempt(transaction, failed);
      await publishEndpointHealth(transaction, outbox, { failed, step, now });
      return true;
    }),
  );
}

/**
 * Sets the delivery to retrying or exhausted. After a 410 answer the delivery is exhausted. Returns false if
 * the lease is no longer valid.
 */
async function updateFailedDelivery(
  transaction: Transaction,
  { delivery, step }: FailedAttempt,
  now: Date,
): Promise<boolean> {
  const next =
    step.kind === "retrying"
      ? { status: "retrying" as const, nextAttemptAt: step.at }
      : { status: "exhausted" as const, nextAttemptAt: null, finishedAt: now };
  const { numUpdatedRows } = await transaction
    .updateTable("webhookDelivery")
    .set({ ...next, lease: null })
    .where("id", "=", delivery.id)
    .where("lease", "=", delivery.lease)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function insertAttempt(
  transaction: Transaction,
  { delivery, startedAt, result }: FailedAttempt,
): Promise<void> {
  const { httpStatus, errorCode, durationMs } = result;
  const id = createId("webhookAttempt", startedAt.getTime());
  const attempt = {
    id,
    deliveryId: delivery.id,
    number: delivery.attemptNumber,
    startedAt,
    durationMs,
    httpStatus,
    errorCode,
  };
  await transaction.insertInto("webhookAttempt").values(attempt).execute();
}

async function recordFailureInHealth(
  transaction: Transaction,
  { failed, now, scale }: { readonly failed: FailedAttempt; readonly now: Date; readonly scale: number },
): Promise<EndpointHealthChange> {
  const { delivery, result, step } = failed;
  const before: EndpointHealth = await transaction
    .selectFrom("webhookEndpointHealth")
    .select(["consecutiveFailures", "failingSince", "failedSinceSuccess", "degradedAt", "probeAt"])
    .where("endpointId", "=", delivery.endpointId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  const after = updateEndpointHealth(before, step, { attempt: delivery.attemptNumber, now, scale });
  await transaction
    .updateTable("webhookEndpointHealth")
    .set({
      ...after.health,
      lastFailureAt: now,
      lastFailureCode: result.errorCode,
      lastFailureStatus: result.httpStatus,
    })
    .where("endpointId", "=", delivery.endpointId)
    .execute();
  return after;
}

/**
 * Publishes that the endpoint is degraded, or disables the endpoint and publishes that. The other endpoints
 * of the installation receive the event.
 */
async function publishEndpointHealth(
  transaction: Transaction,
  outbox: Outbox,
  {
    failed: { delivery },
    step,
    now,
  }: { readonly failed: FailedAttempt; readonly step: EndpointHealthChange; readonly now: Date },
): Promise<void> {
  const { becomes } = step;
  if (becomes === null) return;
  const about: Pick<DomainEvent, "id" | "installationId"> = {
    id: delivery.endpointId,
    installationId: delivery.installationId,
  };
  if (becomes === "degraded") outbox.append({ ...about, type: "webhook_endpoint.degraded" });
  else if (await disableFailingEndpoint(transaction, { delivery, reason: becomes, now }))
    outbox.append({ ...about, type: "webhook_endpoint.auto_disabled", previous: { status: "enabled" } });
}

/**
 * Disables the endpoint and skips its pending deliveries. Deliveries that were tried before wait until the
 * endpoint is enabled again. Returns false if the endpoint was changed meanwhile.
 */
async function disableFailingEndpoint(
  transaction: Transaction,
  {
    delivery,
    reason,
    now,
  }: { readonly delivery: ClaimedDelivery; readonly reason: "gone" | "failing"; readonly now: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable("webhookEndpoint")
    .set((endpoint) => ({
      status: "auto_disabled",
      disabledReason: reason,
      disabledAt: now,
      version: endpoint("version", "+", 1),
      updatedAt: now,
    }))
    .where("id", "=", delivery.endpointId)
    .where("status", "=", "enabled")
    // If the endpoint was changed since the claim, it may have another receiver.
    .where("version", "=", delivery.endpointVersion)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await transaction
    .updateTable("webhookDelivery")
    .set({ status: "skipped", nextAttemptAt: null, finishedAt: now })
    .where("endpointId", "=", delivery.endpointId)
    .where("status", "=", "pending")
    .execute();
  return true;
}

/**
 * Postpones a delivery that this service could not send or record because of an internal error. Counts as a
 * failed attempt, so that the delivery ends eventually and frees its slot.
 */
export async function postponeDelivery(
  { db, now, scale, random }: AttemptRecordContext,
  { id, lease, attemptNumber }: ClaimedDelivery,
): Promise<void> {
  const unsent = {
    httpStatus: null,
    errorCode: "connection",
    durationMs: 0,
    retryAfterSeconds: null,
  } as const;
  const step = attemptOutcome(unsent, { attempt: attemptNumber, now, random, scale });
  const next =
    step.kind === "retrying"
      ? { status: "retrying" as const, nextAttemptAt: step.at }
      : { status: "exhausted" as const, nextAttemptAt: null, finishedAt: now };
  await db
    .updateTable("webhookDelivery")
    .set({ ...next, lease: null })
    .where("id", "=", id)
    .where("lease", "=", lease)
    .execute();
}

/**
 * Releases a delivery whose attempt was interrupted because the process stops. The next process makes the
 * same attempt at once.
 */
export async function releaseDelivery(
  db: Database,
  { id, lease, attemptNumber }: ClaimedDelivery,
  now: Date,
): Promise<void> {
  await db
    .updateTable("webhookDelivery")
    .set({
      status: attemptNumber === 1 ? "pending" : "retrying",
      attemptCount: attemptNumber - 1,
      nextAttemptAt: now,
      lease: null,
    })
    .where("id", "=", id)
    .where("lease", "=", lease)
    .execute();
}

/** A finished attempt. */
interface CompletedAttempt {
  readonly delivery: ClaimedDelivery;
  readonly startedAt: Date;
  readonly result: AttemptResult;
}

export interface SuccessRecorder {
  /**
   * Records a success. Returns false if the lease expired and another process has the delivery, or if the
   * delivery was canceled meanwhile.
   */
  record(made: CompletedAttempt): Promise<boolean>;
}

interface Waiting {
  readonly made: CompletedAttempt;
  readonly resolve: (isRecorded: boolean) => void;
  readonly reject: (error: unknown) => void;
}

export function createSuccessRecorder({
  db,
  clock,
}: {
  readonly db: Database;
  readonly clock: Clock;
}): SuccessRecorder {
  let waiting: Waiting[] = [];
  let isWriting = false;
  const write = async (): Promise<void> => {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await settle(batch);
    }
    isWriting = false;
  };
  /**
   * Never rejects. If a batch cannot be written, each attempt is written separately, because the error may
   * concern only one of them.
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
      }),
  };
}

/**
 * Records successful attempts in one statement. Returns the leases that were still valid. The health of a
 * healthy endpoint is updated at most once a second. Endpoints are locked in the order of their ids, here and
 * in the trigger that counts attempts, to prevent deadlocks between processes.
 */
async function insertSuccesses(
  db: Database,
  { all, now }: { readonly all: readonly CompletedAttempt[]; readonly now: Date },
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
      update webhook_delivery d set status = 'succeeded', next_attempt_at = null, lease = null, finished_at = ${at}
      from json_to_recordset(${JSON.stringify(made)}::json)
        as m(id text, lease text, attempt_id text, number integer, started_at timestamptz, duration_ms integer, http_status integer)
      where d.id = m.id and d.lease = m.lease returning d.endpoint_id, m.*
    ), attempt as (
      insert into webhook_attempt (id, delivery_id, number, started_at, duration_ms, http_status, error_code)
      select attempt_id, id, number, started_at, duration_ms, http_status, null from done order by endpoint_id
    ), unwell as (
      select endpoint_id from webhook_endpoint_health where endpoint_id in (select endpoint_id from done)
        and (consecutive_failures > 0 or failing_since is not null or last_success_at is null or last_success_at < ${at} - interval '1 second')
      order by endpoint_id for no key update
    ), health as (
      update webhook_endpoint_health h set consecutive_failures = 0, last_success_at = ${at}, failing_since = null, failed_since_success = 0,
        degraded_at = null, probe_at = null
      from unwell where h.endpoint_id = unwell.endpoint_id
    )
    select lease from done`;
  const rows = await runStatement(db, statement);
  return new Set(rows.map(({ lease }) => lease));
}
