/**
 * The lines that a promotion applies to, and the units that a cart lacks for "buy X, get Y": exactly as many
 * as make it apply.
 */
import { describe, expect, it } from "vitest";
import {
  countBuyXGetYApplications,
  type BuyXGetYDiscountAndScope,
  createPromotedCartLinePredicate,
  countUnitsMissingForBuyXGetY,
} from "#commerce/pricing/discounts.ts";

const everything = { productIds: [], categoryIds: [] };
const only = (...productIds: string[]) => ({ productIds, categoryIds: [] });
const rule = (parts: Partial<BuyXGetYDiscountAndScope>): BuyXGetYDiscountAndScope => ({
  kind: "buy_x_get_y",
  buyQuantity: 2,
  getQuantity: 1,
  basisPoints: 10_000,
  buy: everything,
  entitled: everything,
  ...parts,
});
const line = (productId: string, quantity: number) => ({ productId, categoryIds: [], quantity });

describe("the missing units", () => {
  it.each([
    ["an empty cart", {}, [], 3],
    ["one of three", {}, [line("tent", 1)], 2],
    ["two of three", {}, [line("tent", 2)], 1],
    ["three of three", {}, [line("tent", 3)], 0],
    ["more than enough", {}, [line("tent", 9)], 0],
    ["what is got, where all is bought", { buy: only("tent"), entitled: only("lamp") }, [line("tent", 5)], 1],
    [
      "what is bought, where all is there to get",
      { buy: only("tent"), entitled: only("lamp") },
      [line("lamp", 5)],
      2,
    ],
    [
      "the larger of two lacks",
      { buy: only("tent"), entitled: only("lamp"), buyQuantity: 4 },
      [line("tent", 1)],
      4,
    ],
    [
      "one beyond both sets, where a unit cannot be on both sides",
      { buy: only("tent"), entitled: only("tent", "lamp") },
      [line("tent", 2)],
      1,
    ],
    [
      "nothing of what is in neither set",
      { buy: only("tent"), entitled: only("lamp") },
      [line("stove", 9)],
      3,
    ],
  ])("of a cart with %s", (_name, parts, lines, missing) => {
    const asked = rule(parts);
    expect(countUnitsMissingForBuyXGetY(asked, lines)).toBe(missing);
    expect(countBuyXGetYApplications(asked, lines) > 0).toBe(missing === 0);
  });
});

describe("the entitled lines", () => {
  const tent = { productId: "tent", categoryIds: ["camping", "outdoors"], quantity: 1 };
  it.each([
    ["everything, where nothing is named", [], [], true],
    ["the named product", ["tent"], [], true],
    ["no other product", ["lamp"], [], false],
    ["what is in a named category, also one above", [], ["outdoors"], true],
    ["nothing in other categories, where categories alone are named", [], ["kitchen"], false],
    ["either, where both are named", ["lamp"], ["camping"], true],
    ["neither", ["lamp"], ["kitchen"], false],
  ])("are %s", (_name, productIds, categoryIds, expected) => {
    expect(createPromotedCartLinePredicate({ productIds, categoryIds })(tent)).toBe(expected);
  });
});
