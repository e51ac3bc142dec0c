/** Availability as a statement works it out: `availabilityOf` and `bestAvailability` in SQL, as places in the list `availabilities`. */
import { type RawBuilder, sql } from "kysely";
import { availabilities, type Availability } from "./availability.ts";
import { reservedAt } from "./reserved-at.ts";

const place = (availability: Availability): RawBuilder<number> => sql<number>`${sql.raw(String(availabilities.indexOf(availability)))}`;

/** The least of several places is the best. For a statement that has the variant as `v` and its stock level, which may be missing, as `sl`. */
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
