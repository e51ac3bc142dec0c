/** Builds the query for a filtered list of a merchant's products, which returns product ids. */
import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { Tables } from "#database/tables.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";

/**
 * Stock filter for products. A product matches if at least one of its variants has free units (in_stock), few
 * free units (low_stock) or no free units (out_of_stock).
 */
export type ProductStockFilter = "in_stock" | "low_stock" | "out_of_stock";

export interface ProductFilter {
  /** The merchant whose products are selected; null selects the products of all merchants. */
  readonly merchantId: string | null;
  readonly status?: "draft" | "published" | "archived" | null | undefined;
  /**
   * Ids of categories; selects products that are in at least one of these categories. To include the
   * categories below a category, the caller adds their ids (`findCategoryAndDescendantIds`).
   */
  readonly categoryIds?: readonly string[] | null | undefined;
  readonly brand?: string | null | undefined;
  readonly stock?: ProductStockFilter | null | undefined;
  /** Start of the period of the products' last changes; the start itself is included. */
  readonly updatedFrom?: Date | null | undefined;
  /** End of the period of the products' last changes; the end itself is excluded. */
  readonly updatedTo?: Date | null | undefined;
}

const freeUnits = sql`sl.on_hand - sl.reserved`;

/**
 * SQL conditions on the free units of a variant. The conditions `low_stock` and `out_of_stock` contain the
 * condition of the partial index `stock_level_low`, so that PostgreSQL can use this index.
 */
const stockConditions: Readonly<Record<ProductStockFilter, RawBuilder<boolean>>> = {
  in_stock: sql`${freeUnits} > 0`,
  low_stock: sql`${freeUnits} <= sl.low_stock_threshold and ${freeUnits} > 0`,
  out_of_stock: sql`${freeUnits} <= sl.low_stock_threshold and ${freeUnits} <= 0`,
};

const hasStock = (stock: ProductStockFilter, merchantId: string | null): RawBuilder<boolean> => {
  const isOwned = merchantId === null ? sql`true` : sql`sl.merchant_id = ${merchantId}`;
  return sql<boolean>`product.id in (select v.product_id from stock_level sl join variant v
    on v.id = sl.variant_id where ${isOwned} and ${stockConditions[stock]})`;
};

/** Returns the ids of a category and of all categories below it; empty if the category does not exist. */
export async function findCategoryAndDescendantIds(
  reader: DatabaseOrTransaction,
  categoryId: string,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive below as (
      select id from category where id = ${blankIdWithForbiddenCharacters(categoryId)}
      union select c.id from category c join below b on c.parent_id = b.id)
    select id from below`.execute(reader);
  return rows.map(({ id }) => id);
}

/**
 * SQL condition that is true for products in one of the categories. The category ids are a parameter and not
 * a subquery, so that PostgreSQL can estimate from its statistics how many products the categories have.
 */
const isInCategories = (categoryIds: readonly string[]): RawBuilder<boolean> => sql<boolean>`product.id in (
  select pc.product_id from product_category pc where pc.category_id = any(${categoryIds}::text[]))`;

/** Returns the query that selects product ids. The caller adds the order and the limit, or counts the rows. */
export function buildProductIdSqlQuery(
  reader: DatabaseOrTransaction,
  { merchantId, status, categoryIds, brand, stock, updatedFrom, updatedTo }: ProductFilter,
): SelectQueryBuilder<Tables, "product", { id: string }> {
  let list = reader.selectFrom("product").select("product.id");
  if (merchantId !== null) list = list.where("product.merchantId", "=", merchantId);
  if (typeof status === "string") list = list.where("product.status", "=", status);
  if (categoryIds !== null && categoryIds !== undefined) list = list.where(isInCategories(categoryIds));
  if (typeof brand === "string") list = list.where("product.brand", "=", brand);
  if (typeof stock === "string") list = list.where(hasStock(stock, merchantId));
  if (updatedFrom instanceof Date) list = list.where("product.updatedAt", ">=", updatedFrom);
  if (updatedTo instanceof Date) list = list.where("product.updatedAt", "<", updatedTo);
  return list;
}
