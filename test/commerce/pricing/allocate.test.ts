/** The arithmetic of prices: exact, rounded half to even, and split without losing a minor unit. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  allocateTotalByWeight,
  AmountOutOfRangeError,
  multiplyAndDivideRoundingHalfEven,
  multiplyMinorUnits,
  sumMinorUnits,
} from "#commerce/pricing/discounts.ts";

const max = Number.MAX_SAFE_INTEGER;

describe("a rounded fraction", () => {
  it.each([
    // Halves are rounded to the even neighbor, in both directions and on both sides of zero.
    [5, 1, 10, 0],
    [15, 1, 10, 2],
    [25, 1, 10, 2],
    [35, 1, 10, 4],
    [-5, 1, 10, 0],
    [-15, 1, 10, -2],
    [-25, 1, 10, -2],
    [24, 1, 10, 2],
    [26, 1, 10, 3],
    [-26, 1, 10, -3],
    [0, 10_000, 10_000, 0],
    [1, 1, 3, 0],
    [2, 1, 3, 1],
    // The product exceeds a safe integer, but the result does not.
    [max, 10_000, 10_000, max],
    [max, 5_000, 10_000, 4_503_599_627_370_496],
    [max - 2, 5_000, 10_000, 4_503_599_627_370_494],
    [max, max, max, max],
  ])("%d × %d ÷ %d is %d", (value, numerator, denominator, expected) => {
    expect(multiplyAndDivideRoundingHalfEven(value, numerator, denominator)).toBe(expected);
  });

  it("is the nearest integer, and the even one if two are equally near", () => {
    fc.assert(
      fc.property(
        fc.maxSafeInteger(),
        fc.nat(10_000),
        fc.integer({ min: 10_000, max: 20_000 }),
        (value, numerator, denominator) => {
          const result = BigInt(multiplyAndDivideRoundingHalfEven(value, numerator, denominator));
          const twiceOff = 2n * (result * BigInt(denominator) - BigInt(value) * BigInt(numerator));
          const distance = twiceOff < 0n ? -twiceOff : twiceOff;
          expect(distance <= BigInt(denominator)).toBe(true);
          if (distance === BigInt(denominator)) expect(result % 2n).toBe(0n);
        },
      ),
    );
  });

  it("throws if the result is not a safe integer", () => {
    expect(() => multiplyAndDivideRoundingHalfEven(max, 10_001, 10_000)).toThrow(AmountOutOfRangeError);
    expect(() => multiplyAndDivideRoundingHalfEven(-max, 10_001, 10_000)).toThrow(AmountOutOfRangeError);
  });

  it.each([0, -1, -10])("with %d as denominator throws, because the caller is wrong", (denominator) => {
    expect(() => multiplyAndDivideRoundingHalfEven(1, 1, denominator)).toThrow(
      new RangeError("The denominator must be positive."),
    );
  });
});

describe("products and sums", () => {
  it("are exact up to the largest amount", () => {
    expect(multiplyMinorUnits(900_719_925_474_099, 10)).toBe(max - 1);
    expect(sumMinorUnits([max - 1, 1])).toBe(max);
    expect(sumMinorUnits([max, max, -max])).toBe(max);
    expect(sumMinorUnits([])).toBe(0);
    expect(sumMinorUnits([-max])).toBe(-max);
    expect(multiplyMinorUnits(-max, 1)).toBe(-max);
  });

  it("are refused above the largest amount, and the error names the limit", () => {
    expect(() => multiplyMinorUnits(900_719_925_474_100, 10)).toThrow(AmountOutOfRangeError);
    expect(() => sumMinorUnits([max, 1])).toThrow("An amount exceeds ±9007199254740991 minor units.");
    expect(() => sumMinorUnits([-max, -1])).toThrow(AmountOutOfRangeError);
    expect(() => sumMinorUnits([max, 1])).toThrow(expect.objectContaining({ name: "AmountOutOfRange" }));
  });
});

describe("a split", () => {
  it.each([
    ["the largest rest first", 10, [50, 33, 17], [5, 3, 2]],
    ["equal rests by position", 100, [100, 100, 100], [34, 33, 33]],
    ["two units over, by position", 101, [100, 100, 100], [34, 34, 33]],
    ["a tie of halves", 5, [30, 70], [2, 3]],
    ["a tie of halves, turned round", 5, [70, 30], [4, 1]],
    ["nothing where there is no weight", 7, [0, 3, 0, 3], [0, 4, 0, 3]],
    ["all of it", 9, [4, 5], [4, 5]],
    ["nothing to split", 0, [0, 0], [0, 0]],
    ["nobody to give it to, and nothing to give", 0, [], []],
    ["more than the weights", 10, [1, 2], [3, 7]],
    ["the largest amounts", max, [max, max], [4_503_599_627_370_496, 4_503_599_627_370_495]],
  ])("gives each part its share: %s", (_, total, weights, expected) => {
    expect(allocateTotalByWeight(total, weights)).toEqual(expected);
  });

  const weights = fc.array(fc.oneof(fc.nat(20), fc.maxSafeNat()), { minLength: 1, maxLength: 200 });

  it("loses no unit, and gives each part its exact share to within one unit, and at most its weight", () => {
    fc.assert(
      fc.property(weights, fc.maxSafeNat(), (list, seed) => {
        const sum = list.reduce((left, weight) => left + BigInt(weight), 0n);
        const total = Number(BigInt(seed) % (sum < BigInt(max) ? sum + 1n : BigInt(max)));
        const shares = allocateTotalByWeight(total, list);
        expect(shares.reduce((left, share) => left + BigInt(share), 0n)).toBe(BigInt(total));
        for (const [position, share] of shares.entries()) {
          const weight = BigInt(list[position] ?? 0);
          const off = BigInt(share) * sum - BigInt(total) * weight;
          expect(off < sum || sum === 0n).toBe(true);
          expect(-off < sum || sum === 0n).toBe(true);
          expect(BigInt(share) <= weight).toBe(true);
        }
      }),
    );
  });

  it("of a positive total over zero weights throws a RangeError", () => {
    expect(() => allocateTotalByWeight(1, [0, 0])).toThrow(
      new RangeError("A total above 0 cannot be split, because all weights are 0."),
    );
    for (const [total, list] of [[-1, [1]] as const, [1, [2, -1]] as const])
      expect(() => allocateTotalByWeight(total, list)).toThrow(
        new RangeError("Neither a total nor a weight may be negative."),
      );
  });
});
