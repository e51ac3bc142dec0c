/**
 * Reads the stems of words from PostgreSQL's dictionaries. Words are normalized and read one by one, so
 * PostgreSQL's text parser is not used. The stems of query words are cached, because the stem of a word never
 * changes. The set of indexed languages can change at any time; every search checks it, and clears the cache
 * after a change.
 */
import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import type { DatabaseOrTransaction } from "#database/transaction.ts";

/** PostgreSQL's name of the stemmer (the dictionary that finds stems), by language code. */
export const stemmerNames: Record<string, string> = {
  ar: "arabic",
  ca: "catalan",
  da: "danish",
  de: "german",
  el: "greek",
  en: "english",
  es: "spanish",
  eu: "basque",
  fi: "finnish",
  fr: "french",
  ga: "irish",
  hi: "hindi",
  hu: "hungarian",
  hy: "armenian",
  id: "indonesian",
  it: "italian",
  lt: "lithuanian",
  nb: "norwegian",
  ne: "nepali",
  nl: "dutch",
  nn: "norwegian",
  no: "norwegian",
  pt: "portuguese",
  ro: "romanian",
  ru: "russian",
  sr: "serbian",
  sv: "swedish",
  ta: "tamil",
  tr: "turkish",
  yi: "yiddish",
};

export const noStemmer = "simple";

export function getStemmerOfLocale(locale: string): string {
  return stemmerNames[locale.split("-", 1)[0] ?? ""] ?? noStemmer;
}

/**
 * The stems of words, as a map from stemmer to a map from word to stem. An empty stem means that the word is
 * a stop word of the language (for example "the", "und", "le").
 */
export type WordStemsByStemmer = ReadonlyMap<string, ReadonlyMap<string, string>>;

