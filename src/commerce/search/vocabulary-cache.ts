/**
 * Caches what the vocabulary says about words of queries. An entry is valid until the vocabulary or a list of
 * synonyms changes; every search with words reads the current version and clears the cache after a change.
 */
import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import type { DatabaseReader } from "#database/transaction.ts";

/** What the vocabulary says about a word or a phrase of a query. */
export interface WordEntry {
  readonly isKnown: boolean;
  /** True if a known word begins with this word. */
  readonly isPrefix: boolean;
  /** The word with folded umlauts, if the vocabulary has it: `kaffeemuehle` → `kaffeemuhle`. */
  readonly umlautForm: string | null;
  /** Known compounds that end with this word. */
  readonly compounds: readonly string[];
  /** Two known words that form this word; null if there are none. */
  readonly split: readonly [string, string] | null;
  /**
   * The beginning and the end of a compound of which at least one is a known word: `Wanderjacke` → `Wander`,
   * `Jacke`. Null if the word has no such parts.
   */
  readonly partlyKnownSplit: readonly [string, string] | null;
  readonly synonyms: readonly WordSynonym[];
}

export interface WordSynonym {
  readonly merchantId: string;
  readonly stemmer: string;
  /** Folded words, separated by spaces. */
  readonly phrase: string;
}

/** A word to which a misspelt word may be corrected. */
export interface TypoCandidate {
  /** The folded word. */
  readonly correct: string;
  /** The word in lower case with its accents. */
  readonly spelling: string;
  readonly distance: number;
}

interface VocabularyCache {
  /** The state of vocabulary and synonyms for which the entries are valid. */
  version: string;
  readonly entries: LRUCache<string, WordEntry>;
  readonly candidates: LRUCache<string, readonly TypoCandidate[]>;
}

const entriesMax = 20_000;
/** Entries are read again after this time, in case a change was committed out of order. */
const entryMs = 300_000;
const caches = new WeakMap<DatabaseReader, VocabularyCache>();

export function getVocabularyCache(reader: DatabaseReader): VocabularyCache {
  const cache = caches.get(reader) ?? {
    version: "",
    entries: new LRUCache<string, WordEntry>({ max: entriesMax, ttl: entryMs }),
    candidates: new LRUCache<string, readonly TypoCandidate[]>({ max: entriesMax, ttl: entryMs }),
  };
  caches.set(reader, cache);
  return cache;
}

/** The candidates of misspelt words, valid until the vocabulary changes. */
export const getTypoCandidatesCache = (reader: DatabaseReader): VocabularyCache["candidates"] =>
  getVocabularyCache(reader).candidates;

export function clearVocabularyCache(cache: VocabularyCache, version: string): void {
  cache.entries.clear();
  cache.candidates.clear();
  cache.version = version;
}

/** The version of vocabulary and synonyms, as part of a statement. */
export const vocabularyVersionSql = sql<string>`(select coalesce(max(id), 0) from search_term) || '/' ||
  (select coalesce(max(version), 0) from search_synonym_list)`;

/** Clears the cache if it is valid for another version; returns whether it was valid. */
export function clearVocabularyCacheIfOutdated(reader: DatabaseReader, version: string): boolean {
  const cache = getVocabularyCache(reader);
  if (cache.version === version) return true;
  clearVocabularyCache(cache, version);
  return false;
}
