/**
 * Locks and changes the stock levels of variants, always in the order of variant ids, so that two
 * transactions cannot deadlock. Every change of the stock on hand writes a stock movement. If the
 * availability of a product changes, the product is queued for an update of the search index. Events are
 * published when a variant sells out, becomes low or is in stock again.
 */
import { type CompiledQuery, type RawBuilder, sql } from "kysely";
import { computeStockAvailability, type VariantStock } from "#commerce/catalog/availability.ts";
import { bufferWriteUntilNextStatement, type Transaction } from "#database/transaction.ts";
import { createFailure, type Failure } from "#foundation/failure.ts";
import type { DomainEvent, EventOutbox } from "#webhooks/outbox.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";

/** The parts of a command's context that stock changes need: merchant, time and outbox. */
export type StockCommandContext = Pick<MerchantCommandContext, "merchantId" | "now" | "outbox">;

/** The stock level of one variant. */
export interface StockLevel extends VariantStock {
  readonly variantId: string;
  readonly productId: string;
  /** Version of the stock level; every change of the stock level increases it by one. */
  readonly version: number;
}

/** A stock level that the transaction has locked. */
export interface LockedStockLevel extends StockLevel {
  /** True if the variant has stock holds that have expired, and whose units are still counted as reserved. */
  readonly hasExpiredHolds: boolean;
}

/** A stock level before and after a change. */
export interface StockLevelBeforeAndAfter {
  readonly before: StockLevel;
  readonly after: StockLevel;
}

/**
 * Locks the stock levels of variants and returns them by variant id. Deleted variants and variants of other
 * merchants are left out.
 */
export async function lockStockLevels(
  transaction: Transaction,
  context: Pick<StockCommandContext, "merchantId" | "now">,
  variantIds: readonly string[],
): Promise<Map<string, LockedStockLevel>> {
  if (variantIds.length === 0) return new Map();
  const { rows } = await transaction.executeQuery(
    buildStockLevelLockSqlQuery(transaction, context, sql`any(${variantIds}::text[])`),
  );
  return toLockedStockLevels(rows);
}

/**
 * Builds the statement that locks stock levels, for callers that send it together with other statements.
 * `variantIds` is the SQL after `variant_id =`, for example `any(…)` of a subselect.
 */
export const buildStockLevelLockSqlQuery = (
  transaction: Transaction,
  { merchantId, now }: Pick<StockCommandContext, "merchantId" | "now">,
  variantIds: RawBuilder<unknown>,
): CompiledQuery<LockedStockLevel> =>
  sql<LockedStockLevel>`
    select s.variant_id as "variantId", v.product_id as "productId", s.version, s.on_hand as "onHand", s.reserved,
    s.backorder_limit as "backorderLimit", s.low_stock_threshold as "lowStockThreshold", v.discontinued,
    v.available_from as "availableFrom", exists (select from stock_hold h where h.variant_id = s.variant_id
    and h.expires_at <= ${now}::timestamptz) as "hasExpiredHolds"
    from stock_level s join variant v on v.id = s.variant_id
    where s.variant_id = ${variantIds} and s.merchant_id = ${merchantId}
    order by s.variant_id for no key update of s`.compile(transaction);

export const toLockedStockLevels = (rows: readonly LockedStockLevel[]): Map<string, LockedStockLevel> =>
  new Map(rows.map((row) => [row.variantId, row]));

/**
 * A change of a locked stock level: the number of units to add to the stock on hand, and the number to add to
 * the reserved units. Left-out numbers add 0.
 */
export interface StockLevelDelta {
  readonly level: LockedStockLevel;
  readonly onHand?: number;
  readonly reserved?: number;
}

/**
 * Reason and note of the stock movements that a change writes. A change of only the reserved units writes no
 * stock movement.
 */
export interface StockMovementCause {
  readonly reason: "sold" | "canceled" | "returned";
  readonly note: string;
}

