/** Generates carts and promotions of every kind, for tests of properties that hold for all of them. */
import fc from "fast-check";
import type { DiscountRule, PromotionProductScope } from "#commerce/pricing/discounts.ts";
import type { CartTaxRatesAndRules, TaxRateAtAddress } from "#commerce/pricing/tax-amounts.ts";
import type { PriceCartInput, CartLineToPrice } from "#commerce/pricing/price-cart.ts";

const productIds = ["p0", "p1", "p2", "p3", "p4", "p5"];
const categoryIds = ["c0", "c1", "c2"];
const taxClasses = ["standard", "reduced", "exempt"] as const;

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

const linesOf = (priceMax: number, maxLength = 200): fc.Arbitrary<CartLineToPrice[]> =>
  fc
    .array(
      fc.record({
        productId: fc.constantFrom(...productIds),
        categoryIds: fc.subarray(categoryIds),
        unitPriceMinor: fc.nat(priceMax),
        quantity: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 9999 })),
        requiresShipping: fc.boolean(),
        taxClass: fc.constantFrom(...taxClasses),
      }),
      { maxLength, size: "max" },
    )
    .map((lines) => lines.map((line, position) => ({ ...line, id: `line${position}` })));

const rateOfClass = (taxClass: string): fc.Arbitrary<TaxRateAtAddress> =>
  fc.record({
    taxClass: fc.constant(taxClass),
    name: fc.constantFrom("VAT", null),
    basisPoints: fc.oneof(fc.constantFrom(0, 700, 1900, 10_000), fc.nat(10_000)),
    appliesToShipping: fc.boolean(),
  });

export const taxTerms: fc.Arbitrary<CartTaxRatesAndRules> = fc.record({
  rounding: fc.constantFrom("line", "order"),
  rates: fc.record({
    standard: rateOfClass("standard"),
    reduced: rateOfClass("reduced"),
    exempt: rateOfClass("exempt"),
  }),
  shipping: fc.record({
    rule: fc.constantFrom("own_class", "goods"),
    taxClass: fc.constantFrom(...taxClasses),
  }),
});

/** A cart with up to six lines of all tax classes, with an address, and with promotions. */
export const smallTaxedCart: fc.Arbitrary<PriceCartInput> = fc
  .tuple(fc.constantFrom(10, 1000, 100_000), fc.boolean(), taxTerms)
  .chain(([priceMax, taxIncluded, tax]) =>
    fc.record({
      taxIncluded: fc.constant(taxIncluded),
      tax: fc.constant(tax),
      lines: linesOf(priceMax, 6),
      shippingMinor: fc.option(fc.nat(priceMax)),
      discounts: fc
        .array(fc.nat(), { maxLength: 2 })
        .chain((stack) => fc.tuple(...stack.map((_, turn) => discountRule(`promotion${turn}`, priceMax)))),
    }),
  );

export const randomCart: fc.Arbitrary<PriceCartInput> = magnitude.chain((priceMax) =>
  fc.record({
    taxIncluded: fc.boolean(),
    lines: fc.oneof(
      linesOf(priceMax).map((lines) => lines.slice(0, 4)),
      linesOf(priceMax),
    ),
    shippingMinor: fc.option(fc.nat(priceMax)),
    tax: fc.option(taxTerms),
    discounts: fc
      .array(fc.nat(), { maxLength: 6 })
      .chain((stack) => fc.tuple(...stack.map((_, turn) => discountRule(`promotion${turn}`, priceMax * 10)))),
  }),
);
