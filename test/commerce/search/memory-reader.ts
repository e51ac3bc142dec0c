/**
 * Answers the statements with which a search counts documents and looks for similar words, from lists in
 * memory. Tests of the rules that correct and relax queries need no database with it.
 */
import type { CompiledQuery } from "kysely";
import { type ParsedSearchQuery, parseSearchQuery } from "#commerce/search/parse-query.ts";
import type { SearchContextForDocumentCounts } from "#commerce/search/query-counts.ts";
import type { ProductSearchInput, SearchStatementVariant } from "#commerce/search/search-form.ts";
import { computeTypoMatchKeysOfVocabularyWord } from "#commerce/search/typo-keys.ts";
import type { SearchVocabularyEntry } from "#commerce/search/vocabulary-cache.ts";
import {
  expandSearchQueryWithStemsAndVocabulary,
  type SearchQueryWithWordForms,
} from "#commerce/search/word-forms.ts";
import { createMemoryDatabase } from "#test/support/memory-database.ts";

export interface MemoryCatalogue {
  /** The usual spelling of each word of the vocabulary. */
  readonly vocabulary?: Readonly<Record<string, string | null>>;
  /** Returns the number of documents that a tsquery finds. */
  readonly count: (tsquery: string) => number;
}

export interface MemorySearch extends SearchContextForDocumentCounts {
  /** The tsqueries of each statement that was executed. */
  readonly statements: (readonly string[])[];
}

interface ListedWords {
  readonly words: string;
}

const form: SearchStatementVariant = {
  hasWords: true,
  hasCode: false,
  hasCategory: false,
  hasMerchant: false,
  hasPrice: false,
  hasAvailability: false,
  hasAttributeFacets: false,
  isExplained: false,
  hasCandidates: false,
  isLimited: false,
  sort: "relevance",
};

/** Creates a reader in memory, with the form of a search without filters. */
export function createMemorySearch(catalogue: MemoryCatalogue): MemorySearch {
  const statements: (readonly string[])[] = [];
  const execute = ({ sql, parameters }: CompiledQuery): readonly object[] => {
    const text = parameters.find((value) => typeof value === "string" && value.startsWith("[{"));
    const listed = JSON.parse(String(text)) as readonly unknown[];
    if (sql.includes("search_term")) {
      const searched = listed as readonly { readonly word: string; readonly keys: readonly number[] }[];
      statements.push(searched.map(({ word }) => word));
      return searched.flatMap(({ word, keys }) => findSimilarTerms(catalogue, word, new Set(keys)));
    }
    const queries = (listed as readonly ListedWords[]).map(({ words }) => words);
    statements.push(queries);
    const counted = queries.map((words) => ({ words, count: catalogue.count(words) }));
    return sql.includes("order by w.place limit 1")
      ? counted.filter(({ count }) => count > 0).slice(0, 1)
      : counted;
  };
  const reader = createMemoryDatabase(execute);
  return { reader, form, values: {}, isLarge: false, statements };
}

const findSimilarTerms = (
  { vocabulary = {} }: MemoryCatalogue,
  word: string,
  keys: ReadonlySet<number>,
): readonly object[] =>
  Object.entries(vocabulary).flatMap(([term, spelling]) =>
    computeTypoMatchKeysOfVocabularyWord(term, { isCompound: true }).some((key) => keys.has(key))
      ? [{ word, term, spelling }]
      : [],
  );

const unknownEntry: SearchVocabularyEntry = {
  isKnown: false,
  isPrefix: false,
  umlautForm: null,
  compounds: [],
  split: null,
  partlyKnownSplit: null,
  synonyms: [],
};

export interface KnownWords {
  readonly known?: readonly string[];
  /** The stop words of each stemmer. */
  readonly stopWords?: Readonly<Record<string, readonly string[]>>;
}

/** Adds the forms of words to a query, from lists of known words and stop words. */
export function expandFromLists(
  query: ParsedSearchQuery | string,
  { known = [], stopWords = {} }: KnownWords = {},
): SearchQueryWithWordForms {
  const parsed = typeof query === "string" ? parseSearchQuery(query) : query;
  return expandSearchQueryWithStemsAndVocabulary(parsed, {
    vocabulary: new Map(known.map((word) => [word, { ...unknownEntry, isKnown: true }])),
    stems: new Map(
      Object.entries(stopWords).map(([stemmer, words]) => [
        stemmer,
        new Map(words.map((word) => [word, ""])),
      ]),
    ),
  });
}

export const searchInGermany: ProductSearchInput = {
  q: "",
  locale: "en",
  market: "DE",
  sort: "relevance",
  page: 1,
  pageSize: 10,
};
