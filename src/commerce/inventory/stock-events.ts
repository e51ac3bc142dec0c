/**
 * What can be sold of a variant runs out, runs low or is there again: told where a threshold is crossed, once for all that a transaction does to it.
 * Whatever else moves is not told: it would flood.
 */
import { availabilityOf, type Stock } from "#commerce/catalog/availability.ts";
import type { DomainEvent, Outbox } from "#webhooks/outbox.ts";
import type { CommandContext } from "#commerce/command-context.ts";

/** Whose stock it is, when, and who is told. */
export type StockOwner = Pick<CommandContext, "merchantId" | "now" | "outbox">;

export interface StockLevel extends Stock {
  readonly variantId: string;
  readonly productId: string;
  /** Rises with every change of the level. */
  readonly version: number;
}

export interface StockChange {
  readonly before: StockLevel;
  readonly after: StockLevel;
}

/** By variant, of transactions that are under way. */
const untold = new WeakMap<Outbox, Map<string, StockChange>>();

/** The caller has the levels locked: what one change left is what the next one found. */
export function tellStock({ outbox, now }: StockOwner, changes: readonly StockChange[]): void {
  if (changes.length === 0) return;
  const collected = untold.get(outbox) ?? new Map<string, StockChange>();
  for (const { before, after } of changes) collected.set(after.variantId, { before: collected.get(after.variantId)?.before ?? before, after });
  if (untold.has(outbox)) return;
  untold.set(outbox, collected);
  outbox.appendLast(() => {
    untold.delete(outbox);
    return [...collected.values()].flatMap((change) => crossingOf(change, now));
  });
}

function crossingOf({ before, after }: StockChange, now: Date): DomainEvent[] {
  const type = eventOf(standingOf(before), standingOf(after));
  return type === null ? [] : [{ type, id: after.variantId, previous: previousOf({ before, after }, now) }];
}

type Standing = "out" | "low" | "enough";

/** As buyers have it: what may be ordered beyond what there is counts as long as it lasts. */
function standingOf({ onHand, reserved, backorderLimit, lowStockThreshold }: StockLevel): Standing {
  const free = onHand - reserved;
  if (free + backorderLimit <= 0) return "out";
  return free <= lowStockThreshold ? "low" : "enough";
}

function eventOf(was: Standing, is: Standing): DomainEvent["type"] | null {
  if (was === is) return null;
  if (is === "out") return "variant.out_of_stock";
  if (was === "out") return "variant.back_in_stock";
  return is === "low" ? "variant.low_stock" : null;
}

/** Spelled as the event's document spells it (schema/events/variant.graphql). */
function previousOf({ before, after }: StockChange, now: Date): Readonly<Record<string, unknown>> {
  const { version, onHand, reserved, backorderLimit, lowStockThreshold } = before;
  const availability = availabilityOf(before, now);
  return {
    version,
    ...(availability === availabilityOf(after, now) ? {} : { availability }),
    stock: { onHand, reserved, available: onHand - reserved, backorderLimit, lowStockThreshold },
  };
}
