/**
 * Finds the country that a text names, for clients that sent a country's name instead of its code. The list
 * of names is loaded when the first such error is answered.
 */
import { iso31661 } from "iso-3166";
import { findMostSimilarTexts, normalizeTextForTypoComparison } from "./nearest.ts";
import { isCountryCode } from "./text.ts";

/**
 * Country codes that people often use although ISO 3166-1 does not assign them, each with the ISO 3166-1 code
 * of the country.
 */
const otherCodes = { UK: "GB", EL: "GR" } as const;

let codesByName: ReadonlyMap<string, string> | undefined;

/**
 * Returns the alpha-2 code of the country with this name or code: the English name, the name in the language
 * of the country, the three-letter code or the numeric code of ISO 3166-1. Typing errors in names are
 * tolerated. Returns undefined if no country is similar.
 */
export function findCountryCodeByName(text: string): string | undefined {
  codesByName ??= readCountryNames();
  const exact = codesByName.get(normalizeTextForTypoComparison(text));
  if (exact !== undefined || text.length <= 3) return exact;
  const [nearest, other] = findMostSimilarTexts(text, codesByName.keys());
  // If two countries are equally similar, returns undefined, because either of them would be a guess.
  return nearest === undefined || other !== undefined ? undefined : codesByName.get(nearest);
}

/** Returns the end of a sentence that names the probable country code; empty if no country is similar. */
export function formatCountryCodeSuggestion(text: unknown): string {
  const code = typeof text === "string" ? findCountryCodeByName(text) : undefined;
  return code === undefined ? "" : `; the value seems to mean ${code}`;
}

function readCountryNames(): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const displays = new Map<string, Intl.DisplayNames>();
  const nameIn = (language: string, code: string): string | undefined => {
    const display = displays.get(language) ?? new Intl.DisplayNames([language], { type: "region" });
    displays.set(language, display);
    return display.of(code);
  };
  const add = (name: string | undefined, code: string): void => {
    const key = normalizeTextForTypoComparison(name ?? "");
    if (key !== "" && !names.has(key)) names.set(key, code);
  };
  const countries = iso31661.filter(({ alpha2 }) => isCountryCode(alpha2));
  for (const { alpha2 } of countries) add(alpha2, alpha2);
  for (const [other, code] of Object.entries(otherCodes)) add(other, code);
  for (const { alpha2, alpha3, numeric, name } of countries) {
    for (const known of [alpha3, numeric, name, nameIn("en", alpha2)]) add(known, alpha2);
    add(nameIn(new Intl.Locale(`und-${alpha2}`).maximize().language, alpha2), alpha2);
  }
  return names;
}
