/**
 * Compares words to correct typos. The distance of two words is the number of missing, additional and
 * replaced letters, and of adjacent letters in the wrong order. This is the optimal string alignment
 * distance, a restricted Damerau–Levenshtein distance. Similar words are found by keys that they have in
 * common. The keys are the beginning of the word with up to two letters left out (symmetric delete spelling
 * correction by Wolf Garbe). Compound words also have keys of their end.
 */

/**
 * The typo keys of a word are computed from this number of letters at its beginning. A typo key is a value
 * that a word has in common with its misspelt forms. With seven letters, a word has at most 29 keys.
 */
const prefixLength = 7;
const twoTyposLengthMin = 8;
const oneTypoLengthMin = 4;
/** Minimum number of letters of a compound word: 3 letters for the first part and 5 letters for the end. */
const compoundLengthMin = 8;
const endMark = "<";
const lettersOnly = /^[\p{L}\p{M}]+$/u;

/**
 * Returns the number of typos that are corrected in a word: 1 if it has at least 4 letters, 2 if it has at
 * least 8. Words with digits, for example sizes and SKUs, are never corrected.
 */
export function getMaxCorrectedTypos(word: string): 0 | 1 | 2 {
  if (!lettersOnly.test(word)) return 0;
  const { length } = Array.from(word);
  if (length >= twoTyposLengthMin) return 2;
  return length >= oneTypoLengthMin ? 1 : 0;
}

/**
 * Returns the typo keys of a vocabulary word, which the search index stores. Short words have keys too,
 * because a misspelt word can be up to two letters longer. The keys of a compound word include those of its
 * end.
 */
export function computeTypoMatchKeysOfVocabularyWord(
  term: string,
  { isCompound }: { readonly isCompound: boolean },
): number[] {
  if (!lettersOnly.test(term)) return [];
  const { length } = Array.from(term);
  if (length < oneTypoLengthMin - 1) return [];
  const keys = computeTypoMatchKeysOfQueryWord(term, length >= twoTyposLengthMin - 2 ? 2 : 1);
  return isCompound && length >= compoundLengthMin
    ? [...keys, ...computeTypoMatchKeysOfWordSuffix(term, 2)]
    : keys;
}

/** Returns the typo keys of a word in a query that may contain up to `typos` typos. */
export const computeTypoMatchKeysOfQueryWord = (word: string, typos: 0 | 1 | 2): number[] =>
  deletionKeys(Array.from(word).slice(0, prefixLength), { typos });

/**
 * Returns the typo keys that are computed from the last letters of a word. A compound word has such keys in
 * common with its end (`Handkaffeemühle` and `Kaffeemühle`).
 */
export const computeTypoMatchKeysOfWordSuffix = (word: string, typos: 0 | 1 | 2): number[] =>
  deletionKeys(Array.from(word).toReversed().slice(0, prefixLength), { typos, mark: endMark });

interface DeletionKeys {
  readonly typos: 0 | 1 | 2;
  /**
   * Text that is put before the letters of a typo key, so that keys of word ends differ from keys of word
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
 * Hashes a text with FNV-1a to a signed 32-bit integer. If two texts have the same hash, two words are
 * compared needlessly, but no word is corrected wrongly.
 */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash | 0;
}
