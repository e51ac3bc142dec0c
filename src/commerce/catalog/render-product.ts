/**
 * Renders product summaries for a buyer in one locale and country, either from a whole product or from a row
 * of a list or search result. The functions are pure and read no data.
 */
import { type Money, createMoney } from "#foundation/money.ts";
import { chooseBestLocale } from "#foundation/text.ts";
import {
  type StockAvailability,
  getStockAvailabilityByRank,
  computeStockAvailability,
  findBestStockAvailability,
} from "./availability.ts";
import type {
  StoredProductMarket,
  StoredProductMedia,
  StoredVariantPrice,
  ProductAggregate,
  LocalizedTextMap,
  StoredProductTranslation,
  StoredProductVariant,
} from "./read-products.ts";
import type { ProductSummaryRow } from "./read-summaries.ts";

/** The buyer's locales and country, and other values on which the rendering of a product depends. */
export interface ProductRenderContext {
  /** The locales that the buyer requests, best first; may be empty. */
  readonly locales: readonly string[];
  /**
   * The buyer's country. If the product is not sold there, the default locale of the merchant's default
   * market is used for texts.
   */
  readonly country: string;
  readonly now: Date;
  /** Base URL of this service, which is put before the relative URLs of pictures and videos. */
  readonly publicUrl: string;
}

export interface RenderedProductImage {
  readonly url: string;
  readonly alt: string | null;
  readonly width: number;
  readonly height: number;
}

export interface ProductPriceRange {
  readonly min: Money;
  readonly max: Money;
}

export interface ProductSummary {
  readonly id: string;
  readonly slug: string;
  readonly locale: string;
  readonly title: string;
  readonly summary: string | null;
  readonly brand: string | null;
  readonly merchant: { readonly id: string; readonly slug: string; readonly name: string };
  readonly categories: readonly { readonly slug: string; readonly name: string }[];
  readonly image: RenderedProductImage | null;
  readonly priceRange: ProductPriceRange | null;
  readonly compareAtRange: ProductPriceRange | null;
  readonly availability: StockAvailability;
  readonly variantCount: number;
  readonly rating: { readonly average: number; readonly count: number } | null;
  readonly publishedAt: string;
  readonly updatedAt: string;
}

export function toProductSummary(product: ProductAggregate, view: ProductRenderContext): ProductSummary {
  const market = findMarketDefiningFallbackLocale(product, view.country);
  const translation = findBestProductTranslation(product, view, market);
  const names = createTranslatedNameSelector(product, translation.locale, market);
  // Shows only prices in the market of the buyer's country, because the buyer cannot buy at the prices of
  // another market.
  const sold = product.markets.find(({ countries }) => countries.includes(view.country));
  const offered = findVariantsWithPriceInMarket(product, sold);
  const image = product.media.find((media) => media.type === "image");
  return {
    id: product.id,
    slug: translation.slug,
    locale: translation.locale,
    title: translation.title,
    summary: translation.summary,
    brand: product.brand,
    merchant: { id: product.merchant.id, slug: product.merchant.slug, name: product.merchant.name },
    categories: product.categories.map((category) => ({
      slug: category.slug,
      name: names(category.names) ?? category.slug,
    })),
    image: image === undefined ? null : toProductImage(image, names, view.publicUrl),
    priceRange: calculateProductPriceRange(
      offered.map(({ price }) => price.amountMinor),
      sold,
    ),
    compareAtRange: calculateProductPriceRange(
      offered.flatMap(({ price }) => price.compareAtMinor ?? []),
      sold,
    ),
    availability: findBestStockAvailability(
      (offered.length > 0 ? offered.map(({ variant }) => variant) : product.variants).map((variant) =>
        getVariantAvailability(variant, view.now),
      ),
    ),
    variantCount: product.variants.length,
    rating:
      product.ratingAverage === null || product.ratingCount === null
        ? null
        : { average: product.ratingAverage, count: product.ratingCount },
    publishedAt: product.publishedAt ?? product.createdAt,
    updatedAt: product.updatedAt,
  };
}

export function getVariantAvailability(variant: StoredProductVariant, now: Date): StockAvailability {
  return computeStockAvailability(
    { ...variant, availableFrom: variant.availableFrom === null ? null : new Date(variant.availableFrom) },
    now,
  );
}

/**
 * Returns the market whose default locale is used for texts that no requested locale has. This is the market
 * of the buyer's country, or the merchant's default market if the product is not sold in this country.
 */
export function findMarketDefiningFallbackLocale(
  product: ProductAggregate,
  country: string,
): StoredProductMarket | undefined {
  return (
    product.markets.find((market) => market.countries.includes(country)) ??
    product.markets.find((market) => market.countries.includes(product.merchant.defaultMarket)) ??
    product.markets[0]
  );
}

