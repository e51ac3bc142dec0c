/**
 * Counts the search documents that contain the parts of a query and pass the filters of the search. The
 * counts are used to repair queries. A misspelt word is corrected to the most frequent similar word, and rare
 * words are more likely to be kept.
 */
import { type RawBuilder, sql } from "kysely";
import { LRUCache } from "lru-cache";
import { createNamedSqlTemplateParameter, prepareStatementTemplate } from "#database/prepared-template.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { buildTsqueryForSinglePart } from "./match-query.ts";
import { sampleParts } from "./index-rows.ts";
import {
  documentMatchesTsqueryExpressionSql,
  isSampledSql,
  matchingSearchDocumentsSql,
} from "./match-statements.ts";
import {
  type SearchStatementVariant,
  getSearchStatementCacheKey,
  type SearchSqlParameterValues,
} from "./search-form.ts";
import type { SearchQueryPartWithForms } from "./word-forms.ts";

/** The search for which documents are counted. Its filters decide which documents are counted. */
export interface SearchContextForDocumentCounts {
  readonly reader: DatabaseOrTransaction;
  readonly form: SearchStatementVariant;
  readonly values: SearchSqlParameterValues;
  /** True if the catalogue is so large that documents with frequent words are counted in a random sample. */
  readonly isLarge: boolean;
}

/**
 * Maximum count of documents for a word. All words that occur in more documents get this count, so they are
 * treated as equally frequent.
 */
const countedMax = 1000;

const documentCounts: CountCache<{ readonly words: string; readonly count: number }> = new WeakMap();

/** Returns the number of documents that contain each part of the query, at most 1000 for each part. */
export async function countDocumentsBySearchQueryPart(
  search: SearchContextForDocumentCounts,
  parts: readonly SearchQueryPartWithForms[],
): Promise<(part: SearchQueryPartWithForms) => number> {
  const queries = new Map(parts.map((part) => [buildTsqueryForSinglePart(part), queryOf(part)]));
  const rows = await runSampled(search, {
    name: "count",
    cache: documentCounts,
    queries: [...queries.values()],
    write: ({ documents }) => sql`select w.words, c.count from ${listedQueries} as w
      cross join lateral (select count(*)::int as count from (select 1 from ${documents}
        limit ${sql.raw(String(countedMax))}) as found) as c`,
  });
  const counts = new Map(
    rows.map(([{ words, count }, factor]) => [words, Math.min(count * factor, countedMax)]),
  );
  return (part) => counts.get(buildTsqueryForSinglePart(part)) ?? 0;
}

const queryOf = (part: SearchQueryPartWithForms): TsqueryForDocumentCount => ({
  words: buildTsqueryForSinglePart(part),
  candidates: buildTsqueryForSinglePart(part, { isCandidate: true }),
});

/** The frequency of a part of the query: how many documents contain this part, and in which fields. */
export interface SearchQueryPartFrequency {
  /** False if no document that passes the filters of the search contains this part of the query. */
  readonly isFound: boolean;
  /**
   * Number of documents that contain this part of the query, in all languages and countries; at most
   * `frequencyMax`.
   */
  readonly count: number;
  /** The share of documents, from 0 to 1, that contain this part of the query in the title or in the brand. */
  readonly titleShare: number;
  /** The share of documents, from 0 to 1, that contain this part of the query in the name of a category. */
  readonly categoryShare: number;
}

export const frequencyMax = 2000;
/** Maximum number of documents from which `titleShare` and `categoryShare` are estimated. */
const sampledMax = 60;
const notFound: SearchQueryPartFrequency = { isFound: false, count: 0, titleShare: 0, categoryShare: 0 };

interface PartCounts {
  readonly words: string;
  readonly total: number;
  readonly count: number;
  readonly titles: number;
  readonly categories: number;
}

const partCounts: CountCache<PartCounts> = new WeakMap();

