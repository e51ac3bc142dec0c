/** Properties of every priced cart with any lines and any combination of promotions. */
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  type BuyXGetYDiscountAndScope,
  createPromotedCartLinePredicate,
} from "#commerce/pricing/discounts.ts";
import { priceCart, type PriceCartInput, type CartLineToPrice } from "#commerce/pricing/price-cart.ts";
import { discountRule, entitlement, randomCart, taxTerms } from "#test/commerce/pricing/random-carts.ts";

const runs = { numRuns: 300 };
const sum = (amounts: readonly number[]): number => amounts.reduce((left, amount) => left + amount, 0);

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null)
    for (const part of Object.values(Object.freeze(value))) deepFreeze(part);
  return value;
}

it("a priced cart adds up: the total, each line, each discount and its parts", () => {
  fc.assert(
    fc.property(randomCart, (input) => {
      const cart = priceCart(input);
      const addedTax = (taxMinor: number | null): number => (input.taxIncluded ? 0 : (taxMinor ?? 0));
      expect(cart.subtotalMinor).toBe(
        sum(input.lines.map(({ unitPriceMinor, quantity }) => unitPriceMinor * quantity)),
      );
      expect(cart.totalMinor).toBe(
        cart.subtotalMinor - cart.discountMinor + (cart.shippingMinor ?? 0) + addedTax(cart.taxMinor),
      );
      expect(cart.discountMinor).toBe(
        sum(cart.lines.map(({ discountMinor }) => discountMinor)) + cart.shippingDiscountMinor,
      );
      expect(cart.discountMinor).toBe(sum(cart.discounts.map(({ discountMinor }) => discountMinor)));
      const parts = cart.discounts.flatMap(({ promotionId, discountMinor, allocations }) => {
        expect(sum(allocations.map(({ amountMinor }) => amountMinor))).toBe(discountMinor);
        return allocations.map((allocation) => ({ promotionId, ...allocation }));
      });
      expect(parts.every(({ amountMinor }) => amountMinor > 0)).toBe(true);
      expect(sum(parts.filter(({ lineId }) => lineId === null).map(({ amountMinor }) => amountMinor))).toBe(
        cart.shippingDiscountMinor,
      );
      for (const line of cart.lines) {
        const own = parts
          .filter(({ lineId }) => lineId === line.id)
          .map(({ promotionId, amountMinor }) => ({ promotionId, amountMinor }));
        expect(line.allocations).toEqual(own);
        expect(line.discountMinor).toBe(sum(own.map(({ amountMinor }) => amountMinor)));
        expect(line.totalMinor).toBe(line.subtotalMinor - line.discountMinor + addedTax(line.taxMinor));
      }
      const shippingTax =
        cart.taxMinor === null ? 0 : cart.taxMinor - sum(cart.lines.map(({ taxMinor }) => taxMinor ?? 0));
      const netShipping = (cart.shippingMinor ?? 0) - cart.shippingDiscountMinor;
      expect(cart.totalMinor).toBe(
        sum(cart.lines.map(({ totalMinor }) => totalMinor)) + netShipping + addedTax(shippingTax),
      );
    }),
    runs,
  );
});

it("a priced cart has no negative amount, and no discount on lines outside of the promotion", () => {
  fc.assert(
    fc.property(randomCart, (input) => {
      const cart = priceCart(input);
      expect(cart.totalMinor).toBeGreaterThanOrEqual(0);
      expect(cart.shippingDiscountMinor).toBeLessThanOrEqual(cart.shippingMinor ?? 0);
      for (const line of cart.lines) {
        expect(line.discountMinor).toBeGreaterThanOrEqual(0);
        expect(line.discountMinor).toBeLessThanOrEqual(line.subtotalMinor);
      }
      for (const [turn, { allocations }] of cart.discounts.entries()) {
        const { kind, entitled } = input.discounts[turn] ?? {
          kind: "gift",
          entitled: { productIds: ["none"], categoryIds: [] },
        };
        const mayTake = new Set(
          kind === "free_shipping"
            ? [null]
            : input.lines.filter(createPromotedCartLinePredicate(entitled)).map(({ id }) => id),
        );
        expect(allocations.filter(({ lineId }) => !mayTake.has(lineId))).toEqual([]);
      }
    }),
    runs,
  );
});

