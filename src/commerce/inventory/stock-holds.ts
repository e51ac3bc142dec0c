/**
 * Manages stock holds: units that are reserved for a checkout session until a time. A variant's reserved
 * quantity is always the sum of its stock holds and the units reserved for orders. If too few units are free,
 * expired holds are deleted before a request is refused.
 */
import { type CompiledQuery, sql } from "kysely";
import {
  bufferWriteUntilNextStatement,
  runStatementsPipelined,
  type Transaction,
} from "#database/transaction.ts";
import {
  buildStockLevelLockSqlQuery,
  lockStockLevels,
  toLockedStockLevels,
  type LockedStockLevel,
  applyStockLevelDeltas,
  sumQuantitiesOfEachVariant,
  type StockLevelDelta,
  type StockCommandContext,
  type VariantQuantity,
} from "./stock-levels.ts";

/** A variant that has fewer available units than a cart, checkout or order needs. */
export interface StockShortage {
  readonly variantId: string;
  readonly wanted: number;
  /**
   * Number of units of the variant that the caller can get at most, including the units that the caller's
   * checkout session already holds.
   */
  readonly available: number;
}

/** All stock holds of one checkout session. */
export interface CheckoutSessionStockHolds {
  readonly sessionId: string;
  /**
   * Time at which the stock holds of the checkout session expire; null while a payment is processed, so that
   * the holds do not expire.
   */
  readonly expiresAt: Date | null;
  readonly lines: readonly VariantQuantity[];
  /** The stock holds and stock levels, if the transaction has already locked and read them. */
  readonly held?: StockHoldsAndLockedStockLevels | undefined;
}

/**
 * Replaces the stock holds of a checkout session by holds for exactly the given lines. If too few units of
 * any variant are available, holds nothing and returns the shortages; the caller must then refuse the
 * request.
 */
export async function replaceStockHolds(
  transaction: Transaction,
  context: StockCommandContext,
  { sessionId, expiresAt, lines, held: lockedBefore }: CheckoutSessionStockHolds,
): Promise<readonly StockShortage[]> {
  const wanted = sumQuantitiesOfEachVariant(lines);
  const held =
    lockedBefore ??
    (await lockAndReadStockHolds(transaction, context, { sessionId, alsoLock: [...wanted.keys()] }));
  const { levels, shortages } = await releaseExpiredHoldsAndFindShortages(transaction, context, {
    sessionId,
    wanted,
    held,
  });
  if (shortages.length > 0) return shortages;
  const variantIds = [...new Set([...wanted.keys(), ...held.holds.keys()])];
  const moves = variantIds.flatMap((variantId): StockLevelDelta[] => {
    const level = levels.get(variantId);
    return level === undefined
      ? []
      : [{ level, reserved: (wanted.get(variantId) ?? 0) - (held.holds.get(variantId) ?? 0) }];
  });
  await applyStockLevelDeltas(transaction, context, { moves, cause: null });
  await writeHolds(transaction, context, { sessionId, expiresAt, wanted });
  return [];
}

/** The stock holds of a checkout session, with the locked stock levels of the variants. */
export interface StockHoldsAndLockedStockLevels {
  /** Number of units that the checkout session holds, by variant id. */
  readonly holds: ReadonlyMap<string, number>;
  /** The stock levels of the held and the requested variants, by variant id; all are locked. */
  readonly levels: Map<string, LockedStockLevel>;
}

interface StockHoldsToLock {
  readonly sessionId: string;
  /** Ids of further variants whose stock levels are locked. */
  readonly alsoLock?: readonly string[];
}

/**
 * Locks the stock levels of the variants that a checkout session holds, then reads the stock holds. Every
 * change of a hold locks the stock level first, so the holds cannot change after they were read.
 */
export async function lockAndReadStockHolds(
  transaction: Transaction,
  context: StockCommandContext,
  toLock: StockHoldsToLock,
): Promise<StockHoldsAndLockedStockLevels> {
  const statements = buildStockHoldLockSqlQueries(transaction, context, toLock);
  const [levels, holds] = await runStatementsPipelined(transaction, statements);
  return toStockHoldsAndLockedStockLevels(levels.rows, holds.rows);
}

