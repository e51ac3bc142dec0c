/**
 * Graph types and queries of the catalog for the merchant: products in every status and locale, with stock
 * and current prices.
 */
import { variantAvailability } from "#commerce/catalog/render-product.ts";
import {
  categoryListQuery,
  type MediaPart,
  type PricePart,
  type ProductAggregate,
  productListQuery,
  type TranslationPart,
  type VariantPart,
} from "#commerce/catalog/read-products.ts";
import { money } from "#foundation/money.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { ownerOf, readers } from "#graph/context.ts";
import { connectionOf, pageCost, listTypes } from "#graph/connections.ts";
import { MediaTypeEnum } from "./product-detail.ts";
import { AvailabilityEnum, RatingRef, RestrictionEnum, type Restriction } from "./products.ts";
import { CategoryRef, MarketRef, MerchantRef, MoneyRef, ProductRef, VariantRef } from "#graph/refs.ts";

export const ProductStatusEnum = defineEnum("ProductStatus", {
  description: "The status of a product.",
  values: {
    draft: "The product is being prepared; buyers do not see it.",
    published: "The product is on sale.",
    archived: "The product is no longer shown or sold; its record is kept because orders refer to it.",
  },
});

const Translation = builder.objectRef<TranslationPart>("ProductTranslation").implement({
  description: "The texts of a product in one locale.",
  fields: (t) => ({
    locale: t.expose("locale", { type: "LocaleCode", description: "The locale of these texts." }),
    slug: t.expose("slug", {
      type: "Slug",
      description:
        "The part of the product page's URL that names the product in this locale; unique within the merchant.",
    }),
    title: t.exposeString("title", {
      description: "The product's title in this locale, 1 to 200 characters.",
    }),
    summary: t.exposeString("summary", {
      nullable: true,
      description:
        "A short plain-text summary of the product, at most 300 characters; null if there is none.",
    }),
    description: t.exposeString("description", {
      nullable: true,
      description:
        "The product's description as CommonMark, at most 20 000 characters; null if there is none.",
    }),
    seoTitle: t.exposeString("seoTitle", {
      nullable: true,
      description: "The page title intended for search engines; null if there is none.",
    }),
    seoDescription: t.exposeString("seoDescription", {
      nullable: true,
      description: "The page description intended for search engines; null if there is none.",
    }),
  }),
});

const OptionChoice = builder
  .objectRef<{ code: string; labels: Readonly<Record<string, string>> }>("OptionChoice")
  .implement({
    description: "One value that a product option offers, for example the colour blue.",
    fields: (t) => ({
      code: t.exposeString("code", {
        description: "The stable code of this choice, unique within its option.",
      }),
      labels: t.expose("labels", { type: "StringMap", description: "The labels of this choice by locale." }),
    }),
  });

const Option = builder.objectRef<ProductAggregate["options"][number]>("OptionDefinition").implement({
  description:
    "A property in which the variants of a product differ, for example colour or size. Every variant has one choice of each option.",
  fields: (t) => ({
    code: t.exposeString("code", {
      description: "The stable code of the option, unique within its product.",
    }),
    names: t.expose("names", { type: "StringMap", description: "The names of the option by locale." }),
    choices: t.field({
      type: [OptionChoice],
      description: "The choices that the option offers, in display order.",
      complexity: { multiplier: 3 },
      resolve: ({ choices }) => [...choices],
    }),
  }),
});

const Attribute = builder.objectRef<ProductAggregate["attributes"][number]>("AttributeDefinition").implement({
  description: "A named fact about a product, for example its material.",
  fields: (t) => ({
    code: t.exposeString("code", {
      description: "The stable code of the attribute, unique within its product.",
    }),
    names: t.expose("names", { type: "StringMap", description: "The names of the attribute by locale." }),
    value: t.expose("value", { type: "AttributeValue", description: "The value of the attribute." }),
    unit: t.exposeString("unit", {
      nullable: true,
      description: "The unit of the attribute's value, for example `mm`; null if it has none.",
    }),
  }),
});