it("a priced cart has taxes if it has an address, each line's nearest to the exact tax", () => {
  fc.assert(
    fc.property(randomCart, (input) => {
      const cart = priceCart(input);
      expect(
        [cart, ...cart.lines].every(({ taxMinor }) => (taxMinor === null) === (input.tax === null)),
      ).toBe(true);
      for (const [position, { subtotalMinor, discountMinor, taxRate, taxMinor }] of cart.lines.entries()) {
        const { taxClass = "" } = input.lines[position] ?? {};
        expect(taxRate?.basisPoints).toBe(input.tax?.rates[taxClass]?.basisPoints);
        const offMinor = taxErrorOf({ amountMinor: subtotalMinor - discountMinor, taxRate, taxMinor }, input);
        // A line that is rounded by itself differs by half a minor unit at most.
        expect(offMinor <= (input.tax?.rounding === "order" ? 1 : 0.5)).toBe(true);
      }
    }),
    runs,
  );
});

/** Returns the difference of a tax from its exact value, in minor units rounded up to thousandths. */
function taxErrorOf(
  part: {
    readonly amountMinor: number;
    readonly taxRate: { readonly basisPoints: number } | null;
    readonly taxMinor: number | null;
  },
  { taxIncluded }: PriceCartInput,
): number {
  const basisPoints = BigInt(part.taxRate?.basisPoints ?? 0);
  const whole = taxIncluded ? 10_000n + basisPoints : 10_000n;
  const off = BigInt(part.taxMinor ?? 0) * whole - BigInt(part.amountMinor) * basisPoints;
  return Number(((off < 0n ? -off : off) * 1000n + whole - 1n) / whole) / 1000;
}

it("a priced cart's taxes by rate add up to its tax, and each is nearest to the exact tax if rounded by order", () => {
  fc.assert(
    fc.property(randomCart, (input) => {
      const cart = priceCart(input);
      const shipping = cart.shippingTaxes ?? [];
      expect(sum([...cart.lines, ...shipping].map(({ taxMinor }) => taxMinor ?? 0))).toBe(cart.taxMinor ?? 0);
      expect(sum(shipping.map(({ amountMinor }) => amountMinor))).toBe(
        input.tax === null ? 0 : (cart.shippingMinor ?? 0) - cart.shippingDiscountMinor,
      );
      expect(shipping.every(({ amountMinor, taxMinor }) => amountMinor >= 0 && taxMinor >= 0)).toBe(true);
      const parts = [
        ...cart.lines.map((line) => ({
          taxRate: line.taxRate,
          taxMinor: line.taxMinor,
          amountMinor: line.subtotalMinor - line.discountMinor,
        })),
        ...shipping.map((part) => ({
          taxRate: part,
          taxMinor: part.taxMinor,
          amountMinor: part.amountMinor,
        })),
      ];
      if (input.tax?.rounding !== "order") return;
      for (const own of Map.groupBy(parts, ({ taxRate }) => taxRate?.basisPoints).values()) {
        const taxMinor = sum(own.map((part) => part.taxMinor ?? 0));
        const amountMinor = sum(own.map((part) => part.amountMinor));
        expect(taxErrorOf({ amountMinor, taxMinor, taxRate: own[0]?.taxRate ?? null }, input) <= 0.5).toBe(
          true,
        );
      }
    }),
    runs,
  );
});

it("a priced cart divides shipping among the classes of delivered goods in proportion to their amounts", () => {
  fc.assert(
    fc.property(randomCart, taxTerms, (random, terms) => {
      const rates = Object.fromEntries(
        Object.entries(terms.rates).map(([code, rate]) => [code, { ...rate, appliesToShipping: true }]),
      );
      const tax = { ...terms, rates, shipping: { ...terms.shipping, rule: "goods" as const } };
      const cart = priceCart({ ...random, tax });
      const delivered = cart.lines
        .map((line, position) => ({ line, given: random.lines[position] }))
        .filter(({ given }) => given?.requiresShipping === true)
        .map(({ line, given }) => ({
          code: given?.taxClass,
          amount: line.subtotalMinor - line.discountMinor,
        }));
      const goodsMinor = sum(delivered.map(({ amount }) => amount));
      const netMinor = (cart.shippingMinor ?? 0) - cart.shippingDiscountMinor;
      for (const { taxClass, amountMinor } of cart.shippingTaxes ?? []) {
        const ownMinor = sum(delivered.map(({ code, amount }) => (code === taxClass ? amount : 0)));
        if (goodsMinor === 0) expect([taxClass, amountMinor]).toEqual([tax.shipping.taxClass, netMinor]);
        else
          expect(
            Math.abs(Number((BigInt(netMinor) * BigInt(ownMinor)) / BigInt(goodsMinor)) - amountMinor),
          ).toBeLessThanOrEqual(1);
      }
    }),
    runs,
  );
});

