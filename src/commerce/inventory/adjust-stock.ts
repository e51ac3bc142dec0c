/**
 * Adjusts the stock on hand of variants. The stock on hand can become neither negative nor lower than the
 * reserved units. Every change writes a stock movement, so the sum of a variant's movements is always its
 * stock on hand. Stock changes do not raise the version of the catalog, because every order changes stock and
 * would have to wait for the lock of the merchant's row. Published products are updated in the search index,
 * because their availability may have changed.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { catalogBounds } from "#commerce/catalog/catalog-fields.ts";
import {
  getDisallowedValueErrors,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getIntegerFieldErrors,
  requireNoInputFieldErrors,
  getTextFieldErrors,
} from "#foundation/faults.ts";
import { reindexProducts } from "#commerce/catalog/change-catalog.ts";
import { createFailure } from "#foundation/failure.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import {
  createInsufficientStockFailure,
  lockStockLevels,
  type StockLevelBeforeAndAfter,
  type StockLevel,
  createStockMaximumExceededFailure,
  publishStockEvents,
} from "./stock-levels.ts";
import { releaseExpiredStockHolds } from "./stock-holds.ts";

/**
 * Reasons that a caller may give for a stock adjustment. The reason "sold" is not allowed, because only
 * orders write it.
 */
export const stockAdjustReasons = ["received", "correction", "damaged", "lost", "returned"] as const;
export type StockAdjustReason = (typeof stockAdjustReasons)[number];

/** The input of a stock adjustment, by which a merchant changes the stock on hand of a variant. */
export interface AdjustStockInput {
  readonly variantId: string;
  /** Number of units to add to the stock on hand; negative to remove units; not 0. */
  readonly delta: number;
  readonly reason: StockAdjustReason;
  readonly note?: string | null | undefined;
}

/** The new stock on hand of a variant, and the stock movement that was written. */
export interface StockAdjustmentResult {
  readonly variantId: string;
  readonly productId: string;
  readonly movementId: number;
  readonly onHand: number;
}

const stockNoteLengthMax = 500;

/**
 * Adds units to a variant's stock on hand or removes units from it. If too few units are free, first deletes
 * expired stock holds. Refuses the change only if too few units are free even then.
 */
export async function adjustStock(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: AdjustStockInput,
): Promise<StockAdjustmentResult> {
  requireNoInputFieldErrors(adjustFaults(input));
  const product = await lockProductOf(transaction, context, input.variantId);
  let figures = await updateOnHand(transaction, context, input);
  if (figures === undefined && (await releaseExpiredStockHolds(transaction, context, [input.variantId])))
    figures = await updateOnHand(transaction, context, input);
  if (figures === undefined) throw await explainRefusal(transaction, input);
  const { movementId, ...moved } = figures;
  const { id: productId, status, ...variant } = product;
  const after: StockLevel = { variantId: input.variantId, productId, ...variant, ...moved };
  publishStockEvents(context, [
    { before: { ...after, version: after.version - 1, onHand: after.onHand - input.delta }, after },
  ]);
  if (status === "published") await reindexProducts(transaction, context, [productId]);
  return { variantId: input.variantId, productId, movementId, onHand: after.onHand };
}

type UpdatedStockLevel = Omit<StockLevel, "variantId" | "productId" | "discontinued" | "availableFrom"> & {
  readonly movementId: number;
};

/**
 * Changes the stock on hand of a variant. Returns undefined if the change would remove reserved units or more
 * units than the stock has.
 */
async function updateOnHand(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: AdjustStockInput,
): Promise<UpdatedStockLevel | undefined> {
  const { rows } = await sql<UpdatedStockLevel>`
    with moved as (
      update stock_level set on_hand = on_hand + ${input.delta}::int, version = version + 1, updated_at =
      ${context.now}
      where variant_id = ${input.variantId} and merchant_id = ${context.merchantId}
        and on_hand + ${input.delta}::int between 0 and ${catalogBounds.onHandMax}::int
        and reserved <= on_hand + ${input.delta}::int + backorder_limit
      returning variant_id, version, on_hand, reserved, backorder_limit, low_stock_threshold),
    movement as (
      insert into stock_movement (merchant_id, variant_id, delta, on_hand_after, reason, note, created_at)
      select ${context.merchantId}, variant_id, ${input.delta}::int, on_hand, ${input.reason},
      ${input.note ?? null}::text, ${context.now}::timestamptz from moved
      returning id)
    select movement.id as movement_id, version, on_hand, reserved, backorder_limit, low_stock_threshold
    from moved, movement`.execute(transaction);
  return rows[0];
}

