/**
 * Amounts of money. An amount has an integer number of minor units (for example cents), a currency (ISO 4217)
 * and the number of decimal digits of the currency (exponent). Amounts are never floating-point numbers.
 */
export interface Money {
  readonly amountMinor: number;
  readonly currency: string;
  readonly exponent: number;
}

export const amountMinorMax = Number.MAX_SAFE_INTEGER;

const currencies = new Set(Intl.supportedValuesOf("currency"));
const exponents = new Map<string, number>();

export function isCurrencyCode(text: string): boolean {
  return currencies.has(text);
}

/** Returns the number of decimal digits that ISO 4217 assigns to a currency: 0 for JPY, 2 for EUR, 3 for KWD. */
export function getCurrencyExponent(currency: string): number {
  let exponent = exponents.get(currency);
  if (exponent === undefined) {
    exponent =
      new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ??
      2;
    exponents.set(currency, exponent);
  }
  return exponent;
}

export function createMoney(amountMinor: number, currency: string): Money {
  return { amountMinor, currency, exponent: getCurrencyExponent(currency) };
}
