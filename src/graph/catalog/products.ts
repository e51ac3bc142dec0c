/**
 * Published products as buyers see them: the summary of lists and search, the detail of a product page; and
 * money.
 */
import { toDetail } from "#commerce/catalog/render-detail.ts";
import type { ProductSummary } from "#commerce/catalog/render-product.ts";
import { fail } from "#foundation/failure.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { everybody } from "#graph/context.ts";
import {
  ImageRef,
  MerchantSummaryRef,
  MoneyRef,
  PriceRangeRef,
  ProductDetailRef,
  ProductSummaryRef,
  VariantOfferRef,
  VariantViewRef,
} from "#graph/refs.ts";

export const AvailabilityEnum = defineEnum("Availability", {
  description: "Whether and how something can be bought.",
  values: {
    in_stock: "On the shelf.",
    low_stock: "On the shelf, but only a few are left.",
    backorder: "Sold out, but it can be ordered and follows later.",
    preorder: "Not out yet, but it can be ordered.",
    out_of_stock: "Sold out.",
    discontinued: "No longer sold.",
  },
});

/** Amounts of money. */
MoneyRef.implement({
  description: "An amount of money: an integer of minor units, so that nothing is ever rounded on the way.",
  fields: (t) => ({
    amountMinor: t.expose("amountMinor", {
      type: "MinorUnits",
      description: "The amount in minor units: 1999 is 19.99 EUR, 1999 JPY or 1.999 KWD.",
    }),
    currency: t.expose("currency", { type: "CurrencyCode", description: "The currency, ISO 4217." }),
    exponent: t.exposeInt("exponent", {
      description: "Digits after the decimal point in this currency, as ISO 4217 gives them: 0, 2 or 3.",
    }),
  }),
});

PriceRangeRef.implement({
  description: "The lowest and the highest of several prices in one currency.",
  fields: (t) => ({
    min: t.expose("min", { type: MoneyRef, description: "The lowest price." }),
    max: t.expose("max", { type: MoneyRef, description: "The highest price." }),
  }),
});

ImageRef.implement({
  description: "A picture.",
  fields: (t) => ({
    url: t.expose("url", { type: "URL", description: "Where it is." }),
    alt: t.exposeString("alt", {
      nullable: true,
      description: "What it shows, for who cannot see it, in the locale of the product.",
    }),
    width: t.exposeInt("width", { description: "Its width in pixels." }),
    height: t.exposeInt("height", { description: "Its height in pixels." }),
  }),
});

MerchantSummaryRef.implement({
  description: "The merchant who sells something.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The merchant's id, `mer_…`." }),
    slug: t.expose("slug", { type: "Slug", description: "The merchant's name in addresses." }),
    name: t.exposeString("name", { description: "The merchant's name." }),
  }),
});

const CategoryLabel = builder.objectRef<{ slug: string; name: string }>("CategoryLabel").implement({
  description: "A category that a product stands in.",
  fields: (t) => ({
    slug: t.expose("slug", {
      type: "Slug",
      description: "The category's name in addresses and in the search's `category`.",
    }),
    name: t.exposeString("name", { description: "The category's name in the locale of the product." }),
  }),
});

export const Rating = builder.objectRef<{ average: number; count: number }>("Rating").implement({
  description: "What buyers think, as the merchant imported it.",
  fields: (t) => ({
    average: t.exposeFloat("average", { description: "From 0 to 5." }),
    count: t.exposeInt("count", { description: "How many ratings the average is of." }),
  }),
});

/** What every view of a published product has. */
export const ProductListing = builder.interfaceRef<ProductSummary>("ProductListing").implement({
  description: "A published product in one locale, with the prices of one market.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The product's id, `prd_…`." }),
    slug: t.expose("slug", { type: "Slug", description: "The product's name in addresses, in this locale." }),
    locale: t.expose("locale", {
      type: "LocaleCode",
      description: "The locale that the texts are in: the asked one, or what it falls back to.",
    }),
    title: t.exposeString("title", { description: "1 to 200 characters." }),
    summary: t.exposeString("summary", {
      nullable: true,
      description: "A sentence or two of plain text, at most 300 characters.",
    }),
    brand: t.exposeString("brand", { nullable: true, description: "The brand." }),
    merchant: t.expose("merchant", { type: MerchantSummaryRef, description: "Who sells it." }),
    categories: t.field({
      type: [CategoryLabel],
      description: "The categories it stands in, the main one first.",
      resolve: (product) => [...product.categories],
    }),
    image: t.expose("image", { type: ImageRef, nullable: true, description: "Its first picture." }),
    priceRange: t.expose("priceRange", {
      type: PriceRangeRef,
      nullable: true,
      description: "The prices of its variants in the market; null when it is not sold there.",
    }),
    compareAtRange: t.expose("compareAtRange", {
      type: PriceRangeRef,
      nullable: true,
      description: "The prices before a reduction; null when none is reduced.",
    }),
    availability: t.expose("availability", {
      type: AvailabilityEnum,
      description: "The best availability among its variants.",
    }),
    variantCount: t.exposeInt("variantCount", { description: "How many variants it has." }),
    rating: t.expose("rating", {
      type: Rating,
      nullable: true,
      description: "What buyers think; null when nobody said.",
    }),
    publishedAt: t.expose("publishedAt", { type: "DateTime", description: "When it was published." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
  }),
});

