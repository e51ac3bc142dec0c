/** The GraphQL input types of the mutations of variants and prices. */
import { catalogBounds as bounds } from "#commerce/catalog/catalog-fields.ts";
import { builder } from "#graph/builder.ts";
import { expectedVersionDescription } from "./inputs.ts";
import { RestrictionEnum } from "./products.ts";

export const VariantOptionInputType = builder.inputType("VariantOptionInput", {
  description: "A variant's choice of one option.",
  fields: (t) => ({
    option: t.string({
      required: true,
      description: `The code of the option, 1 to ${bounds.codeMax} characters.`,
    }),
    choice: t.string({
      required: true,
      description: `The code of the choice, 1 to ${bounds.codeMax} characters.`,
    }),
  }),
});

export const VariantUpsertInputType = builder.inputType("VariantUpsertInput", {
  description:
    "A variant to create or change. An existing variant is found by its ID or SKU. Fields that are left " +
    "out stay unchanged.",
  fields: (t) => ({
    productId: t.id({ required: true, description: "The product's ID." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    variantId: t.id({
      description:
        "The variant's ID. If left out, the product's variant with the given SKU is changed, or a new " +
        "variant with this SKU is created.",
    }),
    sku: t.string({
      required: true,
      description:
        "The merchant's article number (SKU) of the variant: printable ASCII characters. SKUs that " +
        "differ only in case count as equal, and a SKU is unique within the merchant. A SKU has 1 to " +
        `${bounds.skuMax} characters.`,
    }),
    options: t.field({
      type: [VariantOptionInputType],
      required: true,
      description:
        "The variant's choices, exactly one for each of the product's options, 0 to " +
        `${bounds.optionsMax}.`,
    }),
    gtin: t.string({
      description:
        "The variant's global trade item number: GTIN-8, -12, -13 or -14 with a valid GS1 check digit; " +
        "null removes the number.",
    }),
    restrictions: t.field({
      type: [RestrictionEnum],
      description:
        "Restrictions on selling, shipping or returning the variant; the list replaces the current list.",
    }),
    requiresShipping: t.boolean({
      description: "Whether the variant has to be shipped; true for a new variant if left out.",
    }),
    weightGrams: t.int({
      description:
        `The weight of one unit of the variant in grams, 0 to ${bounds.weightGramsMax}; null removes the ` +
        "weight.",
    }),
    maxOrderQuantity: t.int({
      description:
        "The maximum number of units of the variant in one order, 1 to 9999; null removes the limit.",
    }),
    discontinued: t.boolean({ description: "Whether the merchant no longer sells the variant." }),
    availableFrom: t.field({
      type: "DateTime",
      description:
        "The time from which the variant is available; before this time, the variant is sold as a " +
        "preorder. Null if the variant is available at once.",
    }),
    position: t.int({
      description:
        "The variant's position in the display order of the product's variants, 0 to " +
        `${bounds.positionMax}.`,
    }),
    backorderLimit: t.int({
      description: `The number of units that may be sold beyond the units on hand, 0 to ${bounds.onHandMax}.`,
    }),
    lowStockThreshold: t.int({
      description:
        "The low-stock threshold: the variant has the availability LOW_STOCK if at most this many " +
        `unreserved units are left; 0 to ${bounds.onHandMax}.`,
    }),
    mediaId: t.id({
      description:
        "The ID of the product's picture that shows this variant; null if the product's first picture is " +
        "used.",
    }),
  }),
});

const PriceInput = builder.inputType("PriceInput", {
  description: "The price of a variant in one market from now on.",
  fields: (t) => ({
    variantId: t.id({ required: true, description: "The variant's ID." }),
    marketId: t.id({ required: true, description: "The ID of the market in which the price is valid." }),
    amountMinor: t.field({
      type: "MinorUnits",
      description:
        "The price in minor units of the market's currency; null removes the variant from sale in the " +
        "market.",
    }),
    compareAtMinor: t.field({
      type: "MinorUnits",
      description:
        "The price before a reduction, in minor units of the market's currency; must be higher than the " +
        "price. Null or left out if the price is not reduced.",
    }),
    currency: t.field({
      type: "CurrencyCode",
      description:
        "The currency of the price. Optional; a currency that is not the market's currency is refused, so " +
        "that amounts in wrong minor units are detected.",
    }),
    endsAt: t.field({
      type: "DateTime",
      description:
        "The time at which the price stops applying; must be later than the present time. From this time " +
        "on, the variant's last price without an end applies again; if there is no such price, the variant " +
        "is not sold in the market. Null or left out for a price without an end, which also replaces a " +
        "price that has an end.",
    }),
  }),
});

export const PricesSetInputType = builder.inputType("PricesSetInput", {
  description: "Prices that are valid from now on. The previous prices are kept as price history.",
  fields: (t) => ({
    prices: t.field({
      type: [PriceInput],
      required: true,
      description: `The prices of variants to set, 1 to ${bounds.pricesMax}.`,
    }),
  }),
});
