/** What the provider did with the money of an order: captured it, let it go, gave it back, or refused to. The order follows. */
import { type ClaimedOperation, endOperation } from "#commerce/payments/payment-operations.ts";
import { lockPayment, type PaymentPatch, type PaymentRow, savePayment, statusByAmounts } from "#commerce/payments/save-payment.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Outcome } from "#commerce/payments/ask-provider.ts";
import type { Log } from "#foundation/log.ts";
import { changeLocked, lockOrder, type OrderHappening, type OrderTenant } from "#commerce/orders/change-order.ts";
import { voidIfNothingOwed } from "./order-payment.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";

export async function settleMovement(
  transaction: Transaction,
  tenant: OrderTenant,
  { operation, outcome, orderId }: Settling & { readonly orderId: string },
): Promise<void> {
  const { now } = tenant;
  const order = await lockOrder(transaction, tenant, orderId);
  const failureCode = failureOf(outcome);
  await changeLocked(transaction, tenant, {
    order,
    work: async () => {
      if (!(await endOperation(transaction, { id: operation.id, failureCode, now }))) return null;
      const payment = await lockPayment(transaction, operation.paymentId);
      const settled: SettledMovement = { operation, payment, failureCode, now };
      // The rest of what was captured is not needed; nor is what could not be captured of an order that was canceled meanwhile.
      if (operation.kind === "capture")
        await voidIfNothingOwed(transaction, tenant, { order: failureCode === null ? order : withoutCapture(order, operation) });
      return { happenings: operation.kind === "refund" ? await settleRefund(transaction, settled) : await settleAmounts(transaction, settled) };
    },
  });
}

function withoutCapture(order: OrderAggregate, { paymentId, amountMinor }: Settling["operation"]): OrderAggregate {
  const payments = order.payments.map((payment) => {
    const index = payment.pending.findIndex((asked) => asked.kind === "capture" && asked.amountMinor === amountMinor);
    return payment.id === paymentId && index !== -1 ? { ...payment, pending: payment.pending.toSpliced(index, 1) } : payment;
  });
  return { ...order, payments };
}

export interface SettledMovement extends Pick<Settling, "operation"> {
  readonly payment: PaymentRow;
  readonly failureCode: string | null;
  readonly now: Date;
}

/** One that the provider refused leaves the payment as it was. */
export async function settleRefund(transaction: Transaction, { operation, payment, failureCode, now }: SettledMovement): Promise<OrderHappening[]> {
  const status = failureCode === null ? "succeeded" : "failed";
  const happening = await endRefund(transaction, { operationId: operation.id, status, now });
  if (failureCode === null)
    await movePayment(transaction, { payment, change: { refundedMinor: payment.refundedMinor + operation.amountMinor }, now });
  return [happening];
}

async function settleAmounts(transaction: Transaction, { operation, payment, failureCode, now }: SettledMovement): Promise<OrderHappening[]> {
  const { id, status, capturedMinor, voidedMinor } = payment;
  if (failureCode !== null) {
    await savePayment(transaction, { payment, patch: { failureCode }, now });
    return [{ type: "payment.failed", id, previous: { failureCode: payment.failureCode } }];
  }
  if (operation.kind === "capture") {
    await movePayment(transaction, { payment, change: { capturedMinor: capturedMinor + operation.amountMinor }, now });
    return [{ type: "payment.captured", id, previous: { status } }];
  }
  const after = await movePayment(transaction, { payment, change: { voidedMinor: voidedMinor + operation.amountMinor }, now });
  return after.status === "canceled" ? [{ type: "payment.canceled", id, previous: { status } }] : [];
}

interface Movement {
  readonly payment: PaymentRow;
  readonly change: PaymentPatch;
  readonly now: Date;
}

function movePayment(transaction: Transaction, { payment, change, now }: Movement): Promise<PaymentRow> {
  const { amountMinor, capturedMinor, voidedMinor, refundedMinor } = { ...payment, ...change } as PaymentRow;
  return savePayment(transaction, {
    payment,
    patch: { ...change, status: statusByAmounts({ amountMinor, capturedMinor, voidedMinor, refundedMinor }) },
    now,
  });
}

/** What the provider has said of an operation, on its way to what it changes; and a refund's end, which is the same with an order and without. */
export interface Settling {
  readonly operation: ClaimedOperation;
  readonly outcome: Outcome;
  readonly log: Log;
}

/** Null: it did what it was asked for. */
export function failureOf(outcome: Outcome): string | null {
  if (outcome.outcome === "succeeded") return null;
  return outcome.outcome === "declined" ? outcome.code : "unresolved";
}

interface RefundEnd {
  readonly operationId: string;
  readonly status: "succeeded" | "failed";
  readonly now: Date;
}

async function endRefund(transaction: Transaction, { operationId, status, now }: RefundEnd): Promise<OrderHappening> {
  const { id } = await transaction
    .updateTable("refund")
    .set((refund) => ({ status, version: refund("version", "+", 1), updatedAt: now }))
    .where("operationId", "=", operationId)
    .returning("id")
    .executeTakeFirstOrThrow();
  return { type: `refund.${status}`, id, previous: { status: "pending" } };
}
