/**
 * The products of the plain schema. Each field has a resolver that uses the DataLoaders of the needed
 * relations.
 */
import type { Selectable } from "kysely";
import type {
  MediaTable,
  MerchantTable,
  PriceTable,
  ProductTable,
  ProductTranslationTable,
  VariantTable,
} from "#database/tables.ts";
import { createLocaleChain } from "./locales.ts";
import { createCachePerObject } from "./plain-batches.ts";
import {
  absoluteUrl,
  builder,
  type ImageValue,
  ImageType,
  MerchantType,
  type PlainContext,
  PriceRangeType,
  availabilityRank,
} from "./plain-builder.ts";
import { availabilities, joinLocaleChains, findName, type Names, toMoneyRange } from "./yardstick-parts.ts";

export interface PlainMarket {
  readonly id: string;
  readonly currency: string;
  readonly taxIncluded: boolean;
  readonly defaultLocale: string;
  readonly countries: readonly string[];
}

/** A product for one country, in one language. */
export interface ProductNode {
  readonly row: Selectable<ProductTable>;
  readonly merchant: Selectable<MerchantTable>;
  readonly markets: readonly PlainMarket[];
  readonly main: PlainMarket;
  readonly translations: readonly Selectable<ProductTranslationTable>[];
  readonly translation: Selectable<ProductTranslationTable>;
  readonly nameOf: (names: unknown) => string | null;
}

export interface ProductSelection {
  /** The country; null for the merchant's default country. */
  readonly country: string | null;
  readonly chain: readonly string[];
}

export async function findProductNode(
  productId: string,
  { country, chain }: ProductSelection,
  { loaders }: PlainContext,
): Promise<ProductNode | null> {
  const [row, translations] = await Promise.all([
    loaders.products.load(productId),
    loaders.translations.load(productId),
  ]);
  if (row === null || row.status !== "published") return null;
  const [merchant, markets] = await Promise.all([
    loaders.merchants.load(row.merchantId),
    findMarkets(row.merchantId, loaders),
  ]);
  if (merchant === null || merchant.status !== "active") return null;
  const main =
    markets.find(({ countries }) => countries.includes(country ?? merchant.defaultMarket)) ?? markets[0];
  if (main === undefined) return null;
  const fallbacks = joinLocaleChains([main.defaultLocale, merchant.defaultLocale]);
  const tag = [...chain, ...fallbacks].find((candidate) =>
    translations.some(({ locale }) => locale === candidate),
  );
  const translation = translations.find(({ locale }) => locale === tag) ?? translations[0];
  if (translation === undefined) return null;
  const names = [...createLocaleChain(translation.locale), ...fallbacks];
  return {
    row,
    merchant,
    markets,
    main,
    translations,
    translation,
    nameOf: (all) => findName(all as Names, names),
  };
}

async function findMarkets(
  merchantId: string,
  { markets, countries }: PlainContext["loaders"],
): Promise<PlainMarket[]> {
  const rows = await markets.load(merchantId);
  return Promise.all(
    rows.map(async ({ id, currency, taxIncluded, defaultLocale }) => {
      const sold = await countries.load(id);
      return { id, currency, taxIncluded, defaultLocale, countries: sold.map(({ country }) => country) };
    }),
  );
}

export interface VariantNode {
  readonly row: Selectable<VariantTable>;
  readonly product: ProductNode;
  readonly rank: number;
  /** All current and earlier prices. */
  readonly prices: readonly Selectable<PriceTable>[];
}

export const findVariants = createCachePerObject(
  async (product: ProductNode, { loaders }: PlainContext): Promise<VariantNode[]> => {
    const rows = await loaders.variants.load(product.row.id);
    return Promise.all(
      rows.map(async (row) => {
        const [stock, prices] = await Promise.all([loaders.stock.load(row.id), loaders.prices.load(row.id)]);
        return { row, product, rank: availabilityRank(row, stock), prices };
      }),
    );
  },
);

export const findCurrentPrice = (
  { prices }: VariantNode,
  marketId: string,
): Selectable<PriceTable> | undefined =>
  prices.find((price) => price.marketId === marketId && price.validUntil === null);

