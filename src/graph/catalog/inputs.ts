/** Input types of the catalog's mutations. A field that is left out stays unchanged; null removes its value. */
import { catalogBounds as bounds } from "#commerce/catalog/catalog-fields.ts";
import { builder } from "#graph/builder.ts";
import { RestrictionEnum } from "./products.ts";

export const expectedVersionDescription =
  "The version that the caller last read. If the current version is different, nothing is changed and the error is version_conflict (409).";

export const LocalizedTextInputType = builder.inputType("LocalizedTextInput", {
  description: "A text in one locale.",
  fields: (t) => ({
    locale: t.field({ type: "LocaleCode", required: true, description: "The locale of the text." }),
    text: t.string({ required: true, description: "The text in this locale." }),
  }),
});

export const RatingInputType = builder.inputType("RatingInput", {
  description: "The average customer rating of a product, imported from another system.",
  fields: (t) => ({
    average: t.float({ required: true, description: "The average rating, from 0 to 5." }),
    count: t.int({
      required: true,
      description: "The number of ratings that the average is calculated from; 0 or more.",
    }),
  }),
});

export const AttributeInputType = builder.inputType("AttributeInput", {
  description: "A named fact about a product, for example its material.",
  fields: (t) => ({
    code: t.string({
      required: true,
      description: `The stable code of the attribute, unique within its product. 1 to ${bounds.codeMax} characters.`,
    }),
    names: t.field({
      type: [LocalizedTextInputType],
      required: true,
      description: "The names of the attribute by locale, at least one.",
    }),
    value: t.field({ type: "AttributeValue", required: true, description: "The value of the attribute." }),
    unit: t.string({
      description: `The unit of the attribute's value, for example \`mm\`. 1 to ${bounds.unitMax} characters.`,
    }),
  }),
});

const ChoiceInput = builder.inputType("OptionChoiceInput", {
  description: "One value that a product option offers, for example the colour blue.",
  fields: (t) => ({
    code: t.string({
      required: true,
      description: `The stable code of this choice, unique within its option. 1 to ${bounds.codeMax} characters.`,
    }),
    labels: t.field({
      type: [LocalizedTextInputType],
      required: true,
      description: "The labels of this choice by locale, at least one.",
    }),
  }),
});

export const OptionInputType = builder.inputType("OptionInput", {
  description:
    "A property in which the variants of a product differ, for example colour or size. Every variant has one choice of each option.",
  fields: (t) => ({
    code: t.string({
      required: true,
      description: `The stable code of the option, unique within its product. 1 to ${bounds.codeMax} characters.`,
    }),
    names: t.field({
      type: [LocalizedTextInputType],
      required: true,
      description: "The names of the option by locale, at least one.",
    }),
    choices: t.field({
      type: [ChoiceInput],
      required: true,
      description: `The choices that the option offers, in display order. 1 to ${bounds.choicesMax}.`,
    }),
  }),
});

export const TranslationInputType = builder.inputType("TranslationInput", {
  description:
    "All texts of a product in one locale. They replace the current texts in this locale; a text that is left out is removed.",
  fields: (t) => ({
    locale: t.field({ type: "LocaleCode", required: true, description: "The locale of these texts." }),
    slug: t.field({
      type: "Slug",
      required: true,
      description:
        "The part of the product page's URL that names the product. A slug stays reserved for its product, even if the product later gets another one.",
    }),
    title: t.string({
      required: true,
      description: `The product's title in this locale. 1 to ${bounds.titleMax} characters.`,
    }),
    summary: t.string({
      description: `A short plain-text summary of the product. 1 to ${bounds.summaryMax} characters.`,
    }),
    description: t.string({
      description: `The product's description as CommonMark. 1 to ${bounds.descriptionMax} characters.`,
    }),
    seoTitle: t.string({
      description: `The page title intended for search engines. 1 to ${bounds.seoTitleMax} characters.`,
    }),
    seoDescription: t.string({
      description: `The page description intended for search engines. 1 to ${bounds.seoDescriptionMax} characters.`,
    }),
  }),
});

export const ProductCreateInputType = builder.inputType("ProductCreateInput", {
  description: "A new product. It is created as a draft.",
  fields: (t) => ({
    brand: t.string({ description: `The product's brand. 1 to ${bounds.brandMax} characters.` }),
    rating: t.field({ type: RatingInputType, description: "The average customer rating." }),
    attributes: t.field({
      type: [AttributeInputType],
      description: `The product's attributes, for example material or dimensions. 0 to ${bounds.attributesMax}.`,
    }),
    options: t.field({
      type: [OptionInputType],
      description: `The options in which the product's variants differ. 0 to ${bounds.optionsMax}.`,
    }),
    categoryIds: t.idList({
      description: `The IDs of the product's categories, the main category first. 0 to ${bounds.categoriesPerProductMax}.`,
    }),
    translations: t.field({
      type: [TranslationInputType],
      required: true,
      description: `The product's texts, one entry for each locale. 1 to ${bounds.localesMax}.`,
    }),
  }),
});

