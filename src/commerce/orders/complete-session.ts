/**
 * Turns a submitted checkout session into an order: at once if the total is 0, otherwise when the payment is
 * authorized.
 */
import type { ExpectedVersionInput } from "#commerce/carts/cart-status.ts";
import { lockCartAndCheckoutSession } from "#commerce/checkout/change-session.ts";
import {
  createCheckoutSessionConflictFailure,
  requireProcessingCheckoutSession,
  type LockedCartAndCheckoutSession,
} from "#commerce/checkout/session-aggregate.ts";
import { type SubmitCheckoutSessionInput, submitCheckoutSession } from "#commerce/checkout/submit-session.ts";
import { lockOpenCheckoutSessionPayment } from "#commerce/payments/payment-rows.ts";
import { processDueRows } from "#database/due-rows.ts";
import type { Transaction } from "#database/transaction.ts";
import {
  runOrderChangeAsSystem,
  type OrderCommandContext,
  type ServicesForSystemOrderChanges,
} from "./change-order.ts";
import { placeOrder, toOrderPayment } from "./place-order.ts";

/**
 * Submits a checkout session, and places the order if the total is 0. A transaction can save a cart only
 * once. If submitting has saved the cart, background work therefore places the order later, in another
 * transaction.
 */
export async function submitCheckoutSessionAndPlaceFreeOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  input: SubmitCheckoutSessionInput,
): Promise<LockedCartAndCheckoutSession> {
  const { cart, session, isCartChanged } = await submitCheckoutSession(transaction, context, input);
  if (session.amountTotalMinor > 0 || isCartChanged) return { cart, session };
  return placeOrder(transaction, context, { cart, session, payment: null });
}

export interface CompleteCheckoutSessionInput extends ExpectedVersionInput {
  readonly sessionId: string;
}

export async function completeCheckoutSessionAndPlaceOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  input: CompleteCheckoutSessionInput,
): Promise<LockedCartAndCheckoutSession> {
  const { cart, session } = await lockCartAndCheckoutSession(transaction, context, input.sessionId);
  requireProcessingCheckoutSession(session, input, context.now);
  const payment = await lockOpenCheckoutSessionPayment(transaction, session.id);
  const isReady = payment === undefined ? session.amountTotalMinor === 0 : payment.status === "authorized";
  if (!isReady)
    throw createCheckoutSessionConflictFailure("checkout_session_processing", session, { now: context.now });
  return placeOrder(transaction, context, {
    cart,
    session,
    payment: payment === undefined ? null : toOrderPayment(payment),
  });
}

/** Places the orders of submitted checkout sessions with a total of 0, and returns their number. */
export function placeOrdersOfFreeCheckouts(
  services: ServicesForSystemOrderChanges & { readonly signal?: AbortSignal | undefined },
): Promise<number> {
  const { db, signal } = services;
  return processDueRows({
    find: (after: FreeCheckout | undefined, rowsMax) =>
      db
        .selectFrom("hostedCheckoutSession")
        .select(["id", "merchantId"])
        .where("status", "=", "processing")
        .where("amountTotalMinor", "=", 0)
        .where("id", ">", after?.id ?? "")
        .orderBy("id")
        .limit(rowsMax)
        .execute(),
    handle: ({ id, merchantId }) =>
      runOrderChangeAsSystem(services, merchantId, (transaction, context) =>
        placeFreeCheckout(transaction, context, id),
      ),
    signal,
  });
}

interface FreeCheckout {
  readonly id: string;
  readonly merchantId: string;
}

async function placeFreeCheckout(
  transaction: Transaction,
  context: OrderCommandContext,
  sessionId: string,
): Promise<boolean> {
  const { cart, session } = await lockCartAndCheckoutSession(transaction, context, sessionId);
  if (session.status !== "processing" || session.amountTotalMinor !== 0) return false;
  await placeOrder(transaction, context, { cart, session, payment: null });
  return true;
}