/**
 * Builds the two statements of `lockAndReadStockHolds`, for callers that send them together with other
 * statements. `toStockHoldsAndLockedStockLevels` converts their results.
 */
export const buildStockHoldLockSqlQueries = (
  transaction: Transaction,
  context: StockCommandContext,
  { sessionId, alsoLock = [] }: StockHoldsToLock,
): readonly [CompiledQuery<LockedStockLevel>, CompiledQuery<HoldRow>] => [
  buildStockLevelLockSqlQuery(
    transaction,
    context,
    sql`any(${alsoLock}::text[] || array(select variant_id from stock_hold where session_id = ${sessionId}))`,
  ),
  sql<HoldRow>`select variant_id as "variantId", quantity from stock_hold
    where session_id = ${sessionId}`.compile(transaction),
];

type HoldRow = VariantQuantity;

export const toStockHoldsAndLockedStockLevels = (
  levels: readonly LockedStockLevel[],
  holds: readonly HoldRow[],
): StockHoldsAndLockedStockLevels => ({
  levels: toLockedStockLevels(levels),
  holds: new Map(holds.map(({ variantId, quantity }) => [variantId, quantity])),
});

interface StockDemand {
  /**
   * The checkout session whose expired stock holds are kept; null if the expired holds of all sessions may be
   * deleted.
   */
  readonly sessionId: string | null;
  readonly wanted: ReadonlyMap<string, number>;
  readonly held: StockHoldsAndLockedStockLevels;
}

/**
 * Returns the variants of which too few units are available. Before that, deletes expired stock holds of
 * these variants and checks again.
 */
export async function releaseExpiredHoldsAndFindShortages(
  transaction: Transaction,
  context: StockCommandContext,
  { sessionId, wanted, held }: StockDemand,
): Promise<{
  readonly levels: ReadonlyMap<string, LockedStockLevel>;
  readonly shortages: readonly StockShortage[];
}> {
  const short = findShortages(wanted, held);
  if (short.length === 0) return { levels: held.levels, shortages: [] };
  const variantIds = short.map(({ variantId }) => variantId);
  const released = await deleteExpiredHolds(transaction, context, {
    sessionId,
    levels: held.levels,
    variantIds,
  });
  const levels = new Map([...held.levels, ...released.map((level) => [level.variantId, level] as const)]);
  return { levels, shortages: findShortages(wanted, { ...held, levels }) };
}

function findShortages(
  wanted: StockDemand["wanted"],
  { holds, levels }: StockHoldsAndLockedStockLevels,
): StockShortage[] {
  return [...wanted].flatMap(([variantId, quantity]) => {
    const level = levels.get(variantId);
    const available =
      level === undefined
        ? 0
        : level.onHand + level.backorderLimit - level.reserved + (holds.get(variantId) ?? 0);
    return quantity <= available ? [] : [{ variantId, wanted: quantity, available: Math.max(0, available) }];
  });
}

interface ExpiredHoldsQuery {
  /**
   * The checkout session whose expired stock holds are kept; null if the expired holds of all sessions may be
   * deleted.
   */
  readonly sessionId: string | null;
  readonly levels: ReadonlyMap<string, LockedStockLevel>;
  readonly variantIds: readonly string[];
}

/**
 * Deletes the expired stock holds of the given variants, so that their units become free. The caller must
 * have locked the stock levels of the variants.
 */
async function deleteExpiredHolds(
  transaction: Transaction,
  context: StockCommandContext,
  { sessionId, levels, variantIds }: ExpiredHoldsQuery,
): Promise<LockedStockLevel[]> {
  const { rows } = await sql<{ variantId: string; quantity: number }>`
    with ended as (
      delete from stock_hold where variant_id = any(${variantIds}::text[]) and expires_at <= ${context.now}
        and session_id is distinct from ${sessionId}::text
      returning variant_id, quantity)
    select variant_id, sum(quantity)::int as quantity from ended group by variant_id
    order by variant_id`.execute(transaction);
  return applyStockLevelDeltas(transaction, context, {
    moves: toStockLevelDeltas(rows, levels, ({ quantity }) => ({ reserved: -quantity })),
    cause: null,
  });
}

