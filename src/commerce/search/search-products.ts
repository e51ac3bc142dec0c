/**
 * Searches products by words and filters in a sort order. Finds only products that an active merchant offers
 * in the country, each product once, in the requested locale or its fallback. The totals and facets of a
 * search without words are cached until a product changes.
 */
import type { RawBuilder } from "kysely";
import { LRUCache } from "lru-cache";
import type { ProductSummaryRow } from "#commerce/catalog/read-summaries.ts";
import { runForSingleRow } from "#database/prepared-template.ts";
import type { Reader } from "#database/transaction.ts";
import { expandSearchQuery } from "./expand-query.ts";
import { type ParsedSearchQuery, parseSearchQuery } from "./parse-query.ts";
import { correctQuery, relaxQuery } from "./repair-query.ts";
import {
  type SearchFacet,
  type SearchHitRow,
  type SearchHit,
  renderSearchFacets,
  renderSearchHit,
} from "./render-results.ts";
import { checkStemCache } from "./stems.ts";
import {
  hasWords,
  searchStatementFormKey,
  searchMatchesMax,
  type SearchStatementForm,
  type SearchInput,
  type SearchValues,
  searchValues,
} from "./search-form.ts";
import type { ExpandedQuery } from "./word-forms.ts";
import { checkVocabulary } from "./vocabulary-cache.ts";
import { cachedPageStatement, type SearchFacetRows, searchStatement } from "./search-statement.ts";

export interface SearchResult {
  readonly hits: readonly SearchHit[];
  /** Product summaries of the hits, in the same order as `hits`. */
  readonly summaries: readonly ProductSummaryRow[];
  readonly totalItems: number;
  readonly totalItemsRelation: "exact" | "at_least";
  readonly currency: string | null;
  /** Locale in which most matches are shown; the requested locale if nothing was found. */
  readonly localeResolved: string;
  readonly facets: readonly SearchFacet[];
  readonly query: {
    readonly normalized: string;
    readonly corrected: string | null;
    /** Words that the found products need not contain. */
    readonly dropped: readonly string[];
  };
  readonly indexedAt: Date;
}

export async function searchProducts(reader: Reader, input: SearchInput, now: Date): Promise<SearchResult> {
  const query = parseSearchQuery(input.q);
  const { normalized } = query;
  const run = await runSearch(reader, { input, query, now });
  if (query.words.length === 0 || run.result.totalItems > 0)
    return { ...run.result, query: { normalized, corrected: null, dropped: fillersOf(query) } };
  const repair = {
    reader,
    input,
    expand: (text: ParsedSearchQuery, options?: { readonly isJoined: boolean }) =>
      expandSearchQuery(reader, text, options),
  };
  const correction = await correctQuery({ ...run, ...repair });
  const again = correction && (await runSearch(reader, { input, query: correction.query, now }));
  const corrected = correction?.corrected ?? null;
  if (correction !== undefined && again !== undefined && again.result.totalItems > 0)
    return { ...again.result, query: { normalized, corrected, dropped: fillersOf(correction.query) } };
  const relaxed = await relaxQuery({ ...(again ?? run), ...repair });
  if (relaxed === undefined) return { ...run.result, query: { normalized, corrected: null, dropped: [] } };
  const { result } = await runSearch(reader, { input, query: relaxed.query, now });
  return { ...result, query: { normalized, corrected, dropped: relaxed.dropped } };
}

const fillersOf = ({ parts }: ParsedSearchQuery): string[] =>
  parts.filter(({ isFiller }) => isFiller).map(({ text }) => text);

interface SearchRun {
  readonly input: SearchInput;
  readonly query: ParsedSearchQuery;
  readonly now: Date;
  /** True if the search is repeated because stems or vocabulary had changed since they were cached. */
  readonly isAgain?: true;
}

interface FinishedSearch {
  readonly result: Omit<SearchResult, "query">;
  readonly expanded: ExpandedQuery;
  readonly form: SearchStatementForm;
  readonly values: SearchValues;
}

async function runSearch(reader: Reader, { input, query, now, isAgain }: SearchRun): Promise<FinishedSearch> {
  const expanded =
    query.words.length > 0
      ? await expandSearchQuery(reader, query)
      : { query, stems: new Map<string, ReadonlyMap<string, string>>(), forms: [] };
  const form = formOf(input, query);
  const values = searchValues(input, { expanded, now });
  const statement = {
    form: searchStatementFormKey(form),
    write: (): RawBuilder<unknown> => searchStatement(form),
    values,
    hasManyForms: true,
  };
  const search = (): Promise<Row> => runForSingleRow<Row>(reader, statement);
  const row = form.hasWords
    ? await search()
    : await browse(reader, { key: countsCacheKey(form, values), values, count: search });
  if (form.hasWords && isAgain === undefined && query.words.length > 0) {
    // Both checks run, because each clears its cache.
    const isCurrent = [
      checkStemCache(reader, row.usedLocales ?? []),
      checkVocabulary(reader, row.vocabularyVersion ?? ""),
    ].every(Boolean);
    if (!isCurrent) return runSearch(reader, { input, query, now, isAgain: true });
  }
  const result = {
    hits: row.hits.map((hit) => renderSearchHit(hit, expanded)),
    summaries: row.hits,
    totalItems: Math.min(row.total, searchMatchesMax),
    totalItemsRelation: row.total > searchMatchesMax ? ("at_least" as const) : ("exact" as const),
    currency: row.currency,
    localeResolved: row.locale ?? input.locale,
    facets: renderSearchFacets(row.facets, input.locale, row.currency),
    indexedAt: row.indexedAt ?? now,
  };
  return { result, expanded, form, values };
}

