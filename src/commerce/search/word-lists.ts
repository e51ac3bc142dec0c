/**
 * Short lists of words that PostgreSQL's dictionaries do not contain: words that say nothing about a product,
 * irregular plurals, and umlauts that are spelt as two letters. All words are in the form that
 * `removeCaseAndAccents` returns.
 */

/**
 * Words that buyers add but that describe no product, for example `best`. Products need not contain these
 * words, unless the query has no other words.
 */
const fillerWords: ReadonlySet<string> = new Set(
  (
    "best better good great nice cheap cheapest affordable buy order online shop store sale sales deal deals " +
    "offer offers discount price prices pricing top quality new really very any some want need looking " +
    "find get please review reviews show give recommend recommended recommendation popular favorite favourite " +
    "which should could would something stuff product products item items " +
    "beste bester bestes besten gut gute guter gutes gunstig gunstige gunstiger gunstiges gunstigen billig " +
    "billige billiger billiges kaufen bestellen onlineshop angebot angebote rabatt preis preise preiswert " +
    "qualitat neu neue neuer neues suche finden brauche bitte test zeig zeige empfehlung empfohlen beliebt " +
    "welche welcher welches mochte gern gerne etwas produkt produkte artikel"
  ).split(" "),
);

export const isSearchFillerWord = (word: string): boolean => fillerWords.has(word);

const prepositions: ReadonlySet<string> = new Set(
  (
    "for with without from of in on to against under " +
    "fur mit ohne aus von zum zur gegen bei auf " +
    "voor met zonder med utan uden uten till til pour avec sans para con sin per"
  ).split(" "),
);

/**
 * Returns true if the word (in lower case and without accents) is a preposition. The word before a
 * preposition usually names the product.
 */
export const isPreposition = (word: string): boolean => prepositions.has(word);

const irregularPairs: readonly (readonly [singular: string, plural: string])[] = [
  ["child", "children"],
  ["foot", "feet"],
  ["goose", "geese"],
  ["half", "halves"],
  ["knife", "knives"],
  ["leaf", "leaves"],
  ["life", "lives"],
  ["loaf", "loaves"],
  ["man", "men"],
  ["mouse", "mice"],
  ["person", "people"],
  ["scarf", "scarves"],
  ["shelf", "shelves"],
  ["thief", "thieves"],
  ["tooth", "teeth"],
  ["wife", "wives"],
  ["wolf", "wolves"],
  ["woman", "women"],
];
const irregularForms: ReadonlyMap<string, string> = new Map(
  irregularPairs.flatMap(([singular, plural]) => [
    [singular, plural],
    [plural, singular],
  ]),
);

/**
 * Returns the singular or plural of an English noun with an irregular plural, for example `knife` for
 * `knives`; undefined for other words.
 */
export const getSingularOrPluralOfIrregularNoun = (word: string): string | undefined =>
  irregularForms.get(word);

/**
 * Returns the form without umlauts of a word that spells umlauts as two letters: `kaffeemuehle` →
 * `kaffeemuhle`; undefined for other words. `removeCaseAndAccents` turns `ü` into `u`, so both spellings of a
 * word get the same form.
 */
export function replaceUmlautDigraphsByVowels(word: string): string | undefined {
  const folded = word.replaceAll(/(?<![aeq])([aou])e/g, "$1").replaceAll("aa", "a");
  return folded === word ? undefined : folded;
}
