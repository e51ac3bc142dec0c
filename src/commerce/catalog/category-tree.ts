/**
 * Reads the category tree of merchants: top-level categories, child categories, ancestors, and a category by
 * its slug.
 */
import { type Selectable, sql } from "kysely";
import type { CategorySlugTable } from "#database/tables.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { getLocaleFallbackChain } from "#foundation/text.ts";
import type { CategoryRow } from "./catalog-lists.ts";

/** Maximum number of categories in a list of the categories below one parent, or at the top level. */
export const siblingCategoriesMax = 500;

/** Returns a merchant's top-level categories, sorted by position. */
export const findRootCategories = (
  reader: DatabaseOrTransaction,
  merchantId: string,
): Promise<CategoryRow[]> =>
  reader
    .selectFrom("category")
    .selectAll()
    .where("merchantId", "=", merchantId)
    .where("parentId", "is", null)
    .orderBy("position")
    .orderBy("id")
    .limit(siblingCategoriesMax)
    .execute();

/** Returns the categories directly below the given parent categories, sorted by position. */
export async function findChildCategories(
  reader: DatabaseOrTransaction,
  parentIds: readonly string[],
): Promise<(CategoryRow & { readonly parentId: string })[]> {
  const { rows } = await sql<CategoryRow & { readonly parentId: string }>`
    select c.* from unnest(${parentIds}::text[]) as asked (id) cross join lateral (
      select * from category where parent_id = asked.id order by position, id
      limit ${siblingCategoriesMax}) as c
    order by c.parent_id, c.position, c.id`.execute(reader);
  return rows;
}

/** Returns the categories above each given category, the top-level category first, by category id. */
export async function findCategoryAncestors(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): Promise<Map<string, CategoryRow[]>> {
  // Recursive query: `union` without `all` drops rows that were found before, so the query also ends if the
  // category tree contains a cycle.
  const { rows } = await sql<CategoryRow & { readonly below: string }>`
    with recursive up as (
      select id as below, parent_id from category where id = any(${ids}::text[])
      union select up.below, c.parent_id from up join category c on c.id = up.parent_id)
    select up.below, c.* from up join category c on c.id = up.parent_id`.execute(reader);
  const grouped = Map.groupBy(rows, ({ below }) => below);
  return new Map(ids.map((id) => [id, inOrder(grouped.get(id) ?? [])]));
}

/** Sorts the ancestors (all categories above) of one category, from the top level downwards. */
function inOrder(ancestors: readonly CategoryRow[]): CategoryRow[] {
  const sorted: CategoryRow[] = [];
  for (let next = ancestors.find(({ parentId }) => parentId === null); next !== undefined;) {
    const { id } = next;
    sorted.push(next);
    next = sorted.length < ancestors.length ? ancestors.find(({ parentId }) => parentId === id) : undefined;
  }
  return sorted;
}

export type LocalizedCategorySlugRow = Selectable<CategorySlugTable>;

export const findLocalizedCategorySlugs = (
  reader: DatabaseOrTransaction,
  categoryIds: readonly string[],
): Promise<LocalizedCategorySlugRow[]> =>
  reader
    .selectFrom("categorySlug")
    .selectAll()
    .where(sql<boolean>`category_id = any(${categoryIds}::text[])`)
    .orderBy("categoryId")
    .orderBy("locale")
    .execute();

/**
 * Finds a merchant's category by the slug that it has in the given locale or in a more general locale, or
 * else by its general slug. Without a locale, only general slugs are compared.
 */
export async function findCategoryBySlug(
  reader: DatabaseOrTransaction,
  {
    merchantId,
    slug,
    locale,
  }: { readonly merchantId: string; readonly slug: string; readonly locale: string | null },
): Promise<CategoryRow | undefined> {
  const locales = locale === null ? [] : getLocaleFallbackChain(locale);
  const { rows } = await sql<CategoryRow>`
    select c.* from category c
      left join category_slug s on s.category_id = c.id and s.slug = ${slug} and s.locale = any(${locales}::text[])
    where c.merchant_id = ${merchantId} and (s.slug is not null or c.slug = ${slug})
    order by array_position(${locales}::text[], s.locale) nulls last limit 1`.execute(reader);
  return rows[0];
}