/**
 * Changes the stock levels with the next statement of the transaction or with its COMMIT, and returns their
 * new values. The caller must have checked that enough units are available; otherwise, a constraint of the
 * table refuses the statement.
 */
export async function applyStockLevelDeltas(
  transaction: Transaction,
  owner: StockCommandContext,
  { moves, cause }: { readonly moves: readonly StockLevelDelta[]; readonly cause: StockMovementCause | null },
): Promise<LockedStockLevel[]> {
  const { merchantId, now } = owner;
  const moved = moves.filter(({ onHand = 0, reserved = 0 }) => onHand !== 0 || reserved !== 0);
  if (moved.length === 0) return [];
  const rows = moved.map(({ level, onHand = 0, reserved = 0 }) => ({
    variantId: level.variantId,
    onHand,
    reserved,
  }));
  const query = sql`
    with m as (select * from json_to_recordset(${JSON.stringify(rows)}::json) as m("variantId" text, "onHand"
    int, reserved int)),
    moved as (
      update stock_level s set on_hand = s.on_hand + m."onHand", reserved = s.reserved + m.reserved, version =
      s.version + 1, updated_at = ${now}::timestamptz
      from m where s.variant_id = m."variantId"
      returning s.variant_id, s.on_hand, m."onHand" as delta),
    movement as (
      insert into stock_movement (merchant_id, variant_id, delta, on_hand_after, reason, note, created_at)
      select ${merchantId}, variant_id, delta, on_hand, ${cause?.reason ?? null}::text,
      ${cause?.note ?? null}::text, ${now}::timestamptz
      from moved where delta <> 0 order by variant_id)
    select 1`.compile(transaction);
  await bufferWriteUntilNextStatement(transaction, { query, tables: ["stockLevel", "stockMovement"] });
  const changes = moved.map(({ level, onHand = 0, reserved = 0 }) => ({
    before: level,
    after: {
      ...level,
      version: level.version + 1,
      onHand: level.onHand + onHand,
      reserved: level.reserved + reserved,
    },
  }));
  publishStockEvents(owner, changes);
  // The column `reserved` still counts the units of expired stock holds, which readers ignore. The stock
  // level of such a variant therefore does not show whether its availability has changed. Its product is
  // always queued for an update of the search index.
  await queueForSearchIndex(
    transaction,
    changes
      .filter(({ before, after }) => before.hasExpiredHolds || hasOtherAvailability(before, after, now))
      .map(({ after }) => after.productId),
  );
  return changes.map(({ after }) => after);
}

const hasOtherAvailability = (before: VariantStock, after: VariantStock, now: Date): boolean =>
  computeStockAvailability(before, now) !== computeStockAvailability(after, now);

/**
 * Queues products for an update of the search index. The queue rows are committed together with the stock
 * change, so the search indexer always reads the changed stock.
 */
async function queueForSearchIndex(transaction: Transaction, productIds: readonly string[]): Promise<void> {
  if (productIds.length === 0) return;
  const query = sql`insert into search_due (product_id) select distinct id
    from unnest(${productIds}::text[]) as p(id)`.compile(transaction);
  await bufferWriteUntilNextStatement(transaction, { query, tables: ["searchDue"] });
}

/** A quantity of one variant. */
export interface VariantQuantity {
  readonly variantId: string;
  readonly quantity: number;
}

/** Adds up the quantities of each variant. A variant can occur several times in the list. */
export function sumQuantitiesOfEachVariant(lines: readonly VariantQuantity[]): Map<string, number> {
  const quantities = new Map<string, number>();
  for (const { variantId, quantity } of lines)
    quantities.set(variantId, (quantities.get(variantId) ?? 0) + quantity);
  return quantities;
}

/** The stock level of a variant, as it is shown in the data of an error about too little stock. */
export interface StockLevelInErrorDetails {
  readonly variantId: string;
  readonly onHand: number;
  readonly reserved: number;
  readonly backorderLimit: number;
}

