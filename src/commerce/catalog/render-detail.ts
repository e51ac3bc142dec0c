/**
 * Renders all fields of a product for a product page: the summary, texts, media, variants and attributes.
 * Also renders the offers of every country in which the product is sold.
 */
import { getCurrencyExponent, type Money, createMoney } from "#foundation/money.ts";
import {
  toAbsoluteMediaUrl,
  getVariantAvailability,
  type RenderedProductImage,
  findMarketDefiningFallbackLocale,
  createTranslatedNameSelector,
  type LocalizedNameSelector,
  findVariantsWithPriceInMarket,
  type ProductSummary,
  calculateProductPriceRange,
  toProductImage,
  toProductSummary,
  findBestProductTranslation,
  type ProductRenderContext,
} from "./render-product.ts";
import { type StockAvailability } from "./availability.ts";
import type {
  StoredProductMarket,
  StoredVariantPrice,
  ProductAggregate,
  StoredProductVariant,
} from "./read-products.ts";

export interface VariantOffer {
  readonly market: string;
  readonly price: Money;
  readonly compareAt: Money | null;
  readonly lowest30d: Money | null;
}

export interface VariantView {
  readonly id: string;
  readonly sku: string;
  readonly gtin: string | null;
  readonly title: string;
  readonly options: Readonly<Record<string, string>>;
  readonly image: RenderedProductImage | null;
  readonly offers: readonly VariantOffer[];
  readonly availability: StockAvailability;
  readonly maxOrderQuantity: number | null;
  readonly restrictions: readonly string[];
  readonly weightGrams: number | null;
}

export interface ProductDetail extends ProductSummary {
  readonly description: { readonly format: "markdown"; readonly text: string } | null;
  readonly localizedSlugs: readonly { readonly locale: string; readonly slug: string }[];
  readonly media: readonly (RenderedProductImage & {
    readonly type: "image" | "video";
    readonly position: number;
  })[];
  readonly options: readonly {
    readonly code: string;
    readonly name: string;
    readonly values: readonly { readonly code: string; readonly label: string }[];
  }[];
  readonly variants: readonly VariantView[];
  readonly offers: readonly {
    readonly market: string;
    readonly currency: string;
    readonly taxIncluded: boolean;
    readonly min: Money;
    readonly max: Money;
  }[];
  readonly attributes: readonly {
    readonly code: string;
    readonly name: string;
    readonly value: unknown;
    readonly unit: string | null;
  }[];
  readonly seo: { readonly title: string | null; readonly description: string | null } | null;
  readonly policies: readonly {
    readonly type: string;
    readonly summary: string;
    readonly url: string | null;
  }[];
  readonly structuredData: Readonly<Record<string, unknown>>;
  readonly status: "published";
}

export function toProductDetail(product: ProductAggregate, view: ProductRenderContext): ProductDetail {
  const summary = toProductSummary(product, view);
  const market = findMarketDefiningFallbackLocale(product, view.country);
  const translation = findBestProductTranslation(product, view, market);
  const names = createTranslatedNameSelector(product, translation.locale, market);
  const { seoTitle, seoDescription, description } = translation;
  return {
    ...summary,
    description: description === null ? null : { format: "markdown", text: description },
    localizedSlugs: product.translations.map(({ locale, slug }) => ({ locale, slug })),
    media: product.media.map((media) => ({
      ...toProductImage(media, names, view.publicUrl),
      type: media.type,
      position: media.position,
    })),
    options: toOptions(product, names),
    variants: product.variants.map((variant) =>
      toVariant(product, variant, { view, names, title: translation.title }),
    ),
    offers: toOffers(product),
    attributes: product.attributes.map(({ code, names: translated, value, unit }) => ({
      code,
      name: names(translated) ?? code,
      value,
      unit,
    })),
    seo:
      seoTitle === null && seoDescription === null ? null : { title: seoTitle, description: seoDescription },
    policies: toPolicies(product, market, view),
    structuredData: renderStructuredData(product, summary, view),
    status: "published",
  };
}

function toOptions(product: ProductAggregate, names: LocalizedNameSelector): ProductDetail["options"] {
  return product.options.map((option) => ({
    code: option.code,
    name: names(option.names) ?? option.code,
    values: option.choices.map(({ code, labels }) => ({ code, label: names(labels) ?? code })),
  }));
}

