/**
 * Creates and changes the variants of a product: reads the current rows, merges the input into them, and
 * writes all rows in one statement. A variant is found by its ID, or else by its SKU. Variants are never
 * deleted, because orders and prices refer to them; they are marked as discontinued. A variant that is not
 * discontinued has exactly one choice of each option, and no two variants of a product have the same
 * choices.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { type StockChange, publishStockEvents } from "#commerce/inventory/stock-levels.ts";
import { saveStockSettings } from "#commerce/inventory/stock-settings.ts";
import { faultAt, type Faults, refuseAt, requireNoFaults } from "#foundation/faults.ts";
import { fail, type Failure } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import type { CommandContext } from "#commerce/command-context.ts";
import {
  productConflict,
  lockEditableProduct,
  type LockedProduct,
  publishProductChanges,
} from "./change-catalog.ts";
import { catalogBounds, variantFaults, type VariantFields } from "./catalog-fields.ts";
import {
  type ProductOptions,
  explainOptionMismatch,
  readProductOptions,
  requireChoicesFitOptions,
} from "./product-options.ts";

export interface VariantUpsertInput extends VariantFields {
  readonly productId: string;
  readonly expectedVersion?: number | null | undefined;
  /** Left out: the variant is found by its SKU, or created if none has the SKU. */
  readonly variantId?: string | null | undefined;
  /** ID of the product's picture that shows the variant. */
  readonly mediaId?: string | null | undefined;
}

export async function upsertVariant(
  transaction: Transaction,
  context: CommandContext,
  input: VariantUpsertInput,
): Promise<{ productId: string; variantId: string }> {
  requireNoFaults(variantFaults("", input));
  const product = await lockEditableProduct(transaction, context, input);
  const { variantIds, isChanged, stockChanges } = await saveVariants(transaction, context, {
    product,
    variants: [{ ...input, at: "" }],
  });
  if (isChanged)
    await publishProductChanges(transaction, context, {
      changed: [{ before: product.before, types: ["product.updated"] }],
    });
  publishStockEvents(context, stockChanges);
  const [variantId] = variantIds;
  if (variantId === undefined) throw new Error("A variant was saved without an id.");
  return { productId: product.id, variantId };
}

export interface VariantSaveResult {
  /** IDs of the saved variants, in the order of the input. */
  readonly variantIds: readonly string[];
  readonly createdIds: ReadonlySet<string>;
  readonly isChanged: boolean;
  /** Stock changes that the caller publishes after all changes of the transaction are written. */
  readonly stockChanges: readonly StockChange[];
}

/**
 * Creates and changes variants of a product. The merchant's row must be locked, so that no other change can
 * take a SKU between the check and the write. The product's options must be saved before.
 */
