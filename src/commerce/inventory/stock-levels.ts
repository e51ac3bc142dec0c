/**
 * The stock levels of variants: locked and moved always in the order of variants, so that two transactions
 * that move the same ones wait for each other instead of deadlocking. Each unit that comes or goes leaves a
 * movement; a product that is sold out by it, or for sale again, is queued for the search index. Crossed
 * thresholds are published as events.
 */
import { sql } from "kysely";
import { computeAvailability, type VariantStock } from "#commerce/catalog/availability.ts";
import type { Transaction } from "#database/transaction.ts";
import { fail, type Failure } from "#foundation/failure.ts";
import type { DomainEvent, Outbox } from "#webhooks/outbox.ts";
import type { CommandContext } from "#commerce/command-context.ts";

/** The owner of the stock, the time, and the outbox for its events. */
export type StockCommandContext = Pick<CommandContext, "merchantId" | "now" | "outbox">;

export interface StockLevel extends VariantStock {
  readonly variantId: string;
  readonly productId: string;
  /** Rises with every change of the level. */
  readonly version: number;
}

export interface StockChange {
  readonly before: StockLevel;
  readonly after: StockLevel;
}

/** By variant; of one that was deleted, or is another merchant's, there is none. */
export async function lockStockLevels(
  transaction: Transaction,
  { merchantId }: Pick<StockCommandContext, "merchantId">,
  variantIds: readonly string[],
): Promise<Map<string, StockLevel>> {
  if (variantIds.length === 0) return new Map();
  const { rows } = await sql<StockLevel>`
    select s.variant_id, v.product_id, s.version, s.on_hand, s.reserved, s.backorder_limit, s.low_stock_threshold, v.discontinued, v.available_from
    from stock_level s join variant v on v.id = s.variant_id
    where s.variant_id = any(${variantIds}::text[]) and s.merchant_id = ${merchantId}
    order by s.variant_id for no key update of s`.execute(transaction);
  return new Map(rows.map((row) => [row.variantId, row]));
}

/** What changes of a level that is locked. */
export interface StockLevelMove {
  readonly level: StockLevel;
  readonly onHand?: number;
  readonly reserved?: number;
}

/** What its movements say; what only promises more or less leaves none. */
export interface StockMovementCause {
  readonly reason: "sold" | "canceled" | "returned";
  readonly note: string;
}

/** Gives the levels as they are now. A move that would promise more than there is, is a fault of the caller. */
export async function moveStockLevels(
  transaction: Transaction,
  owner: StockCommandContext,
  { moves, cause }: { readonly moves: readonly StockLevelMove[]; readonly cause: StockMovementCause | null },
): Promise<StockLevel[]> {
  const { merchantId, now } = owner;
  const moved = moves.filter(({ onHand = 0, reserved = 0 }) => onHand !== 0 || reserved !== 0);
  if (moved.length === 0) return [];
  const rows = moved.map(({ level, onHand = 0, reserved = 0 }) => ({
    variantId: level.variantId,
    onHand,
    reserved,
  }));
  const changed = await sql<{ variantId: string; hasEndedHolds: boolean }>`
    with m as (select * from json_to_recordset(${JSON.stringify(rows)}::json) as m("variantId" text, "onHand" int, reserved int)),
    moved as (
      update stock_level s set on_hand = s.on_hand + m."onHand", reserved = s.reserved + m.reserved, version = s.version + 1, updated_at = ${now}::timestamptz
      from m where s.variant_id = m."variantId" and s.reserved + m.reserved <= s.on_hand + m."onHand" + s.backorder_limit
      returning s.variant_id, s.on_hand, m."onHand" as delta),
    told as (
      insert into stock_movement (merchant_id, variant_id, delta, on_hand_after, reason, note, created_at)
      select ${merchantId}, variant_id, delta, on_hand, ${cause?.reason ?? null}::text, ${cause?.note ?? null}::text, ${now}::timestamptz
      from moved where delta <> 0 order by variant_id)
    select variant_id, exists (select from stock_hold h where h.variant_id = moved.variant_id and h.expires_at <= ${now}::timestamptz) as has_ended_holds
    from moved`.execute(transaction);
  if (changed.rows.length < rows.length)
    throw new Error(
      `Stock of ${rows.map(({ variantId }) => variantId).join(", ")} was moved beyond what there is.`,
    );
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
  // Who reads takes off what has ended by the clock, which is not in these figures: then any move may be
  // another word.
  const uncertain = new Set(
    changed.rows.flatMap(({ variantId, hasEndedHolds }) => (hasEndedHolds ? [variantId] : [])),
  );
  await queueForSearchIndex(
    transaction,
    changes
      .filter(
        ({ before, after }) => uncertain.has(after.variantId) || hasOtherAvailability(before, after, now),
      )
      .map(({ after }) => after.productId),
  );
  return changes.map(({ after }) => after);
}

