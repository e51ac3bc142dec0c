/** How a form asks for an address of a country: which parts, in the order that its people write them, and what is required, by the rules that judge it. */
import { iso31662 } from "iso-3166";
import { getCountryData } from "lib-address/lite";
import { isCountry } from "#foundation/locales.ts";
import { addressCountry } from "./address-country.ts";
import type { AddressField } from "./postal-address.ts";

export interface AddressFormRegion {
  /** ISO 3166-2, `US-CA`. */
  readonly code: string;
  readonly name: string;
  /** As its own people write it. */
  readonly localName: string;
}

export interface AddressFormField {
  readonly name: AddressField;
  readonly isRequired: boolean;
}

export interface AddressForm {
  /** Without the country, which comes first. */
  readonly fields: readonly AddressFormField[];
  /** By name; empty where the region is not asked for. */
  readonly regions: readonly AddressFormRegion[];
}

const forms = new Map<string, AddressForm>();

/** Of an assigned code of ISO 3166-1; of anything else what is asked for everywhere. */
export function addressForm(countryCode: string): AddressForm {
  const code = isCountry(countryCode) ? countryCode : "";
  const found = forms.get(code) ?? readForm(code);
  forms.set(code, found);
  return found;
}

/** Where the largest part is written first. */
const largestFirst: ReadonlySet<string> = new Set(["CN", "HK", "JP", "KR", "MO", "TW"]);
const alwaysRequired: ReadonlySet<AddressField> = new Set(["recipientName", "line1"]);

function readForm(code: string): AddressForm {
  const data = code === "" ? undefined : getCountryData(code);
  const format = data?.lfmt ?? "%N%n%O%n%A%n%Z %C";
  const requires: Partial<Record<AddressField, boolean>> = code === "" ? {} : addressCountry(code).requires;
  const isRequired = (name: AddressField): boolean => alwaysRequired.has(name) || requires[name] === true;
  const hasRegion = isRequired("regionCode") || format.includes("%S");
  const regions = hasRegion && code !== "" ? readRegions(code) : [];
  const places = placesOf(format).filter((name) => name !== "regionCode" || regions.length > 0);
  const street: readonly AddressField[] = ["line1", "line2"];
  const where = largestFirst.has(code) ? [...placesOrder(places), ...street] : [...street, ...places];
  const names: readonly AddressField[] = ["recipientName", "company", ...where, "phone", "email"];
  return { regions, fields: names.map((name) => ({ name, isRequired: isRequired(name) })) };
}

const letters: Readonly<Record<string, AddressField>> = { C: "city", D: "district", S: "regionCode", Z: "postalCode" };

/** In the order of the format. A town may be given everywhere, a postal code where the post has them. */
function placesOf(format: string): AddressField[] {
  const found = [...format.matchAll(/%([CDSZ])/g)].flatMap(([, letter = ""]) => letters[letter] ?? []);
  return found.includes("city") ? found : ["city", ...found];
}

const largeToSmall: readonly AddressField[] = ["postalCode", "regionCode", "city", "district"];
const placesOrder = (places: readonly AddressField[]): AddressField[] => largeToSmall.filter((name) => places.includes(name));

function readRegions(code: string): AddressFormRegion[] {
  const country = addressCountry(code);
  const local = new Map((getCountryData(code)?.sub_regions ?? []).map(({ key, name }) => [country.toRegionCode(key), name]));
  const english = new Map(iso31662.map((region) => [region.code, region.name]));
  const known = [...country.regionCodes].filter((region) => local.size === 0 || local.has(region));
  return known
    .map((region) => ({ code: region, name: english.get(region) ?? local.get(region) ?? region, localName: local.get(region) ?? region }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
