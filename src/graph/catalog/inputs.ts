/** What the catalog's mutations take. Left out means that it stays as it is, null that there is none any more. */
import { catalogBounds as bounds } from "#commerce/catalog/catalog-fields.ts";
import { builder } from "#graph/builder.ts";
import { RestrictionEnum } from "./products.ts";

export const expectedVersion =
  "The version the caller has seen; when it has another by now, nothing is changed (409 version_conflict).";

export const LocalizedText = builder.inputType("LocalizedTextInput", {
  description: "A text in one locale.",
  fields: (t) => ({
    locale: t.field({ type: "LocaleCode", required: true, description: "The locale." }),
    text: t.string({ required: true, description: "The text." }),
  }),
});

export const RatingInput = builder.inputType("RatingInput", {
  description: "What buyers think, imported from elsewhere.",
  fields: (t) => ({
    average: t.float({ required: true, description: "From 0 to 5." }),
    count: t.int({ required: true, description: "How many ratings the average is of. 0 or more." }),
  }),
});

export const AttributeInput = builder.inputType("AttributeInput", {
  description: "A fact about a product.",
  fields: (t) => ({
    code: t.string({
      required: true,
      description: `Its stable code, unique in the product. 1 to ${bounds.codeMax} characters.`,
    }),
    names: t.field({
      type: [LocalizedText],
      required: true,
      description: "Its name by locale, at least one.",
    }),
    value: t.field({ type: "AttributeValue", required: true, description: "Its value." }),
    unit: t.string({ description: `The unit of the value. 1 to ${bounds.unitMax} characters.` }),
  }),
});

const ChoiceInput = builder.inputType("OptionChoiceInput", {
  description: "A choice that an option gives.",
  fields: (t) => ({
    code: t.string({
      required: true,
      description: `Its stable code, unique in the option. 1 to ${bounds.codeMax} characters.`,
    }),
    labels: t.field({
      type: [LocalizedText],
      required: true,
      description: "Its name by locale, at least one.",
    }),
  }),
});

export const OptionInput = builder.inputType("OptionInput", {
  description: "Something a buyer chooses. Every variant has one choice of each option.",
  fields: (t) => ({
    code: t.string({
      required: true,
      description: `Its stable code, unique in the product. 1 to ${bounds.codeMax} characters.`,
    }),
    names: t.field({
      type: [LocalizedText],
      required: true,
      description: "Its name by locale, at least one.",
    }),
    choices: t.field({
      type: [ChoiceInput],
      required: true,
      description: `What there is to choose from, in the order shown. 1 to ${bounds.choicesMax}.`,
    }),
  }),
});

export const TranslationInput = builder.inputType("TranslationInput", {
  description: "A product's texts in one locale, in place of those there are.",
  fields: (t) => ({
    locale: t.field({ type: "LocaleCode", required: true, description: "The locale." }),
    slug: t.field({
      type: "Slug",
      required: true,
      description: "Its name in addresses. A slug names one product of a merchant for ever.",
    }),
    title: t.string({ required: true, description: `The title. 1 to ${bounds.titleMax} characters.` }),
    summary: t.string({ description: `Plain text. 1 to ${bounds.summaryMax} characters.` }),
    description: t.string({ description: `CommonMark. 1 to ${bounds.descriptionMax} characters.` }),
    seoTitle: t.string({
      description: `What search engines shall show as its title. 1 to ${bounds.seoTitleMax} characters.`,
    }),
    seoDescription: t.string({
      description: `What search engines shall show below it. 1 to ${bounds.seoDescriptionMax} characters.`,
    }),
  }),
});

export const ProductCreateInput = builder.inputType("ProductCreateInput", {
  description: "A new product; it begins as a draft.",
  fields: (t) => ({
    brand: t.string({ description: `The brand. 1 to ${bounds.brandMax} characters.` }),
    rating: t.field({ type: RatingInput, description: "What buyers think." }),
    attributes: t.field({
      type: [AttributeInput],
      description: `Facts about it. 0 to ${bounds.attributesMax}.`,
    }),
    options: t.field({
      type: [OptionInput],
      description: `What a buyer chooses. 0 to ${bounds.optionsMax}.`,
    }),
    categoryIds: t.idList({
      description: `The categories it stands in, the main one first. 0 to ${bounds.categoriesPerProductMax}.`,
    }),
    translations: t.field({
      type: [TranslationInput],
      required: true,
      description: `Its texts, in at least one locale. 1 to ${bounds.localesMax}.`,
    }),
  }),
});

