/**
 * The GraphQL types and queries of a merchant's products in every status and locale, for the merchant's
 * staff.
 */
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { aggregateCost } from "#graph/limits.ts";
import { getCallerMerchantId, merchantReaders } from "#graph/context.ts";
import { CategoryRef, MerchantRef, ProductRef, VariantRef } from "#graph/refs.ts";
import {
  AttributeDefinitionRef,
  MediaRef,
  OptionDefinitionRef,
  ProductTranslationRef,
} from "./product-parts.ts";
import { RatingRef } from "./products.ts";

export const ProductStatusEnum = defineGraphqlEnum("ProductStatus", {
  description: "Whether a product is in preparation, on sale or archived.",
  values: {
    draft: "The product is being prepared; buyers do not see it.",
    published: "The product is on sale.",
    archived: "The product is no longer shown or sold; its record is kept because orders refer to it.",
  },
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
      description: "The product's brand; null if the product has no brand.",
    }),
    taxClass: t.exposeString("taxClass", { description: "The code of the product's tax class." }),
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
    publishedAt: t.expose("publishedAt", {
      type: "DateTime",
      nullable: true,
      description: "When the product was first published; null if the product was never published.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the product was created." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When the product was last changed." }),
  }),
});

builder.objectFields(ProductRef, (t) => ({
  translations: t.field({
    type: [ProductTranslationRef],
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
    type: [OptionDefinitionRef],
    description: "The options in which the product's variants differ.",
    complexity: { multiplier: 2 },
    resolve: ({ options }) => [...options],
  }),
  attributes: t.field({
    type: [AttributeDefinitionRef],
    description: "The product's attributes, for example material or dimensions.",
    complexity: { multiplier: 3 },
    resolve: ({ attributes }) => [...attributes],
  }),
  media: t.field({
    type: [MediaRef],
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
}));

builder.queryFields((t) => ({
  product: t.field({
    type: ProductRef,
    nullable: true,
    description:
      "Returns a product of the merchant in any status; null if the merchant has no product with this ID.",
    authScopes: { callers: [...merchantReaders, "system"] },
    complexity: aggregateCost,
    args: { id: t.arg.id({ required: true, description: "The product's ID." }) },
    resolve: async (_root, { id }, context) => {
      const owner = getCallerMerchantId(context);
      const product = await context.loaders.products.load(id);
      return product !== null && (owner === null || product.merchant.id === owner) ? product : null;
    },
  }),
}));
