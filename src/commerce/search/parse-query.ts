/**
 * Splits a buyer's search text into words and parts. A part is a word, a quantity (`0.5 l`), or several words
 * that the vocabulary has as one word (`power bank`). A found product must contain every part, except fillers
 * like `best`.
 */
import { findPricesInText, findQuantitiesInText } from "./quantities.ts";
import {
  isSingleKanaCharacter,
  joinSearchWords,
  normalizeSkuOrGtin,
  type SearchWord,
  segmentSpacelessText,
  splitTextIntoSearchWords,
} from "./tokens.ts";
import { isSearchFillerWord } from "./word-lists.ts";

export interface ParsedSearchQuery {
  readonly words: readonly SearchWord[];
  readonly parts: readonly SearchQueryPart[];
  readonly normalized: string;
  /**
   * The whole search text in the form in which SKUs and GTINs are indexed (only letters and digits); null if
   * it has fewer than 3 characters.
   */
  readonly code: string | null;
}

export interface SearchQueryPart {
  /** The words of this part of the query, separated by spaces. */
  readonly text: string;
  readonly words: readonly SearchWord[];
  /**
   * True for the last part of the query. Its last word also matches longer words, because the buyer may still
   * be typing.
   */
  readonly isLast: boolean;
  /** The searchable form of a quantity, for example `500ml`; undefined if the part is no quantity. */
  readonly quantity?: string | undefined;
  /** True if this part of the query is a filler, which describes no product, for example `best`. */
  readonly isFiller: boolean;
}

const codeLengthMin = 3;

export function parseSearchQuery(q: string): ParsedSearchQuery {
  const words = splitTextIntoSearchWords(q);
  const code = normalizeSkuOrGtin(q);
  return {
    words,
    parts: findParts(q, words),
    normalized: joinSearchWords(words),
    code: code.length >= codeLengthMin && words.length > 0 ? code : null,
  };
}

interface WordSpan {
  readonly words: readonly SearchWord[];
  readonly quantity?: string;
  readonly isFiller?: boolean;
}

function findParts(q: string, words: readonly SearchWord[]): SearchQueryPart[] {
  const within = ({ start, end }: { readonly start: number; readonly end: number }): SearchWord[] =>
    words.filter((word) => word.start >= start && word.end <= end);
  // A price in the search text, for example `under 400 euro`, counts as a filler, so products need not
  // contain its words. Callers who want to filter by price must use the price parameter.
  const prices = findPricesInText(q).map((price) => ({ words: within(price), isFiller: true }));
  const quantities = findQuantitiesInText(q).map((found) => ({
    words: within(found),
    quantity: found.lexeme,
  }));
  const several: readonly WordSpan[] = [...prices, ...quantities];
  const spans = words.flatMap((word): readonly WordSpan[] => {
    const span = several.find((found) => found.words.includes(word));
    if (span === undefined) return [{ words: [word], isFiller: isSearchFillerWord(word.text) }];
    return span.words[0] === word ? [span] : [];
  });
  const isOnlyFiller = spans.every((span) => span.isFiller === true);
  return spans.map((span, index) => ({
    words: span.words,
    text: joinSearchWords(span.words),
    isLast: index === spans.length - 1,
    quantity: span.quantity,
    isFiller: !isOnlyFiller && span.isFiller === true,
  }));
}

/**
 * Joins neighboring parts of the query (for example `power` and `bank`) to one part if `isJoined` returns
 * true for their texts. Parts of several words, fillers and quantities are not joined.
 */
export function joinNeighboringSearchQueryParts(
  query: ParsedSearchQuery,
  isJoined: (texts: readonly string[]) => boolean,
): ParsedSearchQuery {
  const parts: SearchQueryPart[] = [];
  for (let index = 0; index < query.parts.length;) {
    const length = [3, 2].find((count) => {
      const run = query.parts.slice(index, index + count);
      return run.length === count && run.every(isJoinable) && isJoined(run.map(({ text }) => text));
    });
    const run = query.parts.slice(index, index + (length ?? 1));
    const words = run.flatMap((part) => part.words);
    const [first] = run;
    if (first !== undefined)
      parts.push(
        run.length === 1
          ? first
          : { text: joinSearchWords(words), words, isLast: run.at(-1)?.isLast === true, isFiller: false },
      );
    index += run.length;
  }
  return { ...query, parts };
}

const isJoinable = ({ words, quantity, isFiller: isFillerPart }: SearchQueryPart): boolean =>
  quantity === undefined && !isFillerPart && words.length === 1 && words[0]?.isDense === false;

/**
 * Returns all sequences of two or three neighboring words of the query, for example `power bank`, because the
 * vocabulary may contain them as one word.
 */
export function listTwoAndThreeWordPhrases({ parts }: ParsedSearchQuery): string[] {
  return [2, 3].flatMap((count) =>
    parts.flatMap((_, index) => {
      const run = parts.slice(index, index + count);
      return run.length === count && run.every(isJoinable) ? [run.map(({ text }) => text).join(" ")] : [];
    }),
  );
}

/**
 * Splits texts without spaces in a query (as in Japanese) into segments by dictionary, so that the search can
 * leave out some segments: `冬用の手袋` → `冬用`, `手袋`. Segments of a single kana are removed, because they are
 * usually particles.
 */
export function segmentSpacelessSearchQueryParts(query: ParsedSearchQuery): ParsedSearchQuery {
  const parts = query.parts.flatMap((part): readonly SearchQueryPart[] => {
    const [word] = part.words;
    if (word?.isDense !== true || part.words.length > 1) return [part];
    const segments = segmentSpacelessText(word.text).filter((segment) => !isSingleKanaCharacter(segment));
    return segments.length < 2
      ? [part]
      : segments.map((text) => ({
          text,
          words: [{ ...word, text, raw: text }],
          isLast: part.isLast,
          isFiller: false,
        }));
  });
  return { ...query, parts, words: parts.flatMap(({ words }) => words) };
}

/**
 * Returns the query with each given compound word replaced by the two words of which it consists, for example
 * `Wander` and `Jacke` for `Wanderjacke`.
 */
export function splitCompoundWordsOfSearchQuery(
  query: ParsedSearchQuery,
  splits: ReadonlyMap<SearchQueryPart, readonly [string, string]>,
): ParsedSearchQuery {
  const parts = query.parts.flatMap((part): readonly SearchQueryPart[] => {
    const [word] = part.words;
    const split = splits.get(part);
    if (split === undefined || word === undefined) return [part];
    return split.map((text, index) => ({
      text,
      words: [{ ...word, text, raw: text }],
      isLast: part.isLast && index === 1,
      isFiller: false,
    }));
  });
  return { ...query, parts, words: parts.flatMap(({ words }) => words) };
}

/** Returns the query without the given parts, for example without words that no product contains. */
export function removeSearchQueryParts(
  query: ParsedSearchQuery,
  dropped: ReadonlySet<SearchQueryPart>,
): ParsedSearchQuery {
  const parts = query.parts.filter((part) => !dropped.has(part));
  return { ...query, parts, words: parts.flatMap(({ words }) => words), code: null };
}
