/**
 * What every change of a catalog has in common. A change locks the merchant's row before it reads, so that
 * the changes of a catalog run one after the other and what was checked is still true when it is written. It
 * raises each version once and updates the search index. Locks are always taken in this order: merchant,
 * products by id, the rest.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { fail, type FailureConflict } from "#foundation/failure.ts";
import type { EventType } from "#webhooks/event-types.ts";
import { type CommandContext, requireVersion } from "#commerce/command-context.ts";
import { toId } from "#foundation/ids.ts";
import { findProductAggregates, type ProductAggregate } from "./read-products.ts";

const reindexChunk = 500;

export interface LockedMerchant {
  readonly defaultLocale: string;
}

/** `no key`: what only refers to the merchant (carts, orders) need not wait for a change of its catalog. */
export async function lockCatalog(transaction: Transaction, tenant: CommandContext): Promise<LockedMerchant> {
  const merchant = await transaction
    .selectFrom("merchant")
    .select("defaultLocale")
    .where("id", "=", tenant.merchantId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (merchant === undefined) throw fail("merchant_not_found");
  return merchant;
}

export interface LockedProduct {
  readonly id: string;
  readonly status: "draft" | "published" | "archived";
  readonly version: number;
  readonly publishedAt: Date | null;
  /** The merchant's. */
  readonly defaultLocale: string;
}

/** Merchant and product in one statement. */
export async function lockProduct(
  transaction: Transaction,
  tenant: CommandContext,
  {
    productId,
    expectedVersion,
  }: { readonly productId: string; readonly expectedVersion?: number | null | undefined },
): Promise<LockedProduct> {
  const product = await transaction
    .selectFrom("merchant as m")
    .innerJoin("product as p", "p.merchantId", "m.id")
    .select(["p.id", "p.status", "p.version", "p.publishedAt", "m.defaultLocale"])
    .where("m.id", "=", tenant.merchantId)
    .where("p.id", "=", toId(productId))
    .forNoKeyUpdate(["m", "p"])
    .executeTakeFirst();
  if (product === undefined) throw fail("product_not_found");
  requireVersion(conflictOf(product), expectedVersion);
  return product;
}

/** With what it was before it is changed, for those who are told of the change. */
export interface EditedProduct extends LockedProduct {
  readonly before: ProductAggregate;
}

/** Of a product that is locked. */
export async function withBefore(
  transaction: Transaction,
  { now }: CommandContext,
  product: LockedProduct,
): Promise<EditedProduct> {
  const before = (await findProductAggregates(transaction, [product.id], now)).get(product.id);
  if (before === undefined) throw new Error(`The product ${product.id} was locked and is not there.`);
  return { ...product, before };
}

/**
 * An archived product stays as it was: it is taken back to a draft first. State is checked before version (as
 * in carts).
 */
export async function lockEditableProduct(
  transaction: Transaction,
  tenant: CommandContext,
  input: { readonly productId: string; readonly expectedVersion?: number | null | undefined },
): Promise<EditedProduct> {
  const product = await lockProduct(transaction, tenant, { productId: input.productId });
  requireEditable(product);
  requireVersion(conflictOf(product), input.expectedVersion);
  return withBefore(transaction, tenant, product);
}

export function requireEditable(product: Pick<LockedProduct, "id" | "status" | "version">): void {
  if (product.status === "archived")
    throw fail("invalid_state", { conflict: conflictOf(product, "product_archived") });
}

export function conflictOf(
  product: Pick<LockedProduct, "id" | "status" | "version">,
  reason: string | null = null,
  data: Readonly<Record<string, unknown>> = {},
): FailureConflict {
  return {
    resource: "product",
    id: product.id,
    currentStatus: product.status,
    currentVersion: product.version,
    reason,
    data,
  };
}

export type ProductEvent = Extract<EventType, `product.${string}`>;

export interface ChangedProduct {
  readonly before: ProductAggregate;
  /** What is told of it. */
  readonly types: readonly ProductEvent[];
}

/**
 * Raises each product's version and the catalog's, once, tells of it, and has those on sale indexed, with
 * others whose place in the index changed.
 */
export async function recordProductChange(
  transaction: Transaction,
  tenant: CommandContext,
  {
    changed,
    alsoIndex = [],
  }: { readonly changed: readonly ChangedProduct[]; readonly alsoIndex?: readonly string[] },
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    with raised as (update merchant set catalog_version = catalog_version + 1 where id = ${tenant.merchantId}),
    touched as (
      update product set version = version + 1, updated_at = ${tenant.now}
      where id = any(${changed.map(({ before }) => before.id)}::text[]) and merchant_id = ${tenant.merchantId} returning id, status)
    select id from touched where status = 'published'`.execute(transaction);
  for (const { before, types } of changed)
    for (const type of types) tenant.outbox.append({ type, id: before.id, before });
  await reindexProducts(
    transaction,
    tenant,
    [...new Set([...rows.map(({ id }) => id), ...alsoIndex])].toSorted(),
  );
}

/** For what belongs to the catalog but to no product. */
export async function raiseCatalogVersion(transaction: Transaction, tenant: CommandContext): Promise<void> {
  await transaction
    .updateTable("merchant")
    .set((merchant) => ({ catalogVersion: merchant("catalogVersion", "+", 1) }))
    .where("id", "=", tenant.merchantId)
    .execute();
}

export async function reindexProducts(
  transaction: Transaction,
  tenant: CommandContext,
  productIds: readonly string[],
): Promise<void> {
  for (let start = 0; start < productIds.length; start += reindexChunk) {
    await tenant.reindex(transaction, productIds.slice(start, start + reindexChunk));
  }
}
