/**
 * The GraphQL types of published products as buyers see them: the summary that lists and search use, and the
 * variants and offers of the product page.
 */
import { toProductDetail } from "#commerce/catalog/render-detail.ts";
import type { ProductSummary } from "#commerce/catalog/render-product.ts";
import { createFailure } from "#foundation/failure.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { aggregateCost } from "#graph/limits.ts";
import { allCallers } from "#graph/context.ts";
import {
  ImageRef,
  MerchantSummaryRef,
  MoneyRef,
  PriceRangeRef,
  ProductDetailRef,
  ProductSummaryRef,
  VariantOfferRef,
  ProductVariantRef,
} from "#graph/refs.ts";

export const AvailabilityEnum = defineGraphqlEnum("Availability", {
  description: "Whether and how a product or variant can be bought.",
  values: {
    in_stock: "Units of the variant are in stock.",
    low_stock: "Units of the variant are in stock, but no more than the variant's low-stock threshold.",
    backorder: "No unit of the variant is in stock, but buyers can order the variant and get it later.",
    preorder: "The variant is not on sale yet, but buyers can order it in advance.",
    out_of_stock: "No unit of the variant is in stock, and buyers cannot order the variant at present.",
    discontinued: "The merchant no longer sells the variant.",
  },
});

ImageRef.implement({
  description: "A picture.",
  fields: (t) => ({
    url: t.expose("url", { type: "URL", description: "The absolute URL of the picture." }),
    alt: t.exposeString("alt", {
      nullable: true,
      description:
        "The alternative text of the picture in the product's locale, for people who cannot see the " +
        "picture; null if the picture has none.",
    }),
    width: t.exposeInt("width", { description: "The width of the picture in pixels." }),
    height: t.exposeInt("height", { description: "The height of the picture in pixels." }),
  }),
});

MerchantSummaryRef.implement({
  description: "The merchant who sells a product.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The merchant's ID, `mer_…`." }),
    slug: t.expose("slug", { type: "Slug", description: "The part of a URL that names the merchant." }),
    name: t.exposeString("name", { description: "The merchant's name." }),
  }),
});

const CategoryLabel = builder.objectRef<{ slug: string; name: string }>("CategoryLabel").implement({
  description: "A category of a product, with its name in the product's locale.",
  fields: (t) => ({
    slug: t.expose("slug", {
      type: "Slug",
      description:
        "The category's slug, as used in URLs and in the argument `category` of the product search.",
    }),
    name: t.exposeString("name", { description: "The category's name in the product's locale." }),
  }),
});

export const RatingRef = builder.objectRef<{ average: number; count: number }>("Rating").implement({
  description: "The average customer rating of a product, imported by the merchant.",
  fields: (t) => ({
    average: t.exposeFloat("average", { description: "The average rating, from 0 to 5." }),
    count: t.exposeInt("count", {
      description: "The number of ratings that the average is calculated from.",
    }),
  }),
});

/** The GraphQL fields that every view of a published product has. */
export const ProductListingInterface = builder.interfaceRef<ProductSummary>("ProductListing").implement({
  description: "A published product in one locale, with the prices of one country.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The product's ID, `prd_…`." }),
    slug: t.expose("slug", {
      type: "Slug",
      description: "The part of the product page's URL that names the product in this locale.",
    }),
    locale: t.expose("locale", {
      type: "LocaleCode",
      description:
        "The locale of the product's texts: the requested locale, or the fallback locale if the product " +
        "has no translation in the requested locale.",
    }),
    title: t.exposeString("title", { description: "The product's title, 1 to 200 characters." }),
    summary: t.exposeString("summary", {
      nullable: true,
      description:
        "One or two sentences about the product in plain text, at most 300 characters; null if the product " +
        "has no summary.",
    }),
    brand: t.exposeString("brand", {
      nullable: true,
      description: "The product's brand; null if the product has no brand.",
    }),
    merchant: t.expose("merchant", {
      type: MerchantSummaryRef,
      description: "The merchant who sells the product.",
    }),
    categories: t.field({
      type: [CategoryLabel],
      description: "The categories of the product, the main category first.",
      resolve: (product) => [...product.categories],
    }),
    image: t.expose("image", {
      type: ImageRef,
      nullable: true,
      description: "The first picture of the product; null if the product has no picture.",
    }),
    priceRange: t.expose("priceRange", {
      type: PriceRangeRef,
      nullable: true,
      description:
        "The lowest and highest price of the product's variants in the requested country; null if no " +
        "variant is sold there.",
    }),
    compareAtRange: t.expose("compareAtRange", {
      type: PriceRangeRef,
      nullable: true,
      description:
        "The lowest and highest price of the product's variants before a reduction; null if no price is " +
        "reduced.",
    }),
    availability: t.expose("availability", {
      type: AvailabilityEnum,
      description: "The best availability among the product's variants.",
    }),
    variantCount: t.exposeInt("variantCount", { description: "The number of variants of the product." }),
  }),
});

builder.interfaceFields(ProductListingInterface, (t) => ({
  rating: t.expose("rating", {
    type: RatingRef,
    nullable: true,
    description: "The product's average customer rating; null if the product has no rating.",
  }),
  publishedAt: t.expose("publishedAt", {
    type: "DateTime",
    description: "When the product was first published.",
  }),
  updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When the product was last changed." }),
}));

