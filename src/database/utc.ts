/** Times inside JSON lose the driver's conversion, so they are written as the contract spells them. */
import { type RawBuilder, sql } from "kysely";

export const utc = (column: RawBuilder<unknown>): RawBuilder<string> =>
  sql<string>`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
