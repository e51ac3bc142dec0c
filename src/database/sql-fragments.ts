/**
 * Query helpers and SQL expressions that many parts of the service use: keyset pages, limited counts, and
 * times inside JSON.
 */
import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { DatabaseOrTransaction } from "./transaction.ts";

export interface KeysetPageRequest {
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
  /** True if the page is read from the end of the list, so that the last row comes first. */
  readonly isInverted: boolean;
}

/** The sort order of the rows of a list. */
export interface KeysetSortOrder {
  /** The column with the ids of the rows. Ids sort in the order in which the rows were created. */
  readonly column: string;
  /**
   * A column of integers or times by which the rows are sorted first; rows with the same value are sorted by
   * id. A cursor of such a list consists of two parts, the value of this column and the id
   * (`createSortedListCursor`). A time is written as the number of microseconds since 1970
   * (`timeToMicrosecondsSql`).
   */
  readonly sortColumn?: string;
  /** The type of the column by which the rows are sorted first; `integer` if left out. */
  readonly sortType?: "integer" | "time";
}

/** Returns the SQL expression for a time as the number of microseconds since 1970. */
export const timeToMicrosecondsSql = (column: string): RawBuilder<number> =>
  sql<number>`(extract(epoch from ${sql.ref(column)}) * 1000000)::bigint`;

/** Returns the SQL expression for the time that `timeToMicrosecondsSql` has converted to a number. */
export const microsecondsToTimeSql = (micros: string): RawBuilder<Date> =>
  sql<Date>`timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond'`;

/** Creates the cursor of a row in a list that is sorted by a number and then by id. */
export const createSortedListCursor = (value: string | number, id: string): string => `${value}:${id}`;

/**
 * Adds a keyset page to a query. No row is repeated or missed if rows are added or removed between two pages.
 * Cursors of a list that is sorted by a number must have the form that `createSortedListCursor` writes, with
 * a number of at most 16 digits.
 */
export function addKeysetPageToQuery<Tables, Name extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Name, Row>,
  { column, sortColumn, sortType = "integer" }: KeysetSortOrder,
  { after, before, limit, isInverted }: KeysetPageRequest,
): SelectQueryBuilder<Tables, Name, Row> {
  const id = sql.ref<string>(column);
  const key = sortColumn === undefined ? id : sql`(${sql.ref(sortColumn)}, ${id})`;
  const position = (cursor: string): RawBuilder<unknown> => {
    if (sortColumn === undefined) return sql`${cursor}`;
    const [value = "", rowId = ""] = cursor.split(":");
    return sql`(${sortType === "time" ? microsecondsToTimeSql(value) : sql`${value}::bigint`}, ${rowId})`;
  };
  let paged = query;
  if (after !== undefined) paged = paged.where(sql<boolean>`${key} > ${position(after)}`);
  if (before !== undefined) paged = paged.where(sql<boolean>`${key} < ${position(before)}`);
  const direction = isInverted ? "desc" : "asc";
  if (sortColumn !== undefined) paged = paged.orderBy(sql.ref(sortColumn), direction);
  return paged.orderBy(id, direction).limit(limit);
}

const countMax = 10_000;

/**
 * Counts the rows of a query, up to 10 000. Returns 10 000 for more rows, because counting them takes too
 * long.
 */
export async function countRowsUpToLimit<Tables, Name extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Name, Row>,
  reader: DatabaseOrTransaction,
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
 * Returns the SQL expression that formats a time as an RFC 3339 text in UTC. Times inside JSON need it,
 * because the driver converts only times outside of JSON.
 */
export const formatUtcTimeSql = (column: RawBuilder<unknown>): RawBuilder<string> =>
  sql<string>`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Returns the JSON text of a value for a jsonb column. Null becomes the SQL value null, not the JSON value. */
export const toJsonbValue = (value: unknown): string | null =>
  value === null ? null : JSON.stringify(value);