/**
 * Creates the failure for a change after which more units would be reserved than are available. The failure
 * contains the stock on hand, the reserved units and the backorder limit.
 */
export function createInsufficientStockFailure(
  { variantId, onHand, reserved, backorderLimit }: StockLevelInErrorDetails,
  asked: Readonly<Record<string, number>> = {},
): Failure {
  return stockFailure(variantId, "insufficient_stock", { onHand, reserved, backorderLimit, ...asked });
}

/** Creates the failure for a change after which the stock would be higher than the maximum. */
export function createStockMaximumExceededFailure(
  variantId: string,
  data: Readonly<Record<string, number>>,
): Failure {
  return stockFailure(variantId, "stock_limit_reached", data);
}

function stockFailure(variantId: string, reason: string, data: Readonly<Record<string, number>>): Failure {
  return createFailure("invalid_state", {
    conflict: { resource: "variant", id: variantId, currentStatus: null, currentVersion: null, reason, data },
  });
}

/**
 * Stock level changes for which no event was published yet. The outbox identifies the transaction; each
 * outbox has a map of the changes by variant id.
 */
const pendingChanges = new WeakMap<EventOutbox, Map<string, StockLevelBeforeAndAfter>>();

/**
 * Publishes events for variants that sold out, became low or are in stock again. A transaction publishes at
 * most one event for each variant, because the stock level before the first change is compared with the level
 * after the last change. The caller must have locked the stock levels.
 */
export function publishStockEvents(
  { outbox, now }: StockCommandContext,
  changes: readonly StockLevelBeforeAndAfter[],
): void {
  if (changes.length === 0) return;
  const collected = pendingChanges.get(outbox) ?? new Map<string, StockLevelBeforeAndAfter>();
  for (const { before, after } of changes)
    collected.set(after.variantId, { before: collected.get(after.variantId)?.before ?? before, after });
  if (pendingChanges.has(outbox)) return;
  pendingChanges.set(outbox, collected);
  outbox.appendLast(() => {
    pendingChanges.delete(outbox);
    return [...collected.values()].flatMap((change) => thresholdEvents(change, now));
  });
}

function thresholdEvents({ before, after }: StockLevelBeforeAndAfter, now: Date): DomainEvent[] {
  const type = eventOf(stockStateOf(before), stockStateOf(after));
  return type === null ? [] : [{ type, id: after.variantId, previous: previousOf({ before, after }, now) }];
}

type StockState = "out" | "low" | "enough";

/**
 * Returns how buyers see the variant: as sold out, low or sufficiently in stock. A variant is sold out if no
 * units are free and its backorder limit is used up. The backorder limit is the number of units that may be
 * sold beyond the stock on hand.
 */
function stockStateOf({ onHand, reserved, backorderLimit, lowStockThreshold }: StockLevel): StockState {
  const free = onHand - reserved;
  if (free + backorderLimit <= 0) return "out";
  return free <= lowStockThreshold ? "low" : "enough";
}

function eventOf(was: StockState, is: StockState): DomainEvent["type"] | null {
  if (was === is) return null;
  if (is === "out") return "variant.out_of_stock";
  if (was === "out") return "variant.back_in_stock";
  return is === "low" ? "variant.low_stock" : null;
}

/**
 * Returns the stock values before the change, named as in the GraphQL document of the event
 * (schema/events/variant.graphql).
 */
function previousOf(
  { before, after }: StockLevelBeforeAndAfter,
  now: Date,
): Readonly<Record<string, unknown>> {
  const { version, onHand, reserved, backorderLimit, lowStockThreshold } = before;
  const availability = computeStockAvailability(before, now);
  return {
    version,
    ...(availability === computeStockAvailability(after, now) ? {} : { availability }),
    stock: { onHand, reserved, available: onHand - reserved, backorderLimit, lowStockThreshold },
  };
}
