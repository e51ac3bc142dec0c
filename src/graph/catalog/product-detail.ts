/** What the detail of a product adds to its summary. */
import type { ProductDetail } from "#commerce/catalog/render-detail.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { MoneyRef, ProductDetailRef, VariantViewRef } from "#graph/refs.ts";

const DescriptionFormatEnum = defineEnum("DescriptionFormat", {
  description: "How a description is written.",
  values: { markdown: "CommonMark." },
});

const Description = builder
  .objectRef<NonNullable<ProductDetail["description"]>>("ProductDescription")
  .implement({
    description: "A product's long text.",
    fields: (t) => ({
      format: t.expose("format", { type: DescriptionFormatEnum, description: "How the text is written." }),
      text: t.exposeString("text", { description: "At most 20 000 characters." }),
    }),
  });

const LocalizedSlug = builder.objectRef<ProductDetail["localizedSlugs"][number]>("LocalizedSlug").implement({
  description: "A product's slug in one of its locales.",
  fields: (t) => ({
    locale: t.expose("locale", { type: "LocaleCode", description: "The locale." }),
    slug: t.expose("slug", { type: "Slug", description: "The slug." }),
  }),
});

export const MediaTypeEnum = defineEnum("MediaType", {
  description: "What kind of media.",
  values: { image: "A picture.", video: "A video." },
});

const Media = builder.objectRef<ProductDetail["media"][number]>("ProductMedia").implement({
  description: "A picture or video of a product.",
  fields: (t) => ({
    type: t.expose("type", { type: MediaTypeEnum, description: "Picture or video." }),
    url: t.expose("url", { type: "URL", description: "Where it is." }),
    alt: t.exposeString("alt", { nullable: true, description: "What it shows, for who cannot see it." }),
    width: t.exposeInt("width", { description: "Its width in pixels." }),
    height: t.exposeInt("height", { description: "Its height in pixels." }),
    position: t.exposeInt("position", { description: "Its place among the product's media, from 0." }),
  }),
});

const OptionValue = builder
  .objectRef<ProductDetail["options"][number]["values"][number]>("ProductOptionValue")
  .implement({
    description: "A choice that an option gives.",
    fields: (t) => ({
      code: t.exposeString("code", { description: "Its stable code." }),
      label: t.exposeString("label", { description: "Its name in the locale of the product." }),
    }),
  });

const Option = builder.objectRef<ProductDetail["options"][number]>("ProductOption").implement({
  description: "Something a buyer chooses: a colour, a size.",
  fields: (t) => ({
    code: t.exposeString("code", { description: "Its stable code." }),
    name: t.exposeString("name", { description: "Its name in the locale of the product." }),
    values: t.field({
      type: [OptionValue],
      description: "What there is to choose from.",
      complexity: { multiplier: 5 },
      resolve: (option) => [...option.values],
    }),
  }),
});

const ProductOffer = builder.objectRef<ProductDetail["offers"][number]>("ProductOffer").implement({
  description: "What a product costs in one country.",
  fields: (t) => ({
    market: t.expose("market", { type: "CountryCode", description: "The country." }),
    currency: t.expose("currency", { type: "CurrencyCode", description: "The currency of the prices." }),
    taxIncluded: t.exposeBoolean("taxIncluded", { description: "Whether the prices include tax." }),
    min: t.expose("min", { type: MoneyRef, description: "The lowest price among its variants." }),
    max: t.expose("max", { type: MoneyRef, description: "The highest price among its variants." }),
  }),
});

const Attribute = builder.objectRef<ProductDetail["attributes"][number]>("ProductAttribute").implement({
  description: "A fact about a product.",
  fields: (t) => ({
    code: t.exposeString("code", { description: "Its stable code." }),
    name: t.exposeString("name", { description: "Its name in the locale of the product." }),
    value: t.expose("value", { type: "AttributeValue", description: "Its value." }),
    unit: t.exposeString("unit", { nullable: true, description: "The unit of the value, for example `mm`." }),
  }),
});

const Seo = builder.objectRef<NonNullable<ProductDetail["seo"]>>("ProductSeo").implement({
  description: "What search engines shall show.",
  fields: (t) => ({
    title: t.exposeString("title", { nullable: true, description: "The page's title." }),
    description: t.exposeString("description", { nullable: true, description: "The page's description." }),
  }),
});

export const PolicyTypeEnum = defineEnum("PolicyType", {
  description: "What a policy is about.",
  values: {
    cancellation: "Taking an order back before it is shipped.",
    return: "Sending goods back.",
    withdrawal: "The right of withdrawal of consumers in the EU.",
    warranty: "What the merchant promises about the goods.",
  },
});

const ProductPolicy = builder.objectRef<ProductDetail["policies"][number]>("ProductPolicy").implement({
  description: "A rule of the merchant that holds for a product.",
  fields: (t) => ({
    type: t.field({
      type: PolicyTypeEnum,
      description: "What it is about.",
      resolve: ({ type }) => type as "return",
    }),
    summary: t.exposeString("summary", { description: "The rule in a sentence." }),
    url: t.expose("url", { type: "URL", nullable: true, description: "Where the whole text is." }),
  }),
});

const ProductStatusView = defineEnum("PublicProductStatus", {
  description: "A public product is always published.",
  values: { published: "On sale." },
});

builder.objectFields(ProductDetailRef, (t) => ({
  description: t.expose("description", { type: Description, nullable: true, description: "The long text." }),
  localizedSlugs: t.field({
    type: [LocalizedSlug],
    description: "Its slugs in all its locales.",
    complexity: { multiplier: 5 },
    resolve: (product) => [...product.localizedSlugs],
  }),
  media: t.field({
    type: [Media],
    description: "Its pictures and videos in order, 50 at most.",
    complexity: { multiplier: 5 },
    resolve: (product) => [...product.media],
  }),
  options: t.field({
    type: [Option],
    description: "What a buyer chooses.",
    complexity: { multiplier: 3 },
    resolve: (product) => [...product.options],
  }),
  variants: t.field({
    type: [VariantViewRef],
    description: "What it comes as, 200 at most.",
    resolve: (product) => [...product.variants],
  }),
  offers: t.field({
    type: [ProductOffer],
    description: "What it costs, country by country.",
    complexity: { multiplier: 5 },
    resolve: (product) => [...product.offers],
  }),
  attributes: t.field({
    type: [Attribute],
    description: "Facts about it.",
    complexity: { multiplier: 5 },
    resolve: (product) => [...product.attributes],
  }),
  seo: t.expose("seo", { type: Seo, nullable: true, description: "What search engines shall show." }),
  policies: t.field({
    type: [ProductPolicy],
    description: "The merchant's rules that hold for it.",
    complexity: { multiplier: 3 },
    resolve: (product) => [...product.policies],
  }),
  structuredData: t.expose("structuredData", {
    type: "JSON",
    description: "JSON-LD of https://schema.org/Product, to be put into a page.",
  }),
  status: t.expose("status", { type: ProductStatusView, description: "Always published." }),
}));
