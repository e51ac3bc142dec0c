/**
 * SQL expressions for the price that a variant has in a market at the time `now`. The statement must use the
 * alias `pr` for the row of the table `price` in which `valid_until` is null. If the end time of this price
 * has passed and the background job has not yet saved the next price, the expressions return the next price.
 */
import { type RawBuilder, sql } from "kysely";

type Time = Date | RawBuilder<Date>;

const hasEnded = (now: Time): RawBuilder<boolean> => sql`pr.ends_at <= ${now}::timestamptz`;

/**
 * SQL expression for the current price in minor units; null if the price has ended and no other price
 * follows.
 */
export const currentPriceAmountSql = (now: Time): RawBuilder<number | null> =>
  sql`(case when ${hasEnded(now)} then pr.next_amount_minor else pr.amount_minor end)`;

/**
 * SQL expression for the current compare-at price (the price before a reduction) in minor units; null if the
 * price is not reduced.
 */
export const currentCompareAtPriceSql = (now: Time): RawBuilder<number | null> =>
  sql`(case when ${hasEnded(now)} then pr.next_compare_at_minor else pr.compare_at_minor end)`;

/** SQL expression for the time at which the current price became valid. */
export const currentPriceStartSql = (now: Time): RawBuilder<Date> =>
  sql`(case when ${hasEnded(now)} then pr.ends_at else pr.valid_from end)`;

/** SQL expression for the time at which the current price ends; null if no end was set. */
export const currentPriceEndSql = (now: Time): RawBuilder<Date | null> =>
  sql`(case when ${hasEnded(now)} then null else pr.ends_at end)`;
