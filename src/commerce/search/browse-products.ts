/**
 * Runs searches without words. Their totals and facet counts are the same for all callers, and are slow to
 * compute: up to 10 000 products are counted for a page of 20. The counts are therefore cached, together with
 * the PostgreSQL snapshot in which they were counted. The statement of each page checks whether a product has
 * changed since this snapshot, so the counts are never older than the page.
 */
import { LRUCache } from "lru-cache";
import { runStatementForSingleRow } from "#database/prepared-template.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import type { ProductSearchHitRow } from "./render-results.ts";
import {
  type SearchStatementVariant,
  getSearchStatementCacheKey,
  type SearchSqlParameterValues,
} from "./search-form.ts";
import { buildCachedSearchPageStatement, type SearchFacetRows } from "./search-statement.ts";

/** The single row that the SQL statement of a search returns: the found products, totals and facets. */
export interface SearchStatementResultRow extends Counted {
  readonly hits: readonly ProductSearchHitRow[];
  /** All locales in which products are indexed; present only if the search has words. */
  readonly usedLocales?: readonly (string | null)[] | null;
  readonly vocabularyVersion?: string;
  readonly documentCount?: number;
  readonly indexedAt: Date | null;
  /**
   * The first products of the search result, in sort order. They are cached, so that further pages can be
   * read from the cache. Present only if the search has no words.
   */
  readonly first?: readonly CachedHit[];
  readonly snapshot?: string;
}

interface CachedHit {
  readonly product_id: string;
  readonly locale: string;
}

/** The totals and facet counts of a search, which are the same on every page of its result. */
interface Counted {
  readonly total: number;
  readonly currency: string | null;
  readonly locale: string | null;
  readonly facets: SearchFacetRows;
}

interface CachedCounts {
  readonly counted: Counted;
  /** The first products of the search result, in sort order. Pages of the result are read from this list. */
  readonly first: readonly CachedHit[];
  readonly snapshot: string;
}

const cachedCountsMax = 500;

interface CountsCache {
  readonly entries: LRUCache<string, CachedCounts>;
  /**
   * Counts of searches that are being computed now, by cache key. A caller with the same key waits for the
   * result instead of counting again.
   */
  readonly pending: Map<string, Promise<unknown>>;
}

const countsCaches = new WeakMap<DatabaseOrTransaction, CountsCache>();

/**
 * Returns the cache of totals and facet counts that belongs to a database connection. Returns undefined
 * inside a transaction, because the transaction's uncommitted changes must not get into the cache.
 */
function countsCacheOf(reader: DatabaseOrTransaction): CountsCache | undefined {
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

/** Counts the products that a search without words finds, and caches the totals and facet counts. */
async function cacheCounts(
  { entries, pending }: CountsCache,
  key: string,
  count: () => Promise<SearchStatementResultRow>,
): Promise<SearchStatementResultRow> {
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

interface BrowseSearch {
  /** The cache key of the counts, which `getSearchResultCountsCacheKey` returns for the search. */
  readonly key: string;
  readonly values: SearchSqlParameterValues;
  readonly count: () => Promise<SearchStatementResultRow>;
}

export const getSearchResultCountsCacheKey = (
  form: SearchStatementVariant,
  { country, chain0, merchant, categoryKey }: SearchSqlParameterValues,
): string =>
  JSON.stringify([
    getSearchStatementCacheKey(form),
    country,
    chain0,
    merchant ?? null,
    form.hasCategory ? categoryKey : null,
  ]);

/**
 * Returns the result row of a search without words; reads it from the cache if the cached counts are still
 * current.
 */
export async function searchProductsWithEmptyQuery(
  reader: DatabaseOrTransaction,
  { key, values, count }: BrowseSearch,
): Promise<SearchStatementResultRow> {
  const cache = countsCacheOf(reader);
  if (cache === undefined) return count();
  const readFromCache = async (): Promise<SearchStatementResultRow | undefined> => {
    const cached = await findCachedCounts(cache, key);
    return cached === undefined ? undefined : readCachedPage(reader, cached, values);
  };
  const page = await readFromCache();
  if (page !== undefined) return page;
  // Several callers may find the cached counts outdated at the same time. The first caller then counts again,
  // and the other callers wait for the new counts.
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
}: SearchStatementResultRow): CachedCounts => ({
  counted: { total, currency, locale, facets },
  first,
  snapshot,
});

/**
 * Reads a page of a search result from the cached products; undefined if the page is not cached, or if a
 * product has changed since.
 */
async function readCachedPage(
  reader: DatabaseOrTransaction,
  cached: CachedCounts,
  values: SearchSqlParameterValues,
): Promise<SearchStatementResultRow | undefined> {
  const { counted, first, snapshot } = cached;
  const end = Math.min(Number(values["offset"]) + Number(values["limit"]), counted.total);
  if (end > first.length) return undefined;
  const hits = JSON.stringify(first.slice(Number(values["offset"]), end));
  const page = await runStatementForSingleRow<
    Pick<SearchStatementResultRow, "hits" | "indexedAt"> & { readonly isCurrent: boolean }
  >(reader, {
    form: "cached page",
    write: buildCachedSearchPageStatement,
    values: { ...values, cachedHits: hits, snapshot },
  });
  return page.isCurrent ? { ...counted, hits: page.hits, indexedAt: page.indexedAt } : undefined;
}
