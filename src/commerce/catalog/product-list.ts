/** The merchant's own list of products and categories: queries still to be paged or counted. */
import { type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { Reader } from "#database/transaction.ts";
import type { CategoryTable, Tables } from "#database/tables.ts";

export type CategoryRow = Selectable<CategoryTable>;

export interface ProductFilter {
  /** Null: of all merchants. */
  readonly merchantId: string | null;
  readonly status?: "draft" | "published" | "archived" | null | undefined;
}

export function productList(reader: Reader, { merchantId, status }: ProductFilter): SelectQueryBuilder<Tables, "product", { id: string }> {
  return reader
    .selectFrom("product")
    .select("product.id")
    .$if(merchantId !== null, (query) => query.where("merchantId", "=", merchantId ?? ""))
    .$if(typeof status === "string", (query) => query.where("status", "=", status ?? "draft"));
}

export function categoryList(reader: Reader, merchantId: string | null): SelectQueryBuilder<Tables, "category", CategoryRow> {
  return reader
    .selectFrom("category")
    .selectAll("category")
    .$if(merchantId !== null, (query) => query.where("merchantId", "=", merchantId ?? ""));
}

export const findCategories = (reader: Reader, ids: readonly string[]): Promise<CategoryRow[]> =>
  reader
    .selectFrom("category")
    .selectAll()
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();
