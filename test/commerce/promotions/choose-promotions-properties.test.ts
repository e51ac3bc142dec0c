/** Properties of the choice of promotions for any cart, checked by a second implementation of the conditions. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { createPromotedCartLinePredicate } from "#commerce/pricing/discounts.ts";
import { priceCart } from "#commerce/pricing/price-cart.ts";
import {
  type CartDataForPromotionChoice,
  type ChosenPromotions,
  choosePromotionsAndPriceCart,
} from "#commerce/promotions/choose-promotions.ts";
import type { PromotionRule } from "#commerce/promotions/promotion-rule.ts";
import { discountRule, randomCart } from "#test/commerce/pricing/random-carts.ts";

const runs = { numRuns: 300 };
const now = new Date("2026-06-01T12:00:00Z");
const moment = fc.constantFrom(new Date("2026-05-01T00:00:00Z"), now, new Date("2026-07-01T00:00:00Z"));
/** Most conditions hold, so that some promotions pass all of them. */
const seldom = <T>(usual: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
const limit = seldom<number | null>(null, fc.integer({ min: 1, max: 3 }));

function promotion(id: string, trigger: PromotionRule["trigger"]): fc.Arbitrary<PromotionRule> {
  const rule = fc.record({
    id: fc.constant(id),
    trigger: fc.constant(trigger),
    status: seldom<PromotionRule["status"]>("active", fc.constantFrom("draft", "paused", "ended")),
    discount: discountRule(id, 100_000),
    currency: seldom<string | null>(null, fc.constantFrom("EUR", "USD")),
    minimumSubtotalMinor: seldom<number | null>(null, fc.integer({ min: 1, max: 100_000 })),
    minimumQuantity: seldom<number | null>(null, fc.integer({ min: 1, max: 100 })),
    marketIds: seldom<string[]>([], fc.subarray(["mkt_de", "mkt_us"])),
    requiresSignIn: seldom(false, fc.boolean()),
    isForSomeBuyers: seldom(false, fc.constant(true)),
    isForThisBuyer: fc.boolean(),
    startsAt: seldom<Date | null>(null, moment),
    endsAt: seldom<Date | null>(null, moment),
    usageLimit: limit,
    perBuyerLimit: limit,
    used: fc.nat(3),
    usedByBuyer: fc.nat(3),
    priority: fc.integer({ min: -2, max: 2 }),
    isExclusive: fc.oneof(
      { weight: 3, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
    code:
      trigger === "code"
        ? fc.record({ id: fc.constant("pcd_1"), usageLimit: limit, used: fc.nat(3) })
        : fc.constant(null),
  });
  return rule.map((drawn) =>
    Object.assign({}, drawn, { isForThisBuyer: drawn.isForThisBuyer || !drawn.isForSomeBuyers }),
  );
}

const situation = fc.record({
  facts: fc.record({
    marketId: fc.constant("mkt_de"),
    currency: fc.constant("EUR"),
    buyerReference: fc.constantFrom(null, "ada", "bea"),
    now: fc.constant(now),
    // The random cart's discounts must not count.
    pricing: randomCart,
  }),
  automatic: fc
    .array(fc.nat(), { maxLength: 6 })
    .chain((heap) => fc.tuple(...heap.map((_, turn) => promotion(`p${turn}`, "automatic")))),
  code: fc.option(promotion("code", "code"), { freq: 4 }),
});

const appliedOf = ({ automatic, code }: ChosenPromotions): PromotionRule[] => [
  ...automatic,
  ...(code?.refusal === null ? [code.rule] : []),
];

/** Checks all conditions at once in any order, unlike the module. */
function isBroken(rule: PromotionRule, facts: CartDataForPromotionChoice): boolean {
  return [isNotNow(rule), isNotForBuyer(rule, facts.buyerReference), isNotForCart(rule, facts)].includes(
    true,
  );
}

function isNotNow({ status, startsAt, endsAt, used, usageLimit, code }: PromotionRule): boolean {
  const isEarly = startsAt !== null && startsAt.getTime() > now.getTime();
  const isLate = endsAt !== null && endsAt.getTime() <= now.getTime();
  const isUsedUp = used >= (usageLimit ?? Infinity) || (code?.used ?? 0) >= (code?.usageLimit ?? Infinity);
  return [status !== "active", isEarly, isLate, isUsedUp].includes(true);
}

function isNotForBuyer(rule: PromotionRule, buyer: string | null): boolean {
  const isUnknown =
    buyer === null && (rule.requiresSignIn || rule.perBuyerLimit !== null || rule.isForSomeBuyers);
  return [isUnknown, !rule.isForThisBuyer, rule.usedByBuyer >= (rule.perBuyerLimit ?? Infinity)].includes(
    true,
  );
}

function isNotForCart(
  rule: PromotionRule,
  { marketId, currency, pricing }: CartDataForPromotionChoice,
): boolean {
  const entitled = pricing.lines.filter(createPromotedCartLinePredicate(rule.discount.entitled));
  const units = entitled.reduce((sum, { quantity }) => sum + quantity, 0);
  const subtotal = entitled.reduce((sum, { unitPriceMinor, quantity }) => sum + unitPriceMinor * quantity, 0);
  return [
    rule.marketIds.length > 0 && !rule.marketIds.includes(marketId),
    ![null, currency].includes(rule.currency),
    units === 0 || units < (rule.minimumQuantity ?? 0),
    subtotal < (rule.minimumSubtotalMinor ?? 0),
    rule.discount.kind === "buy_x_get_y" && units < rule.discount.getQuantity,
  ].includes(true);
}

it("the choice of promotions applies none with a failed condition, and refuses no code without one", () => {
  fc.assert(
    fc.property(situation, ({ facts, ...offered }) => {
      const choice = choosePromotionsAndPriceCart(facts, offered);
      expect(appliedOf(choice).filter((rule) => isBroken(rule, facts))).toEqual([]);
      const refusal = choice.code?.refusal ?? null;
      const isOwnFault =
        refusal !== null && !["combination_disallowed", "superseded_by_better_deal"].includes(refusal.reason);
      const isShortOfUnits =
        offered.code?.discount.kind === "buy_x_get_y" && refusal?.reason === "minimum_quantity_not_met";
      if (offered.code !== null && !isShortOfUnits) expect(isOwnFault).toBe(isBroken(offered.code, facts));
    }),
    runs,
  );
});

it("the choice of promotions counts exactly the applied promotions", () => {
  fc.assert(
    fc.property(situation, ({ facts, ...offered }) => {
      const choice = choosePromotionsAndPriceCart(facts, offered);
      expect(choice.priced).toEqual(
        priceCart({ ...facts.pricing, discounts: appliedOf(choice).map(({ discount }) => discount) }),
      );
      expect(
        choice.priced.discounts
          .slice(0, choice.automatic.length)
          .filter(({ discountMinor }) => discountMinor === 0),
      ).toEqual([]);
      expect(choice.code?.rule ?? null).toBe(offered.code);
    }),
    runs,
  );
});

it("the choice of promotions keeps an exclusive promotion alone, whether automatic or a code", () => {
  fc.assert(
    fc.property(situation, ({ facts, ...offered }) => {
      const choice = choosePromotionsAndPriceCart(facts, offered);
      const applied = appliedOf(choice);
      expect(applied.length === 1 || !applied.some(({ isExclusive }) => isExclusive)).toBe(true);
    }),
    runs,
  );
});

it("the choice of promotions never makes the cart more expensive than without promotions", () => {
  fc.assert(
    fc.property(situation, ({ facts, ...offered }) => {
      const { priced } = choosePromotionsAndPriceCart(facts, offered);
      expect(priced.totalMinor).toBeLessThanOrEqual(
        priceCart({ ...facts.pricing, discounts: [] }).totalMinor,
      );
      expect(priced.totalMinor).toBeGreaterThanOrEqual(0);
    }),
    runs,
  );
});

it("the choice of promotions is the same again, for any order of input, and starting from its result", () => {
  fc.assert(
    fc.property(situation, ({ facts, automatic, code }) => {
      const choice = choosePromotionsAndPriceCart(facts, { automatic, code });
      expect(
        choosePromotionsAndPriceCart(structuredClone(facts), structuredClone({ automatic, code })),
      ).toEqual(choice);
      expect(choosePromotionsAndPriceCart(facts, { automatic: automatic.toReversed(), code })).toEqual(
        choice,
      );
      const kept = {
        automatic: choice.automatic,
        code: choice.code?.refusal === null ? choice.code.rule : null,
      };
      expect(choosePromotionsAndPriceCart(facts, kept)).toEqual(
        kept.code === null ? { ...choice, code: null } : choice,
      );
    }),
    runs,
  );
});