export async function loadWordStems(
  reader: DatabaseOrTransaction,
  wanted: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<WordStemsByStemmer> {
  const names = [...wanted]
    .filter(([stemmer, words]) => stemmer !== noStemmer && words.size > 0)
    .map(([stemmer]) => stemmer);
  if (names.length === 0) return new Map();
  const lists = JSON.stringify(
    Object.fromEntries(names.map((name) => [name, [...(wanted.get(name) ?? [])]])),
  );
  // The words of a language have no stems if the PostgreSQL server lacks the dictionary of the language.
  const { rows } = await sql<{ stemmer: string; words: string[]; stems: string[] }>`
    select l.key as stemmer, array_agg(w.word) as words, array_agg(coalesce((ts_lexize(d.oid::regdictionary,
    w.word))[1], '')) as stems
    from json_each(${lists}::json) as l join pg_ts_dict d
    on d.dictname = l.key || '_stem', json_array_elements_text(l.value) as w(word)
    group by l.key`.execute(reader);
  return new Map(
    rows.map(({ stemmer, words, stems }) => [
      stemmer,
      new Map(words.map((word, index) => [word, stems[index] ?? word])),
    ]),
  );
}

/**
 * Returns the stems of words in all indexed languages. The result has at least one entry; the entry `simple`
 * represents the languages without a stemmer.
 */
export async function loadWordStemsInIndexedLanguages(
  reader: DatabaseOrTransaction,
  words: ReadonlySet<string>,
): Promise<WordStemsByStemmer> {
  // The recursive query jumps from one locale to the next in the index, so it does not read the whole index.
  const { rows } = await sql<{ stemmer: string; stems: string[] | null }>`
    with recursive used(locale) as (
      (select locale from search_term order by locale limit 1)
      union all
      select (select t.locale from search_term t where t.locale > u.locale order by t.locale limit 1)
      from used u where u.locale is not null
    ), language as (
      select distinct coalesce(${JSON.stringify(stemmerNames)}::json ->> split_part(locale, '-', 1),
      ${noStemmer}) as stemmer from used where locale is not null
    )
    select l.stemmer, (select array_agg(coalesce((ts_lexize(d.oid::regdictionary, w.word))[1], '')
    order by w.place)
      from pg_ts_dict d, unnest(${[...words]}::text[]) with ordinality as w(word, place)
      where d.dictname = l.stemmer || '_stem') as stems
    from language l order by l.stemmer`.execute(reader);
  if (rows.length === 0) return new Map([[noStemmer, new Map()]]);
  return new Map(
    rows.map(({ stemmer, stems }) => [
      stemmer,
      new Map([...words].flatMap((word, index) => (stems === null ? [] : [[word, stems[index] ?? word]]))),
    ]),
  );
}

interface StemCache {
  /** Names of the stemmers of all indexed languages; empty if they have not been read from the database yet. */
  stemmers: readonly string[];
  /** Cached stems of words: a map from word to a map from stemmer to stem. */
  readonly words: LRUCache<string, ReadonlyMap<string, string>>;
}

const wordsMax = 20_000;
const stemCaches = new WeakMap<DatabaseOrTransaction, StemCache>();

function stemCacheOf(reader: DatabaseOrTransaction): StemCache {
  const cache = stemCaches.get(reader) ?? { stemmers: [], words: new LRUCache({ max: wordsMax }) };
  stemCaches.set(reader, cache);
  return cache;
}

export async function loadCachedOrStoredWordStems(
  reader: DatabaseOrTransaction,
  words: ReadonlySet<string>,
): Promise<WordStemsByStemmer> {
  const cache = stemCacheOf(reader);
  // Another search can change the cache while this search waits for the database. The result therefore
  // combines two sets of stems: those that were cached before the wait, and those that this search reads.
  const { stemmers, words: cachedWords } = cache;
  const found = new Map([...words].flatMap((word) => [[word, cachedWords.get(word)] as const]));
  const missing = new Set([...words].filter((word) => found.get(word) === undefined));
  if (missing.size === 0 && stemmers.length > 0) return byStemmer(stemmers, found);
  const read = await loadWordStemsInIndexedLanguages(reader, missing);
  const inUse = [...read.keys()];
  // The indexed languages may have changed in the meantime. The cache is then cleared, and all stems are read
  // again.
  if (stemmers.length > 0 && !areSame(stemmers, inUse)) {
    clearStemCache(cache);
    return loadCachedOrStoredWordStems(reader, words);
  }
  for (const word of missing) found.set(word, stemsIn(read, word));
  if (cache.stemmers.length === 0 || areSame(cache.stemmers, inUse)) {
    cache.stemmers = inUse;
    for (const word of missing) cache.words.set(word, stemsIn(read, word));
  }
  return byStemmer(inUse, found);
}

type Found = ReadonlyMap<string, ReadonlyMap<string, string> | undefined>;

const byStemmer = (stemmers: readonly string[], found: Found): WordStemsByStemmer =>
  new Map(stemmers.map((stemmer) => [stemmer, ofStemmer(stemmer, found)]));

function ofStemmer(stemmer: string, found: Found): ReadonlyMap<string, string> {
  const stems = new Map<string, string>();
  for (const [word, own] of found) {
    const stem = own?.get(stemmer);
    if (stem !== undefined) stems.set(word, stem);
  }
  return stems;
}

function stemsIn(read: WordStemsByStemmer, word: string): ReadonlyMap<string, string> {
  const stems = new Map<string, string>();
  for (const [stemmer, own] of read) {
    const stem = own.get(word);
    if (stem !== undefined) stems.set(stemmer, stem);
  }
  return stems;
}

/**
 * Returns true if the cached stems belong to the same languages as the search index contains now. Otherwise
 * clears the cache.
 */
export function clearStemCacheIfOutdated(
  reader: DatabaseOrTransaction,
  locales: readonly (string | null)[],
): boolean {
  const cache = stemCacheOf(reader);
  const stemmers = [
    ...new Set(locales.flatMap((locale) => (locale === null ? [] : [getStemmerOfLocale(locale)]))),
  ].toSorted();
  if (areSame(cache.stemmers, stemmers.length === 0 ? [noStemmer] : stemmers)) return true;
  clearStemCache(cache);
  return false;
}

function clearStemCache(cache: StemCache): void {
  cache.stemmers = [];
  cache.words.clear();
}

const areSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((stemmer, index) => stemmer === other[index]);
