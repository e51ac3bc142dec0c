/** A summary as buyers see it, from the row that was read for it; pure. */
import { chooseLocale } from "#foundation/locales.ts";
import { money } from "#foundation/money.ts";
import { availabilityAt } from "./availability-rank.ts";
import type { SummaryRow } from "./read-summaries.ts";
import { absoluteUrl, type Naming, type PriceRange, type ProductSummary } from "./render-product.ts";

/** `publicUrl` is put before the paths of our own pictures. */
export function renderSummary(row: SummaryRow, publicUrl: string): ProductSummary {
  const { kept, currency } = row;
  const { image, ratingAverage, ratingCount } = kept;
  const names = namesOf(row);
  return {
    id: kept.id,
    slug: kept.slug,
    locale: kept.locale,
    title: kept.title,
    summary: kept.summary,
    brand: kept.brand,
    merchant: { id: row.merchantId, slug: row.merchantSlug, name: row.merchantName },
    categories: (kept.categories ?? []).map((category) => ({ slug: category.slug, name: names(category.names) ?? category.slug })),
    image: image === null ? null : { url: absoluteUrl(image.url, publicUrl), alt: names(image.alts), width: image.width, height: image.height },
    priceRange: rangeIn(currency, row.minMinor, row.maxMinor),
    compareAtRange: rangeIn(currency, row.minCompareMinor, row.maxCompareMinor),
    availability: availabilityAt(row.offeredRank ?? row.rank),
    variantCount: row.variantCount,
    rating: ratingAverage === null || ratingCount === null ? null : { average: ratingAverage, count: ratingCount },
    publishedAt: kept.publishedAt,
    updatedAt: kept.updatedAt,
  };
}

function namesOf({ kept: { locale }, merchantLocale, marketLocale }: SummaryRow): Naming {
  const fallbacks = marketLocale === null ? [merchantLocale] : [marketLocale, merchantLocale];
  return (names) => {
    // Most often it has the product's own.
    const own = names[locale];
    if (own !== undefined) return own;
    const chosen = chooseLocale(Object.keys(names), [locale], fallbacks);
    return chosen === undefined ? null : (names[chosen] ?? null);
  };
}

function rangeIn(currency: string | null, min: number | null, max: number | null): PriceRange | null {
  return currency === null || min === null || max === null ? null : { min: money(min, currency), max: money(max, currency) };
}
