/**
 * Searches products by words and filters, in a sort order. Finds only products that an active merchant offers
 * in the country. Each product is found once, in the requested locale or in its fallback locale. The totals
 * and facets of a search without words are cached until a product changes.
 */
import type { RawBuilder } from "kysely";
import type { ProductSummaryRow } from "#commerce/catalog/read-summaries.ts";
import { runStatementForSingleRow } from "#database/prepared-template.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import {
  searchProductsWithEmptyQuery,
  getSearchResultCountsCacheKey,
  type SearchStatementResultRow,
} from "./browse-products.ts";
import { expandSearchQuery } from "./expand-query.ts";
import { type ParsedSearchQuery, parseSearchQuery } from "./parse-query.ts";
import {
  isLargeSearchCatalog,
  cacheSearchDocumentCount,
  chooseSearchMatchStrategy,
} from "./limit-matches.ts";
import { correctSearchQuery, relaxSearchQuery } from "./repair-query.ts";
import { type SearchFacet, type RenderedSearchHit, toSearchFacets, toSearchHit } from "./render-results.ts";
import { clearStemCacheIfOutdated } from "./stems.ts";
import {
  doesSearchNeedFullTextIndex,
  getSearchStatementCacheKey,
  searchMatchesMax,
  type SearchStatementVariant,
  type ProductSearchInput,
  type SearchSqlParameterValues,
  getSearchSqlParameterValues,
} from "./search-form.ts";
import type { SearchQueryWithWordForms } from "./word-forms.ts";
import { clearSearchVocabularyCacheIfOutdated } from "./vocabulary-cache.ts";
import { buildSearchStatement } from "./search-statement.ts";

export interface ProductSearchResults {
  readonly hits: readonly RenderedSearchHit[];
  /** The summaries of the found products, in the order of `hits`. */
  readonly summaries: readonly ProductSummaryRow[];
  readonly totalItems: number;
  readonly totalItemsRelation: "exact" | "at_least";
  readonly currency: string | null;
  /** Locale in which most of the found products are shown; the requested locale if no product was found. */
  readonly localeResolved: string;
  readonly facets: readonly SearchFacet[];
  readonly query: {
    readonly normalized: string;
    readonly corrected: string | null;
    /** Words of the query that the search has left out, so that the found products need not contain them. */
    readonly dropped: readonly string[];
  };
  readonly indexedAt: Date;
}

export async function searchProducts(
  reader: DatabaseOrTransaction,
  input: ProductSearchInput,
  now: Date,
): Promise<ProductSearchResults> {
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
  const correction = await correctSearchQuery({ ...run, ...repair });
  const again = correction && (await runSearch(reader, { input, query: correction.query, now }));
  const corrected = correction?.corrected ?? null;
  if (correction !== undefined && again !== undefined && again.result.totalItems > 0)
    return { ...again.result, query: { normalized, corrected, dropped: fillersOf(correction.query) } };
  const relaxed = await relaxSearchQuery({ ...(again ?? run), ...repair });
  if (relaxed === undefined) return { ...run.result, query: { normalized, corrected: null, dropped: [] } };
  const { result } = await runSearch(reader, { input, query: relaxed.query, now });
  return { ...result, query: { normalized, corrected, dropped: relaxed.dropped } };
}

const fillersOf = ({ parts }: ParsedSearchQuery): string[] =>
  parts.filter(({ isFiller }) => isFiller).map(({ text }) => text);

interface SearchRun {
  readonly input: ProductSearchInput;
  readonly query: ParsedSearchQuery;
  readonly now: Date;
  /**
   * True for the second run of a search. A search runs again if its first run noticed that cached stems or
   * the cached vocabulary were outdated.
   */
  readonly isAgain?: true;
}

interface FinishedSearch {
  readonly result: Omit<ProductSearchResults, "query">;
  readonly expanded: SearchQueryWithWordForms;
  readonly form: SearchStatementVariant;
  readonly values: SearchSqlParameterValues;
  readonly isLarge: boolean;
}

