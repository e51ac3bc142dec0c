/**
 * What the provider shall do, as rows: queued in the transaction that decides it, worked on under a lease by
 * one process at a time, and due again until its outcome is known. The operations of one payment follow each
 * other.
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
  /** Left out: at once. */
  readonly dueAt?: Date;
  readonly events: ServiceEvents;
}

/** Gives its id. */
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

/** As whoever works on it has it, with what of its payment the provider is told. */
export interface ClaimedPaymentOperation {
  readonly id: string;
  readonly merchantId: string;
  readonly paymentId: string;
  readonly kind: PaymentOperationKind;
  readonly amountMinor: number;
  readonly currency: string;
  /** This one counts. */
  readonly attempts: number;
  readonly createdAt: Date;
  /** The payment is not wanted any more: whatever becomes of it is given back. */
  readonly isAbandoned: boolean;
  /** What brought it about, where that is traced. */
  readonly traceparent: string | null;
  readonly tokenSealed: Uint8Array | null;
  readonly tokenDataKey: Uint8Array | null;
  readonly tokenKeyId: string | null;
}

/** Longer than an attempt can take: whose lease is over has died. */
export const paymentOperationLeaseMs = 30_000;

/** What was asked of the same payment before is done. */
const hasNoEarlierPendingOperation = sql`not exists (select 1 from payment_operation e
  where e.payment_id = d.payment_id and e.status = 'pending' and (e.created_at, e.id) < (d.created_at, d.id))`;

/** The oldest that is due and that nobody works on; it is ours for a while. */
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
        where d.status = 'pending' and d.due_at <= ${now}::timestamptz and (d.leased_until is null or d.leased_until <= ${now}::timestamptz)
          and ${hasNoEarlierPendingOperation}
        order by d.due_at, d.id limit 1 for update skip locked)
      returning o.id, o.merchant_id, o.payment_id, o.kind, o.amount_minor, p.currency, o.attempts, o.created_at,
        o.kind = 'void' and p.order_id is null as is_abandoned, o.traceparent, p.token_sealed, p.token_data_key, p.token_key_id`.execute(
      transaction,
    );
    return rows[0];
  });
}

/** Its outcome is still not known. Nothing where somebody else has settled it meanwhile. */
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

/** When there is something to do next; null: nothing is waiting. */
export async function findNextPaymentDueAt(db: Database): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    select min(greatest(due_at, leased_until)) as at from payment_operation d where status = 'pending' and ${hasNoEarlierPendingOperation}`.execute(
    db,
  );
  return rows[0]?.at ?? null;
}

export interface PaymentOperationEnd {
  readonly id: string;
  /** Null: it succeeded. */
  readonly failureCode: string | null;
  readonly now: Date;
}

/** False: it was settled before, and nothing may follow from it again. */
export async function endPaymentOperation(
  transaction: Transaction,
  { id, failureCode, now }: PaymentOperationEnd,
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

/** What was still asked for of a payment that is not wanted any more. */
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
