/**
 * What a search's text depends on: who asks must not be able to make ever new ones, each of which PostgreSQL
 * would keep.
 */
import { describe, expect, it } from "vitest";
import { searchLocaleChain } from "#commerce/search/search-form.ts";

describe("chainOf", () => {
  it.each([
    ["de", ["de", "de", "de"]],
    ["de-AT", ["de-AT", "de-AT", "de"]],
    ["zh-Hant-TW", ["zh-Hant-TW", "zh-Hant", "zh"]],
    ["de-Latn-DE-1901-1996", ["de-Latn-DE-1901-1996", "de-Latn", "de"]],
  ])("is three long for %s", (locale, chain) => {
    expect(searchLocaleChain(locale)).toEqual(chain);
  });
});
