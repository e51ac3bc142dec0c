/**
 * Computes the availability of variants and products, for example "in_stock" or "backorder". TypeScript
 * functions compute the availability for rows that are already loaded, SQL expressions for statements that
 * sort or group many variants.
 */
import { type RawBuilder, sql } from "kysely";

/** All availability values, from the best for the buyer to the worst. */
export const availabilities = [
  "in_stock",
  "low_stock",
  "backorder",
  "preorder",
  "out_of_stock",
  "discontinued",
] as const;
export type StockAvailability = (typeof availabilities)[number];

export interface VariantStock {
  readonly onHand: number;
  readonly reserved: number;
  readonly backorderLimit: number;
  readonly lowStockThreshold: number;
  readonly discontinued: boolean;
  /**
   * The time from which the variant is available; before this time, buyers can only preorder the variant.
   * Null if the variant is available at once.
   */
  readonly availableFrom: Date | null;
}

export function computeStockAvailability(stock: VariantStock, now: Date): StockAvailability {
  const free = stock.onHand - stock.reserved;
  if (stock.discontinued) return "discontinued";
  if (free + stock.backorderLimit <= 0) return "out_of_stock";
  if (stock.availableFrom !== null && stock.availableFrom > now) return "preorder";
  if (free <= 0) return "backorder";
  return free <= stock.lowStockThreshold ? "low_stock" : "in_stock";
}

/** Returns the best availability in a list; "out_of_stock" if the list is empty. */
export function findBestStockAvailability(list: readonly StockAvailability[]): StockAvailability {
  return availabilities.find((availability) => list.includes(availability)) ?? "out_of_stock";
}

/**
 * SQL expression for the number of units of a variant that are reserved at the time `now`. Units of an
 * expired stock hold are not counted, even before the cleanup deletes the hold. `own` is an SQL condition
 * that selects the stock holds (alias `h`) of the caller's own checkout session; their units are not counted
 * either. The statement must use the alias `sl` for the table of stock levels.
 */
export function reservedUnitsSql(
  now: Date | RawBuilder<Date>,
  own: RawBuilder<unknown> = sql`false`,
): RawBuilder<number> {
  const free = sql`select sum(h.quantity) from stock_hold h where h.variant_id = sl.variant_id
    and (h.expires_at <= ${now}::timestamptz or ${own})`;
  return sql`(coalesce(sl.reserved, 0) - coalesce((${free}), 0))::int`;
}

const indexSql = (availability: StockAvailability): RawBuilder<number> =>
  sql<number>`${sql.raw(String(availabilities.indexOf(availability)))}`;

/**
 * SQL expression for the availability of a variant, as an index into the list `availabilities`; index 0 is
 * the best availability. The statement must use the alias `v` for the variant and `sl` for its stock level. A
 * variant without a stock level is allowed.
 */
export function stockAvailabilityRankSql(now: RawBuilder<Date>): RawBuilder<number> {
  // The subselect for the free units ends with `offset 0`, so that PostgreSQL computes the sum of the stock
  // holds only once.
  return sql<number>`(select case when v.discontinued then ${indexSql("discontinued")}
      when s.free + coalesce(sl.backorder_limit, 0) <= 0 then ${indexSql("out_of_stock")}
      when v.available_from > ${now} then ${indexSql("preorder")}
      when s.free <= 0 then ${indexSql("backorder")}
      when s.free <= coalesce(sl.low_stock_threshold, 0) then ${indexSql("low_stock")}
      else ${indexSql("in_stock")} end
    from (select coalesce(sl.on_hand, 0) - ${reservedUnitsSql(now)} as free offset 0) as s)`;
}

export function getStockAvailabilityByRank(rank: number | null): StockAvailability {
  return availabilities[rank ?? availabilities.indexOf("out_of_stock")] ?? "out_of_stock";
}
