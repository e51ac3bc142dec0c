/**
 * Finds the names that a mistyped text probably means, for error messages and for typo correction. The
 * distance of two words counts missing, additional and replaced letters, and adjacent letters in the wrong
 * order (optimal string alignment, the restricted Damerau–Levenshtein distance).
 */

/**
 * Maximum number of characters of a text for which similar names are searched. Comparing longer texts could
 * delay the error answer.
 */
const comparedLengthMax = 100;
const prefixLengthMin = 3;
/** One typo is tolerated per this number of letters, so a text of eight letters may have two typos. */
const lettersPerTypo = 4;

/**
 * Returns the candidates that are most similar to the text, at most `count`; an empty list if no candidate is
 * similar. Case, accents, punctuation and spaces are ignored. If the text has at least three letters, a
 * candidate that begins with the text is similar, too.
 */
export function findMostSimilarTexts(text: string, candidates: Iterable<string>, count = 3): string[] {
  if (text.length > comparedLengthMax) return [];
  const wanted = normalizeTextForTypoComparison(text);
  if (wanted === "") return [];
  const max = Math.max(1, Math.floor(wanted.length / lettersPerTypo));
  let best = max;
  let nearest: string[] = [];
  for (const candidate of candidates) {
    const compared = normalizeTextForTypoComparison(candidate);
    const typos = computeEditDistance(wanted, compared, best);
    const isBeginning = wanted.length >= prefixLengthMin && compared.startsWith(wanted);
    const distance = typos > best && isBeginning ? max : typos;
    if (distance > best) continue;
    if (distance < best) nearest = [];
    best = distance;
    nearest.push(candidate);
  }
  return nearest.slice(0, count);
}

/** Converts a text to its form for comparisons: letters and digits only, in lower case, without accents. */
export const normalizeTextForTypoComparison = (text: string): string =>
  text
    .normalize("NFKD")
    .replaceAll(/[^\p{L}\p{N}]/gu, "")
    .toLowerCase();

/**
 * Returns the number of typos by which two words differ. Stops counting above `max`, and then returns `max +
 * 1`.
 */
export function computeEditDistance(one: string, other: string, max: number): number {
  const [a, b] = [Array.from(one), Array.from(other)];
  if (Math.abs(a.length - b.length) > max) return max + 1;
  // The rows of the distance matrix: row n contains the distances of the first n letters of `a` to the
  // beginnings of `b`.
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row += 1) {
    const current = distanceRow({ a, b, row }, rows);
    if (Math.min(...current) > max) return max + 1;
    rows.push(current);
  }
  return Math.min(rows.at(-1)?.[b.length] ?? 0, max + 1);
}

interface ComparedWords {
  readonly a: readonly string[];
  readonly b: readonly string[];
  readonly row: number;
}

function distanceRow({ a, b, row }: ComparedWords, rows: readonly (readonly number[])[]): number[] {
  const last = rows[row - 1] ?? [];
  const current = [row];
  for (let column = 1; column <= b.length; column += 1) {
    const replaced = (last[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
    const inserted = Math.min(last[column] ?? 0, current[column - 1] ?? 0) + 1;
    const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
    const swapped = (isSwapped ? (rows[row - 2]?.[column - 2] ?? Infinity) : Infinity) + 1;
    current.push(Math.min(replaced, inserted, swapped));
  }
  return current;
}
