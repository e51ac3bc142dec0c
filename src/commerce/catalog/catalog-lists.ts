/**
 * Lists a merchant's published products and categories. The list of categories is returned as a query, to
 * which the caller adds paging or counting.
 */
import { type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import type { CategoryTable, Tables } from "#database/tables.ts";

export type CategoryRow = Selectable<CategoryTable>;

export function buildCategoryListSqlQuery(
  reader: DatabaseOrTransaction,
  merchantId: string | null,
): SelectQueryBuilder<Tables, "category", CategoryRow> {
  return reader
    .selectFrom("category")
    .selectAll("category")
    .$if(merchantId !== null, (query) => query.where("merchantId", "=", merchantId ?? ""));
}

export const findCategories = (
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): Promise<CategoryRow[]> =>
  reader
    .selectFrom("category")
    .selectAll()
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();

/**
 * Maximum number of products in a merchant's product list, which has the most recently published products.
 * The API returns the list as a whole and not in pages, so its length is bounded.
 */
export const productListMax = 500;

/**
 * A merchant's product list. Contains the ids of its most recently published products (at most
 * `productListMax`), the total number of its published products, and its default locale and market.
 */
export interface PublishedProductList {
  readonly ids: readonly string[];
  readonly total: number;
  readonly locale: string;
  readonly market: string;
  readonly currency: string | null;
  readonly catalogVersion: number;
}

/** Loads the product lists of several merchants in one statement. Returns the lists by merchant id. */
export async function loadPublishedProductLists(
  reader: DatabaseOrTransaction,
  merchantIds: readonly string[],
): Promise<Map<string, PublishedProductList>> {
  const { rows } = await sql<PublishedProductList & { readonly merchantId: string }>`
    select m.id as merchant_id, m.default_locale as locale, m.default_market as market, m.catalog_version,
      (select mk.currency from market_country c join market mk on mk.id = c.market_id
      where c.merchant_id = m.id and c.country = m.default_market) as currency,
      (select count(*) from product p where p.merchant_id = m.id and p.status = 'published') as total,
      array(select p.id from product p where p.merchant_id = m.id and p.status = 'published'
      order by p.published_at desc, p.id limit ${productListMax}) as ids
    from merchant m where m.id = any(${merchantIds}::text[])`.execute(reader);
  return new Map(rows.map((row) => [row.merchantId, row]));
}
