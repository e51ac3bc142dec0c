/** The similarity of words, and the names that a mistyped text probably means. */
import { describe, expect, it } from "vitest";
import { findCountryCodeByName, formatCountryCodeSuggestion } from "#foundation/country-names.ts";
import { computeEditDistance, findMostSimilarTexts } from "#foundation/nearest.ts";

describe("the typo distance", () => {
  it.each([
    ["tent", "tent", 0],
    ["tnet", "tent", 1],
    ["faimly", "family", 1],
    ["vackpack", "backpack", 1],
    ["bakcpakc", "backpack", 2],
    ["headlmp", "headlamp", 1],
    ["headlaamp", "headlamp", 1],
    ["torch", "torr", 2],
  ])("between %s and %s is %i", (one, other, distance) => {
    expect(computeEditDistance(one, other, 2)).toBe(distance);
    expect(computeEditDistance(other, one, 2)).toBe(distance);
  });

  it("is not counted beyond the limit", () => {
    expect(computeEditDistance("handtuch", "hand", 2)).toBe(3);
    expect(computeEditDistance("abcdefgh", "hgfedcba", 2)).toBe(3);
  });
});

describe("the nearest name", () => {
  const names = ["order.placed", "order.canceled", "order.*", "cart.updated", "pageSize"];

  it.each([
    ["order.place", ["order.placed"]],
    ["OrderPlaced", ["order.placed"]],
    ["orders.*", ["order.*"]],
    ["order", ["order.*"]],
    ["cart_updated", ["cart.updated"]],
    ["page_size", ["pageSize"]],
    ["pag", ["pageSize"]],
    ["invoice.paid", []],
    ["", []],
    ["…", []],
    ["order.placed".padEnd(101, "x"), []],
  ])("to %j is %j", (text, nearest) => {
    expect(findMostSimilarTexts(text, names)).toEqual(nearest);
  });

  it("may be several that are equally similar, at most as many as asked for", () => {
    expect(findMostSimilarTexts("tent", ["tint", "tant", "tunt", "tenten"])).toEqual([
      "tint",
      "tant",
      "tunt",
    ]);
    expect(findMostSimilarTexts("tent", ["tint", "tant"], 1)).toEqual(["tint"]);
  });
});

describe("a country is recognized in a text", () => {
  it.each([
    ["Germany", "DE"],
    ["Deutschland", "DE"],
    ["germny", "DE"],
    ["DEU", "DE"],
    ["276", "DE"],
    ["de", "DE"],
    ["UK", "GB"],
    ["United States", "US"],
    ["Türkiye", "TR"],
    ["日本", "JP"],
    ["Atlantis", undefined],
    ["XX", undefined],
    ["", undefined],
  ])("by %j", (text, code) => {
    expect(findCountryCodeByName(text)).toBe(code);
  });

  it("at the end of a message, only from a text", () => {
    expect(formatCountryCodeSuggestion("France")).toBe("; the value seems to mean FR");
    expect(formatCountryCodeSuggestion("Atlantis")).toBe("");
    expect(formatCountryCodeSuggestion(276)).toBe("");
  });
});