const Media = builder.objectRef<MediaPart>("Media").implement({
  description: "A picture or video of a product.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The ID of the picture or video, `med_…`." }),
    type: t.expose("type", { type: MediaTypeEnum, description: "Whether this is a picture or a video." }),
    url: t.exposeString("url", {
      description: "The address of the picture or video: an absolute https URL or a path on this service.",
    }),
    alts: t.expose("alts", {
      type: "StringMap",
      description:
        "Alternative texts by locale, for people who cannot see the picture or video. Empty if it is only decoration.",
    }),
    width: t.exposeInt("width", { description: "The width in pixels." }),
    height: t.exposeInt("height", { description: "The height in pixels." }),
    position: t.exposeInt("position", {
      description: "The position among the product's pictures and videos, counted from 0.",
    }),
  }),
});

const Price = builder.objectRef<PricePart & { readonly product: ProductAggregate }>("Price").implement({
  description: "The current price of a variant in one market.",
  fields: (t) => ({
    market: t.field({
      type: MarketRef,
      description: "The market in which this price is valid.",
      resolve: async ({ marketId, product }, _args, { loaders }) => {
        const market = (await loaders.markets.load(product.merchant.id)).find(({ id }) => id === marketId);
        if (market === undefined) throw new Error(`There is no market ${marketId}.`);
        return market;
      },
    }),
    amount: t.field({
      type: MoneyRef,
      description: "The price of one unit in the market's currency.",
      resolve: (price) => money(price.amountMinor, currencyOf(price)),
    }),
    compareAt: t.field({
      type: MoneyRef,
      nullable: true,
      description: "The price before a reduction; null if the price is not reduced.",
      resolve: (price) =>
        price.compareAtMinor === null ? null : money(price.compareAtMinor, currencyOf(price)),
    }),
    lowest30d: t.field({
      type: MoneyRef,
      nullable: true,
      description:
        "The lowest price in the 30 days before the current price began; null if the variant had no price then.",
      resolve: (price) =>
        price.lowest30dMinor === null ? null : money(price.lowest30dMinor, currencyOf(price)),
    }),
    validFrom: t.expose("validFrom", {
      type: "DateTime",
      description: "When the current price became valid.",
    }),
  }),
});

function currencyOf({
  marketId,
  product,
}: {
  readonly marketId: string;
  readonly product: ProductAggregate;
}): string {
  const market = product.markets.find(({ id }) => id === marketId);
  if (market === undefined) throw new Error(`There is no market ${marketId}.`);
  return market.currency;
}

const StockLevel = builder.objectRef<VariantPart>("StockLevel").implement({
  description: "The stock of a variant. All quantities are numbers of units.",
  fields: (t) => ({
    onHand: t.exposeInt("onHand", {
      description: "The number of units in the warehouse, including reserved units.",
    }),
    reserved: t.exposeInt("reserved", {
      description: "The number of units promised to open checkouts and to orders that still wait for stock.",
    }),
    available: t.int({
      description: "Units on hand minus reserved units; negative if units are sold beyond the units on hand.",
      resolve: ({ onHand, reserved }) => onHand - reserved,
    }),
    backorderLimit: t.exposeInt("backorderLimit", {
      description: "The number of units that may be sold beyond the units on hand.",
    }),
    lowStockThreshold: t.exposeInt("lowStockThreshold", {
      description: "Availability is LOW_STOCK if at most this many unreserved units are left.",
    }),
  }),
});

