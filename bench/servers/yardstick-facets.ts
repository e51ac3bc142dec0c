/** Converts facets to the contract: labels in the requested locale, prices as ranges. */

import { joinLocaleChains, currencyExponent, findName } from "./yardstick-parts.ts";

export interface RawFacets {
  readonly category: readonly {
    slug: string;
    names: Readonly<Record<string, string>> | null;
    default_locale: string | null;
    count: number;
  }[];
  readonly merchant: readonly { value: string; label: string; count: number }[];
  readonly brand: readonly { value: string; count: number }[];
  readonly availability: readonly { value: string; count: number }[];
  readonly price: readonly { step: number; count: number }[];
}

export type Facets = readonly {
  readonly key: string;
  readonly buckets: readonly { value: string; label: string; count: number }[];
}[];

const bucketsMax = 20;
export const priceSteps: readonly number[] = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat();

interface PriceFormat {
  readonly unit: number;
  readonly labels: Map<string, string>;
  readonly format: Intl.NumberFormat;
}

const formats = new Map<string, PriceFormat>();

function formatOf(locale: string, currency: string): PriceFormat {
  const key = `${locale} ${currency}`;
  let known = formats.get(key);
  if (known === undefined) {
    const digits = currencyExponent(currency);
    const format = new Intl.NumberFormat(locale, {
      style: "currency",
      currency,
      minimumFractionDigits: 0,
      maximumFractionDigits: digits,
    });
    known = { unit: 10 ** digits, labels: new Map(), format };
    formats.set(key, known);
  }
  return known;
}

export function toFacets(raw: RawFacets, locale: string, currency: string | null): Facets {
  return [
    {
      key: "category",
      buckets: raw.category.map(({ slug, names, default_locale: fallback, count }) => ({
        value: slug,
        label: findName(names ?? {}, joinLocaleChains([locale, fallback ?? ""])) ?? slug,
        count,
      })),
    },
    { key: "merchant", buckets: raw.merchant },
    { key: "brand", buckets: raw.brand.map(({ value, count }) => ({ value, label: value, count })) },
    {
      key: "availability",
      buckets: raw.availability.map(({ value, count }) => ({ value, label: value, count })),
    },
    { key: "price", buckets: currency === null ? [] : priceBuckets(raw.price, formatOf(locale, currency)) },
  ];
}

function priceBuckets(
  counts: RawFacets["price"],
  { unit, labels, format }: PriceFormat,
): { value: string; label: string; count: number }[] {
  const rest = counts.slice(bucketsMax).reduce((sum, { count }) => sum + count, 0);
  return counts.slice(0, bucketsMax).map(({ step, count }, index) => {
    const from = priceSteps[step - 1] ?? 0;
    const isOpen = priceSteps[step] === undefined || (rest > 0 && index === bucketsMax - 1);
    const value = `${from}-${isOpen ? "" : priceSteps[step]}`;
    let label = labels.get(value);
    if (label === undefined)
      labels.set(
        value,
        (label = isOpen
          ? `${format.format(from / unit)} +`
          : format.formatRange(from / unit, (priceSteps[step] ?? 0) / unit)),
      );
    return { value, label, count: isOpen && rest > 0 && index === bucketsMax - 1 ? count + rest : count };
  });
}
