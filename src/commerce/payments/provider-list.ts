/** The payment providers that the service knows, with the properties that the rules of checkouts need. */
import { canStripeChargeAmount } from "./stripe/stripe-amounts.ts";

interface PaymentProviderTraits {
  /**
   * Time from the creation of an authorization to its timeout, in milliseconds. The buyer's checkout session
   * waits for the authorization until then.
   */
  readonly authorizationTimeoutMs: number;
  /**
   * True if the buyer pays on a page of the provider. The checkout page then sends no payment token, and
   * leads the buyer to the provider's page.
   */
  readonly hasPaymentPage: boolean;
  /** Returns true if the provider can charge the amount, which is in minor units of the currency. */
  readonly canCharge: (amountMinor: number, currency: string) => boolean;
}

const minuteMs = 60_000;

/**
 * How long a payment page of Stripe accepts a payment, in milliseconds from the start of the payment. Stripe
 * requires at least 30 minutes from the opening of the page. The page may be opened some minutes after the
 * start of the payment, for example after an outage.
 */
export const stripePageMs = 36 * minuteMs;

export const paymentProviderTraits = {
  test: { authorizationTimeoutMs: 15 * minuteMs, hasPaymentPage: false, canCharge: () => true },
  stripe: {
    authorizationTimeoutMs: stripePageMs + 4 * minuteMs,
    hasPaymentPage: true,
    canCharge: canStripeChargeAmount,
  },
} as const satisfies Record<string, PaymentProviderTraits>;

export type PaymentProviderName = keyof typeof paymentProviderTraits;
/** The payment providers at which a merchant can connect an account. */
export const connectedProviderNames = ["stripe"] as const satisfies readonly PaymentProviderName[];
export type ConnectablePaymentProviderName = (typeof connectedProviderNames)[number];
