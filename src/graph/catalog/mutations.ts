/** Changes of products, their variants, prices and media, and of categories. */
import { deleteCategory, upsertCategory } from "#commerce/catalog/change-category.ts";
import { catalogBounds as bounds } from "#commerce/catalog/catalog-fields.ts";
import { attachMedia, removeMedia, upsertProductTranslation } from "#commerce/catalog/product-content.ts";
import { setPrices } from "#commerce/catalog/set-prices.ts";
import { createProduct, updateProduct } from "#commerce/catalog/change-product.ts";
import { deleteProduct, publishProduct, unpublishProduct } from "#commerce/catalog/publish-product.ts";
import { upsertVariant } from "#commerce/catalog/change-variants.ts";
import type { ProductAggregate } from "#commerce/catalog/read-products.ts";
import { fail } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import { merchantChange } from "#graph/change-kinds.ts";
import { changeMutation, loadAnew } from "#graph/mutation.ts";
import {
  expectedVersion,
  LocalizedText,
  PricesSetInput,
  ProductCreateInput,
  ProductTransitionInput,
  ProductTranslationUpsertInput,
  ProductUpdateInput,
  VariantUpsertInput,
} from "./inputs.ts";
import type { GraphContext } from "#graph/context.ts";
import { MediaTypeEnum } from "./product-detail.ts";
import { CategoryRef, ProductRef } from "#graph/refs.ts";

async function changedProduct(
  { loaders }: GraphContext,
  { productId }: { readonly productId: string },
): Promise<ProductAggregate> {
  const product = await loadAnew(loaders.products, productId);
  if (product === null) throw fail("product_not_found");
  return product;
}

const MediaAttachInput = builder.inputType("MediaAttachInput", {
  description: "A picture or video for a product.",
  fields: (t) => ({
    productId: t.id({ required: true, description: "The product." }),
    expectedVersion: t.int({ description: expectedVersion }),
    type: t.field({ type: MediaTypeEnum, required: true, description: "Picture or video." }),
    url: t.string({
      required: true,
      description: `Where it is: https. At most ${bounds.urlMax} characters.`,
    }),
    alts: t.field({
      type: [LocalizedText],
      required: true,
      description: "What it shows, by locale; may be empty for decoration.",
    }),
    width: t.int({ required: true, description: `Its width in pixels. 1 to ${bounds.mediaSidePixelsMax}.` }),
    height: t.int({
      required: true,
      description: `Its height in pixels. 1 to ${bounds.mediaSidePixelsMax}.`,
    }),
    position: t.int({
      description: `Its place, from 0: those from there on move up. Without it: at the end. 0 to ${bounds.positionMax}.`,
    }),
  }),
});

const MediaRemoveInput = builder.inputType("MediaRemoveInput", {
  description: "A picture or video to take from a product.",
  fields: (t) => ({
    productId: t.id({ required: true, description: "The product." }),
    expectedVersion: t.int({ description: expectedVersion }),
    mediaId: t.id({ required: true, description: "The picture or video." }),
  }),
});

const CategoryUpsertInput = builder.inputType("CategoryUpsertInput", {
  description: "A category, found by id or slug, or made.",
  fields: (t) => ({
    categoryId: t.id({ description: "The category; without it the one with this slug, or a new one." }),
    expectedVersion: t.int({ description: expectedVersion }),
    slug: t.field({
      type: "Slug",
      required: true,
      description: "Its name in addresses, unique with the merchant.",
    }),
    names: t.field({
      type: [LocalizedText],
      required: true,
      description: "Its name by locale, at least one.",
    }),
    parentId: t.id({
      description: "The category above it; left out it stays where it is, null makes it a root.",
    }),
    position: t.int({
      description: `Its place among those beside it; the end unless told. 0 to ${bounds.positionMax}.`,
    }),
  }),
});

