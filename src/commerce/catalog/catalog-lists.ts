/**
 * Lists of a merchant's published products and categories. The list of categories is returned as a query,
 * which the caller pages or counts.
 */
import { type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { DatabaseReader } from "#database/transaction.ts";
import type { CategoryTable, Tables } from "#database/tables.ts";

export type CategoryRow = Selectable<CategoryTable>;

export function buildCategoryListQuery(
  reader: DatabaseReader,
  merchantId: string | null,
): SelectQueryBuilder<Tables, "category", CategoryRow> {
  return reader
    .selectFrom("category")
    .selectAll("category")
    .$if(merchantId !== null, (query) => query.where("merchantId", "=", merchantId ?? ""));
}

export const findCategories = (reader: DatabaseReader, ids: readonly string[]): Promise<CategoryRow[]> =>
  reader
    .selectFrom("category")
    .selectAll()
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();

/** Maximum number of products in a merchant's product list that is returned as a whole, without pages. */
export const productListMax = 500;

/**
 * The ids of a merchant's most recently published products (at most `productListMax`), the total number of
 * its published products, and its default locale and market.
 */
export interface ProductList {
  readonly ids: readonly string[];
  readonly total: number;
  readonly locale: string;
  readonly market: string;
  readonly currency: string | null;
  readonly catalogVersion: number;
}

/** Loads the product lists of several merchants in one statement, by merchant ID. */
export async function loadPublishedProductLists(
  reader: DatabaseReader,
  merchantIds: readonly string[],
): Promise<Map<string, ProductList>> {
  const { rows } = await sql<ProductList & { readonly merchantId: string }>`
    select m.id as merchant_id, m.default_locale as locale, m.default_market as market, m.catalog_version,
      (select mk.currency from market_country c join market mk on mk.id = c.market_id
      where c.merchant_id = m.id and c.country = m.default_market) as currency,
      (select count(*) from product p where p.merchant_id = m.id and p.status = 'published') as total,
      array(select p.id from product p where p.merchant_id = m.id and p.status = 'published'
      order by p.published_at desc, p.id limit ${productListMax}) as ids
    from merchant m where m.id = any(${merchantIds}::text[])`.execute(reader);
  return new Map(rows.map((row) => [row.merchantId, row]));
}
