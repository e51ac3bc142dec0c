/** Marks in a title what the query found in it. The title is cut the same way as for the index, so that word n here is word n there. */
import { escapeHtml } from "#foundation/text.ts";
import type { ParsedQuery } from "./match-query.ts";
import type { Stems } from "./stems.ts";
import { cutDense, cutWords, fold, type Word } from "./tokens.ts";

export interface HighlightedTitle {
  readonly title: string;
  readonly stemmer: string;
  /** The stem of each of its words; null where the language has no stemmer. */
  readonly titleStems: readonly (string | null)[] | null;
}

/** The title as HTML with `<mark>`, or null when no word of it matched. */
export function highlightTitle({ title, stemmer, titleStems }: HighlightedTitle, query: ParsedQuery, stems: Stems): string | null {
  const known = stems.get(stemmer);
  const stemsAsked = new Set(query.words.map(({ text }) => known?.get(text)).filter((stem) => stem !== undefined && stem !== ""));
  const marked = cutWords(title).flatMap((word, index) =>
    word.isDense ? markDense(title, word, query) : isAsked(word, query) || stemsAsked.has(titleStems?.[index] ?? "") ? [word] : [],
  );
  return marked.length === 0 ? null : write(title, marked);
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function isAsked(word: Word, { words, code }: ParsedQuery): boolean {
  const isPrefix = words.at(-1)?.isDense === false && word.text.startsWith(words.at(-1)?.text ?? word.text);
  return isPrefix || words.some(({ text }) => text === word.text) || (words.length > 1 && code !== null && word.text.startsWith(code));
}

const clusters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Where the segments of the query's dense words stand in it. Folding may change the length, so it is followed cluster by cluster. */
function markDense(title: string, { start, end }: Word, query: ParsedQuery): Range[] {
  const parts = [...clusters.segment(title.slice(start, end))].map(({ segment, index }) => ({
    text: fold(segment),
    start: start + index,
    end: start + index + segment.length,
  }));
  const places = parts.flatMap(({ text }, index) => Array.from({ length: text.length }, () => index));
  const folded = parts.map(({ text }) => text).join("");
  const dense = query.words.filter(({ isDense }) => isDense).map(({ text }) => text);
  const asked = new Set([...dense, ...dense.flatMap(cutDense)]);
  const hits = new Set<number>();
  for (const text of asked) {
    for (let at = folded.indexOf(text); at >= 0; at = folded.indexOf(text, at + 1)) {
      for (const place of places.slice(at, at + text.length)) hits.add(place);
    }
  }
  return parts.filter((_, index) => hits.has(index));
}

function write(title: string, ranges: readonly Range[]): string {
  let html = "";
  let at = 0;
  for (const [index, { start, end }] of ranges.entries()) {
    const isContinued = ranges[index + 1]?.start === end;
    const isContinuing = index > 0 && ranges[index - 1]?.end === start;
    html += `${escapeHtml(title.slice(at, start))}${isContinuing ? "" : "<mark>"}${escapeHtml(title.slice(start, end))}${isContinued ? "" : "</mark>"}`;
    at = end;
  }
  return html + escapeHtml(title.slice(at));
}
