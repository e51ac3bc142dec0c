/**
 * Merges the variants of an input into the stored variants of a product, in memory, and checks the rules.
 * Each SKU must be unique within the merchant. Each combination of choices must be unique within the product
 * and fit the product's options.
 */
import { createFailure, type Failure } from "#foundation/failure.ts";
import {
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  createInvalidFieldFailure,
  requireNoInputFieldErrors,
} from "#foundation/faults.ts";
import { createId } from "#foundation/ids.ts";
import { catalogBounds, type VariantInputFields } from "./catalog-fields.ts";
import { type LockedProduct, toProductConflictDetail } from "./change-catalog.ts";
import {
  explainVariantOptionMismatch,
  type ChoiceCodesByOptionCode,
  requireVariantChoicesFitOptions,
} from "./product-options.ts";

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

/**
 * The stored variants of a product, and the data that is needed to check changes of these variants, for
 * example SKUs that are already in use.
 */
export interface VariantMergeContext {
  readonly product: LockedProduct;
  readonly now: Date;
  readonly rows: readonly VariantRow[];
  /**
   * SKUs of the merchant's other products, in lower case. No variant of this product may have one of these
   * SKUs.
   */
  readonly foreignSkus: ReadonlyMap<string, { readonly variantId: string; readonly productId: string }>;
  readonly options: ChoiceCodesByOptionCode;
  readonly mediaIds: ReadonlySet<string>;
}

export interface VariantToSave extends VariantInputFields {
  /** JSON Pointer of this variant in the mutation's input; error details contain it. */
  readonly at: string;
  readonly variantId?: string | null | undefined;
  readonly mediaId?: string | null | undefined;
}

export interface VariantMergedWithInput extends VariantRow {
  readonly isNew: boolean;
}

/**
 * Merges the entered variants into the stored variants of a product, and returns the rows to write. Throws a
 * failure if the result would break a rule. Does not access the database.
 */
export function mergeInputsIntoStoredVariants(
  current: VariantMergeContext,
  given: readonly VariantToSave[],
): VariantMergedWithInput[] {
  let nextPosition = 1 + Math.max(-1, ...current.rows.map(({ position }) => position));
  const merged = given.map((variant) => {
    const existing = findExisting(current, variant);
    requireKnownMedia(current, variant);
    return mergeVariant(variant, existing ?? newVariantRow(current, nextPosition++), existing === undefined);
  });
  requireNoInputFieldErrors(
    merged.flatMap((row, index) => combinationFaults(current, row, given[index]?.at ?? "")),
  );
  const mine = new Set(merged.map(({ id }) => id));
  const others = current.rows.filter(({ id }) => !mine.has(id));
  requireVariantChoicesFitOptions(current.product, current.options, others);
  requireDistinct({ ...current, rows: [...others, ...merged] }, merged, given);
  if (current.rows.length + merged.filter(({ isNew }) => isNew).length > catalogBounds.variantsMax) {
    throw createFailure("invalid_state", {
      conflict: toProductConflictDetail(current.product, "variant_limit_reached", {
        limit: catalogBounds.variantsMax,
      }),
    });
  }
  return merged;
}

function findExisting(
  { rows }: VariantMergeContext,
  { at, variantId, sku }: VariantToSave,
): VariantRow | undefined {
  if (variantId === null || variantId === undefined) return rows.find((row) => isSameSku(row.sku, sku));
  const existing = rows.find(({ id }) => id === variantId);
  if (existing === undefined)
    throw createInvalidFieldFailure("resource_not_found", `${at}/variantId`, {
      code: "resource_not_found",
      message: "The product has no variant with this ID.",
    });
  return existing;
}

function requireKnownMedia({ mediaIds }: VariantMergeContext, { at, mediaId }: VariantToSave): void {
  if (mediaId === null || mediaId === undefined || mediaIds.has(mediaId)) return;
  throw createInvalidFieldFailure("resource_not_found", `${at}/mediaId`, {
    code: "resource_not_found",
    message: "The product has no picture or video with this ID.",
  });
}

function newVariantRow({ now }: VariantMergeContext, position: number): VariantRow {
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

function mergeVariant(given: VariantToSave, before: VariantRow, isNew: boolean): VariantMergedWithInput {
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

/**
 * Returns the new value of a variant's field. A field that is left out keeps its stored value; null sets the
 * default value.
 */
function resolveField<Value>(given: Value | null | undefined, before: Value, fallback: Value): Value {
  if (given === undefined) return before;
  return given === null ? fallback : given;
}

/**
 * Returns the faults in the choices of a variant. A discontinued variant may keep its choices, even if the
 * product no longer offers these choices.
 */
function combinationFaults(
  current: VariantMergeContext,
  row: VariantMergedWithInput,
  at: string,
): InputFieldErrors {
  const before = current.rows.find(({ id }) => id === row.id);
  if (row.discontinued && before !== undefined && combinationKey(before) === combinationKey(row)) return [];
  const misfit = explainVariantOptionMismatch(current.options, row.options);
  return misfit === undefined
    ? []
    : [createRequestBodyErrorDetail(`${at}/options`, "options_mismatch", misfit)];
}

function requireDistinct(
  { rows, foreignSkus }: VariantMergeContext,
  merged: readonly VariantMergedWithInput[],
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
      : "Another variant of the product has the same choices.";
  return createFailure("already_exists", {
    message,
    details: [createRequestBodyErrorDetail(field, "already_exists", message)],
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
