/** Cart prices compared to manual calculations in currencies with two, zero and three decimal places. */
import { describe, expect, it } from "vitest";
import { priceCart, type PriceCartInput, type CartLineToPrice } from "#commerce/pricing/price-cart.ts";
import type { AppliedTaxRate, CartTaxRatesAndRules } from "#commerce/pricing/tax-amounts.ts";
import {
  AmountOutOfRangeError,
  type DiscountRule,
  type PromotionProductScope,
} from "#commerce/pricing/discounts.ts";

const everything: PromotionProductScope = { productIds: [], categoryIds: [] };
const products = (...productIds: string[]): PromotionProductScope => ({ productIds, categoryIds: [] });
const rate = (taxClass: string, basisPoints: number): AppliedTaxRate => ({
  taxClass,
  name: "VAT",
  basisPoints,
});
const taxed = (basisPoints: number, appliesToShipping = true): CartTaxRatesAndRules => ({
  rounding: "line",
  rates: { standard: { ...rate("standard", basisPoints), appliesToShipping } },
  shipping: { rule: "own_class", taxClass: "standard" },
});

function line(id: string, unitPriceMinor: number, quantity = 1): CartLineToPrice {
  const common = { categoryIds: [], requiresShipping: true, taxClass: "standard" };
  return { ...common, id, productId: id, unitPriceMinor, quantity };
}

function cart(
  lines: readonly CartLineToPrice[],
  discounts: readonly DiscountRule[] = [],
  change: Partial<PriceCartInput> = {},
): PriceCartInput {
  return { taxIncluded: true, lines, shippingMinor: null, tax: null, discounts, ...change };
}

const percentage = (basisPoints: number, entitled = everything): DiscountRule => ({
  id: "percentage",
  kind: "percentage",
  basisPoints,
  entitled,
});
const fixed = (amountMinor: number, entitled = everything): DiscountRule => ({
  id: "fixed",
  kind: "fixed_amount",
  amountMinor,
  entitled,
});
const freeShipping: DiscountRule = { id: "shipping", kind: "free_shipping", entitled: everything };
const gift = (getQuantity: number, entitled = everything): DiscountRule => ({
  id: "gift",
  kind: "gift",
  getQuantity,
  entitled,
});
function buyGet(
  [buyQuantity, getQuantity]: [number, number],
  change: Partial<Extract<DiscountRule, { kind: "buy_x_get_y" }>> = {},
): DiscountRule {
  return {
    id: "buyGet",
    kind: "buy_x_get_y",
    buyQuantity,
    getQuantity,
    basisPoints: 10_000,
    entitled: everything,
    buy: everything,
    ...change,
  };
}

/** The discount of each line. */
const offLines = (input: PriceCartInput): number[] =>
  priceCart(input).lines.map(({ discountMinor }) => discountMinor);

