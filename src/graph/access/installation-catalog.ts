/** The GraphQL types of an installation's `catalogProducts`: a list of its merchant's published products. */
import { productListMax, type PublishedProductList } from "#commerce/catalog/catalog-lists.ts";
import { type ProductSummary, toProductSummary } from "#commerce/catalog/render-product.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import type { GraphqlContext } from "#graph/context.ts";
import { ProductSummaryRef } from "#graph/refs.ts";

export const CatalogList = builder.objectRef<PublishedProductList>("CatalogProducts");

async function toSummaries(
  { ids, locale, market }: PublishedProductList,
  { loaders, clock, publicUrl }: GraphqlContext,
): Promise<ProductSummary[]> {
  const view = { locales: [locale], country: market, now: clock.now(), publicUrl };
  return (await Promise.all(ids.map((id) => loaders.products.load(id)))).flatMap((product) =>
    product === null ? [] : [toProductSummary(product, view)],
  );
}

const ListOrderEnum = defineGraphqlEnum("CatalogListOrder", {
  description: "The order of a list of products.",
  values: { published_at_desc: "By time of publication, newest first; products of the same time by id." },
});

const CatalogListMeta = builder.objectRef<PublishedProductList>("CatalogProductsMeta").implement({
  description: "The size, the order and the version of a list of products.",
  fields: (t) => ({
    returned: t.int({ description: "The number of products in the list.", resolve: ({ ids }) => ids.length }),
    total: t.exposeInt("total", { description: "The number of published products of the merchant." }),
    truncated: t.boolean({
      description: "Whether the merchant has more published products than the list contains.",
      resolve: ({ ids, total }) => total > ids.length,
    }),
    limit: t.int({
      description: "The maximum number of products in the list.",
      resolve: () => productListMax,
    }),
    order: t.field({
      type: ListOrderEnum,
      description: "The order in which the products of the list are sorted.",
      resolve: () => "published_at_desc" as const,
    }),
    locale: t.expose("locale", {
      type: "LocaleCode",
      description: "The locale of the texts in the list: the merchant's default locale.",
    }),
    market: t.expose("market", {
      type: "CountryCode",
      description: "The country of the prices in the list: the merchant's default market.",
    }),
    currency: t.expose("currency", {
      type: "CurrencyCode",
      nullable: true,
      description: "The currency of the prices; null if the merchant does not sell in the country.",
    }),
    catalogVersion: t.exposeInt("catalogVersion", {
      description: "The catalog's version; increases with every change of the merchant's catalog.",
    }),
    notice: t.string({
      nullable: true,
      description:
        "An English sentence that explains how a caller can read the products that are missing from the " +
        "list; null if the list is complete.",
      resolve: ({ ids, total }) =>
        total > ids.length
          ? `The list contains ${productListMax} of ${total} products. Read the others by search with ` +
            "the parameter merchant."
          : null,
    }),
    generatedAt: t.field({
      type: "DateTime",
      description: "When the service generated the list of products.",
      resolve: (_list, _args, { clock }) => clock.now(),
    }),
  }),
});

CatalogList.implement({
  description: "A list of a merchant's published products.",
  fields: (t) => ({
    items: t.field({
      type: [ProductSummaryRef],
      description: "The products of the list.",
      complexity: { multiplier: 100 },
      resolve: (list, _args, context) => toSummaries(list, context),
    }),
    meta: t.field({
      type: CatalogListMeta,
      description: "The size, the order and the version of the list.",
      resolve: (list) => list,
    }),
  }),
});
