/**
 * Changes the status of a product: a draft is published, a published product becomes a draft again
 * (unpublish), and a draft is deleted or archived. Only drafts can be deleted or archived, so that no product
 * disappears from sale by mistake. A draft that was never published is deleted with all its data. A draft
 * that was published before is archived: its slugs stay reserved, its price history is kept, and orders still
 * refer to it. Unpublishing an archived product turns it into a draft.
 */
import type { Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import { type MerchantCommandContext, requireExpectedVersion } from "#commerce/command-context.ts";
import {
  toProductConflictDetail,
  lockAndLoadUnarchivedProduct,
  type LockedProduct,
  lockProduct,
  incrementCatalogVersion,
  recordProductChanges,
  loadLockedProductWithStateBefore,
} from "./change-catalog.ts";

export interface ProductIdAndExpectedVersion {
  readonly productId: string;
  readonly expectedVersion?: number | null | undefined;
}

export async function publishProduct(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: ProductIdAndExpectedVersion,
): Promise<{ productId: string }> {
  const product = await lockAndLoadUnarchivedProduct(transaction, context, input);
  if (product.status === "published") return { productId: product.id };
  await requirePublishableProduct(transaction, product);
  await saveProductStatus(transaction, context, { product, status: "published" });
  await recordProductChanges(transaction, context, {
    changed: [{ before: product.before, types: ["product.published"] }],
  });
  return { productId: product.id };
}

/** Turns a published or archived product into a draft. */
export async function unpublishProduct(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: ProductIdAndExpectedVersion,
): Promise<{ productId: string }> {
  const product = await lockProduct(transaction, context, input);
  if (product.status === "draft") return { productId: product.id };
  const { before } = await loadLockedProductWithStateBefore(transaction, context, product);
  await saveProductStatus(transaction, context, { product, status: "draft" });
  const wasOnSale = product.status === "published";
  await recordProductChanges(transaction, context, {
    changed: [{ before, types: [wasOnSale ? "product.unpublished" : "product.updated"] }],
    alsoIndex: wasOnSale ? [product.id] : [],
  });
  return { productId: product.id };
}

/** Deletes a draft, or archives it if it was published before. `archived` is true if the product was archived. */
export async function deleteOrArchiveProduct(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: ProductIdAndExpectedVersion,
): Promise<{ productId: string; archived: boolean }> {
  const product = await lockAndLoadUnarchivedProduct(transaction, context, { productId: input.productId });
  if (product.status === "published")
    throw createFailure("invalid_state", { conflict: toProductConflictDetail(product, "product_published") });
  requireExpectedVersion(toProductConflictDetail(product), input.expectedVersion);
  const wasSeen = product.publishedAt !== null;
  if (wasSeen) {
    await saveProductStatus(transaction, context, { product, status: "archived" });
    await recordProductChanges(transaction, context, {
      changed: [{ before: product.before, types: ["product.deleted"] }],
    });
  } else {
    await transaction
      .deleteFrom("product")
      .where("id", "=", product.id)
      .where("merchantId", "=", context.merchantId)
      .execute();
    await incrementCatalogVersion(transaction, context);
    // The event about the deletion contains the product's last state with the next version, because receivers
    // ignore an event whose version is not newer than the version that they have.
    const { before } = product;
    const object = { ...before, version: before.version + 1 };
    context.outbox.append({ type: "product.deleted", id: product.id, before, object });
  }
  return { productId: product.id, archived: wasSeen };
}

/**
 * Throws if the product is incomplete and cannot be published. The error's reason is the first missing part;
 * its data lists all missing parts.
 */
export async function requirePublishableProduct(
  transaction: Transaction,
  product: LockedProduct,
): Promise<void> {
  const { hasTranslation, hasVariant, hasPrice } = await transaction
    .selectNoFrom((row) => [
      row
        .exists(
          row
            .selectFrom("productTranslation")
            .select("locale")
            .where("productId", "=", product.id)
            .where("locale", "=", product.defaultLocale),
        )
        .as("hasTranslation"),
      row.exists(row.selectFrom("variant").select("id").where("productId", "=", product.id)).as("hasVariant"),
      row
        .exists(
          row
            .selectFrom("price")
            .innerJoin("variant", "variant.id", "price.variantId")
            .select("variant.id")
            .where("variant.productId", "=", product.id)
            .where("price.validUntil", "is", null),
        )
        .as("hasPrice"),
    ])
    .executeTakeFirstOrThrow();
  const missing = [
    ...(hasTranslation ? [] : ["missing_default_translation"]),
    ...(hasVariant ? [] : ["missing_variant"]),
    ...(hasPrice ? [] : ["missing_price"]),
  ];
  const [reason] = missing;
  if (reason !== undefined)
    throw createFailure("invalid_state", {
      conflict: toProductConflictDetail(product, reason, { missing, defaultLocale: product.defaultLocale }),
    });
}

interface StatusToSet {
  readonly product: LockedProduct;
  readonly status: LockedProduct["status"];
}

/**
 * Sets the product's status. `publishedAt` is set only at the first publication, so that a product that was
 * unpublished for a while does not appear as a new product.
 */
export async function saveProductStatus(
  transaction: Transaction,
  context: MerchantCommandContext,
  { product, status }: StatusToSet,
): Promise<void> {
  const publishedAt = status === "published" ? (product.publishedAt ?? context.now) : product.publishedAt;
  await transaction
    .updateTable("product")
    .set({ status, publishedAt })
    .where("id", "=", product.id)
    .where("merchantId", "=", context.merchantId)
    .execute();
}
