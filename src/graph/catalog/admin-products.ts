/** The catalog as its merchant keeps it: every status, every language, stock and price history. */
import { availabilityIn } from "#commerce/catalog/render-product.ts";
import {
  categoryList,
  type MediaPart,
  type PricePart,
  type ProductAggregate,
  productList,
  type TranslationPart,
  type VariantPart,
} from "#commerce/catalog/read-products.ts";
import { money } from "#foundation/money.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { ownerOf, readers } from "#graph/context.ts";
import { connectionOf, pageCost, listTypes } from "#graph/connections.ts";
import { MediaTypeEnum } from "./product-detail.ts";
import { AvailabilityEnum, Rating, RestrictionEnum, type Restriction } from "./products.ts";
import { CategoryRef, MarketRef, MerchantRef, MoneyRef, ProductRef, VariantRef } from "#graph/refs.ts";

export const ProductStatusEnum = defineEnum("ProductStatus", {
  description: "Where a product is in its life.",
  values: {
    draft: "Being prepared: buyers do not see it.",
    published: "On sale.",
    archived: "Put away: kept for the orders that have it.",
  },
});

const Translation = builder.objectRef<TranslationPart>("ProductTranslation").implement({
  description: "A product's texts in one locale.",
  fields: (t) => ({
    locale: t.expose("locale", { type: "LocaleCode", description: "The locale." }),
    slug: t.expose("slug", { type: "Slug", description: "Its name in addresses." }),
    title: t.exposeString("title", { description: "1 to 200 characters." }),
    summary: t.exposeString("summary", {
      nullable: true,
      description: "Plain text, at most 300 characters.",
    }),
    description: t.exposeString("description", {
      nullable: true,
      description: "CommonMark, at most 20 000 characters.",
    }),
    seoTitle: t.exposeString("seoTitle", {
      nullable: true,
      description: "What search engines shall show as its title.",
    }),
    seoDescription: t.exposeString("seoDescription", {
      nullable: true,
      description: "What search engines shall show below it.",
    }),
  }),
});

const OptionChoice = builder
  .objectRef<{ code: string; labels: Readonly<Record<string, string>> }>("OptionChoice")
  .implement({
    description: "A choice that an option gives.",
    fields: (t) => ({
      code: t.exposeString("code", { description: "Its stable code." }),
      labels: t.expose("labels", { type: "StringMap", description: "Its name by locale." }),
    }),
  });

const Option = builder.objectRef<ProductAggregate["options"][number]>("OptionDefinition").implement({
  description: "Something a buyer chooses.",
  fields: (t) => ({
    code: t.exposeString("code", { description: "Its stable code." }),
    names: t.expose("names", { type: "StringMap", description: "Its name by locale." }),
    choices: t.field({
      type: [OptionChoice],
      description: "What there is to choose from.",
      complexity: { multiplier: 3 },
      resolve: ({ choices }) => [...choices],
    }),
  }),
});

const Attribute = builder.objectRef<ProductAggregate["attributes"][number]>("AttributeDefinition").implement({
  description: "A fact about a product.",
  fields: (t) => ({
    code: t.exposeString("code", { description: "Its stable code." }),
    names: t.expose("names", { type: "StringMap", description: "Its name by locale." }),
    value: t.expose("value", { type: "AttributeValue", description: "Its value." }),
    unit: t.exposeString("unit", { nullable: true, description: "The unit of the value." }),
  }),
});

const Media = builder.objectRef<MediaPart>("Media").implement({
  description: "A picture or video of a product.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Its id, `med_…`." }),
    type: t.expose("type", { type: MediaTypeEnum, description: "Picture or video." }),
    url: t.exposeString("url", { description: "Where it is: absolute, or a path of this service." }),
    alts: t.expose("alts", { type: "StringMap", description: "What it shows, by locale." }),
    width: t.exposeInt("width", { description: "Its width in pixels." }),
    height: t.exposeInt("height", { description: "Its height in pixels." }),
    position: t.exposeInt("position", { description: "Its place, from 0." }),
  }),
});