export const ProductUpdateInputType = builder.inputType("ProductUpdateInput", {
  description: "Changes to a product. Fields that are left out stay unchanged.",
  fields: (t) => ({
    productId: t.id({ required: true, description: "The product's ID." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    brand: t.string({
      description: `The product's brand; null removes it. 1 to ${bounds.brandMax} characters.`,
    }),
    rating: t.field({ type: RatingInputType, description: "The average customer rating; null removes it." }),
    attributes: t.field({
      type: [AttributeInputType],
      description: `The product's attributes; replaces the current list. 0 to ${bounds.attributesMax}.`,
    }),
    options: t.field({
      type: [OptionInputType],
      description: `The options in which the product's variants differ; replaces the current list. 0 to ${bounds.optionsMax}.`,
    }),
    categoryIds: t.idList({
      description: `The IDs of the product's categories, the main category first; replaces the current list. 0 to ${bounds.categoriesPerProductMax}.`,
    }),
  }),
});

export const ProductTransitionInputType = builder.inputType("ProductTransitionInput", {
  description: "A product whose status is to change.",
  fields: (t) => ({
    productId: t.id({ required: true, description: "The product's ID." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const ProductTranslationUpsertInputType = builder.inputType("ProductTranslationUpsertInput", {
  description: "All texts of a product in one locale. They replace the current texts in this locale.",
  fields: (t) => ({
    productId: t.id({ required: true, description: "The product's ID." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    translation: t.field({
      type: TranslationInputType,
      required: true,
      description: "The locale and its new texts.",
    }),
  }),
});

export const VariantOptionInputType = builder.inputType("VariantOptionInput", {
  description: "A variant's choice of one option.",
  fields: (t) => ({
    option: t.string({
      required: true,
      description: `The code of the option. 1 to ${bounds.codeMax} characters.`,
    }),
    choice: t.string({
      required: true,
      description: `The code of the choice. 1 to ${bounds.codeMax} characters.`,
    }),
  }),
});

export const VariantUpsertInputType = builder.inputType("VariantUpsertInput", {
  description:
    "A variant to create or change. An existing variant is found by its ID or SKU. Fields that are left out stay unchanged.",
  fields: (t) => ({
    productId: t.id({ required: true, description: "The product's ID." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    variantId: t.id({
      description:
        "The variant's ID; if left out, the product's variant with this SKU is changed, or a new one is created.",
    }),
    sku: t.string({
      required: true,
      description: `The merchant's article number (SKU) of the variant: printable ASCII characters. SKUs that differ only in case count as equal, and a SKU is unique within the merchant. 1 to ${bounds.skuMax} characters.`,
    }),
    options: t.field({
      type: [VariantOptionInputType],
      required: true,
      description: `The variant's choices, exactly one for each of the product's options. 0 to ${bounds.optionsMax}.`,
    }),
    gtin: t.string({
      description:
        "The variant's global trade item number: GTIN-8, -12, -13 or -14 with a valid GS1 check digit; null removes it.",
    }),
    restrictions: t.field({
      type: [RestrictionEnum],
      description: "Restrictions on selling, shipping or returning the variant; replaces the current list.",
    }),
    requiresShipping: t.boolean({
      description: "Whether the variant has to be shipped; true for a new variant if left out.",
    }),
    weightGrams: t.int({
      description: `The weight of one unit in grams; null removes it. 0 to ${bounds.weightGramsMax}.`,
    }),
    maxOrderQuantity: t.int({
      description: "The maximum number of units in one order; null removes the limit. 1 to 9999.",
    }),
    discontinued: t.boolean({ description: "Whether the merchant no longer sells the variant." }),
    availableFrom: t.field({
      type: "DateTime",
      description:
        "The time from which the variant is available; it is sold as a preorder until then. Null if it is available at once.",
    }),
    position: t.int({
      description: `The position among the product's variants. 0 to ${bounds.positionMax}.`,
    }),
    backorderLimit: t.int({
      description: `The number of units that may be sold beyond the units on hand. 0 to ${bounds.onHandMax}.`,
    }),
    lowStockThreshold: t.int({
      description: `Availability is LOW_STOCK if at most this many unreserved units are left. 0 to ${bounds.onHandMax}.`,
    }),
    mediaId: t.id({
      description:
        "The ID of the product's picture that shows this variant; null if the product's first picture is used.",
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
        "The price in minor units of the market's currency; null removes the variant from sale in the market.",
    }),
    compareAtMinor: t.field({
      type: "MinorUnits",
      description:
        "The price before a reduction, in minor units; must be higher than the price. Null or left out if the price is not reduced.",
    }),
    currency: t.field({
      type: "CurrencyCode",
      description:
        "The currency of the price. Optional; if present, it must be the market's currency, which detects amounts in wrong minor units.",
    }),
  }),
});

export const PricesSetInputType = builder.inputType("PricesSetInput", {
  description: "Prices that are valid from now on. The previous prices are kept as price history.",
  fields: (t) => ({
    prices: t.field({
      type: [PriceInput],
      required: true,
      description: `The prices to set. 1 to ${bounds.pricesMax}.`,
    }),
  }),
});
