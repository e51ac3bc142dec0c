/**
 * Inserts payments with their encrypted token and a queued authorization, locks payments, and saves them with
 * a raised version. Also computes the status of an authorized payment from its amounts.
 */
import type { Selectable, Updateable } from "kysely";
import type { PaymentTable } from "#database/tables.ts";
import { bufferInsertUntilNextStatement } from "#database/prepared-template.ts";
import type { Transaction } from "#database/transaction.ts";
import type { InProcessEventEmitter } from "#foundation/events.ts";
import type { EncryptionKeyring, EncryptionContext } from "#foundation/encryption.ts";
import { createId } from "#foundation/ids.ts";
import type { ChosenPaymentProvider } from "./connections.ts";
import { queuePaymentOperation } from "./payment-operations.ts";

export type PaymentRow = Selectable<PaymentTable>;
export type PaymentColumnUpdate = Pick<
  Updateable<PaymentTable>,
  "status" | "amountMinor" | "capturedMinor" | "voidedMinor" | "refundedMinor" | "failureCode"
>;

/**
 * Locks the row of a payment. The caller must have locked the payment's order; if it has no order yet, the
 * checkout session. No other transaction can then hold a lock on the payment's row, so the statement never
 * waits.
 */
export function lockPayment(transaction: Transaction, id: string): Promise<PaymentRow> {
  return transaction
    .selectFrom("payment")
    .selectAll()
    .where("id", "=", id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
}

/**
 * Locks the pending or authorized payment of a checkout session that has no order yet. A session has at most
 * one such payment; returns undefined if it has none.
 */
export function lockOpenCheckoutSessionPayment(
  transaction: Transaction,
  sessionId: string,
): Promise<PaymentRow | undefined> {
  return transaction
    .selectFrom("payment")
    .selectAll()
    .where("sessionId", "=", sessionId)
    .where("status", "in", ["pending", "authorized"])
    .where("orderId", "is", null)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/**
 * Saves a payment and raises its version by one. Also deletes the encrypted payment token, because the token
 * is not needed after the payment provider has answered.
 */
export function savePayment(
  transaction: Transaction,
  {
    payment,
    patch,
    now,
  }: { readonly payment: PaymentRow; readonly patch: PaymentColumnUpdate; readonly now: Date },
): Promise<PaymentRow> {
  return transaction
    .updateTable("payment")
    .set({
      ...patch,
      tokenSealed: null,
      tokenDataKey: null,
      tokenKeyId: null,
      version: payment.version + 1,
      updatedAt: now,
    })
    .where("id", "=", payment.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Computes the status of an authorized payment from its amounts. */
export function derivePaymentStatus({
  amountMinor,
  capturedMinor,
  voidedMinor,
  refundedMinor,
}: Pick<
  PaymentRow,
  "amountMinor" | "capturedMinor" | "voidedMinor" | "refundedMinor"
>): PaymentRow["status"] {
  if (capturedMinor === 0) return voidedMinor === amountMinor ? "canceled" : "authorized";
  if (refundedMinor === 0) return "captured";
  return refundedMinor === capturedMinor ? "refunded" : "partially_refunded";
}

interface NewPayment {
  readonly merchantId: string;
  readonly sessionId: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly chosen: ChosenPaymentProvider;
  /** The payment token of the checkout page; null if the provider has a payment page of its own. */
  readonly token: string | null;
  readonly keyring: EncryptionKeyring;
  readonly now: Date;
  readonly events: InProcessEventEmitter;
}

/**
 * Returns the table, column and row to which the encryption of a payment's token is bound. A token that is
 * copied to another payment cannot be decrypted there.
 */
export const getPaymentTokenEncryptionContext = (paymentId: string): EncryptionContext => ({
  table: "payment",
  column: "token_sealed",
  rowId: paymentId,
});

/**
 * Inserts a payment with its encrypted token, if it has one, and queues its authorization, with the next
 * statement of the transaction or with its COMMIT. Returns the payment's id.
 */
export async function startPayment(transaction: Transaction, payment: NewPayment): Promise<string> {
  const { merchantId, sessionId, amountMinor, currency, chosen, token, keyring, now, events } = payment;
  const id = createId("payment", now.getTime());
  const sealed = token === null ? null : keyring.seal(token, getPaymentTokenEncryptionContext(id));
  const row = {
    id,
    merchantId,
    sessionId,
    orderId: null,
    ...chosen,
    methodType: "card",
    tokenSealed: sealed?.sealed ?? null,
    tokenDataKey: sealed?.dataKey ?? null,
    tokenKeyId: sealed?.keyId ?? null,
    currency,
    amountMinor,
    failureCode: null,
    disputedAt: null,
    disputeReason: null,
    createdAt: now,
    updatedAt: now,
  } as const;
  await bufferInsertUntilNextStatement(transaction, "payment", [row]);
  await queuePaymentOperation(transaction, {
    merchantId,
    paymentId: id,
    kind: "authorize",
    amountMinor,
    now,
    events,
  });
  return id;
}
