/** A payment as it begins: a row that waits, its token sealed for it, and the operation that asks the provider. */
import { queueOperation } from "./payment-operations.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Keyring, Place } from "#foundation/encryption.ts";
import { createId } from "#foundation/ids.ts";

export interface PaymentToStart {
  readonly merchantId: string;
  readonly sessionId: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly token: string;
  readonly keyring: Keyring;
  readonly now: Date;
  readonly wakePayments: () => void;
}

/** What a token is sealed for: it opens for no other payment. */
export const tokenPlaceOf = (paymentId: string): Place => ({ table: "payment", column: "token_sealed", rowId: paymentId });

/** Gives its id. */
export async function startPayment(transaction: Transaction, started: PaymentToStart): Promise<string> {
  const { merchantId, sessionId, amountMinor, currency, token, keyring, now, wakePayments } = started;
  const id = createId("payment", now.getTime());
  const { sealed, dataKey, keyId } = keyring.seal(token, tokenPlaceOf(id));
  await transaction
    .insertInto("payment")
    .values({
      id,
      merchantId,
      sessionId,
      orderId: null,
      provider: "test",
      methodType: "card",
      tokenSealed: sealed,
      tokenDataKey: dataKey,
      tokenKeyId: keyId,
      currency,
      amountMinor,
      failureCode: null,
      disputedAt: null,
      disputeReason: null,
      createdAt: now,
      updatedAt: now,
    })
    .execute();
  await queueOperation(transaction, { merchantId, paymentId: id, kind: "authorize", amountMinor, now, wakePayments });
  return id;
}