interface Browse {
  readonly key: string;
  readonly values: SearchValues;
  readonly count: () => Promise<Row>;
}

const countsCacheKey = (
  form: SearchStatementForm,
  { country, chain0, merchant, categoryKey }: SearchValues,
): string =>
  JSON.stringify([
    searchStatementFormKey(form),
    country,
    chain0,
    merchant ?? null,
    form.hasCategory ? categoryKey : null,
  ]);

async function browse(reader: Reader, { key, values, count }: Browse): Promise<Row> {
  const cache = countsCacheOf(reader);
  if (cache === undefined) return count();
  const readFromCache = async (): Promise<Row | undefined> => {
    const cached = await findCachedCounts(cache, key);
    return cached === undefined ? undefined : readCachedPage(reader, cached, values);
  };
  const page = await readFromCache();
  if (page !== undefined) return page;
  // If several callers find the cache outdated, the first one counts and the others wait for its result.
  const counted = cache.pending.has(key) ? await readFromCache() : undefined;
  return counted ?? cacheCounts(cache, key, count);
}

const toCachedCounts = ({
  total,
  currency,
  locale,
  facets,
  first = [],
  snapshot = "",
}: Row): CachedCounts => ({
  counted: { total, currency, locale, facets },
  first,
  snapshot,
});

/** Reads a page whose products are cached; undefined if the page is not cached or a product has changed. */
async function readCachedPage(
  reader: Reader,
  cached: CachedCounts,
  values: SearchValues,
): Promise<Row | undefined> {
  const { counted, first, snapshot } = cached;
  const end = Math.min(Number(values["offset"]) + Number(values["limit"]), counted.total);
  if (end > first.length) return undefined;
  const hits = JSON.stringify(first.slice(Number(values["offset"]), end));
  const page = await runForSingleRow<Pick<Row, "hits" | "indexedAt"> & { readonly isCurrent: boolean }>(
    reader,
    {
      form: "cached page",
      write: cachedPageStatement,
      values: { ...values, cachedHits: hits, snapshot },
    },
  );
  return page.isCurrent ? { ...counted, hits: page.hits, indexedAt: page.indexedAt } : undefined;
}

/**
 * Returns the form of a search. A query of punctuation only still counts as a search with words, and finds
 * nothing.
 */
function formOf(input: SearchInput, { code }: ParsedSearchQuery): SearchStatementForm {
  const { category, merchant, sort, filters, isExplained = false, hasAttributeFacets = false } = input;
  const isRelevanceOfAll = input.q.trim() === "" && sort === "relevance";
  return {
    hasWords: hasWords(input),
    hasCode: code !== null,
    hasCategory: category !== undefined,
    hasMerchant: merchant !== undefined,
    hasPrice: filters?.price !== undefined,
    hasAvailability: filters?.availabilities !== undefined,
    hasAttributeFacets: hasAttributeFacets && hasWords(input),
    isExplained: isExplained && input.q.trim() !== "",
    sort: isRelevanceOfAll ? "popularity" : sort,
  };
}

interface Row extends Counted {
  readonly hits: readonly SearchHitRow[];
  /** Locales of the indexed documents; present only if the search has words. */
  readonly usedLocales?: readonly (string | null)[] | null;
  readonly vocabularyVersion?: string;
  readonly indexedAt: Date | null;
  /** First products of the sort order; present only if the search has no words. */
  readonly first?: readonly CachedHit[];
  readonly snapshot?: string;
}

/*
 * Totals and facets of a search without words are the same for every caller, and expensive: 10 000 products
 * are counted for a page of 20. They are cached with the PostgreSQL snapshot in which they were counted. The
 * statement of each page checks whether any product has changed since that snapshot, so the counts are never
 * older than the page.
 */

interface CachedHit {
  readonly product_id: string;
  readonly locale: string;
}

/** Totals and facets of a search, which are the same on every page. */
interface Counted {
  readonly total: number;
  readonly currency: string | null;
  readonly locale: string | null;
  readonly facets: SearchFacetRows;
}

interface CachedCounts {
  readonly counted: Counted;
  /** First products of the search in its sort order, from which pages are served. */
  readonly first: readonly CachedHit[];
  readonly snapshot: string;
}

const cachedCountsMax = 500;

interface CountsCache {
  readonly entries: LRUCache<string, CachedCounts>;
  /** Running counts by cache key; callers with the same key wait for them. */
  readonly pending: Map<string, Promise<unknown>>;
}

const countsCaches = new WeakMap<Reader, CountsCache>();

/**
 * Returns the cache of a database connection; undefined inside a transaction, because a transaction sees
 * uncommitted changes.
 */
function countsCacheOf(reader: Reader): CountsCache | undefined {
  if (reader.isTransaction) return undefined;
  const existing = countsCaches.get(reader);
  if (existing !== undefined) return existing;
  const cache: CountsCache = { entries: new LRUCache({ max: cachedCountsMax }), pending: new Map() };
  countsCaches.set(reader, cache);
  return cache;
}

async function findCachedCounts(
  { entries, pending }: CountsCache,
  key: string,
): Promise<CachedCounts | undefined> {
  await pending.get(key)?.catch(() => undefined);
  return entries.get(key);
}

/** Counts the matches of a search and caches the result. */
async function cacheCounts(
  { entries, pending }: CountsCache,
  key: string,
  count: () => Promise<Row>,
): Promise<Row> {
  const counting = count();
  pending.set(key, counting);
  try {
    const row = await counting;
    entries.set(key, toCachedCounts(row));
    return row;
  } finally {
    if (pending.get(key) === counting) pending.delete(key);
  }
}
