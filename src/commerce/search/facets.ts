/** The facets as a client shows them: labels in the asked locale, prices as ranges. */
import { LRUCache } from "lru-cache";
import { chooseLocale } from "#foundation/locales.ts";
import { exponentOf } from "#foundation/money.ts";
import { bucketsMax, type RawFacets } from "./facet-statement.ts";
import { priceSteps } from "./offer-key.ts";

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
  return shown.map(({ from, to, count }, index) => {
    const isOpen = to === undefined || (rest > 0 && index === shown.length - 1);
    const range = { from, to: isOpen ? undefined : to };
    return { value: `${from}-${range.to ?? ""}`, label: labelOf(range, locale, currency), count: isOpen ? count + rest : count };
  });
}

interface Range {
  readonly from: number;
  /** Undefined: it is open. */
  readonly to: number | undefined;
}

const labelsMax = 20_000;
/** The same few ranges in the same few locales and currencies, and dear to write. */
const labels = new LRUCache<string, string>({ max: labelsMax });

function labelOf(range: Range, locale: string, currency: string): string {
  const key = `${locale} ${currency} ${range.from} ${range.to ?? ""}`;
  let label = labels.get(key);
  if (label === undefined) labels.set(key, (label = writeLabel(range, locale, currency)));
  return label;
}

function writeLabel({ from, to }: Range, locale: string, currency: string): string {
  const exponent = exponentOf(currency);
  const format = new Intl.NumberFormat(locale, { style: "currency", currency, minimumFractionDigits: 0, maximumFractionDigits: exponent });
  const low = from / 10 ** exponent;
  return to === undefined ? `${format.format(low)} +` : format.formatRange(low, to / 10 ** exponent);
}
