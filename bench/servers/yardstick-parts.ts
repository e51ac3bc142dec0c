/** Names and money as both of the yardstick's answers show them. */
import { chainOf } from "./locales.ts";

/** From the best to the worst. */
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

/** The name in the first locale of the chain that has one. */
export function nameIn(names: Names, chain: readonly string[]): string | null {
  for (const locale of chain) if (names[locale] !== undefined) return names[locale];
  return names[Object.keys(names).toSorted()[0] ?? ""] ?? null;
}

export const chainOfAll = (locales: readonly string[]): string[] => locales.flatMap(chainOf);

const exponents = new Map<string, number>();

/** Digits after the decimal point. */
export function exponentOf(currency: string): number {
  let exponent = exponents.get(currency);
  if (exponent === undefined) {
    exponent =
      new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ??
      2;
    exponents.set(currency, exponent);
  }
  return exponent;
}

export const money = (amountMinor: number, currency: string): Money => ({
  amountMinor,
  currency,
  exponent: exponentOf(currency),
});

export function rangeOf(amounts: readonly number[], currency: string): { min: Money; max: Money } | null {
  return amounts.length === 0
    ? null
    : { min: money(Math.min(...amounts), currency), max: money(Math.max(...amounts), currency) };
}
