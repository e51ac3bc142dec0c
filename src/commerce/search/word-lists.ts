/**
 * Short word lists that PostgreSQL's dictionaries lack: words that say nothing about a product, irregular
 * plurals, and the spelling of umlauts with two letters. All words are in the folded form of `foldText`.
 */

/**
 * Words that buyers add but that describe no product, for example `best`. Found products must contain such
 * words only if the query has no other words.
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

export const isFillerWord = (word: string): boolean => fillerWords.has(word);

const prepositions: ReadonlySet<string> = new Set(
  (
    "for with without from of in on to against under " +
    "fur mit ohne aus von zum zur gegen bei auf " +
    "voor met zonder med utan uden uten till til pour avec sans para con sin per"
  ).split(" "),
);

/** Whether a folded word is a preposition, before which a query usually names the product. */
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
 * Returns the plural or singular of an irregular English noun, for example `knife` for `knives`; undefined
 * for other words.
 */
export const getIrregularForm = (word: string): string | undefined => irregularForms.get(word);

/**
 * Returns the folded form of a word that spells umlauts with two letters: `kaffeemuehle` → `kaffeemuhle`.
 * Returns undefined if the word has no such spelling. `foldText` turns `ü` into `u`, so both spellings get
 * the same folded form.
 */
export function foldUmlautDigraphs(word: string): string | undefined {
  const folded = word.replaceAll(/(?<![aeq])([aou])e/g, "$1").replaceAll("aa", "a");
  return folded === word ? undefined : folded;
}