describe("a whole cart", () => {
  it("in euros, tax included: 3 × 9,99 and 1 × 20,00, 10 % off, 4,90 shipping at 19 %", () => {
    expect(
      priceCart(
        cart([line("a", 999, 3), line("b", 2000)], [percentage(1000)], {
          shippingMinor: 490,
          tax: taxed(1900),
        }),
      ),
    ).toEqual({
      subtotalMinor: 4997,
      discountMinor: 500,
      shippingMinor: 490,
      shippingDiscountMinor: 0,
      shippingTaxes: [{ ...rate("standard", 1900), amountMinor: 490, taxMinor: 78 }],
      taxMinor: 431 + 287 + 78,
      totalMinor: 4987,
      lines: [
        {
          id: "a",
          subtotalMinor: 2997,
          discountMinor: 300,
          taxRate: rate("standard", 1900),
          taxMinor: 431,
          totalMinor: 2697,
          allocations: [{ promotionId: "percentage", amountMinor: 300 }],
        },
        {
          id: "b",
          subtotalMinor: 2000,
          discountMinor: 200,
          taxRate: rate("standard", 1900),
          taxMinor: 287,
          totalMinor: 1800,
          allocations: [{ promotionId: "percentage", amountMinor: 200 }],
        },
      ],
      discounts: [
        {
          promotionId: "percentage",
          discountMinor: 500,
          allocations: [
            { lineId: "a", amountMinor: 300 },
            { lineId: "b", amountMinor: 200 },
          ],
        },
      ],
    });
  });

  it("in yen, tax added: 2 × 980, 5 % off, free shipping of 600, 10 % tax", () => {
    expect(
      priceCart(
        cart([line("a", 980, 2)], [percentage(500), freeShipping], {
          taxIncluded: false,
          shippingMinor: 600,
          tax: taxed(1000),
        }),
      ),
    ).toEqual({
      subtotalMinor: 1960,
      discountMinor: 698,
      shippingMinor: 600,
      shippingDiscountMinor: 600,
      shippingTaxes: [],
      taxMinor: 186,
      totalMinor: 2048,
      lines: [
        {
          id: "a",
          subtotalMinor: 1960,
          discountMinor: 98,
          taxRate: rate("standard", 1000),
          taxMinor: 186,
          totalMinor: 2048,
          allocations: [{ promotionId: "percentage", amountMinor: 98 }],
        },
      ],
      discounts: [
        { promotionId: "percentage", discountMinor: 98, allocations: [{ lineId: "a", amountMinor: 98 }] },
        { promotionId: "shipping", discountMinor: 600, allocations: [{ lineId: null, amountMinor: 600 }] },
      ],
    });
  });

  it("in Kuwaiti dinars, no address yet: 3 × 1,250 and 1 × 0,333, 0,500 off", () => {
    // 500 × 3750 ÷ 4083 = 459,22…; 500 × 333 ÷ 4083 = 40,77…
    expect(priceCart(cart([line("a", 1250, 3), line("b", 333)], [fixed(500)]))).toEqual({
      subtotalMinor: 4083,
      discountMinor: 500,
      shippingMinor: null,
      shippingDiscountMinor: 0,
      shippingTaxes: null,
      taxMinor: null,
      totalMinor: 3583,
      lines: [
        {
          id: "a",
          subtotalMinor: 3750,
          discountMinor: 459,
          taxRate: null,
          taxMinor: null,
          totalMinor: 3291,
          allocations: [{ promotionId: "fixed", amountMinor: 459 }],
        },
        {
          id: "b",
          subtotalMinor: 333,
          discountMinor: 41,
          taxRate: null,
          taxMinor: null,
          totalMinor: 292,
          allocations: [{ promotionId: "fixed", amountMinor: 41 }],
        },
      ],
      discounts: [
        {
          promotionId: "fixed",
          discountMinor: 500,
          allocations: [
            { lineId: "a", amountMinor: 459 },
            { lineId: "b", amountMinor: 41 },
          ],
        },
      ],
    });
  });

  it("without lines costs nothing", () => {
    expect(
      priceCart(
        cart([], [percentage(1000), fixed(100), gift(1), buyGet([1, 1]), freeShipping], { tax: taxed(1900) }),
      ),
    ).toMatchObject({
      subtotalMinor: 0,
      discountMinor: 0,
      taxMinor: 0,
      totalMinor: 0,
      discounts: ["percentage", "fixed", "gift", "buyGet", "shipping"].map((promotionId) => ({
        promotionId,
        discountMinor: 0,
        allocations: [],
      })),
    });
  });

  it("above the largest amount is refused instead of rounded", () => {
    const max = Number.MAX_SAFE_INTEGER;
    expect(priceCart(cart([line("a", max)], [percentage(10_000)])).totalMinor).toBe(0);
    for (const input of [
      cart([line("a", max, 2)]),
      cart([line("a", max), line("b", 1)]),
      cart([line("a", max)], [], { shippingMinor: 1 }),
      cart([line("a", max)], [], { taxIncluded: false, tax: taxed(1) }),
      cart([line("a", max)], [percentage(10_000), freeShipping], { shippingMinor: 1 }),
    ]) {
      expect(() => priceCart(input)).toThrow(AmountOutOfRangeError);
    }
  });
});

