/** Generates carts and promotions of every kind, for tests of properties that hold for all of them. */
import fc from "fast-check";
import type { DiscountRule, PromotionProductScope } from "#commerce/pricing/discounts.ts";
import type { PriceCartInput, CartLineToPrice } from "#commerce/pricing/price-cart.ts";

const productIds = ["p0", "p1", "p2", "p3", "p4", "p5"];
const categoryIds = ["c0", "c1", "c2"];

/**
 * From the smallest amount of yen or cents to large amounts of rupiah or dong; the largest cart of 200 × 9999
 * units is still exact.
 */
const magnitude = fc.constantFrom(10, 1000, 100_000, 10_000_000, 1_000_000_000);

export const entitlement: fc.Arbitrary<PromotionProductScope> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ productIds: [], categoryIds: [] }) },
  {
    weight: 3,
    arbitrary: fc.record({ productIds: fc.subarray(productIds), categoryIds: fc.subarray(categoryIds) }),
  },
);

export function discountRule(id: string, amountMax: number): fc.Arbitrary<DiscountRule> {
  const basisPoints = fc.oneof(
    fc.constantFrom(500, 1000, 2500, 5000, 10_000),
    fc.integer({ min: 1, max: 10_000 }),
  );
  const few = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 9999 }));
  const common = { id: fc.constant(id), entitled: entitlement };
  return fc.oneof(
    fc.record({ ...common, kind: fc.constant("percentage" as const), basisPoints }),
    fc.record({
      ...common,
      kind: fc.constant("fixed_amount" as const),
      amountMinor: fc.integer({ min: 1, max: amountMax }),
    }),
    fc.record({ ...common, kind: fc.constant("free_shipping" as const) }),
    fc.record({
      ...common,
      kind: fc.constant("buy_x_get_y" as const),
      buyQuantity: few,
      getQuantity: few,
      basisPoints,
      buy: entitlement,
    }),
    fc.record({ ...common, kind: fc.constant("gift" as const), getQuantity: few }),
  );
}

const linesOf = (priceMax: number): fc.Arbitrary<CartLineToPrice[]> =>
  fc
    .array(
      fc.record({
        productId: fc.constantFrom(...productIds),
        categoryIds: fc.subarray(categoryIds),
        unitPriceMinor: fc.nat(priceMax),
        quantity: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 9999 })),
        requiresShipping: fc.boolean(),
      }),
      { maxLength: 200, size: "max" },
    )
    .map((lines) => lines.map((line, position) => ({ ...line, id: `line${position}` })));

export const randomCart: fc.Arbitrary<PriceCartInput> = magnitude.chain((priceMax) =>
  fc.record({
    taxIncluded: fc.boolean(),
    lines: fc.oneof(
      linesOf(priceMax).map((lines) => lines.slice(0, 4)),
      linesOf(priceMax),
    ),
    shippingMinor: fc.option(fc.nat(priceMax)),
    tax: fc.option(
      fc.record({
        basisPoints: fc.oneof(fc.constantFrom(0, 700, 1900, 10_000), fc.nat(10_000)),
        appliesToShipping: fc.boolean(),
      }),
    ),
    discounts: fc
      .array(fc.nat(), { maxLength: 6 })
      .chain((stack) => fc.tuple(...stack.map((_, turn) => discountRule(`promotion${turn}`, priceMax * 10)))),
  }),
);
