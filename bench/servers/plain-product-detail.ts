/** The fields of a product page of the plain schema that product lists do not have. */
import type { Selectable } from "kysely";
import type { MediaTable } from "#database/tables.ts";
import { createCachePerObject } from "./plain-batches.ts";
import { absoluteUrl, builder, ImageType, MoneyType, type PlainContext } from "./plain-builder.ts";
import {
  findPrices,
  findAvailabilityRank,
  findVariants,
  findCurrentPrice,
  ProductListing,
  type ProductNode,
  toImage,
  type VariantNode,
} from "./plain-products.ts";
import { availabilities, type Money, toMoney, toMoneyRange } from "./yardstick-parts.ts";

const day = 86_400_000;

interface Named {
  readonly code: string;
  readonly name: string;
}

interface OfferValue {
  readonly market: string;
  readonly price: Money;
  readonly compareAt: Money | null;
  readonly lowest30d: Money | null;
}

const VariantOffer = builder.objectRef<OfferValue>("VariantOffer").implement({
  fields: (t) => ({
    market: t.exposeString("market"),
    price: t.expose("price", { type: MoneyType }),
    compareAt: t.expose("compareAt", { type: MoneyType, nullable: true }),
    lowest30d: t.expose("lowest30d", { type: MoneyType, nullable: true }),
  }),
});

interface OptionValue extends Named {
  readonly values: readonly { readonly code: string; readonly label: string }[];
}

const findOptions = createCachePerObject(
  async ({ row, nameOf }: ProductNode, { loaders }: PlainContext): Promise<OptionValue[]> => {
    const options = await loaders.options.load(row.id);
    return options.map(({ code, names, choices }) => ({
      code,
      name: nameOf(names) ?? code,
      values: (choices as readonly { readonly code: string; readonly labels: unknown }[]).map((choice) => ({
        code: choice.code,
        label: nameOf(choice.labels) ?? choice.code,
      })),
    }));
  },
);

function offersOf(variant: VariantNode): OfferValue[] {
  return variant.product.markets.flatMap(({ id, currency, countries }) => {
    const price = findCurrentPrice(variant, id);
    if (price === undefined) return [];
    const since = price.validFrom.getTime();
    const earlier = variant.prices.filter(
      ({ marketId, validFrom, validUntil }) =>
        marketId === id &&
        validUntil !== null &&
        validFrom.getTime() < since &&
        validUntil.getTime() > since - 30 * day,
    );
    const offer = {
      price: toMoney(price.amountMinor, currency),
      compareAt: price.compareAtMinor === null ? null : toMoney(price.compareAtMinor, currency),
      lowest30d:
        earlier.length === 0
          ? null
          : toMoney(Math.min(...earlier.map(({ amountMinor }) => amountMinor)), currency),
    };
    return countries.map((market) => ({ ...offer, market }));
  });
}

const VariantType = builder.objectRef<VariantNode>("ProductVariant").implement({
  fields: (t) => ({
    id: t.id({ resolve: ({ row }) => row.id }),
    sku: t.string({ resolve: ({ row }) => row.sku }),
    gtin: t.string({ nullable: true, resolve: ({ row }) => row.gtin }),
    title: t.string({
      resolve: async ({ row, product }, _args, context) => {
        const options = row.options as Readonly<Record<string, string>>;
        const labels = (await findOptions(product, context)).flatMap(
          ({ code, values }) => values.find((value) => value.code === options[code])?.label ?? [],
        );
        return labels.join(" / ") || product.translation.title;
      },
    }),
    options: t.field({ type: "JSON", resolve: ({ row }) => row.options }),
    image: t.field({
      type: ImageType,
      nullable: true,
      resolve: async ({ row, product }, _args, { loaders, publicUrl }) => {
        const media = (await loaders.media.load(product.row.id)).find(({ id }) => id === row.mediaId);
        return media === undefined ? null : toImage(media, product, publicUrl);
      },
    }),
    offers: t.field({ type: [VariantOffer], resolve: offersOf }),
    availability: t.string({ resolve: ({ rank }) => availabilities[rank - 1] ?? "" }),
    maxOrderQuantity: t.int({ nullable: true, resolve: ({ row }) => row.maxOrderQuantity }),
    restrictions: t.stringList({ resolve: ({ row }) => row.restrictions }),
    weightGrams: t.int({ nullable: true, resolve: ({ row }) => row.weightGrams }),
  }),
});

