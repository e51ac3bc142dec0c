/**
 * The queue of requests to the payment provider, stored as rows. A transaction that changes a payment queues
 * the operation. One process at a time claims the operation under a lease, and the operation becomes due
 * again until its outcome is known. Operations of the same payment run one after another, in the order of
 * their creation.
 */
import type { ServiceEvents } from "#foundation/events.ts";
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { afterCommit, inTransaction, type Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { currentRecordedSpan } from "#foundation/tracing.ts";

export type PaymentOperationKind = "authorize" | "capture" | "void" | "refund";

export interface NewPaymentOperation {
  readonly merchantId: string;
  readonly paymentId: string;
  readonly kind: PaymentOperationKind;
  readonly amountMinor: number;
  readonly now: Date;
  /** The earliest time at which the payment operation is attempted; `now` if left out. */
  readonly dueAt?: Date;
  readonly events: ServiceEvents;
}

/** Inserts the operation and emits `paymentsDue` after the commit. Returns the operation's id. */
export async function queuePaymentOperation(
  transaction: Transaction,
  { events, now, dueAt = now, ...operation }: NewPaymentOperation,
): Promise<string> {
  const id = createId("paymentOperation", now.getTime());
  const traceparent = currentRecordedSpan()?.traceparent ?? null;
  await transaction
    .insertInto("paymentOperation")
    .values({
      id,
      ...operation,
      dueAt,
      createdAt: now,
      leasedUntil: null,
      failureCode: null,
      settledAt: null,
      traceparent,
    })
    .execute();
  afterCommit(transaction, () => events.emit("paymentsDue"));
  return id;
}

/**
 * A leased operation, together with its payment's currency and sealed token, which the provider's request
 * needs.
 */
export interface ClaimedPaymentOperation {
  readonly id: string;
  readonly merchantId: string;
  readonly paymentId: string;
  readonly kind: PaymentOperationKind;
  readonly amountMinor: number;
  readonly currency: string;
  /** Number of attempts to run the operation, including the current attempt. */
  readonly attempts: number;
  readonly createdAt: Date;
  /**
   * True if the operation voids a payment that has no order, because its checkout failed. If the provider has
   * captured an amount meanwhile, this amount is refunded.
   */
  readonly isAbandoned: boolean;
  /**
   * Trace context (W3C `traceparent`) of the span that queued the operation; null if that span was not
   * recorded.
   */
  readonly traceparent: string | null;
  readonly tokenSealed: Uint8Array | null;
  readonly tokenDataKey: Uint8Array | null;
  readonly tokenKeyId: string | null;
}

/**
 * Milliseconds for which a claimed payment operation is reserved for one process. No attempt takes that long,
 * so a process whose lease has expired is no longer working on the operation.
 */
export const paymentOperationLeaseMs = 30_000;

/** SQL condition on `payment_operation as d`: no earlier operation of the same payment is pending. */
const hasNoEarlierPendingOperation = sql`not exists (select 1 from payment_operation e
  where e.payment_id = d.payment_id and e.status = 'pending'
  and (e.created_at, e.id) < (d.created_at, d.id))`;

/**
 * Leases the payment operation that has been due the longest and has no running lease of a process; undefined
 * if no operation is due.
 */
export async function claimPaymentOperation(
  db: Database,
  now: Date,
): Promise<ClaimedPaymentOperation | undefined> {
  const until = new Date(now.getTime() + paymentOperationLeaseMs);
  return inTransaction(db, async (transaction) => {
    const { rows } = await sql<ClaimedPaymentOperation>`
      update payment_operation o set attempts = o.attempts + 1, leased_until = ${until}::timestamptz
      from payment p
      where p.id = o.payment_id and o.id = (
        select d.id from payment_operation d
        where d.status = 'pending' and d.due_at <= ${now}::timestamptz and (d.leased_until is null
        or d.leased_until <= ${now}::timestamptz)
          and ${hasNoEarlierPendingOperation}
        order by d.due_at, d.id limit 1 for update skip locked)
      returning o.id, o.merchant_id, o.payment_id, o.kind, o.amount_minor, p.currency, o.attempts,
      o.created_at,
        o.kind = 'void' and p.order_id is null as is_abandoned, o.traceparent, p.token_sealed,
        p.token_data_key, p.token_key_id`.execute(transaction);
    return rows[0];
  });
}

/**
 * Schedules the next attempt of an operation whose outcome is not known yet, and ends its lease. Changes
 * nothing if another process has settled the operation meanwhile.
 */
export async function postponePaymentOperation(
  db: Database,
  { id, dueAt }: { readonly id: string; readonly dueAt: Date },
): Promise<void> {
  await db
    .updateTable("paymentOperation")
    .set({ dueAt, leasedUntil: null })
    .where("id", "=", id)
    .where("status", "=", "pending")
    .execute();
}

/** The time at which the next operation can be claimed; null if no operation is pending. */
export async function findNextPaymentOperationDueAt(db: Database): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    select min(greatest(due_at, leased_until)) as at from payment_operation d where status = 'pending'
    and ${hasNoEarlierPendingOperation}`.execute(db);
  return rows[0]?.at ?? null;
}

export interface PaymentOperationResult {
  readonly id: string;
  /** The reason why the payment operation failed, in lower_snake_case; null if the operation succeeded. */
  readonly failureCode: string | null;
  readonly now: Date;
}

/**
 * Settles a pending operation. Returns false if the operation was settled before; the caller must then change
 * nothing else.
 */
export async function recordPaymentOperationResult(
  transaction: Transaction,
  { id, failureCode, now }: PaymentOperationResult,
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

/** Settles the pending authorizations of an abandoned payment as failed, so that they are not sent again. */
export async function failPendingAuthorizations(
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