async function runSearch(reader: DatabaseOrTransaction, run: SearchRun): Promise<FinishedSearch> {
  const { input, query, now, isAgain } = run;
  const expanded =
    query.words.length > 0
      ? await expandSearchQuery(reader, query)
      : { query, stems: new Map<string, ReadonlyMap<string, string>>(), forms: [] };
  const allValues = getSearchSqlParameterValues(input, { expanded, now });
  const wholeForm = formOf(input, query);
  const search = { input, expanded, form: wholeForm, values: allValues };
  const { values, hasCandidates, isLimited } = await chooseSearchMatchStrategy(reader, search);
  const form = { ...wholeForm, hasCandidates, isLimited };
  const row = await findMatches(reader, { form, values });
  if (row.documentCount !== undefined) cacheSearchDocumentCount(reader, row.documentCount);
  if (form.hasWords && isAgain === undefined && query.words.length > 0 && !isCacheCurrent(reader, row))
    return runSearch(reader, { ...run, isAgain: true });
  return {
    result: {
      hits: row.hits.map((hit) => toSearchHit(hit, expanded)),
      summaries: row.hits,
      totalItems: Math.min(row.total, searchMatchesMax),
      totalItemsRelation: isLimited || row.total > searchMatchesMax ? "at_least" : "exact",
      currency: row.currency,
      localeResolved: row.locale ?? input.locale,
      facets: toSearchFacets(row.facets, input.locale, row.currency),
      indexedAt: row.indexedAt ?? now,
    },
    expanded,
    form,
    values: allValues,
    isLarge: isLargeSearchCatalog(reader, input),
  };
}

/**
 * Returns true if both the cached stems and the cached vocabulary are up to date with the database. Both
 * checks always run, because each check also clears its cache if the cache is outdated.
 */
const isCacheCurrent = (
  reader: DatabaseOrTransaction,
  { usedLocales, vocabularyVersion }: SearchStatementResultRow,
): boolean =>
  [
    clearStemCacheIfOutdated(reader, usedLocales ?? []),
    clearSearchVocabularyCacheIfOutdated(reader, vocabularyVersion ?? ""),
  ].every(Boolean);

/**
 * Runs the SQL statement of the search. If the search has no words, the page may be read from the cache
 * instead.
 */
function findMatches(
  reader: DatabaseOrTransaction,
  { form, values }: Pick<FinishedSearch, "form" | "values">,
): Promise<SearchStatementResultRow> {
  const search = (): Promise<SearchStatementResultRow> =>
    runStatementForSingleRow<SearchStatementResultRow>(reader, {
      form: getSearchStatementCacheKey(form),
      write: (): RawBuilder<unknown> => buildSearchStatement(form),
      values,
      hasManyForms: true,
    });
  return form.hasWords
    ? search()
    : searchProductsWithEmptyQuery(reader, {
        key: getSearchResultCountsCacheKey(form, values),
        values,
        count: search,
      });
}

/**
 * Returns the properties of a search that determine its SQL text. A query that contains only punctuation
 * counts as a search with words and finds nothing.
 */
function formOf(input: ProductSearchInput, { code }: ParsedSearchQuery): SearchStatementVariant {
  const { category, merchant, sort, filters, isExplained = false, hasAttributeFacets = false } = input;
  const isRelevanceOfAll = input.q.trim() === "" && sort === "relevance";
  return {
    hasWords: doesSearchNeedFullTextIndex(input),
    hasCode: code !== null,
    hasCategory: category !== undefined,
    hasMerchant: merchant !== undefined,
    hasPrice: filters?.price !== undefined,
    hasAvailability: filters?.availabilities !== undefined,
    hasAttributeFacets: hasAttributeFacets && doesSearchNeedFullTextIndex(input),
    isExplained: isExplained && input.q.trim() !== "",
    hasCandidates: false,
    isLimited: false,
    sort: isRelevanceOfAll ? "popularity" : sort,
  };
}
