/** What is reserved of a variant at a time: what a checkout holds that has ended by the clock is free, whether or not anybody has written that yet. */
import { type RawBuilder, sql } from "kysely";

/** For a statement that has the stock level as `sl`. `own`: a condition on a hold, `h`, that is free for who asks. */
export function reservedAt(now: Date | RawBuilder<Date>, own: RawBuilder<unknown> = sql`false`): RawBuilder<number> {
  const free = sql`select sum(h.quantity) from stock_hold h where h.variant_id = sl.variant_id and (h.expires_at <= ${now}::timestamptz or ${own})`;
  return sql`(coalesce(sl.reserved, 0) - coalesce((${free}), 0))::int`;
}
