/** Money, locales, countries and text: validation and normalization. */
import { describe, expect, it } from "vitest";
import {
  chooseBestLocale,
  escapeHtml,
  isTextWithoutForbiddenCharacters,
  isCountryCode,
  isSlug,
  getLocaleFallbackChain,
  parseAcceptLanguage,
  parseLocale,
} from "#foundation/text.ts";
import { getCurrencyExponent, isCurrencyCode, createMoney } from "#foundation/money.ts";

describe("money", () => {
  it.each([
    ["JPY", 0],
    ["KRW", 0],
    ["EUR", 2],
    ["USD", 2],
    ["KWD", 3],
    ["BHD", 3],
  ])("in %s has %d digits after the point", (currency, exponent) => {
    expect(getCurrencyExponent(currency)).toBe(exponent);
    expect(createMoney(-5, currency)).toEqual({ amountMinor: -5, currency, exponent });
  });

  it("is in a currency of ISO 4217, in upper case", () => {
    expect(["EUR", "JPY", "XAF"].map(isCurrencyCode)).toEqual([true, true, true]);
    expect(["eur", "EURO", "", "ZZZ"].map(isCurrencyCode)).toEqual([false, false, false, false]);
  });
});

describe("a locale", () => {
  it.each([
    ["de", "de"],
    ["EN-gb", "en-GB"],
    ["zh-hant-tw", "zh-Hant-TW"],
    ["en-u-ca-gregory", "en"],
    ["de-DE-u-co-phonebk", "de-DE"],
    ["iw", "he"],
    ["sr-Cyrl-RS", "sr-Cyrl-RS"],
  ])("%s is %s", (text, canonical) => {
    expect(parseLocale(text)).toBe(canonical);
  });

  it.each([
    "",
    "e",
    "en_US",
    "xx_",
    "*",
    "en-",
    "-en",
    "123",
    "en gb",
    "\u00e4",
    "x".repeat(36),
    "en-aaaaaaaa-bbbbbbbb-cccccccc-dddddddd",
  ])("%s is no locale", (text) => {
    expect(parseLocale(text)).toBeUndefined();
  });

  it("falls back subtag by subtag", () => {
    expect(getLocaleFallbackChain("zh-Hant-TW")).toEqual(["zh-Hant-TW", "zh-Hant", "zh"]);
    expect(getLocaleFallbackChain("de")).toEqual(["de"]);
  });

  it.each([
    ["the exact one", ["de", "de-AT"], ["de-AT"], [], "de-AT"],
    ["its language", ["de", "en"], ["de-CH"], ["en"], "de"],
    ["the second one asked for before any fallback", ["ja", "en"], ["fr", "ja"], ["en"], "ja"],
    ["the first fallback", ["ja", "en"], ["fr"], ["en", "ja"], "en"],
    ["the second fallback", ["ja"], ["fr"], ["de", "ja-JP"], "ja"],
    ["any, the same one every time", ["sv", "nl"], ["fr"], ["de"], "nl"],
    ["none of none", [], ["fr"], ["de"], undefined],
  ])("is chosen: %s", (_name, available, asked, fallbacks, chosen) => {
    expect(chooseBestLocale(available, asked, fallbacks)).toBe(chosen);
  });
});

describe("Accept-Language", () => {
  it.each([
    [undefined, []],
    ["", []],
    ["de", ["de"]],
    ["en;q=0.5, de", ["de", "en"]],
    ["fr;q=0.3, de;q=0.7, en;q=0.7, ja", ["ja", "de", "en", "fr"]],
    ["de-at , EN-us;q=0.999", ["de-AT", "en-US"]],
    ["de;q=0, en;q=0.000, ja;q=0.001", ["ja"]],
    ["*, de;q=0.1", ["de"]],
    ["de; q=1.000;x=y, en;level=1", ["de", "en"]],
    [";;;,,, q=1, de_DE, \u0000, en", ["en"]],
    ["de;q=2, en;q=0.9", ["de", "en"]],
  ])("%s requests %j", (header, locales) => {
    expect(parseAcceptLanguage(header)).toEqual(locales);
  });

  it("is read up to a thousand characters", () => {
    expect(parseAcceptLanguage(`${"de,".repeat(333)}ja,en`)).not.toContain("en");
  });
});

describe("a country", () => {
  it("is one of the 249 codes of ISO 3166-1 alpha-2, in upper case", () => {
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".split("");
    expect(
      letters.flatMap((first) => letters.map((second) => first + second)).filter(isCountryCode),
    ).toHaveLength(249);
    expect(["de", "EU", "UK", "ZZ", "XX", "", "DEU"].filter(isCountryCode)).toEqual([]);
    expect(["DE", "GB", "JP", "XK"].map(isCountryCode)).toEqual([true, true, true, false]);
  });
});

describe("text", () => {
  it.each(["", "a", "tab\tand\nline\r\nbreaks", "\u{1f3d5}", "é", "\u0085", "日本語"])(
    "%j is accepted as clean text",
    (text) => {
      expect(isTextWithoutForbiddenCharacters(text)).toBe(true);
    },
  );

  it.each([
    "\u0000",
    "a\u0001",
    "\u0008",
    "\u000b",
    "\u000c",
    "\u000e",
    "\u001b[31m",
    "\u007f",
    "\ud800",
    "\udc00a",
  ])("%j is refused, because it has control characters or half a surrogate pair", (text) => {
    expect(isTextWithoutForbiddenCharacters(text)).toBe(false);
  });

  it("is a slug in lower-case letters, digits and single hyphens, up to 96", () => {
    expect(["a", "a-b", "2-man-tent", "x".repeat(96)].map(isSlug)).toEqual([true, true, true, true]);
    const none = ["", "-a", "a-", "a--b", "A", "ä", "a b", "a_b", "x".repeat(97), "a\n"];
    expect(none.filter(isSlug)).toEqual([]);
  });

  it("is escaped for HTML", () => {
    expect(escapeHtml(`<a href="x" title='y'>&amp;</a>`)).toBe(
      "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;",
    );
  });
});
