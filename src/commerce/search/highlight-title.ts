/**
 * Marks the words in a product's title that match a search: the words of the query, their stems, compounds
 * and synonyms, and quantities in any spelling. All functions are pure.
 */
import { escapeHtml } from "#foundation/text.ts";
import { findQuantitiesInText } from "./quantities.ts";
import {
  removeCaseAndAccents,
  type SearchWord,
  segmentSpacelessText,
  splitTextIntoSearchWords,
} from "./tokens.ts";
import type { SearchQueryWithWordForms, SearchLexeme } from "./word-forms.ts";

/**
 * The title of a product, with the stem of each of its words. The search index and this file split a title
 * into words by the same rules, so the stem at index n belongs to the word at index n.
 */
export interface TitleWithWordStems {
  readonly title: string;
  readonly stemmer: string;
  /** Stem of each word of the title; null if the language of the title has no stemmer. */
  readonly titleStems: readonly (string | null)[] | null;
}

/** A range of characters in the title; the end is exclusive. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the title as HTML with each matching word in a `<mark>` element; null if no word of the title
 * matches the query.
 */
export function highlightTitle(
  { title, stemmer, titleStems }: TitleWithWordStems,
  { query, forms }: SearchQueryWithWordForms,
): string | null {
  const words = splitTextIntoSearchWords(title);
  const places = placesOf(title, words, titleStems);
  const find = ({ text, isPrefix = false }: SearchLexeme): readonly Range[] =>
    isPrefix ? words.filter((word) => word.text.startsWith(text)) : (places.get(text) ?? []);
  const code: SearchLexeme[] =
    query.words.length > 1 && query.code !== null ? [{ text: query.code, isPrefix: true }] : [];
  const found = forms
    .flatMap(({ exact, loose, weak }) => [...exact, ...loose, ...weak])
    .filter(({ stemmers }) => stemmers === undefined || stemmers.includes(stemmer))
    .map(({ lexemes }) => lexemes.map(find))
    .filter((ranges) => ranges.every(({ length }) => length > 0))
    .flat(2);
  const dense = query.words.filter(({ isDense }) => isDense).map(({ text }) => text);
  const ranges = [
    ...found,
    ...code.flatMap(find),
    ...words.flatMap((word) => (word.isDense ? markDense(title, word, dense) : [])),
  ];
  return ranges.length === 0 ? null : markRanges(title, mergeRanges(ranges));
}

const joinedWordsMax = 3;

/**
 * Returns where each searchable word form (lexeme) occurs in the title: the words, their stems, quantities,
 * and neighboring words that are joined (`power bank` as `powerbank`).
 */
function placesOf(
  title: string,
  words: readonly SearchWord[],
  stems: TitleWithWordStems["titleStems"],
): ReadonlyMap<string, readonly Range[]> {
  const places = new Map<string, Range[]>();
  const add = (text: string, range: Range): void => {
    const known = places.get(text);
    if (known === undefined) places.set(text, [range]);
    else known.push(range);
  };
  for (const { lexeme, start, end } of findQuantitiesInText(title)) add(lexeme, { start, end });
  for (const [index, word] of words.entries()) {
    const stem = stems?.[index] ?? word.text;
    add(word.text, word);
    if (stem !== word.text) add(stem, word);
    let joined = word.text;
    for (const { text, end } of words.slice(index + 1, index + joinedWordsMax)) {
      joined += text;
      add(joined, { start: word.start, end });
    }
  }
  return places;
}

const clusters = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * For a word in a script without spaces (for example Chinese), returns the ranges that match parts of the
 * query in such a script. Positions are counted in grapheme clusters (visible characters), because the
 * removal of case and accents may change the length of a text.
 */
function markDense(title: string, { start, end }: SearchWord, dense: readonly string[]): Range[] {
  const parts = [...clusters.segment(title.slice(start, end))].map(({ segment, index }) => ({
    text: removeCaseAndAccents(segment),
    start: start + index,
    end: start + index + segment.length,
  }));
  const places = parts.flatMap(({ text }, index) => Array.from({ length: text.length }, () => index));
  const folded = parts.map(({ text }) => text).join("");
  const searchTexts = new Set([...dense, ...dense.flatMap(segmentSpacelessText)]);
  const hits = new Set<number>();
  for (const text of searchTexts) {
    for (let at = folded.indexOf(text); at >= 0; at = folded.indexOf(text, at + 1)) {
      for (const place of places.slice(at, at + text.length)) hits.add(place);
    }
  }
  return parts.filter((_, index) => hits.has(index));
}

/** Sorts the ranges to highlight, and joins ranges that touch or overlap. */
function mergeRanges(ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const range of ranges.toSorted((one, other) => one.start - other.start)) {
    const last = merged.at(-1);
    if (last !== undefined && range.start <= last.end)
      merged.splice(-1, 1, { start: last.start, end: Math.max(last.end, range.end) });
    else merged.push(range);
  }
  return merged;
}

function markRanges(title: string, ranges: readonly Range[]): string {
  let html = "";
  let at = 0;
  for (const { start, end } of ranges) {
    html += `${escapeHtml(title.slice(at, start))}<mark>${escapeHtml(title.slice(start, end))}</mark>`;
    at = end;
  }
  return html + escapeHtml(title.slice(at));
}
