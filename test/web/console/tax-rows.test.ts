/** The rows with which the console shows the tax of an order by rate. */
import { expect, it } from "vitest";
import { toOrderTaxRows } from "#pages/console/browser/orders/tax-rows.ts";

const eur = (amountMinor: number) => ({ amountMinor, currency: "EUR", exponent: 2 });
const standard = { name: "MwSt.", basisPoints: 1900, tax: eur(190) };

it("an order with one rate has no row for it, because the total of the tax says the same", () => {
  expect(toOrderTaxRows([])).toEqual([]);
  expect(toOrderTaxRows([standard])).toEqual([]);
});

it("an order with several rates has a row for each, with the percentage", () => {
  const reduced = { name: "VAT", basisPoints: 725, tax: eur(7) };
  const untaxed = { name: null, basisPoints: 0, tax: eur(0) };
  const unknown = { name: null, basisPoints: null, tax: eur(3) };
  expect(toOrderTaxRows([standard, reduced, untaxed, unknown])).toEqual([
    { label: "MwSt. 19 %", tax: eur(190) },
    { label: "VAT 7.25 %", tax: eur(7) },
    { label: "Not taxed", tax: eur(0) },
    { label: "Rate not recorded", tax: eur(3) },
  ]);
});