const CategoryDeleteInput = builder.inputType("CategoryDeleteInput", {
  description: "A category to delete.",
  fields: (t) => ({
    categoryId: t.id({ required: true, description: "The category." }),
    expectedVersion: t.int({ description: expectedVersion }),
  }),
});

const ProductDeleted = builder
  .objectRef<{ productId: string; archived: boolean }>("ProductDeleted")
  .implement({
    description: "What became of a product.",
    fields: (t) => ({
      productId: t.exposeID("productId", { description: "The product." }),
      archived: t.exposeBoolean("archived", {
        description:
          "Whether it was put away instead: buyers have seen it, so its slugs and prices stay known.",
      }),
    }),
  });

const CategoryDeleted = builder.objectRef<{ categoryId: string }>("CategoryDeleted").implement({
  description: "What became of a category.",
  fields: (t) => ({ categoryId: t.exposeID("categoryId", { description: "The category that is gone." }) }),
});

/** Most of the mutations change one product and answer with it. */
const productChange = { ...merchantChange, type: ProductRef, answer: changedProduct };

changeMutation({
  ...productChange,
  name: "productCreate",
  description: "Makes a product as a draft.",
  input: ProductCreateInput,
  run: createProduct,
});

changeMutation({
  ...productChange,
  name: "productUpdate",
  description: "Changes a product's own fields.",
  input: ProductUpdateInput,
  run: updateProduct,
});

changeMutation({
  ...productChange,
  name: "productPublish",
  description:
    "Puts a product on sale. It needs a translation in the merchant's default locale, a variant and a price.",
  input: ProductTransitionInput,
  run: publishProduct,
});

changeMutation({
  ...productChange,
  name: "productUnpublish",
  description: "Takes a product off sale, or brings it back from the archive: it is a draft again.",
  input: ProductTransitionInput,
  run: unpublishProduct,
});

changeMutation({
  ...productChange,
  name: "productTranslationUpsert",
  description: "Sets a product's texts in one locale.",
  input: ProductTranslationUpsertInput,
  run: (transaction, tenant, { translation, ...product }) =>
    upsertProductTranslation(transaction, tenant, { ...translation, ...product }),
});

changeMutation({
  ...productChange,
  name: "variantUpsert",
  description: "Adds a variant to a product, or changes one.",
  input: VariantUpsertInput,
  run: upsertVariant,
});

changeMutation({
  ...productChange,
  name: "mediaAttach",
  description: "Adds a picture or video to a product.",
  input: MediaAttachInput,
  run: attachMedia,
});

changeMutation({
  ...productChange,
  name: "mediaRemove",
  description: "Takes a picture or video from a product.",
  input: MediaRemoveInput,
  run: removeMedia,
});

changeMutation({
  ...merchantChange,
  name: "productDelete",
  description: "Deletes a draft; one that buyers have seen is archived.",
  input: ProductTransitionInput,
  type: ProductDeleted,
  run: deleteProduct,
});

changeMutation({
  ...merchantChange,
  name: "pricesSet",
  description: "Sets prices from now on; answers the products whose prices changed.",
  input: PricesSetInput,
  type: [ProductRef],
  run: (transaction, tenant, { prices }) =>
    setPrices(transaction, tenant, {
      prices: prices.map((price) => Object.assign({}, price, { amountMinor: price.amountMinor ?? null })),
    }),
  answer: (context, { productIds }) =>
    Promise.all(productIds.map((productId) => changedProduct(context, { productId }))),
});

changeMutation({
  ...merchantChange,
  name: "categoryUpsert",
  description: "Makes a category, or changes one.",
  input: CategoryUpsertInput,
  type: CategoryRef,
  run: upsertCategory,
  answer: ({ loaders }, { categoryId }) => loadAnew(loaders.categories, categoryId),
});

changeMutation({
  ...merchantChange,
  name: "categoryDelete",
  description: "Deletes a category that has neither categories nor products in it.",
  input: CategoryDeleteInput,
  type: CategoryDeleted,
  run: deleteCategory,
});
