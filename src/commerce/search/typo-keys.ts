/**
 * Computes the keys by which typo correction finds similar words. Words within the distance of
 * `foundation/nearest.ts` share a key: the word's beginning with up to two letters left out (Wolf Garbe,
 * symmetric delete spelling correction), and for compounds the word's end.
 */

/**
 * Number of first letters of a word from which its typo keys are computed. Seven letters limit a word to 29
 * keys.
 */
const prefixLength = 7;
const twoTyposLengthMin = 8;
const oneTypoLengthMin = 4;
/** Minimum number of letters of a compound: a first part of 3 letters and an end of 5 letters. */
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
 * Returns the typo keys of a vocabulary term, which are stored in the search index. A misspelt word may be up
 * to two letters longer than the term, so a term gets keys even if it is shorter than the words that are
 * corrected. For compounds, the keys of the end are included.
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

/** Returns the typo keys of a query word that may contain up to `typos` typos. */
export const computeTypoKeys = (word: string, typos: 0 | 1 | 2): number[] =>
  deletionKeys(Array.from(word).slice(0, prefixLength), { typos });

/**
 * Returns typo keys computed from the last letters of a word. A compound and the word that is its end have
 * such keys in common (`Handkaffeemühle` and `Kaffeemühle`).
 */
export const computeTypoKeysOfEnd = (word: string, typos: 0 | 1 | 2): number[] =>
  deletionKeys(Array.from(word).toReversed().slice(0, prefixLength), { typos, mark: endMark });

interface DeletionKeys {
  readonly typos: 0 | 1 | 2;
  /**
   * Text that is put before the hashed letters, so that keys of word ends differ from keys of word
   * beginnings.
   */
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

/**
 * Hashes a text with FNV-1a to a signed 32-bit integer. If two texts have the same hash, one more word is
 * compared, but no word is corrected wrongly.
 */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash | 0;
}
