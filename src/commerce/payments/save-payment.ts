/** A payment's own row: read to be changed, and changed together with its version. What its amounts make of its status stands here. */
import type { Selectable, Updateable } from "kysely";
import type { PaymentTable } from "#database/tables.ts";
import type { Transaction } from "#database/transaction.ts";

export type PaymentRow = Selectable<PaymentTable>;
export type PaymentPatch = Pick<
  Updateable<PaymentTable>,
  "status" | "amountMinor" | "capturedMinor" | "voidedMinor" | "refundedMinor" | "failureCode"
>;

/** Whoever changes it holds its order, or as long as it has none its session; so nobody waits for it here. */
export function lockPayment(transaction: Transaction, id: string): Promise<PaymentRow> {
  return transaction.selectFrom("payment").selectAll().where("id", "=", id).forNoKeyUpdate().executeTakeFirstOrThrow();
}

/** The session's payment that may still succeed, or has; there is one at most. */
export function livePaymentOf(transaction: Transaction, sessionId: string): Promise<PaymentRow | undefined> {
  return transaction
    .selectFrom("payment")
    .selectAll()
    .where("sessionId", "=", sessionId)
    .where("status", "in", ["pending", "authorized"])
    .where("orderId", "is", null)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** What it is paid with is not kept beyond the answer. */
export function savePayment(
  transaction: Transaction,
  { payment, patch, now }: { readonly payment: PaymentRow; readonly patch: PaymentPatch; readonly now: Date },
): Promise<PaymentRow> {
  return transaction
    .updateTable("payment")
    .set({ ...patch, tokenSealed: null, tokenDataKey: null, tokenKeyId: null, version: payment.version + 1, updatedAt: now })
    .where("id", "=", payment.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Of one that was authorised. */
export function statusByAmounts({
  amountMinor,
  capturedMinor,
  voidedMinor,
  refundedMinor,
}: Pick<PaymentRow, "amountMinor" | "capturedMinor" | "voidedMinor" | "refundedMinor">): PaymentRow["status"] {
  if (capturedMinor === 0) return voidedMinor === amountMinor ? "canceled" : "authorized";
  if (refundedMinor === 0) return "captured";
  return refundedMinor === capturedMinor ? "refunded" : "partially_refunded";
}
