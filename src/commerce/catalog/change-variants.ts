/**
 * Creates and changes the variants of a product: reads the stored variants, merges the input into them, and
 * writes all changed rows in one statement. A variant is found by its id, or else by its SKU. Variants are
 * never deleted, because orders and prices refer to them; instead they are marked as discontinued. A variant
 * that is not discontinued has exactly one choice of each option of the product, and no two variants of a
 * product have the same choices.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { type StockLevelBeforeAndAfter, publishStockEvents } from "#commerce/inventory/stock-levels.ts";
import { saveStockSettings } from "#commerce/inventory/stock-settings.ts";
import { requireNoInputFieldErrors } from "#foundation/faults.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import { lockAndLoadUnarchivedProduct, type LockedProduct, recordProductChanges } from "./change-catalog.ts";
import { findVariantFaults, type VariantInputFields } from "./catalog-fields.ts";
import {
  type VariantMergeContext,
  mergeInputsIntoStoredVariants,
  type VariantRow,
  type VariantToSave,
} from "./merge-variants.ts";
import { loadProductOptionChoices } from "./product-options.ts";

export interface UpsertVariantInput extends VariantInputFields {
  readonly productId: string;
  readonly expectedVersion?: number | null | undefined;
  /**
   * Id of the variant to change. If left out, the SKU identifies the variant; if no variant has the SKU, a
   * new variant is created.
   */
  readonly variantId?: string | null | undefined;
  /** Id of the picture of the product that shows this variant. */
  readonly mediaId?: string | null | undefined;
}

export async function upsertVariant(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: UpsertVariantInput,
): Promise<{ productId: string; variantId: string }> {
  requireNoInputFieldErrors(findVariantFaults("", input));
  const product = await lockAndLoadUnarchivedProduct(transaction, context, input);
  const { variantIds, isChanged, stockChanges } = await saveVariants(transaction, context, {
    product,
    variants: [{ ...input, at: "" }],
  });
  if (isChanged)
    await recordProductChanges(transaction, context, {
      changed: [{ before: product.before, types: ["product.updated"] }],
    });
  publishStockEvents(context, stockChanges);
  const [variantId] = variantIds;
  if (variantId === undefined) throw new Error("A variant was saved, but its ID is missing.");
  return { productId: product.id, variantId };
}

export interface VariantSaveResult {
  /** Ids of the saved variants, in the order of the input. */
  readonly variantIds: readonly string[];
  readonly createdIds: ReadonlySet<string>;
  readonly isChanged: boolean;
  /**
   * Stock changes of the saved variants. The caller publishes their events after all changes of the
   * transaction are written.
   */
  readonly stockChanges: readonly StockLevelBeforeAndAfter[];
}

/**
 * Creates and changes variants of a product. The caller must have locked the merchant's row, so that no other
 * transaction can use a SKU between the check and the write. The caller must also have saved the product's
 * options before.
 */
export async function saveVariants(
  transaction: Transaction,
  context: MerchantCommandContext,
  { product, variants }: { readonly product: LockedProduct; readonly variants: readonly VariantToSave[] },
): Promise<VariantSaveResult> {
  const current = await readVariants(transaction, context, { product, variants });
  const merged = mergeInputsIntoStoredVariants(current, variants);
  const isVariantChanged = await insertOrUpdateVariants(transaction, context, {
    productId: product.id,
    rows: merged,
  });
  const stock = await saveStockSettings(
    transaction,
    context,
    merged.map(({ id, isNew }, index) => ({
      variantId: id,
      isNew,
      backorderLimit: variants[index]?.backorderLimit ?? null,
      lowStockThreshold: variants[index]?.lowStockThreshold ?? null,
    })),
  );
  return {
    variantIds: merged.map(({ id }) => id),
    createdIds: new Set(merged.filter(({ isNew }) => isNew).map(({ id }) => id)),
    isChanged: isVariantChanged || stock.isChanged,
    stockChanges: stock.stockChanges,
  };
}

