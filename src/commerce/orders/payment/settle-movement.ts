/**
 * Writes what the provider did with captured or authorized money: captured it, voided it, refunded it, or
 * refused to. With an order, the order follows. A payment whose session failed before the provider answered
 * has no order: what was only authorized has been voided, what was captured is refunded at once, and the
 * merchant is notified of either.
 */
import { sql } from "kysely";
import {
  type ClaimedPaymentOperation,
  endPaymentOperation,
  queuePaymentOperation,
} from "#commerce/payments/payment-operations.ts";
import {
  lockPayment,
  type PaymentRow,
  savePayment,
  paymentStatusFromAmounts,
} from "#commerce/payments/payment-rows.ts";
import type { Transaction } from "#database/transaction.ts";
import type { PaymentOperationOutcome } from "#commerce/payments/execute-payment-operation.ts";
import type { Log } from "#foundation/log.ts";
import { changeLocked, lockOrder, type OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { AuthorizedPaymentResult } from "#commerce/payments/provider.ts";
import { createId } from "#foundation/ids.ts";
import { voidIfNothingOwed } from "./order-payment.ts";

export async function settleMovement(
  transaction: Transaction,
  context: OrderCommandContext,
  { operation, outcome, orderId }: Settling & { readonly orderId: string },
): Promise<void> {
  const { now } = context;
  const order = await lockOrder(transaction, context, orderId);
  const failureCode = failureOf(outcome);
  await changeLocked(transaction, context, {
    order,
    work: async () => {
      if (!(await endPaymentOperation(transaction, { id: operation.id, failureCode, now }))) return null;
      const payment = await lockPayment(transaction, operation.paymentId);
      const settled: SettledMovement = { operation, payment, failureCode, now };
      // The rest of what was captured is not needed; nor is what could not be captured of an order that was
      // canceled meanwhile.
      if (operation.kind === "capture")
        await voidIfNothingOwed(transaction, context, {
          order: failureCode === null ? order : withoutCapture(order, operation),
        });
      return {
        happenings:
          operation.kind === "refund"
            ? await settleRefund(transaction, settled)
            : await settleAmounts(transaction, settled),
      };
    },
  });
}

function withoutCapture(
  order: OrderAggregate,
  { paymentId, amountMinor }: Settling["operation"],
): OrderAggregate {
  const payments = order.payments.map((payment) => {
    const index = payment.pending.findIndex(
      (asked) => asked.kind === "capture" && asked.amountMinor === amountMinor,
    );
    return payment.id === paymentId && index !== -1
      ? { ...payment, pending: payment.pending.toSpliced(index, 1) }
      : payment;
  });
  return { ...order, payments };
}

export interface SettledMovement extends Pick<Settling, "operation"> {
  readonly payment: PaymentRow;
  readonly failureCode: string | null;
  readonly now: Date;
}

/** One that the provider refused leaves the payment as it was. */
export async function settleRefund(
  transaction: Transaction,
  { operation, payment, failureCode, now }: SettledMovement,
): Promise<OrderEvent[]> {
  const status = failureCode === null ? "succeeded" : "failed";
  const happening = await endRefund(transaction, { operationId: operation.id, status, now });
  if (failureCode === null)
    await movePayment(transaction, {
      payment,
      change: { refundedMinor: payment.refundedMinor + operation.amountMinor },
      now,
    });
  return [happening];
}

async function settleAmounts(
  transaction: Transaction,
  { operation, payment, failureCode, now }: SettledMovement,
): Promise<OrderEvent[]> {
  const { id, status, capturedMinor, voidedMinor } = payment;
  if (failureCode !== null) {
    await savePayment(transaction, { payment, patch: { failureCode }, now });
    return [{ type: "payment.failed", id, previous: { failureCode: payment.failureCode } }];
  }
  if (operation.kind === "capture") {
    await movePayment(transaction, {
      payment,
      change: { capturedMinor: capturedMinor + operation.amountMinor },
      now,
    });
    return [{ type: "payment.captured", id, previous: { status } }];
  }
  const after = await movePayment(transaction, {
    payment,
    change: { voidedMinor: voidedMinor + operation.amountMinor },
    now,
  });
  return after.status === "canceled" ? [{ type: "payment.canceled", id, previous: { status } }] : [];
}

interface Movement {
  readonly payment: PaymentRow;
  readonly change: Partial<Pick<PaymentRow, "capturedMinor" | "voidedMinor" | "refundedMinor">>;
  readonly now: Date;
}

function movePayment(transaction: Transaction, { payment, change, now }: Movement): Promise<PaymentRow> {
  const { amountMinor, capturedMinor, voidedMinor, refundedMinor } = { ...payment, ...change };
  return savePayment(transaction, {
    payment,
    patch: {
      ...change,
      status: paymentStatusFromAmounts({ amountMinor, capturedMinor, voidedMinor, refundedMinor }),
    },
    now,
  });
}

/** The answer of the provider to an operation, to be written. */
export interface Settling {
  readonly operation: ClaimedPaymentOperation;
  readonly outcome: PaymentOperationOutcome;
  readonly log: Log;
}

/** Null: it did what it was asked for. */
export function failureOf(outcome: PaymentOperationOutcome): string | null {
  if (outcome.outcome === "succeeded") return null;
  return outcome.outcome === "declined" ? outcome.code : "unresolved";
}

interface RefundEnd {
  readonly operationId: string;
  readonly status: "succeeded" | "failed";
  readonly now: Date;
}

async function endRefund(
  transaction: Transaction,
  { operationId, status, now }: RefundEnd,
): Promise<OrderEvent> {
  const { id } = await transaction
    .updateTable("refund")
    .set((refund) => ({ status, version: refund("version", "+", 1), updatedAt: now }))
    .where("operationId", "=", operationId)
    .returning("id")
    .executeTakeFirstOrThrow();
  return { type: `refund.${status}`, id, previous: { status: "pending" } };
}

/** What became of it at the provider after all. */
export async function settleAbandoned(
  transaction: Transaction,
  context: OrderCommandContext,
  { operation, outcome, log }: Settling,
): Promise<void> {
  const { now } = context;
  const { id, paymentId } = operation;
  const isTimedOut = outcome.outcome === "timed_out";
  const failureCode = isTimedOut
    ? "unresolved"
    : outcome.outcome === "authorized" && outcome.capturedMinor > 0
      ? "captured"
      : null;
  if (!(await endPaymentOperation(transaction, { id, failureCode, now }))) return;
  if (isTimedOut) {
    log.error({ paymentId }, "The provider never told what became of a payment that is not wanted any more.");
    await tellUnresolved(transaction, context, paymentId);
  }
  if (outcome.outcome !== "authorized") return;
  if (outcome.capturedMinor + outcome.voidedMinor < outcome.amountMinor)
    log.error(
      { paymentId, ...outcome },
      "The provider does not let go what it holds of a payment that is not wanted any more.",
    );
  await giveBack(transaction, context, { payment: await lockPayment(transaction, paymentId), held: outcome });
}

/** Money may be held that nobody will let go. */
async function tellUnresolved(
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

async function giveBack(
  transaction: Transaction,
  context: OrderCommandContext,
  { payment, held }: { readonly payment: PaymentRow; readonly held: AuthorizedPaymentResult },
): Promise<void> {
  const { now, merchantId, outbox } = context;
  const { amountMinor, capturedMinor, voidedMinor, refundedMinor } = held;
  const amounts = { amountMinor, capturedMinor, voidedMinor, refundedMinor };
  await savePayment(transaction, {
    payment,
    patch: { ...amounts, status: paymentStatusFromAmounts(amounts) },
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

export async function settleLateRefund(
  transaction: Transaction,
  context: OrderCommandContext,
  { operation, outcome, log }: Settling,
): Promise<void> {
  const { now, outbox } = context;
  const failureCode = failureOf(outcome);
  if (!(await endPaymentOperation(transaction, { id: operation.id, failureCode, now }))) return;
  const payment = await lockPayment(transaction, operation.paymentId);
  if (failureCode !== null) {
    log.error(
      { paymentId: payment.id, failureCode },
      "The provider refuses to give back a payment that is not wanted any more.",
    );
    return retryRefund(transaction, context, { operation, payment, failureCode });
  }
  for (const { type, id, previous } of await settleRefund(transaction, {
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
 * It is nobody's money but the buyer's, and no order is there to give it back from: it is asked for until it
 * is given, ever more seldom. A refusal is final under its key, so each time it is an operation of its own;
 * the refund stays the same, and pending.
 */
async function retryRefund(
  transaction: Transaction,
  context: OrderCommandContext,
  {
    operation,
    payment,
    failureCode,
  }: Pick<Settling, "operation"> & { readonly payment: PaymentRow; readonly failureCode: string },
): Promise<void> {
  const { now, outbox } = context;
  const { id: failedId, paymentId, amountMinor } = operation;
  const { rows } = await sql<{ refused: number }>`
    select count(*)::int as refused from payment_operation where payment_id = ${paymentId} and kind = 'refund' and status = 'failed'`.execute(
    transaction,
  );
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
