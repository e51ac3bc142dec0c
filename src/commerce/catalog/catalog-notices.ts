/**
 * Defines the cache tags of answers that contain catalog data, and reads the notices (NOTIFY) that the
 * database sends when this data changes. The response cache removes the answers whose cache tags a notice
 * names. The triggers of schema/migrations/0044-catalog-notices.sql send the notices.
 */
import { sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";

/**
 * A cache tag: the name of a part of the catalogs, for example of one product. A cached answer has the cache
 * tags of all parts on which it depends, and becomes outdated when one of these parts changes.
 */
export type CatalogCacheTag = string;

/** The cache tags of every search answer, because a search depends on the catalogs of all merchants. */
export const searchDependencies: readonly CatalogCacheTag[] = ["searches"];

const wholeCatalog = (merchantId: string): CatalogCacheTag => `catalog ${merchantId}`;
const productList = (merchantId: string): CatalogCacheTag => `list ${merchantId}`;
const product = (productId: string): CatalogCacheTag => `product ${productId}`;

export const getProductCacheTags = (productId: string, merchantId: string): readonly CatalogCacheTag[] => [
  product(productId),
  wholeCatalog(merchantId),
];

/** Returns the cache tags of an answer with a list of a merchant's products. */
export const getProductListCacheTags = (merchantId: string): readonly CatalogCacheTag[] => [
  productList(merchantId),
  wholeCatalog(merchantId),
];

const form = /^(?:catalog:(?<catalog>\S*)|products:(?<owner>[^\s:]+):(?<ids>\S*)|searches)$/;

/**
 * Returns the cache tags of the answers that a notice makes outdated. Returns "all" if every answer may be
 * outdated, and undefined for a notice about something else. The empty notice means that notices may have
 * been missed.
 */
export function parseCatalogChangeNotice(text: string): readonly CatalogCacheTag[] | "all" | undefined {
  if (text === "") return "all";
  const { groups } = form.exec(text) ?? {};
  if (groups === undefined) return undefined;
  const { catalog, owner, ids } = groups;
  if (catalog === "") return "all";
  if (catalog !== undefined) return [...searchDependencies, wholeCatalog(catalog), productList(catalog)];
  if (owner === undefined || ids === undefined) return searchDependencies;
  const changed = ids === "" ? [] : ids.split(",").map(product);
  return [...searchDependencies, productList(owner), ...changed];
}

/**
 * Returns the next time after `now` at which one of the products looks different although no request changes
 * it; null if there is no such time. At this time, a price ends, a preordered variant becomes available, or a
 * stock hold expires. Stock holds of a variant with more free units than its low-stock threshold are
 * ignored.
 */
export async function findTimeOfNextProductChange(
  reader: DatabaseOrTransaction,
  productIds: readonly string[],
  now: Date,
): Promise<Date | null> {
  const variants = sql`select id from variant where product_id = any(${productIds}::text[])`;
  const { rows } = await sql<{ at: Date | null }>`
    select least(
      (select min(ends_at) from price where variant_id in (${variants}) and valid_until is null
        and ends_at > ${now}::timestamptz),
      (select min(available_from) from variant where product_id = any(${productIds}::text[])
        and available_from > ${now}::timestamptz),
      (select min(h.expires_at) from stock_hold h join stock_level s on s.variant_id = h.variant_id
        where h.variant_id in (${variants}) and h.expires_at > ${now}::timestamptz
          and s.on_hand - s.reserved <= s.low_stock_threshold)) as at`.execute(reader);
  return rows[0]?.at ?? null;
}
