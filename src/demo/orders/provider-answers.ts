/**
 * What the built-in provider says to the demo's payments. It keeps its books in transactions of its own, which there are none of here: what would
 * stand in them is written beside, so that it goes on with these payments as with any other.
 */
import { sql } from "kysely";
import type { Outcome } from "#commerce/payments/ask-provider.ts";
import type { ClaimedOperation } from "#commerce/payments/payment-operations.ts";
import type { OrderCommandContext } from "#commerce/orders/change-order.ts";
import { settleOperation } from "#commerce/orders/payment/settle-payment.ts";
import type { Transaction } from "#database/transaction.ts";
import { createLog } from "#foundation/log.ts";

export const demoToken = "tok_success";

export interface Answers {
  readonly sessionId: string;
  /** What is authorized is captured with it, as a bank transfer is. */
  readonly isCaptured?: boolean;
}

/** Everything that it was asked for of a session's payment, done and settled. */
export async function answerPayments(
  transaction: Transaction,
  tenant: OrderCommandContext,
  { sessionId, isCaptured = false }: Answers,
): Promise<void> {
  const { rows } = await sql<ClaimedOperation>`
    update payment_operation o set attempts = 1 from payment p
    where p.id = o.payment_id and p.session_id = ${sessionId} and o.status = 'pending'
    returning o.id, o.merchant_id, o.payment_id, o.kind, o.amount_minor, p.currency, o.attempts, o.created_at, false as is_abandoned,
      p.token_sealed, p.token_data_key, p.token_key_id`.execute(transaction);
  for (const operation of rows) {
    const capturedMinor = isCaptured ? operation.amountMinor : 0;
    await writeBooks(transaction, operation, capturedMinor);
    await settleOperation(transaction, tenant, { operation, outcome: outcomeOf(operation, capturedMinor), log });
  }
}

/** Nothing goes wrong here that could be logged. */
const log = createLog("silent", { write: () => undefined });

function outcomeOf({ kind, amountMinor }: ClaimedOperation, capturedMinor: number): Outcome {
  if (kind !== "authorize") return { outcome: "succeeded" };
  return { outcome: "authorized", amountMinor, capturedMinor, voidedMinor: 0, refundedMinor: 0 };
}

async function writeBooks(
  transaction: Transaction,
  { id, paymentId, kind, amountMinor, currency, createdAt }: ClaimedOperation,
  capturedMinor: number,
): Promise<void> {
  const moved = (name: ClaimedOperation["kind"]): number => (kind === name ? amountMinor : 0);
  await sql`
    with entry as (
      insert into test_provider_entry (idempotency_key, reference, kind, amount_minor, outcome, created_at)
      values (${id}, ${paymentId}, ${kind}, ${amountMinor}, ${kind === "authorize" ? "authorized" : "succeeded"}, ${createdAt}))
    insert into test_provider_payment as b (reference, token, status, currency, amount_minor, captured_minor, decided_at, created_at)
    values (${paymentId}, ${demoToken}, 'authorized', ${currency}, ${amountMinor}, ${capturedMinor}, ${createdAt}, ${createdAt})
    on conflict (reference) do update set captured_minor = b.captured_minor + ${moved("capture")}, voided_minor = b.voided_minor + ${moved("void")},
      refunded_minor = b.refunded_minor + ${moved("refund")},
      status = case when b.voided_minor + ${moved("void")} = b.amount_minor then 'voided' else 'authorized' end`.execute(transaction);
}