interface VariantKeys {
  readonly sku: string;
  readonly mediaId?: string | null | undefined;
}

async function readVariants(
  transaction: Transaction,
  context: MerchantCommandContext,
  { product, variants }: { readonly product: LockedProduct; readonly variants: readonly VariantKeys[] },
): Promise<VariantMergeContext> {
  const skus = variants.map(({ sku }) => sku.toLowerCase());
  const found = await transaction
    .selectFrom("variant")
    .selectAll()
    .where("merchantId", "=", context.merchantId)
    .where((row) =>
      row.or([row("productId", "=", product.id), sql<boolean>`lower(sku) = any(${skus}::text[])`]),
    )
    .execute();
  const foreign = found.filter(({ productId }) => productId !== product.id);
  return {
    product,
    now: context.now,
    rows: found
      .filter(({ productId }) => productId === product.id)
      .map((row) => Object.assign(row, { options: row.options as Record<string, string> })),
    foreignSkus: new Map(
      foreign.map(({ sku, id, productId }) => [sku.toLowerCase(), { variantId: id, productId }]),
    ),
    options: await loadProductOptionChoices(transaction, product.id),
    mediaIds: await readMediaIds(transaction, product.id, variants),
  };
}

async function readMediaIds(
  transaction: Transaction,
  productId: string,
  variants: readonly VariantKeys[],
): Promise<Set<string>> {
  if (variants.every(({ mediaId }) => mediaId === null || mediaId === undefined)) return new Set();
  const rows = await transaction
    .selectFrom("media")
    .select("id")
    .where("productId", "=", productId)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/**
 * Inserts new variants and updates stored variants whose data has changed. Returns true if any row was
 * written.
 */
async function insertOrUpdateVariants(
  transaction: Transaction,
  context: MerchantCommandContext,
  { productId, rows }: { readonly productId: string; readonly rows: readonly VariantRow[] },
): Promise<boolean> {
  if (rows.length === 0) return false;
  const saved = await sql`
    insert into variant
      (id, merchant_id, product_id, sku, gtin, options, media_id, restrictions, requires_shipping,
      weight_grams, max_order_quantity,
       discontinued, available_from, position, created_at, updated_at)
    select v.id, ${context.merchantId}, ${productId}, v.sku, v.gtin, v.options, v."mediaId", v.restrictions,
    v."requiresShipping", v."weightGrams",
      v."maxOrderQuantity", v.discontinued, v."availableFrom", v.position, ${context.now}::timestamptz,
      ${context.now}::timestamptz
    from json_to_recordset(${JSON.stringify(rows)}::json) as v(id text, sku text, gtin text, options jsonb,
    "mediaId" text, restrictions text[],
      "requiresShipping" boolean, "weightGrams" int, "maxOrderQuantity" int, discontinued boolean,
      "availableFrom" timestamptz, position int)
    on conflict (id) do update set
      sku = excluded.sku, gtin = excluded.gtin, options = excluded.options, media_id = excluded.media_id,
      restrictions = excluded.restrictions,
      requires_shipping = excluded.requires_shipping, weight_grams = excluded.weight_grams, max_order_quantity
      = excluded.max_order_quantity,
      discontinued = excluded.discontinued, available_from = excluded.available_from, position =
      excluded.position, updated_at = excluded.updated_at
    where (variant.sku, variant.gtin, variant.options, variant.media_id, variant.restrictions,
    variant.requires_shipping, variant.weight_grams,
           variant.max_order_quantity, variant.discontinued, variant.available_from, variant.position)
      is distinct from (excluded.sku, excluded.gtin, excluded.options, excluded.media_id,
      excluded.restrictions, excluded.requires_shipping,
           excluded.weight_grams, excluded.max_order_quantity, excluded.discontinued, excluded.available_from,
           excluded.position)
    returning id`.execute(transaction);
  return saved.rows.length > 0;
}
