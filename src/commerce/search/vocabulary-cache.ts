/**
 * Caches the entries of the vocabulary (all indexed words) for words of queries. A cached entry is valid
 * until the vocabulary or a list of synonyms changes. Every search with words reads the current version of
 * both, and clears the cache if the version has changed.
 */
import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import type { DatabaseOrTransaction } from "#database/transaction.ts";

/** The information that the vocabulary contains about one word or phrase of a query. */
export interface SearchVocabularyEntry {
  readonly isKnown: boolean;
  /** True if the vocabulary contains a longer word that begins with this word. */
  readonly isPrefix: boolean;
  /**
   * The form without umlauts of a word that spells umlauts as two letters (`kaffeemuehle` → `kaffeemuhle`).
   * Null if the vocabulary does not contain this form.
   */
  readonly umlautForm: string | null;
  /** Compound words of the vocabulary that end with this word. */
  readonly compounds: readonly string[];
  /** Two words of the vocabulary that form this word when they are joined; null if there are none. */
  readonly split: readonly [string, string] | null;
  /**
   * The two parts of a compound word, of which at least one is a known word: `Wanderjacke` → `Wander`,
   * `Jacke`. Null if the word has no such parts.
   */
  readonly partlyKnownSplit: readonly [string, string] | null;
  readonly synonyms: readonly MerchantWordSynonym[];
}

export interface MerchantWordSynonym {
  readonly merchantId: string;
  readonly stemmer: string;
  /** The synonym: words without case and accents, separated by spaces. */
  readonly phrase: string;
}

/** A vocabulary word to which a misspelt word can be corrected. */
export interface TypoCorrectionCandidate {
  /** The corrected word, without case and accents. */
  readonly correct: string;
  /** The corrected word in lower case with its accents. */
  readonly spelling: string;
  readonly distance: number;
}

interface VocabularyCache {
  /** The version of the vocabulary and the synonyms for which the cached entries are valid. */
  version: string;
  readonly entries: LRUCache<string, SearchVocabularyEntry>;
  readonly candidates: LRUCache<string, readonly TypoCorrectionCandidate[]>;
}

const entriesMax = 20_000;
/**
 * Maximum age of a cached entry, in milliseconds. If transactions commit in another order than that of their
 * version numbers, the cache can miss a change. The entry is then wrong for at most this time.
 */
const entryMs = 300_000;
const caches = new WeakMap<DatabaseOrTransaction, VocabularyCache>();

export function getSearchVocabularyCache(reader: DatabaseOrTransaction): VocabularyCache {
  const cache = caches.get(reader) ?? {
    version: "",
    entries: new LRUCache<string, SearchVocabularyEntry>({ max: entriesMax, ttl: entryMs }),
    candidates: new LRUCache<string, readonly TypoCorrectionCandidate[]>({ max: entriesMax, ttl: entryMs }),
  };
  caches.set(reader, cache);
  return cache;
}

/** Returns the cached corrections of misspelt words, which are valid until the vocabulary changes. */
export const getTypoCorrectionCandidatesCache = (
  reader: DatabaseOrTransaction,
): VocabularyCache["candidates"] => getSearchVocabularyCache(reader).candidates;

export function clearSearchVocabularyCache(cache: VocabularyCache, version: string): void {
  cache.entries.clear();
  cache.candidates.clear();
  cache.version = version;
}

/** SQL expression for the current version of the vocabulary and the synonyms, to be used in other statements. */
export const vocabularyVersionSql = sql<string>`(select coalesce(max(id), 0) from search_term) || '/' ||
  (select coalesce(max(version), 0) from search_synonym_list)`;

/**
 * Clears the cache if its entries belong to another version of the vocabulary. Returns true if the cache was
 * current.
 */
export function clearSearchVocabularyCacheIfOutdated(
  reader: DatabaseOrTransaction,
  version: string,
): boolean {
  const cache = getSearchVocabularyCache(reader);
  if (cache.version === version) return true;
  clearSearchVocabularyCache(cache, version);
  return false;
}
