/**
 * Stock that is kept back: by a checkout session until it ends, by an order until it is sent or given up.
 * What is reserved of a variant is at any time the sum of these. A session's hold ends by the clock; whoever
 * is short of something takes back what has ended so before being refused.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import {
  lockStockLevels,
  moveStockLevels,
  sumQuantitiesByVariant,
  type StockLevel,
  type StockLevelMove,
  type StockCommandContext,
  type VariantQuantity,
} from "./stock-levels.ts";

/** More was wanted than there is. */
export interface StockShortage {
  readonly variantId: string;
  readonly wanted: number;
  /** So many there would be for the asker, what it holds already included. */
  readonly available: number;
}

export interface SessionStockHolds {
  readonly sessionId: string;
  /** Null: held without end. */
  readonly expiresAt: Date | null;
  readonly lines: readonly VariantQuantity[];
}

/**
 * Makes the session's holds exactly these. Where anything is short nothing is held, and the caller must
 * refuse.
 */
export async function holdStock(
  transaction: Transaction,
  context: StockCommandContext,
  { sessionId, expiresAt, lines }: SessionStockHolds,
): Promise<readonly StockShortage[]> {
  const wanted = sumQuantitiesByVariant(lines);
  const held = await lockHeldStock(transaction, context, { sessionId, alsoLock: [...wanted.keys()] });
  const { levels, shortages } = await checkStock(transaction, context, { sessionId, wanted, held });
  if (shortages.length > 0) return shortages;
  const variantIds = [...new Set([...wanted.keys(), ...held.holds.keys()])];
  const moves = variantIds.flatMap((variantId): StockLevelMove[] => {
    const level = levels.get(variantId);
    return level === undefined
      ? []
      : [{ level, reserved: (wanted.get(variantId) ?? 0) - (held.holds.get(variantId) ?? 0) }];
  });
  await moveStockLevels(transaction, context, { moves, cause: null });
  await writeHolds(transaction, context, { sessionId, expiresAt, wanted });
  return [];
}

interface HeldStock {
  /** The quantities that a session holds. */
  readonly holds: ReadonlyMap<string, number>;
  /** Locked: of those, and of what else was asked for. */
  readonly levels: Map<string, StockLevel>;
}

/** Holds are read after their levels are locked: who moves a hold has its level. */
async function lockHeldStock(
  transaction: Transaction,
  context: StockCommandContext,
  { sessionId, alsoLock = [] }: { readonly sessionId: string; readonly alsoLock?: readonly string[] },
): Promise<HeldStock> {
  const read = async (): Promise<Map<string, number>> => {
    const rows = await transaction
      .selectFrom("stockHold")
      .select(["variantId", "quantity"])
      .where("sessionId", "=", sessionId)
      .execute();
    return new Map(rows.map(({ variantId, quantity }) => [variantId, quantity]));
  };
  const levels = await lockStockLevels(transaction, context, [
    ...new Set([...alsoLock, ...(await read()).keys()]),
  ]);
  return { levels, holds: await read() };
}

interface StockDemand {
  /** Its own holds are not taken back. */
  readonly sessionId: string | null;
  readonly wanted: ReadonlyMap<string, number>;
  readonly held: HeldStock;
}