export const ProductUpdateInput = builder.inputType("ProductUpdateInput", {
  description: "What shall change of a product.",
  fields: (t) => ({
    productId: t.id({ required: true, description: "The product." }),
    expectedVersion: t.int({ description: expectedVersion }),
    brand: t.string({ description: `The brand. 1 to ${bounds.brandMax} characters.` }),
    rating: t.field({ type: RatingInput, description: "What buyers think." }),
    attributes: t.field({
      type: [AttributeInput],
      description: `Facts about it, in place of those there are. 0 to ${bounds.attributesMax}.`,
    }),
    options: t.field({
      type: [OptionInput],
      description: `What a buyer chooses, in place of what there is. 0 to ${bounds.optionsMax}.`,
    }),
    categoryIds: t.idList({
      description: `The categories it stands in, in place of those there are. 0 to ${bounds.categoriesPerProductMax}.`,
    }),
  }),
});

export const ProductTransitionInput = builder.inputType("ProductTransitionInput", {
  description: "A product and what the caller knows of it.",
  fields: (t) => ({
    productId: t.id({ required: true, description: "The product." }),
    expectedVersion: t.int({ description: expectedVersion }),
  }),
});

export const ProductTranslationUpsertInput = builder.inputType("ProductTranslationUpsertInput", {
  description: "A product's texts in one locale, in place of those there are.",
  fields: (t) => ({
    productId: t.id({ required: true, description: "The product." }),
    expectedVersion: t.int({ description: expectedVersion }),
    translation: t.field({ type: TranslationInput, required: true, description: "The texts." }),
  }),
});

export const VariantOptionInput = builder.inputType("VariantOptionInput", {
  description: "Which choice a variant has of an option.",
  fields: (t) => ({
    option: t.string({
      required: true,
      description: `The option's code. 1 to ${bounds.codeMax} characters.`,
    }),
    choice: t.string({
      required: true,
      description: `The choice's code. 1 to ${bounds.codeMax} characters.`,
    }),
  }),
});

export const VariantUpsertInput = builder.inputType("VariantUpsertInput", {
  description: "A variant of a product, found by id or SKU, or made.",
  fields: (t) => ({
    productId: t.id({ required: true, description: "The product." }),
    expectedVersion: t.int({ description: expectedVersion }),
    variantId: t.id({ description: "The variant; without it the one with this SKU, or a new one." }),
    sku: t.string({
      required: true,
      description: `The merchant's own number for it: ASCII, unique with the merchant whatever its case. 1 to ${bounds.skuMax} characters.`,
    }),
    options: t.field({
      type: [VariantOptionInput],
      required: true,
      description: `One choice of each of the product's options. 0 to ${bounds.optionsMax}.`,
    }),
    gtin: t.string({ description: "GTIN-8, -12, -13 or -14 with the right check digit (GS1)." }),
    restrictions: t.field({ type: [RestrictionEnum], description: "What limits its sale." }),
    requiresShipping: t.boolean({ description: "Whether it has to be delivered; true when it is new." }),
    weightGrams: t.int({ description: `Its weight in grams. 0 to ${bounds.weightGramsMax}.` }),
    maxOrderQuantity: t.int({ description: "How many one order may have. 1 to 9999." }),
    discontinued: t.boolean({ description: "Whether it is no longer sold." }),
    availableFrom: t.field({ type: "DateTime", description: "Sold before this time as a pre-order." }),
    position: t.int({ description: `Its place among the variants. 0 to ${bounds.positionMax}.` }),
    backorderLimit: t.int({
      description: `How many more than are there may be ordered. 0 to ${bounds.onHandMax}.`,
    }),
    lowStockThreshold: t.int({
      description: `From this many available downwards it counts as low. 0 to ${bounds.onHandMax}.`,
    }),
    mediaId: t.id({ description: "The product's picture that shows this variant." }),
  }),
});

const PriceInput = builder.inputType("PriceInput", {
  description: "What a variant costs in a market from now on.",
  fields: (t) => ({
    variantId: t.id({ required: true, description: "The variant." }),
    marketId: t.id({ required: true, description: "The market." }),
    amountMinor: t.field({
      type: "MinorUnits",
      description: "The price in the market's currency; null ends the offer there.",
    }),
    compareAtMinor: t.field({
      type: "MinorUnits",
      description: "The price before a reduction, above the price.",
    }),
    currency: t.field({
      type: "CurrencyCode",
      description: "The market's; sent along it is checked, so that yen are never written as cents.",
    }),
  }),
});

export const PricesSetInput = builder.inputType("PricesSetInput", {
  description: "Prices that hold from now on. The ones before are kept as history.",
  fields: (t) => ({
    prices: t.field({
      type: [PriceInput],
      required: true,
      description: `The prices. 1 to ${bounds.pricesMax}.`,
    }),
  }),
});