/** Measures how many documents contain each part of a query, and in which fields. */
export async function measureSearchQueryPartFrequencies(
  search: SearchContextForDocumentCounts,
  parts: readonly SearchQueryPartWithForms[],
): Promise<(part: SearchQueryPartWithForms) => SearchQueryPartFrequency> {
  const queries = parts.map((part) => ({
    ...queryOf(part),
    title: buildTsqueryForSinglePart(part, { weight: "BC", hasMerchants: false }),
    category: buildTsqueryForSinglePart(part, { weight: "D", hasMerchants: false }),
  }));
  const rows = await runSampled(search, {
    name: "measure",
    cache: partCounts,
    queries,
    write: ({ documents, isIndexed }) => sql`select w.words, c.*, (with matched as materialized (
          select words from search_document where ${isIndexed})
        select count(*)::int from (select from matched where words @@ w.query
          limit ${sql.raw(String(frequencyMax))}) as found) as total
      from ${listedQueries} as w
      cross join lateral (select count(*)::int as count,
          count(*) filter (where head @@ w.title)::int as titles,
          count(*) filter (where head @@ w.category)::int as categories
        from (select d.head from ${documents}
          limit ${sql.raw(String(sampledMax))}) as found) as c`,
  });
  const frequencies = new Map(
    rows.map(([{ words, total, count, titles, categories }, factor]) => [
      words,
      {
        isFound: count > 0,
        count: Math.min(total * factor, frequencyMax),
        titleShare: titles / Math.max(count, 1),
        categoryShare: categories / Math.max(count, 1),
      },
    ]),
  );
  return (part) => frequencies.get(buildTsqueryForSinglePart(part)) ?? notFound;
}

/** Returns the index of the first tsquery in a list that finds a product; undefined if none of them does. */
export async function findIndexOfFirstMatchingTsquery(
  search: SearchContextForDocumentCounts,
  queries: readonly TsqueryForDocumentCount[],
): Promise<number | undefined> {
  const [row] = await runForQueries<{ words: string }>(search, {
    name: "first",
    queries,
    write: ({ documents }) => sql`select w.words from ${listedQueries} as w
      cross join lateral (select 1 from ${documents} limit 1)
        as found order by w.place limit 1`,
  });
  return row === undefined ? undefined : queries.findIndex(({ words }) => words === row.words);
}

/**
 * A tsquery whose documents are counted, with a simpler tsquery (`candidates`) that the index can find fast.
 * The simpler tsquery finds the same documents and possibly more.
 */
export interface TsqueryForDocumentCount {
  readonly words: string;
  readonly candidates: string;
}

interface ListedQuery extends TsqueryForDocumentCount {
  readonly title?: string;
  readonly category?: string;
}

/**
 * SQL subquery that returns the tsqueries to be counted. It ends with `offset 0`, because PostgreSQL would
 * otherwise parse every tsquery again for each document.
 */
const listedQueries = sql`(select words, words::tsquery as query, candidates::tsquery, title::tsquery, category::tsquery, place
  from json_to_recordset(${createNamedSqlTemplateParameter("queries")}::json)
  as r(words text, candidates text, title text, category text, place int)
  offset 0)`;

interface QueriesStatement {
  readonly name: string;
  readonly queries: readonly ListedQuery[];
  readonly write: (found: FoundDocuments) => RawBuilder<unknown>;
}

interface FoundDocuments {
  /**
   * SQL for a `from` clause that returns the documents that the tsquery in the row with the alias `w` finds,
   * one document for each product.
   */
  readonly documents: RawBuilder<unknown>;
  /**
   * SQL condition that is true for the documents that the full-text index finds by the tsquery in the row
   * with the alias `w`.
   */
  readonly isIndexed: RawBuilder<unknown>;
}

/**
 * Minimum number of documents that a tsquery must find in the random sample. With fewer, an estimate would be
 * inexact, so all documents of the tsquery are counted.
 */
const sampledMin = 8;

