/**
 * Stripe as a payment provider. The buyer pays on a page of Stripe (Checkout), so that cards, wallets and 3-D
 * Secure stay with Stripe, and no card data reaches this service. The payment is authorized there and
 * captured later. Each request has the idempotency key of its payment operation. An error whose outcome is
 * unknown is thrown, so that the driver repeats the request.
 */
import type Stripe from "stripe";
import {
  findPaymentPage,
  type PaymentPageRow,
  recordPaymentIntentId,
  recordPaymentPage,
} from "#commerce/payments/payment-pages.ts";
import type {
  CaptureVoidOrRefundResult,
  PaymentAuthorizationResult,
  PaymentLookupResult,
  PaymentProvider,
  PaymentProviderAuthorizationRequest,
  PaymentProviderRequest,
} from "#commerce/payments/provider.ts";
import { canStripeChargeAmount, toStripeAmount } from "./stripe-amounts.ts";
import { openStripeClientForConnection, type StripeServices } from "./stripe-client.ts";
import { getStripeRefusalCode, isStripeKeyRefusalError } from "./stripe-errors.ts";
import {
  canCreateStripePaymentPage,
  createStripePaymentPageParameters,
  getStripePaymentPageExpiry,
  operationMetadataName,
} from "./stripe-page.ts";
import {
  getExpandedPaymentIntent,
  getReleasedAuthorizationAmountMinor,
  hasStripeRefunds,
  type StripePaymentRequest,
  toPaymentLookupResult,
} from "./stripe-payment-state.ts";
import { refundStripePayment, sumStripeRefunds } from "./stripe-refunds.ts";

export function createStripeProvider(services: StripeServices): PaymentProvider {
  return {
    authorize: (request) => openPage(services, request),
    capture: (request) => withIntent(services, request, capture),
    void: (request) => voidPayment(services, request),
    refund: (request) => withIntent(services, request, refundStripePayment),
    lookup: async ({ connectionId, reference }) => {
      const page = await findPaymentPage(services.db, reference);
      if (page === undefined) return { outcome: "unknown" };
      const { client } = await openStripeClientForConnection(services, connectionId);
      return (await readPayment(services, client, page)).state;
    },
  };
}

async function openPage(
  services: StripeServices,
  request: PaymentProviderAuthorizationRequest,
): Promise<PaymentAuthorizationResult> {
  const { connectionId, reference, idempotencyKey, checkout } = request;
  if (connectionId === null || checkout === null)
    throw new Error(`Payment ${reference} needs a connection and a checkout to be paid at Stripe.`);
  const now = services.clock.now();
  if (!canCreateStripePaymentPage(checkout, now))
    return { outcome: "declined", code: "provider_unavailable" };
  try {
    const { client } = await openStripeClientForConnection(services, connectionId);
    const { id: pageId, url } = await client.checkout.sessions.create(
      createStripePaymentPageParameters(request, checkout),
      { idempotencyKey },
    );
    if (url === null) throw new Error(`Stripe has returned no URL for the page ${pageId}.`);
    const expiresAt = getStripePaymentPageExpiry(checkout);
    await recordPaymentPage(services.db, { reference, connectionId, pageId, url, expiresAt, createdAt: now });
    return { outcome: "pending" };
  } catch (error) {
    // Declines the payment if Stripe does not accept the key. A buyer is waiting, and the key will not work
    // within minutes.
    if (isStripeKeyRefusalError(error)) return { outcome: "declined", code: "provider_unavailable" };
    const code = getStripeRefusalCode(error);
    if (code === undefined) throw error;
    return { outcome: "declined", code };
  }
}

interface PaymentAtStripe {
  readonly session: Stripe.Checkout.Session;
  readonly intent: Stripe.PaymentIntent | undefined;
  readonly state: PaymentLookupResult;
}

/** Reads the present state of a payment at Stripe, and stores the id of its PaymentIntent. */
async function readPayment(
  { db }: Pick<StripeServices, "db">,
  client: Stripe,
  { pageId, reference, intentId }: PaymentPageRow,
): Promise<PaymentAtStripe> {
  const session = await client.checkout.sessions.retrieve(pageId, {
    expand: ["payment_intent.latest_charge"],
  });
  const intent = getExpandedPaymentIntent(session);
  if (intent !== undefined && intent.id !== intentId)
    await recordPaymentIntentId(db, { reference, intentId: intent.id });
  const refundedAmount =
    intent !== undefined && hasStripeRefunds(intent) ? await sumStripeRefunds(client, intent.id) : 0;
  return { session, intent, state: toPaymentLookupResult({ session, intent, refundedAmount }) };
}

