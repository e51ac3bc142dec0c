/**
 * The GraphQL fields that the full view of a published product has in addition to the fields of the product's
 * summary.
 */
import type { ProductDetail } from "#commerce/catalog/render-detail.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { MoneyRef, ProductDetailRef, ProductVariantRef } from "#graph/refs.ts";

const DescriptionFormatEnum = defineGraphqlEnum("DescriptionFormat", {
  description: "The format of a product description.",
  values: { markdown: "The description is written in CommonMark." },
});

const Description = builder
  .objectRef<NonNullable<ProductDetail["description"]>>("ProductDescription")
  .implement({
    description: "The description of a product.",
    fields: (t) => ({
      format: t.expose("format", {
        type: DescriptionFormatEnum,
        description: "The format of the description's text.",
      }),
      text: t.exposeString("text", {
        description: "The text of the description, at most 20 000 characters.",
      }),
    }),
  });

const LocalizedSlug = builder.objectRef<ProductDetail["localizedSlugs"][number]>("LocalizedSlug").implement({
  description: "The product's slug in one of its locales.",
  fields: (t) => ({
    locale: t.expose("locale", { type: "LocaleCode", description: "The locale in which the slug is used." }),
    slug: t.expose("slug", {
      type: "Slug",
      description: "The part of the product page's URL that names the product.",
    }),
  }),
});

export const MediaTypeEnum = defineGraphqlEnum("MediaType", {
  description: "The kind of a product's media: picture or video.",
  values: { image: "A picture.", video: "A video." },
});

const Media = builder.objectRef<ProductDetail["media"][number]>("ProductMedia").implement({
  description: "A picture or video of a product.",
  fields: (t) => ({
    type: t.expose("type", {
      type: MediaTypeEnum,
      description: "Whether the media file is a picture or a video.",
    }),
    url: t.expose("url", { type: "URL", description: "The absolute URL of the picture or video." }),
    alt: t.exposeString("alt", {
      nullable: true,
      description:
        "The alternative text in the product's locale, for people who cannot see the picture or video; " +
        "null if the picture or video has none.",
    }),
    width: t.exposeInt("width", { description: "The width of the picture or video in pixels." }),
    height: t.exposeInt("height", { description: "The height of the picture or video in pixels." }),
    position: t.exposeInt("position", {
      description: "The position among the product's pictures and videos, counted from 0.",
    }),
  }),
});

const OptionValue = builder
  .objectRef<ProductDetail["options"][number]["values"][number]>("ProductOptionValue")
  .implement({
    description: "One value that a product option offers, for example the colour blue.",
    fields: (t) => ({
      code: t.exposeString("code", {
        description: "The stable code of the option value, unique within its option.",
      }),
      label: t.exposeString("label", {
        description: "The label of the option value in the product's locale.",
      }),
    }),
  });

const Option = builder.objectRef<ProductDetail["options"][number]>("ProductOption").implement({
  description: "A property in which the variants of a product differ, for example colour or size.",
  fields: (t) => ({
    code: t.exposeString("code", {
      description: "The stable code of the option, unique within its product.",
    }),
    name: t.exposeString("name", { description: "The name of the option in the product's locale." }),
    values: t.field({
      type: [OptionValue],
      description: "The values that the option offers, in display order.",
      complexity: { multiplier: 5 },
      resolve: (option) => [...option.values],
    }),
  }),
});

const ProductOffer = builder.objectRef<ProductDetail["offers"][number]>("ProductOffer").implement({
  description: "The price range of a product in one country.",
  fields: (t) => ({
    market: t.expose("market", {
      type: "CountryCode",
      description: "The country in which the prices are valid.",
    }),
    currency: t.expose("currency", { type: "CurrencyCode", description: "The currency of the prices." }),
    taxIncluded: t.exposeBoolean("taxIncluded", { description: "Whether the prices include tax." }),
    min: t.expose("min", {
      type: MoneyRef,
      description: "The lowest price among the product's variants in this country.",
    }),
    max: t.expose("max", {
      type: MoneyRef,
      description: "The highest price among the product's variants in this country.",
    }),
  }),
});