const Price = builder.objectRef<PricePart & { readonly product: ProductAggregate }>("Price").implement({
  description: "What a variant costs in a market now.",
  fields: (t) => ({
    market: t.field({
      type: MarketRef,
      description: "The market.",
      resolve: async ({ marketId, product }, _args, { loaders }) => {
        const market = (await loaders.markets.load(product.merchant.id)).find(({ id }) => id === marketId);
        if (market === undefined) throw new Error(`There is no market ${marketId}.`);
        return market;
      },
    }),
    amount: t.field({
      type: MoneyRef,
      description: "The price.",
      resolve: (price) => money(price.amountMinor, currencyOf(price)),
    }),
    compareAt: t.field({
      type: MoneyRef,
      nullable: true,
      description: "The price before a reduction.",
      resolve: (price) =>
        price.compareAtMinor === null ? null : money(price.compareAtMinor, currencyOf(price)),
    }),
    lowest30d: t.field({
      type: MoneyRef,
      nullable: true,
      description: "The lowest price of the 30 days before this one began.",
      resolve: (price) =>
        price.lowest30dMinor === null ? null : money(price.lowest30dMinor, currencyOf(price)),
    }),
    validFrom: t.expose("validFrom", { type: "DateTime", description: "Since when it is asked." }),
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
  description: "How much of a variant there is.",
  fields: (t) => ({
    onHand: t.exposeInt("onHand", { description: "On the shelf." }),
    reserved: t.exposeInt("reserved", { description: "Of that, promised to checkouts." }),
    available: t.int({
      description: "What can be sold now: on hand less reserved.",
      resolve: ({ onHand, reserved }) => onHand - reserved,
    }),
    backorderLimit: t.exposeInt("backorderLimit", {
      description: "How many more than are there may be ordered.",
    }),
    lowStockThreshold: t.exposeInt("lowStockThreshold", {
      description: "From this many available downwards it counts as low.",
    }),
  }),
});

VariantRef.implement({
  description: "One of the things a product comes as.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The variant's id, `var_…`." }),
    productId: t.id({ description: "The product it belongs to.", resolve: ({ product }) => product.id }),
    sku: t.exposeString("sku", { description: "The merchant's own number for it." }),
    gtin: t.exposeString("gtin", { nullable: true, description: "Its global trade item number." }),
    options: t.expose("options", {
      type: "StringMap",
      description: "The code of its choice for each option's code.",
    }),
    mediaId: t.exposeID("mediaId", {
      nullable: true,
      description: "The picture that shows it; null: the product's first.",
    }),
    restrictions: t.field({
      type: [RestrictionEnum],
      description: "What limits its sale.",
      complexity: 1,
      resolve: ({ restrictions }) => restrictions as Restriction[],
    }),
    requiresShipping: t.exposeBoolean("requiresShipping", { description: "Whether it has to be delivered." }),
    weightGrams: t.exposeInt("weightGrams", { nullable: true, description: "Its weight in grams." }),
    maxOrderQuantity: t.exposeInt("maxOrderQuantity", {
      nullable: true,
      description: "How many one order may have.",
    }),
    discontinued: t.exposeBoolean("discontinued", { description: "Whether it is no longer sold." }),
    availableFrom: t.expose("availableFrom", {
      type: "DateTime",
      nullable: true,
      description: "Sold before this time as a pre-order.",
    }),
    availability: t.field({
      type: AvailabilityEnum,
      description: "Whether it can be bought.",
      resolve: (variant, _args, { clock }) => availabilityIn(variant, clock.now()),
    }),
    stock: t.field({ type: StockLevel, description: "How much there is.", resolve: (variant) => variant }),
    stockVersion: t.exposeInt("stockVersion", { description: "Rises with every change of its stock." }),
    prices: t.field({
      type: [Price],
      description: "What it costs, market by market.",
      complexity: { multiplier: 3 },
      resolve: ({ prices, product }) => prices.map((price) => Object.assign({ product }, price)),
    }),
  }),
});

