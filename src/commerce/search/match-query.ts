/**
 * What the buyer typed as PostgreSQL's tsquery. The text is made of folded words alone, letters and digits,
 * each quoted: nothing typed can be an operator. A document is matched by the words and stems of its own
 * language. Words that match no document are corrected to the most similar term of the vocabulary.
 */
import { sql } from "kysely";
import type { Reader } from "#database/transaction.ts";
import type { Stems } from "./stems.ts";
import { codeOf, cutDense, cutWords, pairsOf, phraseOf, trigramKey, type Word } from "./tokens.ts";

export interface ParsedQuery {
  readonly words: readonly Word[];
  readonly normalized: string;
  /** The whole query as a SKU or GTIN would be written; null when it is too short to be one. */
  readonly code: string | null;
}

/** D summary and description; the others as in search_document.head. */
export type Weight = "A" | "B" | "C" | "D" | "";

const codeLengthMin = 3;
const joinedWordsMax = 4;

export function parseQuery(q: string): ParsedQuery {
  const words = cutWords(q);
  const code = codeOf(q);
  return {
    words,
    normalized: phraseOf(words),
    code: code.length >= codeLengthMin && words.length > 0 ? code : null,
  };
}

/** The words whose stems are needed to write the query. A stop word is looked up with its accents as well. */
export function wordsToStem({ words }: ParsedQuery): Set<string> {
  return new Set(words.filter(({ isDense }) => !isDense).flatMap(({ text, raw }) => [text, raw]));
}

/**
 * Finds the documents that hold every word, the last one as a prefix; written together (`t shirt`, parts of a
 * SKU) they count as well.
 */
export function allWords(query: ParsedQuery, stems: Stems, weight: Weight = ""): string {
  if (query.words.length === 0) return nothing;
  const clauses = termsOf(query, stems).map((term) => {
    // What a language counts as no word, its documents need not hold.
    const excused = term.isLast ? [] : term.stopIn.map((stemmer) => `'${languageMark(stemmer)}'`);
    return either([...formsOf(term, weight), ...excused]);
  });
  const isJoinable = query.words.length > 1 && query.words.length <= joinedWordsMax && query.code !== null;
  const joined = isJoinable ? [lexeme(query.code, `*${weight}`)] : [];
  return [clauses.join(" & "), ...joined].join(" | ");
}

/** Finds the documents that hold any of the words. */
export function anyWord(query: ParsedQuery, stems: Stems, weight: Weight = ""): string {
  const clauses = termsOf(query, stems).map((term) => {
    const silent = term.isLast ? [] : term.stopIn.map((stemmer) => `!'${languageMark(stemmer)}'`);
    return [either(formsOf(term, weight)), ...silent].join(" & ");
  });
  return clauses.length === 0 ? nothing : clauses.join(" | ");
}

/** Any form of any word in any language, without the languages' marks: what ts_rank counts. */
export function everyForm(query: ParsedQuery, stems: Stems): string {
  const terms = termsOf(query, stems).filter(({ isLast, stopIn }) => isLast || stopIn.length === 0);
  const stemmed = terms.flatMap((term) => term.stems.map(({ stem }) => lexeme(stem, "")));
  return terms.length === 0 ? nothing : [...terms.map((term) => plain(term, "")), ...stemmed].join(" | ");
}

/** A single word as it was typed. */
export function oneWord(word: Word, isLast: boolean): string {
  return plain({ word, isLast }, "");
}

/** Only punctuation was typed: no document holds it. */
const nothing = "'~'";

// Lexemes that say what a document belongs to; no word contains their first character.
export const languageMark = (stemmer: string): string => `~${stemmer}`;
export const categoryMark = (slug: string): string => `#${slug}`;
export const merchantMark = (id: string): string => `@${id}`;

