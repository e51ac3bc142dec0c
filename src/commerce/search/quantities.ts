/**
 * Finds quantities in texts: numbers with a unit (`0.5 l`, `50l`, `20,000 mAh`), dimensions (`3x3 m`) and
 * numbers of persons (`2-person`, `für zwei`). Each quantity is converted to a base unit, so that different
 * spellings of the same quantity match: `0.5 l` and `500ml` both become `500ml`.
 */

export interface QuantityInText {
  /**
   * The searchable form of the quantity, for example `500ml`, `3x3` or `2person`. The letter `d` represents
   * the decimal point: `1d5in`.
   */
  readonly lexeme: string;
  readonly start: number;
  readonly end: number;
}

/** The base unit and the conversion factor of each spelling of a unit. */
const units: Readonly<Record<string, readonly [base: string, factor: number]>> = {
  ml: ["ml", 1],
  cl: ["ml", 10],
  dl: ["ml", 100],
  l: ["ml", 1000],
  liter: ["ml", 1000],
  liters: ["ml", 1000],
  litre: ["ml", 1000],
  litres: ["ml", 1000],
  litern: ["ml", 1000],
  リットル: ["ml", 1000],
  g: ["g", 1],
  gram: ["g", 1],
  grams: ["g", 1],
  gramm: ["g", 1],
  kg: ["g", 1000],
  kilo: ["g", 1000],
  mm: ["mm", 1],
  cm: ["mm", 10],
  m: ["mm", 1000],
  meter: ["mm", 1000],
  meters: ["mm", 1000],
  metre: ["mm", 1000],
  metres: ["mm", 1000],
  inch: ["in", 1],
  inches: ["in", 1],
  zoll: ["in", 1],
  w: ["w", 1],
  watt: ["w", 1],
  watts: ["w", 1],
  wh: ["wh", 1],
  mah: ["mah", 1],
  ah: ["mah", 1000],
  v: ["v", 1],
  volt: ["v", 1],
  lm: ["lm", 1],
  lumen: ["lm", 1],
  lumens: ["lm", 1],
  p: ["person", 1],
  person: ["person", 1],
  persons: ["person", 1],
  people: ["person", 1],
  personen: ["person", 1],
  man: ["person", 1],
  mann: ["person", 1],
  人: ["person", 1],
  人用: ["person", 1],
};

const numberWords: Readonly<Record<string, number>> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  eine: 1,
  zwei: 2,
  drei: 3,
  vier: 4,
  fünf: 5,
  sechs: 6,
};

const longestFirst = (texts: readonly string[]): string =>
  texts.toSorted((one, other) => other.length - one.length).join("|");
const number = String.raw`\d{1,3}(?:[.,]\d{3})+(?!\d)|\d+(?:[.,]\d+)?`;
const word = longestFirst(Object.keys(numberWords));
const end = String.raw`(?![\p{L}\p{N}])`;
const start = String.raw`(?<![\p{L}\p{N}.,])`;
const dimension = new RegExp(
  `${start}(${number})\\s?[x×]\\s?(${number})(?:\\s?[x×]\\s?(${number}))?(?:\\s?(?:mm|cm|m))?${end}`,
  "giu",
);
const withUnit = new RegExp(
  `${start}(${number}|${word})[\\s-]?(?:(${longestFirst(Object.keys(units).filter((unit) => !unit.startsWith("人")))})${end}|(人用|人))`,
  "giu",
);
const forPersons = new RegExp(`(?<![\\p{L}\\p{N}])(?:for|für)\\s(\\d|${word})(?![\\p{L}\\p{N}.,×x])`, "giu");

/** Returns the quantities in a text, in the order of the text. No part of the text belongs to two quantities. */
export function findQuantitiesInText(text: string): QuantityInText[] {
  const found: QuantityInText[] = [];
  const add = (lexeme: string | undefined, match: RegExpExecArray): void => {
    const range = { start: match.index, end: match.index + match[0].length };
    if (lexeme !== undefined && found.every((other) => other.end <= range.start || other.start >= range.end))
      found.push({ lexeme, ...range });
  };
  for (const match of text.matchAll(dimension)) add(dimensionLexeme(match.slice(1)), match);
  for (const match of text.matchAll(withUnit)) {
    const [, amount = "", unit = match[3] ?? ""] = match;
    add(quantityLexeme(amount, unit.toLowerCase()), match);
  }
  for (const match of text.matchAll(forPersons)) add(quantityLexeme(match[1] ?? "", "person"), match);
  return found.toSorted((one, other) => one.start - other.start);
}

/**
 * Returns where prices are in a text, including the words around them: `under 400 euro`, `bis 50 €`,
 * `5000円以下`. A number without a currency does not count as a price.
 */
export const findPricesInText = (text: string): readonly { readonly start: number; readonly end: number }[] =>
  [...text.matchAll(price)].map(({ 0: found, index }) => ({ start: index, end: index + found.length }));

const priceBound =
  "(?:(?:under|below|over|above|about|around|less than|more than|up to|max|unter|über|bis(?: zu)?|ab|für|for|" +
  "höchstens|maximal|ca)\\.?\\s+)";
const currency = "€|\\$|£|¥|(?:euros?|eur|usd|dollars?|gbp|pounds?|chf|franken|yen|jpy)(?![\\p{L}\\p{N}])|円";
const price = new RegExp(
  `(?<![\\p{L}\\p{N}])${priceBound}?(?:[€$£¥]\\s?(?:${number})|(?:${number})\\s?(?:${currency}))(?:以下|以内|まで)?`,
  "giu",
);

const dimensionLexeme = (numbers: readonly (string | undefined)[]): string =>
  numbers.flatMap((text) => (text === undefined ? [] : [writeNumber(parseNumber(text))])).join("x");

function quantityLexeme(amount: string, unit: string): string | undefined {
  const [base, factor] = units[unit] ?? [];
  const value = numberWords[amount.toLowerCase()] ?? parseNumber(amount);
  return base === undefined || factor === undefined ? undefined : `${writeNumber(value * factor)}${base}`;
}

/**
 * Parses numbers like `0.5`, `0,5` and `20,000`. A separator before exactly three digits separates thousands;
 * any other separator is a decimal point.
 */
function parseNumber(text: string): number {
  const isGrouped = /^\d{1,3}(?:[.,]\d{3})+$/.test(text) && !text.startsWith("0");
  return Number(isGrouped ? text.replaceAll(/[.,]/g, "") : text.replace(",", "."));
}

const writeNumber = (value: number): string => String(Number(value.toFixed(4))).replace(".", "d");
