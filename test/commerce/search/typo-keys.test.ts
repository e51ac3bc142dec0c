/** The keys by which similar words are found. */
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  computeTypoMatchKeysOfQueryWord,
  computeTypoMatchKeysOfVocabularyWord,
  getMaxCorrectedTypos,
} from "#commerce/search/typo-keys.ts";
import { computeEditDistance } from "#foundation/nearest.ts";

it.each([
  ["one typo from 4 letters", "tent", 1],
  ["none in shorter words", "pan", 0],
  ["two typos from 8 letters", "backpack", 2],
  ["none in words with digits", "cld100blk", 0],
  ["typos in other scripts", "палатка", 1],
])("a search word allows %s", (_name, word, typos) => {
  expect(getMaxCorrectedTypos(word)).toBe(typos);
});

it("finds every word within the distance by a common key", () => {
  const letter = fc.constantFrom("a", "b", "c", "d", "e");
  const word = fc.string({ unit: letter, minLength: 4, maxLength: 12 });
  const edit = fc.record({ kind: fc.constantFrom("swap", "drop", "add", "put"), at: fc.nat(11), letter });
  fc.assert(
    fc.property(word, fc.array(edit, { maxLength: 2 }), (term, edits) => {
      const typed = edits.reduce((text, { kind, at, letter: other }) => {
        const letters = Array.from(text);
        const index = at % letters.length;
        if (kind === "drop") letters.splice(index, 1);
        if (kind === "add") letters.splice(index, 0, other);
        if (kind === "put") letters[index] = other;
        if (kind === "swap" && index > 0)
          [letters[index - 1], letters[index]] = [letters[index] ?? "", letters[index - 1] ?? ""];
        return letters.join("");
      }, term);
      fc.pre(computeEditDistance(typed, term, 2) <= getMaxCorrectedTypos(typed));
      const keys = new Set(computeTypoMatchKeysOfVocabularyWord(term, { isCompound: false }));
      expect(
        computeTypoMatchKeysOfQueryWord(typed, getMaxCorrectedTypos(typed)).some((key) => keys.has(key)),
      ).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
