/**
 * Finds the faults of the region and the postal code of an address. The messages name the allowed regions or
 * the most similar ones, and an example of a postal code. They never repeat the entered values.
 */
import type { FailureDetail } from "#foundation/failure.ts";
import { type CountryAddressRules, getCountryAddressRules } from "./address-country.ts";
import { findMostSimilarRegionCodes, getPostalCodeExample } from "./address-hints.ts";
import type { AddressField, PostalAddress } from "./postal-address.ts";

export const getAddressFieldJsonPointer = (field: AddressField): string => `/address/${field}`;

export function createAddressFieldFault(field: AddressField, code: string, message: string): FailureDetail {
  return { in: "body", field: getAddressFieldJsonPointer(field), code, message };
}

/**
 * Returns the faults of an address's region and postal code. If both are valid on their own, also checks
 * whether the postal code lies in the region.
 */
export function findRegionAndPostalCodeFaults(
  { countryCode, regionCode, postalCode }: PostalAddress,
  isChecked: (field: AddressField) => boolean,
): FailureDetail[] {
  const country = getCountryAddressRules(countryCode);
  const region = country.toRegionCode(regionCode ?? "");
  const code = country.toPostalCode(postalCode ?? "");
  const faults: FailureDetail[] = [];
  if (isChecked("regionCode") && region === undefined)
    faults.push(createUnknownRegionFault(countryCode, regionCode ?? ""));
  if (isChecked("postalCode") && code === undefined)
    faults.push(
      createAddressFieldFault(
        "postalCode",
        "pattern_mismatch",
        `The value is not a postal code of ${countryCode}${postalCodeHint(countryCode)}.`,
      ),
    );
  if (typeof region !== "string" || typeof code !== "string" || country.isPostalCodeOf(region, code))
    return faults;
  const message = "The region and the postal code do not belong together.";
  return (["regionCode", "postalCode"] as const).map((field) =>
    createAddressFieldFault(field, "region_postal_code_mismatch", message),
  );
}

const allowedMax = 20;

/**
 * Returns the codes of the country's regions, for an error message that lists them. Returns null if the
 * country has more than `allowedMax` regions, because the message would be too long.
 */
const listRegions = ({ regionCodes }: CountryAddressRules): readonly string[] | null =>
  regionCodes.size > allowedMax ? null : [...regionCodes];

/** Returns the fault for an entered region that the country does not have. */
export function createUnknownRegionFault(countryCode: string, text: string): FailureDetail {
  const country = getCountryAddressRules(countryCode);
  const [example] = country.regionCodes;
  if (example === undefined)
    return createAddressFieldFault(
      "regionCode",
      "unknown_region",
      `${countryCode} has no regions in ISO 3166-2.`,
    );
  const nearest = findMostSimilarRegionCodes(countryCode, text);
  const hint = nearest.length === 0 ? "" : `; the value seems to mean ${nearest.join(" or ")}`;
  const message = `The value is not a region of ${countryCode} in ISO 3166-2, for example ${example}${hint}.`;
  const allowed = listRegions(country) ?? (nearest.length === 0 ? null : nearest);
  return { ...createAddressFieldFault("regionCode", "unknown_region", message), allowed };
}

/** Returns the fault for an address field that the country requires and that the address does not have. */
export function createMissingAddressFieldFault(
  field: keyof CountryAddressRules["requires"],
  countryCode: string,
): FailureDetail {
  const country = getCountryAddressRules(countryCode);
  const [region] = country.regionCodes;
  const hint =
    field === "postalCode"
      ? postalCodeHint(countryCode)
      : field === "regionCode" && region !== undefined
        ? `, for example ${region}`
        : "";
  return {
    ...createAddressFieldFault(field, "required", `The field is required in ${countryCode}${hint}.`),
    allowed: field === "regionCode" ? listRegions(country) : null,
  };
}

function postalCodeHint(countryCode: string): string {
  const example = getPostalCodeExample(countryCode);
  return example === undefined ? "" : `, for example ${example}`;
}
