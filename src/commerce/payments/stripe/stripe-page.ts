/** The payment page of Stripe (a Checkout Session) for a payment. */
import type Stripe from "stripe";
import { stripePageMs } from "#commerce/payments/provider-list.ts";
import type { PaymentPageContent, PaymentProviderAuthorizationRequest } from "#commerce/payments/provider.ts";
import { isStripeAmount, toStripeAmount } from "./stripe-amounts.ts";

/** The names under which Stripe stores the ids of this service with its objects. */
export const paymentMetadataName = "commerce_payment";
export const operationMetadataName = "commerce_operation";
const sessionMetadataName = "commerce_checkout_session";

/** The shortest time for which Stripe opens a page, in milliseconds. */
const shortestPageMs = 30 * 60_000;

export const getStripePageExpiry = ({ startedAt }: PaymentPageContent): Date =>
  new Date(startedAt.getTime() + stripePageMs);

/** Returns whether Stripe still accepts a new page for a payment: the page must stay open for 30 minutes. */
export const canStripePageBeOpened = (content: PaymentPageContent, now: Date): boolean =>
  getStripePageExpiry(content).getTime() - now.getTime() >= shortestPageMs;

/**
 * Returns the parameters of the page. They are the same in each attempt, because Stripe refuses an
 * idempotency key that comes with other parameters.
 */
export function createStripePageParameters(
  { reference, currency }: Pick<PaymentProviderAuthorizationRequest, "reference" | "currency">,
  content: PaymentPageContent,
): Stripe.Checkout.SessionCreateParams {
  const metadata = { [paymentMetadataName]: reference, [sessionMetadataName]: content.sessionId };
  return {
    mode: "payment",
    client_reference_id: reference,
    metadata,
    payment_intent_data: { capture_method: "manual", metadata },
    // The buyer pays exactly the total that the checkout page has shown, in its currency.
    adaptive_pricing: { enabled: false },
    expires_at: Math.floor(getStripePageExpiry(content).getTime() / 1000),
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
 * Returns the lines of the page. If Stripe cannot charge the amount of a line, for example 1.505 KWD, returns
 * one line with the total, which the checkout has checked.
 */
function toPayableLines(
  { orderName, lines }: Pick<PaymentPageContent, "orderName" | "lines">,
  currency: string,
): PaymentPageContent["lines"] {
  if (lines.every(({ amountMinor }) => isStripeAmount(amountMinor, currency))) return lines;
  return [{ name: orderName, amountMinor: lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0) }];
}
