/**
 * Rules for compound words (words that consist of other words). German, Dutch, Swedish, Danish, Norwegian and
 * Finnish write compounds as one word (`Gusseisenpfanne`); English writes only some compounds as one word
 * (`headlamp`).
 */
import { stemmerNames } from "./stems.ts";

interface CompoundLanguage {
  readonly stemmer: string;
  /**
   * True if a word of this language counts as a compound only if its first part is also a known word, as in
   * English.
   */
  readonly isRestKnown: boolean;
}

/** Languages in which a search for the last part of a compound word also finds the compound. */
export const compoundLanguages: readonly CompoundLanguage[] = [
  { stemmer: "german", isRestKnown: false },
  { stemmer: "dutch", isRestKnown: false },
  { stemmer: "swedish", isRestKnown: false },
  { stemmer: "danish", isRestKnown: false },
  { stemmer: "norwegian", isRestKnown: false },
  { stemmer: "finnish", isRestKnown: false },
  { stemmer: "english", isRestKnown: true },
];

/**
 * The stemmers of those languages in which a search for the first part of a compound word also finds the
 * compound.
 */
export const prefixCompoundStemmers: ReadonlySet<string> = new Set(
  compoundLanguages.filter(({ isRestKnown }) => !isRestKnown).map(({ stemmer }) => stemmer),
);

/**
 * Words that look like a compound but mean something else than their end, for example `Handschuhe` (gloves)
 * and the end `Schuhe` (shoes). A search for the end must not find the word.
 */
const opaqueCompounds: readonly (readonly [word: string, end: string])[] = [
  ["handschuh", "schuh"],
  ["handschoen", "schoen"],
  ["handsko", "sko"],
  ["laptop", "top"],
  ["desktop", "top"],
  ["carpet", "pet"],
  ["keyboard", "board"],
  ["cupboard", "board"],
  ["pineapple", "apple"],
  ["eggplant", "plant"],
  ["mushroom", "room"],
];

/**
 * Returns true if an indexed word ends with the searched word but means something else, for example
 * `Handschuhe` (gloves) for `Schuhe` (shoes).
 */
export const isCompoundWordWithUnrelatedMeaning = (term: string, searched: string): boolean =>
  opaqueCompounds.some(([word, end]) => searched.startsWith(end) && term.includes(word));

const germanEnding = /(?:e[mnrs]?|n|s)$/;

/**
 * Returns the form of a word by which the ends of compound words are compared: the stem. For German words,
 * only a short ending is removed, because the stemmer would shorten `Isolationsweste` to `isolationsw`.
 */
export function getStemForCompoundComparison(
  word: string,
  stemmer: string,
  stem: string | undefined,
): string {
  if (stemmer === "german") return word.replace(germanEnding, "");
  return stem === undefined || stem === "" ? word : stem;
}

export const getLanguagesOfStemmer = (stemmer: string): string[] =>
  Object.keys(stemmerNames).filter((language) => stemmerNames[language] === stemmer);

const endLengthMin = 5;
const vowel = /[aeiouy]/;

/**
 * Returns true if the folded word (without case and accents) may be a compound that ends with `end`. The end
 * must have at least 5 letters; the part before it must have at least 3 letters and a vowel.
 */
export function mayBeCompoundWordEndingWith(word: string, end: string): boolean {
  const first = word.slice(0, word.length - end.length);
  return end.length >= endLengthMin && first.length >= partLengthMin && vowel.test(first);
}

const partLengthMin = 3;
/**
 * Letters that join the parts of a compound word, for example `s` in Geburtstag-s-geschenk and `n` in
 * Küche-n-messer.
 */
const linkingElements = ["", "s", "n", "es", "en", "er", "e"] as const;
const endings = ["", "n", "en", "e", "s"] as const;

/**
 * Returns the pairs of words of which a compound word may consist, for example `kaffee` and `muhle` for
 * `kaffeemuhlen`. Letters that only join the two words or end the compound are left out. Pairs with the
 * fewest left-out letters come first; among these, pairs of words of similar length.
 */
export function findCompoundWordSplits(word: string): (readonly [string, string])[] {
  const splits: { readonly pair: readonly [string, string]; readonly cost: number }[] = [];
  for (let at = partLengthMin; at <= word.length - partLengthMin; at += 1) {
    for (const first of withoutSuffixes(word.slice(0, at), linkingElements))
      for (const last of withoutSuffixes(word.slice(at), endings)) {
        const removed = word.length - first.length - last.length;
        splits.push({ pair: [first, last], cost: 10 * removed - Math.min(first.length, last.length) });
      }
  }
  return splits.toSorted((one, other) => one.cost - other.cost).map(({ pair }) => pair);
}

const withoutSuffixes = (text: string, suffixes: readonly string[]): string[] =>
  suffixes
    .filter((suffix) => text.endsWith(suffix) && text.length - suffix.length >= partLengthMin)
    .map((suffix) => text.slice(0, text.length - suffix.length));
