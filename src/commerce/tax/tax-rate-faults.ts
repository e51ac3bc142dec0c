/**
 * Checks the fields of tax rates, and defines the failure for two rates that would be valid on the same day.
 * The messages name no fields of the API, because the console shows them at its form fields.
 */
import { getCountryAddressRules } from "#commerce/addresses/address-country.ts";
import { createUnknownRegionFault } from "#commerce/addresses/code-faults.ts";
import { catalogBounds } from "#commerce/catalog/catalog-fields.ts";
import { createFailure, type Failure } from "#foundation/failure.ts";
import {
  createRequestBodyErrorDetail,
  getCountryFieldErrors,
  getIntegerFieldErrors,
  getTextFieldErrors,
  type InputFieldErrors,
} from "#foundation/faults.ts";
import { isCountryCode } from "#foundation/text.ts";
import type { TaxRatePeriod } from "./tax-rate-periods.ts";

/** The values of a tax rate that staff can change after the rate was added. */
export interface TaxRateValues {
  readonly name: string;
  /** Tax rate in basis points: 1900 means 19 %. */
  readonly basisPoints: number;
  readonly appliesToShipping: boolean;
  /** The first and the last local day on which the rate is valid; null if there is no limit. */
  readonly validFrom: string | null;
  readonly validTo: string | null;
}

/**
 * Checks the values of a tax rate. `orderField` is the field of the error if the last day is before the
 * first.
 */
export const findTaxRateValueFaults = (
  { name, basisPoints, validFrom, validTo }: TaxRateValues,
  orderField: "/validFrom" | "/validTo" = "/validTo",
): InputFieldErrors => [
  ...getTextFieldErrors("/name", name, { max: catalogBounds.nameMax }),
  ...getIntegerFieldErrors("/basisPoints", basisPoints, { min: 0, max: 10_000 }),
  ...dayFaults("/validFrom", validFrom),
  ...dayFaults("/validTo", validTo),
  ...(validFrom !== null && validTo !== null && validTo < validFrom
    ? [
        createRequestBodyErrorDetail(
          orderField,
          "out_of_range",
          "The last day must not be before the first day.",
        ),
      ]
    : []),
];

const [firstDay, lastDay] = ["1900-01-01", "2999-12-31"];

/** Refuses days outside the years in which PostgreSQL and the service count days in the same way. */
const dayFaults = (field: string, day: string | null): InputFieldErrors =>
  day === null || (day >= firstDay && day <= lastDay)
    ? []
    : [
        createRequestBodyErrorDetail(
          field,
          "out_of_range",
          `The day must be from ${firstDay} to ${lastDay}. For a rate without a limit, leave out the day.`,
        ),
      ];

/** Checks the country of a tax rate, and the region, which must be a region of the country in ISO 3166-2. */
export function findTaxPlaceFaults(country: string, regionCode: string | null): InputFieldErrors {
  const countryFaults = getCountryFieldErrors("/country", country);
  if (regionCode === null || !isCountryCode(country)) return countryFaults;
  const { regionCodes } = getCountryAddressRules(country);
  if (regionCodes.has(regionCode)) return countryFaults;
  if (regionCodes.size > 0)
    return [...countryFaults, { ...createUnknownRegionFault(country, regionCode), field: "/regionCode" }];
  return regionPattern.test(regionCode) && regionCode.startsWith(`${country}-`)
    ? countryFaults
    : [
        ...countryFaults,
        createRequestBodyErrorDetail(
          "/regionCode",
          "pattern_mismatch",
          `The region must be an ISO 3166-2 code: ${country}, a hyphen, and 1 to 3 capitals or digits.`,
        ),
      ];
}

/** Matches the codes of ISO 3166-2. Only checked in countries for which the project has no list of regions. */
const regionPattern = /^[A-Z]{2}-[A-Z0-9]{1,3}$/;

/** Returns the failure for a tax rate that would be valid on a day on which another rate is valid. */
export function createTaxRateOverlapFailure(
  { id, validFrom, validTo }: TaxRatePeriod,
  field: "/validFrom" | "/validTo",
): Failure {
  const message =
    field === "/validTo"
      ? `Another rate of the tax class begins on ${validFrom}; the last day must be before this day.`
      : validTo === null
        ? "Another rate of the tax class has no last day. Change the last day of that rate first."
        : `Another rate of the tax class is valid until ${validTo}; the first day must be after this day.`;
  return createFailure("already_exists", {
    message,
    details: [createRequestBodyErrorDetail(field, "already_exists", message)],
    conflict: {
      resource: "tax_rate",
      id,
      currentStatus: null,
      currentVersion: null,
      reason: "tax_rate_overlap",
      data: { validFrom },
    },
  });
}
