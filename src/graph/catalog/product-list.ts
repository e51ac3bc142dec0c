/** The GraphQL query that lists a merchant's products in any status, with filters. */
import { z } from "zod";
import {
  type ProductStockFilter,
  buildProductIdSqlQuery,
  findCategoryAndDescendantIds,
} from "#commerce/catalog/list-products.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import {
  computeConnectionCost,
  createGraphqlConnectionTypeOptions,
  loadGraphqlConnection,
} from "#graph/connections.ts";
import { aggregateCost } from "#graph/limits.ts";
import { getMerchantIdForListQuery, merchantReaders } from "#graph/context.ts";
import { requireObjectNamedInFilterExists } from "#graph/filter-objects.ts";
import { listMerchantArgs, requirePeriodStartBeforeEnd } from "#graph/list-arguments.ts";
import { ProductRef } from "#graph/refs.ts";
import { ProductStatusEnum } from "./admin-products.ts";

const ProductStockEnum = defineGraphqlEnum<ProductStockFilter>("ProductStock", {
  description:
    "A condition on the stock of a product. Free units are the units on hand minus the reserved units. A " +
    "product with several variants can meet several conditions.",
  values: {
    in_stock: "At least one variant has free units.",
    low_stock:
      "At least one variant has free units, but no more than its low-stock threshold (`lowStockThreshold`).",
    out_of_stock: "At least one variant has no free unit.",
  },
});

builder.queryField("products", (t) =>
  t.connection(
    {
      type: ProductRef,
      description: "Lists products in any status, by the time of their creation, oldest or newest first.",
      complexity: computeConnectionCost,
      authScopes: { callers: merchantReaders },
      args: {
        ...listMerchantArgs,
        status: t.arg({ type: ProductStatusEnum, description: "Lists only products with this status." }),
        categoryId: t.arg.id({
          description:
            "Lists only products of the category with this id, `cat_…`, or of a category below it.",
        }),
        brand: t.arg.string({
          description:
            "Lists only products of this brand. The spelling must be the same, including upper and lower " +
            "case.",
          validate: z.string().max(200),
        }),
        stock: t.arg({
          type: ProductStockEnum,
          description: "Lists only products whose stock meets this condition.",
        }),
        updatedFrom: t.arg({
          type: "DateTime",
          description: "Lists only products whose last change was at this time or later.",
        }),
        updatedTo: t.arg({
          type: "DateTime",
          description:
            "Lists only products whose last change was before this time, which must be after `updatedFrom`.",
        }),
        newestFirst: t.arg.boolean({
          description: "Whether the product that was created last comes first; false by default.",
        }),
      },
      resolve: async (_root, { newestFirst, ...args }, context) => {
        requirePeriodStartBeforeEnd("updated", args);
        const merchantId = getMerchantIdForListQuery(context, args.merchantId);
        const category = { table: "category", id: args.categoryId, merchantId } as const;
        await requireObjectNamedInFilterExists(context, "categoryId", category);
        const categoryIds =
          typeof args.categoryId === "string"
            ? await findCategoryAndDescendantIds(context.db, args.categoryId)
            : null;
        const filter = { ...args, categoryIds, merchantId };
        const page = await loadGraphqlConnection(args, {
          db: context.db,
          query: buildProductIdSqlQuery(context.db, filter),
          column: "product.id",
          cursor: "product",
          isDescending: newestFirst === true,
        });
        const products = await Promise.all(
          page.edges.map(({ node }) => context.loaders.products.load(node.id)),
        );
        return {
          ...page,
          edges: page.edges.flatMap(({ cursor }, index) => {
            const node = products[index];
            return node === null || node === undefined ? [] : [{ cursor, node }];
          }),
        };
      },
    },
    ...createGraphqlConnectionTypeOptions("Product", "products", aggregateCost),
  ),
);
