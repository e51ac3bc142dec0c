/** The GraphQL types of the parts of a merchant's product: texts, options, attributes, pictures and videos. */
import type {
  StoredProductMedia,
  ProductAggregate,
  StoredProductTranslation,
} from "#commerce/catalog/read-products.ts";
import { builder } from "#graph/builder.ts";
import { MediaTypeEnum } from "./product-detail.ts";

export const ProductTranslationRef = builder
  .objectRef<StoredProductTranslation>("ProductTranslation")
  .implement({
    description: "The texts of a product in one locale.",
    fields: (t) => ({
      locale: t.expose("locale", {
        type: "LocaleCode",
        description: "The locale in which the product's texts are written.",
      }),
      slug: t.expose("slug", {
        type: "Slug",
        description:
          "The part of the product page's URL that names the product in this locale; unique within the " +
          "merchant.",
      }),
      title: t.exposeString("title", {
        description: "The product's title in this locale, 1 to 200 characters.",
      }),
      summary: t.exposeString("summary", {
        nullable: true,
        description:
          "A short plain-text summary of the product, at most 300 characters; null if the product has none.",
      }),
      description: t.exposeString("description", {
        nullable: true,
        description:
          "The product's description as CommonMark, at most 20 000 characters; null if the product has none.",
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

const OptionChoiceRef = builder
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

export const OptionDefinitionRef = builder
  .objectRef<ProductAggregate["options"][number]>("OptionDefinition")
  .implement({
    description:
      "A property in which the variants of a product differ, for example colour or size. Every variant " +
      "has one choice of each option.",
    fields: (t) => ({
      code: t.exposeString("code", {
        description: "The stable code of the option, unique within its product.",
      }),
      names: t.expose("names", { type: "StringMap", description: "The names of the option by locale." }),
      choices: t.field({
        type: [OptionChoiceRef],
        description: "The choices that the option offers, in display order.",
        complexity: { multiplier: 3 },
        resolve: ({ choices }) => [...choices],
      }),
    }),
  });

export const AttributeDefinitionRef = builder
  .objectRef<ProductAggregate["attributes"][number]>("AttributeDefinition")
  .implement({
    description: "A named fact about a product, for example its material.",
    fields: (t) => ({
      code: t.exposeString("code", {
        description: "The stable code of the attribute, unique within its product.",
      }),
      names: t.expose("names", { type: "StringMap", description: "The names of the attribute by locale." }),
      value: t.expose("value", { type: "AttributeValue", description: "The value of the attribute." }),
      unit: t.exposeString("unit", {
        nullable: true,
        description: "The unit of the attribute's value, for example `mm`; null if the value has no unit.",
      }),
    }),
  });

export const MediaRef = builder.objectRef<StoredProductMedia>("Media").implement({
  description: "A picture or video of a product.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The ID of the picture or video, `med_…`." }),
    type: t.expose("type", {
      type: MediaTypeEnum,
      description: "Whether the media file is a picture or a video.",
    }),
    url: t.exposeString("url", {
      description: "The address of the picture or video: an absolute https URL or a path on this service.",
    }),
    alts: t.expose("alts", {
      type: "StringMap",
      description:
        "Alternative texts by locale, for people who cannot see the picture or video. Empty if the " +
        "picture or video is mere decoration.",
    }),
    width: t.exposeInt("width", { description: "The width of the picture or video in pixels." }),
    height: t.exposeInt("height", { description: "The height of the picture or video in pixels." }),
    position: t.exposeInt("position", {
      description: "The position among the product's pictures and videos, counted from 0.",
    }),
  }),
});
