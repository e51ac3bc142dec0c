/** Creates the names and amounts in the yardstick's answers. */
import { createLocaleChain } from "./locales.ts";

/** The availabilities, from the best to the worst. */
export const availabilities = [
  "in_stock",
  "low_stock",
  "backorder",
  "preorder",
  "out_of_stock",
  "discontinued",
];

export type Names = Readonly<Record<string, string>>;

export interface Money {
  readonly amountMinor: number;
  readonly currency: string;
  readonly exponent: number;
}

/**
 * Returns the name in the first locale of the chain that has a name, otherwise the name in the alphabetically
 * first locale; null if there are no names.
 */
export function findName(names: Names, chain: readonly string[]): string | null {
  for (const locale of chain) if (names[locale] !== undefined) return names[locale];
  return names[Object.keys(names).toSorted()[0] ?? ""] ?? null;
}

export const joinLocaleChains = (locales: readonly string[]): string[] => locales.flatMap(createLocaleChain);

const exponents = new Map<string, number>();

/** Returns the number of digits after the decimal point. */
export function currencyExponent(currency: string): number {
  let exponent = exponents.get(currency);
  if (exponent === undefined) {
    exponent =
      new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ??
      2;
    exponents.set(currency, exponent);
  }
  return exponent;
}

export const toMoney = (amountMinor: number, currency: string): Money => ({
  amountMinor,
  currency,
  exponent: currencyExponent(currency),
});

export function toMoneyRange(
  amounts: readonly number[],
  currency: string,
): { min: Money; max: Money } | null {
  return amounts.length === 0
    ? null
    : { min: toMoney(Math.min(...amounts), currency), max: toMoney(Math.max(...amounts), currency) };
}