ProductSummaryRef.implement({
  description: "A published product as lists show it.",
  interfaces: [ProductListing],
});

VariantOfferRef.implement({
  description: "What a variant costs in one country.",
  fields: (t) => ({
    market: t.expose("market", { type: "CountryCode", description: "The country." }),
    price: t.expose("price", { type: MoneyRef, description: "The price of one." }),
    compareAt: t.expose("compareAt", {
      type: MoneyRef,
      nullable: true,
      description: "The price before the reduction; null when it is not reduced.",
    }),
    lowest30d: t.expose("lowest30d", {
      type: MoneyRef,
      nullable: true,
      description:
        "The lowest price of the 30 days before the present price began (Directive 98/6/EC, article 6a); null when there was none.",
    }),
  }),
});

export const RestrictionEnum = defineEnum("Restriction", {
  description: "What limits how a variant may be sold, shipped or returned.",
  values: {
    age_18: "Only for adults.",
    hazmat: "Dangerous goods.",
    no_returns: "It cannot be returned.",
    final_sale: "Sold for good: neither returned nor exchanged.",
    custom_made: "Made for the buyer.",
    perishable: "It spoils.",
    hygiene_sealed: "It cannot be returned once its seal is broken.",
    digital: "Delivered as a download.",
    gift_card: "A gift card.",
  },
});
export type Restriction = (typeof RestrictionEnum)["$inferType"];

VariantViewRef.implement({
  description: "One of the things a product comes as: what is put into a cart.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The variant's id, `var_…`." }),
    sku: t.exposeString("sku", {
      description: "The merchant's own number for it, unique with the merchant.",
    }),
    gtin: t.exposeString("gtin", {
      nullable: true,
      description: "Its global trade item number (GTIN-8, -12, -13 or -14).",
    }),
    title: t.exposeString("title", {
      description: "Its choices, for example `Blue / M`; the product's title when it has no options.",
    }),
    options: t.expose("options", {
      type: "StringMap",
      description: "The code of its choice for each option's code.",
    }),
    image: t.expose("image", {
      type: ImageRef,
      nullable: true,
      description: "The picture that shows this variant.",
    }),
    offers: t.field({
      type: [VariantOfferRef],
      description: "What it costs, country by country.",
      complexity: { multiplier: 5 },
      resolve: (variant) => [...variant.offers],
    }),
    availability: t.expose("availability", {
      type: AvailabilityEnum,
      description: "Whether it can be bought.",
    }),
    maxOrderQuantity: t.exposeInt("maxOrderQuantity", {
      nullable: true,
      description: "How many one order may have; null: no limit but the cart's.",
    }),
    restrictions: t.field({
      type: [RestrictionEnum],
      description: "What limits its sale.",
      resolve: (variant) => variant.restrictions as Restriction[],
    }),
    weightGrams: t.exposeInt("weightGrams", { nullable: true, description: "Its weight in grams." }),
  }),
});

ProductDetailRef.implement({
  description: "A published product in full, with all its locales and the offers of every country.",
  interfaces: [ProductListing],
});

builder.queryField("publicProduct", (t) =>
  t.field({
    type: ProductDetailRef,
    description:
      "A published product by its merchant's and its own slug, old slugs included. Fails with merchant_not_found or product_not_found.",
    authScopes: { callers: everybody },
    args: {
      merchantSlug: t.arg.string({ required: true, description: "The merchant's slug." }),
      productSlug: t.arg.string({
        required: true,
        description: "The product's slug in any locale, the present one or an old one.",
      }),
      languages: t.arg({
        type: ["LocaleCode"],
        description: "The languages wanted, best first; without it those of the request's Accept-Language.",
      }),
    },
    resolve: async (_root, { merchantSlug, productSlug, languages }, context) => {
      const { viewer, clock, publicUrl, loaders } = context;
      const row = await loaders.publicProducts.load({ merchantSlug, productSlug });
      if (row === null) throw fail("merchant_not_found");
      const { product } = row;
      const isForeign =
        viewer.kind === "internal" &&
        viewer.merchantId !== null &&
        viewer.merchantId !== product?.merchant.id;
      if (product === null || isForeign) throw fail("product_not_found");
      return toDetail(product, {
        locales: languages ?? context.languages,
        country: product.merchant.defaultMarket,
        now: clock.now(),
        publicUrl,
      });
    },
  }),
);
