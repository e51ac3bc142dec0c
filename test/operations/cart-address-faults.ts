/** Invalid bodies of setPublicCartAddress: form faults, and faults of the address format of a country. */
import { berlin, sanFrancisco } from "./cart-calls.ts";
import type { BodyFault } from "./cart-refusals.ts";

const address = (changed: object): unknown => ({ address: { ...berlin, ...changed } });
const american = (changed: object): unknown => ({ address: { ...sanFrancisco, ...changed } });
export const addressFaults: readonly BodyFault[] = [
  ["no address", {}, "missing_field", ["/address required"]],
  ["null for the address", { address: null }, "invalid_field", ["/address wrong_type"]],
  ["a text for the address", { address: "Berlin" }, "invalid_field", ["/address wrong_type"]],
  [
    "an address without its parts",
    { address: {} },
    "missing_field",
    ["/address/countryCode required", "/address/line1 required", "/address/recipientName required"],
  ],
  ["an unknown part", address({ street: "x" }), "unknown_field", ["/address/street unknown"]],
  [
    "a part that is too long",
    address({ recipientName: "x".repeat(101) }),
    "invalid_field",
    ["/address/recipientName too_long"],
  ],
  ["an empty part", address({ line1: "" }), "invalid_field", ["/address/line1 too_short"]],
  [
    "a number for a text",
    address({ postalCode: 10_115 }),
    "invalid_field",
    ["/address/postalCode wrong_type"],
  ],
  [
    "a control character",
    address({ city: "Ber\u0000lin" }),
    "invalid_field",
    ["/address/city control_character"],
  ],
  [
    "an unknown validation",
    { address: berlin, validation: "lax" },
    "invalid_field",
    ["/validation not_allowed"],
  ],
  [
    "saveForBuyer that is no boolean",
    { address: berlin, saveForBuyer: "yes" },
    "invalid_field",
    ["/saveForBuyer wrong_type"],
  ],
  [
    "expectedVersion 0",
    { address: berlin, expectedVersion: 0 },
    "invalid_field",
    ["/expectedVersion too_small"],
  ],
  [
    "null for a version, which must be left out instead",
    { address: berlin, expectedVersion: null },
    "invalid_field",
    ["/expectedVersion wrong_type"],
  ],
  [
    "expectedVersion 1.5",
    { address: berlin, expectedVersion: 1.5 },
    "invalid_field",
    ["/expectedVersion wrong_type"],
  ],
  [
    "expectedVersion of 2³¹",
    { address: berlin, expectedVersion: 2 ** 31 },
    "invalid_field",
    ["/expectedVersion too_large"],
  ],
  [
    "an unknown country",
    address({ countryCode: "XX" }),
    "address_invalid",
    ["/address/countryCode unknown_country"],
  ],
  [
    "blank for a name",
    address({ recipientName: "  " }),
    "address_invalid",
    ["/address/recipientName too_short"],
  ],
  [
    "no city where there are towns",
    address({ city: undefined }),
    "address_invalid",
    ["/address/city required"],
  ],
  [
    "a postal code of another form",
    address({ postalCode: "1011" }),
    "address_invalid",
    ["/address/postalCode pattern_mismatch"],
  ],
  [
    "no region where it is required",
    american({ regionCode: undefined }),
    "address_invalid",
    ["/address/regionCode required"],
  ],
  [
    "an unknown region",
    american({ regionCode: "US-ZZ" }),
    "address_invalid",
    ["/address/regionCode unknown_region"],
  ],
  [
    "a postal code of another region",
    american({ postalCode: "10001" }),
    "address_invalid",
    ["/address/regionCode region_postal_code_mismatch", "/address/postalCode region_postal_code_mismatch"],
  ],
  [
    "HTML, a URL and emoji",
    address({ line1: "<b>x", line2: "http://x.example", company: "😀" }),
    "address_invalid",
    ["/address/line1 html", "/address/line2 url", "/address/company emoji"],
  ],
  [
    "a phone and an e-mail that are none",
    address({ phone: "12345", email: "anna" }),
    "address_invalid",
    ["/address/phone pattern_mismatch", "/address/email pattern_mismatch"],
  ],
  [
    "what a basic address must not have either",
    { address: { ...berlin, countryCode: "XX", line1: "<i>" }, validation: "basic" },
    "address_invalid",
    ["/address/countryCode unknown_country", "/address/line1 html"],
  ],
];
