/**
 * Folding and splitting text into words: different spellings that buyers take for one word are one word in
 * the index.
 */
import { describe, expect, it } from "vitest";
import {
  normalizeSkuOrGtin,
  splitTextIntoSearchWords,
  removeCaseAndAccents,
  joinHyphenatedWords,
  listLexemesOfSearchWords,
} from "#commerce/search/tokens.ts";

const wordsOf = (text: string): string[] => splitTextIntoSearchWords(text).map((word) => word.text);

describe("folding", () => {
  it.each([
    ["Straße", "strasse"],
    ["GRÜN", "grun"],
    ["gru\u0308n", "grun"],
    ["Smørrebrød", "smorrebrod"],
    ["Łódź", "lodz"],
    ["Ægir œuvre", "aegir oeuvre"],
    ["Ｌサイズ", "lサイズ"],
    ["ｶﾞﾗｽ", "ガラス"],
    ["İstanbul Iğdır", "istanbul igdir"],
    ["Йогурт Ёлка", "йогурт елка"],
    ["ΟΔΟΣ ά", "οδοσ α"],
    ["รองเท้า", "รองเท้า"],
    ["हिन्दी", "हिन्दी"],
  ])("turns %s into the search form %s", (text, folded) => expect(removeCaseAndAccents(text)).toBe(folded));
});

describe("words", () => {
  it.each([
    ["Men's T-Shirt, 24-70mm!", ["men", "s", "t", "shirt", "24", "70mm"]],
    ["ランニングシューズ メンズ", ["ランニングシューズ", "メンズ"]],
    ["Nike運動靴red", ["nike", "運動靴", "red"]],
    ["👟 ''\\ :*|& <->", []],
    ["🏳️‍🌈 ❤️", []],
    ["Lauf\u00adschuhe", ["laufschuhe"]],
    ["", []],
  ])("of the text %s are split as search splits them", (text, words) => expect(wordsOf(text)).toEqual(words));

  it("know their positions in the text", () => {
    const text = "Größe 運動靴 e\u0301te\u0301";
    expect(splitTextIntoSearchWords(text).map(({ start, end }) => text.slice(start, end))).toEqual([
      "Größe",
      "運動靴",
      "e\u0301te\u0301",
    ]);
  });

  it("of a script without spaces are found by any two letters, and Chinese ones by each character", () => {
    const lexemes = listLexemesOfSearchWords(splitTextIntoSearchWords("運動靴とランニングシューズ"));
    for (const part of ["運動", "靴", "シュ", "ュー", "ーズ", "ランニング"]) expect(lexemes).toContain(part);
  });

  it("are limited to the length that an index allows", () => {
    for (const text of ["x".repeat(5000), "あ".repeat(5000), "\u{1d7d8}".repeat(99), "ก".repeat(3000)]) {
      for (const lexeme of listLexemesOfSearchWords(splitTextIntoSearchWords(text))) {
        expect(Buffer.byteLength(lexeme)).toBeLessThan(512);
        expect(lexeme.isWellFormed()).toBe(true);
      }
    }
  });
});

it("a hyphenated word is also indexed as one word", () => {
  expect(joinHyphenatedWords("E-Bike und Wi-Fi")).toEqual(["ebike", "wifi"]);
});

it("a code is compared without its punctuation", () => {
  expect(normalizeSkuOrGtin("Ab-12 / 3_x")).toBe("ab123x");
});
