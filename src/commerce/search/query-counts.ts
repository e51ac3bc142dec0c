/**
 * Counts the documents that match parts of a query, with the filters of the search. Queries are repaired by
 * these counts: a word is corrected to the most frequent candidate, and rare words are kept.
 */
import { type RawBuilder, sql } from "kysely";
import { parameter, prepareStatement } from "#database/prepared-template.ts";
import type { Reader } from "#database/transaction.ts";
import { matchQueryPart } from "./match-query.ts";
import { shownDocuments, withMerchant } from "./match-statements.ts";
import { type SearchStatementForm, searchStatementFormKey, type SearchValues } from "./search-form.ts";
import type { PartForms } from "./word-forms.ts";

/** The search whose filters limit the documents. */
export interface FilteredSearch {
  readonly reader: Reader;
  readonly form: SearchStatementForm;
  readonly values: SearchValues;
}

/** Words that occur in more documents than this count as equally frequent. */
const countedMax = 1000;

/** Returns the number of documents for each tsquery, at most 1000. */
export async function countDocuments(
  search: FilteredSearch,
  queries: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await runForQueries<{ words: string; count: number }>(search, {
    name: "count",
    queries: [...new Set(queries)].map((words) => ({ words })),
    write: (documents) => sql`select w.words, c.count from ${listedQueries} as w
      cross join lateral (select count(*)::int as count from (select 1 from ${documents(sql`w.words::tsquery`)}
        limit ${sql.raw(String(countedMax))}) as found) as c`,
  });
  return new Map(rows.map(({ words, count }) => [words, count]));
}

/** How often a part of a query occurs, and where. */
export interface PartFrequency {
  /** False if no document that passes the filters has the part. */
  readonly isFound: boolean;
  /** The number of documents with the part in all languages and countries, at most `frequencyMax`. */
  readonly count: number;
  /** The share of documents that have the part in the title or in the brand, from 0 to 1. */
  readonly titleShare: number;
  /** The share of documents that have the part in the name of a category, from 0 to 1. */
  readonly categoryShare: number;
}

export const frequencyMax = 2000;
/** The number of documents from which the shares are estimated. */
const sampledMax = 60;
const notFound: PartFrequency = { isFound: false, count: 0, titleShare: 0, categoryShare: 0 };

/** Measures how often each part occurs, and where. */
export async function measureParts(
  search: FilteredSearch,
  parts: readonly PartForms[],
): Promise<(part: PartForms) => PartFrequency> {
  interface Row {
    readonly words: string;
    readonly total: number;
    readonly count: number;
    readonly titles: number;
    readonly categories: number;
  }
  const queries = parts.map((part) => ({
    words: matchQueryPart(part),
    title: matchQueryPart(part, { weight: "BC", hasMerchants: false }),
    category: matchQueryPart(part, { weight: "D", hasMerchants: false }),
  }));
  const rows = await runForQueries<Row>(search, {
    name: "measure",
    queries,
    write: (documents) => sql`select w.words, c.*, (with matched as materialized (
          select 1 from search_document where words @@ w.words::tsquery)
        select count(*)::int from (select from matched limit ${sql.raw(String(frequencyMax))}) as found) as total
      from ${listedQueries} as w
      cross join lateral (select count(*)::int as count,
          count(*) filter (where head @@ w.title::tsquery)::int as titles,
          count(*) filter (where head @@ w.category::tsquery)::int as categories
        from (select d.head from ${documents(sql`w.words::tsquery`)}
          limit ${sql.raw(String(sampledMax))}) as found) as c`,
  });
  const frequencies = new Map(
    rows.map(({ words, total, count, titles, categories }) => [
      words,
      {
        isFound: count > 0,
        count: total,
        titleShare: titles / Math.max(count, 1),
        categoryShare: categories / Math.max(count, 1),
      },
    ]),
  );
  return (part) => frequencies.get(matchQueryPart(part)) ?? notFound;
}

/** Returns the index of the first tsquery that finds a product; undefined if none does. */
export async function findFirst(
  search: FilteredSearch,
  queries: readonly string[],
): Promise<number | undefined> {
  const [row] = await runForQueries<{ words: string }>(search, {
    name: "first",
    queries: [...new Set(queries)].map((words) => ({ words })),
    write: (documents) => sql`select w.words from ${listedQueries} as w
      cross join lateral (select 1 from ${documents(withMerchant(search.form, sql`w.words::tsquery`))} limit 1)
        as found order by w.place limit 1`,
  });
  return row === undefined ? undefined : queries.indexOf(row.words);
}

interface ListedQuery {
  readonly words: string;
  readonly title?: string;
  readonly category?: string;
}

/** The tsqueries of a statement; without `offset 0` PostgreSQL would parse them once for each document. */
const listedQueries = sql`(select words, title, category, place
  from json_to_recordset(${parameter("queries")}::json) as r(words text, title text, category text, place int)
  offset 0)`;

interface QueriesStatement {
  readonly name: string;
  readonly queries: readonly ListedQuery[];
  readonly write: (documents: (words: RawBuilder<unknown>) => RawBuilder<unknown>) => RawBuilder<unknown>;
}

async function runForQueries<Row>(
  { reader, form, values }: FilteredSearch,
  { name, queries, write }: QueriesStatement,
): Promise<readonly Row[]> {
  if (queries.length === 0) return [];
  const statement = prepareStatement<Row>(reader, {
    form: `${name} ${searchStatementFormKey(form)}`,
    write: () => write((words) => shownDocuments(form, { words, isLimited: true })),
    values: { ...values, queries: JSON.stringify(queries.map((query, place) => ({ ...query, place }))) },
    hasManyForms: true,
  });
  return (await reader.executeQuery(statement)).rows;
}
