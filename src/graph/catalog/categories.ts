/** The GraphQL types and queries of a merchant's category tree. */
import { buildCategoryListSqlQuery } from "#commerce/catalog/catalog-lists.ts";
import { catalogBounds } from "#commerce/catalog/catalog-fields.ts";
import {
  type LocalizedCategorySlugRow,
  findCategoryBySlug,
  findRootCategories,
  siblingCategoriesMax,
} from "#commerce/catalog/category-tree.ts";
import { builder } from "#graph/builder.ts";
import {
  loadGraphqlConnection,
  createGraphqlConnectionTypeOptions,
  computeConnectionCost,
} from "#graph/connections.ts";
import {
  type CallerKind,
  getCallerMerchantId,
  merchantReaders,
  resolveMerchantIdOfRequest,
} from "#graph/context.ts";
import { CategoryRef } from "#graph/refs.ts";

const CategorySlug = builder.objectRef<LocalizedCategorySlugRow>("CategorySlug").implement({
  description: "The slug of a category in one locale.",
  fields: (t) => ({
    locale: t.expose("locale", { type: "LocaleCode", description: "The locale in which the slug is used." }),
    slug: t.expose("slug", { type: "Slug", description: "The slug; unique within the merchant and locale." }),
  }),
});

CategoryRef.implement({
  description: "A category in the merchant's category tree.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The category's ID, `cat_…`." }),
    slug: t.expose("slug", {
      type: "Slug",
      description: "The part of the category page's URL that names the category; unique within the merchant.",
    }),
    names: t.field({
      type: "StringMap",
      description: "The names of the category by locale.",
      resolve: ({ names }) => names as Record<string, string>,
    }),
    parent: t.field({
      type: CategoryRef,
      nullable: true,
      description: "The parent category; null if the category is a top-level category.",
      resolve: ({ parentId }, _args, { loaders }) =>
        parentId === null ? null : loaders.categories.load(parentId),
    }),
    localizedSlugs: t.field({
      type: [CategorySlug],
      description:
        "The slugs that the category has in single locales. In all other locales, the category has its " +
        "`slug`, which is also the value for the argument `category` of the product search.",
      complexity: { multiplier: 2 },
      resolve: ({ id }, _args, { loaders }) => loaders.categorySlugs.load(id),
    }),
    ancestors: t.field({
      type: [CategoryRef],
      description:
        `The categories above this category, at most ${catalogBounds.categoryDepthMax - 1}, with the ` +
        "top-level category first; empty if this category is a top-level category.",
      complexity: { multiplier: 3 },
      resolve: ({ id }, _args, { loaders }) => loaders.categoryAncestors.load(id),
    }),
    children: t.field({
      type: [CategoryRef],
      description:
        `The categories directly below this category, by position; at most ${siblingCategoriesMax}. The tree has at ` +
        `most ${catalogBounds.categoryDepthMax} levels.`,
      complexity: { multiplier: 4 },
      resolve: ({ id }, _args, { loaders }) => loaders.childCategories.load(id),
    }),
    position: t.exposeInt("position", {
      description: "The position among the categories with the same parent.",
    }),
    version: t.exposeInt("version", {
      description: "The category's version; increases by one with every change.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the category was created." }),
    updatedAt: t.expose("updatedAt", {
      type: "DateTime",
      description: "When the category was last changed.",
    }),
  }),
});

const categoryReaders: readonly CallerKind[] = [...merchantReaders, "storefront"];
const merchantIdDescription =
  "The id of the merchant, `mer_…`. Required with a token of the platform; a token of a merchant may leave " +
  "it out.";

builder.queryFields((t) => ({
  category: t.field({
    type: CategoryRef,
    nullable: true,
    description:
      "Returns the category with a slug; null if the merchant has no such category. If several categories " +
      "match, the slug of the requested locale counts first, then the slug of a more general locale, then " +
      "the slug for all locales.",
    authScopes: { callers: categoryReaders },
    args: {
      slug: t.arg({ type: "Slug", required: true, description: "The slug of the category." }),
      locale: t.arg({
        type: "LocaleCode",
        description:
          "The locale of the category's slug, for example `de-CH`. If left out, only the slug for all " +
          "locales counts.",
      }),
      merchantId: t.arg.id({ description: merchantIdDescription }),
    },
    resolve: async (_root, { slug, locale, merchantId }, context) =>
      (await findCategoryBySlug(context.db, {
        merchantId: resolveMerchantIdOfRequest(context, merchantId),
        slug,
        locale: locale ?? null,
      })) ?? null,
  }),
  categoryTree: t.field({
    type: [CategoryRef],
    description:
      "Returns the top-level categories of a merchant, sorted by position; at most " +
      `${siblingCategoriesMax}. Select \`children\` to get the levels below.`,
    authScopes: { callers: categoryReaders },
    complexity: { multiplier: 6 },
    args: { merchantId: t.arg.id({ description: merchantIdDescription }) },
    resolve: (_root, { merchantId }, context) =>
      findRootCategories(context.db, resolveMerchantIdOfRequest(context, merchantId)),
  }),
  categories: t.connection(
    {
      type: CategoryRef,
      description: "The categories of all merchants that the token may read, oldest first.",
      complexity: computeConnectionCost,
      authScopes: { callers: categoryReaders },
      resolve: (_root, args, context) =>
        loadGraphqlConnection(args, {
          db: context.db,
          query: buildCategoryListSqlQuery(context.db, getCallerMerchantId(context)),
          column: "category.id",
          cursor: "category",
        }),
    },
    ...createGraphqlConnectionTypeOptions("Category", "categories"),
  ),
}));