export function findBestProductTranslation(
  product: ProductAggregate,
  view: ProductRenderContext,
  market: StoredProductMarket | undefined,
): StoredProductTranslation {
  const available = product.translations.map((translation) => translation.locale);
  const locale = chooseBestLocale(
    available,
    view.locales,
    [market?.defaultLocale, product.merchant.defaultLocale].filter((tag) => tag !== undefined),
  );
  const translation = product.translations.find((candidate) => candidate.locale === locale);
  if (translation === undefined) throw new Error(`Product ${product.id} has no translation.`);
  return translation;
}

export type LocalizedNameSelector = (names: LocalizedTextMap) => string | null;

/**
 * Returns a function that selects the translation of a name, for example of a category. The function prefers
 * a translation in `locale`, then in the default locale of the market, then in the merchant's default
 * locale.
 */
export function createTranslatedNameSelector(
  product: ProductAggregate,
  locale: string,
  market: StoredProductMarket | undefined,
): LocalizedNameSelector {
  const fallbacks = [market?.defaultLocale, product.merchant.defaultLocale].filter(
    (tag) => tag !== undefined,
  );
  return (names) => {
    // Shortcut for the most frequent case: the name has a translation in exactly the requested locale.
    if (Object.hasOwn(names, locale)) return names[locale] ?? null;
    const chosen = chooseBestLocale(Object.keys(names), [locale], fallbacks);
    return chosen === undefined ? null : (names[chosen] ?? null);
  };
}

export function toProductImage(
  media: StoredProductMedia,
  names: LocalizedNameSelector,
  publicUrl: string,
): RenderedProductImage {
  return {
    url: toAbsoluteMediaUrl(media.url, publicUrl),
    alt: names(media.alts),
    width: media.width,
    height: media.height,
  };
}

export function toAbsoluteMediaUrl(url: string, publicUrl: string): string {
  return url.startsWith("/") ? publicUrl + url : url;
}

interface PricedVariant {
  readonly variant: StoredProductVariant;
  readonly price: StoredVariantPrice;
}

export function findVariantsWithPriceInMarket(
  product: ProductAggregate,
  market: StoredProductMarket | undefined,
): PricedVariant[] {
  return product.variants.flatMap((variant) => {
    const price = variant.prices.find((candidate) => candidate.marketId === market?.id);
    return price === undefined ? [] : [{ variant, price }];
  });
}

export function calculateProductPriceRange(
  amounts: readonly number[],
  market: StoredProductMarket | undefined,
): ProductPriceRange | null {
  if (market === undefined || amounts.length === 0) return null;
  return {
    min: createMoney(Math.min(...amounts), market.currency),
    max: createMoney(Math.max(...amounts), market.currency),
  };
}

/**
 * Renders a product summary from a row of a list or search result. `publicUrl` is put before the relative
 * URLs of pictures.
 */
export function toProductSummaryFromRow(row: ProductSummaryRow, publicUrl: string): ProductSummary {
  const { kept, currency } = row;
  const { image, ratingAverage, ratingCount } = kept;
  const names = createRowNameSelector(row);
  return {
    id: kept.id,
    slug: kept.slug,
    locale: kept.locale,
    title: kept.title,
    summary: kept.summary,
    brand: kept.brand,
    merchant: { id: row.merchantId, slug: row.merchantSlug, name: row.merchantName },
    categories: (kept.categories ?? []).map((category) => ({
      slug: category.slug,
      name: names(category.names) ?? category.slug,
    })),
    image:
      image === null
        ? null
        : {
            url: toAbsoluteMediaUrl(image.url, publicUrl),
            alt: names(image.alts),
            width: image.width,
            height: image.height,
          },
    priceRange: priceRangeBetween(currency, row.minMinor, row.maxMinor),
    compareAtRange: priceRangeBetween(currency, row.minCompareMinor, row.maxCompareMinor),
    availability: getStockAvailabilityByRank(row.offeredRank ?? row.rank),
    variantCount: row.variantCount,
    rating:
      ratingAverage === null || ratingCount === null ? null : { average: ratingAverage, count: ratingCount },
    publishedAt: kept.publishedAt,
    updatedAt: kept.updatedAt,
  };
}

function createRowNameSelector({
  kept: { locale },
  merchantLocale,
  marketLocale,
}: ProductSummaryRow): LocalizedNameSelector {
  const fallbacks = marketLocale === null ? [merchantLocale] : [marketLocale, merchantLocale];
  return (names) => {
    // Shortcut for the most frequent case: the name has a translation in exactly the requested locale.
    const own = names[locale];
    if (own !== undefined) return own;
    const chosen = chooseBestLocale(Object.keys(names), [locale], fallbacks);
    return chosen === undefined ? null : (names[chosen] ?? null);
  };
}

function priceRangeBetween(
  currency: string | null,
  min: number | null,
  max: number | null,
): ProductPriceRange | null {
  return currency === null || min === null || max === null
    ? null
    : { min: createMoney(min, currency), max: createMoney(max, currency) };
}
