/**
 * Converts amounts between the minor units of ISO 4217 and those of Stripe, which has other exponents for
 * three currencies: https://docs.stripe.com/currencies#special-cases.
 */
import { getCurrencyExponent } from "#foundation/money.ts";

const stripeExponents: Readonly<Record<string, number>> = { ISK: 2, UGX: 2, MGA: 0 };

const shiftOf = (currency: string): number =>
  (stripeExponents[currency] ?? getCurrencyExponent(currency)) - getCurrencyExponent(currency);

/** Throws if the amount cannot be charged by Stripe, for example 1.50 MGA. */
export function toStripeAmount(amountMinor: number, currency: string): number {
  const amount = amountMinor * 10 ** shiftOf(currency);
  if (!Number.isSafeInteger(amount))
    throw new Error(`Stripe cannot charge ${amountMinor} minor units of ${currency}.`);
  return amount;
}

export function fromStripeAmount(amount: number, currency: string): number {
  const amountMinor = amount / 10 ** shiftOf(currency);
  if (!Number.isSafeInteger(amountMinor))
    throw new Error(`Stripe has reported ${amount} of ${currency}, which is no whole number of minor units.`);
  return amountMinor;
}
