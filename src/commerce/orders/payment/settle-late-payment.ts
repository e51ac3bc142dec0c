/**
 * Payments that nobody waits for any more: their session has failed before the provider could tell. What was only set aside has been let go; what
 * was taken goes back at once. The merchant is told of either, and of what the provider never told.
 */
import { sql } from "kysely";
import { endOperation, queueOperation } from "#commerce/payments/payment-operations.ts";
import type { Held } from "#commerce/payments/provider.ts";
import { lockPayment, type PaymentRow, savePayment, statusByAmounts } from "#commerce/payments/save-payment.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import type { OrderTenant } from "#commerce/orders/change-order.ts";
import { failureOf, settleRefund, type Settling } from "./settle-movement.ts";

/** What became of it at the provider after all. */
export async function settleAbandoned(transaction: Transaction, tenant: OrderTenant, { operation, outcome, log }: Settling): Promise<void> {
  const { now } = tenant;
  const { id, paymentId } = operation;
  const isTimedOut = outcome.outcome === "timed_out";
  const failureCode = isTimedOut ? "unresolved" : outcome.outcome === "authorized" && outcome.capturedMinor > 0 ? "captured" : null;
  if (!(await endOperation(transaction, { id, failureCode, now }))) return;
  if (isTimedOut) {
    log.error({ paymentId }, "The provider never told what became of a payment that is not wanted any more.");
    await tellUnresolved(transaction, tenant, paymentId);
  }
  if (outcome.outcome !== "authorized") return;
  if (outcome.capturedMinor + outcome.voidedMinor < outcome.amountMinor)
    log.error({ paymentId, ...outcome }, "The provider does not let go what it holds of a payment that is not wanted any more.");
  await giveBack(transaction, tenant, { payment: await lockPayment(transaction, paymentId), held: outcome });
}

/** Money may be held that nobody will let go. */
async function tellUnresolved(transaction: Transaction, { now, outbox }: OrderTenant, paymentId: string): Promise<void> {
  const payment = await lockPayment(transaction, paymentId);
  await savePayment(transaction, { payment, patch: { failureCode: "unresolved" }, now });
  outbox.append({ type: "payment.refund_required", id: paymentId, previous: { failureCode: payment.failureCode } });
}

async function giveBack(
  transaction: Transaction,
  tenant: OrderTenant,
  { payment, held }: { readonly payment: PaymentRow; readonly held: Held },
): Promise<void> {
  const { now, merchantId, outbox } = tenant;
  const { amountMinor, capturedMinor, voidedMinor, refundedMinor } = held;
  const amounts = { amountMinor, capturedMinor, voidedMinor, refundedMinor };
  await savePayment(transaction, { payment, patch: { ...amounts, status: statusByAmounts(amounts) }, now });
  outbox.append({ type: "payment.refund_required", id: payment.id, previous: { status: payment.status } });
  const owedMinor = capturedMinor - refundedMinor;
  if (owedMinor === 0) return;
  const operationId = await queueLateRefund(transaction, tenant, { paymentId: payment.id, amountMinor: owedMinor });
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

function queueLateRefund(transaction: Transaction, { merchantId, now, events }: OrderTenant, refund: LateRefund): Promise<string> {
  return queueOperation(transaction, { merchantId, kind: "refund", now, events, ...refund });
}

export async function settleLateRefund(transaction: Transaction, tenant: OrderTenant, { operation, outcome, log }: Settling): Promise<void> {
  const { now, outbox } = tenant;
  const failureCode = failureOf(outcome);
  if (!(await endOperation(transaction, { id: operation.id, failureCode, now }))) return;
  const payment = await lockPayment(transaction, operation.paymentId);
  if (failureCode !== null) {
    log.error({ paymentId: payment.id, failureCode }, "The provider refuses to give back a payment that is not wanted any more.");
    return retryRefund(transaction, tenant, { operation, payment, failureCode });
  }
  for (const { type, id, previous } of await settleRefund(transaction, { operation, payment, failureCode, now })) {
    outbox.append({ type, id: id ?? payment.id, previous: previous ?? null });
  }
}

const minuteMs = 60_000;
const retryMs = [minuteMs, 5 * minuteMs, 30 * minuteMs, 120 * minuteMs, 480 * minuteMs];
const retryMsMax = 1440 * minuteMs;

/**
 * It is nobody's money but the buyer's, and no order is there to give it back from: it is asked for until it is given, ever more seldom. A refusal is
 * final under its key, so each time it is an operation of its own; the refund stays the same, and pending.
 */
async function retryRefund(
  transaction: Transaction,
  tenant: OrderTenant,
  { operation, payment, failureCode }: Pick<Settling, "operation"> & { readonly payment: PaymentRow; readonly failureCode: string },
): Promise<void> {
  const { now, outbox } = tenant;
  const { id: failedId, paymentId, amountMinor } = operation;
  const { rows } = await sql<{ refused: number }>`
    select count(*)::int as refused from payment_operation where payment_id = ${paymentId} and kind = 'refund' and status = 'failed'`.execute(
    transaction,
  );
  const delayMs = retryMs[(rows[0]?.refused ?? 1) - 1] ?? retryMsMax;
  const operationId = await queueLateRefund(transaction, tenant, { paymentId, amountMinor, dueAt: new Date(now.getTime() + delayMs) });
  await transaction.updateTable("refund").set({ operationId }).where("operationId", "=", failedId).execute();
  if (payment.failureCode === failureCode) return;
  await savePayment(transaction, { payment, patch: { failureCode }, now });
  outbox.append({ type: "payment.failed", id: paymentId, previous: { failureCode: payment.failureCode } });
}