const Description = builder.objectRef<{ readonly text: string }>("ProductDescription").implement({
  fields: (t) => ({ format: t.string({ resolve: () => "markdown" }), text: t.exposeString("text") }),
});

const LocalizedSlug = builder
  .objectRef<{ readonly locale: string; readonly slug: string }>("LocalizedSlug")
  .implement({
    fields: (t) => ({ locale: t.exposeString("locale"), slug: t.exposeString("slug") }),
  });

const MediaType = builder
  .objectRef<{ readonly row: Selectable<MediaTable>; readonly product: ProductNode }>("ProductMedia")
  .implement({
    fields: (t) => ({
      type: t.string({ resolve: ({ row }) => row.type }),
      url: t.string({ resolve: ({ row }, _args, { publicUrl }) => absoluteUrl(row.url, publicUrl) }),
      alt: t.string({ nullable: true, resolve: ({ row, product }) => product.nameOf(row.alts) }),
      width: t.int({ resolve: ({ row }) => row.width }),
      height: t.int({ resolve: ({ row }) => row.height }),
      position: t.int({ resolve: ({ row }) => row.position }),
    }),
  });

const OptionValueType = builder.objectRef<OptionValue["values"][number]>("ProductOptionValue").implement({
  fields: (t) => ({ code: t.exposeString("code"), label: t.exposeString("label") }),
});

const OptionType = builder.objectRef<OptionValue>("ProductOption").implement({
  fields: (t) => ({
    code: t.exposeString("code"),
    name: t.exposeString("name"),
    values: t.field({ type: [OptionValueType], resolve: ({ values }) => [...values] }),
  }),
});

interface MarketOffer {
  readonly market: string;
  readonly currency: string;
  readonly taxIncluded: boolean;
  readonly min: Money;
  readonly max: Money;
}

const ProductOffer = builder.objectRef<MarketOffer>("ProductOffer").implement({
  fields: (t) => ({
    market: t.exposeString("market"),
    currency: t.exposeString("currency"),
    taxIncluded: t.exposeBoolean("taxIncluded"),
    min: t.expose("min", { type: MoneyType }),
    max: t.expose("max", { type: MoneyType }),
  }),
});

const Attribute = builder
  .objectRef<Named & { readonly value: unknown; readonly unit: string | null }>("ProductAttribute")
  .implement({
    fields: (t) => ({
      code: t.exposeString("code"),
      name: t.exposeString("name"),
      value: t.field({ type: "JSON", resolve: ({ value }) => value }),
      unit: t.exposeString("unit", { nullable: true }),
    }),
  });

const Seo = builder
  .objectRef<{ readonly seoTitle: string | null; readonly seoDescription: string | null }>("ProductSeo")
  .implement({
    fields: (t) => ({
      title: t.exposeString("seoTitle", { nullable: true }),
      description: t.exposeString("seoDescription", { nullable: true }),
    }),
  });

interface PolicyValue {
  readonly type: string;
  readonly summary: string;
  readonly url: string | null;
}

const Policy = builder.objectRef<PolicyValue>("ProductPolicy").implement({
  fields: (t) => ({
    type: t.exposeString("type"),
    summary: t.exposeString("summary"),
    url: t.exposeString("url", { nullable: true }),
  }),
});

async function findOffers(product: ProductNode, context: PlainContext): Promise<MarketOffer[]> {
  const variants = await findVariants(product, context);
  return product.markets.flatMap(({ id, currency, taxIncluded, countries }) => {
    const range = toMoneyRange(
      variants.flatMap((variant) => findCurrentPrice(variant, id)?.amountMinor ?? []),
      currency,
    );
    return range === null ? [] : countries.map((market) => ({ market, currency, taxIncluded, ...range }));
  });
}

async function findPolicies(
  { merchant, main, nameOf }: ProductNode,
  { loaders }: PlainContext,
): Promise<PolicyValue[]> {
  const all = await loaders.policies.load(merchant.id);
  return ["return", "warranty", "cancellation"].flatMap((type) => {
    const candidates = all.filter((policy) => policy.type === type);
    const policy =
      candidates.find(({ marketId }) => marketId === main.id) ??
      candidates.find(({ marketId }) => marketId === null);
    return policy === undefined ? [] : [{ type, summary: nameOf(policy.summaries) ?? "", url: policy.url }];
  });
}

