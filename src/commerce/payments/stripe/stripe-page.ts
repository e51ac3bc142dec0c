/** Builds the payment page of Stripe (a Checkout Session) for a payment. */
import type Stripe from "stripe";
import { stripePageMs } from "#commerce/payments/provider-list.ts";
import type { PaymentPageContent, PaymentProviderAuthorizationRequest } from "#commerce/payments/provider.ts";
import { canStripeChargeAmount, toStripeAmount } from "./stripe-amounts.ts";

/** The names of the Stripe metadata fields in which Stripe stores ids of this service. */
export const paymentMetadataName = "commerce_payment";
export const operationMetadataName = "commerce_operation";
const sessionMetadataName = "commerce_checkout_session";

/** The shortest time after which Stripe lets a payment page expire, in milliseconds. */
const shortestPageMs = 30 * 60_000;

export const getStripePaymentPageExpiry = ({ startedAt }: PaymentPageContent): Date =>
  new Date(startedAt.getTime() + stripePageMs);

/**
 * Returns true if Stripe still accepts a new page for the payment: at least 30 minutes are left before the
 * page expires.
 */
export const canCreateStripePaymentPage = (content: PaymentPageContent, now: Date): boolean =>
  getStripePaymentPageExpiry(content).getTime() - now.getTime() >= shortestPageMs;

/**
 * Returns the parameters of the payment page. They are the same in each attempt, because Stripe refuses a
 * repeated idempotency key with other parameters.
 */
export function createStripePaymentPageParameters(
  { reference, currency }: Pick<PaymentProviderAuthorizationRequest, "reference" | "currency">,
  content: PaymentPageContent,
): Stripe.Checkout.SessionCreateParams {
  const metadata = { [paymentMetadataName]: reference, [sessionMetadataName]: content.sessionId };
  return {
    mode: "payment",
    client_reference_id: reference,
    metadata,
    payment_intent_data: { capture_method: "manual", metadata },
    // Adaptive pricing is disabled, so that the buyer pays the total and the currency that the checkout page
    // has shown.
    adaptive_pricing: { enabled: false },
    expires_at: Math.floor(getStripePaymentPageExpiry(content).getTime() / 1000),
    success_url: content.paidUrl,
    cancel_url: content.canceledUrl,
    line_items: toPayableLines(content, currency).map(({ name, amountMinor }) => ({
      quantity: 1,
      price_data: {
        currency: currency.toLowerCase(),
        unit_amount: toStripeAmount(amountMinor, currency),
        product_data: { name },
      },
    })),
  };
}

/**
 * Returns the lines of the payment page. If Stripe cannot charge the amount of a line, for example 1.505 KWD,
 * returns a single line with the total. The checkout has checked that Stripe can charge the total.
 */
function toPayableLines(
  { orderName, lines }: Pick<PaymentPageContent, "orderName" | "lines">,
  currency: string,
): PaymentPageContent["lines"] {
  if (lines.every(({ amountMinor }) => canStripeChargeAmount(amountMinor, currency))) return lines;
  return [{ name: orderName, amountMinor: lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0) }];
}
