/** Tests the list of test cards and how the card form reads them. */
import { expect, it } from "vitest";
import { findTestCard, testCards } from "#commerce/payments/test/test-cards.ts";
import { parseCardForm } from "#pages/checkout/card-form.ts";
import { groupCardNumberDigits } from "#pages/checkout/card-view.ts";
import { createCheckoutTranslator } from "#pages/checkout/texts.ts";

const say = createCheckoutTranslator("en");
const now = new Date("2026-11-30T22:00:00Z");
const good = { cardNumber: "4242424242424242", cardExpiry: "11/26", cardCvc: "123", cardName: "Erika" };
const read = (fields: Record<string, string>) =>
  parseCardForm(new URLSearchParams({ ...good, ...fields }), { say, now });

/** The check digit of card numbers (Luhn). */
const hasCheckDigit = (number: string): boolean =>
  number
    .split("")
    .toReversed()
    .map(Number)
    .map((digit, index) => (index % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2))
    .reduce((sum, digit) => sum + digit, 0) %
    10 ===
  0;

it("every test card is listed once, has a check digit, and is found with spaces or hyphens", () => {
  expect(new Set(testCards.map(({ number }) => number)).size).toBe(testCards.length);
  for (const card of testCards) {
    expect(hasCheckDigit(card.number)).toBe(true);
    expect(findTestCard(groupCardNumberDigits(card.number))).toBe(card);
    expect(findTestCard(groupCardNumberDigits(card.number).replaceAll(" ", "-"))).toBe(card);
  }
  expect(groupCardNumberDigits("378282246310005")).toBe("3782 822463 10005");
});

it.each([
  ["4111111111111111", undefined],
  ["42424242424242421", undefined],
  ["4242x4242424242424", undefined],
  ["４２４２４２４２４２４２４２４２", undefined],
  ["", undefined],
])("the number %s is no test card", (typed, found) => {
  expect(findTestCard(typed)).toBe(found);
});

it.each([
  [{}, "tok_success", []],
  [{ cardExpiry: "1 / 2030" }, "tok_success", []],
  [{ cardNumber: "4000 0000 0000 9995" }, "tok_decline_insufficient_funds", []],
  [{ cardNumber: "3782 822463 10005", cardCvc: "1234" }, "tok_success", []],
  [{ cardNumber: "3782 822463 10005" }, undefined, ["Enter the security code: 4 digits."]],
  [{ cardNumber: "" }, undefined, ["Enter a test card number."]],
  [{ cardExpiry: "13/30" }, undefined, ["Enter the expiry date as month and year, for example 12/34."]],
  [
    { cardExpiry: "10/26" },
    undefined,
    ["The expiry date is in the past. Enter the current month or a later one."],
  ],
  [{ cardCvc: "12" }, undefined, ["Enter the security code: 3 digits."]],
  [{ cardName: " " }, undefined, ["Enter the name on the card, at most 100 characters."]],
] as const)("the card form with %o is read as %s", (fields, token, messages) => {
  const reading = read(fields);
  expect(reading.token).toBe(token);
  expect(reading.typed.faults.map(({ message }) => message)).toEqual(messages);
});

it("a card number in a wrong field is not shown again", () => {
  const { typed } = read({ cardName: "4111 1111 1111 1111", cardExpiry: "4111111111111111" });
  expect([typed.name, typed.expiry]).toEqual(["", ""]);
});
