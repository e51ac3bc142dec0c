/** What was searched for: the most frequent queries, and those that found nothing. */
import { type RawBuilder, sql } from "kysely";
import type { Reader } from "#database/transaction.ts";
import { toAmount } from "./report-scope.ts";

export interface SearchFigures {
  readonly searches: number;
  readonly empty: number;
}

export interface SearchReport {
  readonly totals: SearchFigures & { readonly queries: number };
  readonly top: readonly (SearchFigures & { readonly query: string })[];
  readonly withoutResults: readonly (SearchFigures & { readonly query: string })[];
}

export interface SearchesAsked {
  /** Null: everybody's. What was searched for among all merchants' products is everybody's. */
  readonly merchantId: string | null;
  /** Null: all of them. */
  readonly country: string | null;
  /** Days of UTC, both included. */
  readonly from: string;
  readonly to: string;
  readonly first: number;
}

export async function readSearches(reader: Reader, asked: SearchesAsked): Promise<SearchReport> {
  const { rows } = await searchStatement(asked).execute(reader);
  const listed = (list: Row["list"]): SearchReport["top"] =>
    rows.flatMap((row) => (row.list === list && row.query !== null ? [{ query: row.query, ...toFigures(row) }] : []));
  const total = rows.find(({ list }) => list === "totals");
  return { totals: { queries: total?.queries ?? 0, ...toFigures(total) }, top: listed("top"), withoutResults: listed("empty") };
}

interface Row {
  readonly list: "totals" | "top" | "empty";
  readonly query: string | null;
  readonly searches: string | null;
  readonly empty: string | null;
  readonly queries: number | null;
}

function searchStatement({ merchantId, country, from, to, first }: SearchesAsked): RawBuilder<Row> {
  return sql<Row>`
    with counted as materialized (
      select query, sum(searches) as searches, sum(empty) as empty from search_query_day
      where day between ${from}::date and ${to}::date
        ${merchantId === null ? sql`` : sql`and (merchant_id = ${merchantId} or merchant_id is null)`}
        ${country === null ? sql`` : sql`and country = ${country}`}
      group by query)
    select 'totals' as list, null as query, sum(searches)::text as searches, sum(empty)::text as empty, count(*)::int as queries from counted
    union all
    (select 'top', query, searches::text, empty::text, null from counted order by counted.searches desc, query limit ${first})
    union all
    (select 'empty', query, searches::text, empty::text, null from counted where empty > 0 order by counted.empty desc, query limit ${first})`;
}

function toFigures(row: Row | undefined): SearchFigures {
  return { searches: toAmount(row?.searches), empty: toAmount(row?.empty) };
}