async function withIntent(
  services: StripeServices,
  request: PaymentProviderRequest,
  work: (payment: StripePaymentRequest) => Promise<CaptureVoidOrRefundResult>,
): Promise<CaptureVoidOrRefundResult> {
  if (!canStripeChargeAmount(request.amountMinor, request.currency))
    return { outcome: "declined", code: "currency_not_payable" };
  const page = await findPaymentPage(services.db, request.reference);
  if (page === undefined) return { outcome: "declined", code: "payment_unknown" };
  const { client } = await openStripeClientForConnection(services, request.connectionId);
  const intentId = page.intentId ?? (await readPayment(services, client, page)).intent?.id;
  return intentId === undefined
    ? { outcome: "declined", code: "payment_not_authorized" }
    : work({ client, intentId, request });
}

async function capture({
  client,
  intentId,
  request,
}: StripePaymentRequest): Promise<CaptureVoidOrRefundResult> {
  const { amountMinor, currency, idempotencyKey } = request;
  try {
    const captured = await client.paymentIntents.capture(
      intentId,
      {
        amount_to_capture: toStripeAmount(amountMinor, currency),
        metadata: { [operationMetadataName]: idempotencyKey },
      },
      { idempotencyKey },
    );
    return capturedResult(captured);
  } catch (error) {
    const code = getStripeRefusalCode(error);
    if (code === undefined) throw error;
    const now = await client.paymentIntents.retrieve(intentId);
    if (now.status === "canceled")
      return {
        outcome: "declined",
        code: "authorization_expired",
        releasedMinor: getReleasedAuthorizationAmountMinor(now),
      };
    // Stripe captures a payment only once. If this operation has made the capture, the answer to an earlier
    // attempt was lost.
    const isCaptured = now.status === "succeeded" && now.metadata[operationMetadataName] === idempotencyKey;
    return isCaptured ? capturedResult(now) : { outcome: "declined", code };
  }
}

function capturedResult(intent: Stripe.PaymentIntent): CaptureVoidOrRefundResult {
  const releasedMinor = getReleasedAuthorizationAmountMinor(intent);
  return { outcome: "succeeded", ...(releasedMinor > 0 ? { releasedMinor } : {}) };
}

/**
 * Voids a payment at Stripe: closes the page if the payment is not authorized yet, otherwise cancels the
 * authorization. Stripe cannot void a part of an authorization, so the whole rest is voided.
 */
async function voidPayment(
  services: StripeServices,
  { connectionId, reference, idempotencyKey }: PaymentProviderRequest,
): Promise<CaptureVoidOrRefundResult> {
  const page = await findPaymentPage(services.db, reference);
  // Without a stored page, the void succeeds: the buyer never got the URL of the page, so no buyer can pay on
  // it.
  if (page === undefined) return { outcome: "succeeded" };
  const { client } = await openStripeClientForConnection(services, connectionId);
  const { session, intent, state } = await readPayment(services, client, page);
  try {
    if (session.status === "open" && state.outcome === "pending") {
      await client.checkout.sessions.expire(page.pageId, {}, { idempotencyKey: `${idempotencyKey}:expire` });
      return { outcome: "succeeded" };
    }
    if (intent?.status === "requires_capture") {
      await client.paymentIntents.cancel(intent.id, {}, { idempotencyKey: `${idempotencyKey}:cancel` });
      return { outcome: "succeeded" };
    }
  } catch (error) {
    if (getStripeRefusalCode(error) === undefined) throw error;
    // Stripe has refused the request, because the payment has changed since it was read. For example, the
    // buyer has just paid.
    return { outcome: "pending" };
  }
  if (state.outcome === "pending") return { outcome: "pending" };
  return state.outcome === "authorized"
    ? { outcome: "declined", code: "payment_captured" }
    : { outcome: "succeeded" };
}