VariantRef.implement({
  description: "A version of a product that can be bought, for example one size in one colour.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The variant's ID, `var_…`." }),
    productId: t.id({
      description: "The ID of the product that the variant belongs to.",
      resolve: ({ product }) => product.id,
    }),
    sku: t.exposeString("sku", {
      description: "The merchant's article number (SKU) of the variant, unique within the merchant.",
    }),
    gtin: t.exposeString("gtin", {
      nullable: true,
      description: "The variant's global trade item number (GTIN); null if it has none.",
    }),
    options: t.expose("options", {
      type: "StringMap",
      description: "The variant's choices: option code → choice code.",
    }),
    mediaId: t.exposeID("mediaId", {
      nullable: true,
      description:
        "The ID of the picture that shows this variant; null if the product's first picture is used.",
    }),
    restrictions: t.field({
      type: [RestrictionEnum],
      description: "Restrictions on selling, shipping or returning the variant.",
      complexity: 1,
      resolve: ({ restrictions }) => restrictions as Restriction[],
    }),
    requiresShipping: t.exposeBoolean("requiresShipping", {
      description: "Whether the variant has to be shipped. False for example for downloads.",
    }),
    weightGrams: t.exposeInt("weightGrams", {
      nullable: true,
      description: "The weight of one unit in grams; null if unknown.",
    }),
    maxOrderQuantity: t.exposeInt("maxOrderQuantity", {
      nullable: true,
      description: "The maximum number of units in one order; null if only the cart's general limit applies.",
    }),
    discontinued: t.exposeBoolean("discontinued", {
      description: "Whether the merchant no longer sells the variant.",
    }),
    availableFrom: t.expose("availableFrom", {
      type: "DateTime",
      nullable: true,
      description:
        "The time from which the variant is available; it is sold as a preorder until then. Null if it is available at once.",
    }),
    availability: t.field({
      type: AvailabilityEnum,
      description: "Whether and how the variant can be bought now.",
      resolve: (variant, _args, { clock }) => variantAvailability(variant, clock.now()),
    }),
    stock: t.field({
      type: StockLevel,
      description: "The stock of the variant.",
      resolve: (variant) => variant,
    }),
    stockVersion: t.exposeInt("stockVersion", {
      description: "The version of the variant's stock; increases with every change of the stock.",
    }),
    prices: t.field({
      type: [Price],
      description: "The current prices of the variant, one for each market in which it is offered.",
      complexity: { multiplier: 3 },
      resolve: ({ prices, product }) => prices.map((price) => Object.assign({ product }, price)),
    }),
  }),
});

CategoryRef.implement({
  description: "A category in the merchant's category tree.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The category's ID, `cat_…`." }),
    slug: t.expose("slug", {
      type: "Slug",
      description: "The part of the category page's URL that names the category; unique within the merchant.",
    }),
    names: t.field({
      type: "StringMap",
      description: "The names of the category by locale.",
      resolve: ({ names }) => names as Record<string, string>,
    }),
    parent: t.field({
      type: CategoryRef,
      nullable: true,
      description: "The parent category; null if this is a top-level category.",
      resolve: ({ parentId }, _args, { loaders }) =>
        parentId === null ? null : loaders.categories.load(parentId),
    }),
    position: t.exposeInt("position", {
      description: "The position among the categories with the same parent.",
    }),
    version: t.exposeInt("version", {
      description: "The category's version; increases by one with every change.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the category was created." }),
    updatedAt: t.expose("updatedAt", {
      type: "DateTime",
      description: "When the category was last changed.",
    }),
  }),
});

