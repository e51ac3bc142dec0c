/**
 * What can be bought of a product. A variant is found by its id, else by its SKU; it is never removed (orders and prices speak of it) but
 * discontinued. Each variant on sale chooses exactly for the product's options, and no two variants of a product are the same choice.
 */
import type { Transaction } from "#database/transaction.ts";
import { type StockChange, tellStock } from "#commerce/inventory/stock-events.ts";
import { saveStockSettings } from "#commerce/inventory/stock-settings.ts";
import { requireNoFaults } from "#foundation/faults.ts";
import { lockEditableProduct, type LockedProduct, recordProductChange, type Tenant } from "./write-tenant.ts";
import { variantFaults, type VariantFields } from "./write-variant-faults.ts";
import { type GivenVariant, mergeVariants } from "./write-variant-merge.ts";
import { insertOrUpdateVariants, readVariants } from "./write-variant-rows.ts";

export interface VariantUpsertInput extends VariantFields {
  readonly productId: string;
  readonly expectedVersion?: number | null | undefined;
  /** Without it the variant is found by its SKU, or made. */
  readonly variantId?: string | null | undefined;
  /** One of the product's media. */
  readonly mediaId?: string | null | undefined;
}

export async function upsertVariant(
  transaction: Transaction,
  tenant: Tenant,
  input: VariantUpsertInput,
): Promise<{ productId: string; variantId: string }> {
  requireNoFaults(variantFaults("", input));
  const product = await lockEditableProduct(transaction, tenant, input);
  const { variantIds, isChanged, stockChanges } = await saveVariants(transaction, tenant, { product, variants: [{ ...input, at: "" }] });
  if (isChanged) await recordProductChange(transaction, tenant, { changed: [{ before: product.before, types: ["product.updated"] }] });
  tellStock(tenant, stockChanges);
  const [variantId] = variantIds;
  if (variantId === undefined) throw new Error("A variant was saved without an id.");
  return { productId: product.id, variantId };
}

export interface SavedVariants {
  /** In the order of the input. */
  readonly variantIds: readonly string[];
  readonly createdIds: ReadonlySet<string>;
  readonly isChanged: boolean;
  /** To be told when the change stands. */
  readonly stockChanges: readonly StockChange[];
}

/** The merchant's row must be locked: it keeps the SKUs still between look and write. The product's options must be written already. */
export async function saveVariants(
  transaction: Transaction,
  tenant: Tenant,
  { product, variants }: { readonly product: LockedProduct; readonly variants: readonly GivenVariant[] },
): Promise<SavedVariants> {
  const current = await readVariants(transaction, tenant, { product, variants });
  const merged = mergeVariants(current, variants);
  const isVariantChanged = await insertOrUpdateVariants(transaction, tenant, { productId: product.id, rows: merged });
  const stock = await saveStockSettings(
    transaction,
    tenant,
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
