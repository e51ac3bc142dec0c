/** Quantities in texts, and the words of compounds. */
import { describe, expect, it } from "vitest";
import { findCompoundWordSplits } from "#commerce/search/compounds.ts";
import { parseSearchQuery } from "#commerce/search/parse-query.ts";
import { findQuantitiesInText } from "#commerce/search/quantities.ts";
import {
  getSingularOrPluralOfIrregularNoun,
  replaceUmlautDigraphsByVowels,
} from "#commerce/search/word-lists.ts";

describe("quantities", () => {
  it.each([
    ["0.5 l", ["500ml"]],
    ["0,5 Liter", ["500ml"]],
    ["500ml bottle", ["500ml"]],
    ["backpack 50l", ["50000ml"]],
    ["20,000 mAh", ["20000mah"]],
    ["20.000 mAh", ["20000mah"]],
    ["20000mah", ["20000mah"]],
    ["1.25 kg", ["1250g"]],
    ["3x3 m", ["3x3"]],
    ["3 × 3 × 2.5 m", ["3x3x2d5"]],
    ["2-person tent", ["2person"]],
    ["2 Personen Zelt", ["2person"]],
    ["two-man tent", ["2person"]],
    ["Zelt für zwei", ["2person"]],
    ["2人用テント", ["2person"]],
    ["27 inch or 24 cm", ["27in", "240mm"]],
    ["USB-C 3.2, model 500", []],
    ["CLD-100-BLK", []],
  ])("of %s are %j", (text, lexemes) => {
    expect(findQuantitiesInText(text).map(({ lexeme }) => lexeme)).toEqual(lexemes);
  });

  it("are one part of a query, and other words are parts of their own", () => {
    const { parts } = parseSearchQuery("best 0.5 l bottle");
    expect(parts.map(({ text, quantity, isFiller }) => [text, quantity, isFiller])).toEqual([
      ["best", undefined, true],
      ["0 5 l", "500ml", false],
      ["bottle", undefined, false],
    ]);
    expect(parseSearchQuery("best").parts.map(({ isFiller }) => isFiller)).toEqual([false]);
  });
});

it.each([
  ["kaffeemuhle", ["kaffee", "muhle"]],
  ["powerbank", ["power", "bank"]],
  ["geburtstagsgeschenk", ["geburtstag", "geschenk"]],
  ["kuchenmesser", ["kuche", "messer"]],
])("the reader of quantities splits %s also into %j", (word, pair) => {
  expect(findCompoundWordSplits(word)).toContainEqual(pair);
});

it("knows irregular plurals and umlauts that are spelled with two letters", () => {
  expect([
    getSingularOrPluralOfIrregularNoun("knives"),
    getSingularOrPluralOfIrregularNoun("knife"),
    getSingularOrPluralOfIrregularNoun("tents"),
  ]).toEqual(["knife", "knives", undefined]);
  expect(["kaffeemuehle", "rucksaecke", "neue", "tent"].map(replaceUmlautDigraphsByVowels)).toEqual([
    "kaffeemuhle",
    "rucksacke",
    undefined,
    undefined,
  ]);
});