const schemaAvailabilities = [
  "InStock",
  "LimitedAvailability",
  "BackOrder",
  "PreOrder",
  "OutOfStock",
  "Discontinued",
];
const decimal = ({ amountMinor, exponent }: Money): string =>
  (amountMinor / 10 ** exponent).toFixed(exponent);

/** Returns the schema.org data of a product. Undefined values are omitted from JSON. */
async function findStructuredData(product: ProductNode, context: PlainContext): Promise<unknown> {
  const { row, translation, main } = product;
  const [media, variants, prices, rank] = await Promise.all([
    context.loaders.media.load(row.id),
    context.loaders.variants.load(row.id),
    findPrices(product, context),
    findAvailabilityRank(product, context),
  ]);
  const images = media
    .filter(({ type }) => type === "image")
    .map(({ url }) => absoluteUrl(url, context.publicUrl));
  const only = variants.length === 1 ? variants[0] : undefined;
  const range = toMoneyRange(
    prices.map(({ amountMinor }) => amountMinor),
    main.currency,
  );
  const offers =
    range === null
      ? undefined
      : { "@type": "AggregateOffer", priceCurrency: main.currency, lowPrice: decimal(range.min) };
  const { ratingAverage, ratingCount } = row;
  return {
    "@context": "https://schema.org",
    "@type": "Product",
    productID: row.id,
    name: translation.title,
    description: translation.summary ?? undefined,
    brand: row.brand === null ? undefined : { "@type": "Brand", name: row.brand },
    sku: only?.sku,
    gtin: only?.gtin ?? undefined,
    image: images.length > 0 ? images : undefined,
    aggregateRating:
      ratingAverage === null
        ? undefined
        : { "@type": "AggregateRating", ratingValue: ratingAverage, reviewCount: ratingCount },
    offers:
      range === null ? undefined : { ...offers, ...offerEnd(range.max, { rank, count: variants.length }) },
  };
}

const offerEnd = (
  max: Money,
  { rank, count }: { readonly rank: number; readonly count: number },
): Readonly<Record<string, unknown>> => ({
  highPrice: decimal(max),
  availability: `https://schema.org/${schemaAvailabilities[rank - 1] ?? ""}`,
  offerCount: count,
});

export const ProductDetail = builder.objectRef<ProductNode>("ProductDetail").implement({
  interfaces: [ProductListing],
  fields: (t) => ({
    description: t.field({
      type: Description,
      nullable: true,
      resolve: ({ translation: { description } }) => (description === null ? null : { text: description }),
    }),
    localizedSlugs: t.field({ type: [LocalizedSlug], resolve: ({ translations }) => [...translations] }),
    media: t.field({
      type: [MediaType],
      resolve: async (product, _args, { loaders }) =>
        (await loaders.media.load(product.row.id)).map((row) => ({ row, product })),
    }),
    options: t.field({
      type: [OptionType],
      resolve: (product, _args, context) => findOptions(product, context),
    }),
    variants: t.field({
      type: [VariantType],
      resolve: (product, _args, context) => findVariants(product, context),
    }),
    offers: t.field({
      type: [ProductOffer],
      resolve: (product, _args, context) => findOffers(product, context),
    }),
    attributes: t.field({
      type: [Attribute],
      resolve: ({ row, nameOf }) =>
        (
          row.attributes as readonly { code: string; names: unknown; value: unknown; unit: string | null }[]
        ).map(({ code, names, value, unit }) => ({
          code,
          name: nameOf(names) ?? code,
          value,
          unit,
        })),
    }),
    seo: t.field({
      type: Seo,
      nullable: true,
      resolve: ({ translation }) =>
        translation.seoTitle === null && translation.seoDescription === null ? null : translation,
    }),
    policies: t.field({
      type: [Policy],
      resolve: (product, _args, context) => findPolicies(product, context),
    }),
    structuredData: t.field({
      type: "JSON",
      resolve: (product, _args, context) => findStructuredData(product, context),
    }),
    status: t.string({ resolve: ({ row }) => row.status }),
  }),
});
