/**
 * The language of the code: comments, names, descriptions and documents use the terms of the field, exported
 * names are unique, and lines are narrow. docs/glossary.md has the terms.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const sources = globSync("src/**/*.{ts,tsx}", { cwd: root }).toSorted();
// A released migration is never edited, so comments of older migrations keep their words.
const contracts = globSync(["schema/**/*.{graphql,json,yaml}", "docs/**/*.md", "*.md"], { cwd: root })
  .filter((path) => !path.startsWith("schema/example-answers"))
  .toSorted();

/**
 * Words that this project once used in a private sense, or that leave open who or what is meant. Use the name
 * of the thing, the caller or the event instead.
 */
const privateWords = [
  ["told", "tell", "tells", "telling", "untold", "hear", "hears", "heard", "hearing"],
  ["whoever", "whatever", "whichever", "somebody", "nobody", "asker", "tenant", "door"],
  ["stands", "stood", "thing", "things", "anew", "essence", "sightings", "volunteered", "happenings"],
].flat();
/** Also inside identifiers: `tellCaller`, `isHeard`, `nobodyElse`. */
const privateWord = new RegExp(
  `(?<![A-Za-z])(?:${privateWords.join("|")})(?![a-z])|(?<=[a-z])(?:${privateWords
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join("|")})(?![a-z])`,
  "g",
);

/** The private words of a text, each with its line. */
function privateWordsOf(text: string): string[] {
  return text
    .split("\n")
    .flatMap((line, index) => [...line.matchAll(privateWord)].map(([word]) => `${index + 1}: ${word}`));
}

const withPrivateWords = (paths: readonly string[]): string[] =>
  paths.flatMap((path) => privateWordsOf(read(path)).map((found) => `${path}:${found}`));

describe("the language", () => {
  // Bounds that only fall. `readAnew` is a field of the schema, so it stays.
  it("of src has at most 10 private words", () => {
    const found = withPrivateWords(sources);
    expect(found.length, found.join("\n")).toBeLessThanOrEqual(10);
  });

  it("of schema and documents has at most 12 private words", () => {
    const found = withPrivateWords(contracts);
    expect(found.length, found.join("\n")).toBeLessThanOrEqual(12);
  });

  it("is checked for words, also inside identifiers", () => {
    expect(privateWordsOf("tellCaller is told\nthe anything of isHeard, storeys")).toEqual([
      "1: tell",
      "1: told",
      "2: Heard",
    ]);
  });

  it("gives no exported name to two files", () => {
    const exporters = new Map<string, string[]>();
    for (const path of sources) {
      const names = read(path).matchAll(/^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm);
      for (const exported of new Set([...names].map(([, name = ""]) => name)))
        exporters.set(exported, [...(exporters.get(exported) ?? []), path]);
    }
    const repeated = [...exporters].filter(([, paths]) => paths.length > 1);
    expect(repeated).toEqual([]);
  });

  it("has no comment beyond 120 columns", () => {
    const wide = sources.flatMap((path) =>
      read(path)
        .split("\n")
        .flatMap((line, index) =>
          line.length > 120 && /^\s*(?:\/\/|\/?\*)/.test(line) && !/https?:\S{60}/.test(line)
            ? [`${path}:${index + 1}`]
            : [],
        ),
    );
    expect(wide).toEqual([]);
  });
});
