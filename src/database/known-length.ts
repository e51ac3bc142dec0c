/**
 * Lists of ids whose length the statement's text says. PostgreSQL keeps no plan for an array of unknown length (it reckons with ten, and finds the true
 * number cheaper each time); lengths are powers of two, so that few texts are prepared.
 */
import { type RawBuilder, sql } from "kysely";

/** As many lines as a cart may have. */
export const lengthMax = 256;

/** The list with as many fillers behind it as make its length a power of two; more than 256 are left as they are. */
export function filledUp<Member>(members: readonly Member[], filler: Member): readonly Member[] {
  const { length } = members;
  if (length === 0 || length > lengthMax) return members;
  return [...members, ...Array.from({ length: 2 ** Math.ceil(Math.log2(length)) - length }, () => filler)];
}

/** What stands behind a column: `id ${among(ids)}`. */
export function among(ids: readonly string[]): RawBuilder<boolean> {
  const [first = ""] = ids;
  if (ids.length === 0 || ids.length > lengthMax) return sql`= any(${ids}::text[])`;
  return ids.length === 1 ? sql`= ${first}` : sql`in (${sql.join(filledUp(ids, first))})`;
}