/**
 * Runs a statement that counts the documents of each tsquery. In a large catalogue, the documents of frequent
 * words are counted in a random sample, and the counts are cached. Each returned row has a factor; the caller
 * must multiply the counts of the row by this factor.
 */
async function runSampled<Row extends { readonly words: string; readonly count: number }>(
  search: SearchContextForDocumentCounts,
  statement: QueriesStatement & { readonly cache: CountCache<Row> },
): Promise<CountedRow<Row>[]> {
  if (!search.isLarge) return withFactor(await runForQueries<Row>(search, statement), 1);
  const cache = getReaderCounts(statement.cache, search.reader);
  const keyOf = (words: string): string => `${getFilterKey(search)} ${words}`;
  const cached = statement.queries.flatMap(({ words }) => {
    const row = cache.get(keyOf(words));
    return row === undefined ? [] : [row];
  });
  const known = new Set(cached.map(([{ words }]) => words));
  const queries = statement.queries.filter(({ words }) => !known.has(words));
  const sampled = await runForQueries<Row>(search, { ...statement, queries, isSampled: true });
  const frequent = sampled.filter(({ count }) => count >= sampledMin);
  const frequentWords = new Set(frequent.map(({ words }) => words));
  const rare = queries.filter(({ words }) => !frequentWords.has(words));
  const counted = await runForQueries<Row>(search, { ...statement, queries: rare });
  const read = [...withFactor(frequent, sampleParts), ...withFactor(counted, 1)];
  for (const row of read) cache.set(keyOf(row[0].words), row);
  return [...cached, ...read];
}

type CountedRow<Row> = readonly [row: Row, factor: number];

const withFactor = <Row>(rows: readonly Row[], factor: number): CountedRow<Row>[] =>
  rows.map((row) => [row, factor]);

/**
 * Caches of the numbers of documents that contain the words of recent queries, one cache for each database
 * connection. Used only in large catalogues. The numbers may be up to one minute old.
 */
type CountCache<Row> = WeakMap<DatabaseOrTransaction, LRUCache<string, CountedRow<Row>>>;
const [countsMax, countsMs] = [20_000, 60_000];

function getReaderCounts<Row>(
  cache: CountCache<Row>,
  reader: DatabaseOrTransaction,
): LRUCache<string, CountedRow<Row>> {
  const counts = cache.get(reader) ?? new LRUCache({ max: countsMax, ttl: countsMs });
  cache.set(reader, counts);
  return counts;
}

/** Names of the search parameters that decide which documents are counted, besides the words of the query. */
const filterParameters = [
  "country",
  "chain0",
  "chain1",
  "chain2",
  "merchant",
  "categoryKey",
  "priceCurrency",
  "priceMin",
  "priceMax",
  "availabilities",
] as const;

const getFilterKey = ({ form, values }: SearchContextForDocumentCounts): string =>
  JSON.stringify([getSearchStatementCacheKey(form), filterParameters.map((name) => values[name])]);

async function runForQueries<Row>(
  { reader, form, values }: SearchContextForDocumentCounts,
  { name, queries, write, isSampled = false }: QueriesStatement & { readonly isSampled?: boolean },
): Promise<readonly Row[]> {
  if (queries.length === 0) return [];
  const statement = prepareStatementTemplate<Row>(reader, {
    form: `${name} ${Number(isSampled)} ${getSearchStatementCacheKey(form)}`,
    write: () => {
      const isFound = documentMatchesTsqueryExpressionSql(form, sql`w.candidates`);
      const isIndexed = isSampled ? sql`${isFound} and ${isSampledSql}` : isFound;
      return write({
        isIndexed,
        documents: matchingSearchDocumentsSql(form, { isIndexed, words: sql`w.query`, isLimited: true }),
      });
    },
    values: { ...values, queries: JSON.stringify(queries.map((query, place) => ({ ...query, place }))) },
    hasManyForms: true,
  });
  return (await reader.executeQuery(statement)).rows;
}
