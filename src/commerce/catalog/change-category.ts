/**
 * Creates, changes, moves and deletes categories. The category tree has at most six levels and no cycles. A
 * category with children or products cannot be deleted.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { createFailure, type ConflictErrorDetails } from "#foundation/failure.ts";
import { createId, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import {
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getIntegerFieldErrors,
  createInvalidFieldFailure,
  requireNoInputFieldErrors,
} from "#foundation/faults.ts";
import { type MerchantCommandContext, requireExpectedVersion } from "#commerce/command-context.ts";
import {
  catalogBounds,
  findLocalizedTextFaults,
  type LocalizedTextInput,
  findSlugFaults,
  toLocalizedTextMap,
} from "./catalog-fields.ts";
import {
  type CategorySlugInput,
  findCategorySlugFaults,
  requireUnusedUnlocalizedCategorySlug,
  replaceLocalizedCategorySlugs,
} from "./category-slugs.ts";
import { lockMerchantCatalog, incrementCatalogVersion, reindexProducts } from "./change-catalog.ts";

export interface UpsertCategoryInput {
  /**
   * Id of the category to change. If left out, the slug identifies the category; if no category has the slug,
   * a new category is created.
   */
  readonly categoryId?: string | null | undefined;
  readonly expectedVersion?: number | null | undefined;
  readonly slug: string;
  /**
   * The category's slugs for single locales, which replace all stored ones. If left out, the stored slugs are
   * not changed.
   */
  readonly localizedSlugs?: readonly CategorySlugInput[] | null | undefined;
  readonly names: readonly LocalizedTextInput[];
  /** The parent category; null for a top-level category. If left out, the parent is not changed. */
  readonly parentId?: string | null | undefined;
  /**
   * Position of the category among the categories with the same parent. If left out, the category keeps its
   * position; a new or moved category becomes the last.
   */
  readonly position?: number | null | undefined;
}

export interface DeleteCategoryInput {
  readonly categoryId: string;
  readonly expectedVersion?: number | null | undefined;
}

export async function upsertCategory(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: UpsertCategoryInput,
): Promise<{ categoryId: string }> {
  requireNoInputFieldErrors(upsertFaults(input));
  await lockMerchantCatalog(transaction, context);
  const existing = await findCategory(transaction, context, input);
  const before = existing ?? { id: null, parentId: null, position: undefined };
  const parentId = input.parentId === undefined ? before.parentId : input.parentId;
  const isMoved = parentId !== before.parentId;
  if (isMoved && parentId !== null)
    await requireValidParent(transaction, context, { categoryId: before.id, parentId });
  const names = JSON.stringify(toLocalizedTextMap(input.names));
  const currentPosition = isMoved ? undefined : before.position;
  const row = {
    slug: input.slug,
    names,
    parentId,
    position: input.position ?? currentPosition ?? (await findEndPosition(transaction, context, parentId)),
  };
  await requireUnusedUnlocalizedCategorySlug(transaction, context, {
    categoryId: before.id,
    slug: input.slug,
  });
  const slugs = input.localizedSlugs ?? undefined;
  return existing === undefined
    ? insertCategory(transaction, context, { ...row, slugs })
    : updateCategory(transaction, context, { ...row, slugs, id: existing.id });
}

function upsertFaults({ slug, names, position, localizedSlugs }: UpsertCategoryInput): InputFieldErrors {
  return [
    ...findSlugFaults("/slug", slug),
    ...findCategorySlugFaults(localizedSlugs),
    ...findLocalizedTextFaults("/names", names, { max: catalogBounds.nameMax }),
    ...getIntegerFieldErrors("/position", position, { min: 0, max: catalogBounds.positionMax }),
  ];
}

interface Category {
  readonly id: string;
  readonly slug: string;
  readonly parentId: string | null;
  readonly position: number;
  readonly version: number;
}

/**
 * Finds the category by its id, or by its slug if no id is given. Throws if another category has the slug, or
 * if the category has another version than the caller expects.
 */
async function findCategory(
  transaction: Transaction,
  context: MerchantCommandContext,
  { categoryId, slug, expectedVersion }: UpsertCategoryInput,
): Promise<Category | undefined> {
  const rows = await transaction
    .selectFrom("category")
    .select(["id", "slug", "parentId", "position", "version"])
    .where("merchantId", "=", context.merchantId)
    .where((row) =>
      row.or([row("id", "=", blankIdWithForbiddenCharacters(categoryId ?? "")), row("slug", "=", slug)]),
    )
    .execute();
  const withSlug = rows.find((row) => row.slug === slug);
  const existing = typeof categoryId === "string" ? rows.find(({ id }) => id === categoryId) : withSlug;
  if (existing === undefined && typeof categoryId === "string") throw createFailure("resource_not_found");
  if (existing === undefined) return undefined;
  if (withSlug !== undefined && withSlug.id !== existing.id) {
    const message = "Another category of the merchant has this slug.";
    throw createFailure("already_exists", {
      message,
      details: [createRequestBodyErrorDetail("/slug", "already_exists", message)],
      conflict: categoryConflict(withSlug, "slug_taken"),
    });
  }
  requireExpectedVersion(categoryConflict(existing), expectedVersion);
  return existing;
}

interface CategoryRow {
  readonly slug: string;
  /** The category's names as a JSON object that maps a locale to a name. */
  readonly names: string;
  readonly parentId: string | null;
  readonly position: number;
  /** The category's new slugs for single locales; undefined if the slugs do not change. */
  readonly slugs: readonly CategorySlugInput[] | undefined;
}

