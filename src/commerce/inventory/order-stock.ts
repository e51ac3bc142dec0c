/**
 * Manages the stock of orders. Turns the stock holds of a checkout session into stock of the order, reserves
 * further units, and takes units from the stock on hand. Gives back the units of canceled or returned items.
 */
import type { Transaction } from "#database/transaction.ts";
import {
  releaseExpiredHoldsAndFindShortages,
  deleteStockHoldRows,
  type StockHoldsAndLockedStockLevels,
  lockAndReadStockHolds,
  type StockShortage,
  toStockLevelDeltas,
  toVariantQuantityList,
} from "./stock-holds.ts";
import {
  lockStockLevels,
  applyStockLevelDeltas,
  type StockCommandContext,
  type StockLevelDelta,
  sumQuantitiesOfEachVariant,
  type VariantQuantity,
} from "./stock-levels.ts";

/**
 * Turns the stock holds of a checkout session into stock of an order. Takes the units that are on hand from
 * the stock on hand; all other units stay reserved for the order. Returns the number of units that were
 * taken, by variant id.
 */
export async function convertHoldsToOrderStock(
  transaction: Transaction,
  context: StockCommandContext,
  { sessionId, note }: { readonly sessionId: string; readonly note: string },
): Promise<ReadonlyMap<string, number>> {
  const { holds, levels } = await lockAndReadStockHolds(transaction, context, { sessionId });
  await deleteStockHoldRows(transaction, sessionId);
  const sold = toVariantQuantityList(holds).map(({ variantId, quantity }) => ({
    variantId,
    quantity: Math.min(quantity, levels.get(variantId)?.onHand ?? 0),
  }));
  await applyStockLevelDeltas(transaction, context, {
    moves: toStockLevelDeltas(sold, levels, takeReservedUnits),
    cause: { reason: "sold", note },
  });
  return sumQuantitiesOfEachVariant(sold);
}

const takeReservedUnits = ({ quantity }: VariantQuantity): Omit<StockLevelDelta, "level"> => ({
  onHand: -quantity,
  reserved: -quantity,
});

/**
 * The last two parameters of functions that change the stock of an order: the order lines, and the note for
 * the stock movements. The note is the order's number.
 */
type LinesWithNote<Line> = readonly [lines: readonly Line[], note: string];

/**
 * Takes reserved units of an order from the stock on hand. If too few units of any variant are on hand, takes
 * nothing and returns the shortages; the caller must then refuse the request.
 */
export async function takeReservedUnitsFromStock(
  transaction: Transaction,
  context: StockCommandContext,
  ...[lines, note]: LinesWithNote<VariantQuantity>
): Promise<readonly StockShortage[]> {
  const wanted = toVariantQuantityList(sumQuantitiesOfEachVariant(lines));
  const levels = await lockStockLevels(
    transaction,
    context,
    wanted.map(({ variantId }) => variantId),
  );
  const shortages = wanted.flatMap(({ variantId, quantity }): StockShortage[] => {
    const level = levels.get(variantId);
    return level === undefined || quantity <= level.onHand
      ? []
      : [{ variantId, wanted: quantity, available: level.onHand }];
  });
  if (shortages.length > 0) return shortages;
  await applyStockLevelDeltas(transaction, context, {
    moves: toStockLevelDeltas(wanted, levels, takeReservedUnits),
    cause: { reason: "sold", note },
  });
  return [];
}

/**
 * Units of one variant that an order gives back: reserved units (`waiting`), and units that were already
 * taken from the stock on hand (`allocated`).
 */
export interface OrderUnitsToRelease {
  readonly variantId: string;
  readonly waiting: number;
  readonly allocated: number;
}

/** Gives back stock of an order: reserved units become free, allocated units are added to the stock on hand. */
export async function releaseStockOfOrder(
  transaction: Transaction,
  context: StockCommandContext,
  ...[lines, note]: LinesWithNote<OrderUnitsToRelease>
): Promise<void> {
  const waiting = sumQuantitiesOfEachVariant(
    lines.map(({ variantId, waiting: quantity }) => ({ variantId, quantity })),
  );
  const allocated = sumQuantitiesOfEachVariant(
    lines.map(({ variantId, allocated: quantity }) => ({ variantId, quantity })),
  );
  const levels = await lockStockLevels(transaction, context, [...waiting.keys()]);
  const moves = toStockLevelDeltas(toVariantQuantityList(waiting), levels, ({ variantId, quantity }) => ({
    reserved: -quantity,
    onHand: allocated.get(variantId) ?? 0,
  }));
  await applyStockLevelDeltas(transaction, context, { moves, cause: { reason: "canceled", note } });
}

/** Adds returned units that can be sold again to the stock on hand of their variants. */
export async function restockReturnedUnits(
  transaction: Transaction,
  context: StockCommandContext,
  ...[lines, note]: LinesWithNote<VariantQuantity>
): Promise<void> {
  const back = toVariantQuantityList(sumQuantitiesOfEachVariant(lines));
  const levels = await lockStockLevels(
    transaction,
    context,
    back.map(({ variantId }) => variantId),
  );
  await applyStockLevelDeltas(transaction, context, {
    moves: toStockLevelDeltas(back, levels, ({ quantity }) => ({ onHand: quantity })),
    cause: { reason: "returned", note },
  });
}

/**
 * Reserves units for an order as far as they are available, and returns the shortages. Ignores deleted
 * variants.
 */
export async function reserveAvailableStockForOrder(
  transaction: Transaction,
  context: StockCommandContext,
  lines: readonly VariantQuantity[],
): Promise<readonly StockShortage[]> {
  const wanted = sumQuantitiesOfEachVariant(lines);
  const held: StockHoldsAndLockedStockLevels = {
    holds: new Map(),
    levels: await lockStockLevels(transaction, context, [...wanted.keys()]),
  };
  const found = await releaseExpiredHoldsAndFindShortages(transaction, context, {
    sessionId: null,
    wanted,
    held,
  });
  const shortages = found.shortages.filter(({ variantId }) => held.levels.has(variantId));
  const missing = new Map(shortages.map((short) => [short.variantId, short.wanted - short.available]));
  const promised = toVariantQuantityList(wanted).map(({ variantId, quantity }) => ({
    variantId,
    quantity: quantity - (missing.get(variantId) ?? 0),
  }));
  await applyStockLevelDeltas(transaction, context, {
    moves: toStockLevelDeltas(promised, found.levels, ({ quantity }) => ({ reserved: quantity })),
    cause: null,
  });
  return shortages;
}

/**
 * Reserves further units for an order, for example for an exchange. If too few units of any variant are
 * available, reserves nothing and returns the shortages; the caller must then refuse the request.
 */
export async function reserveStockForOrder(
  transaction: Transaction,
  context: StockCommandContext,
  lines: readonly VariantQuantity[],
): Promise<readonly StockShortage[]> {
  const wanted = sumQuantitiesOfEachVariant(lines);
  const held: StockHoldsAndLockedStockLevels = {
    holds: new Map(),
    levels: await lockStockLevels(transaction, context, [...wanted.keys()]),
  };
  const { levels, shortages } = await releaseExpiredHoldsAndFindShortages(transaction, context, {
    sessionId: null,
    wanted,
    held,
  });
  if (shortages.length > 0) return shortages;
  await applyStockLevelDeltas(transaction, context, {
    moves: toStockLevelDeltas(toVariantQuantityList(wanted), levels, ({ quantity }) => ({
      reserved: quantity,
    })),
    cause: null,
  });
  return [];
}