function adjustFaults({ delta, reason, note }: AdjustStockInput): InputFieldErrors {
  return [
    ...getIntegerFieldErrors("/delta", delta, {
      min: -catalogBounds.onHandMax,
      max: catalogBounds.onHandMax,
    }),
    ...(delta === 0
      ? [createRequestBodyErrorDetail("/delta", "out_of_range", '"delta" must not be 0.')]
      : []),
    ...getDisallowedValueErrors("/reason", reason, { allowed: stockAdjustReasons, noun: "reason" }),
    ...getTextFieldErrors("/note", note, { max: stockNoteLengthMax, lines: "many" }),
  ];
}

/**
 * Locks the variant's product. Every transaction locks products before stock levels, so that transactions
 * cannot deadlock. The search indexer locks the product too, so the indexer reads the stock only after this
 * change is committed.
 */
async function lockProductOf(
  transaction: Transaction,
  context: MerchantCommandContext,
  variantId: string,
): Promise<{ id: string; status: string; discontinued: boolean; availableFrom: Date | null }> {
  const product = await transaction
    .selectFrom("product as p")
    .innerJoin("variant as v", "v.productId", "p.id")
    .select(["p.id", "p.status", "v.discontinued", "v.availableFrom"])
    .where("v.id", "=", blankIdWithForbiddenCharacters(variantId))
    .where("v.merchantId", "=", context.merchantId)
    .forNoKeyUpdate("p")
    .executeTakeFirst();
  if (product === undefined) throw createFailure("resource_not_found");
  return product;
}

async function explainRefusal(
  transaction: Transaction,
  { variantId, delta }: AdjustStockInput,
): Promise<Error> {
  const level = await transaction
    .selectFrom("stockLevel")
    .select(["variantId", "onHand", "reserved", "backorderLimit"])
    .where("variantId", "=", variantId)
    .executeTakeFirst();
  const figures = level ?? { variantId, onHand: 0, reserved: 0, backorderLimit: 0 };
  if (figures.onHand + delta > catalogBounds.onHandMax)
    return createStockMaximumExceededFailure(variantId, {
      onHand: figures.onHand,
      delta,
      limit: catalogBounds.onHandMax,
    });
  return createInsufficientStockFailure(figures, { delta });
}

/** The stock on hand of one variant as the merchant has counted it. */
export interface CountedVariantStock {
  readonly variantId: string;
  readonly onHand: number;
  readonly isNew: boolean;
}

interface CountCorrection extends CountedVariantStock {
  readonly delta: number;
  readonly reason: "received" | "correction";
}

/**
 * Sets the stock on hand of variants to the numbers that an import has counted. Returns the stock changes;
 * the caller publishes their events after the import.
 */
export async function setStockToCountedQuantities(
  transaction: Transaction,
  context: MerchantCommandContext,
  counts: readonly CountedVariantStock[],
): Promise<readonly StockLevelBeforeAndAfter[]> {
  if (counts.length === 0) return [];
  const ids = counts.map(({ variantId }) => variantId);
  let levels = await lockStockLevels(transaction, context, ids);
  const short = counts
    .filter((count) => isBelowReserved(count, levels.get(count.variantId)))
    .map(({ variantId }) => variantId);
  if (short.length > 0 && (await releaseExpiredStockHolds(transaction, context, short)))
    levels = await lockStockLevels(transaction, context, ids);
  const changes: StockLevelBeforeAndAfter[] = [];
  const moves = counts.flatMap((count): CountCorrection[] => {
    const before = levels.get(count.variantId);
    if (before === undefined || before.onHand === count.onHand) return [];
    if (isBelowReserved(count, before)) throw createInsufficientStockFailure(before, { asked: count.onHand });
    changes.push({ before, after: { ...before, version: before.version + 1, onHand: count.onHand } });
    return [
      { ...count, delta: count.onHand - before.onHand, reason: count.isNew ? "received" : "correction" },
    ];
  });
  if (moves.length > 0) await writeCorrections(transaction, context, moves);
  return changes;
}

/** Returns true if the counted units are fewer than the units that are reserved for buyers. */
function isBelowReserved({ onHand }: CountedVariantStock, level: StockLevel | undefined): boolean {
  return level !== undefined && level.onHand !== onHand && level.reserved > onHand + level.backorderLimit;
}

async function writeCorrections(
  transaction: Transaction,
  context: MerchantCommandContext,
  moves: readonly CountCorrection[],
): Promise<void> {
  await sql`
    with moves as (select * from json_to_recordset(${JSON.stringify(moves)}::json) as m("variantId" text,
    "onHand" int, delta int, reason text)),
    moved as (
      update stock_level s set on_hand = m."onHand", version = s.version + 1, updated_at = ${context.now}
      from moves m where s.variant_id = m."variantId")
    insert into stock_movement (merchant_id, variant_id, delta, on_hand_after, reason, note, created_at)
    select ${context.merchantId}, "variantId", delta, "onHand", reason, null, ${context.now}::timestamptz
    from moves`.execute(transaction);
}
