/** The GraphQL mutations of products, their texts, variants, prices and media, and of categories. */
import { deleteCategory, upsertCategory } from "#commerce/catalog/change-category.ts";
import { catalogBounds as bounds } from "#commerce/catalog/catalog-fields.ts";
import { attachProductMedia, removeProductMedia } from "#commerce/catalog/product-media.ts";
import { upsertProductTranslation } from "#commerce/catalog/product-texts.ts";
import { setPrices } from "#commerce/catalog/set-prices.ts";
import { createProduct, updateProduct } from "#commerce/catalog/change-product.ts";
import {
  deleteOrArchiveProduct,
  publishProduct,
  unpublishProduct,
} from "#commerce/catalog/publish-product.ts";
import { upsertVariant } from "#commerce/catalog/change-variants.ts";
import type { ProductAggregate } from "#commerce/catalog/read-products.ts";
import { createFailure } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import { merchantMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation, reloadChangedRow } from "#graph/mutation.ts";
import {
  expectedVersionDescription,
  LocalizedTextInputType,
  ProductCreateInputType,
  ProductTransitionInputType,
  ProductTranslationUpsertInputType,
  ProductUpdateInputType,
} from "./inputs.ts";
import { PricesSetInputType, VariantUpsertInputType } from "./variant-inputs.ts";
import type { GraphqlContext } from "#graph/context.ts";
import { MediaTypeEnum } from "./product-detail.ts";
import { CategoryRef, ProductRef } from "#graph/refs.ts";

async function changedProduct(
  { loaders }: GraphqlContext,
  { productId }: { readonly productId: string },
): Promise<ProductAggregate> {
  const product = await reloadChangedRow(loaders.products, productId);
  if (product === null) throw createFailure("product_not_found");
  return product;
}