interface Term {
  readonly word: Word;
  /** The last one may be the beginning of another. */
  readonly isLast: boolean;
  /** Only the stems that differ from the word. */
  readonly stems: readonly { readonly stemmer: string; readonly stem: string }[];
  /** The languages that count it as no word. */
  readonly stopIn: readonly string[];
}

function termsOf({ words }: ParsedQuery, stems: Stems): Term[] {
  const terms = new Map<string, Term>();
  for (const [index, word] of words.entries()) {
    const isLast = index === words.length - 1;
    const known = word.isDense
      ? []
      : [...stems].map(([stemmer, own]) => ({
          stemmer,
          stem: own.get(word.text),
          rawStem: own.get(word.raw),
        }));
    const stopIn = known
      .filter(({ stem, rawStem }) => stem === "" || rawStem === "")
      .map(({ stemmer }) => stemmer);
    const differing = known.flatMap(({ stemmer, stem = "" }) =>
      stem === "" || stem === word.text ? [] : [{ stemmer, stem }],
    );
    terms.set(`${word.text}${isLast ? "*" : ""}`, { word, isLast, stems: differing, stopIn });
  }
  return [...terms.values()];
}

function formsOf(term: Term, weight: Weight): string[] {
  const byStem = Map.groupBy(term.stems, ({ stem }) => stem);
  const stems = [...byStem].map(
    ([stem, own]) =>
      `(${lexeme(stem, weight)} & ${either(own.map(({ stemmer }) => `'${languageMark(stemmer)}'`))})`,
  );
  return [plain(term, weight), ...stems];
}

function plain({ word, isLast }: Pick<Term, "word" | "isLast">, weight: Weight): string {
  return word.isDense ? denseClause(word.text, weight) : lexeme(word.text, `${isLast ? "*" : ""}${weight}`);
}

const either = (clauses: readonly string[]): string =>
  clauses.length === 1 ? clauses.join("") : `(${clauses.join(" | ")})`;

/**
 * The pairs of each of its segments. A single kana beside others is a particle, that a product's text may
 * lack.
 */
function denseClause(text: string, weight: Weight): string {
  const segments = cutDense(text);
  const telling = segments.filter((segment) => !kana.test(segment));
  const pairs = new Set((telling.length > 0 ? telling : segments).flatMap(pairsOf));
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

/**
 * The query with its unknown words corrected; undefined when there is nothing to correct, or nothing to
 * correct it to.
 */
export async function correctQuery(
  reader: Reader,
  query: ParsedQuery,
  chain: readonly string[],
): Promise<ParsedQuery | undefined> {
  const asked = query.words
    .map((word, place) => ({
      place,
      key: trigramKey(word.text),
      match: oneWord(word, place === query.words.length - 1),
      word,
    }))
    .filter(({ word }) => !word.isDense && word.text.length >= wordLengthMin);
  if (asked.length === 0) return undefined;
  // A term's products may all be gone, so it is tried on the documents; the first five are enough.
  const { rows } = await sql<{ place: number; term: string }>`
    select w.place, c.term
    from json_to_recordset(${JSON.stringify(asked.map(({ place, key, match }) => ({ place, key, match })))}::json) as w(place int, key text, match text)
    cross join lateral (
      select t.term from (
        select term, max(similarity(trigram_key, w.key)) as likeness, bool_or(locale = any(${chain}::text[])) as is_asked
        from search_term where trigram_key % w.key and similarity(trigram_key, w.key) >= ${similarityMin}::float8
        group by term order by 2 desc, 3 desc, 1 limit ${candidatesMax}::int) as t
      where exists (select from search_document d where d.words @@ quote_literal(t.term)::tsquery)
      order by t.likeness desc, t.is_asked desc, t.term limit 1) as c
    where not exists (select from search_document d where d.words @@ w.match::tsquery)`.execute(reader);
  if (rows.length === 0) return undefined;
  const terms = new Map(rows.map(({ place, term }) => [place, term]));
  return parseQuery(query.words.map(({ raw }, place) => terms.get(place) ?? raw).join(" "));
}