/**
 * Deletes expired stock holds of variants that have too few available units, so that the refused request may
 * succeed. Returns true if expired holds were deleted.
 */
export async function releaseExpiredStockHolds(
  transaction: Transaction,
  context: StockCommandContext,
  variantIds: readonly string[],
): Promise<boolean> {
  const levels = await lockStockLevels(transaction, context, variantIds);
  return (
    (
      await deleteExpiredHolds(transaction, context, {
        sessionId: null,
        levels,
        variantIds: [...levels.keys()],
      })
    ).length > 0
  );
}

/**
 * Converts rows with a variant id to changes of stock levels: `change` computes the change from the row and
 * the stock level of its variant. Skips rows of deleted variants, which have no stock level.
 */
export function toStockLevelDeltas<Row extends { readonly variantId: string }>(
  rows: readonly Row[],
  levels: ReadonlyMap<string, LockedStockLevel>,
  change: (row: Row, level: LockedStockLevel) => Omit<StockLevelDelta, "level">,
): StockLevelDelta[] {
  return rows.flatMap((row) => {
    const level = levels.get(row.variantId);
    return level === undefined ? [] : [{ level, ...change(row, level) }];
  });
}

async function writeHolds(
  transaction: Transaction,
  { merchantId }: StockCommandContext,
  {
    sessionId,
    expiresAt,
    wanted,
  }: { readonly sessionId: string; readonly expiresAt: Date | null; readonly wanted: StockDemand["wanted"] },
): Promise<void> {
  const [variantIds, quantities] = [[...wanted.keys()], [...wanted.values()].map(String)];
  const query = sql`
    with dropped_holds as (delete from stock_hold where session_id = ${sessionId}
    and variant_id <> all(${variantIds}::text[])),
    holds as (insert into stock_hold as h (session_id, variant_id, merchant_id, quantity, expires_at)
    select ${sessionId}, w.variant_id, ${merchantId}, w.quantity, ${expiresAt}::timestamptz
    from unnest(${variantIds}::text[], ${quantities}::int[]) as w(variant_id, quantity)
    on conflict (session_id, variant_id) do update set quantity = excluded.quantity, expires_at =
    excluded.expires_at)
    select 1`.compile(transaction);
  await bufferWriteUntilNextStatement(transaction, { query, tables: ["stockHold"] });
}

/**
 * Sets the time at which the stock holds of a checkout session expire; null if they do not expire. The caller
 * must have checked with `replaceStockHolds` that the holds still exist.
 */
export async function setStockHoldExpiry(
  transaction: Transaction,
  { sessionId, expiresAt }: { readonly sessionId: string; readonly expiresAt: Date | null },
): Promise<void> {
  await transaction.updateTable("stockHold").set({ expiresAt }).where("sessionId", "=", sessionId).execute();
}

/**
 * Deletes all stock holds of a checkout session, so that their units become free. Does nothing if the session
 * has no holds.
 */
export async function releaseStockHolds(
  transaction: Transaction,
  context: StockCommandContext,
  { sessionId }: { readonly sessionId: string },
): Promise<void> {
  const held = await lockAndReadStockHolds(transaction, context, { sessionId });
  if (held.holds.size === 0) return;
  await deleteStockHoldRows(transaction, sessionId);
  const moves = toStockLevelDeltas(toVariantQuantityList(held.holds), held.levels, ({ quantity }) => ({
    reserved: -quantity,
  }));
  await applyStockLevelDeltas(transaction, context, { moves, cause: null });
}

export const toVariantQuantityList = (quantities: ReadonlyMap<string, number>): VariantQuantity[] =>
  [...quantities].map(([variantId, quantity]) => ({ variantId, quantity }));

/** Deletes the rows of a checkout session's stock holds, without changing stock levels. */
export async function deleteStockHoldRows(transaction: Transaction, sessionId: string): Promise<void> {
  await transaction.deleteFrom("stockHold").where("sessionId", "=", sessionId).execute();
}
