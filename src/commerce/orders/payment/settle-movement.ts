/**
 * Saves the outcome of a capture, void or refund at the payment provider to the payment and its order.
 * Outcomes of payments without an order are saved in settle-abandoned-payment.ts.
 */
import {
  type ClaimedPaymentOperation,
  recordPaymentOperationResult,
} from "#commerce/payments/payment-operations.ts";
import {
  lockPayment,
  type PaymentRow,
  savePayment,
  derivePaymentStatus,
} from "#commerce/payments/payment-rows.ts";
import type { Transaction } from "#database/transaction.ts";
import type { PaymentOperationOutcome } from "#commerce/payments/execute-payment-operation.ts";
import type { Log } from "#foundation/log.ts";
import {
  applyChangeToLockedOrder,
  lockOrder,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { voidAuthorizationsIfNothingOwed } from "./order-payment.ts";

export async function saveCaptureVoidOrRefundOutcome(
  transaction: Transaction,
  context: OrderCommandContext,
  { operation, outcome, orderId }: PaymentOperationWithOutcome & { readonly orderId: string },
): Promise<void> {
  const { now } = context;
  const order = await lockOrder(transaction, context, orderId);
  const failureCode = getPaymentOperationFailureCode(outcome);
  await applyChangeToLockedOrder(transaction, context, {
    order,
    work: async () => {
      if (!(await recordPaymentOperationResult(transaction, { id: operation.id, failureCode, now })))
        return null;
      const payment = await lockPayment(transaction, operation.paymentId);
      const releasedMinor =
        outcome.outcome === "succeeded" || outcome.outcome === "declined" ? (outcome.releasedMinor ?? 0) : 0;
      const settled: CaptureVoidOrRefundToSave = { operation, payment, failureCode, releasedMinor, now };
      // Voids the remaining authorization if the buyer owes nothing any more. After a successful capture,
      // this is the part that was not captured. After a failed capture of a canceled order, this is the whole
      // authorization. If the provider has released the rest with the capture, nothing is left to void.
      if (operation.kind === "capture" && releasedMinor === 0)
        await voidAuthorizationsIfNothingOwed(transaction, context, {
          order: failureCode === null ? order : withoutPendingCapture(order, operation),
        });
      return {
        events:
          operation.kind === "refund"
            ? await saveRefundOutcome(transaction, settled)
            : await settleAmounts(transaction, settled),
      };
    },
  });
}

function withoutPendingCapture(
  order: OrderAggregate,
  { paymentId, amountMinor }: PaymentOperationWithOutcome["operation"],
): OrderAggregate {
  const payments = order.payments.map((payment) => {
    const index = payment.pending.findIndex(
      (pending) => pending.kind === "capture" && pending.amountMinor === amountMinor,
    );
    return payment.id === paymentId && index !== -1
      ? { ...payment, pending: payment.pending.toSpliced(index, 1) }
      : payment;
  });
  return { ...order, payments };
}

export interface CaptureVoidOrRefundToSave extends Pick<PaymentOperationWithOutcome, "operation"> {
  readonly payment: PaymentRow;
  readonly failureCode: string | null;
  /** The part of the authorization that the provider has released with a capture, in minor units. */
  readonly releasedMinor?: number;
  readonly now: Date;
}

/** Saves the outcome of a refund. If the payment provider declined the refund, the payment stays unchanged. */
export async function saveRefundOutcome(
  transaction: Transaction,
  { operation, payment, failureCode, now }: CaptureVoidOrRefundToSave,
): Promise<OrderEvent[]> {
  const status = failureCode === null ? "succeeded" : "failed";
  const event = await endRefund(transaction, { operationId: operation.id, status, now });
  if (failureCode === null)
    await movePayment(transaction, {
      payment,
      change: { refundedMinor: payment.refundedMinor + operation.amountMinor },
      now,
    });
  return [event];
}

async function settleAmounts(
  transaction: Transaction,
  settled: CaptureVoidOrRefundToSave,
): Promise<OrderEvent[]> {
  if (settled.operation.kind === "capture" && settled.failureCode === null)
    return saveCapture(transaction, settled);
  // If nothing of the authorization is left, an earlier capture has released the rest. A void then changes
  // nothing, for every answer of the provider.
  return settled.operation.kind === "void" && leftMinor(settled.payment) === 0
    ? []
    : saveReleasedAmount(transaction, settled);
}

/** Returns the part of the authorized amount that is neither captured nor voided, in minor units. */
const leftMinor = ({ amountMinor, capturedMinor, voidedMinor }: PaymentRow): number =>
  amountMinor - capturedMinor - voidedMinor;

async function saveCapture(
  transaction: Transaction,
  { operation, payment, releasedMinor = 0, now }: CaptureVoidOrRefundToSave,
): Promise<OrderEvent[]> {
  const { id, status, capturedMinor, voidedMinor } = payment;
  const restMinor = Math.max(0, leftMinor(payment) - operation.amountMinor);
  await movePayment(transaction, {
    payment,
    change: {
      capturedMinor: capturedMinor + operation.amountMinor,
      voidedMinor: voidedMinor + Math.min(releasedMinor, restMinor),
    },
    now,
  });
  return [{ type: "payment.captured", id, previous: { status } }];
}

/**
 * Saves the amount of a successful void; after a declined capture or void, the amount that the provider
 * released.
 */
async function saveReleasedAmount(
  transaction: Transaction,
  { operation, payment, failureCode, releasedMinor = 0, now }: CaptureVoidOrRefundToSave,
): Promise<OrderEvent[]> {
  const { id, status } = payment;
  const endedMinor = failureCode === null ? operation.amountMinor : releasedMinor;
  const after = await movePayment(transaction, {
    payment,
    change: {
      voidedMinor: payment.voidedMinor + Math.min(endedMinor, leftMinor(payment)),
      ...(failureCode === null ? {} : { failureCode }),
    },
    now,
  });
  return [
    ...(failureCode === null
      ? []
      : [{ type: "payment.failed" as const, id, previous: { failureCode: payment.failureCode } }]),
    ...(after.status === "canceled" && status !== "canceled"
      ? [{ type: "payment.canceled" as const, id, previous: { status } }]
      : []),
  ];
}

interface PaymentMovement {
  readonly payment: PaymentRow;
  readonly change: Partial<
    Pick<PaymentRow, "capturedMinor" | "voidedMinor" | "refundedMinor" | "failureCode">
  >;
  readonly now: Date;
}

function movePayment(
  transaction: Transaction,
  { payment, change, now }: PaymentMovement,
): Promise<PaymentRow> {
  const { amountMinor, capturedMinor, voidedMinor, refundedMinor } = { ...payment, ...change };
  return savePayment(transaction, {
    payment,
    patch: {
      ...change,
      status: derivePaymentStatus({ amountMinor, capturedMinor, voidedMinor, refundedMinor }),
    },
    now,
  });
}

/** A payment operation, which is a queued request to the payment provider, with the provider's outcome. */
export interface PaymentOperationWithOutcome {
  readonly operation: ClaimedPaymentOperation;
  readonly outcome: PaymentOperationOutcome;
  readonly log: Log;
}

/** Returns the failure code of a payment operation's outcome; null if the operation succeeded. */
export function getPaymentOperationFailureCode(outcome: PaymentOperationOutcome): string | null {
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
