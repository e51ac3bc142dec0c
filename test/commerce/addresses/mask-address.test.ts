/** A masked address lets its owner recognize it, but does not disclose to others who lives there. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalizeAndValidateAddress } from "#commerce/addresses/check-address.ts";
import { maskAddress, maskEmail } from "#commerce/addresses/personal-data.ts";
import type { PostalAddress, PostalAddressInput } from "#commerce/addresses/postal-address.ts";
import { goodAddresses } from "./addresses.ts";

const kept = (input: PostalAddressInput, level: "strict" | "basic" = "strict"): PostalAddress =>
  normalizeAndValidateAddress(input, level).address;
const inBerlin = {
  recipientName: "Anna Beispiel",
  line1: "Linden 1",
  city: "Berlin",
  postalCode: "10115",
  countryCode: "DE",
};

it("a masked address shows country, region, city, half of the postal code and initials", () => {
  const address = kept({
    ...inBerlin,
    regionCode: "BE",
    company: "Muster GmbH",
    phone: "+49301234567",
    email: "anna@example.com",
  });
  expect(maskAddress(address)).toEqual({
    countryCode: "DE",
    regionCode: "DE-BE",
    city: "Berlin",
    postalCodePrefix: "10",
    recipientInitials: "A. B.",
    complete: true,
  });
});

it("a masked address has null for missing fields", () => {
  const address = kept({ recipientName: "李 明", line1: "x", countryCode: "US" }, "basic");
  const nothing = { regionCode: null, city: null, postalCodePrefix: null, recipientInitials: null };
  expect(maskAddress(address)).toEqual({ countryCode: "US", ...nothing, complete: false });
});

it.each([
  ["GB", "SW1A 1AA", "SW1A"],
  ["CA", "K1A 0B1", "K1A"],
  ["JP", "100-0001", "100"],
  ["NL", "1012 AB", "101"],
  ["US", "95014", "95"],
  ["US", "95014-1234", "95014"],
  ["PL", "00-902", "00"],
  ["IS", "101", "1"],
  ["HK", "1", null],
])("a masked address shows the %s postal code %s as %s", (countryCode, postalCode, prefix) => {
  expect(maskAddress(kept({ ...inBerlin, countryCode, postalCode }, "basic")).postalCodePrefix).toBe(prefix);
});

it.each([
  ["Anna Beispiel", "A. B."],
  ["anna maria von beispiel", "A. B."],
  ["Anna", "A."],
  ["J. R. R. Tolkien", "J. T."],
  ["Émile Zola", "É. Z."],
  ["Владимир Иванов", "В. И."],
  ["Ελένη Παππά", "Ε. Π."],
  ["山田 太郎", "山. 太."],
  ["山田太郎", "山."],
  ["李 明", null],
  ["李 小龍", "小."],
  ["अनिता शर्मा", "अ. श."],
  ["نور محمد", "ن. م."],
  ["Anna (3rd floor)", "A. F."],
  ['"O\'Neill" -', "O."],
  ["007", null],
])("a masked address shows the name %s as %s", (recipientName, initials) => {
  expect(maskAddress(kept({ ...inBerlin, recipientName })).recipientInitials).toBe(initials);
});

it("a masked address counts as complete if, and only if, strict validation accepts the address", () => {
  for (const [input] of goodAddresses) expect(maskAddress(kept(input)).complete).toBe(true);
  expect(maskAddress(kept({ ...inBerlin, postalCode: null }, "basic")).complete).toBe(false);
  expect(maskAddress(kept({ ...inBerlin, city: null }, "basic")).complete).toBe(false);
  expect(maskAddress(kept({ ...inBerlin, countryCode: "US" }, "basic")).complete).toBe(false);
});

it("a masked address never contains the name, lines, phone, e-mail or whole postal code", () => {
  const letters = fc.constantFrom(...Array.from("abcdefghijklmnopqrstuvwxyzäöüßéñçøłжѣщ山田太郎明नरम"));
  const word = fc.string({ unit: letters, minLength: 2, maxLength: 12 });
  // A name of two letters may occur by chance in an unrelated word.
  const longWord = fc.string({ unit: letters, minLength: 6, maxLength: 12 });
  const words = fc.array(longWord, { minLength: 1, maxLength: 4 }).map((list) => list.join(" "));
  const input = fc.record({
    place: fc.constantFrom(...goodAddresses.map(([good]) => good)),
    recipientName: words,
    line1: words.map((text) => `${text} 12`),
    line2: words.map((text) => `${text} 3`),
    company: words.map((text) => `${text} GmbH`),
    phone: fc.stringMatching(/^[1-9]\d{6,14}$/).map((digits) => `+${digits}`),
    email: fc.tuple(word, word).map(([local, domain]) => `${local}@${domain}.example`),
  });
  fc.assert(
    fc.property(input, ({ place, ...parts }) => {
      const address = kept({ ...place, ...parts }, "basic");
      fc.pre(address.email !== null && !(address.city ?? "").includes(address.recipientName));
      const shown = [JSON.stringify(maskAddress(address)), maskEmail(address.email ?? "")];
      for (const text of shown)
        for (const secret of [
          parts.recipientName,
          parts.line1,
          parts.line2,
          parts.company,
          parts.phone,
          parts.email,
          address.postalCode ?? parts.line1,
        ])
          expect(text).not.toContain(secret);
    }),
    { numRuns: 1000 },
  );
});

describe("a masked e-mail", () => {
  it.each([
    ["anna@example.com", "a•••@e•••.com"],
    ["a@b.de", "a•••@b•••.de"],
    ["anna.b+shop@mail.example.co.uk", "a•••@m•••.uk"],
    ["Ünal@Ölçü.example", "Ü•••@Ö•••.example"],
    ["𠮷@例え.jp", "𠮷•••@例•••.jp"],
    ["anna@localhost", "a•••@l•••"],
    ["no.mail", "•••"],
    ["@example.com", "•••"],
    ["", "•••"],
  ])("shows %s as %s", (email, shown) => {
    expect(maskEmail(email)).toBe(shown);
  });
});