CategoryRef.implement({
  description: "A place in the tree that products are found by.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The category's id, `cat_…`." }),
    slug: t.expose("slug", { type: "Slug", description: "Its name in addresses." }),
    names: t.field({
      type: "StringMap",
      description: "Its name by locale.",
      resolve: ({ names }) => names as Record<string, string>,
    }),
    parent: t.field({
      type: CategoryRef,
      nullable: true,
      description: "The category above it.",
      resolve: ({ parentId }, _args, { loaders }) =>
        parentId === null ? null : loaders.categories.load(parentId),
    }),
    position: t.exposeInt("position", { description: "Its place among those beside it." }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
  }),
});

ProductRef.implement({
  description: "A product with everything its merchant keeps about it.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The product's id, `prd_…`." }),
    status: t.expose("status", { type: ProductStatusEnum, description: "Where it is in its life." }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    brand: t.exposeString("brand", { nullable: true, description: "The brand." }),
    rating: t.field({
      type: Rating,
      nullable: true,
      description: "What buyers think; null when nobody said.",
      resolve: ({ ratingAverage: average, ratingCount: count }) =>
        average === null || count === null ? null : { average, count },
    }),
    merchant: t.field({
      type: MerchantRef,
      description: "Who sells it.",
      resolve: ({ merchant }, _args, { loaders }) => loaders.merchants.load(merchant.id),
    }),
    translations: t.field({
      type: [Translation],
      description: "Its texts, by locale.",
      complexity: { multiplier: 3 },
      resolve: ({ translations }) => [...translations],
    }),
    categories: t.field({
      type: [CategoryRef],
      description: "The categories it stands in, the main one first.",
      complexity: { multiplier: 3 },
      resolve: async ({ categories }, _args, { loaders }) =>
        Promise.all(categories.map(({ id }) => loaders.categories.load(id))),
    }),
    options: t.field({
      type: [Option],
      description: "What a buyer chooses.",
      complexity: { multiplier: 2 },
      resolve: ({ options }) => [...options],
    }),
    attributes: t.field({
      type: [Attribute],
      description: "Facts about it.",
      complexity: { multiplier: 3 },
      resolve: ({ attributes }) => [...attributes],
    }),
    media: t.field({
      type: [Media],
      description: "Its pictures and videos.",
      complexity: { multiplier: 3 },
      resolve: ({ media }) => [...media],
    }),
    variants: t.field({
      type: [VariantRef],
      description: "What it comes as, 200 at most.",
      complexity: { multiplier: 10 },
      resolve: (product) => product.variants.map((variant) => Object.assign({ product }, variant)),
    }),
    publishedAt: t.expose("publishedAt", {
      type: "DateTime",
      nullable: true,
      description: "When it was last published.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
  }),
});

builder.queryFields((t) => ({
  product: t.field({
    type: ProductRef,
    nullable: true,
    description: "A product of the merchant, whatever its status.",
    authScopes: { callers: [...readers, "system"] },
    args: { id: t.arg.id({ required: true, description: "The product's id." }) },
    resolve: async (_root, { id }, context) => {
      const owner = ownerOf(context);
      const product = await context.loaders.products.load(id);
      return product !== null && (owner === null || product.merchant.id === owner) ? product : null;
    },
  }),
  variant: t.field({
    type: VariantRef,
    nullable: true,
    description: "A variant of a product of the merchant, whatever its status.",
    authScopes: { callers: [...readers, "system"] },
    args: { id: t.arg.id({ required: true, description: "The variant's id." }) },
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
      description: "The products of the merchants that the token sees, oldest first.",
      complexity: pageCost,
      authScopes: { callers: readers },
      args: { status: t.arg({ type: ProductStatusEnum, description: "Only those with this status." }) },
      resolve: async (_root, { status, ...args }, context) => {
        const query = productList(context.db, { merchantId: ownerOf(context), status });
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
      description: "The categories of the merchants that the token sees, oldest first.",
      complexity: pageCost,
      authScopes: { callers: [...readers, "storefront"] },
      resolve: (_root, args, context) =>
        connectionOf(args, {
          db: context.db,
          query: categoryList(context.db, ownerOf(context)),
          column: "category.id",
        }),
    },
    ...listTypes("Category", "categories"),
  ),
}));