const hasOtherAvailability = (before: VariantStock, after: VariantStock, now: Date): boolean =>
  computeAvailability(before, now) !== computeAvailability(after, now);

/** A row for each change, which is there when the change is: whoever takes it sees what it is about. */
async function queueForSearchIndex(transaction: Transaction, productIds: readonly string[]): Promise<void> {
  if (productIds.length === 0) return;
  await sql`insert into search_due (product_id) select distinct id from unnest(${productIds}::text[]) as p(id)`.execute(
    transaction,
  );
}

export interface VariantQuantity {
  readonly variantId: string;
  readonly quantity: number;
}

/** How many of each, where one stands there several times. */
export function sumQuantitiesByVariant(lines: readonly VariantQuantity[]): Map<string, number> {
  const quantities = new Map<string, number>();
  for (const { variantId, quantity } of lines)
    quantities.set(variantId, (quantities.get(variantId) ?? 0) + quantity);
  return quantities;
}

export interface StockLevelFigures {
  readonly variantId: string;
  readonly onHand: number;
  readonly reserved: number;
  readonly backorderLimit: number;
}

/** The refusal of every change that would leave less stock than is promised. */
export function insufficientStockFailure(
  { variantId, onHand, reserved, backorderLimit }: StockLevelFigures,
  asked: Readonly<Record<string, number>> = {},
): Failure {
  return stockFailure(variantId, "insufficient_stock", { onHand, reserved, backorderLimit, ...asked });
}

export function stockLimitFailure(variantId: string, data: Readonly<Record<string, number>>): Failure {
  return stockFailure(variantId, "stock_limit_reached", data);
}

function stockFailure(variantId: string, reason: string, data: Readonly<Record<string, number>>): Failure {
  return fail("invalid_state", {
    conflict: { resource: "variant", id: variantId, currentStatus: null, currentVersion: null, reason, data },
  });
}

/** Changes by variant, of transactions that are under way. */
const pendingChanges = new WeakMap<Outbox, Map<string, StockChange>>();

/**
 * Publishes events for crossed thresholds: sold out, low, back in stock; one for everything that a
 * transaction does to a variant. Other changes publish nothing. The caller has the levels locked, so a change
 * starts from where the one before ended.
 */
export function publishStockEvents(
  { outbox, now }: StockCommandContext,
  changes: readonly StockChange[],
): void {
  if (changes.length === 0) return;
  const collected = pendingChanges.get(outbox) ?? new Map<string, StockChange>();
  for (const { before, after } of changes)
    collected.set(after.variantId, { before: collected.get(after.variantId)?.before ?? before, after });
  if (pendingChanges.has(outbox)) return;
  pendingChanges.set(outbox, collected);
  outbox.appendLast(() => {
    pendingChanges.delete(outbox);
    return [...collected.values()].flatMap((change) => thresholdEvents(change, now));
  });
}

function thresholdEvents({ before, after }: StockChange, now: Date): DomainEvent[] {
  const type = eventOf(stockStateOf(before), stockStateOf(after));
  return type === null ? [] : [{ type, id: after.variantId, previous: previousOf({ before, after }, now) }];
}

type StockState = "out" | "low" | "enough";

/** As buyers have it: what may be ordered beyond what there is counts as long as it lasts. */
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

/** Spelled as the event's document spells it (schema/events/variant.graphql). */
function previousOf({ before, after }: StockChange, now: Date): Readonly<Record<string, unknown>> {
  const { version, onHand, reserved, backorderLimit, lowStockThreshold } = before;
  const availability = computeAvailability(before, now);
  return {
    version,
    ...(availability === computeAvailability(after, now) ? {} : { availability }),
    stock: { onHand, reserved, available: onHand - reserved, backorderLimit, lowStockThreshold },
  };
}
