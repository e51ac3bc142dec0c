/**
 * Normalizes texts for the search and splits them into words. The same functions process indexed texts and
 * queries, so that both have the same words. The database does not do this, because a PostgreSQL server with
 * the C locale recognizes only ASCII letters.
 */

export interface SearchWord {
  /** The word in normalized form: letters and digits, without case and accents. */
  readonly text: string;
  /** The word in lower case with its accents. PostgreSQL's dictionaries contain stop words in this form. */
  readonly raw: string;
  /**
   * True for a text in a script without spaces between words, for example Chinese or Thai.
   * `segmentSpacelessText` splits such a text into segments.
   */
  readonly isDense: boolean;
  /** Index of the first character of the word in the text from which the word was taken. */
  readonly start: number;
  readonly end: number;
}

const wordLengthMax = 64;

// Words may contain soft hyphens (U+00AD) and joiners (U+200C, U+200D). Japanese squared words (U+3300 to
// U+33FF) count as letters: Unicode classifies them as symbols, but people read them as words.
const letter = String.raw`[\p{L}\p{M}\p{N}\u00ad\u200c\u200d\u3300-\u33ff]`;
const dense = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]`;
const runs = new RegExp(String.raw`(?<dense>[${letter}&&${dense}]+)|[${letter}--${dense}]+`, "gv");
const letterOrDigit = /[\p{L}\p{N}]/u;
const noWord = /[^\p{L}\p{M}\p{N}]+/gu;
const ascii = /^[\u0020-\u007e]*$/;

export function splitTextIntoSearchWords(text: string): SearchWord[] {
  const words: SearchWord[] = [];
  for (const match of text.matchAll(runs)) {
    const [run] = match;
    const isDense = match.groups?.["dense"] !== undefined;
    const folded = removeCaseAndAccents(run).replaceAll(noWord, "");
    if (letterOrDigit.test(folded))
      words.push({
        text: isDense ? folded : truncateWord(folded),
        raw: run.toLowerCase(),
        isDense,
        start: match.index,
        end: match.index + run.length,
      });
  }
  return words;
}

const truncateWord = (word: string): string =>
  word.length > wordLengthMax ? word.slice(0, wordLengthMax).toWellFormed() : word;

/**
 * The accents (combining marks) of Latin, Greek, Arabic and Hebrew letters, which `removeCaseAndAccents`
 * removes. The marks of kana, Indic scripts and Thai are not removed, because they belong to the letter. The
 * breve of й is not removed either, because й and и are different letters.
 */
const marks =
  // eslint-disable-next-line no-misleading-character-class -- The ranges contain combining marks on purpose.
  /(?<!и)[\u0300-\u036f]|[\u0300-\u0305\u0307-\u036f]|[\u0591-\u05c7\u064b-\u065f\u0670\ufe00-\ufe0f]/gu;
const spelledOutLetters: Record<string, string> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ħ: "h",
  ı: "i",
  ŋ: "n",
  ς: "σ",
  "\u0640": "",
};
const toSpellOut = new RegExp(`[${Object.keys(spelledOutLetters).join("")}]`, "gu");

/** Removes case, accents and presentation forms from a text: `Straße` → `strasse`, `Ｌ` → `l`, `ｶﾞ` → `ガ`. */
export function removeCaseAndAccents(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(marks, "")
    .normalize("NFC")
    .replaceAll(toSpellOut, (character) => spelledOutLetters[character] ?? character);
}

// The locale `en` of the segmenter has no effect, because the segmenter uses the same dictionaries for every
// locale.
const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/**
 * Splits a text without spaces into segments by dictionary, so that a search for シューズ (shoes) also finds
 * ランニングシューズ (running shoes).
 */
export function segmentSpacelessText(text: string): string[] {
  return [...segmenter.segment(text)].map(({ segment }) => truncateWord(segment));
}

/**
 * Returns all pairs of adjacent characters of a text. If the text has only one character, returns this
 * character.
 */
export function listCharacterBigrams(text: string): string[] {
  const characters = Array.from(text);
  return characters.length < 2
    ? characters
    : characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}

const kana = /^[\p{sc=Hira}\p{sc=Kana}]$/u;
export const isSingleKanaCharacter = (text: string): boolean => kana.test(text);

const han = /^\p{sc=Han}$/u;

/**
 * Returns the searchable forms (lexemes) of words: the words themselves, and for a text without spaces its
 * segments, its pairs of characters and each Chinese character.
 */
export function listLexemesOfSearchWords(words: readonly SearchWord[]): Set<string> {
  const lexemes = new Set<string>();
  for (const { text, isDense } of words) {
    if (!isDense) lexemes.add(text);
    else
      for (const part of [
        ...segmentSpacelessText(text),
        ...listCharacterBigrams(text),
        ...Array.from(text).filter((character) => han.test(character)),
      ])
        lexemes.add(part);
  }
  return lexemes;
}

const hyphenated = /[\p{L}\p{M}\p{N}]+(?:-[\p{L}\p{M}\p{N}]+)+/gu;

/** Returns the hyphenated words of a text, joined to one word each: `T-Shirt` → `tshirt`. */
export function joinHyphenatedWords(text: string): string[] {
  return text.includes("-") ? [...text.matchAll(hyphenated)].map(([form]) => normalizeSkuOrGtin(form)) : [];
}

/** Returns the form of a SKU or GTIN in which codes are compared: only letters and digits. */
export function normalizeSkuOrGtin(text: string): string {
  return truncateWord(removeCaseAndAccents(text).replaceAll(noWord, ""));
}

export function joinSearchWords(words: readonly SearchWord[]): string {
  return words.map(({ text }) => text).join(" ");
}