it("a priced cart does not become more expensive by another promotion, neither a line nor the total", () => {
  fc.assert(
    fc.property(randomCart, discountRule("more", 1_000_000), (input, more) => {
      // A rounding difference may move to another line, and a smaller share of a class in the goods may give
      // its part of the shipping price to a class with a higher rate.
      fc.pre(input.tax?.rounding !== "order" && input.tax?.shipping.rule !== "goods");
      const before = priceCart(input);
      const after = priceCart({ ...input, discounts: [...input.discounts, more] });
      expect(after.totalMinor).toBeLessThanOrEqual(before.totalMinor);
      for (const [position, line] of after.lines.entries())
        expect(line.totalMinor).toBeLessThanOrEqual(before.lines[position]?.totalMinor ?? 0);
      // Earlier discounts do not change.
      expect(after.discounts.slice(0, -1)).toEqual(before.discounts);
    }),
    runs,
  );
});

it("a priced cart costs the same for any order of lines, if all promotions are percentages", () => {
  const percentages = randomCart.map((input) => ({
    ...input,
    discounts: input.discounts.filter(({ kind }) => kind === "percentage"),
  }));
  fc.assert(
    fc.property(percentages, (input) => {
      const { lines, discounts, ...totals } = priceCart(input);
      const turned = priceCart({ ...input, lines: input.lines.toReversed() });
      const { shippingTaxes: _, ...sums } = totals;
      expect(turned).toMatchObject(input.tax?.rounding === "order" ? sums : totals);
      // If the tax is rounded by order, the first line gets the rounding difference.
      if (input.tax?.rounding !== "order") expect(turned.lines.toReversed()).toEqual(lines);
      expect(turned.discounts.map(({ discountMinor }) => discountMinor)).toEqual(
        discounts.map(({ discountMinor }) => discountMinor),
      );
    }),
    runs,
  );
});

it("a priced cart gets the same price again, and its input does not change", () => {
  fc.assert(
    fc.property(randomCart, (input) => {
      const first = priceCart(deepFreeze(structuredClone(input)));
      expect(priceCart(input)).toEqual(first);
      expect(priceCart(structuredClone(input))).toEqual(first);
    }),
    runs,
  );
});

/**
 * Tries every choice of discounted units and returns the one with the most applications, among those the one
 * that costs the shop least.
 */
function leastOfMost(rule: BuyXGetYDiscountAndScope, lines: readonly CartLineToPrice[]): number {
  const isEntitled = createPromotedCartLinePredicate(rule.entitled);
  const isBought = createPromotedCartLinePredicate(
    [...rule.buy.productIds, ...rule.buy.categoryIds].length === 0 ? rule.entitled : rule.buy,
  );
  const units = lines.flatMap((line) => Array.from({ length: line.quantity }, () => line));
  let best = { applications: 0, costMinor: 0 };
  for (let picked = 1; picked < 2 ** units.length; picked++) {
    const got = units.filter((_, unit) => (picked >> unit) % 2 === 1);
    const rest = units.filter((_, unit) => (picked >> unit) % 2 === 0);
    const applications = got.length / rule.getQuantity;
    const isPossible =
      got.every(isEntitled) &&
      Number.isInteger(applications) &&
      rest.filter(isBought).length >= applications * rule.buyQuantity;
    const costMinor = sum(got.map(({ unitPriceMinor }) => unitPriceMinor));
    const isBetter =
      applications > best.applications || (applications === best.applications && costMinor < best.costMinor);
    if (isPossible && isBetter) best = { applications, costMinor };
  }
  return best.costMinor;
}

it("a priced cart gives for 'buy X, get Y' the same as an exhaustive search", () => {
  const few = fc.integer({ min: 1, max: 3 });
  const rule = fc.record({
    id: fc.constant("buyGet"),
    kind: fc.constant("buy_x_get_y" as const),
    buyQuantity: few,
    getQuantity: few,
    basisPoints: fc.constant(10_000),
    entitled: entitlement,
    buy: entitlement,
  });
  const smallLine = fc.record({
    productId: fc.constantFrom("p0", "p1", "p2"),
    categoryIds: fc.subarray(["c0", "c1"]),
    unitPriceMinor: fc.nat(9),
    quantity: fc.integer({ min: 1, max: 3 }),
  });
  const lines = fc
    .array(smallLine, { maxLength: 4 })
    .filter((list) => sum(list.map(({ quantity }) => quantity)) <= 9)
    .map((list) =>
      list.map((line, position): CartLineToPrice => ({
        ...line,
        id: `line${position}`,
        requiresShipping: true,
        taxClass: "standard",
      })),
    );
  fc.assert(
    fc.property(rule, lines, (discount, list) => {
      const input: PriceCartInput = {
        taxIncluded: true,
        lines: list,
        shippingMinor: null,
        tax: null,
        discounts: [discount],
      };
      expect(priceCart(input).discountMinor).toBe(leastOfMost(discount, list));
    }),
    { numRuns: 1000 },
  );
});
