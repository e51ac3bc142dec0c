/**
 * Saves the outcome of a payment operation, which is a queued request to the payment provider. Updates the
 * payment or refund, and its order or checkout session. Does nothing if the outcome was saved before.
 */
import { cancelPaymentAndQueueVoid, recordFailedPayment } from "#commerce/checkout/fail-session.ts";
import { lockCartAndCheckoutSession } from "#commerce/checkout/change-session.ts";
import type { PaymentOperationOutcome } from "#commerce/payments/execute-payment-operation.ts";
import {
  type ClaimedPaymentOperation,
  recordPaymentOperationResult,
} from "#commerce/payments/payment-operations.ts";
import type { AuthorizedPaymentResult } from "#commerce/payments/provider.ts";
import {
  lockPayment,
  type PaymentRow,
  savePayment,
  derivePaymentStatus,
} from "#commerce/payments/payment-rows.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Log } from "#foundation/log.ts";
import {
  runOrderChangeAsSystem,
  type OrderCommandContext,
  type ServicesForSystemOrderChanges,
} from "#commerce/orders/change-order.ts";
import { placeOrder, toOrderPayment } from "#commerce/orders/place-order.ts";
import {
  saveVoidOutcomeOfAbandonedPayment,
  saveRefundOutcomeOfLatePayment,
} from "./settle-abandoned-payment.ts";
import { type PaymentOperationWithOutcome, saveCaptureVoidOrRefundOutcome } from "./settle-movement.ts";

export function savePaymentOperationOutcomeAsSystem(
  services: ServicesForSystemOrderChanges & { readonly log: Log },
  operation: ClaimedPaymentOperation,
  outcome: PaymentOperationOutcome,
): Promise<void> {
  return runOrderChangeAsSystem(services, operation.merchantId, (transaction, context) =>
    savePaymentOperationOutcome(transaction, context, { operation, outcome, log: services.log }),
  );
}

export async function savePaymentOperationOutcome(
  transaction: Transaction,
  context: OrderCommandContext,
  settling: PaymentOperationWithOutcome,
): Promise<void> {
  const { kind, paymentId } = settling.operation;
  if (kind === "authorize") return settleAuthorization(transaction, context, settling);
  const { orderId, sessionId } = await transaction
    .selectFrom("payment")
    .select(["orderId", "sessionId"])
    .where("id", "=", paymentId)
    .executeTakeFirstOrThrow();
  if (orderId !== null) return saveCaptureVoidOrRefundOutcome(transaction, context, { ...settling, orderId });
  await lockCartAndCheckoutSession(transaction, context, sessionId);
  return kind === "void"
    ? saveVoidOutcomeOfAbandonedPayment(transaction, context, settling)
    : saveRefundOutcomeOfLatePayment(transaction, context, settling);
}

async function settleAuthorization(
  transaction: Transaction,
  context: OrderCommandContext,
  { operation, outcome, log }: PaymentOperationWithOutcome,
): Promise<void> {
  const { now } = context;
  const { sessionId } = await transaction
    .selectFrom("payment")
    .select("sessionId")
    .where("id", "=", operation.paymentId)
    .executeTakeFirstOrThrow();
  const { cart, session } = await lockCartAndCheckoutSession(transaction, context, sessionId);
  const isAgreedAmount = outcome.outcome === "authorized" && isWhole(outcome, session.amountTotalMinor);
  const failureCode = isAgreedAmount ? null : codeOf(outcome);
  if (!(await recordPaymentOperationResult(transaction, { id: operation.id, failureCode, now }))) return;
  const payment = await lockPayment(transaction, operation.paymentId);
  if (session.status !== "processing") {
    // The checkout session no longer waits for this payment. If the payment belongs to an order, nothing
    // changes. Without an order, the provider's answer came too late: a declined payment is saved as failed,
    // and any other payment is canceled and voided.
    if (payment.orderId !== null) return;
    if (outcome.outcome === "declined")
      return failPayment(transaction, context, { payment, failureCode: outcome.code });
    return cancelPaymentAndQueueVoid(transaction, context, { payment, failureCode: "late" });
  }
  if (outcome.outcome === "authorized" && isAgreedAmount) {
    await placeOrder(transaction, context, {
      cart,
      session,
      payment: toOrderPayment(await saveAuthorization(transaction, { payment, held: outcome, now })),
    });
    return;
  }
  if (outcome.outcome === "authorized")
    log.error({ paymentId: payment.id, sessionId }, "The provider authorized another amount than requested.");
  await recordFailedPayment(transaction, context, {
    cart,
    session,
    payment,
    failureCode: failureCode ?? "other",
    isDeclined: outcome.outcome === "declined",
  });
}

async function failPayment(
  transaction: Transaction,
  { now, outbox }: OrderCommandContext,
  { payment, failureCode }: { readonly payment: PaymentRow; readonly failureCode: string },
): Promise<void> {
  await savePayment(transaction, { payment, patch: { status: "failed", failureCode }, now });
  outbox.append({ type: "payment.failed", id: payment.id, previous: { status: payment.status } });
}

/** Returns true if the whole total of the checkout is authorized, and no part of it is voided or refunded. */
function isWhole(
  { amountMinor, voidedMinor, refundedMinor }: AuthorizedPaymentResult,
  agreedMinor: number,
): boolean {
  return amountMinor === agreedMinor && voidedMinor === 0 && refundedMinor === 0;
}

function codeOf(outcome: PaymentOperationOutcome): string {
  if (outcome.outcome === "declined") return outcome.code;
  return outcome.outcome === "authorized" ? "amount_mismatch" : "timed_out";
}

function saveAuthorization(
  transaction: Transaction,
  {
    payment,
    held,
    now,
  }: { readonly payment: PaymentRow; readonly held: AuthorizedPaymentResult; readonly now: Date },
): Promise<PaymentRow> {
  const { amountMinor, capturedMinor, voidedMinor, refundedMinor } = held;
  const amounts = { amountMinor, capturedMinor, voidedMinor, refundedMinor };
  return savePayment(transaction, {
    payment,
    patch: { ...amounts, status: derivePaymentStatus(amounts) },
    now,
  });
}
