/**
 * Text as search sees it: folded, and cut into words. Pure, and used for documents and queries alike: what
 * one of them does, the other must do, and no database has a say in it (a server with a C locale knows ASCII
 * letters only).
 */

export interface Word {
  /** Folded; letters and digits only. */
  readonly text: string;
  /** Lower case, nothing else changed: stop words are listed with their accents. */
  readonly raw: string;
  /** A run of a script that puts no spaces between words; it is cut further by `cutDense`. */
  readonly isDense: boolean;
  /** Where it stands in the text. */
  readonly start: number;
  readonly end: number;
}

const wordLengthMax = 64;

// Soft hyphens and joiners stand inside words; the squared words of Japanese count as symbols, but are read.
const letter = String.raw`[\p{L}\p{M}\p{N}\u00ad\u200c\u200d\u3300-\u33ff]`;
const dense = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]`;
const runs = new RegExp(String.raw`(?<dense>[${letter}&&${dense}]+)|[${letter}--${dense}]+`, "gv");
const telling = /[\p{L}\p{N}]/u;
const noWord = /[^\p{L}\p{M}\p{N}]+/gu;
const ascii = /^[\u0020-\u007e]*$/;

export function cutWords(text: string): Word[] {
  const words: Word[] = [];
  for (const match of text.matchAll(runs)) {
    const [run] = match;
    const isDense = match.groups?.["dense"] !== undefined;
    const folded = fold(run).replaceAll(noWord, "");
    if (telling.test(folded))
      words.push({
        text: isDense ? folded : cap(folded),
        raw: run.toLowerCase(),
        isDense,
        start: match.index,
        end: match.index + run.length,
      });
  }
  return words;
}

const cap = (word: string): string =>
  word.length > wordLengthMax ? word.slice(0, wordLengthMax).toWellFormed() : word;

/**
 * Marks of Latin, Greek, Arabic and Hebrew go; those of kana and of Indic and Thai letters are letters of
 * their own. й is not и.
 */
// eslint-disable-next-line no-misleading-character-class -- Ranges of combining marks are what it is for.
const marks =
  /(?<!и)[\u0300-\u036f]|[\u0300-\u0305\u0307-\u036f]|[\u0591-\u05c7\u064b-\u065f\u0670\ufe00-\ufe0f]/gu;
const spelledOut: Record<string, string> = {
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
const toSpellOut = new RegExp(`[${Object.keys(spelledOut).join("")}]`, "gu");

/** Without case, accents and presentation forms: `Straße` → `strasse`, `Ｌ` → `l`, `ｶﾞ` → `ガ`. */
export function fold(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(marks, "")
    .normalize("NFC")
    .replaceAll(toSpellOut, (character) => spelledOut[character] ?? character);
}

// The dictionaries are the same whatever the locale.
const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/** A dense word's segments: シューズ as well as ランニングシューズ has to be found by シューズ, however a dictionary cuts them. */
export function cutDense(text: string): string[] {
  return [...segmenter.segment(text)].map(({ segment }) => cap(segment));
}

/** The pairs of neighbours; a single character is its own. */
export function pairsOf(text: string): string[] {
  const characters = Array.from(text);
  return characters.length < 2
    ? characters
    : characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}

const han = /^\p{sc=Han}$/u;

/** What a document is found by: its words; of dense ones the segments, the pairs and each Chinese character. */
export function lexemesOf(words: readonly Word[]): Set<string> {
  const lexemes = new Set<string>();
  for (const { text, isDense } of words) {
    if (!isDense) lexemes.add(text);
    else
      for (const part of [
        ...cutDense(text),
        ...pairsOf(text),
        ...Array.from(text).filter((character) => han.test(character)),
      ])
        lexemes.add(part);
  }
  return lexemes;
}

const hyphenated = /[\p{L}\p{M}\p{N}]+(?:-[\p{L}\p{M}\p{N}]+)+/gu;

/** `T-Shirt` is also written `tshirt`. */
export function joinedForms(text: string): string[] {
  return text.includes("-") ? [...text.matchAll(hyphenated)].map(([form]) => codeOf(form)) : [];
}

/** A SKU or GTIN as it is compared: letters and digits alone. */
export function codeOf(text: string): string {
  return cap(fold(text).replaceAll(noWord, ""));
}

export function phraseOf(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(" ");
}

const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
const foreign = /[^a-z0-9]/gu;

/**
 * Every letter as an ASCII one, different ones of an alphabet differently (a Korean syllable as its letters):
 * a key to compare trigrams of.
 */
export function trigramKey(term: string): string {
  return term
    .normalize("NFD")
    .replaceAll(foreign, (character) => alphabet.charAt((character.codePointAt(0) ?? 0) % alphabet.length));
}
