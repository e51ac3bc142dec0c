/** Query helpers and SQL expressions that many areas use: keyset pages, capped counts, times in JSON. */
import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { DatabaseReader } from "./transaction.ts";

export interface KeysetPage {
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
  /** True to read the page from the end of the list. */
  readonly isInverted: boolean;
}

/**
 * Adds a keyset page to a query, in the order of ids, which is the order of creation. No row is repeated or
 * missed if rows are added or removed between two pages.
 */
export function applyKeysetPage<Tables, Name extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Name, Row>,
  column: string,
  { after, before, limit, isInverted }: KeysetPage,
): SelectQueryBuilder<Tables, Name, Row> {
  const id = sql.ref<string>(column);
  let paged = query;
  if (after !== undefined) paged = paged.where(sql<boolean>`${id} > ${after}`);
  if (before !== undefined) paged = paged.where(sql<boolean>`${id} < ${before}`);
  return paged.orderBy(id, isInverted ? "desc" : "asc").limit(limit);
}

const countMax = 10_000;

/** Counts rows up to 10 000. An exact larger count would take too long. */
export async function countRowsUpToLimit<Tables, Name extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Name, Row>,
  reader: DatabaseReader,
): Promise<number> {
  const counted = query
    .clearSelect()
    .clearOrderBy()
    .select(sql<number>`1`.as("one"))
    .limit(countMax);
  const { rows } = await sql<{
    count: number;
  }>`select count(*) as count from (${counted}) as counted`.execute(reader);
  return rows[0]?.count ?? 0;
}

/**
 * Returns the SQL expression that formats a time as an RFC 3339 text in UTC. It is needed for times inside
 * JSON, which the driver does not convert.
 */
export const utcTextSql = (column: RawBuilder<unknown>): RawBuilder<string> =>
  sql<string>`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