const Attribute = builder.objectRef<ProductDetail["attributes"][number]>("ProductAttribute").implement({
  description: "A named fact about a product, for example its material.",
  fields: (t) => ({
    code: t.exposeString("code", {
      description: "The stable code of the attribute, unique within its product.",
    }),
    name: t.exposeString("name", { description: "The name of the attribute in the product's locale." }),
    value: t.expose("value", { type: "AttributeValue", description: "The value of the attribute." }),
    unit: t.exposeString("unit", {
      nullable: true,
      description: "The unit of the attribute's value, for example `mm`; null if the value has no unit.",
    }),
  }),
});

const Seo = builder.objectRef<NonNullable<ProductDetail["seo"]>>("ProductSeo").implement({
  description: "The texts of a product intended for search engines.",
  fields: (t) => ({
    title: t.exposeString("title", {
      nullable: true,
      description: "The page title for search engines; null if there is none.",
    }),
    description: t.exposeString("description", {
      nullable: true,
      description: "The page description for search engines; null if there is none.",
    }),
  }),
});

export const PolicyTypeEnum = defineGraphqlEnum("PolicyType", {
  description: "The subject of a merchant's policy: cancellations, returns, withdrawals or the warranty.",
  values: {
    cancellation: "The policy regulates the cancellation of orders before they are shipped.",
    return: "The policy regulates the return of delivered goods.",
    withdrawal: "The policy regulates the consumers' right of withdrawal in the European Economic Area.",
    warranty: "The policy regulates the merchant's warranty on the goods.",
  },
});

const ProductPolicy = builder.objectRef<ProductDetail["policies"][number]>("ProductPolicy").implement({
  description: "A merchant's policy that applies to a product.",
  fields: (t) => ({
    type: t.field({
      type: PolicyTypeEnum,
      description: "What the policy regulates: cancellations, returns, withdrawals or the warranty.",
      resolve: ({ type }) => type as "return",
    }),
    summary: t.exposeString("summary", {
      description: "A short summary of the policy in the product's locale.",
    }),
    url: t.expose("url", {
      type: "URL",
      nullable: true,
      description: "The URL of the policy's full text; null if there is none.",
    }),
  }),
});

const ProductStatusView = defineGraphqlEnum("PublicProductStatus", {
  description: "The status of a product that buyers see; always PUBLISHED.",
  values: { published: "The product is on sale." },
});

builder.objectFields(ProductDetailRef, (t) => ({
  description: t.expose("description", {
    type: Description,
    nullable: true,
    description: "The product's description; null if the product has none.",
  }),
  localizedSlugs: t.field({
    type: [LocalizedSlug],
    description: "The product's slugs in all its locales.",
    complexity: { multiplier: 5 },
    resolve: (product) => [...product.localizedSlugs],
  }),
  media: t.field({
    type: [Media],
    description: "The product's pictures and videos in display order, at most 50.",
    complexity: { multiplier: 5 },
    resolve: (product) => [...product.media],
  }),
  options: t.field({
    type: [Option],
    description: "The options in which the product's variants differ.",
    complexity: { multiplier: 3 },
    resolve: (product) => [...product.options],
  }),
  variants: t.field({
    type: [ProductVariantRef],
    description: "The product's variants in display order, at most 200.",
    resolve: (product) => [...product.variants],
  }),
  offers: t.field({
    type: [ProductOffer],
    description: "The price ranges of the product, one for each country in which it is sold.",
    complexity: { multiplier: 5 },
    resolve: (product) => [...product.offers],
  }),
  attributes: t.field({
    type: [Attribute],
    description: "The product's attributes, for example material or dimensions.",
    complexity: { multiplier: 5 },
    resolve: (product) => [...product.attributes],
  }),
  seo: t.expose("seo", {
    type: Seo,
    nullable: true,
    description: "The texts intended for search engines; null if the product has none.",
  }),
  policies: t.field({
    type: [ProductPolicy],
    description: "The merchant's return, warranty and cancellation policies that apply to the product.",
    complexity: { multiplier: 3 },
    resolve: (product) => [...product.policies],
  }),
  structuredData: t.expose("structuredData", {
    type: "JSON",
    description:
      "The product as JSON-LD in the vocabulary https://schema.org/Product, ready to be embedded in a " +
      "page. A page must escape `<` before embedding it in a script element.",
  }),
  status: t.expose("status", {
    type: ProductStatusView,
    description: "The status of the product; always PUBLISHED.",
  }),
}));
