/**
 * Whether a variant can be bought, in one word, and the best of its variants for a product: in TypeScript for
 * loaded rows, and in SQL for statements that sort or aggregate many variants.
 */
import { type RawBuilder, sql } from "kysely";

/** From the best for the buyer to the worst. */
export const availabilities = [
  "in_stock",
  "low_stock",
  "backorder",
  "preorder",
  "out_of_stock",
  "discontinued",
] as const;
export type Availability = (typeof availabilities)[number];

export interface Stock {
  readonly onHand: number;
  readonly reserved: number;
  readonly backorderLimit: number;
  readonly lowStockThreshold: number;
  readonly discontinued: boolean;
  /** Sold before this time as a pre-order. */
  readonly availableFrom: Date | null;
}

export function availabilityOf(stock: Stock, now: Date): Availability {
  const free = stock.onHand - stock.reserved;
  if (stock.discontinued) return "discontinued";
  if (free + stock.backorderLimit <= 0) return "out_of_stock";
  if (stock.availableFrom !== null && stock.availableFrom > now) return "preorder";
  if (free <= 0) return "backorder";
  return free <= stock.lowStockThreshold ? "low_stock" : "in_stock";
}

/** Nothing to sell is sold out. */
export function bestAvailability(list: readonly Availability[]): Availability {
  return availabilities.find((availability) => list.includes(availability)) ?? "out_of_stock";
}

/**
 * The reserved units of a variant at a time. Units held by a checkout that has expired by the clock are free,
 * whether or not the expiry is written yet. For a statement that has the stock level as `sl`; `own` is a
 * condition on holds `h` that also count as free.
 */
export function reservedAt(
  now: Date | RawBuilder<Date>,
  own: RawBuilder<unknown> = sql`false`,
): RawBuilder<number> {
  const free = sql`select sum(h.quantity) from stock_hold h where h.variant_id = sl.variant_id and (h.expires_at <= ${now}::timestamptz or ${own})`;
  return sql`(coalesce(sl.reserved, 0) - coalesce((${free}), 0))::int`;
}

const place = (availability: Availability): RawBuilder<number> =>
  sql<number>`${sql.raw(String(availabilities.indexOf(availability)))}`;

/**
 * `availabilityOf` in SQL, as an index into `availabilities`; the minimum of several is the best. For a
 * statement that has the variant as `v` and its stock level, which may be missing, as `sl`.
 */
export function availabilityRank(now: RawBuilder<Date>): RawBuilder<number> {
  // A subselect of its own, so that what is held is added up once.
  return sql<number>`(select case when v.discontinued then ${place("discontinued")}
      when s.free + coalesce(sl.backorder_limit, 0) <= 0 then ${place("out_of_stock")}
      when v.available_from > ${now} then ${place("preorder")}
      when s.free <= 0 then ${place("backorder")}
      when s.free <= coalesce(sl.low_stock_threshold, 0) then ${place("low_stock")} else ${place("in_stock")} end
    from (select coalesce(sl.on_hand, 0) - ${reservedAt(now)} as free offset 0) as s)`;
}

export function availabilityAt(rank: number | null): Availability {
  return availabilities[rank ?? availabilities.indexOf("out_of_stock")] ?? "out_of_stock";
}