export async function saveVariants(
  transaction: Transaction,
  context: CommandContext,
  { product, variants }: { readonly product: LockedProduct; readonly variants: readonly VariantToSave[] },
): Promise<VariantSaveResult> {
  const current = await readVariants(transaction, context, { product, variants });
  const merged = mergeVariants(current, variants);
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

interface VariantRow {
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

interface CurrentVariants {
  readonly product: LockedProduct;
  readonly now: Date;
  readonly rows: readonly VariantRow[];
  /** SKUs in lower case that are used by variants of the merchant's other products. */
  readonly foreignSkus: ReadonlyMap<string, { readonly variantId: string; readonly productId: string }>;
  readonly options: ProductOptions;
  readonly mediaIds: ReadonlySet<string>;
}

interface VariantKeys {
  readonly sku: string;
  readonly mediaId?: string | null | undefined;
}

async function readVariants(
  transaction: Transaction,
  context: CommandContext,
  { product, variants }: { readonly product: LockedProduct; readonly variants: readonly VariantKeys[] },
): Promise<CurrentVariants> {
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
    options: await readProductOptions(transaction, product.id),
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

/** Writes the rows; returns true if any row changed. */
async function insertOrUpdateVariants(
  transaction: Transaction,
  context: CommandContext,
  { productId, rows }: { readonly productId: string; readonly rows: readonly VariantRow[] },
): Promise<boolean> {
  if (rows.length === 0) return false;
  const saved = await sql`
    insert into variant
      (id, merchant_id, product_id, sku, gtin, options, media_id, restrictions, requires_shipping, weight_grams, max_order_quantity,
       discontinued, available_from, position, created_at, updated_at)
    select v.id, ${context.merchantId}, ${productId}, v.sku, v.gtin, v.options, v."mediaId", v.restrictions, v."requiresShipping", v."weightGrams",
      v."maxOrderQuantity", v.discontinued, v."availableFrom", v.position, ${context.now}::timestamptz, ${context.now}::timestamptz
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

interface VariantToSave extends VariantFields {
  /** JSON Pointer of the variant in the input. */
  readonly at: string;
  readonly variantId?: string | null | undefined;
  readonly mediaId?: string | null | undefined;
}

interface MergedVariant extends VariantRow {
  readonly isNew: boolean;
}

/**
 * Merges the input into the current rows and returns the rows to write. Throws a failure if the result would
 * break a rule. Reads and writes no data.
 */
function mergeVariants(current: CurrentVariants, given: readonly VariantToSave[]): MergedVariant[] {
  let nextPosition = 1 + Math.max(-1, ...current.rows.map(({ position }) => position));
  const merged = given.map((variant) => {
    const existing = findExisting(current, variant);
    requireKnownMedia(current, variant);
    return mergeVariant(variant, existing ?? newVariantRow(current, nextPosition++), existing === undefined);
  });
  requireNoFaults(merged.flatMap((row, index) => combinationFaults(current, row, given[index]?.at ?? "")));
  const mine = new Set(merged.map(({ id }) => id));
  const others = current.rows.filter(({ id }) => !mine.has(id));
  requireChoicesFitOptions(current.product, current.options, others);
  requireDistinct({ ...current, rows: [...others, ...merged] }, merged, given);
  if (current.rows.length + merged.filter(({ isNew }) => isNew).length > catalogBounds.variantsMax) {
    throw fail("invalid_state", {
      conflict: productConflict(current.product, "variant_limit_reached", {
        limit: catalogBounds.variantsMax,
      }),
    });
  }
  return merged;
}

function findExisting(
  { rows }: CurrentVariants,
  { at, variantId, sku }: VariantToSave,
): VariantRow | undefined {
  if (variantId === null || variantId === undefined) return rows.find((row) => isSameSku(row.sku, sku));
  const existing = rows.find(({ id }) => id === variantId);
  if (existing === undefined)
    throw refuseAt("resource_not_found", `${at}/variantId`, {
      code: "resource_not_found",
      message: "The product has no such variant.",
    });
  return existing;
}

function requireKnownMedia({ mediaIds }: CurrentVariants, { at, mediaId }: VariantToSave): void {
  if (mediaId === null || mediaId === undefined || mediaIds.has(mediaId)) return;
  throw refuseAt("resource_not_found", `${at}/mediaId`, {
    code: "resource_not_found",
    message: "The product has no such medium.",
  });
}

function newVariantRow({ now }: CurrentVariants, position: number): VariantRow {
  return {
    id: createId("variant", now.getTime()),
    sku: "",
    options: {},
    gtin: null,
    mediaId: null,
    restrictions: [],
    requiresShipping: true,
    weightGrams: null,
    maxOrderQuantity: null,
    discontinued: false,
    availableFrom: null,
    position,
  };
}

function mergeVariant(given: VariantToSave, before: VariantRow, isNew: boolean): MergedVariant {
  return {
    id: before.id,
    isNew,
    sku: given.sku,
    options: Object.fromEntries(given.options.map(({ option, choice }) => [option, choice])),
    gtin: resolveField(given.gtin, before.gtin, null),
    mediaId: resolveField(given.mediaId, before.mediaId, null),
    restrictions: resolveField<readonly string[]>(given.restrictions, before.restrictions, []),
    requiresShipping: resolveField(given.requiresShipping, before.requiresShipping, true),
    weightGrams: resolveField(given.weightGrams, before.weightGrams, null),
    maxOrderQuantity: resolveField(given.maxOrderQuantity, before.maxOrderQuantity, null),
    discontinued: resolveField(given.discontinued, before.discontinued, false),
    availableFrom: resolveField(given.availableFrom, before.availableFrom, null),
    position: resolveField(given.position, before.position, before.position),
  };
}

/** Chooses a field's new value: left out keeps the current value, null sets the default. */
function resolveField<Value>(given: Value | null | undefined, before: Value, fallback: Value): Value {
  if (given === undefined) return before;
  return given === null ? fallback : given;
}

/**
 * Checks the choices of a variant. A discontinued variant may keep its choices even if the product no longer
 * offers them.
 */
function combinationFaults(current: CurrentVariants, row: MergedVariant, at: string): Faults {
  const before = current.rows.find(({ id }) => id === row.id);
  if (row.discontinued && before !== undefined && combinationKey(before) === combinationKey(row)) return [];
  const misfit = explainOptionMismatch(current.options, row.options);
  return misfit === undefined ? [] : [faultAt(`${at}/options`, "options_mismatch", misfit)];
}

function requireDistinct(
  { rows, foreignSkus }: CurrentVariants,
  merged: readonly MergedVariant[],
  given: readonly VariantToSave[],
): void {
  for (const [index, row] of merged.entries()) {
    const at = given[index]?.at ?? "";
    const foreign = foreignSkus.get(row.sku.toLowerCase());
    const sameSku =
      foreign?.variantId ?? rows.find((other) => other.id !== row.id && isSameSku(other.sku, row.sku))?.id;
    if (sameSku !== undefined) throw variantConflict(`${at}/sku`, sameSku, "sku_taken");
    const sameChoice = rows.find(
      (other) => other.id !== row.id && combinationKey(other) === combinationKey(row),
    );
    if (sameChoice !== undefined) throw variantConflict(`${at}/options`, sameChoice.id, "options_taken");
  }
}

function variantConflict(field: string, variantId: string, reason: "sku_taken" | "options_taken"): Failure {
  const message =
    reason === "sku_taken"
      ? "Another variant of the merchant has this SKU."
      : "Another variant of the product has these options.";
  return fail("already_exists", {
    message,
    details: [faultAt(field, "already_exists", message)],
    conflict: {
      resource: "variant",
      id: variantId,
      currentStatus: null,
      currentVersion: null,
      reason,
      data: {},
    },
  });
}

const isSameSku = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

const combinationKey = ({ options }: VariantRow): string =>
  JSON.stringify(Object.entries(options).toSorted(([a], [b]) => (a < b ? -1 : 1)));
