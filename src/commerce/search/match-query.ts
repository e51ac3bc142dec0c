/**
 * Translates a buyer's search text into a PostgreSQL tsquery. The tsquery contains only quoted words of
 * letters and digits, so the buyer's text can never act as an operator. A document matches by its words and
 * by the stems of its language. Words that match no document are corrected to the most similar indexed word.
 */
import { sql } from "kysely";
import type { Reader } from "#database/transaction.ts";
import type { StemsByStemmer } from "./stems.ts";
import {
  normalizeCode,
  splitDenseWord,
  splitWords,
  characterPairs,
  joinWords,
  trigramKey,
  type SearchWord,
} from "./tokens.ts";

export interface ParsedSearchQuery {
  readonly words: readonly SearchWord[];
  readonly normalized: string;
  /** The whole query in the form in which SKUs and GTINs are indexed; null if it is shorter than 3 characters. */
  readonly code: string | null;
}

/**
 * Field weights of the index: A for SKU and GTIN, B for title, C for brand, D for category names (column
 * `head`) or for summary and description (column `words`). An empty string searches all fields.
 */
export type FieldWeight = "A" | "B" | "C" | "D" | "";

const codeLengthMin = 3;
const joinedWordsMax = 4;

export function parseSearchQuery(q: string): ParsedSearchQuery {
  const words = splitWords(q);
  const code = normalizeCode(q);
  return {
    words,
    normalized: joinWords(words),
    code: code.length >= codeLengthMin && words.length > 0 ? code : null,
  };
}

/**
 * Returns the words whose stems are needed. A word is also looked up with its accents, because stop words are
 * listed with accents.
 */
export function queryWordsToStem({ words }: ParsedSearchQuery): Set<string> {
  return new Set(words.filter(({ isDense }) => !isDense).flatMap(({ text, raw }) => [text, raw]));
}

/**
 * Builds a tsquery for documents that contain every word; the last word may be a prefix. Documents that
 * contain all words joined into one (`t shirt` → `tshirt`, parts of a SKU) match too.
 */
export function matchAllWords(
  query: ParsedSearchQuery,
  stems: StemsByStemmer,
  weight: FieldWeight = "",
): string {
  if (query.words.length === 0) return matchNothing;
  const clauses = termsOf(query, stems).map((term) => {
    // A document need not contain words that are stop words in the document's language.
    const excused = term.isLast ? [] : term.stopIn.map((stemmer) => `'${languageLexeme(stemmer)}'`);
    return anyClause([...formsOf(term, weight), ...excused]);
  });
  const isJoinable = query.words.length > 1 && query.words.length <= joinedWordsMax && query.code !== null;
  const joined = isJoinable ? [lexeme(query.code, `*${weight}`)] : [];
  return [clauses.join(" & "), ...joined].join(" | ");
}

/** Builds a tsquery for documents that contain any of the words. */
export function matchAnyWord(
  query: ParsedSearchQuery,
  stems: StemsByStemmer,
  weight: FieldWeight = "",
): string {
  const clauses = termsOf(query, stems).map((term) => {
    const silent = term.isLast ? [] : term.stopIn.map((stemmer) => `!'${languageLexeme(stemmer)}'`);
    return [anyClause(formsOf(term, weight)), ...silent].join(" & ");
  });
  return clauses.length === 0 ? matchNothing : clauses.join(" | ");
}

/** Builds a tsquery of all forms of all words in all languages, used by `ts_rank` for scoring. */
export function matchAnyForm(query: ParsedSearchQuery, stems: StemsByStemmer): string {
  const terms = termsOf(query, stems).filter(({ isLast, stopIn }) => isLast || stopIn.length === 0);
  const stemmed = terms.flatMap((term) => term.stems.map(({ stem }) => lexeme(stem, "")));
  return terms.length === 0
    ? matchNothing
    : [...terms.map((term) => wordClause(term, "")), ...stemmed].join(" | ");
}

/** Builds a tsquery for a single word as typed, without stems. */
export function matchWord(word: SearchWord, isLast: boolean): string {
  return wordClause({ word, isLast }, "");
}

/** Matches no document; used if the query contains only punctuation. */
const matchNothing = "'~'";

// Lexemes that name a document's language, category or merchant. Words never contain their first character.
export const languageLexeme = (stemmer: string): string => `~${stemmer}`;
export const categoryLexeme = (slug: string): string => `#${slug}`;
export const merchantLexeme = (id: string): string => `@${id}`;

interface Term {
  readonly word: SearchWord;
  /** True for the last word of the query, which may be the beginning of a longer word. */
  readonly isLast: boolean;
  /** Stems of the query word, without those that equal the word itself. */
  readonly stems: readonly { readonly stemmer: string; readonly stem: string }[];
  /** Stemmers of the languages in which the query word is a stop word. */
  readonly stopIn: readonly string[];
}

