/** Converts the yardstick's product row to the product page of the contract. */
import {
  availabilities,
  joinLocaleChains,
  type Money,
  toMoney,
  findName,
  type Names,
  toMoneyRange,
} from "./yardstick-parts.ts";

type Price = readonly [amount: number, compareAt: number | null, lowest30d: number | null];

interface Market {
  readonly id: string;
  readonly currency: string;
  readonly taxIncluded: boolean;
  readonly locale: string;
  readonly countries: readonly string[];
}

interface Media {
  readonly id: string;
  readonly type: string;
  readonly url: string;
  readonly alts: Names;
  readonly width: number;
  readonly height: number;
  readonly position: number;
}

interface Variant {
  readonly id: string;
  readonly sku: string;
  readonly gtin: string | null;
  readonly options: Readonly<Record<string, string>>;
  readonly media: string | null;
  readonly rank: number;
  readonly maximum: number | null;
  readonly restrictions: readonly string[];
  readonly weight: number | null;
  readonly prices: Readonly<Record<string, Price>> | null;
}

export interface ProductPage {
  readonly body: string;
  readonly locale: string;
}

/** A row of the product statement. An empty list is null. */
export interface ProductRow {
  readonly id: string;
  readonly brand: string | null;
  readonly rating_average: number | null;
  readonly rating_count: number | null;
  readonly attributes: readonly { code: string; names: Names; value: unknown; unit: string | null }[];
  readonly published_at: string;
  readonly updated_at: string;
  readonly merchant_id: string;
  readonly merchant_slug: string;
  readonly merchant_name: string;
  readonly default_locale: string;
  readonly default_market: string;
  readonly translations: readonly {
    locale: string;
    slug: string;
    title: string;
    summary: string | null;
    description: string | null;
    seoTitle: string | null;
    seoDescription: string | null;
  }[];
  readonly categories: readonly { slug: string; names: Names }[] | null;
  readonly options:
    | readonly { code: string; names: Names; choices: readonly { code: string; labels: Names }[] }[]
    | null;
  readonly media: readonly Media[] | null;
  readonly variants: readonly Variant[] | null;
  readonly markets: readonly Market[];
  readonly policies:
    | readonly { market: string | null; type: string; summaries: Names; url: string | null }[]
    | null;
}

const soldOut = 5;
const schemaAvailabilities = [
  "InStock",
  "LimitedAvailability",
  "BackOrder",
  "PreOrder",
  "OutOfStock",
  "Discontinued",
];
const shownPolicies = ["return", "warranty", "cancellation"];

const decimal = ({ amountMinor, exponent }: Money): string =>
  (amountMinor / 10 ** exponent).toFixed(exponent);

/** The market and translation that all parts of the page use. */
interface Chosen {
  readonly main: Market;
  readonly translation: ProductRow["translations"][number];
  readonly nameOf: (names: Names) => string | null;
}

function selectForPage(
  { translations, markets, default_market: country, default_locale: locale }: ProductRow,
  requestedLocales: readonly string[],
): Chosen {
  const main = markets.find(({ countries }) => countries.includes(country)) ?? markets[0];
  if (main === undefined) throw new Error("The merchant has no market.");
  const fallbacks = joinLocaleChains([main.locale, locale]);
  const tag = [...requestedLocales, ...fallbacks].find((candidate) =>
    translations.some((each) => each.locale === candidate),
  );
  const translation = translations.find((each) => each.locale === tag) ?? translations[0];
  if (translation === undefined) throw new Error("The product has no translation.");
  const nameChain = [...joinLocaleChains([translation.locale]), ...fallbacks];
  return { main, translation, nameOf: (names) => findName(names, nameChain) };
}

interface Summary {
  readonly images: readonly string[];
  readonly rating: { readonly average: number; readonly count: number } | null;
  readonly rank: number;
  readonly priceRange: ReturnType<typeof toMoneyRange>;
  readonly compareAtRange: ReturnType<typeof toMoneyRange>;
}

function summarize(
  { variants, media, rating_average: average, rating_count: count }: ProductRow,
  { id, currency }: Market,
): Summary {
  const all = variants ?? [];
  const offered = all.filter(({ prices }) => prices?.[id] !== undefined);
  const prices = offered.flatMap(({ prices: own }) => (own?.[id] === undefined ? [] : [own[id]]));
  return {
    images: (media ?? []).filter(({ type }) => type === "image").map(({ url }) => url),
    rating: average === null || count === null ? null : { average, count },
    rank:
      all.length === 0 ? soldOut : Math.min(...(offered.length > 0 ? offered : all).map(({ rank }) => rank)),
    priceRange: toMoneyRange(
      prices.map(([amount]) => amount),
      currency,
    ),
    compareAtRange: toMoneyRange(
      prices.flatMap(([, compareAt]) => compareAt ?? []),
      currency,
    ),
  };
}