ProductRef.implement({
  description: "A product with all data that its merchant can edit.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The product's ID, `prd_…`." }),
    status: t.expose("status", {
      type: ProductStatusEnum,
      description: "Whether the product is a draft, published or archived.",
    }),
    version: t.exposeInt("version", {
      description: "The product's version; increases by one with every change.",
    }),
    brand: t.exposeString("brand", {
      nullable: true,
      description: "The product's brand; null if it has none.",
    }),
    rating: t.field({
      type: RatingRef,
      nullable: true,
      description: "The average customer rating imported by the merchant; null if there is none.",
      resolve: ({ ratingAverage: average, ratingCount: count }) =>
        average === null || count === null ? null : { average, count },
    }),
    merchant: t.field({
      type: MerchantRef,
      description: "The merchant who sells the product.",
      resolve: ({ merchant }, _args, { loaders }) => loaders.merchants.load(merchant.id),
    }),
    translations: t.field({
      type: [Translation],
      description: "The product's texts, one entry for each locale.",
      complexity: { multiplier: 3 },
      resolve: ({ translations }) => [...translations],
    }),
    categories: t.field({
      type: [CategoryRef],
      description: "The categories of the product, the main category first.",
      complexity: { multiplier: 3 },
      resolve: async ({ categories }, _args, { loaders }) =>
        Promise.all(categories.map(({ id }) => loaders.categories.load(id))),
    }),
    options: t.field({
      type: [Option],
      description: "The options in which the product's variants differ.",
      complexity: { multiplier: 2 },
      resolve: ({ options }) => [...options],
    }),
    attributes: t.field({
      type: [Attribute],
      description: "The product's attributes, for example material or dimensions.",
      complexity: { multiplier: 3 },
      resolve: ({ attributes }) => [...attributes],
    }),
    media: t.field({
      type: [Media],
      description: "The product's pictures and videos, in display order.",
      complexity: { multiplier: 3 },
      resolve: ({ media }) => [...media],
    }),
    variants: t.field({
      type: [VariantRef],
      description: "The product's variants in display order, at most 200.",
      complexity: { multiplier: 10 },
      resolve: (product) => product.variants.map((variant) => Object.assign({ product }, variant)),
    }),
    publishedAt: t.expose("publishedAt", {
      type: "DateTime",
      nullable: true,
      description: "When the product was first published; null if it never was.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the product was created." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When the product was last changed." }),
  }),
});

builder.queryFields((t) => ({
  product: t.field({
    type: ProductRef,
    nullable: true,
    description:
      "Returns a product of the merchant in any status; null if the merchant has no product with this ID.",
    authScopes: { callers: [...readers, "system"] },
    args: { id: t.arg.id({ required: true, description: "The product's ID." }) },
    resolve: async (_root, { id }, context) => {
      const owner = ownerOf(context);
      const product = await context.loaders.products.load(id);
      return product !== null && (owner === null || product.merchant.id === owner) ? product : null;
    },
  }),
  variant: t.field({
    type: VariantRef,
    nullable: true,
    description:
      "Returns a variant of one of the merchant's products, in any status; null if the merchant has no variant with this ID.",
    authScopes: { callers: [...readers, "system"] },
    args: { id: t.arg.id({ required: true, description: "The variant's ID." }) },
    resolve: async (_root, { id }, context) => {
      const owner = ownerOf(context);
      const productId = await context.loaders.productIdsOfVariants.load(id);
      const product = productId === null ? null : await context.loaders.products.load(productId);
      const variant = product?.variants.find((candidate) => candidate.id === id);
      if (product === null || variant === undefined) return null;
      return owner === null || product.merchant.id === owner ? Object.assign({ product }, variant) : null;
    },
  }),
  products: t.connection(
    {
      type: ProductRef,
      description: "The products of all merchants that the token may read, oldest first.",
      complexity: pageCost,
      authScopes: { callers: readers },
      args: {
        status: t.arg({ type: ProductStatusEnum, description: "Returns only products with this status." }),
      },
      resolve: async (_root, { status, ...args }, context) => {
        const query = productListQuery(context.db, { merchantId: ownerOf(context), status });
        const page = await connectionOf(args, { db: context.db, query, column: "product.id" });
        const loaded = await Promise.all(
          page.edges.map(({ node }) => context.loaders.products.load(node.id)),
        );
        return {
          ...page,
          edges: page.edges.flatMap(({ cursor }, index) =>
            loaded[index] ? [{ cursor, node: loaded[index] }] : [],
          ),
        };
      },
    },
    ...listTypes("Product", "products"),
  ),
  categories: t.connection(
    {
      type: CategoryRef,
      description: "The categories of all merchants that the token may read, oldest first.",
      complexity: pageCost,
      authScopes: { callers: [...readers, "storefront"] },
      resolve: (_root, args, context) =>
        connectionOf(args, {
          db: context.db,
          query: categoryListQuery(context.db, ownerOf(context)),
          column: "category.id",
        }),
    },
    ...listTypes("Category", "categories"),
  ),
}));
