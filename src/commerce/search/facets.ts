/** The facets as a client shows them: labels in the asked locale, prices as ranges. */
import { chooseLocale } from "#foundation/locales.ts";
import { exponentOf } from "#foundation/money.ts";
import { bucketsMax, priceSteps, type RawFacets } from "./facet-statement.ts";

export interface Facet {
  readonly key: "category" | "merchant" | "brand" | "availability" | "price";
  readonly buckets: readonly Bucket[];
}

interface Bucket {
  readonly value: string;
  readonly label: string;
  readonly count: number;
}

export function toFacets(raw: RawFacets, locale: string, currency: string | null): Facet[] {
  const categories = raw.category.map(({ slug, names, defaultLocale, count }) => {
    const labels = names ?? {};
    const chosen = chooseLocale(Object.keys(labels), [locale], [defaultLocale ?? ""]);
    return { value: slug, label: (chosen === undefined ? undefined : labels[chosen]) ?? slug, count };
  });
  return [
    { key: "category", buckets: categories },
    { key: "merchant", buckets: raw.merchant.map(({ value, label, count }) => ({ value, label, count })) },
    { key: "brand", buckets: raw.brand.map(({ value, count }) => ({ value, label: value, count })) },
    // The words of the contract; who shows them has the words of their own language.
    { key: "availability", buckets: raw.availability.map(({ value, count }) => ({ value, label: value, count })) },
    { key: "price", buckets: currency === null ? [] : priceBuckets(raw.price, locale, currency) },
  ];
}

/** `from-to` in minor units, `to` not included; what is beyond the twentieth range is in the last one, which then is open. */
function priceBuckets(counts: RawFacets["price"], locale: string, currency: string): Bucket[] {
  const shown = counts.slice(0, bucketsMax).map(({ step, count }) => ({ from: priceSteps[step - 1] ?? 0, to: priceSteps[step], count }));
  const rest = counts.slice(bucketsMax).reduce((sum, { count }) => sum + count, 0);
  const exponent = exponentOf(currency);
  const format = new Intl.NumberFormat(locale, { style: "currency", currency, minimumFractionDigits: 0, maximumFractionDigits: exponent });
  return shown.map(({ from, to, count }, index) => {
    const [low, high] = [from / 10 ** exponent, to === undefined ? undefined : to / 10 ** exponent];
    if (high === undefined || (rest > 0 && index === shown.length - 1))
      return { value: `${from}-`, label: `${format.format(low)} +`, count: count + rest };
    return { value: `${from}-${to ?? ""}`, label: format.formatRange(low, high), count };
  });
}
