/** Translates the state of a payment at Stripe (a Checkout Session with its PaymentIntent). */
import type Stripe from "stripe";
import type {
  PaymentLookupResult,
  PaymentProviderRequest,
  ProviderPaymentAmounts,
} from "#commerce/payments/provider.ts";
import { fromStripeAmount, fromStripeAmountRoundedUp } from "./stripe-amounts.ts";
import { toFailureCode } from "./stripe-errors.ts";

/** A payment at Stripe: its page, its PaymentIntent and the sum of its refunds, in Stripe's units. */
interface StripePayment {
  readonly session: Pick<Stripe.Checkout.Session, "status">;
  /** Undefined if the buyer has not tried to pay. */
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
  // On an open page, the buyer can try again after a decline.
  return status === "complete" && intent !== undefined ? endedPageResult(intent) : { outcome: "pending" };
}

const heldStatuses: ReadonlySet<string> = new Set(["requires_capture", "succeeded"]);

/** Returns the state of a payment whose page is complete, but which Stripe does not hold. */
function endedPageResult(intent: Stripe.PaymentIntent): PaymentLookupResult {
  if (intent.status === "canceled") return { outcome: "voided", ...toAmounts(intent, 0) };
  if (intent.status !== "requires_payment_method") return { outcome: "pending" };
  const { decline_code: declineCode, code } = intent.last_payment_error ?? {};
  return { outcome: "declined", code: toFailureCode(declineCode ?? code) };
}

function toAmounts(intent: Stripe.PaymentIntent, refundedAmount: number): ProviderPaymentAmounts {
  const currency = intent.currency.toUpperCase();
  return {
    amountMinor: fromStripeAmount(intent.amount, currency),
    capturedMinor: fromStripeAmount(intent.amount_received, currency),
    voidedMinor: getReleasedMinor(intent),
    refundedMinor: fromStripeAmountRoundedUp(refundedAmount, currency),
  };
}

/**
 * Returns the amount of an authorization that Stripe has released. Stripe captures a payment once and
 * releases the rest, so after a capture, everything that was not captured is released.
 */
export const getReleasedMinor = ({
  amount,
  amount_received: received,
  ...intent
}: Stripe.PaymentIntent): number =>
  intent.status === "requires_capture"
    ? 0
    : fromStripeAmount(amount - received, intent.currency.toUpperCase());

/** Returns whether a payment has refunds; some of them may have failed. */
export const hasStripeRefunds = ({ latest_charge: charge }: Stripe.PaymentIntent): boolean =>
  charge !== null && typeof charge !== "string" && charge.amount_refunded > 0;

/** The PaymentIntent of a page that was read with `expand`; undefined if the buyer has not tried to pay. */
export const getExpandedIntent = ({
  payment_intent: intent,
}: Pick<Stripe.Checkout.Session, "payment_intent">): Stripe.PaymentIntent | undefined =>
  intent === null || typeof intent === "string" ? undefined : intent;

/** What a request about an authorized payment needs. */
export interface StripePaymentRequest {
  readonly client: Stripe;
  readonly intentId: string;
  readonly request: PaymentProviderRequest;
}