/** Returns the current prices in the main market. */
export async function findPrices(
  product: ProductNode,
  context: PlainContext,
): Promise<Selectable<PriceTable>[]> {
  return (await findVariants(product, context)).flatMap(
    (variant) => findCurrentPrice(variant, product.main.id) ?? [],
  );
}

/**
 * Returns the best availability rank of the variants in the main market; of all variants if none is sold
 * there.
 */
export async function findAvailabilityRank(product: ProductNode, context: PlainContext): Promise<number> {
  const variants = await findVariants(product, context);
  const offered = variants.filter((variant) => findCurrentPrice(variant, product.main.id) !== undefined);
  return variants.length === 0
    ? 5
    : Math.min(...(offered.length > 0 ? offered : variants).map(({ rank }) => rank));
}

export const toImage = (
  media: Selectable<MediaTable>,
  { nameOf }: ProductNode,
  publicUrl: string,
): ImageValue => ({
  url: absoluteUrl(media.url, publicUrl),
  alt: nameOf(media.alts),
  width: media.width,
  height: media.height,
});

const CategoryType = builder
  .objectRef<{ readonly slug: string; readonly name: string }>("CategoryLabel")
  .implement({
    fields: (t) => ({ slug: t.exposeString("slug"), name: t.exposeString("name") }),
  });

const RatingType = builder
  .objectRef<{ readonly average: number; readonly count: number }>("Rating")
  .implement({
    fields: (t) => ({ average: t.exposeFloat("average"), count: t.exposeInt("count") }),
  });

/** The fields that lists and product pages share. */
export const ProductListing = builder.interfaceRef<ProductNode>("ProductListing").implement({
  fields: (t) => ({
    id: t.id({ resolve: ({ row }) => row.id }),
    slug: t.string({ resolve: ({ translation }) => translation.slug }),
    locale: t.string({ resolve: ({ translation }) => translation.locale }),
    title: t.string({ resolve: ({ translation }) => translation.title }),
    summary: t.string({ nullable: true, resolve: ({ translation }) => translation.summary }),
    brand: t.string({ nullable: true, resolve: ({ row }) => row.brand }),
    merchant: t.field({ type: MerchantType, resolve: ({ merchant }) => merchant }),
    categories: t.field({
      type: [CategoryType],
      resolve: async ({ row, nameOf }, _args, { loaders }) =>
        (await loaders.categories.load(row.id)).map(({ slug, names }) => ({
          slug,
          name: nameOf(names) ?? slug,
        })),
    }),
    image: t.field({
      type: ImageType,
      nullable: true,
      resolve: async (product, _args, { loaders, publicUrl }) => {
        const first = (await loaders.media.load(product.row.id)).find(({ type }) => type === "image");
        return first === undefined ? null : toImage(first, product, publicUrl);
      },
    }),
    priceRange: t.field({
      type: PriceRangeType,
      nullable: true,
      resolve: async (product, _args, context) => {
        const prices = await findPrices(product, context);
        const amounts = prices.map(({ amountMinor }) => amountMinor);
        return toMoneyRange(amounts, product.main.currency);
      },
    }),
    compareAtRange: t.field({
      type: PriceRangeType,
      nullable: true,
      resolve: async (product, _args, context) => {
        const prices = await findPrices(product, context);
        const amounts = prices.flatMap(({ compareAtMinor }) => compareAtMinor ?? []);
        return toMoneyRange(amounts, product.main.currency);
      },
    }),
    availability: t.string({
      resolve: async (product, _args, context) =>
        availabilities[(await findAvailabilityRank(product, context)) - 1] ?? "",
    }),
    variantCount: t.int({
      resolve: async ({ row }, _args, { loaders }) => (await loaders.variants.load(row.id)).length,
    }),
    rating: t.field({
      type: RatingType,
      nullable: true,
      resolve: ({ row: { ratingAverage: average, ratingCount: count } }) =>
        average === null || count === null ? null : { average, count },
    }),
    publishedAt: t.string({ resolve: ({ row }) => row.publishedAt?.toISOString() ?? "" }),
    updatedAt: t.string({ resolve: ({ row }) => row.updatedAt.toISOString() }),
  }),
});
