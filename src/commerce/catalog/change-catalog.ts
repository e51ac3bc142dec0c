/**
 * Steps that all changes of a merchant's catalog have in common. A change first locks the merchant's row, so
 * that changes of one catalog run one after the other and a check stays valid until the transaction ends.
 * Then the change raises the version of each changed object once, and updates the search index. To prevent
 * deadlocks, all changes lock in the same order: the merchant, products by id, other rows.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { createFailure, type ConflictErrorDetails } from "#foundation/failure.ts";
import type { EventType } from "#webhooks/event-types.ts";
import { type MerchantCommandContext, requireExpectedVersion } from "#commerce/command-context.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import { findProductAggregates, type ProductAggregate } from "./read-products.ts";

const reindexChunk = 500;

export interface MerchantWithLockedCatalog {
  readonly defaultLocale: string;
}

/**
 * Locks the merchant's row with `for no key update`. This lock does not delay statements that only have a
 * foreign key to the merchant, for example those that insert carts and orders.
 */
export async function lockMerchantCatalog(
  transaction: Transaction,
  context: MerchantCommandContext,
): Promise<MerchantWithLockedCatalog> {
  const merchant = await transaction
    .selectFrom("merchant")
    .select("defaultLocale")
    .where("id", "=", context.merchantId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (merchant === undefined) throw createFailure("merchant_not_found");
  return merchant;
}

export interface LockedProduct {
  readonly id: string;
  readonly status: "draft" | "published" | "archived";
  readonly version: number;
  readonly publishedAt: Date | null;
  /** The merchant's default locale. */
  readonly defaultLocale: string;
}

/**
 * Locks the merchant and one of its products in one statement. Throws if the product has another version than
 * the caller expects.
 */
export async function lockProduct(
  transaction: Transaction,
  context: MerchantCommandContext,
  {
    productId,
    expectedVersion,
  }: { readonly productId: string; readonly expectedVersion?: number | null | undefined },
): Promise<LockedProduct> {
  const product = await transaction
    .selectFrom("merchant as m")
    .innerJoin("product as p", "p.merchantId", "m.id")
    .select(["p.id", "p.status", "p.version", "p.publishedAt", "m.defaultLocale"])
    .where("m.id", "=", context.merchantId)
    .where("p.id", "=", blankIdWithForbiddenCharacters(productId))
    .forNoKeyUpdate(["m", "p"])
    .executeTakeFirst();
  if (product === undefined) throw createFailure("product_not_found");
  requireExpectedVersion(toProductConflictDetail(product), expectedVersion);
  return product;
}

/** A locked product with its state before the change; events compare it with the state afterwards. */
export interface LockedProductWithStateBefore extends LockedProduct {
  readonly before: ProductAggregate;
}

/** Loads the whole product, as it is before the change, for a product row that is already locked. */
export async function loadLockedProductWithStateBefore(
  transaction: Transaction,
  { now }: MerchantCommandContext,
  product: LockedProduct,
): Promise<LockedProductWithStateBefore> {
  const before = (await findProductAggregates(transaction, [product.id], now)).get(product.id);
  if (before === undefined) throw new Error(`Product ${product.id} was locked but could not be loaded.`);
  return { ...product, before };
}

/**
 * Locks a product for a change and loads it. Throws for an archived product; callers must first turn the
 * product back into a draft. The status is checked before the version.
 */
export async function lockAndLoadUnarchivedProduct(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: { readonly productId: string; readonly expectedVersion?: number | null | undefined },
): Promise<LockedProductWithStateBefore> {
  const product = await lockProduct(transaction, context, { productId: input.productId });
  requireProductNotArchived(product);
  requireExpectedVersion(toProductConflictDetail(product), input.expectedVersion);
  return loadLockedProductWithStateBefore(transaction, context, product);
}

export function requireProductNotArchived(product: Pick<LockedProduct, "id" | "status" | "version">): void {
  if (product.status === "archived")
    throw createFailure("invalid_state", { conflict: toProductConflictDetail(product, "product_archived") });
}

export function toProductConflictDetail(
  product: Pick<LockedProduct, "id" | "status" | "version">,
  reason: string | null = null,
  data: Readonly<Record<string, unknown>> = {},
): ConflictErrorDetails {
  return {
    resource: "product",
    id: product.id,
    currentStatus: product.status,
    currentVersion: product.version,
    reason,
    data,
  };
}

export type ProductEventType = Extract<EventType, `product.${string}`>;

export interface ProductChangeToRecord {
  readonly before: ProductAggregate;
  /** Types of the events that are published for the changed product. */
  readonly types: readonly ProductEventType[];
}

/**
 * Saves that products have changed: raises the version of each changed product and of the catalog by one, and
 * publishes the events. Updates the search index for those changed products that are published, and for the
 * products in `alsoIndex`.
 */
export async function recordProductChanges(
  transaction: Transaction,
  context: MerchantCommandContext,
  {
    changed,
    alsoIndex = [],
  }: { readonly changed: readonly ProductChangeToRecord[]; readonly alsoIndex?: readonly string[] },
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    with raised as (update merchant set catalog_version = catalog_version + 1
    where id = ${context.merchantId}),
    touched as (
      update product set version = version + 1, updated_at = ${context.now}
      where id = any(${changed.map(({ before }) => before.id)}::text[])
      and merchant_id = ${context.merchantId} returning id, status)
    select id from touched where status = 'published'`.execute(transaction);
  for (const { before, types } of changed)
    for (const type of types) context.outbox.append({ type, id: before.id, before });
  await reindexProducts(
    transaction,
    context,
    [...new Set([...rows.map(({ id }) => id), ...alsoIndex])].toSorted(),
  );
}

/**
 * Raises the catalog's version after a change that concerns no single product, for example a change of a
 * category.
 */
export async function incrementCatalogVersion(
  transaction: Transaction,
  context: MerchantCommandContext,
): Promise<void> {
  await transaction
    .updateTable("merchant")
    .set((merchant) => ({ catalogVersion: merchant("catalogVersion", "+", 1) }))
    .where("id", "=", context.merchantId)
    .execute();
}

export async function reindexProducts(
  transaction: Transaction,
  context: MerchantCommandContext,
  productIds: readonly string[],
): Promise<void> {
  for (let start = 0; start < productIds.length; start += reindexChunk) {
    await context.reindex(transaction, productIds.slice(start, start + reindexChunk));
  }
}