function toVariant(
  product: ProductAggregate,
  variant: StoredProductVariant,
  parts: { view: ProductRenderContext; names: LocalizedNameSelector; title: string },
): VariantView {
  const { view, names, title } = parts;
  const labels = product.options.flatMap((option) => {
    const choice = option.choices.find(({ code }) => code === variant.options[option.code]);
    return choice === undefined ? [] : [names(choice.labels) ?? choice.code];
  });
  const image = product.media.find((media) => media.id === variant.mediaId);
  return {
    id: variant.id,
    sku: variant.sku,
    gtin: variant.gtin,
    title: labels.length > 0 ? labels.join(" / ") : title,
    options: variant.options,
    image: image === undefined ? null : toProductImage(image, names, view.publicUrl),
    offers: product.markets.flatMap((market) => {
      const price = variant.prices.find((candidate) => candidate.marketId === market.id);
      return price === undefined
        ? []
        : market.countries.map((country) => toOffer(country, price, market.currency));
    }),
    availability: getVariantAvailability(variant, view.now),
    maxOrderQuantity: variant.maxOrderQuantity,
    restrictions: variant.restrictions,
    weightGrams: variant.weightGrams,
  };
}

function toOffer(country: string, price: StoredVariantPrice, currency: string): VariantOffer {
  return {
    market: country,
    price: createMoney(price.amountMinor, currency),
    compareAt: price.compareAtMinor === null ? null : createMoney(price.compareAtMinor, currency),
    lowest30d: price.lowest30dMinor === null ? null : createMoney(price.lowest30dMinor, currency),
  };
}

function toOffers(product: ProductAggregate): ProductDetail["offers"] {
  return product.markets.flatMap((market) => {
    const range = calculateProductPriceRange(
      findVariantsWithPriceInMarket(product, market).map(({ price }) => price.amountMinor),
      market,
    );
    return range === null
      ? []
      : market.countries.map((country) => ({
          market: country,
          currency: market.currency,
          taxIncluded: market.taxIncluded,
          ...range,
        }));
  });
}

const productPolicyTypes = ["return", "warranty", "cancellation"];

/**
 * Selects one policy of each type: the merchant's policy for the market if there is one, otherwise the
 * merchant's general policy.
 */
function toPolicies(
  product: ProductAggregate,
  market: StoredProductMarket | undefined,
  view: ProductRenderContext,
): ProductDetail["policies"] {
  const locale = findBestProductTranslation(product, view, market).locale;
  const names = createTranslatedNameSelector(product, locale, market);
  return productPolicyTypes.flatMap((type) => {
    const candidates = product.policies.filter((policy) => policy.type === type);
    const policy =
      candidates.find(({ marketId }) => marketId === market?.id) ??
      candidates.find(({ marketId }) => marketId === null);
    return policy === undefined ? [] : [{ type, summary: names(policy.summaries) ?? "", url: policy.url }];
  });
}

const schemaAvailability: Readonly<Record<StockAvailability, string>> = {
  in_stock: "InStock",
  low_stock: "LimitedAvailability",
  backorder: "BackOrder",
  preorder: "PreOrder",
  out_of_stock: "OutOfStock",
  discontinued: "Discontinued",
};

/**
 * Renders the product as JSON-LD in the vocabulary https://schema.org/Product. A page that embeds the JSON-LD
 * in a script element must escape the character `<`.
 */
function renderStructuredData(
  product: ProductAggregate,
  summary: ProductSummary,
  view: ProductRenderContext,
): Readonly<Record<string, unknown>> {
  const images = product.media
    .filter((media) => media.type === "image")
    .map((media) => toAbsoluteMediaUrl(media.url, view.publicUrl));
  const [first] = product.variants;
  const gtin = product.variants.length === 1 ? first?.gtin : null;
  return {
    "@context": "https://schema.org",
    "@type": "Product",
    productID: product.id,
    name: summary.title,
    ...(summary.summary === null ? {} : { description: summary.summary }),
    ...(summary.brand === null ? {} : { brand: { "@type": "Brand", name: summary.brand } }),
    ...(product.variants.length === 1 && first !== undefined ? { sku: first.sku } : {}),
    ...(typeof gtin === "string" ? { gtin } : {}),
    ...(images.length > 0 ? { image: images } : {}),
    ...(summary.rating === null
      ? {}
      : {
          aggregateRating: {
            "@type": "AggregateRating",
            ratingValue: summary.rating.average,
            reviewCount: summary.rating.count,
          },
        }),
    ...(summary.priceRange === null ? {} : { offers: aggregateOffer(summary, summary.priceRange) }),
  };
}

function aggregateOffer(
  summary: ProductSummary,
  { min, max }: { readonly min: Money; readonly max: Money },
): Readonly<Record<string, unknown>> {
  return {
    "@type": "AggregateOffer",
    priceCurrency: min.currency,
    lowPrice: decimal(min),
    highPrice: decimal(max),
    offerCount: summary.variantCount,
    availability: `https://schema.org/${schemaAvailability[summary.availability]}`,
  };
}

function decimal({ amountMinor, currency }: Money): string {
  const exponent = getCurrencyExponent(currency);
  const digits = String(amountMinor).padStart(exponent + 1, "0");
  return exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}
