/**
 * The number of distinct search statements is bounded, because PostgreSQL keeps a prepared statement for each
 * text.
 */
import { describe, expect, it } from "vitest";
import { getSearchLocaleFallbackChain } from "#commerce/search/search-form.ts";

describe("the locale chain of a search", () => {
  it.each([
    ["de", ["de", "de", "de"]],
    ["de-AT", ["de-AT", "de-AT", "de"]],
    ["zh-Hant-TW", ["zh-Hant-TW", "zh-Hant", "zh"]],
    ["de-Latn-DE-1901-1996", ["de-Latn-DE-1901-1996", "de-Latn", "de"]],
  ])("has at most three locales for %s", (locale, chain) => {
    expect(getSearchLocaleFallbackChain(locale)).toEqual(chain);
  });
});
