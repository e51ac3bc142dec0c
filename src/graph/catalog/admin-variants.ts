/**
 * The GraphQL types and the query of a merchant's product variants, with their stock and current prices, for
 * the merchant's staff.
 */
import type {
  StoredVariantPrice,
  ProductAggregate,
  StoredProductVariant,
} from "#commerce/catalog/read-products.ts";
import { getVariantAvailability } from "#commerce/catalog/render-product.ts";
import { createMoney } from "#foundation/money.ts";
import { builder } from "#graph/builder.ts";
import { aggregateCost } from "#graph/limits.ts";
import { getCallerMerchantId, merchantReaders } from "#graph/context.ts";
import { MarketRef, MoneyRef, VariantRef } from "#graph/refs.ts";
import { AvailabilityEnum, type VariantSaleOrReturnRestriction, RestrictionEnum } from "./products.ts";

const PriceRef = builder
  .objectRef<StoredVariantPrice & { readonly product: ProductAggregate }>("Price")
  .implement({
    description: "The current price of a variant in one market.",
    fields: (t) => ({
      market: t.field({
        type: MarketRef,
        description: "The market in which this price is valid.",
        resolve: async ({ marketId, product }, _args, { loaders }) => {
          const market = (await loaders.markets.load(product.merchant.id)).find(({ id }) => id === marketId);
          if (market === undefined) throw new Error(`Market ${marketId} does not exist.`);
          return market;
        },
      }),
      amount: t.field({
        type: MoneyRef,
        description: "The price of one unit in the market's currency.",
        resolve: (price) => createMoney(price.amountMinor, currencyOf(price)),
      }),
      compareAt: t.field({
        type: MoneyRef,
        nullable: true,
        description: "The price of one unit before a reduction; null if the price is not reduced.",
        resolve: (price) =>
          price.compareAtMinor === null ? null : createMoney(price.compareAtMinor, currencyOf(price)),
      }),
      lowest30d: t.field({
        type: MoneyRef,
        nullable: true,
        description:
          "The lowest price in the 30 days before the current price began; null if the variant had no " +
          "price in these days.",
        resolve: (price) =>
          price.lowest30dMinor === null ? null : createMoney(price.lowest30dMinor, currencyOf(price)),
      }),
      validFrom: t.expose("validFrom", {
        type: "DateTime",
        description: "When the current price became valid.",
      }),
      endsAt: t.expose("endsAt", {
        type: "DateTime",
        nullable: true,
        description:
          "The time at which the current price stops applying; from this time on, the price before it " +
          "applies again. Null if the price has no end.",
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
  if (market === undefined) throw new Error(`Market ${marketId} does not exist.`);
  return market.currency;
}

const StockLevelRef = builder.objectRef<StoredProductVariant>("StockLevel").implement({
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
      description:
        "The low-stock threshold: the variant has the availability LOW_STOCK if at most this many " +
        "unreserved units are left.",
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
      description: "The variant's global trade item number (GTIN); null if the variant has no number.",
    }),
    options: t.expose("options", {
      type: "StringMap",
      description: "The variant's choices, as a map of option codes to choice codes.",
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
      resolve: ({ restrictions }) => restrictions as VariantSaleOrReturnRestriction[],
    }),
    requiresShipping: t.exposeBoolean("requiresShipping", {
      description: "Whether the variant has to be shipped. False for example for downloads.",
    }),
    weightGrams: t.exposeInt("weightGrams", {
      nullable: true,
      description: "The weight of one unit of the variant in grams; null if the weight is not known.",
    }),
    maxOrderQuantity: t.exposeInt("maxOrderQuantity", {
      nullable: true,
      description:
        "The maximum number of units of the variant in one order; null if only the cart's general limit " +
        "applies.",
    }),
    discontinued: t.exposeBoolean("discontinued", {
      description: "Whether the merchant no longer sells the variant.",
    }),
    availableFrom: t.expose("availableFrom", {
      type: "DateTime",
      nullable: true,
      description:
        "The time from which the variant is available; before this time, the variant is sold as a " +
        "preorder. Null if the variant is available at once.",
    }),
  }),
});

builder.objectFields(VariantRef, (t) => ({
  availability: t.field({
    type: AvailabilityEnum,
    description: "Whether and how the variant can be bought now.",
    resolve: (variant, _args, { clock }) => getVariantAvailability(variant, clock.now()),
  }),
  stock: t.field({
    type: StockLevelRef,
    description: "The stock of the variant.",
    resolve: (variant) => variant,
  }),
  stockVersion: t.exposeInt("stockVersion", {
    description: "The version of the variant's stock; increases with every change of the stock.",
  }),
  prices: t.field({
    type: [PriceRef],
    description: "The current prices of the variant, one for each market in which it is offered.",
    complexity: { multiplier: 3 },
    resolve: ({ prices, product }) => prices.map((price) => Object.assign({ product }, price)),
  }),
}));

builder.queryField("variant", (t) =>
  t.field({
    type: VariantRef,
    nullable: true,
    description:
      "Returns a variant of one of the merchant's products, in any status; null if the merchant has no " +
      "variant with this ID.",
    authScopes: { callers: [...merchantReaders, "system"] },
    complexity: aggregateCost,
    args: { id: t.arg.id({ required: true, description: "The variant's ID." }) },
    resolve: async (_root, { id }, context) => {
      const owner = getCallerMerchantId(context);
      const productId = await context.loaders.productIdsOfVariants.load(id);
      const product = productId === null ? null : await context.loaders.products.load(productId);
      const variant = product?.variants.find((candidate) => candidate.id === id);
      if (product === null || variant === undefined) return null;
      return owner === null || product.merchant.id === owner ? Object.assign({ product }, variant) : null;
    },
  }),
);
