/** Lays what was given over what is there. Pure: it refuses what the rows can't become, and answers with the rows to write. */
import { fail, type Failure } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import { catalogBounds } from "./write-bounds.ts";
import { faultAt, type Faults, refuseAt, requireNoFaults } from "#foundation/faults.ts";
import { misfitOf, requireFit } from "./write-options.ts";
import { conflictOf } from "./write-tenant.ts";
import type { VariantFields } from "./write-variant-faults.ts";
import type { CurrentVariants, VariantRow } from "./write-variant-rows.ts";

export interface GivenVariant extends VariantFields {
  /** The JSON Pointer to where it stands in the input. */
  readonly at: string;
  readonly variantId?: string | null | undefined;
  readonly mediaId?: string | null | undefined;
}

export interface MergedVariant extends VariantRow {
  readonly isNew: boolean;
}

export function mergeVariants(current: CurrentVariants, given: readonly GivenVariant[]): MergedVariant[] {
  let nextPosition = 1 + Math.max(-1, ...current.rows.map(({ position }) => position));
  const merged = given.map((variant) => {
    const existing = findExisting(current, variant);
    requireMedium(current, variant);
    return mergeOne(variant, existing ?? blank(current, nextPosition++), existing === undefined);
  });
  requireNoFaults(merged.flatMap((row, index) => combinationFaults(current, row, given[index]?.at ?? "")));
  const mine = new Set(merged.map(({ id }) => id));
  const others = current.rows.filter(({ id }) => !mine.has(id));
  requireFit(current.product, current.options, others);
  requireDistinct({ ...current, rows: [...others, ...merged] }, merged, given);
  if (current.rows.length + merged.filter(({ isNew }) => isNew).length > catalogBounds.variantsMax) {
    throw fail("invalid_state", { conflict: conflictOf(current.product, "variant_limit_reached", { limit: catalogBounds.variantsMax }) });
  }
  return merged;
}

function findExisting({ rows }: CurrentVariants, { at, variantId, sku }: GivenVariant): VariantRow | undefined {
  if (variantId === null || variantId === undefined) return rows.find((row) => isSameSku(row.sku, sku));
  const existing = rows.find(({ id }) => id === variantId);
  if (existing === undefined)
    throw refuseAt("resource_not_found", `${at}/variantId`, { code: "resource_not_found", message: "The product has no such variant." });
  return existing;
}

function requireMedium({ mediaIds }: CurrentVariants, { at, mediaId }: GivenVariant): void {
  if (mediaId === null || mediaId === undefined || mediaIds.has(mediaId)) return;
  throw refuseAt("resource_not_found", `${at}/mediaId`, { code: "resource_not_found", message: "The product has no such medium." });
}

function blank({ now }: CurrentVariants, position: number): VariantRow {
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

function mergeOne(given: GivenVariant, before: VariantRow, isNew: boolean): MergedVariant {
  return {
    id: before.id,
    isNew,
    sku: given.sku,
    options: Object.fromEntries(given.options.map(({ option, choice }) => [option, choice])),
    gtin: settle(given.gtin, before.gtin, null),
    mediaId: settle(given.mediaId, before.mediaId, null),
    restrictions: settle<readonly string[]>(given.restrictions, before.restrictions, []),
    requiresShipping: settle(given.requiresShipping, before.requiresShipping, true),
    weightGrams: settle(given.weightGrams, before.weightGrams, null),
    maxOrderQuantity: settle(given.maxOrderQuantity, before.maxOrderQuantity, null),
    discontinued: settle(given.discontinued, before.discontinued, false),
    availableFrom: settle(given.availableFrom, before.availableFrom, null),
    position: settle(given.position, before.position, before.position),
  };
}

/** Left out: as it was. Null: the default. */
function settle<Value>(given: Value | null | undefined, before: Value, fallback: Value): Value {
  if (given === undefined) return before;
  return given === null ? fallback : given;
}

/** A discontinued variant keeps the combination it had, whatever its product offers now. */
function combinationFaults(current: CurrentVariants, row: MergedVariant, at: string): Faults {
  const before = current.rows.find(({ id }) => id === row.id);
  if (row.discontinued && before !== undefined && combinationKey(before) === combinationKey(row)) return [];
  const misfit = misfitOf(current.options, row.options);
  return misfit === undefined ? [] : [faultAt(`${at}/options`, "options_mismatch", misfit)];
}

function requireDistinct({ rows, foreignSkus }: CurrentVariants, merged: readonly MergedVariant[], given: readonly GivenVariant[]): void {
  for (const [index, row] of merged.entries()) {
    const at = given[index]?.at ?? "";
    const foreign = foreignSkus.get(row.sku.toLowerCase());
    const sameSku = foreign?.variantId ?? rows.find((other) => other.id !== row.id && isSameSku(other.sku, row.sku))?.id;
    if (sameSku !== undefined) throw taken(`${at}/sku`, sameSku, "sku_taken");
    const sameChoice = rows.find((other) => other.id !== row.id && combinationKey(other) === combinationKey(row));
    if (sameChoice !== undefined) throw taken(`${at}/options`, sameChoice.id, "options_taken");
  }
}

function taken(field: string, variantId: string, reason: "sku_taken" | "options_taken"): Failure {
  const message = reason === "sku_taken" ? "Another variant of the merchant has this SKU." : "Another variant of the product has these options.";
  return fail("already_exists", {
    message,
    details: [faultAt(field, "already_exists", message)],
    conflict: { resource: "variant", id: variantId, currentStatus: null, currentVersion: null, reason, data: {} },
  });
}

const isSameSku = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

const combinationKey = ({ options }: VariantRow): string => JSON.stringify(Object.entries(options).toSorted(([a], [b]) => (a < b ? -1 : 1)));
