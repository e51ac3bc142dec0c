/**
 * Saves the outcomes of requests to the payment provider about abandoned payments: payments that have no
 * order, because their checkout session ended before the provider answered. The authorization is voided. If
 * the provider has captured an amount, the amount is refunded. In this case, and if the payment could not be
 * voided in time, `payment.refund_required` is published.
 */
import { sql } from "kysely";
import {
  recordPaymentOperationResult,
  queuePaymentOperation,
} from "#commerce/payments/payment-operations.ts";
import {
  lockPayment,
  type PaymentRow,
  savePayment,
  derivePaymentStatus,
} from "#commerce/payments/payment-rows.ts";
import type { Transaction } from "#database/transaction.ts";
import { type OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { AuthorizedPaymentResult } from "#commerce/payments/provider.ts";
import { createId } from "#foundation/ids.ts";
import {
  getPaymentOperationFailureCode,
  type PaymentOperationWithOutcome,
  saveRefundOutcome,
} from "./settle-movement.ts";

/**
 * Saves the outcome of voiding an abandoned payment, and refunds a captured amount. An abandoned payment is
 * one whose checkout session ended before the payment provider answered.
 */
export async function saveVoidOutcomeOfAbandonedPayment(
  transaction: Transaction,
  context: OrderCommandContext,
  { operation, outcome, log }: PaymentOperationWithOutcome,
): Promise<void> {
  const { now } = context;
  const { id, paymentId } = operation;
  const isTimedOut = outcome.outcome === "timed_out";
  const failureCode = isTimedOut
    ? "unresolved"
    : outcome.outcome === "authorized" && outcome.capturedMinor > 0
      ? "captured"
      : null;
  if (!(await recordPaymentOperationResult(transaction, { id, failureCode, now }))) return;
  if (isTimedOut) {
    log.error({ paymentId }, "The provider did not report the outcome of an abandoned payment.");
    await publishUnresolved(transaction, context, paymentId);
  }
  if (outcome.outcome !== "authorized") return;
  if (outcome.capturedMinor + outcome.voidedMinor < outcome.amountMinor)
    log.error({ paymentId, ...outcome }, "The provider still holds an amount of an abandoned payment.");
  await refundAbandonedPayment(transaction, context, {
    payment: await lockPayment(transaction, paymentId),
    held: outcome,
  });
}

/**
 * Publishes `payment.refund_required` for a payment that could not be voided in time, because the payment
 * provider may still have the buyer's money.
 */
async function publishUnresolved(
  transaction: Transaction,
  { now, outbox }: OrderCommandContext,
  paymentId: string,
): Promise<void> {
  const payment = await lockPayment(transaction, paymentId);
  await savePayment(transaction, { payment, patch: { failureCode: "unresolved" }, now });
  outbox.append({
    type: "payment.refund_required",
    id: paymentId,
    previous: { failureCode: payment.failureCode },
  });
}

async function refundAbandonedPayment(
  transaction: Transaction,
  context: OrderCommandContext,
  { payment, held }: { readonly payment: PaymentRow; readonly held: AuthorizedPaymentResult },
): Promise<void> {
  const { now, merchantId, outbox } = context;
  const { amountMinor, capturedMinor, voidedMinor, refundedMinor } = held;
  const amounts = { amountMinor, capturedMinor, voidedMinor, refundedMinor };
  await savePayment(transaction, {
    payment,
    patch: { ...amounts, status: derivePaymentStatus(amounts) },
    now,
  });
  outbox.append({ type: "payment.refund_required", id: payment.id, previous: { status: payment.status } });
  const owedMinor = capturedMinor - refundedMinor;
  if (owedMinor === 0) return;
  const operationId = await queueLateRefund(transaction, context, {
    paymentId: payment.id,
    amountMinor: owedMinor,
  });
  const refundId = createId("refund", now.getTime());
  await transaction
    .insertInto("refund")
    .values({
      id: refundId,
      merchantId,
      paymentId: payment.id,
      orderId: null,
      returnId: null,
      operationId,
      amountMinor: owedMinor,
      currency: payment.currency,
      reason: "late_payment",
      note: null,
      createdAt: now,
      updatedAt: now,
    })
    .execute();
  outbox.append({ type: "refund.created", id: refundId });
}

interface LateRefund {
  readonly paymentId: string;
  readonly amountMinor: number;
  readonly dueAt?: Date;
}

function queueLateRefund(
  transaction: Transaction,
  { merchantId, now, events }: OrderCommandContext,
  refund: LateRefund,
): Promise<string> {
  return queuePaymentOperation(transaction, { merchantId, kind: "refund", now, events, ...refund });
}

export async function saveRefundOutcomeOfLatePayment(
  transaction: Transaction,
  context: OrderCommandContext,
  { operation, outcome, log }: PaymentOperationWithOutcome,
): Promise<void> {
  const { now, outbox } = context;
  const failureCode = getPaymentOperationFailureCode(outcome);
  if (!(await recordPaymentOperationResult(transaction, { id: operation.id, failureCode, now }))) return;
  const payment = await lockPayment(transaction, operation.paymentId);
  if (failureCode !== null) {
    log.error(
      { paymentId: payment.id, failureCode },
      "The provider declined the refund of an abandoned payment.",
    );
    return retryRefund(transaction, context, { operation, payment, failureCode });
  }
  for (const { type, id, previous } of await saveRefundOutcome(transaction, {
    operation,
    payment,
    failureCode,
    now,
  })) {
    outbox.append({ type, id: id ?? payment.id, previous: previous ?? null });
  }
}

const minuteMs = 60_000;
const retryMs = [minuteMs, 5 * minuteMs, 30 * minuteMs, 120 * minuteMs, 480 * minuteMs];
const retryMsMax = 1440 * minuteMs;

/**
 * Queues the refund of an abandoned payment again, with growing delays, until the payment provider accepts
 * it. Each retry is a new payment operation with a new idempotency key, because the provider repeats its old
 * answer for the old key. The refund has the status `pending` until the provider accepts it.
 */
async function retryRefund(
  transaction: Transaction,
  context: OrderCommandContext,
  {
    operation,
    payment,
    failureCode,
  }: Pick<PaymentOperationWithOutcome, "operation"> & {
    readonly payment: PaymentRow;
    readonly failureCode: string;
  },
): Promise<void> {
  const { now, outbox } = context;
  const { id: failedId, paymentId, amountMinor } = operation;
  const { rows } = await sql<{ refused: number }>`
    select count(*)::int as refused from payment_operation where payment_id = ${paymentId} and kind = 'refund'
    and status = 'failed'`.execute(transaction);
  const delayMs = retryMs[(rows[0]?.refused ?? 1) - 1] ?? retryMsMax;
  const operationId = await queueLateRefund(transaction, context, {
    paymentId,
    amountMinor,
    dueAt: new Date(now.getTime() + delayMs),
  });
  await transaction.updateTable("refund").set({ operationId }).where("operationId", "=", failedId).execute();
  if (payment.failureCode === failureCode) return;
  await savePayment(transaction, { payment, patch: { failureCode }, now });
  outbox.append({ type: "payment.failed", id: paymentId, previous: { failureCode: payment.failureCode } });
}
