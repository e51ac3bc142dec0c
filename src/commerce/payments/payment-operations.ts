/**
 * The queue of payment operations (requests to the payment provider), stored as rows. The transaction that
 * changes a payment also queues the operation. Before a process sends the request, it takes a lease on the
 * operation, which ends after a limited time. If the outcome stays unknown, the operation becomes due again.
 * Operations of the same payment run one after the other, in the order of their creation.
 */
import type { InProcessEventEmitter } from "#foundation/events.ts";
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { bufferInsertUntilNextStatement } from "#database/prepared-template.ts";
import { runAfterCommit, runInTransaction, type Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { getCurrentRecordedSpan } from "#foundation/tracing.ts";
import type { PaymentProviderName } from "./provider-list.ts";

export type PaymentOperationKind = "authorize" | "capture" | "void" | "refund";

export interface NewPaymentOperation {
  readonly merchantId: string;
  readonly paymentId: string;
  readonly kind: PaymentOperationKind;
  readonly amountMinor: number;
  readonly now: Date;
  /** The earliest time at which the payment operation is attempted for the first time. If left out: `now`. */
  readonly dueAt?: Date;
  readonly events: InProcessEventEmitter;
}

/**
 * Queues a payment operation, and emits `paymentsDue` after the commit, which starts the driver. Returns the
 * id of the operation.
 */
export async function queuePaymentOperation(
  transaction: Transaction,
  { events, now, dueAt = now, ...operation }: NewPaymentOperation,
): Promise<string> {
  const id = createId("paymentOperation", now.getTime());
  const traceparent = getCurrentRecordedSpan()?.traceparent ?? null;
  const times = { dueAt, createdAt: now, leasedUntil: null, settledAt: null };
  await bufferInsertUntilNextStatement(transaction, "paymentOperation", [
    { id, ...operation, ...times, failureCode: null, traceparent },
  ]);
  runAfterCommit(transaction, () => events.emit("paymentsDue"));
  return id;
}

/**
 * A payment operation on which this process has a lease. Also contains the currency and the encrypted token
 * of the payment, which the request to the payment provider needs.
 */
export interface ClaimedPaymentOperation {
  readonly id: string;
  readonly merchantId: string;
  readonly paymentId: string;
  readonly kind: PaymentOperationKind;
  readonly amountMinor: number;
  readonly currency: string;
  readonly provider: PaymentProviderName;
  readonly connectionId: string | null;
  readonly sessionId: string;
  /** Number of attempts to run the payment operation, including the present attempt. */
  readonly attempts: number;
  readonly createdAt: Date;
  /**
   * True if the payment operation voids a payment that has no order, because its checkout failed. An amount
   * that the payment provider has captured meanwhile is refunded.
   */
  readonly isAbandoned: boolean;
  /**
   * Trace context (W3C `traceparent`) of the tracing span that queued the payment operation; null if that
   * span was not recorded.
   */
  readonly traceparent: string | null;
  readonly tokenSealed: Uint8Array | null;
  readonly tokenDataKey: Uint8Array | null;
  readonly tokenKeyId: string | null;
}

/**
 * Length of the lease that a process has on a payment operation, in milliseconds. Every attempt ends earlier,
 * so after this time no process is still working on the operation.
 */
export const paymentOperationLeaseMs = 30_000;

/**
 * SQL condition on a row of `payment_operation` with the alias `d`: no earlier operation of the same payment
 * is pending.
 */
const hasNoEarlierPendingOperation = sql`not exists (select 1 from payment_operation e
  where e.payment_id = d.payment_id and e.status = 'pending'
  and (e.created_at, e.id) < (d.created_at, d.id))`;

/**
 * Takes a lease on the payment operation that has been due for the longest time and on which no process has a
 * lease. Returns undefined if no operation is due.
 */
export async function claimDuePaymentOperation(
  db: Database,
  now: Date,
): Promise<ClaimedPaymentOperation | undefined> {
  const until = new Date(now.getTime() + paymentOperationLeaseMs);
  return runInTransaction(db, async (transaction) => {
    const { rows } = await sql<ClaimedPaymentOperation>`
      update payment_operation o set attempts = o.attempts + 1, leased_until = ${until}::timestamptz
      from payment p
      where p.id = o.payment_id and o.id = (
        select d.id from payment_operation d
        where d.status = 'pending' and d.due_at <= ${now}::timestamptz and (d.leased_until is null
        or d.leased_until <= ${now}::timestamptz)
          and ${hasNoEarlierPendingOperation}
        order by d.due_at, d.id limit 1 for update skip locked)
      returning o.id, o.merchant_id, o.payment_id, o.kind, o.amount_minor, p.currency, p.provider,
      p.connection_id, p.session_id, o.attempts, o.created_at,
        o.kind = 'void' and p.order_id is null as is_abandoned, o.traceparent, p.token_sealed,
        p.token_data_key, p.token_key_id`.execute(transaction);
    return rows[0];
  });
}

/**
 * Sets the time of the next attempt of a payment operation whose outcome is unknown, and ends this process's
 * lease on the operation. Does nothing if another process has saved an outcome meanwhile. If the operation
 * became due again during the attempt (`makePaymentOperationsDueNow`), it stays due.
 */
export async function postponePaymentOperation(
  db: Database,
  { id, dueAt }: { readonly id: string; readonly dueAt: Date },
): Promise<void> {
  await db
    .updateTable("paymentOperation")
    .set({
      dueAt: sql`case when due_at > leased_until - make_interval(secs => ${paymentOperationLeaseMs / 1000})
        then due_at else ${dueAt}::timestamptz end`,
      leasedUntil: null,
    })
    .where("id", "=", id)
    .where("status", "=", "pending")
    .execute();
}

/**
 * Makes the pending operations of a payment due now, because the payment provider has news about the payment,
 * and starts the driver after the commit.
 */
export async function makePaymentOperationsDueNow(
  transaction: Transaction,
  {
    paymentId,
    now,
    events,
  }: { readonly paymentId: string; readonly now: Date; readonly events: InProcessEventEmitter },
): Promise<void> {
  await transaction
    .updateTable("paymentOperation")
    .set({ dueAt: now })
    .where("paymentId", "=", paymentId)
    .where("status", "=", "pending")
    .execute();
  runAfterCommit(transaction, () => events.emit("paymentsDue"));
}

/**
 * Returns the time at which the next pending payment operation without a lease becomes due; null if no
 * operation is pending.
 */
export async function findNextPaymentOperationDueAt(db: Database): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    select min(greatest(due_at, leased_until)) as at from payment_operation d where status = 'pending'
    and ${hasNoEarlierPendingOperation}`.execute(db);
  return rows[0]?.at ?? null;
}

export interface PaymentOperationResultToSave {
  readonly id: string;
  /** The reason why the payment operation failed, in lower_snake_case; null if the operation succeeded. */
  readonly failureCode: string | null;
  readonly now: Date;
}

/**
 * Saves the result of a pending payment operation. Returns false if a result was saved before; the caller
 * must then change nothing else.
 */
export async function recordPaymentOperationResult(
  transaction: Transaction,
  { id, failureCode, now }: PaymentOperationResultToSave,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable("paymentOperation")
    .set({
      status: failureCode === null ? "succeeded" : "failed",
      failureCode,
      settledAt: now,
      leasedUntil: null,
    })
    .where("id", "=", id)
    .where("status", "=", "pending")
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Saves the pending authorizations of an abandoned payment as failed, so that they are not sent again. */
export async function markPendingAuthorizationsFailed(
  transaction: Transaction,
  {
    paymentId,
    failureCode,
    now,
  }: { readonly paymentId: string; readonly failureCode: string; readonly now: Date },
): Promise<void> {
  await transaction
    .updateTable("paymentOperation")
    .set({ status: "failed", failureCode, settledAt: now, leasedUntil: null })
    .where("paymentId", "=", paymentId)
    .where("kind", "=", "authorize")
    .where("status", "=", "pending")
    .execute();
}
