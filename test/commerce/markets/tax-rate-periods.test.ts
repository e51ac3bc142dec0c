/** Periods of tax rates: whatever is saved, at most one rate is valid on a day, and no day loses its tax. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { planTaxRatePeriod, type TaxRatePeriod } from "#commerce/markets/tax-rate-periods.ts";
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
  const plan = planTaxRatePeriod(rates, wanted);
  if ("overlapped" in plan) return undefined;
  const { replacedId, validFrom, validTo, shortened, continued } = plan;
  const copied = rates.find(({ id }) => id === continued?.id);
  return [
    ...rates
      .filter(({ id }) => id !== replacedId)
      .map((rate) =>
        rate.id === shortened?.id ? Object.assign({}, rate, { validTo: shortened.validTo }) : rate,
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
        for (const on of days) {
          const before = rates.filter((rate) => isValidOn(rate, on));
          const now = after.filter((rate) => isValidOn(rate, on));
          expect(now.length).toBeLessThanOrEqual(1);
          const replaced = rates.find(({ validFrom }) => validFrom === wanted.validFrom);
          const isOfReplaced = replaced !== undefined && isValidOn(replaced, on);
          if (now[0]?.setBy !== setBy && !isOfReplaced)
            expect(now.map((rate) => rate.setBy)).toEqual(before.map((rate) => rate.setBy));
        }
        const saved = after.find((rate) => rate.setBy === setBy);
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
  expect(planTaxRatePeriod([standard], { validFrom: "2020-07-01", validTo: "2020-12-31" })).toEqual({
    replacedId: null,
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
  expect(planTaxRatePeriod(rates, { validFrom: "2026-07-01", validTo: null })).toMatchObject({
    validTo: "2026-12-31",
    shortened: { id: "a", validTo: "2026-06-30" },
    continued: null,
  });
  expect(planTaxRatePeriod(rates, { validFrom: "2026-07-01", validTo: "2027-01-01" })).toEqual({
    overlapped: rates[1],
  });
});