export function toProductPage(row: ProductRow, requestedLocales: readonly string[]): ProductPage {
  const { translations, markets, attributes } = row;
  const [options, media, variants, categories] = [
    row.options ?? [],
    row.media ?? [],
    row.variants ?? [],
    row.categories ?? [],
  ];
  const { main, translation, nameOf } = selectForPage(row, requestedLocales);
  const summary = summarize(row, main);
  const { seoTitle, seoDescription, description } = translation;
  const pictures = new Map(
    media.map(({ id, url, alts, width, height }) => [id, { url, alt: nameOf(alts), width, height }]),
  );
  const labels = options.map(({ code, names, choices }) => ({
    code,
    name: nameOf(names) ?? code,
    values: choices.map((choice) => ({ code: choice.code, label: nameOf(choice.labels) ?? choice.code })),
  }));
  const data = {
    id: row.id,
    slug: translation.slug,
    locale: translation.locale,
    title: translation.title,
    summary: translation.summary,
    brand: row.brand,
    merchant: { id: row.merchant_id, slug: row.merchant_slug, name: row.merchant_name },
    categories: categories.map(({ slug, names }) => ({ slug, name: nameOf(names) ?? slug })),
    image: pictures.get(media.find(({ type }) => type === "image")?.id ?? "") ?? null,
    priceRange: summary.priceRange,
    compareAtRange: summary.compareAtRange,
    availability: availabilities[summary.rank - 1],
    variantCount: variants.length,
    rating: summary.rating,
    publishedAt: row.published_at,
    updatedAt: row.updated_at,
    description: description === null ? null : { format: "markdown", text: description },
    localizedSlugs: translations.map(({ locale, slug }) => ({ locale, slug })),
    media: media.map(({ type, url, alts, width, height, position }) => ({
      type,
      url,
      alt: nameOf(alts),
      width,
      height,
      position,
    })),
    options: labels,
    variants: variants.map((variant) => ({
      id: variant.id,
      sku: variant.sku,
      gtin: variant.gtin,
      title: titleOf(variant, labels) || translation.title,
      options: variant.options,
      image: pictures.get(variant.media ?? "") ?? null,
      offers: offersOf(variant, markets),
      availability: availabilities[variant.rank - 1],
      maxOrderQuantity: variant.maximum,
      restrictions: variant.restrictions,
      weightGrams: variant.weight,
    })),
    offers: markets.flatMap(({ id, currency, taxIncluded, countries }) => {
      const amounts = variants.flatMap(({ prices }) => prices?.[id]?.[0] ?? []);
      const range = toMoneyRange(amounts, currency);
      return range === null
        ? []
        : countries.map((market) => ({ market, currency, taxIncluded, min: range.min, max: range.max }));
    }),
    attributes: attributes.map(({ code, names, value, unit }) => ({
      code,
      name: nameOf(names) ?? code,
      value,
      unit,
    })),
    seo:
      seoTitle === null && seoDescription === null ? null : { title: seoTitle, description: seoDescription },
    policies: policiesOf(row, main, nameOf),
    structuredData: structuredDataOf(row, { translation, summary }),
    status: "published",
  };
  return { body: JSON.stringify({ data }), locale: translation.locale };
}

function policiesOf({ policies }: ProductRow, { id }: Market, nameOf: Chosen["nameOf"]): unknown[] {
  return shownPolicies.flatMap((type) => {
    const candidates = (policies ?? []).filter((policy) => policy.type === type);
    const policy =
      candidates.find(({ market }) => market === id) ?? candidates.find(({ market }) => market === null);
    return policy === undefined ? [] : [{ type, summary: nameOf(policy.summaries) ?? "", url: policy.url }];
  });
}

interface Described {
  readonly translation: Chosen["translation"];
  readonly summary: Summary;
}

/** Returns the schema.org data of a product. Undefined values are omitted from JSON. */
function structuredDataOf({ id, brand, variants }: ProductRow, { translation, summary }: Described): unknown {
  const { images, rating, rank, priceRange } = summary;
  const [first, ...others] = variants ?? [];
  const only = others.length === 0 ? first : undefined;
  return {
    "@context": "https://schema.org",
    "@type": "Product",
    productID: id,
    name: translation.title,
    description: translation.summary ?? undefined,
    brand: brand === null ? undefined : { "@type": "Brand", name: brand },
    sku: only?.sku,
    gtin: only?.gtin ?? undefined,
    image: images.length > 0 ? images : undefined,
    aggregateRating:
      rating === null
        ? undefined
        : { "@type": "AggregateRating", ratingValue: rating.average, reviewCount: rating.count },
    offers:
      priceRange === null
        ? undefined
        : { ...aggregateOffer(priceRange, rank), offerCount: others.length + 1 },
  };
}

function aggregateOffer(
  { min, max }: NonNullable<Summary["priceRange"]>,
  rank: number,
): Readonly<Record<string, unknown>> {
  return {
    "@type": "AggregateOffer",
    priceCurrency: min.currency,
    lowPrice: decimal(min),
    highPrice: decimal(max),
    availability: `https://schema.org/${schemaAvailabilities[rank - 1] ?? ""}`,
  };
}

type Labels = readonly {
  readonly code: string;
  readonly values: readonly { readonly code: string; readonly label: string }[];
}[];

function titleOf({ options }: Variant, labels: Labels): string {
  return labels
    .flatMap(({ code, values }) => values.find((value) => value.code === options[code])?.label ?? [])
    .join(" / ");
}

function offersOf({ prices }: Variant, markets: readonly Market[]): unknown[] {
  return markets.flatMap(({ id, currency, countries }) => {
    const price = prices?.[id];
    if (price === undefined) return [];
    const [amount, compareAt, lowest] = price;
    const offer = {
      price: toMoney(amount, currency),
      compareAt: compareAt === null ? null : toMoney(compareAt, currency),
      lowest30d: lowest === null ? null : toMoney(lowest, currency),
    };
    return countries.map((market) => ({
      market,
      price: offer.price,
      compareAt: offer.compareAt,
      lowest30d: offer.lowest30d,
    }));
  });
}
