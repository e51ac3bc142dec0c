/**
 * Records the result of an attempt if its lease (the time for which the delivery is reserved for this
 * process) is still valid. The result is recorded in the delivery and in the health of the endpoint; if the
 * endpoint becomes degraded or is disabled, an event is published too. Each failure is recorded in a
 * transaction of its own. Successes are recorded in batches (`createDeliverySuccessRecorder`).
 */
import type { Database } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import {
  type DomainEvent,
  type EventOutbox,
  type EventSubjectRenderer,
  runFunctionAndInsertOutboxEvents,
} from "#webhooks/outbox.ts";
import {
  type EndpointHealthCounters,
  type EndpointHealthAfterAttempt,
  calculateEndpointHealthAfterAttempt,
  type DeliveryAttemptOutcome,
  decideDeliveryAttemptOutcome,
} from "#webhooks/delivery-rules.ts";
import type { ClaimedDelivery } from "./claim-deliveries.ts";
import type { CompletedDeliveryAttempt, DeliverySuccessRecorder } from "./record-success.ts";

export interface DeliveryAttemptRecordContext {
  readonly db: Database;
  readonly successes: DeliverySuccessRecorder;
  readonly render: EventSubjectRenderer;
  readonly now: Date;
  readonly scale: number;
  readonly random: () => number;
}

/**
 * Records the result of an attempt. Records nothing and returns false if the lease has expired and another
 * process has claimed the delivery, or if the delivery was canceled during the attempt.
 */
export function recordDeliveryAttempt(
  recording: DeliveryAttemptRecordContext,
  made: CompletedDeliveryAttempt,
): Promise<boolean> {
  const { now, scale, random } = recording;
  const step = decideDeliveryAttemptOutcome(made.result, {
    attempt: made.delivery.attemptNumber,
    now,
    random,
    scale,
  });
  return step.kind === "succeeded"
    ? recording.successes.record(made)
    : recordFailure(recording, { ...made, step });
}

interface FailedAttempt extends CompletedDeliveryAttempt {
  readonly step: Exclude<DeliveryAttemptOutcome, { readonly kind: "succeeded" }>;
}

function recordFailure(
  { db, render, now, scale }: DeliveryAttemptRecordContext,
  failed: FailedAttempt,
): Promise<boolean> {
  const { merchantId } = failed.delivery;
  const cause = { operationId: null, actor: "system", requestId: null } as const;
  return runInTransaction(db, (transaction) =>
    runFunctionAndInsertOutboxEvents(transaction, { merchantId, now, cause, render }, async (outbox) => {
      // The endpoint's row is locked first, and then the row with the endpoint's health. Commands that change
      // endpoints lock these rows in the same order, which prevents deadlocks.
      await transaction
        .selectFrom("webhookEndpoint")
        .select("id")
        .where("id", "=", failed.delivery.endpointId)
        .forNoKeyUpdate()
        .execute();
      if (!(await updateFailedDelivery(transaction, failed, now))) return false;
      // The row with the endpoint's health is changed before the attempt is inserted. Recording a success
      // uses the same order, which prevents deadlocks.
      const step = await recordFailureInHealth(transaction, { failed, now, scale });
      await insertAttempt(transaction, failed);
      await publishEndpointHealth(transaction, outbox, { failed, step, now });
      return true;
    }),
  );
}

/**
 * Sets the status of the delivery to retrying or, after the last attempt or an answer with status 410, to
 * exhausted. Returns false if the lease is no longer valid.
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
): Promise<EndpointHealthAfterAttempt> {
  const { delivery, result, step } = failed;
  const before: EndpointHealthCounters = await transaction
    .selectFrom("webhookEndpointHealth")
    .select(["consecutiveFailures", "failingSince", "failedSinceSuccess", "degradedAt", "probeAt"])
    .where("endpointId", "=", delivery.endpointId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  const after = calculateEndpointHealthAfterAttempt(before, step, {
    attempt: delivery.attemptNumber,
    now,
    scale,
  });
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
 * Publishes an event if the endpoint has become degraded. Disables the endpoint and publishes an event if the
 * endpoint has failed for too long or answered 410 (Gone). The other endpoints of the installation receive
 * the event.
 */
async function publishEndpointHealth(
  transaction: Transaction,
  outbox: EventOutbox,
  {
    failed: { delivery },
    step,
    now,
  }: { readonly failed: FailedAttempt; readonly step: EndpointHealthAfterAttempt; readonly now: Date },
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
 * Disables an endpoint that failed for too long or answered 410 (Gone). Deliveries without an attempt are
 * skipped; deliveries with an attempt wait until the endpoint is enabled again. Does nothing and returns
 * false if the endpoint was changed after the delivery was claimed.
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
    // An endpoint that was changed after the delivery was claimed is not disabled, because the attempt may
    // have failed at the endpoint's old URL.
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
 * Postpones a delivery whose attempt failed because of an internal error of this service. The attempt counts
 * as a failed attempt, so that the delivery is not repeated forever.
 */
export async function retryDeliveryAfterInternalError(
  { db, now, scale, random }: DeliveryAttemptRecordContext,
  { id, lease, attemptNumber }: ClaimedDelivery,
): Promise<void> {
  const unsent = {
    httpStatus: null,
    errorCode: "connection",
    durationMs: 0,
    retryAfterSeconds: null,
  } as const;
  const step = decideDeliveryAttemptOutcome(unsent, { attempt: attemptNumber, now, random, scale });
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
 * Releases a delivery whose attempt was aborted because the process stops, so that another process can repeat
 * the attempt at once.
 */
export async function releaseDeliveryOfAbortedAttempt(
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