describe("a percentage", () => {
  it.each([
    [50, 500, 2],
    [70, 500, 4],
    [10, 500, 0],
    [30, 500, 2],
    [1999, 3333, 666],
    [1, 10_000, 1],
  ])("of %d at %d basis points takes %d: halves are rounded to even", (unitPrice, basisPoints, off) => {
    expect(offLines(cart([line("a", unitPrice)], [percentage(basisPoints)]))).toEqual([off]);
  });

  it("is rounded for each line separately", () => {
    expect(offLines(cart([line("a", 50), line("b", 50), line("c", 50, 2)], [percentage(500)]))).toEqual([
      2, 2, 5,
    ]);
  });

  it("applies to the amount left by earlier discounts", () => {
    expect(offLines(cart([line("a", 10_000)], [percentage(5000), percentage(5000)]))).toEqual([7500]);
    expect(offLines(cart([line("a", 10_000)], [fixed(2000), percentage(1000)]))).toEqual([2800]);
    expect(offLines(cart([line("a", 10_000)], [percentage(1000), fixed(2000)]))).toEqual([3000]);
  });

  it("applies only to the listed products and categories", () => {
    const lines = [
      line("a", 1000),
      { ...line("b", 1000), categoryIds: ["shoes", "boots"] },
      line("c", 1000),
      line("d", 1000),
    ];
    expect(offLines(cart(lines, [percentage(1000, { productIds: ["c"], categoryIds: ["boots"] })]))).toEqual([
      0, 100, 100, 0,
    ]);
    expect(offLines(cart(lines, [percentage(1000, products("z"))]))).toEqual([0, 0, 0, 0]);
  });
});

describe("a fixed amount", () => {
  it.each([
    ["equal lines, by position", [100, 100, 100], 100, [34, 33, 33]],
    ["the largest rest", [50, 33, 17], 10, [5, 3, 2]],
    ["a tie of halves", [30, 70], 5, [2, 3]],
    ["no more than there is", [30, 70], 1000, [30, 70]],
    ["nothing off what is free", [0, 70], 5, [0, 5]],
  ])("is split over the lines in proportion to their amounts: %s", (_, prices, amount, expected) => {
    const lines = prices.map((price, position) => line(`l${position}`, price));
    expect(offLines(cart(lines, [fixed(amount)]))).toEqual(expected);
  });

  it("is split over the entitled lines in proportion to what earlier discounts left", () => {
    const lines = [line("a", 100), line("b", 100), line("c", 100)];
    expect(offLines(cart(lines, [percentage(5000, products("a")), fixed(30, products("a", "b"))]))).toEqual([
      60, 20, 0,
    ]);
  });

  it("does not reduce the shipping", () => {
    expect(priceCart(cart([line("a", 100)], [fixed(150)], { shippingMinor: 490 }))).toMatchObject({
      discountMinor: 100,
      totalMinor: 490,
    });
  });
});

describe("free shipping", () => {
  it("takes the shipping off once, and nothing while the shipping is unknown", () => {
    expect(
      priceCart(cart([line("a", 100)], [freeShipping, freeShipping], { shippingMinor: 490 })),
    ).toMatchObject({
      shippingMinor: 490,
      shippingDiscountMinor: 490,
      discountMinor: 490,
      totalMinor: 100,
      discounts: [{ discountMinor: 490 }, { discountMinor: 0, allocations: [] }],
    });
    expect(priceCart(cart([line("a", 100)], [freeShipping]))).toMatchObject({
      shippingMinor: null,
      shippingDiscountMinor: 0,
      totalMinor: 100,
    });
  });
});

