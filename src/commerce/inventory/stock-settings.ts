/**
 * Sets a variant's backorder limit and its low-stock threshold. The backorder limit is the number of units
 * that may be sold beyond the stock on hand. Creates the stock level of a new variant with 0 units.
 */
import { type RawBuilder, sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import {
  createInsufficientStockFailure,
  lockStockLevels,
  type StockLevelBeforeAndAfter,
  type StockLevelInErrorDetails,
  type StockLevel,
} from "./stock-levels.ts";
import { releaseExpiredStockHolds } from "./stock-holds.ts";

/** The stock settings of one variant: its backorder limit and its low-stock threshold. */
export interface SaveStockSettingsInput {
  readonly variantId: string;
  readonly isNew: boolean;
  /**
   * Backorder limit: number of units that may be sold beyond the stock on hand. If null, the stored value is
   * not changed; a new variant gets 0.
   */
  readonly backorderLimit: number | null;
  /**
   * Low-stock threshold: the stock is called low if at most this number of units are free. If null, the
   * stored value is not changed; a new variant gets 5.
   */
  readonly lowStockThreshold: number | null;
}

const lowStockThresholdDefault = 5;

/** The result of saving stock settings: whether any value has changed, and the changes of stock levels. */
export interface SaveStockSettingsResult {
  readonly isChanged: boolean;
  /**
   * Changes of the stock levels that existed before this call. The caller must publish the events of these
   * changes.
   */
  readonly stockChanges: readonly StockLevelBeforeAndAfter[];
}

/**
 * Saves the stock settings of variants. The caller must have locked the merchant's row, so that no other
 * command changes settings at the same time.
 */
export async function saveStockSettings(
  transaction: Transaction,
  context: MerchantCommandContext,
  settings: readonly SaveStockSettingsInput[],
): Promise<SaveStockSettingsResult> {
  const fresh = settings.filter(({ isNew }) => isNew);
  if (fresh.length > 0) await openStockLevels(transaction, context, fresh);
  const given = settings.filter(
    ({ isNew, backorderLimit, lowStockThreshold }) =>
      !isNew && (backorderLimit !== null || lowStockThreshold !== null),
  );
  const stockChanges = given.length > 0 ? await changeSettings(transaction, context, given) : [];
  return { isChanged: fresh.length + stockChanges.length > 0, stockChanges };
}

async function openStockLevels(
  transaction: Transaction,
  context: MerchantCommandContext,
  settings: readonly SaveStockSettingsInput[],
): Promise<void> {
  await sql`
    insert into stock_level (variant_id, merchant_id, on_hand, reserved, backorder_limit, low_stock_threshold,
    updated_at)
    select s."variantId", ${context.merchantId}, 0, 0, coalesce(s."backorderLimit", 0),
    coalesce(s."lowStockThreshold", ${lowStockThresholdDefault}::int), ${context.now}::timestamptz
    from json_to_recordset(${JSON.stringify(settings)}::json) as s("variantId" text, "backorderLimit" int,
    "lowStockThreshold" int)
    on conflict (variant_id) do nothing`.execute(transaction);
}

async function changeSettings(
  transaction: Transaction,
  context: MerchantCommandContext,
  settings: readonly SaveStockSettingsInput[],
): Promise<StockLevelBeforeAndAfter[]> {
  await lockStockLevels(
    transaction,
    context,
    settings.map(({ variantId }) => variantId),
  );
  const changes = await writeSettings(transaction, context, settings);
  const refused = await findRefusedSettings(transaction, settings);
  if (refused.length === 0) return changes;
  const refusedIds = refused.map(({ variantId }) => variantId);
  if (await releaseExpiredStockHolds(transaction, context, refusedIds))
    changes.push(...(await writeSettings(transaction, context, settings)));
  const [first] = await findRefusedSettings(transaction, settings);
  if (first !== undefined) throw createInsufficientStockFailure(first);
  return changes;
}

const settingsRecordset = (settings: readonly SaveStockSettingsInput[]): RawBuilder<unknown> =>
  sql`json_to_recordset(${JSON.stringify(settings)}::json) as w("variantId" text, "backorderLimit" int,
    "lowStockThreshold" int)`;

/**
 * Updates the stock settings of variants. A variant is skipped if its reserved units are more than its stock
 * on hand plus the new backorder limit.
 */
async function writeSettings(
  transaction: Transaction,
  context: MerchantCommandContext,
  settings: readonly SaveStockSettingsInput[],
): Promise<StockLevelBeforeAndAfter[]> {
  const { rows } = await sql<StockLevel & PreviousSettings>`
    update stock_level s set backorder_limit = coalesce(w."backorderLimit", s.backorder_limit),
      low_stock_threshold = coalesce(w."lowStockThreshold", s.low_stock_threshold), version = s.version + 1,
      updated_at = ${context.now}
    from ${settingsRecordset(settings)} join stock_level was on was.variant_id = w."variantId" join variant v
    on v.id = was.variant_id
    where s.variant_id = w."variantId" and s.reserved <= s.on_hand +
    coalesce(w."backorderLimit", s.backorder_limit)
      and (s.backorder_limit, s.low_stock_threshold)
        is distinct from (coalesce(w."backorderLimit", s.backorder_limit),
        coalesce(w."lowStockThreshold", s.low_stock_threshold))
    returning s.variant_id, v.product_id, s.version, s.on_hand, s.reserved, s.backorder_limit,
    s.low_stock_threshold, v.discontinued, v.available_from,
      was.backorder_limit as backorder_limit_was, was.low_stock_threshold as low_stock_threshold_was`.execute(
    transaction,
  );
  return rows.map(({ backorderLimitWas, lowStockThresholdWas, ...after }) => ({
    before: {
      ...after,
      version: after.version - 1,
      backorderLimit: backorderLimitWas,
      lowStockThreshold: lowStockThresholdWas,
    },
    after,
  }));
}

interface PreviousSettings {
  readonly backorderLimitWas: number;
  readonly lowStockThresholdWas: number;
}

/**
 * Returns the variants that `writeSettings` skipped: the variants whose stored backorder limit is not the new
 * one.
 */
async function findRefusedSettings(
  transaction: Transaction,
  settings: readonly SaveStockSettingsInput[],
): Promise<readonly StockLevelInErrorDetails[]> {
  const { rows } = await sql<StockLevelInErrorDetails>`
    select s.variant_id, s.on_hand, s.reserved, s.backorder_limit from stock_level s
    join ${settingsRecordset(settings)} on s.variant_id = w."variantId"
    where s.backorder_limit <> w."backorderLimit" order by s.variant_id`.execute(transaction);
  return rows;
}
