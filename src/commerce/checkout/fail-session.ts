/**
 * A payment came to nothing: what the submission took is given back, and the buyer may try again while the
 * session lasts. What the provider may still do for a payment that nobody waits for any more is asked back by
 * an operation of its own.
 */
import type { CartCommandContext } from "#commerce/carts/change-cart.ts";
import type { ExpectedVersionInput } from "#commerce/carts/cart-aggregate.ts";
import { setStockHoldExpiry } from "#commerce/inventory/stock-holds.ts";
import { endAuthorizations, queueOperation } from "#commerce/payments/payment-operations.ts";
import { livePaymentOf, type PaymentRow, savePayment } from "#commerce/payments/payment-rows.ts";
import { releasePromotionUses } from "#commerce/promotions/promotion-uses.ts";
import type { Transaction } from "#database/transaction.ts";
import { type LockedSession, lockSession, saveSession, publishSessionEvent } from "./change-session.ts";
import { releaseSession } from "./release-sessions.ts";
import { keepAfterFailedPayment } from "./keep-personal-data.ts";
import { sessionFailure, requireProcessingSession } from "./session-aggregate.ts";

export const sessionFailReasons = ["buyer_gave_up", "provider_error", "other"] as const;
export type SessionFailReason = (typeof sessionFailReasons)[number];

export interface SessionFailInput extends ExpectedVersionInput {
  readonly sessionId: string;
  readonly reason: SessionFailReason;
}

/** Nobody waits for the provider's answer any more. Should it say later that it was paid, the money goes back. */
export async function failSession(
  transaction: Transaction,
  context: CartCommandContext,
  input: SessionFailInput,
): Promise<LockedSession> {
  const { cart, session } = await lockSession(transaction, context, input.sessionId);
  requireProcessingSession(session, input, context.now);
  const payment = await livePaymentOf(transaction, session.id);
  if (payment === undefined)
    throw sessionFailure("invalid_state", session, { now: context.now, reason: "no_payment" });
  if (payment.status !== "pending")
    throw sessionFailure("invalid_state", session, { now: context.now, reason: "payment_authorized" });
  return failLockedPayment(transaction, context, {
    cart,
    session,
    payment,
    failureCode: input.reason,
    isDeclined: false,
  });
}

export interface FailedPaymentInput extends LockedSession {
  readonly payment: PaymentRow;
  readonly failureCode: string;
  /** The provider has declined it; else it may still succeed there, and is asked to forget it. */
  readonly isDeclined: boolean;
}

export async function failLockedPayment(
  transaction: Transaction,
  context: CartCommandContext,
  failed: FailedPaymentInput,
): Promise<LockedSession> {
  const { cart, session, payment, failureCode, isDeclined } = failed;
  const { now } = context;
  if (isDeclined) {
    await savePayment(transaction, { payment, patch: { status: "failed", failureCode }, now });
    context.outbox.append({ type: "payment.failed", id: payment.id, previous: { status: payment.status } });
  } else {
    await abandonPayment(transaction, context, { payment, failureCode });
  }
  await releasePromotionUses(transaction, { sessionId: session.id, now });
  const expiresAt = new Date(session.expiresAt);
  await keepAfterFailedPayment(transaction, { cart, expiresAt, now });
  return expiresAt <= now
    ? expireSessionAfterFailure(transaction, context, failed)
    : reopenSession(transaction, context, failed);
}

/** The provider is asked to forget it, and for as long as it cannot tell it is asked what became of it. */
export async function abandonPayment(
  transaction: Transaction,
  { now, merchantId, outbox, events }: CartCommandContext,
  { payment, failureCode }: Pick<FailedPaymentInput, "payment" | "failureCode">,
): Promise<void> {
  await savePayment(transaction, { payment, patch: { status: "canceled", failureCode }, now });
  outbox.append({ type: "payment.canceled", id: payment.id, previous: { status: payment.status } });
  await endAuthorizations(transaction, { paymentId: payment.id, failureCode, now });
  await queueOperation(transaction, {
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
  { cart, session }: LockedSession,
): Promise<LockedSession> {
  await setStockHoldExpiry(transaction, { sessionId: session.id, expiresAt: new Date(session.expiresAt) });
  const after = await saveSession(transaction, context, {
    session,
    patch: { status: "open", submittedAt: null },
  });
  publishSessionEvent(context, "checkout_session.payment_failed", { before: session, after });
  return { cart, session: after };
}

/** Its time ran out while it was paid for. */
async function expireSessionAfterFailure(
  transaction: Transaction,
  context: CartCommandContext,
  { cart, session }: LockedSession,
): Promise<LockedSession> {
  context.outbox.append({
    type: "checkout_session.payment_failed",
    id: session.id,
    previous: { status: session.status },
  });
  return releaseSession(transaction, context, { cart, session, status: "expired" });
}