/** What is short is looked at again when what has ended by the clock was taken back. */
async function checkStock(
  transaction: Transaction,
  context: StockCommandContext,
  { sessionId, wanted, held }: StockDemand,
): Promise<{
  readonly levels: ReadonlyMap<string, StockLevel>;
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

function findShortages(wanted: StockDemand["wanted"], { holds, levels }: HeldStock): StockShortage[] {
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
  /** Whose own holds are not taken back. */
  readonly sessionId: string | null;
  readonly levels: ReadonlyMap<string, StockLevel>;
  readonly variantIds: readonly string[];
}

/** The holds of these variants that have ended by the clock; their levels are locked. */
async function deleteExpiredHolds(
  transaction: Transaction,
  context: StockCommandContext,
  { sessionId, levels, variantIds }: ExpiredHoldsQuery,
): Promise<StockLevel[]> {
  const { rows } = await sql<{ variantId: string; quantity: number }>`
    with ended as (
      delete from stock_hold where variant_id = any(${variantIds}::text[]) and expires_at <= ${context.now}
        and session_id is distinct from ${sessionId}::text
      returning variant_id, quantity)
    select variant_id, sum(quantity)::int as quantity from ended group by variant_id order by variant_id`.execute(
    transaction,
  );
  return moveStockLevels(transaction, context, {
    moves: toStockLevelMoves(rows, levels, ({ quantity }) => ({ reserved: -quantity })),
    cause: null,
  });
}

/** For who would be refused because of them. Says whether there were any. */
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

/** Of variants that are there; what was deleted has no stock to move. */
function toStockLevelMoves<Row extends { readonly variantId: string }>(
  rows: readonly Row[],
  levels: ReadonlyMap<string, StockLevel>,
  change: (row: Row, level: StockLevel) => Omit<StockLevelMove, "level">,
): StockLevelMove[] {
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
  const [variantIds, quantities] = [[...wanted.keys()], [...wanted.values()]];
  await sql`
    with dropped as (delete from stock_hold where session_id = ${sessionId} and variant_id <> all(${variantIds}::text[]))
    insert into stock_hold as h (session_id, variant_id, merchant_id, quantity, expires_at)
    select ${sessionId}, w.variant_id, ${merchantId}, w.quantity, ${expiresAt}::timestamptz
    from unnest(${variantIds}::text[], ${quantities}::int[]) as w(variant_id, quantity)
    on conflict (session_id, variant_id) do update set quantity = excluded.quantity, expires_at = excluded.expires_at`.execute(
    transaction,
  );
}

/**
 * Null: without end, while it is being paid. The caller has made sure, by `holdStock`, that they are still
 * there.
 */
export async function setStockHoldExpiry(
  transaction: Transaction,
  { sessionId, expiresAt }: { readonly sessionId: string; readonly expiresAt: Date | null },
): Promise<void> {
  await transaction.updateTable("stockHold").set({ expiresAt }).where("sessionId", "=", sessionId).execute();
}

/** Nothing the second time. */
export async function releaseStockHolds(
  transaction: Transaction,
  context: StockCommandContext,
  { sessionId }: { readonly sessionId: string },
): Promise<void> {
  const held = await lockHeldStock(transaction, context, { sessionId });
  if (held.holds.size === 0) return;
  await deleteHolds(transaction, sessionId);
  const moves = toStockLevelMoves(toVariantQuantities(held.holds), held.levels, ({ quantity }) => ({
    reserved: -quantity,
  }));
  await moveStockLevels(transaction, context, { moves, cause: null });
}

const toVariantQuantities = (quantities: ReadonlyMap<string, number>): VariantQuantity[] =>
  [...quantities].map(([variantId, quantity]) => ({ variantId, quantity }));

async function deleteHolds(transaction: Transaction, sessionId: string): Promise<void> {
  await transaction.deleteFrom("stockHold").where("sessionId", "=", sessionId).execute();
}

/**
 * The session's holds become an order's. Gives how many of each were on hand; the rest stays reserved, and
 * waits.
 */
export async function sellHeldStock(
  transaction: Transaction,
  context: StockCommandContext,
  { sessionId, note }: { readonly sessionId: string; readonly note: string },
): Promise<ReadonlyMap<string, number>> {
  const { holds, levels } = await lockHeldStock(transaction, context, { sessionId });
  await deleteHolds(transaction, sessionId);
  const sold = toVariantQuantities(holds).map(({ variantId, quantity }) => ({
    variantId,
    quantity: Math.min(quantity, levels.get(variantId)?.onHand ?? 0),
  }));
  await moveStockLevels(transaction, context, {
    moves: toStockLevelMoves(sold, levels, takeReservedUnits),
    cause: { reason: "sold", note },
  });
  return sumQuantitiesByVariant(sold);
}

const takeReservedUnits = ({ quantity }: VariantQuantity): Omit<StockLevelMove, "level"> => ({
  onHand: -quantity,
  reserved: -quantity,
});

/** Lines, and what their movements shall say: the order's number. */
type LinesWithNote<Line> = readonly [lines: readonly Line[], note: string];

/**
 * What an order's lines wait for is taken from what is on hand. Where that is too little nothing is taken,
 * and the caller must refuse.
 */
export async function allocateStock(
  transaction: Transaction,
  context: StockCommandContext,
  ...[lines, note]: LinesWithNote<VariantQuantity>
): Promise<readonly StockShortage[]> {
  const wanted = toVariantQuantities(sumQuantitiesByVariant(lines));
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
  await moveStockLevels(transaction, context, {
    moves: toStockLevelMoves(wanted, levels, takeReservedUnits),
    cause: { reason: "sold", note },
  });
  return [];
}

/** What an order gives up: units it waited for, and units that were taken for it. */
export interface OrderUnitsToRelease {
  readonly variantId: string;
  readonly waiting: number;
  readonly allocated: number;
}

export async function releaseOrderStock(
  transaction: Transaction,
  context: StockCommandContext,
  ...[lines, note]: LinesWithNote<OrderUnitsToRelease>
): Promise<void> {
  const waiting = sumQuantitiesByVariant(
    lines.map(({ variantId, waiting: quantity }) => ({ variantId, quantity })),
  );
  const allocated = sumQuantitiesByVariant(
    lines.map(({ variantId, allocated: quantity }) => ({ variantId, quantity })),
  );
  const levels = await lockStockLevels(transaction, context, [...waiting.keys()]);
  const moves = toStockLevelMoves(toVariantQuantities(waiting), levels, ({ variantId, quantity }) => ({
    reserved: -quantity,
    onHand: allocated.get(variantId) ?? 0,
  }));
  await moveStockLevels(transaction, context, { moves, cause: { reason: "canceled", note } });
}

/** What came back and can be sold again. */
export async function restockReturnedUnits(
  transaction: Transaction,
  context: StockCommandContext,
  ...[lines, note]: LinesWithNote<VariantQuantity>
): Promise<void> {
  const back = toVariantQuantities(sumQuantitiesByVariant(lines));
  const levels = await lockStockLevels(
    transaction,
    context,
    back.map(({ variantId }) => variantId),
  );
  await moveStockLevels(transaction, context, {
    moves: toStockLevelMoves(back, levels, ({ quantity }) => ({ onHand: quantity })),
    cause: { reason: "returned", note },
  });
}

/** Promises an order as much of it as there is, and gives what is missing. Of what was deleted nothing is. */
export async function reserveAvailableStock(
  transaction: Transaction,
  context: StockCommandContext,
  lines: readonly VariantQuantity[],
): Promise<readonly StockShortage[]> {
  const wanted = sumQuantitiesByVariant(lines);
  const held: HeldStock = {
    holds: new Map(),
    levels: await lockStockLevels(transaction, context, [...wanted.keys()]),
  };
  const found = await checkStock(transaction, context, { sessionId: null, wanted, held });
  const shortages = found.shortages.filter(({ variantId }) => held.levels.has(variantId));
  const missing = new Map(shortages.map((short) => [short.variantId, short.wanted - short.available]));
  const promised = toVariantQuantities(wanted).map(({ variantId, quantity }) => ({
    variantId,
    quantity: quantity - (missing.get(variantId) ?? 0),
  }));
  await moveStockLevels(transaction, context, {
    moves: toStockLevelMoves(promised, found.levels, ({ quantity }) => ({ reserved: quantity })),
    cause: null,
  });
  return shortages;
}

/**
 * Promises an order more, as what an exchange will send. Where anything is short nothing is promised, and the
 * caller must refuse.
 */
export async function reserveStock(
  transaction: Transaction,
  context: StockCommandContext,
  lines: readonly VariantQuantity[],
): Promise<readonly StockShortage[]> {
  const wanted = sumQuantitiesByVariant(lines);
  const held: HeldStock = {
    holds: new Map(),
    levels: await lockStockLevels(transaction, context, [...wanted.keys()]),
  };
  const { levels, shortages } = await checkStock(transaction, context, { sessionId: null, wanted, held });
  if (shortages.length > 0) return shortages;
  await moveStockLevels(transaction, context, {
    moves: toStockLevelMoves(toVariantQuantities(wanted), levels, ({ quantity }) => ({ reserved: quantity })),
    cause: null,
  });
  return [];
}
