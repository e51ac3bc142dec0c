/**
 * The number of distinct search statements is bounded, because PostgreSQL keeps a prepared statement for each
 * text.
 */
import { describe, expect, it } from "vitest";
import { searchLocaleChain } from "#commerce/search/search-form.ts";

describe("chainOf", () => {
  it.each([
    ["de", ["de", "de", "de"]],
    ["de-AT", ["de-AT", "de-AT", "de"]],
    ["zh-Hant-TW", ["zh-Hant-TW", "zh-Hant", "zh"]],
    ["de-Latn-DE-1901-1996", ["de-Latn-DE-1901-1996", "de-Latn", "de"]],
  ])("has a length of three for %s", (locale, chain) => {
    expect(searchLocaleChain(locale)).toEqual(chain);
  });
});
