/**
 * The value of a line's units: the shares of any portions add up to the line, and each share differs by less
 * than one minor unit from the exact one.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { calculateLineAmountOfUnits } from "#commerce/orders/order-value.ts";
import { amountMinorMax } from "#foundation/money.ts";
import "#test/support/properties.ts";

interface Line {
  readonly amountMinor: number;
  readonly ordered: number;
}

const anyAmount = fc.oneof(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 0, max: amountMinorMax }));

/** A line, and the counts of units after which it is cut into portions. */
const cutLine = fc
  .record({ amountMinor: anyAmount, ordered: fc.integer({ min: 1, max: 999 }) })
  .chain((line) =>
    fc.record({
      line: fc.constant(line),
      cuts: fc.uniqueArray(fc.integer({ min: 0, max: line.ordered }), { maxLength: 12 }),
    }),
  );

/** The portions, in the order in which they are removed. */
function portionsOf({ ordered }: Line, cuts: readonly number[]): { gone: number; quantity: number }[] {
  const ends = [...new Set([...cuts, ordered])].toSorted((a, b) => a - b);
  return ends.map((end, index) => ({ gone: ends[index - 1] ?? 0, quantity: end - (ends[index - 1] ?? 0) }));
}

const sharesOf = (line: Line, cuts: readonly number[]): number[] =>
  portionsOf(line, cuts).map((portion) => calculateLineAmountOfUnits({ ...line, ...portion }));
const sum = (numbers: readonly number[]): bigint =>
  numbers.reduce((total, number) => total + BigInt(number), 0n);
const everyUnit = ({ ordered }: Line): number[] => Array.from({ length: ordered }, (_, index) => index + 1);

it("in whatever portions its units go, their shares add up to the line", () => {
  fc.assert(
    fc.property(cutLine, ({ line, cuts }) => {
      expect(sum(sharesOf(line, cuts))).toBe(BigInt(line.amountMinor));
    }),
  );
});

it("a portion is worth what its units are worth one by one", () => {
  fc.assert(
    fc.property(cutLine, ({ line, cuts }) => {
      const units = sharesOf(line, everyUnit(line));
      for (const { gone, quantity } of portionsOf(line, cuts))
        expect(BigInt(calculateLineAmountOfUnits({ ...line, gone, quantity }))).toBe(
          sum(units.slice(gone, gone + quantity)),
        );
    }),
    { numRuns: 50 },
  );
});

it("a share differs by less than a minor unit from the exact one, and is never negative", () => {
  fc.assert(
    fc.property(cutLine, ({ line, cuts }) => {
      for (const { gone, quantity } of portionsOf(line, cuts)) {
        const share = calculateLineAmountOfUnits({ ...line, gone, quantity });
        const offBy = BigInt(share) * BigInt(line.ordered) - BigInt(line.amountMinor) * BigInt(quantity);
        expect(offBy < 0n ? -offBy : offBy).toBeLessThan(BigInt(line.ordered));
        expect(share).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});

it("more units are never worth less, and units of a more expensive line are never worth less", () => {
  fc.assert(
    fc.property(cutLine, fc.nat(1_000), ({ line, cuts }, dearer) => {
      for (const { gone, quantity } of portionsOf(line, cuts)) {
        if (gone + quantity < line.ordered)
          expect(
            calculateLineAmountOfUnits({ ...line, gone, quantity: quantity + 1 }),
          ).toBeGreaterThanOrEqual(calculateLineAmountOfUnits({ ...line, gone, quantity }));
        const first = { gone: 0, quantity: gone + quantity };
        const amountMinor = Math.min(amountMinorMax, line.amountMinor + dearer);
        expect(calculateLineAmountOfUnits({ ...line, amountMinor, ...first })).toBeGreaterThanOrEqual(
          calculateLineAmountOfUnits({ ...line, ...first }),
        );
      }
    }),
  );
});

it.each([
  [1000, [333, 333, 334]],
  [1001, [333, 334, 334]],
  [2, [0, 1, 1]],
  [0, [0, 0, 0]],
])("%i for three units are split into %o, with the remaining cents in the later ones", (amount, shares) => {
  expect(sharesOf({ amountMinor: amount, ordered: 3 }, [1, 2, 3])).toEqual(shares);
});