const MediaAttachInput = builder.inputType("MediaAttachInput", {
  description: "A picture or video to add to a product.",
  fields: (t) => ({
    productId: t.id({ required: true, description: "The product's ID." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    type: t.field({
      type: MediaTypeEnum,
      required: true,
      description: "Whether the media file is a picture or a video.",
    }),
    url: t.string({
      required: true,
      description: `The address of the picture or video: an https URL without credentials, or a path that starts with \`/media/\`, at most ${bounds.urlMax} characters.`,
    }),
    alts: t.field({
      type: [LocalizedTextInputType],
      required: true,
      description:
        "Alternative texts by locale, for people who cannot see the picture or video. An empty list says " +
        "that the picture or video is mere decoration.",
    }),
    width: t.int({
      required: true,
      description: `The width of the picture or video in pixels, 1 to ${bounds.mediaSidePixelsMax}.`,
    }),
    height: t.int({
      required: true,
      description: `The height of the picture or video in pixels, 1 to ${bounds.mediaSidePixelsMax}.`,
    }),
    position: t.int({
      description:
        "The position among the product's pictures and videos, counted from 0, at most " +
        `${bounds.positionMax}. Pictures and videos at this position and after it move back by one. If ` +
        "left out, the new picture or video is added at the end.",
    }),
  }),
});

const MediaRemoveInput = builder.inputType("MediaRemoveInput", {
  description: "A picture or video to remove from a product.",
  fields: (t) => ({
    productId: t.id({ required: true, description: "The product's ID." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    mediaId: t.id({ required: true, description: "The ID of the picture or video." }),
  }),
});

const CategorySlugInput = builder.inputType("CategorySlugInput", {
  description: "The slug of a category in one locale.",
  fields: (t) => ({
    locale: t.field({ type: "LocaleCode", required: true, description: "The locale of the slug." }),
    slug: t.field({
      type: "Slug",
      required: true,
      description:
        "The slug of the category in the locale. No other category of the merchant may have the same slug " +
        "in the same locale.",
    }),
  }),
});

const CategoryUpsertInput = builder.inputType("CategoryUpsertInput", {
  description: "A category to create or replace. An existing category is found by its ID or slug.",
  fields: (t) => ({
    categoryId: t.id({
      description:
        "The category's ID. If left out, the category with the given slug is replaced, or a new category " +
        "with this slug is created.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    slug: t.field({
      type: "Slug",
      required: true,
      description: "The part of the category page's URL that names the category; unique within the merchant.",
    }),
    localizedSlugs: t.field({
      type: [CategorySlugInput],
      description:
        `The slugs of the category in single locales, 0 to ${bounds.localesMax}, with each locale at most ` +
        "once; the list replaces the current list. In all other locales, the category has its `slug`. If " +
        "left out, the current list stays.",
    }),
    names: t.field({
      type: [LocalizedTextInputType],
      required: true,
      description: "The names of the category by locale, at least one.",
    }),
    parentId: t.id({
      description:
        "The ID of the parent category. If left out, the parent stays the same; null makes the " +
        "category a top-level category. The parent must not be the category itself or a category below it, " +
        `and the tree has at most ${bounds.categoryDepthMax} levels.`,
    }),
    position: t.int({
      description:
        `The position among the categories with the same parent, 0 to ${bounds.positionMax}. If left out, ` +
        "the category keeps its position; a new or moved category is added at the end.",
    }),
  }),
});

const CategoryDeleteInput = builder.inputType("CategoryDeleteInput", {
  description: "A category to delete.",
  fields: (t) => ({
    categoryId: t.id({ required: true, description: "The category's ID." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

const ProductDeleted = builder
  .objectRef<{ productId: string; archived: boolean }>("ProductDeleted")
  .implement({
    description: "The outcome of deleting a product.",
    fields: (t) => ({
      productId: t.exposeID("productId", { description: "The product's ID." }),
      archived: t.exposeBoolean("archived", {
        description:
          "Whether the product was archived and not deleted. A product that was ever published is " +
          "archived, because its slugs and price history must be kept.",
      }),
    }),
  });

const CategoryDeleted = builder.objectRef<{ categoryId: string }>("CategoryDeleted").implement({
  description: "The outcome of deleting a category.",
  fields: (t) => ({
    categoryId: t.exposeID("categoryId", { description: "The ID of the deleted category." }),
  }),
});

/** Options shared by all mutations that change one product and return the changed product. */
const productChange = {
  ...merchantMutationKind,
  failures: ["product_not_found"],
  type: ProductRef,
  answer: changedProduct,
} as const;

defineMutation({
  ...productChange,
  name: "productCreate",
  description: "Creates a product as a draft.",
  failures: ["invalid_locale", "resource_not_found", "already_exists"],
  input: ProductCreateInputType,
  run: createProduct,
});

defineMutation({
  ...productChange,
  name: "productUpdate",
  description:
    "Changes a product's brand, rating, attributes, options and categories. Fields that are left out " +
    "stay unchanged.",
  failures: [
    ...productChange.failures,
    "invalid_locale",
    "resource_not_found",
    "version_conflict",
    "still_in_use",
    "invalid_state",
  ],
  input: ProductUpdateInputType,
  run: updateProduct,
});

defineMutation({
  ...productChange,
  name: "productPublish",
  description:
    "Publishes a product, so that buyers can see and buy it. The product needs a translation in the " +
    "merchant's default locale, a variant and a price.",
  failures: [...productChange.failures, "version_conflict", "invalid_state"],
  input: ProductTransitionInputType,
  run: publishProduct,
});

defineMutation({
  ...productChange,
  name: "productUnpublish",
  description: "Turns a published or archived product back into a draft.",
  failures: [...productChange.failures, "version_conflict"],
  input: ProductTransitionInputType,
  run: unpublishProduct,
});

defineMutation({
  ...productChange,
  name: "productTranslationUpsert",
  description: "Creates or replaces a product's texts in one locale.",
  failures: [
    ...productChange.failures,
    "invalid_locale",
    "version_conflict",
    "already_exists",
    "invalid_state",
  ],
  input: ProductTranslationUpsertInputType,
  run: (transaction, context, { translation, ...product }) =>
    upsertProductTranslation(transaction, context, { ...translation, ...product }),
});

defineMutation({
  ...productChange,
  name: "variantUpsert",
  description: "Creates a variant of a product, or changes an existing one.",
  failures: [
    ...productChange.failures,
    "resource_not_found",
    "version_conflict",
    "already_exists",
    "still_in_use",
    "invalid_state",
  ],
  input: VariantUpsertInputType,
  run: upsertVariant,
});

defineMutation({
  ...productChange,
  name: "mediaAttach",
  description: "Adds a picture or video to a product.",
  failures: [...productChange.failures, "invalid_locale", "version_conflict", "invalid_state"],
  input: MediaAttachInput,
  run: attachProductMedia,
});

defineMutation({
  ...productChange,
  name: "mediaRemove",
  description: "Removes a picture or video from a product.",
  failures: [...productChange.failures, "resource_not_found", "version_conflict", "invalid_state"],
  input: MediaRemoveInput,
  run: removeProductMedia,
});

defineMutation({
  ...merchantMutationKind,
  name: "productDelete",
  description:
    "Deletes a draft. A draft that was published before is archived instead. A published product must be " +
    "unpublished first.",
  failures: ["product_not_found", "version_conflict", "invalid_state"],
  input: ProductTransitionInputType,
  type: ProductDeleted,
  run: deleteOrArchiveProduct,
});

defineMutation({
  ...merchantMutationKind,
  name: "pricesSet",
  description: "Sets prices that are valid from now on, and returns the products whose prices changed.",
  failures: ["resource_not_found", "invalid_state"],
  input: PricesSetInputType,
  type: [ProductRef],
  run: (transaction, context, { prices }) =>
    setPrices(transaction, context, {
      prices: prices.map((price) => Object.assign({}, price, { amountMinor: price.amountMinor ?? null })),
    }),
  answer: (context, { productIds }) =>
    Promise.all(productIds.map((productId) => changedProduct(context, { productId }))),
});

defineMutation({
  ...merchantMutationKind,
  name: "categoryUpsert",
  description: "Creates or replaces a category.",
  failures: ["invalid_locale", "resource_not_found", "version_conflict", "already_exists"],
  input: CategoryUpsertInput,
  type: CategoryRef,
  run: upsertCategory,
  answer: ({ loaders }, { categoryId }) => reloadChangedRow(loaders.categories, categoryId),
});

defineMutation({
  ...merchantMutationKind,
  name: "categoryDelete",
  description: "Deletes a category, which must have neither child categories nor products.",
  failures: ["resource_not_found", "version_conflict", "still_in_use"],
  input: CategoryDeleteInput,
  type: CategoryDeleted,
  run: deleteCategory,
});
