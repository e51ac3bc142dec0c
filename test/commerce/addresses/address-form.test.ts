/**
 * An address form contains exactly the fields that address validation requires or accepts, in the order of
 * the country.
 */
import { expect, it } from "vitest";
import { getAddressFormLayout } from "#commerce/addresses/address-country.ts";
import { normalizeAndValidateAddress } from "#commerce/addresses/check-address.ts";
import { Failure } from "#foundation/failure.ts";

const namesOf = (country: string): string[] =>
  getAddressFormLayout(country).fields.map(({ name, isRequired }) =>
    isRequired ? name.toUpperCase() : name,
  );

it.each([
  ["DE", "RECIPIENTNAME company LINE1 line2 POSTALCODE CITY phone email"],
  ["US", "RECIPIENTNAME company LINE1 line2 CITY REGIONCODE POSTALCODE phone email"],
  ["GB", "RECIPIENTNAME company LINE1 line2 CITY POSTALCODE phone email"],
  ["JP", "RECIPIENTNAME company POSTALCODE REGIONCODE city LINE1 line2 phone email"],
  ["XX", "RECIPIENTNAME company LINE1 line2 postalCode city phone email"],
])("the form of %s has the fields %s in this order, the required ones in capitals", (country, fields) => {
  expect(namesOf(country).join(" ")).toBe(fields);
});

it("the address form lists regions by the accepted codes, with English and local names", () => {
  const { regions } = getAddressFormLayout("JP");
  expect(regions).toHaveLength(47);
  expect(regions.find(({ code }) => code === "JP-13")).toEqual({
    code: "JP-13",
    name: "Tôkyô",
    localName: "東京都",
  });
  expect(getAddressFormLayout("DE").regions).toEqual([]);
});

it.each(["DE", "US", "GB", "JP", "CA", "AU", "IT", "BR", "AE", "IE", "CH", "FR"])(
  "%s: an empty form violates exactly the fields that the form calls required",
  (country) => {
    const { fields } = getAddressFormLayout(country);
    const empty = Object.fromEntries(fields.map(({ name }) => [name, ""]));
    let broken: string[] = [];
    try {
      normalizeAndValidateAddress({ ...empty, countryCode: country }, "strict");
    } catch (error) {
      if (error instanceof Failure)
        broken = (error.parts.details ?? []).map(({ field }) => field.slice("/address/".length));
    }
    expect(broken.toSorted()).toEqual(
      fields
        .filter(({ isRequired }) => isRequired)
        .map(({ name }) => name)
        .toSorted(),
    );
  },
);
