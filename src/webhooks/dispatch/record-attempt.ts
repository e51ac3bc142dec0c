/**
 * Writes what came of an attempt, if whoever made it still has the right to: for the delivery, for the endpoint's health, and for those who are told
 * when an endpoint has been failing for long. An attempt that arrived is one statement; all else is a transaction.
 */
import type { Database } from "#database/connect.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { type Happening, type Outbox, type RenderSubject, withOutbox } from "#webhooks/outbox.ts";
import { type EndpointHealth, type HealthStep, nextHealth, type NextStep, nextStep } from "#webhooks/retries.ts";
import type { ClaimedDelivery } from "./claim-deliveries.ts";
import type { AttemptMade, Successes } from "./record-successes.ts";

export interface Recording {
  readonly db: Database;
  readonly successes: Successes;
  readonly render: RenderSubject;
  readonly now: Date;
  readonly scale: number;
  readonly random: () => number;
}

/** False: the lease was over and somebody else has it, or the delivery was canceled meanwhile. */
export function recordAttempt(recording: Recording, made: AttemptMade): Promise<boolean> {
  const { now, scale, random } = recording;
  const step = nextStep(made.result, { attempt: made.delivery.attemptNumber, now, random, scale });
  return step.kind === "succeeded" ? recording.successes.record(made) : recordFailure(recording, { ...made, step });
}

interface AttemptFailed extends AttemptMade {
  readonly step: Exclude<NextStep, { readonly kind: "succeeded" }>;
}

function recordFailure({ db, render, now, scale }: Recording, failed: AttemptFailed): Promise<boolean> {
  const { merchantId } = failed.delivery;
  const cause = { operationId: null, actor: "system", requestId: null } as const;
  return inTransaction(db, (transaction) =>
    withOutbox(transaction, { merchantId, now, cause, render }, async (outbox) => {
      // First, as whoever changes the endpoint does; what may follow changes it too.
      await transaction.selectFrom("webhookEndpoint").select("id").where("id", "=", failed.delivery.endpointId).forNoKeyUpdate().execute();
      if (!(await moveDelivery(transaction, failed, now))) return false;
      // Health before attempt: in that order they are locked where something arrived, too.
      const step = await worsenHealth(transaction, { failed, now, scale });
      await insertAttempt(transaction, failed);
      await tellEndpoint(transaction, outbox, { failed, step, now });
      return true;
    }),
  );
}

/** What is gone is exhausted: nobody will ask again by itself. */
async function moveDelivery(transaction: Transaction, { delivery, step }: AttemptFailed, now: Date): Promise<boolean> {
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

async function insertAttempt(transaction: Transaction, { delivery, startedAt, result }: AttemptFailed): Promise<void> {
  const { httpStatus, errorCode, durationMs } = result;
  const id = createId("webhookAttempt", startedAt.getTime());
  const attempt = { id, deliveryId: delivery.id, number: delivery.attemptNumber, startedAt, durationMs, httpStatus, errorCode };
  await transaction.insertInto("webhookAttempt").values(attempt).execute();
}

async function worsenHealth(
  transaction: Transaction,
  { failed, now, scale }: { readonly failed: AttemptFailed; readonly now: Date; readonly scale: number },
): Promise<HealthStep> {
  const { delivery, result, step } = failed;
  const before: EndpointHealth = await transaction
    .selectFrom("webhookEndpointHealth")
    .select(["consecutiveFailures", "failingSince", "failedSinceSuccess", "degradedAt", "probeAt"])
    .where("endpointId", "=", delivery.endpointId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  const after = nextHealth(before, step, { attempt: delivery.attemptNumber, now, scale });
  await transaction
    .updateTable("webhookEndpointHealth")
    .set({ ...after.health, lastFailureAt: now, lastFailureCode: result.errorCode, lastFailureStatus: result.httpStatus })
    .where("endpointId", "=", delivery.endpointId)
    .execute();
  return after;
}

/** The other endpoints of the installation are told. */
async function tellEndpoint(
  transaction: Transaction,
  outbox: Outbox,
  { failed: { delivery }, step, now }: { readonly failed: AttemptFailed; readonly step: HealthStep; readonly now: Date },
): Promise<void> {
  const { becomes } = step;
  if (becomes === null) return;
  const about: Pick<Happening, "id" | "installationId"> = { id: delivery.endpointId, installationId: delivery.installationId };
  if (becomes === "degraded") outbox.append({ ...about, type: "webhook_endpoint.degraded" });
  else if (await switchOff(transaction, { delivery, reason: becomes, now }))
    outbox.append({ ...about, type: "webhook_endpoint.auto_disabled", previous: { status: "enabled" } });
}

/** What was not tried yet is skipped, as what comes later will be; what was tried waits for the endpoint to be switched on. */
async function switchOff(
  transaction: Transaction,
  { delivery, reason, now }: { readonly delivery: ClaimedDelivery; readonly reason: "gone" | "failing"; readonly now: Date },
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
    // Changed since: it may be another receiver by now.
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

/** What could not be sent, or not be written down, for a reason of our own: again as if it had failed, so that it ends some day and holds no place. */
export async function postpone({ db, now, scale, random }: Recording, { id, lease, attemptNumber }: ClaimedDelivery): Promise<void> {
  const unsent = { httpStatus: null, errorCode: "connection", durationMs: 0, retryAfterSeconds: null } as const;
  const step = nextStep(unsent, { attempt: attemptNumber, now, random, scale });
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

/** The process ends before the answer is there: the next one makes the same attempt, at once. */
export async function giveBack(db: Database, { id, lease, attemptNumber }: ClaimedDelivery, now: Date): Promise<void> {
  await db
    .updateTable("webhookDelivery")
    .set({ status: attemptNumber === 1 ? "pending" : "retrying", attemptCount: attemptNumber - 1, nextAttemptAt: now, lease: null })
    .where("id", "=", id)
    .where("lease", "=", lease)
    .execute();
}
