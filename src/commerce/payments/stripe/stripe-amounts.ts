/**
 * Converts amounts between the minor units of this service and those of Stripe, which has its own table of
 * exponents: https://docs.stripe.com/currencies#zero-decimal. The exponents of this service come from ICU,
 * which counts for example HUF, IDR and ISK without decimals.
 */
import { getCurrencyExponent } from "#foundation/money.ts";

const zeroDecimalCurrencies: ReadonlySet<string> = new Set(
  "BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split(" "),
);
/** Stripe accepts amounts of these currencies only if their last digit is 0. */
const threeDecimalCurrencies: ReadonlySet<string> = new Set("BHD JOD KWD OMR TND".split(" "));

function getStripeExponent(currency: string): number {
  if (zeroDecimalCurrencies.has(currency)) return 0;
  return threeDecimalCurrencies.has(currency) ? 3 : 2;
}

/** Multiplies or divides by a power of ten. A division of integers is exact, unlike a product with 0.1. */
const shift = (amount: number, digits: number): number =>
  digits < 0 ? amount / 10 ** -digits : amount * 10 ** digits;

const getShift = (currency: string): number => getStripeExponent(currency) - getCurrencyExponent(currency);

/** Returns whether Stripe can charge an amount: amounts of KWD, for example, must end in 0. */
export function isStripeAmount(amountMinor: number, currency: string): boolean {
  const amount = shift(amountMinor, getShift(currency));
  return Number.isSafeInteger(amount) && (!threeDecimalCurrencies.has(currency) || amount % 10 === 0);
}

/** Throws if Stripe cannot charge the amount, for example 1.505 KWD. */
export function toStripeAmount(amountMinor: number, currency: string): number {
  if (!isStripeAmount(amountMinor, currency))
    throw new Error(`Stripe cannot charge ${amountMinor} minor units of ${currency}.`);
  return shift(amountMinor, getShift(currency));
}

/**
 * Converts an amount that the merchant chose at Stripe, for example of a refund of 0.50 HUF in the dashboard.
 * A part of a minor unit counts as a whole one, so that the service never owes or refunds more than Stripe
 * still holds.
 */
export const fromStripeAmountRoundedUp = (amount: number, currency: string): number =>
  Math.ceil(shift(amount, -getShift(currency)));

export function fromStripeAmount(amount: number, currency: string): number {
  const amountMinor = shift(amount, -getShift(currency));
  if (!Number.isSafeInteger(amountMinor))
    throw new Error(`Stripe has reported ${amount} of ${currency}, which is no whole number of minor units.`);
  return amountMinor;
}
