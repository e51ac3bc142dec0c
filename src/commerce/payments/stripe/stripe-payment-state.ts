/** Translates the state of a payment at Stripe (a Checkout Session with its PaymentIntent). */
import type Stripe from "stripe";
import type {
  PaymentLookupResult,
  PaymentProviderRequest,
  ProviderPaymentAmounts,
} from "#commerce/payments/provider.ts";
import { fromStripeAmount } from "./stripe-amounts.ts";
import { toFailureCode } from "./stripe-errors.ts";

type Session = Pick<Stripe.Checkout.Session, "status">;

/** The state of a payment whose page has expired before the buyer paid. */
const expiredPage = { outcome: "declined", code: "payment_page_expired" } as const;

export function toPaymentLookupResult(
  { status }: Session,
  intent: Stripe.PaymentIntent | undefined,
): PaymentLookupResult {
  if (intent !== undefined && heldStatuses.has(intent.status))
    return { outcome: "authorized", ...getStripePaymentAmounts(intent) };
  if (status === "expired") return expiredPage;
  // On an open page, the buyer can try again after a decline.
  return status === "complete" && intent !== undefined ? endedPageResult(intent) : { outcome: "pending" };
}

const heldStatuses: ReadonlySet<string> = new Set(["requires_capture", "succeeded"]);

/** Returns the state of a payment whose page is complete, but which Stripe does not hold. */
function endedPageResult(intent: Stripe.PaymentIntent): PaymentLookupResult {
  if (intent.status === "canceled") return { outcome: "voided", ...getStripePaymentAmounts(intent) };
  if (intent.status !== "requires_payment_method") return { outcome: "pending" };
  const { decline_code: declineCode, code } = intent.last_payment_error ?? {};
  return { outcome: "declined", code: toFailureCode(declineCode ?? code) };
}

/**
 * Returns the amounts of an authorized payment. Stripe captures a payment once and releases the rest, so
 * after a capture, everything that was not captured is voided.
 */
export function getStripePaymentAmounts(intent: Stripe.PaymentIntent): ProviderPaymentAmounts {
  const currency = intent.currency.toUpperCase();
  const charge = typeof intent.latest_charge === "string" ? null : intent.latest_charge;
  const minor = (amount: number): number => fromStripeAmount(amount, currency);
  const [amountMinor, capturedMinor] = [minor(intent.amount), minor(intent.amount_received)];
  return {
    amountMinor,
    capturedMinor,
    voidedMinor: intent.status === "requires_capture" ? 0 : amountMinor - capturedMinor,
    refundedMinor: minor(charge?.amount_refunded ?? 0),
  };
}

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
