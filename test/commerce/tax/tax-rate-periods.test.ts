/**
 * Periods of tax rates: at most one rate is valid on a day, and a saved rate changes no day outside its
 * period.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { planPeriodOfNewTaxRate, type TaxRatePeriod } from "#commerce/tax/tax-rate-periods.ts";
import "#test/support/properties.ts";

const dayOf = (number: number): string =>
  Temporal.PlainDate.from("2027-01-01").add({ days: number }).toString();
const day = fc.integer({ min: 0, max: 20 }).map(dayOf);
const days = Array.from({ length: 25 }, (_, number) => dayOf(number - 2));

const wish = fc
  .record({ validFrom: fc.option(day), validTo: fc.option(day) })
  .filter(({ validFrom, validTo }) => validFrom === null || validTo === null || validFrom <= validTo);

interface Rate extends TaxRatePeriod {
  /** The number of the call that set the rate. */
  readonly setBy: number;
}

const isValidOn = ({ validFrom, validTo }: TaxRatePeriod, on: string): boolean =>
  (validFrom === null || validFrom <= on) && (validTo === null || on <= validTo);

/** Saves a rate as the command does; returns undefined if the rate is refused. */
function save(
  rates: readonly Rate[],
  wanted: Pick<Rate, "validFrom" | "validTo">,
  setBy: number,
): Rate[] | undefined {
  const plan = planPeriodOfNewTaxRate(rates, wanted);
  if ("overlapped" in plan) return undefined;
  const { replacedId, postponed, validFrom, validTo, shortened, continued } = plan;
  const copied = rates.find(({ id }) => id === continued?.id);
  return [
    ...rates
      .filter(({ id }) => id !== replacedId)
      .map((rate) =>
        rate.id === shortened?.id ? Object.assign({}, rate, { validTo: shortened.validTo }) : rate,
      )
      .map((rate) =>
        rate.id === postponed?.id ? Object.assign({}, rate, { validFrom: postponed.validFrom }) : rate,
      ),
    { id: replacedId ?? `new ${setBy}`, validFrom, validTo, setBy },
    ...(continued === null || copied === undefined
      ? []
      : [{ ...copied, id: `copy ${setBy}`, validFrom: continued.validFrom, validTo: continued.validTo }]),
  ].toSorted((a, b) => ((a.validFrom ?? "") < (b.validFrom ?? "") ? -1 : 1));
}

it("tax rates of a class are never valid together, and a new rate takes days only for itself", () => {
  fc.assert(
    fc.property(fc.array(wish, { maxLength: 8 }), (wishes) => {
      let rates: Rate[] = [];
      for (const [setBy, wanted] of wishes.entries()) {
        const after = save(rates, wanted, setBy);
        if (after === undefined) continue;
        const saved = after.find((rate) => rate.setBy === setBy);
        for (const on of days) {
          const before = rates.filter((rate) => isValidOn(rate, on)).map((rate) => rate.setBy);
          const now = after.filter((rate) => isValidOn(rate, on)).map((rate) => rate.setBy);
          expect(now).toEqual(saved !== undefined && isValidOn(saved, on) ? [setBy] : before);
        }
        expect(saved?.validFrom).toBe(wanted.validFrom);
        if (wanted.validTo !== null) expect(saved?.validTo).toBe(wanted.validTo);
        rates = after;
      }
    }),
    { numRuns: 500 },
  );
});

it("a temporary rate interrupts the earlier rate, which continues afterwards", () => {
  const standard = { id: "a", validFrom: null, validTo: null };
  expect(planPeriodOfNewTaxRate([standard], { validFrom: "2020-07-01", validTo: "2020-12-31" })).toEqual({
    replacedId: null,
    postponed: null,
    validFrom: "2020-07-01",
    validTo: "2020-12-31",
    shortened: { id: "a", validTo: "2020-06-30" },
    continued: { id: "a", validFrom: "2021-01-01", validTo: null },
  });
});

it("a rate without a last day is valid until the next rate begins, and a later last day is refused", () => {
  const rates = [
    { id: "a", validFrom: null, validTo: "2026-12-31" },
    { id: "b", validFrom: "2027-01-01", validTo: null },
  ];
  expect(planPeriodOfNewTaxRate(rates, { validFrom: "2026-07-01", validTo: null })).toMatchObject({
    validTo: "2026-12-31",
    shortened: { id: "a", validTo: "2026-06-30" },
    continued: null,
  });
  expect(planPeriodOfNewTaxRate(rates, { validFrom: "2026-07-01", validTo: "2027-01-01" })).toEqual({
    overlapped: rates[1],
  });
});

it("a rate with the same first day that lasts longer begins after the new rate", () => {
  const rates = [
    { id: "a", validFrom: "2026-07-01", validTo: "2026-12-31" },
    { id: "b", validFrom: "2027-01-01", validTo: null },
  ];
  expect(planPeriodOfNewTaxRate(rates, { validFrom: "2027-01-01", validTo: "2027-06-30" })).toEqual({
    replacedId: null,
    postponed: { id: "b", validFrom: "2027-07-01" },
    validFrom: "2027-01-01",
    validTo: "2027-06-30",
    shortened: null,
    continued: null,
  });
  expect(planPeriodOfNewTaxRate(rates, { validFrom: "2027-01-01", validTo: null })).toMatchObject({
    replacedId: "b",
    postponed: null,
  });
});
