/**
 * Locks the stock of a checkout, and checks that all its lines can be bought: each line is still sold, is in
 * stock, and has its full quantity available.
 */
import type { CompiledQuery, QueryResult } from "kysely";
import type { CartAggregate, StoredCartLine, StoredCartWarning } from "#commerce/carts/cart-aggregate.ts";
import { createCartConflictFailure } from "#commerce/carts/cart-status.ts";
import type { CartCommandContext } from "#commerce/carts/change-cart.ts";
import type { CartPricingDataRow } from "#commerce/carts/load-offer.ts";
import {
  buildStockHoldLockSqlQueries,
  type StockHoldsAndLockedStockLevels,
  type StockShortage,
  toStockHoldsAndLockedStockLevels,
} from "#commerce/inventory/stock-holds.ts";
import { buildPromotionLockSqlQuery } from "#commerce/promotions/promotion-uses.ts";
import { runStatementsPipelined, type Transaction } from "#database/transaction.ts";
import type { LockedCartAndCheckoutSession } from "./session-aggregate.ts";
import type { VariantQuantity } from "#commerce/inventory/stock-levels.ts";

interface CheckoutStockToLock extends LockedCartAndCheckoutSession {
  /** True if the session is submitted; the promotions of the cart are then locked too. */
  readonly isSubmitted: boolean;
  /** The statement that reads the current prices. */
  readonly offerQuery: CompiledQuery<CartPricingDataRow>;
}

interface LockedStockAndOffer {
  readonly held: StockHoldsAndLockedStockLevels;
  readonly offer: QueryResult<CartPricingDataRow>;
}

/**
 * Locks the stock of the cart's variants, and reads the stock holds of the session and the current prices, in
 * one round trip. Locks the promotions of a submitted cart first: to prevent deadlocks, all transactions lock
 * promotions before stock. While the promotions are locked, no other transaction can change or use them. The
 * prices of the cart therefore stay valid until the session takes its promotion uses.
 */
export async function lockStockAndReadOffer(
  transaction: Transaction,
  context: CartCommandContext,
  { cart, session, isSubmitted, offerQuery }: CheckoutStockToLock,
): Promise<LockedStockAndOffer> {
  const [levelsQuery, holdsQuery] = buildStockHoldLockSqlQueries(transaction, context, {
    sessionId: session.id,
    alsoLock: cart.lines.map(({ variantId }) => variantId),
  });
  const promotionIds = isSubmitted ? cart.promotions.map(({ promotionId }) => promotionId) : [];
  if (promotionIds.length === 0) {
    const queries = [levelsQuery, holdsQuery, offerQuery] as const;
    const [levels, holds, offer] = await runStatementsPipelined(transaction, queries);
    return { held: toStockHoldsAndLockedStockLevels(levels.rows, holds.rows), offer };
  }
  const promotionLock = buildPromotionLockSqlQuery(transaction, promotionIds);
  const queries = [promotionLock, levelsQuery, holdsQuery, offerQuery] as const;
  const [, levels, holds, offer] = await runStatementsPipelined(transaction, queries);
  return { held: toStockHoldsAndLockedStockLevels(levels.rows, holds.rows), offer };
}

/** Codes of the cart warnings which say that a line cannot be bought at the moment. */
const unbuyableWarningCodes: ReadonlySet<string> = new Set(["line_unavailable", "out_of_stock"]);

function unbuyableLineIds(warnings: readonly StoredCartWarning[]): string[] {
  return warnings.flatMap(({ code, lineId }) =>
    lineId !== null && unbuyableWarningCodes.has(code) ? [lineId] : [],
  );
}

export function toSellableVariantQuantities(
  lines: readonly StoredCartLine[],
  warnings: readonly StoredCartWarning[],
): VariantQuantity[] {
  const stopped = new Set(unbuyableLineIds(warnings));
  return lines
    .filter(({ id }) => !stopped.has(id))
    .map(({ variantId, quantity }) => ({ variantId, quantity }));
}

/**
 * Throws 409 `invalid_state` with the reason `line_unavailable` and the ids of the lines if some lines cannot
 * be bought at the moment.
 */
export function requireAvailableCartLines(
  cart: CartAggregate,
  warnings: readonly StoredCartWarning[],
  now: Date,
): void {
  const lineIds = unbuyableLineIds(warnings);
  if (lineIds.length > 0)
    throw createCartConflictFailure("invalid_state", cart, {
      now,
      reason: "line_unavailable",
      data: { lineIds },
    });
}

/**
 * Throws 409 `invalid_state` with the reason `insufficient_stock` and the affected lines if the quantity of a
 * line had to be reduced to the available stock.
 */
export function requireStockForAllCartLines(
  cart: CartAggregate,
  warnings: readonly StoredCartWarning[],
  now: Date,
): void {
  const lines = warnings.flatMap(({ code, lineId, data }) =>
    code === "quantity_reduced" ? [{ lineId, wanted: data["wanted"], available: data["quantity"] }] : [],
  );
  if (lines.length > 0) throw insufficientStockFailure(cart, lines, now);
}

/**
 * Throws 409 `invalid_state` with the reason `insufficient_stock` if the stock of some lines could not be
 * reserved.
 */
export function requireNoStockShortage(
  cart: CartAggregate,
  shortages: readonly StockShortage[],
  now: Date,
): void {
  if (shortages.length === 0) return;
  const lines = shortages.map(({ variantId, wanted, available }) => ({
    lineId: cart.lines.find((line) => line.variantId === variantId)?.id ?? null,
    wanted,
    available,
  }));
  throw insufficientStockFailure(cart, lines, now);
}

const insufficientStockFailure = (cart: CartAggregate, lines: readonly object[], now: Date): Error =>
  createCartConflictFailure("invalid_state", cart, { now, reason: "insufficient_stock", data: { lines } });