function termsOf({ words }: ParsedSearchQuery, stems: StemsByStemmer): Term[] {
  const terms = new Map<string, Term>();
  for (const [index, word] of words.entries()) {
    const isLast = index === words.length - 1;
    const stemsByLanguage = word.isDense
      ? []
      : [...stems].map(([stemmer, own]) => ({
          stemmer,
          stem: own.get(word.text),
          rawStem: own.get(word.raw),
        }));
    const stopIn = stemsByLanguage
      .filter(({ stem, rawStem }) => stem === "" || rawStem === "")
      .map(({ stemmer }) => stemmer);
    const differing = stemsByLanguage.flatMap(({ stemmer, stem = "" }) =>
      stem === "" || stem === word.text ? [] : [{ stemmer, stem }],
    );
    terms.set(`${word.text}${isLast ? "*" : ""}`, { word, isLast, stems: differing, stopIn });
  }
  return [...terms.values()];
}

function formsOf(term: Term, weight: FieldWeight): string[] {
  const byStem = Map.groupBy(term.stems, ({ stem }) => stem);
  const stems = [...byStem].map(
    ([stem, own]) =>
      `(${lexeme(stem, weight)} & ${anyClause(own.map(({ stemmer }) => `'${languageLexeme(stemmer)}'`))})`,
  );
  return [wordClause(term, weight), ...stems];
}

function wordClause({ word, isLast }: Pick<Term, "word" | "isLast">, weight: FieldWeight): string {
  return word.isDense ? denseClause(word.text, weight) : lexeme(word.text, `${isLast ? "*" : ""}${weight}`);
}

const anyClause = (clauses: readonly string[]): string =>
  clauses.length === 1 ? clauses.join("") : `(${clauses.join(" | ")})`;

/**
 * Builds a clause of the character pairs of each segment. A single kana beside other segments is usually a
 * particle, which a product's text may lack, so it is left out.
 */
function denseClause(text: string, weight: FieldWeight): string {
  const segments = splitDenseWord(text);
  const significant = segments.filter((segment) => !kana.test(segment));
  const pairs = new Set((significant.length > 0 ? significant : segments).flatMap(characterPairs));
  const clauses = [...pairs].map((pair) => lexeme(pair, kana.test(pair) ? `*${weight}` : weight));
  return clauses.length === 1 ? clauses.join("") : `(${clauses.join(" & ")})`;
}

const kana = /^[\p{sc=Hira}\p{sc=Kana}]$/u;

function lexeme(text: string, suffix: string): string {
  const quoted = `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
  return suffix === "" ? quoted : `${quoted}:${suffix}`;
}

const similarityMin = 0.35;
const wordLengthMin = 3;
const candidatesMax = 5;

/** Returns the query with its unknown words corrected; undefined if no word can be corrected. */
export async function correctSearchQuery(
  reader: Reader,
  query: ParsedSearchQuery,
  chain: readonly string[],
): Promise<ParsedSearchQuery | undefined> {
  const unknownCandidates = query.words
    .map((word, place) => ({
      place,
      key: trigramKey(word.text),
      match: matchWord(word, place === query.words.length - 1),
      word,
    }))
    .filter(({ word }) => !word.isDense && word.text.length >= wordLengthMin);
  if (unknownCandidates.length === 0) return undefined;
  // The products of a term may have been removed, so at most five candidates are checked against the
  // documents.
  const { rows } = await sql<{ place: number; term: string }>`
    select w.place, c.term
    from json_to_recordset(${JSON.stringify(unknownCandidates.map(({ place, key, match }) => ({ place, key, match })))}::json) as w(place int, key text, match text)
    cross join lateral (
      select t.term from (
        select term, max(similarity(trigram_key, w.key)) as likeness, bool_or(locale = any(${chain}::text[]))
        as is_asked
        from search_term where trigram_key % w.key and similarity(trigram_key, w.key) >=
        ${similarityMin}::float8
        group by term order by 2 desc, 3 desc, 1 limit ${candidatesMax}::int) as t
      where exists (select from search_document d where d.words @@ quote_literal(t.term)::tsquery)
      order by t.likeness desc, t.is_asked desc, t.term limit 1) as c
    where not exists (select from search_document d where d.words @@ w.match::tsquery)`.execute(reader);
  if (rows.length === 0) return undefined;
  const terms = new Map(rows.map(({ place, term }) => [place, term]));
  return parseSearchQuery(query.words.map(({ raw }, place) => terms.get(place) ?? raw).join(" "));
}
