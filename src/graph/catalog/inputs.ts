/**
 * The GraphQL input types of mutations of products and categories. In an update, a field that is left out
 * stays unchanged; null removes its value.
 */
import { catalogBounds as bounds } from "#commerce/catalog/catalog-fields.ts";
import { builder } from "#graph/builder.ts";

export const expectedVersionDescription =
  "The version of the object to change that the caller last read. If the object's current " +
  "version is different, nothing is changed and the error is version_conflict (409).";

export const LocalizedTextInputType = builder.inputType("LocalizedTextInput", {
  description: "A text in one locale.",
  fields: (t) => ({
    locale: t.field({
      type: "LocaleCode",
      required: true,
      description: "The locale in which the text is written.",
    }),
    text: t.string({ required: true, description: "The text, written in the language of `locale`." }),
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
      description:
        `The stable code of the attribute, unique within its product. 1 to ${bounds.codeMax} ` +
        "characters.",
    }),
    names: t.field({
      type: [LocalizedTextInputType],
      required: true,
      description: "The names of the attribute by locale, at least one.",
    }),
    value: t.field({ type: "AttributeValue", required: true, description: "The value of the attribute." }),
    unit: t.string({
      description: `The unit of the attribute's value, for example \`mm\`, 1 to ${bounds.unitMax} characters.`,
    }),
  }),
});

const ChoiceInput = builder.inputType("OptionChoiceInput", {
  description: "One value that a product option offers, for example the colour blue.",
  fields: (t) => ({
    code: t.string({
      required: true,
      description: `The stable code of this choice, unique within its option, 1 to ${bounds.codeMax} characters.`,
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
    "A property in which the variants of a product differ, for example colour or size. Every variant has " +
    "one choice of each option.",
  fields: (t) => ({
    code: t.string({
      required: true,
      description: `The stable code of the option, unique within its product, 1 to ${bounds.codeMax} characters.`,
    }),
    names: t.field({
      type: [LocalizedTextInputType],
      required: true,
      description: "The names of the option by locale, at least one.",
    }),
    choices: t.field({
      type: [ChoiceInput],
      required: true,
      description: `The choices that the option offers, in display order, 1 to ${bounds.choicesMax}.`,
    }),
  }),
});

export const TranslationInputType = builder.inputType("TranslationInput", {
  description:
    "All texts of a product in one locale. These texts replace the product's current texts in the " +
    "locale; a text that is left out is removed.",
  fields: (t) => ({
    locale: t.field({
      type: "LocaleCode",
      required: true,
      description: "The locale of the product's texts in this input.",
    }),
    slug: t.field({
      type: "Slug",
      required: true,
      description:
        "The part of the product page's URL that names the product. A slug stays reserved for its " +
        "product, even if the product later gets another slug.",
    }),
    title: t.string({
      required: true,
      description: `The product's title in this locale, 1 to ${bounds.titleMax} characters.`,
    }),
    summary: t.string({
      description: `A short plain-text summary of the product, 1 to ${bounds.summaryMax} characters.`,
    }),
    description: t.string({
      description: `The product's description as CommonMark, 1 to ${bounds.descriptionMax} characters.`,
    }),
    seoTitle: t.string({
      description: `The page title intended for search engines, 1 to ${bounds.seoTitleMax} characters.`,
    }),
    seoDescription: t.string({
      description: `The page description intended for search engines, 1 to ${bounds.seoDescriptionMax} characters.`,
    }),
  }),
});

export const taxClassDescription = "The code of the product's tax class; null means `standard`.";

export const ProductCreateInputType = builder.inputType("ProductCreateInput", {
  description: "A new product, which is created as a draft.",
  fields: (t) => ({
    brand: t.string({ description: `The product's brand, 1 to ${bounds.brandMax} characters.` }),
    rating: t.field({
      type: RatingInputType,
      description: "The product's average customer rating, imported from another system.",
    }),
    taxClass: t.string({ description: taxClassDescription }),
    attributes: t.field({
      type: [AttributeInputType],
      description: `The product's attributes, for example material or dimensions, 0 to ${bounds.attributesMax}.`,
    }),
    options: t.field({
      type: [OptionInputType],
      description: `The options in which the product's variants differ, 0 to ${bounds.optionsMax}.`,
    }),
    categoryIds: t.idList({
      description:
        "The IDs of the product's categories, the main category first, 0 to " +
        `${bounds.categoriesPerProductMax}.`,
    }),
    translations: t.field({
      type: [TranslationInputType],
      required: true,
      description: `The product's texts, one entry for each locale, 1 to ${bounds.localesMax}.`,
    }),
  }),
});

export const ProductUpdateInputType = builder.inputType("ProductUpdateInput", {
  description: "Changes to a product. Fields that are left out stay unchanged.",
  fields: (t) => ({
    productId: t.id({ required: true, description: "The product's ID." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    brand: t.string({
      description: `The product's brand, 1 to ${bounds.brandMax} characters; null removes the brand.`,
    }),
    rating: t.field({
      type: RatingInputType,
      description: "The product's average customer rating; null removes the rating.",
    }),
    taxClass: t.string({ description: taxClassDescription }),
    attributes: t.field({
      type: [AttributeInputType],
      description:
        `The product's attributes, 0 to ${bounds.attributesMax}. The list replaces the product's current ` +
        "attributes.",
    }),
    options: t.field({
      type: [OptionInputType],
      description:
        `The options in which the product's variants differ, 0 to ${bounds.optionsMax}; the list replaces ` +
        "the current list.",
    }),
    categoryIds: t.idList({
      description:
        "The IDs of the product's categories, the main category first, 0 to " +
        `${bounds.categoriesPerProductMax}; the list replaces the current list.`,
    }),
  }),
});

export const ProductTransitionInputType = builder.inputType("ProductTransitionInput", {
  description: "The product whose status is to change, with its expected version.",
  fields: (t) => ({
    productId: t.id({ required: true, description: "The product's ID." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const ProductTranslationUpsertInputType = builder.inputType("ProductTranslationUpsertInput", {
  description:
    "All texts of a product in one locale, which replace the product's current texts in the locale.",
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
