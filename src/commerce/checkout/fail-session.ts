/**
 * Saves that a payment has failed, and reopens its checkout session, so that the buyer can try again until
 * the session expires. Also releases the uses of promotions that were counted for the checkout. If the
 * payment may still succeed at the payment provider, queues a request to void it.
 */
import type { CartCommandContext } from "#commerce/carts/change-cart.ts";
import type { ExpectedVersionInput } from "#commerce/carts/cart-status.ts";
import { setStockHoldExpiry } from "#commerce/inventory/stock-holds.ts";
import {
  markPendingAuthorizationsFailed,
  queuePaymentOperation,
} from "#commerce/payments/payment-operations.ts";
import {
  lockOpenCheckoutSessionPayment,
  type PaymentRow,
  savePayment,
} from "#commerce/payments/payment-rows.ts";
import { releasePromotionUses } from "#commerce/promotions/promotion-uses.ts";
import type { Transaction } from "#database/transaction.ts";
import {
  lockCartAndCheckoutSession,
  saveCheckoutSession,
  publishCheckoutSessionEvent,
} from "./change-session.ts";
import { endCheckoutSessionAndUnlockCart } from "./release-sessions.ts";
import { setPersonalDataRetentionAfterFailedPayment } from "./keep-personal-data.ts";
import {
  createCheckoutSessionConflictFailure,
  requireProcessingCheckoutSession,
  type LockedCartAndCheckoutSession,
} from "./session-aggregate.ts";

export const sessionFailReasons = ["buyer_gave_up", "provider_error", "other"] as const;
export type CheckoutSessionFailReason = (typeof sessionFailReasons)[number];

export interface FailCheckoutSessionInput extends ExpectedVersionInput {
  readonly sessionId: string;
  readonly reason: CheckoutSessionFailReason;
}

/**
 * Marks a pending payment as failed because the caller asks for it. Reopens the checkout session, or ends the
 * session if its time is over. If the payment provider reports a success later, the money is refunded.
 */
export async function failPaymentOfCheckoutSession(
  transaction: Transaction,
  context: CartCommandContext,
  input: FailCheckoutSessionInput,
): Promise<LockedCartAndCheckoutSession> {
  const { cart, session } = await lockCartAndCheckoutSession(transaction, context, input.sessionId);
  requireProcessingCheckoutSession(session, input, context.now);
  const payment = await lockOpenCheckoutSessionPayment(transaction, session.id);
  if (payment === undefined)
    throw createCheckoutSessionConflictFailure("invalid_state", session, {
      now: context.now,
      reason: "no_payment",
    });
  if (payment.status !== "pending")
    throw createCheckoutSessionConflictFailure("invalid_state", session, {
      now: context.now,
      reason: "payment_authorized",
    });
  return recordFailedPayment(transaction, context, {
    cart,
    session,
    payment,
    failureCode: input.reason,
    isDeclined: false,
  });
}

export interface RecordFailedPaymentInput extends LockedCartAndCheckoutSession {
  readonly payment: PaymentRow;
  readonly failureCode: string;
  /**
   * True if the payment provider has declined the payment. False if the payment may still succeed at the
   * provider, so that it must be voided.
   */
  readonly isDeclined: boolean;
}

/**
 * Records that the payment of a checkout session has failed. Reopens the session, or ends it as expired if
 * its expiry time has passed.
 */
export async function recordFailedPayment(
  transaction: Transaction,
  context: CartCommandContext,
  input: RecordFailedPaymentInput,
): Promise<LockedCartAndCheckoutSession> {
  const { cart, session, payment, failureCode, isDeclined } = input;
  const { now } = context;
  if (isDeclined) {
    await savePayment(transaction, { payment, patch: { status: "failed", failureCode }, now });
    context.outbox.append({ type: "payment.failed", id: payment.id, previous: { status: payment.status } });
  } else {
    await cancelPaymentAndQueueVoid(transaction, context, { payment, failureCode });
  }
  await releasePromotionUses(transaction, { sessionId: session.id, now });
  const expiresAt = new Date(session.expiresAt);
  await setPersonalDataRetentionAfterFailedPayment(transaction, { cart, expiresAt, now });
  return expiresAt <= now
    ? expireSessionAfterFailure(transaction, context, input)
    : reopenSession(transaction, context, input);
}

/**
 * Cancels the payment and queues a request to the payment provider to void it. The request is repeated until
 * the provider reports the final status of the payment.
 */
export async function cancelPaymentAndQueueVoid(
  transaction: Transaction,
  { now, merchantId, outbox, events }: CartCommandContext,
  { payment, failureCode }: Pick<RecordFailedPaymentInput, "payment" | "failureCode">,
): Promise<void> {
  await savePayment(transaction, { payment, patch: { status: "canceled", failureCode }, now });
  outbox.append({ type: "payment.canceled", id: payment.id, previous: { status: payment.status } });
  await markPendingAuthorizationsFailed(transaction, { paymentId: payment.id, failureCode, now });
  await queuePaymentOperation(transaction, {
    merchantId,
    paymentId: payment.id,
    kind: "void",
    amountMinor: payment.amountMinor,
    now,
    events,
  });
}

async function reopenSession(
  transaction: Transaction,
  context: CartCommandContext,
  { cart, session }: LockedCartAndCheckoutSession,
): Promise<LockedCartAndCheckoutSession> {
  await setStockHoldExpiry(transaction, { sessionId: session.id, expiresAt: new Date(session.expiresAt) });
  const after = await saveCheckoutSession(transaction, context, {
    session,
    patch: { status: "open", submittedAt: null },
  });
  publishCheckoutSessionEvent(context, "checkout_session.payment_failed", { before: session, after });
  return { cart, session: after };
}

/** Ends a checkout session as expired, because its expiry time has passed during the payment. */
async function expireSessionAfterFailure(
  transaction: Transaction,
  context: CartCommandContext,
  { cart, session }: LockedCartAndCheckoutSession,
): Promise<LockedCartAndCheckoutSession> {
  context.outbox.append({
    type: "checkout_session.payment_failed",
    id: session.id,
    previous: { status: session.status },
  });
  return endCheckoutSessionAndUnlockCart(transaction, context, { cart, session, status: "expired" });
}
