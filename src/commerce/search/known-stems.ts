/**
 * The stems of words that were searched for before: they never change, so PostgreSQL is asked for each once. Which languages there are documents in
 * may change at any time; each search says so by itself, and forgets what was known when it did.
 */
import { LRUCache } from "lru-cache";
import type { Reader } from "#database/transaction.ts";
import { type Stems, stemmerOf, unstemmed } from "./stems.ts";
import { readStemsInUse } from "./stems-in-use.ts";

interface Known {
  /** The stemmers of the languages in use; none: not known yet. */
  stemmers: readonly string[];
  /** Word → stemmer → its stem. */
  readonly words: LRUCache<string, ReadonlyMap<string, string>>;
}

const wordsMax = 20_000;
const knownBy = new WeakMap<Reader, Known>();

function knownOf(reader: Reader): Known {
  const known = knownBy.get(reader) ?? { stemmers: [], words: new LRUCache({ max: wordsMax }) };
  knownBy.set(reader, known);
  return known;
}

export async function stemsOf(reader: Reader, words: ReadonlySet<string>): Promise<Stems> {
  const known = knownOf(reader);
  // Somebody else may learn or forget while this waits: what comes out is of one look at what is known, and of what was read for it.
  const { stemmers, words: kept } = known;
  const found = new Map([...words].flatMap((word) => [[word, kept.get(word)] as const]));
  const missing = new Set([...words].filter((word) => found.get(word) === undefined));
  if (missing.size === 0 && stemmers.length > 0) return byStemmer(stemmers, found);
  const read = await readStemsInUse(reader, missing);
  const inUse = [...read.keys()];
  // Another language is in use by now: what was known is of no use then, and all is in one more statement.
  if (stemmers.length > 0 && !areSame(stemmers, inUse)) {
    forget(known);
    return stemsOf(reader, words);
  }
  for (const word of missing) found.set(word, stemsIn(read, word));
  if (known.stemmers.length === 0 || areSame(known.stemmers, inUse)) {
    known.stemmers = inUse;
    for (const word of missing) known.words.set(word, stemsIn(read, word));
  }
  return byStemmer(inUse, found);
}

type Found = ReadonlyMap<string, ReadonlyMap<string, string> | undefined>;

const byStemmer = (stemmers: readonly string[], found: Found): Stems => new Map(stemmers.map((stemmer) => [stemmer, ofStemmer(stemmer, found)]));

function ofStemmer(stemmer: string, found: Found): ReadonlyMap<string, string> {
  const stems = new Map<string, string>();
  for (const [word, own] of found) {
    const stem = own?.get(stemmer);
    if (stem !== undefined) stems.set(word, stem);
  }
  return stems;
}

function stemsIn(read: Stems, word: string): ReadonlyMap<string, string> {
  const stems = new Map<string, string>();
  for (const [stemmer, own] of read) {
    const stem = own.get(word);
    if (stem !== undefined) stems.set(stemmer, stem);
  }
  return stems;
}

/** Whether what is known fits the locales that there are documents in; what does not is forgotten. */
export function areStemsCurrent(reader: Reader, locales: readonly (string | null)[]): boolean {
  const known = knownOf(reader);
  const stemmers = [...new Set(locales.flatMap((locale) => (locale === null ? [] : [stemmerOf(locale)])))].toSorted();
  if (areSame(known.stemmers, stemmers.length === 0 ? [unstemmed] : stemmers)) return true;
  forget(known);
  return false;
}

function forget(known: Known): void {
  known.stemmers = [];
  known.words.clear();
}

const areSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((stemmer, index) => stemmer === other[index]);
