/**
 * Compares words for typo correction. The distance counts missing, additional and replaced letters, and
 * adjacent letters in the wrong order (optimal string alignment, the restricted Damerau–Levenshtein
 * distance). Candidates are found by keys that words within this distance share: the word's beginning with up
 * to two letters left out (Wolf Garbe, symmetric delete spelling correction), and for compounds the word's
 * end.
 */

/** Words are compared by the keys of this many first letters, which limits a word to 29 keys. */
const prefixLength = 7;
const twoTyposLengthMin = 8;
const oneTypoLengthMin = 4;
/** The shortest compound: a first part of 3 letters and an end of 5. */
const compoundLengthMin = 8;
const endMark = "<";
const lettersOnly = /^[\p{L}\p{M}]+$/u;

/**
 * The number of typos that are corrected in a word: 1 from 4 letters, 2 from 8 letters. Words with digits,
 * for example sizes and SKUs, are never corrected.
 */
export function getMaxCorrectedTypos(word: string): 0 | 1 | 2 {
  if (!lettersOnly.test(word)) return 0;
  const { length } = Array.from(word);
  if (length >= twoTyposLengthMin) return 2;
  return length >= oneTypoLengthMin ? 1 : 0;
}

/**
 * Keys of a vocabulary term, stored in the index. A query word with two typos may be two letters longer. For
 * compounds, the keys of the term's end are included.
 */
export function computeTypoKeysOfTerm(
  term: string,
  { isCompound }: { readonly isCompound: boolean },
): number[] {
  if (!lettersOnly.test(term)) return [];
  const { length } = Array.from(term);
  if (length < oneTypoLengthMin - 1) return [];
  const keys = computeTypoKeys(term, length >= twoTyposLengthMin - 2 ? 2 : 1);
  return isCompound && length >= compoundLengthMin ? [...keys, ...computeTypoKeysOfEnd(term, 2)] : keys;
}

/** Keys of a query word with at most `typos` typos. */
export const computeTypoKeys = (word: string, typos: 0 | 1 | 2): number[] =>
  deletionKeys(Array.from(word).slice(0, prefixLength), { typos });

/** Keys of the end of a word, which a compound shares with a word that is its end. */
export const computeTypoKeysOfEnd = (word: string, typos: 0 | 1 | 2): number[] =>
  deletionKeys(Array.from(word).toReversed().slice(0, prefixLength), { typos, mark: endMark });

interface DeletionKeys {
  readonly typos: 0 | 1 | 2;
  /** Distinguishes the keys of ends from the keys of beginnings. */
  readonly mark?: string;
}

function deletionKeys(letters: readonly string[], { typos, mark = "" }: DeletionKeys): number[] {
  let texts = new Set([letters.join("")]);
  const all = new Set(texts);
  for (let typo = 0; typo < typos; typo += 1) {
    texts = new Set([...texts].flatMap(withoutOneLetter));
    for (const text of texts) all.add(text);
  }
  return [...new Set([...all].map((text) => hash32(`${mark}${text}`)))];
}

function withoutOneLetter(text: string): string[] {
  const letters = Array.from(text);
  return letters.map((_, index) => letters.toSpliced(index, 1).join(""));
}

/** FNV-1a with 32 bits as a signed integer. Colliding keys cost a comparison, not a wrong correction. */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash | 0;
}

/** Returns the number of typos between two words; `max + 1` if there are more than `max`. */
export function computeTypoDistance(one: string, other: string, max: number): number {
  const [a, b] = [Array.from(one), Array.from(other)];
  if (Math.abs(a.length - b.length) > max) return max + 1;
  // Rows of the distance matrix: row n compares the first n letters of `a` with the beginnings of `b`.
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
