/**
 * Converts amounts between the minor units of this service and those of Stripe. The numbers of decimal places
 * differ: Stripe has its own table (https://docs.stripe.com/currencies#zero-decimal). This service uses the
 * table of ICU, in which for example HUF, IDR and ISK have no decimal places.
 */
import { getCurrencyExponent } from "#foundation/money.ts";

const zeroDecimalCurrencies: ReadonlySet<string> = new Set(
  "BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split(" "),
);
/** Currencies with three decimal places. Stripe accepts their amounts only if the last digit is 0. */
const threeDecimalCurrencies: ReadonlySet<string> = new Set("BHD JOD KWD OMR TND".split(" "));

function getStripeExponent(currency: string): number {
  if (zeroDecimalCurrencies.has(currency)) return 0;
  return threeDecimalCurrencies.has(currency) ? 3 : 2;
}

/**
 * Multiplies an amount by 10 to the power of `digits`. A negative `digits` divides by an integer, because a
 * product with 0.1 would not be exact.
 */
const shift = (amount: number, digits: number): number =>
  digits < 0 ? amount / 10 ** -digits : amount * 10 ** digits;

const getShift = (currency: string): number => getStripeExponent(currency) - getCurrencyExponent(currency);

/** Returns true if Stripe can charge the amount. Amounts in KWD, for example, must end in 0. */
export function canStripeChargeAmount(amountMinor: number, currency: string): boolean {
  const amount = shift(amountMinor, getShift(currency));
  return Number.isSafeInteger(amount) && (!threeDecimalCurrencies.has(currency) || amount % 10 === 0);
}

/**
 * Converts an amount to Stripe's minor units. Throws if Stripe cannot charge the amount, for example 1.505
 * KWD.
 */
export function toStripeAmount(amountMinor: number, currency: string): number {
  if (!canStripeChargeAmount(amountMinor, currency))
    throw new Error(`Stripe cannot charge ${amountMinor} minor units of ${currency}.`);
  return shift(amountMinor, getShift(currency));
}

/**
 * Converts an amount that the merchant chose at Stripe, for example a refund of 0.50 HUF in the dashboard.
 * Rounds up to whole minor units, so that the service never owes or refunds more than Stripe still holds.
 */
export const convertStripeAmountRoundingUp = (amount: number, currency: string): number =>
  Math.ceil(shift(amount, -getShift(currency)));

export function convertStripeAmountToMinorUnits(amount: number, currency: string): number {
  const amountMinor = shift(amount, -getShift(currency));
  if (!Number.isSafeInteger(amountMinor))
    throw new Error(`Stripe has reported ${amount} of ${currency}, which is no whole number of minor units.`);
  return amountMinor;
}
