/**
 * The plain schema: a GraphQL schema with the same fields as this service, but with simple resolvers and
 * DataLoaders, as a comparison. Also creates the context of a request, with new DataLoaders and the viewer.
 */
import { createHash } from "node:crypto";
import type { GraphQLSchema } from "graphql";
import type { Pool } from "pg";
import { parseRequestedLocales } from "./locales.ts";
import { builder, type PlainContext, type PlainViewer } from "./plain-builder.ts";
import { openPlainDatabase, type PlainDatabase } from "./plain-database.ts";
import { createPlainLoaders } from "./plain-loaders.ts";
import { ProductDetail } from "./plain-product-detail.ts";
import { findProductNode } from "./plain-products.ts";
import { createHitFinder } from "./yardstick-search.ts";
import "./plain-carts.ts";
import "./plain-search.ts";

builder.queryType({
  fields: (t) => ({
    publicProduct: t.field({
      type: ProductDetail,
      nullable: true,
      args: { merchantSlug: t.arg.string({ required: true }), productSlug: t.arg.string({ required: true }) },
      resolve: async (_root, { merchantSlug, productSlug }, context) => {
        const id = await context.findProduct(merchantSlug, productSlug);
        return id === undefined
          ? null
          : findProductNode(id, { country: null, chain: context.chain }, context);
      },
    }),
  }),
});

export const plainSchema: GraphQLSchema = builder.toSchema();

export function createPlainContext(
  pool: Pool,
  publicUrl: string,
): (headers: Headers) => Promise<PlainContext> {
  const db = openPlainDatabase(pool);
  const find = createHitFinder(pool);
  return async (headers) => ({
    viewer: await findViewer(db, headers.get("authorization")),
    buyerReference: headers.get("x-buyer-reference"),
    chain: parseRequestedLocales(headers.get("accept-language") ?? undefined),
    loaders: createPlainLoaders(db),
    findProduct: (merchantSlug, productSlug) => findProduct(db, merchantSlug, productSlug),
    find,
    publicUrl,
  });
}

async function findProduct(
  db: PlainDatabase,
  merchantSlug: string,
  productSlug: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom("productSlug")
    .innerJoin("merchant", "merchant.id", "productSlug.merchantId")
    .select("productSlug.productId")
    .where("merchant.slug", "=", merchantSlug)
    .where("productSlug.slug", "=", productSlug)
    .executeTakeFirst();
  return row?.productId;
}

/** Finds the viewer by the id in the API key or token, which is the third part of the text. */
async function findViewer(db: PlainDatabase, authorization: string | null): Promise<PlainViewer | null> {
  if (authorization === null) return null;
  const value = authorization.replace("Bearer ", "");
  const [kind, , id = ""] = value.split("_");
  const columns = ["merchantId", "digest", "expiresAt", "revokedAt"] as const;
  const row =
    kind === "cit"
      ? await db.selectFrom("internalToken").select(columns).where("tokenId", "=", id).executeTakeFirst()
      : await db.selectFrom("apiKey").select(columns).where("keyId", "=", id).executeTakeFirst();
  const isKnown = row !== undefined && createHash("sha256").update(value).digest().equals(row.digest);
  const isOver = row?.revokedAt !== null || (row.expiresAt !== null && row.expiresAt <= new Date());
  return isKnown && !isOver ? { merchantId: row.merchantId } : null;
}
