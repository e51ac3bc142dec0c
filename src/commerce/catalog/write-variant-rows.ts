/** Reads what a change of variants has to be compared with, and writes the rows that come of it: one statement for all of them. */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { type KnownOptions, readOptions } from "./write-options.ts";
import type { LockedProduct, Tenant } from "./write-tenant.ts";

export interface VariantRow {
  readonly id: string;
  readonly sku: string;
  readonly gtin: string | null;
  readonly options: Readonly<Record<string, string>>;
  readonly mediaId: string | null;
  readonly restrictions: readonly string[];
  readonly requiresShipping: boolean;
  readonly weightGrams: number | null;
  readonly maxOrderQuantity: number | null;
  readonly discontinued: boolean;
  readonly availableFrom: Date | null;
  readonly position: number;
}

export interface CurrentVariants {
  readonly product: LockedProduct;
  readonly now: Date;
  readonly rows: readonly VariantRow[];
  /** SKUs that variants of the merchant's other products have, in lower case. */
  readonly foreignSkus: ReadonlyMap<string, { readonly variantId: string; readonly productId: string }>;
  readonly options: KnownOptions;
  readonly mediaIds: ReadonlySet<string>;
}

export interface VariantKeys {
  readonly sku: string;
  readonly mediaId?: string | null | undefined;
}

export async function readVariants(
  transaction: Transaction,
  tenant: Tenant,
  { product, variants }: { readonly product: LockedProduct; readonly variants: readonly VariantKeys[] },
): Promise<CurrentVariants> {
  const skus = variants.map(({ sku }) => sku.toLowerCase());
  const found = await transaction
    .selectFrom("variant")
    .selectAll()
    .where("merchantId", "=", tenant.merchantId)
    .where((row) => row.or([row("productId", "=", product.id), sql<boolean>`lower(sku) = any(${skus}::text[])`]))
    .execute();
  const foreign = found.filter(({ productId }) => productId !== product.id);
  return {
    product,
    now: tenant.now,
    rows: found
      .filter(({ productId }) => productId === product.id)
      .map((row) => Object.assign(row, { options: row.options as Record<string, string> })),
    foreignSkus: new Map(foreign.map(({ sku, id, productId }) => [sku.toLowerCase(), { variantId: id, productId }])),
    options: await readOptions(transaction, product.id),
    mediaIds: await readMediaIds(transaction, product.id, variants),
  };
}

async function readMediaIds(transaction: Transaction, productId: string, variants: readonly VariantKeys[]): Promise<Set<string>> {
  if (variants.every(({ mediaId }) => mediaId === null || mediaId === undefined)) return new Set();
  const rows = await transaction.selectFrom("media").select("id").where("productId", "=", productId).execute();
  return new Set(rows.map(({ id }) => id));
}

/** Says whether anything changed. */
export async function insertOrUpdateVariants(
  transaction: Transaction,
  tenant: Tenant,
  { productId, rows }: { readonly productId: string; readonly rows: readonly VariantRow[] },
): Promise<boolean> {
  if (rows.length === 0) return false;
  const saved = await sql`
    insert into variant
      (id, merchant_id, product_id, sku, gtin, options, media_id, restrictions, requires_shipping, weight_grams, max_order_quantity,
       discontinued, available_from, position, created_at, updated_at)
    select v.id, ${tenant.merchantId}, ${productId}, v.sku, v.gtin, v.options, v."mediaId", v.restrictions, v."requiresShipping", v."weightGrams",
      v."maxOrderQuantity", v.discontinued, v."availableFrom", v.position, ${tenant.now}::timestamptz, ${tenant.now}::timestamptz
    from json_to_recordset(${JSON.stringify(rows)}::json) as v(id text, sku text, gtin text, options jsonb, "mediaId" text, restrictions text[],
      "requiresShipping" boolean, "weightGrams" int, "maxOrderQuantity" int, discontinued boolean, "availableFrom" timestamptz, position int)
    on conflict (id) do update set
      sku = excluded.sku, gtin = excluded.gtin, options = excluded.options, media_id = excluded.media_id, restrictions = excluded.restrictions,
      requires_shipping = excluded.requires_shipping, weight_grams = excluded.weight_grams, max_order_quantity = excluded.max_order_quantity,
      discontinued = excluded.discontinued, available_from = excluded.available_from, position = excluded.position, updated_at = excluded.updated_at
    where (variant.sku, variant.gtin, variant.options, variant.media_id, variant.restrictions, variant.requires_shipping, variant.weight_grams,
           variant.max_order_quantity, variant.discontinued, variant.available_from, variant.position)
      is distinct from (excluded.sku, excluded.gtin, excluded.options, excluded.media_id, excluded.restrictions, excluded.requires_shipping,
           excluded.weight_grams, excluded.max_order_quantity, excluded.discontinued, excluded.available_from, excluded.position)
    returning id`.execute(transaction);
  return saved.rows.length > 0;
}
