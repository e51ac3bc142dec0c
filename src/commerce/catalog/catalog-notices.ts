/**
 * The notices (NOTIFY) that the database sends when data of a catalog changes, and the names by which cached
 * answers depend on this data. The triggers of schema/migrations/0044-catalog-notices.sql send the notices.
 */
import { sql } from "kysely";
import type { DatabaseReader } from "#database/transaction.ts";

/**
 * The name of a part of the catalogs that answers depend on, for example one product. An answer depends on
 * the parts that `getProductDependencies` and the constants beside it return.
 */
export type CatalogDependency = string;

/** Every search depends on all catalogs. */
export const searchDependencies: readonly CatalogDependency[] = ["searches"];

const wholeCatalog = (merchantId: string): CatalogDependency => `catalog ${merchantId}`;
const productList = (merchantId: string): CatalogDependency => `list ${merchantId}`;
const product = (productId: string): CatalogDependency => `product ${productId}`;

export const getProductDependencies = (
  productId: string,
  merchantId: string,
): readonly CatalogDependency[] => [product(productId), wholeCatalog(merchantId)];

/** Returns the dependencies of a list of a merchant's products. */
export const getProductListDependencies = (merchantId: string): readonly CatalogDependency[] => [
  productList(merchantId),
  wholeCatalog(merchantId),
];

const form = /^(?:catalog:(?<catalog>\S*)|products:(?<owner>[^\s:]+):(?<ids>\S*)|searches)$/;

/**
 * Returns the parts of the catalogs that a notice reports as changed; "all" if every part can have changed,
 * and undefined for a notice about something else. The empty notice says that notices may have been missed.
 */
export function parseCatalogChangeNotice(text: string): readonly CatalogDependency[] | "all" | undefined {
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
 * it; null if there is no such time. At such a time a price ends, a preordered variant becomes available, or
 * reserved units become free. Free units of a variant above its low-stock threshold change nothing.
 */
export async function findNextTimedProductChange(
  reader: DatabaseReader,
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