async function insertCategory(
  transaction: Transaction,
  context: MerchantCommandContext,
  { slugs, ...row }: CategoryRow,
): Promise<{ categoryId: string }> {
  const id = createId("category", context.now.getTime());
  await transaction
    .insertInto("category")
    .values({ ...row, id, merchantId: context.merchantId, createdAt: context.now, updatedAt: context.now })
    .execute();
  if (slugs !== undefined)
    await replaceLocalizedCategorySlugs(transaction, context, { categoryId: id, slugs });
  await incrementCatalogVersion(transaction, context);
  return { categoryId: id };
}

async function updateCategory(
  transaction: Transaction,
  context: MerchantCommandContext,
  row: CategoryRow & { readonly id: string },
): Promise<{ categoryId: string }> {
  const { id, slug, names, parentId, position, slugs } = row;
  const haveSlugsChanged =
    slugs !== undefined &&
    (await replaceLocalizedCategorySlugs(transaction, context, { categoryId: id, slugs }));
  const changed = await sql`
    update category set slug = ${slug}, names = ${names}::jsonb, parent_id = ${parentId}, position =
    ${position}, version = version + 1, updated_at = ${context.now}
    where id = ${id} and (${haveSlugsChanged}::boolean or (slug, names, parent_id, position) is distinct
    from (${slug}, ${names}::jsonb, ${parentId}, ${position}::int))
    returning id`.execute(transaction);
  if (changed.rows.length > 0) {
    await incrementCatalogVersion(transaction, context);
    await reindexProducts(transaction, context, await findPublishedInSubtree(transaction, id));
  }
  return { categoryId: id };
}

export async function deleteCategory(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: DeleteCategoryInput,
): Promise<{ categoryId: string }> {
  await lockMerchantCatalog(transaction, context);
  const { rows } = await sql<Category & { children: number; products: number }>`
    select id, slug, parent_id, position, version,
      (select count(*) from category c where c.parent_id = category.id) as children,
      (select count(*) from product_category pc where pc.category_id = category.id) as products
    from category where id = ${blankIdWithForbiddenCharacters(input.categoryId)} and merchant_id = ${context.merchantId}`.execute(
    transaction,
  );
  const [category] = rows;
  if (category === undefined) throw createFailure("resource_not_found");
  const { children, products } = category;
  if (children > 0)
    throw createFailure("still_in_use", {
      conflict: categoryConflict(category, "has_children", { children, products }),
    });
  if (products > 0)
    throw createFailure("still_in_use", {
      conflict: categoryConflict(category, "has_products", { children, products }),
    });
  requireExpectedVersion(categoryConflict(category), input.expectedVersion);
  await transaction
    .deleteFrom("category")
    .where("id", "=", category.id)
    .where("merchantId", "=", context.merchantId)
    .execute();
  await incrementCatalogVersion(transaction, context);
  return { categoryId: category.id };
}

function categoryConflict(
  { id, version }: Pick<Category, "id" | "version">,
  reason: string | null = null,
  data: Readonly<Record<string, unknown>> = {},
): ConflictErrorDetails {
  return { resource: "category", id, currentStatus: null, currentVersion: version, reason, data };
}

/**
 * Throws if the parent category does not exist or is below the category itself, or if the category tree would
 * become deeper than the maximum depth.
 */
async function requireValidParent(
  transaction: Transaction,
  context: MerchantCommandContext,
  { categoryId, parentId }: { readonly categoryId: string | null; readonly parentId: string },
): Promise<void> {
  const { rows } = await sql<{ depth: number; isBelow: boolean; height: number }>`
    with recursive up as (
      select id, parent_id from category where id = ${blankIdWithForbiddenCharacters(parentId)}
      and merchant_id = ${context.merchantId}
      union all select c.id, c.parent_id from up join category c on c.id = up.parent_id),
    down as (
      select id, 1 as level from category where id = ${categoryId}::text
      union all select c.id, down.level + 1 from down join category c on c.parent_id = down.id)
    select (select count(*)::int from up) as depth, exists (select from up
    where id = ${categoryId}::text) as is_below,
      (select coalesce(max(level), 1) from down) as height`.execute(transaction);
  const { depth, isBelow, height } = rows[0] ?? { depth: 0, isBelow: false, height: 1 };
  if (depth === 0)
    throw createInvalidFieldFailure("resource_not_found", "/parentId", {
      code: "resource_not_found",
      message: "The merchant has no category with this ID.",
    });
  if (isBelow)
    throw createInvalidFieldFailure("invalid_field", "/parentId", {
      code: "circle",
      message: "The parent must not be the category itself or a category below it.",
    });
  if (depth + height > catalogBounds.categoryDepthMax) {
    const message = `The category tree may have at most ${catalogBounds.categoryDepthMax} levels.`;
    throw createInvalidFieldFailure("invalid_field", "/parentId", { code: "too_deep", message });
  }
}

async function findEndPosition(
  transaction: Transaction,
  context: MerchantCommandContext,
  parentId: string | null,
): Promise<number> {
  const { rows } = await sql<{ position: number }>`
    select coalesce(max(position) + 1, 0) as position from category where merchant_id = ${context.merchantId}
    and parent_id is not distinct from ${parentId}`.execute(transaction);
  return rows[0]?.position ?? 0;
}

/**
 * Finds the published products in a category and in all categories below it. A change of the category affects
 * all these products, because the search index stores each product together with its categories and all
 * categories above them.
 */
async function findPublishedInSubtree(transaction: Transaction, categoryId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive down as (
      select id from category where id = ${categoryId}
      union all select c.id from down join category c on c.parent_id = down.id)
    select p.id from product p
    where p.status = 'published' and p.id in (select product_id from product_category
    where category_id in (select id from down))
    order by p.id for no key update`.execute(transaction);
  return rows.map(({ id }) => id);
}
