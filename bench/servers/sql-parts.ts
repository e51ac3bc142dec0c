/** SQL fragments that several statements of the yardstick share. */

export const utcSql = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export const urlSql = (url: string, base: string): string =>
  `case when left(${url}, 1) = '/' then ${base} || ${url} else ${url} end`;

/** Returns an SQL expression for the rank of a variant's availability; 1 is the best. */
export const availabilityRankSql = (
  variant: string,
  stock: string,
): string => `case when ${variant}.discontinued then 6
    when coalesce(${stock}.on_hand - ${stock}.reserved + ${stock}.backorder_limit, 0) <= 0 then 5
    when ${variant}.available_from > now() then 4
    when ${stock}.on_hand - ${stock}.reserved <= 0 then 3
    when ${stock}.on_hand - ${stock}.reserved <= ${stock}.low_stock_threshold then 2 else 1 end`;