ProductSummaryRef.implement({
  description: "A published product as shown in lists.",
  interfaces: [ProductListingInterface],
});

VariantOfferRef.implement({
  description: "The price of a variant in one country.",
  fields: (t) => ({
    market: t.expose("market", {
      type: "CountryCode",
      description: "The country in which the price is valid.",
    }),
    price: t.expose("price", { type: MoneyRef, description: "The price of one unit." }),
    compareAt: t.expose("compareAt", {
      type: MoneyRef,
      nullable: true,
      description: "The price of one unit before the reduction; null if the price is not reduced.",
    }),
    lowest30d: t.expose("lowest30d", {
      type: MoneyRef,
      nullable: true,
      description:
        "The lowest price in the 30 days before the current price began (Directive 98/6/EC, article 6a); " +
        "null if the variant had no price in these days.",
    }),
  }),
});

export const RestrictionEnum = defineGraphqlEnum("Restriction", {
  description: "A restriction on how a variant may be sold, shipped or returned.",
  values: {
    age_18: "The variant is sold to adults only.",
    hazmat: "The variant counts as dangerous goods in shipping.",
    no_returns: "The variant cannot be returned.",
    final_sale: "The variant can be neither returned nor exchanged.",
    custom_made: "The variant is made to the buyer's specification.",
    perishable: "The variant spoils quickly.",
    hygiene_sealed: "The variant cannot be returned once its hygiene seal is broken.",
    digital: "The variant is delivered as a download.",
    gift_card: "The variant is a gift card.",
  },
});
export type VariantSaleOrReturnRestriction = (typeof RestrictionEnum)["$inferType"];

ProductVariantRef.implement({
  description: "A version of a product that can be put into a cart, for example one size in one colour.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The variant's ID, `var_…`." }),
    sku: t.exposeString("sku", {
      description: "The merchant's article number (SKU) of the variant, unique within the merchant.",
    }),
    gtin: t.exposeString("gtin", {
      nullable: true,
      description:
        "The variant's global trade item number (GTIN-8, -12, -13 or -14); null if the variant has no " +
        "number.",
    }),
    title: t.exposeString("title", {
      description:
        "The labels of the variant's choices, for example `Blue / M`; the product's title if the product " +
        "has no options.",
    }),
    options: t.expose("options", {
      type: "StringMap",
      description: "The variant's choices, as a map of option codes to choice codes.",
    }),
    image: t.expose("image", {
      type: ImageRef,
      nullable: true,
      description: "The picture that shows this variant; null if the product's first picture is used.",
    }),
    offers: t.field({
      type: [VariantOfferRef],
      description: "The prices of the variant, one for each country in which it is sold.",
      complexity: { multiplier: 5 },
      resolve: (variant) => [...variant.offers],
    }),
    availability: t.expose("availability", {
      type: AvailabilityEnum,
      description: "Whether and how the variant can be bought now.",
    }),
    maxOrderQuantity: t.exposeInt("maxOrderQuantity", {
      nullable: true,
      description:
        "The maximum number of units of the variant in one order; null if only the cart's general limit " +
        "applies.",
    }),
    restrictions: t.field({
      type: [RestrictionEnum],
      description: "Restrictions on selling, shipping or returning the variant.",
      resolve: (variant) => variant.restrictions as VariantSaleOrReturnRestriction[],
    }),
    weightGrams: t.exposeInt("weightGrams", {
      nullable: true,
      description: "The weight of one unit of the variant in grams; null if the weight is not known.",
    }),
  }),
});

ProductDetailRef.implement({
  description:
    "A published product with all its data: the slugs of all locales and the offers of all countries.",
  interfaces: [ProductListingInterface],
});

builder.queryField("publicProduct", (t) =>
  t.field({
    type: ProductDetailRef,
    description:
      "Returns a published product by the slugs of its merchant and of the product. Former slugs of the " +
      "product work too. If there is no such product, the error is merchant_not_found or product_not_found.",
    authScopes: { callers: allCallers },
    complexity: aggregateCost,
    args: {
      merchantSlug: t.arg.string({ required: true, description: "The merchant's slug." }),
      productSlug: t.arg.string({
        required: true,
        description: "The product's slug in any locale, current or former.",
      }),
      languages: t.arg({
        type: ["LocaleCode"],
        description:
          "The preferred languages of the product's texts, best first; by default the languages in the " +
          "Accept-Language header.",
      }),
    },
    resolve: async (_root, { merchantSlug, productSlug, languages }, context) => {
      const { viewer, clock, publicUrl, loaders } = context;
      const row = await loaders.publicProducts.load({ merchantSlug, productSlug });
      if (row === null) throw createFailure("merchant_not_found");
      const { product } = row;
      const isForeign =
        viewer.kind === "internal" &&
        viewer.merchantId !== null &&
        viewer.merchantId !== product?.merchant.id;
      if (product === null || isForeign) throw createFailure("product_not_found");
      return toProductDetail(product, {
        locales: languages ?? context.languages,
        country: product.merchant.defaultMarket,
        now: clock.now(),
        publicUrl,
      });
    },
  }),
);