describe("buy X, get Y", () => {
  it.each([
    ["2 + 1 of one product, each third free", [line("a", 300, 7)], buyGet([2, 1]), [600]],
    ["2 + 1, not enough", [line("a", 300, 2)], buyGet([2, 1]), [0]],
    [
      "1 + 1 of two products, the cheapest free",
      [line("a", 300, 2), line("b", 200, 2)],
      buyGet([1, 1]),
      [0, 400],
    ],
    ["of the same price, the earlier line", [line("a", 300), line("b", 300)], buyGet([1, 1]), [300, 0]],
    [
      "others are bought than are got",
      [line("a", 300, 3), line("b", 200, 3)],
      buyGet([2, 1], { buy: products("a"), entitled: products("b") }),
      [0, 200],
    ],
    [
      "no more than is there to get",
      [line("a", 300, 9), line("b", 200)],
      buyGet([2, 1], { buy: products("a"), entitled: products("b") }),
      [0, 200],
    ],
    [
      "what is bought could be got: one to spare",
      [line("a", 100, 3), line("b", 500)],
      buyGet([2, 1], { buy: products("a") }),
      [100, 0],
    ],
    [
      "what is bought could be got: none to spare",
      [line("a", 100, 2), line("b", 500)],
      buyGet([2, 1], { buy: products("a") }),
      [0, 500],
    ],
    [
      "bought from everything, got from one",
      [line("a", 100, 3), line("b", 500)],
      buyGet([2, 1], { buy: products("a", "b"), entitled: products("a") }),
      [100, 0],
    ],
    [
      "half off each, rounded to even: 12,5 → 12",
      [line("a", 25, 3)],
      buyGet([1, 2], { basisPoints: 5000 }),
      [24],
    ],
    [
      "half off each, rounded to even: 17,5 → 18",
      [line("a", 35, 3)],
      buyGet([1, 2], { basisPoints: 5000 }),
      [36],
    ],
    [
      "nothing that was bought named: as entitled",
      [line("a", 300, 2), line("b", 100, 9)],
      buyGet([1, 1], { entitled: products("a") }),
      [300, 0],
    ],
  ] satisfies [string, CartLineToPrice[], DiscountRule, number[]][])("%s", (_, lines, rule, expected) => {
    expect(offLines(cart(lines, [rule]))).toEqual(expected);
  });

  it("uses the unit prices after earlier promotions", () => {
    expect(
      offLines(cart([line("a", 300), line("b", 200)], [percentage(5000, products("a")), buyGet([1, 1])])),
    ).toEqual([300, 0]);
  });
});

describe("a gift promotion", () => {
  it.each([
    ["the cheapest unit", [line("a", 300, 2), line("b", 200, 2)], [gift(1)], [0, 200]],
    ["the cheapest units, over lines", [line("a", 300, 2), line("b", 200, 2)], [gift(3)], [300, 400]],
    ["no more than there are", [line("a", 300)], [gift(5)], [300]],
    ["the cheapest entitled one", [line("a", 300), line("b", 200)], [gift(1, products("a"))], [300, 0]],
    // 3 × 100 − 100 leaves 200 for three units: 67, 67, 66.
    ["a unit of what does not divide: the smaller part", [line("a", 100, 3)], [fixed(100), gift(1)], [166]],
    ["two units of what does not divide", [line("a", 100, 3)], [fixed(100), gift(2)], [233]],
    ["all units of what does not divide", [line("a", 100, 3)], [fixed(100), gift(3)], [300]],
  ] satisfies [string, CartLineToPrice[], DiscountRule[], number[]][])(
    "discounts %s",
    (_, lines, rules, expected) => {
      expect(offLines(cart(lines, rules))).toEqual(expected);
    },
  );
});

describe("the tax of a line", () => {
  it.each([
    ["included, 10 % of 55 is 5", true, 55, 1000, 5],
    ["added, 186,5 → 186", false, 1865, 1000, 186],
    ["added, 187,5 → 188", false, 1875, 1000, 188],
    // 21 × 10 000 ÷ 20 000 and 23 × 10 000 ÷ 20 000 are halves of an included tax.
    ["included, 10,5 → 10", true, 21, 10_000, 10],
    ["included, 11,5 → 12", true, 23, 10_000, 12],
    ["of nothing per cent", false, 1865, 0, 0],
  ] as const)("%s", (_, taxIncluded, unitPrice, basisPoints, expected) => {
    const priced = priceCart(cart([line("a", unitPrice)], [], { taxIncluded, tax: taxed(basisPoints) }));
    expect(priced.taxMinor).toBe(expected);
    expect(priced.totalMinor).toBe(unitPrice + (taxIncluded ? 0 : expected));
  });

  it("includes the tax of the shipping after its discount, if shipping is taxed", () => {
    const taxOf = (rules: DiscountRule[], appliesToShipping: boolean) =>
      priceCart(
        cart([line("a", 1000)], rules, {
          taxIncluded: false,
          shippingMinor: 500,
          tax: taxed(2000, appliesToShipping),
        }),
      ).taxMinor;
    expect([taxOf([], true), taxOf([freeShipping], true), taxOf([], false)]).toEqual([300, 200, 200]);
  });
});
