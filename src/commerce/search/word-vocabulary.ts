/**
 * Reads from the vocabulary (all indexed words) what is known about the words of a query. The vocabulary
 * shows whether a word is indexed, and which compounds end with the word (`Pfanne` → `Gusseisenpfanne`). It
 * also shows of which two indexed words a word consists (`Kaffeemühle` → `Kaffee`, `Mühle`), which words are
 * joined with their neighbor (`power bank` → `powerbank`), and which synonyms exist. The results are cached
 * until the vocabulary or the synonyms change.
 */
import { sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import {
  compoundLanguages,
  findCompoundWordSplits,
  getStemForCompoundComparison,
  isCompoundWordWithUnrelatedMeaning,
  getLanguagesOfStemmer,
} from "./compounds.ts";
import { getStemmerOfLocale, type WordStemsByStemmer } from "./stems.ts";
import {
  clearSearchVocabularyCache,
  getSearchVocabularyCache,
  vocabularyVersionSql,
  type SearchVocabularyEntry,
  type MerchantWordSynonym,
} from "./vocabulary-cache.ts";
import { isPreposition, replaceUmlautDigraphsByVowels } from "./word-lists.ts";

export type SearchVocabulary = ReadonlyMap<string, SearchVocabularyEntry>;

/** The words and phrases of a query to look up in the vocabulary, together with the stems of the words. */
export interface SearchVocabularyLookupInput {
  readonly words: readonly string[];
  /** Phrases of two or three neighboring words of the query, joined by spaces, which may have synonyms. */
  readonly phrases: readonly string[];
  readonly stems: WordStemsByStemmer;
}

export async function loadSearchVocabularyEntries(
  reader: DatabaseOrTransaction,
  query: SearchVocabularyLookupInput,
): Promise<SearchVocabulary> {
  const cache = getSearchVocabularyCache(reader);
  const found = new Map<string, SearchVocabularyEntry>();
  const isMissing = (text: string): boolean => {
    const entry = cache.entries.get(text);
    if (entry !== undefined) found.set(text, entry);
    return entry === undefined;
  };
  const missing = {
    words: [...new Set(query.words)].filter(isMissing),
    phrases: [...new Set(query.phrases)].filter(isMissing),
    stems: query.stems,
  };
  if (missing.words.length + missing.phrases.length === 0) return found;
  const { version, entries } = await loadEntries(reader, missing);
  if (cache.version !== version) {
    clearSearchVocabularyCache(cache, version);
    // If the cached entries belong to another version of the vocabulary than the entries that were just read,
    // all entries are read again. All returned entries then have the same version.
    if (found.size > 0) return loadSearchVocabularyEntries(reader, query);
  }
  for (const [text, entry] of entries) {
    cache.entries.set(text, entry);
    found.set(text, entry);
  }
  return found;
}

const compoundsMax = 50;
const restLengthMin = 3;
/**
 * SQL pattern for a vowel. The first part of a compound word must contain a vowel. Otherwise `Schmutz` (dirt)
 * would count as a compound that ends with `Mütze` (cap), whose stem is `mutz`.
 */
const vowel = "[aeiouy]";
const suffixLengthMin = 3;
/**
 * SQL for the highest Unicode character. A text followed by this character sorts after all words that begin
 * with the text.
 */
const afterAll = sql`chr(1114111)`;

interface VocabularyRow {
  readonly version: string;
  readonly known: readonly string[] | null;
  readonly prefixes: readonly string[] | null;
  readonly compounds: readonly { readonly word: string; readonly term: string }[] | null;
  readonly synonyms:
    | readonly (MerchantWordSynonym & { readonly text: string; readonly locale: string })[]
    | null;
}

interface Suffix {
  readonly word: string;
  /**
   * The searched word; for a word that spells umlauts as two letters, its form without umlauts (`kaffeemuhle`
   * for `kaffeemuehle`).
   */
  readonly form: string;
  readonly reversed: string;
  readonly languages: readonly string[];
  readonly isRestKnown: boolean;
}

async function loadEntries(
  reader: DatabaseOrTransaction,
  { words, phrases, stems }: SearchVocabularyLookupInput,
): Promise<{ version: string; entries: ReadonlyMap<string, SearchVocabularyEntry> }> {
  const umlautForms = new Map(words.map((word) => [word, replaceUmlautDigraphsByVowels(word)]));
  const splits = new Map(
    words.map((word) => [word, [word, umlautForms.get(word) ?? []].flat().flatMap(findCompoundWordSplits)]),
  );
  const candidates = [
    ...words,
    ...phrases.map((phrase) => phrase.replaceAll(" ", "")),
    ...[...splits.values()].flat(2),
    ...[...umlautForms.values()].filter((form) => form !== undefined),
  ];
  const keys = new Map(
    [...words, ...phrases].map((text) => [
      text,
      [...new Set([text, text.replaceAll(" ", ""), ...stemsOf(text, stems)])],
    ]),
  );
  const suffixes = JSON.stringify(
    words.flatMap((word) =>
      [word, umlautForms.get(word) ?? []].flat().flatMap((form) => suffixesOf({ word, form, stems })),
    ),
  );
  const { rows } = await sql<VocabularyRow>`
    select ${vocabularyVersionSql} as version,
      (select json_agg(distinct term) from search_term
        where term = any(${[...new Set(candidates)]}::text[])) as known,
      (select json_agg(w.word) from unnest(${words}::text[]) as w(word) where exists (select from search_term
        where term > w.word and term < w.word || ${afterAll})) as prefixes,
      (select json_agg(json_build_object('word', s.word, 'term', c.term))
        from json_to_recordset(${suffixes}::json) as s(word text, form text, reversed text,
          languages text[], "isRestKnown" boolean)
        cross join lateral (select distinct t.term from search_term t
          where t.reversed > s.reversed collate "C" and t.reversed < s.reversed || ${afterAll} collate "C"
            and length(t.reversed) >= length(s.reversed) + ${restLengthMin}::int
            and substr(t.reversed, length(s.reversed) + 1) ~ ${vowel}
            and split_part(t.locale, '-', 1) = any(s.languages)
            and (not s."isRestKnown" or exists (select from search_term r
              where r.term = left(t.term, length(t.term) - length(s.form))))
          order by t.term limit ${compoundsMax}::int) as c) as compounds,
      (select json_agg(json_build_object('text', y.phrase, 'merchantId', y.merchant_id, 'locale', y.locale,
        'phrase', y.synonym) order by y.merchant_id, y.locale, y.synonym)
        from search_synonym y where y.phrase = any(${[...keys.values()].flat()}::text[])) as
        synonyms`.execute(reader);
  const [row] = rows;
  if (row === undefined) throw new Error("The vocabulary returned no row.");
  return { version: row.version, entries: toEntries(row, { words, phrases, splits, umlautForms, keys }) };
}

interface WordToSuffix {
  readonly word: string;
  readonly form: string;
  readonly stems: WordStemsByStemmer;
}

function suffixesOf({ word, form, stems }: WordToSuffix): Suffix[] {
  return compoundLanguages.flatMap(({ stemmer, isRestKnown }) => {
    const stem = stems.get(stemmer)?.get(form);
    const own = stem === undefined || stem === "" ? "" : getStemForCompoundComparison(form, stemmer, stem);
    if (own.length < suffixLengthMin) return [];
    return [
      {
        word,
        form,
        reversed: reverseText(own),
        languages: getLanguagesOfStemmer(stemmer),
        isRestKnown,
      },
    ];
  });
}

function stemsOf(text: string, stems: WordStemsByStemmer): string[] {
  const words = text.split(" ");
  const stemmed = [...stems.values()].map((own) => words.map((word) => own.get(word) ?? word).join(" "));
  return [...new Set(stemmed)].filter((stem) => stem !== text);
}

/**
 * Chooses among several ways to split a compound word. A split whose end is a known word is best, because the
 * end names the kind of product. Among equally good splits, the split with the longest known part is chosen.
 */
function findPartlyKnown(
  splits: readonly (readonly [string, string])[],
  known: ReadonlySet<string>,
): readonly [string, string] | null {
  const knownLength = (text: string): number => (known.has(text) && !isPreposition(text) ? text.length : 0);
  const [best] = splits
    .filter(([first, last]) => last.length >= endLengthMin && knownLength(first) + knownLength(last) > 0)
    .toSorted(
      (one, other) =>
        knownLength(other[1]) - knownLength(one[1]) ||
        knownLength(other[0]) - knownLength(one[0]) ||
        one[1].length - other[1].length ||
        other[0].length - one[0].length,
    );
  return best ?? null;
}

const endLengthMin = 4;

/** Reverses a text, so that words with the same ending sort together. */
export const reverseText = (text: string): string => Array.from(text).toReversed().join("");

interface LookedUp {
  readonly words: readonly string[];
  readonly phrases: readonly string[];
  readonly splits: ReadonlyMap<string, readonly (readonly [string, string])[]>;
  readonly umlautForms: ReadonlyMap<string, string | undefined>;
  /** The texts by which synonyms are looked up, by word or phrase: the word or phrase itself, and its stems. */
  readonly keys: ReadonlyMap<string, readonly string[]>;
}

function toEntries(
  row: VocabularyRow,
  { words, phrases, splits, umlautForms, keys }: LookedUp,
): Map<string, SearchVocabularyEntry> {
  const known = new Set(row.known);
  const prefixes = new Set(row.prefixes);
  const compounds = Map.groupBy(row.compounds ?? [], ({ word }) => word);
  const synonyms = Map.groupBy(row.synonyms ?? [], ({ text }) => text);
  const entry = (text: string, isWord: boolean): SearchVocabularyEntry => {
    const umlautForm = umlautForms.get(text);
    return {
      isKnown: known.has(isWord ? text : text.replaceAll(" ", "")),
      isPrefix: prefixes.has(text),
      umlautForm: umlautForm !== undefined && known.has(umlautForm) ? umlautForm : null,
      compounds: [...new Set((compounds.get(text) ?? []).map(({ term }) => term))].filter(
        (term) => !isCompoundWordWithUnrelatedMeaning(term, text),
      ),
      split: splits.get(text)?.find((pair) => pair.every((part) => known.has(part))) ?? null,
      partlyKnownSplit: findPartlyKnown(splits.get(text) ?? [], known),
      synonyms: (keys.get(text) ?? [])
        .flatMap((key) => synonyms.get(key) ?? [])
        .map(({ merchantId, locale, phrase }) => ({
          merchantId,
          stemmer: getStemmerOfLocale(locale),
          phrase,
        })),
    };
  };
  return new Map([
    ...words.map((word) => [word, entry(word, true)] as const),
    ...phrases.map((phrase) => [phrase, entry(phrase, false)] as const),
  ]);
}
