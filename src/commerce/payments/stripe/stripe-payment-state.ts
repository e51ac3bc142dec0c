/**
 * Converts the state of a payment at Stripe (a Checkout Session with its PaymentIntent) to the form that all
 * payment providers share.
 */
import type Stripe from "stripe";
import type {
  PaymentLookupResult,
  PaymentProviderRequest,
  PaymentAmountsAtProvider,
} from "#commerce/payments/provider.ts";
import { convertStripeAmountToMinorUnits, convertStripeAmountRoundingUp } from "./stripe-amounts.ts";
import { normalizeStripeErrorCode } from "./stripe-errors.ts";

/**
 * A payment at Stripe: its Checkout Session, its PaymentIntent, and the sum of its refunds in Stripe's minor
 * units.
 */
interface StripePayment {
  readonly session: Pick<Stripe.Checkout.Session, "status">;
  /** The PaymentIntent of the payment; undefined if the buyer has not tried to pay. */
  readonly intent: Stripe.PaymentIntent | undefined;
  readonly refundedAmount: number;
}

/** The state of a payment whose page has expired before the buyer paid. */
const expiredPage = { outcome: "declined", code: "payment_page_expired" } as const;

export function toPaymentLookupResult({
  session: { status },
  intent,
  refundedAmount,
}: StripePayment): PaymentLookupResult {
  if (intent !== undefined && heldStatuses.has(intent.status))
    return { outcome: "authorized", ...toAmounts(intent, refundedAmount) };
  if (status === "expired") return expiredPage;
  // While the page is open, a declined payment stays pending, because the buyer can try again.
  return status === "complete" && intent !== undefined ? endedPageResult(intent) : { outcome: "pending" };
}

const heldStatuses: ReadonlySet<string> = new Set(["requires_capture", "succeeded"]);

/**
 * Returns the state of a payment whose Checkout Session is complete, but whose amount Stripe has not
 * authorized.
 */
function endedPageResult(intent: Stripe.PaymentIntent): PaymentLookupResult {
  if (intent.status === "canceled") return { outcome: "voided", ...toAmounts(intent, 0) };
  if (intent.status !== "requires_payment_method") return { outcome: "pending" };
  const { decline_code: declineCode, code } = intent.last_payment_error ?? {};
  return { outcome: "declined", code: normalizeStripeErrorCode(declineCode ?? code) };
}

function toAmounts(intent: Stripe.PaymentIntent, refundedAmount: number): PaymentAmountsAtProvider {
  const currency = intent.currency.toUpperCase();
  return {
    amountMinor: convertStripeAmountToMinorUnits(intent.amount, currency),
    capturedMinor: convertStripeAmountToMinorUnits(intent.amount_received, currency),
    voidedMinor: getReleasedAuthorizationAmountMinor(intent),
    refundedMinor: convertStripeAmountRoundingUp(refundedAmount, currency),
  };
}

/**
 * Returns the part of an authorization that Stripe has released, in minor units. Stripe captures a payment
 * once and releases the rest, so after a capture, everything that was not captured is released.
 */
export const getReleasedAuthorizationAmountMinor = ({
  amount,
  amount_received: received,
  ...intent
}: Stripe.PaymentIntent): number =>
  intent.status === "requires_capture"
    ? 0
    : convertStripeAmountToMinorUnits(amount - received, intent.currency.toUpperCase());

/** Returns true if Stripe reports refunds of the payment. Some of these refunds may have failed. */
export const hasStripeRefunds = ({ latest_charge: charge }: Stripe.PaymentIntent): boolean =>
  charge !== null && typeof charge !== "string" && charge.amount_refunded > 0;

/**
 * Returns the PaymentIntent of a Checkout Session that was read with `expand`; undefined if the buyer has not
 * tried to pay.
 */
export const getExpandedPaymentIntent = ({
  payment_intent: intent,
}: Pick<Stripe.Checkout.Session, "payment_intent">): Stripe.PaymentIntent | undefined =>
  intent === null || typeof intent === "string" ? undefined : intent;

/**
 * A request about an authorized payment, with the Stripe client and the PaymentIntent's id, which are needed
 * to send it.
 */
export interface StripePaymentRequest {
  readonly client: Stripe;
  readonly intentId: string;
  readonly request: PaymentProviderRequest;
}
