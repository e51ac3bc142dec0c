/** Which promotions a cart gets, every reason to refuse a code, and every combination of promotions. */
import { describe, expect, it } from "vitest";
import type { BuyXGetYDiscountAndScope, DiscountRule } from "#commerce/pricing/discounts.ts";
import type { CartLineToPrice } from "#commerce/pricing/price-cart.ts";
import {
  type CartDataForPromotionChoice,
  choosePromotionsAndPriceCart,
  type PromotionRefusal,
} from "#commerce/promotions/choose-promotions.ts";
import { type PromotionRule, promotionRefusalReasons } from "#commerce/promotions/promotion-rule.ts";

const now = new Date("2026-06-01T12:00:00Z");
const before = new Date("2026-06-01T11:59:59.999Z");
const after = new Date("2026-06-01T12:00:00.001Z");
const everything = { productIds: [], categoryIds: [] };
const onlyShirts = { productIds: ["shirt"], categoryIds: [] };
const onlyCaps = { productIds: ["cap"], categoryIds: [] };

function line(id: string, unitPriceMinor: number, quantity: number): CartLineToPrice {
  return {
    id: `line_${id}`,
    productId: id,
    categoryIds: [],
    unitPriceMinor,
    quantity,
    requiresShipping: true,
    taxClass: "standard",
  };
}

/** 2 × 30.00 and 1 × 40.00 are 100.00, so that percentages equal amounts. */
const lines = [line("shirt", 3000, 2), line("shoe", 4000, 1)];

function facts(
  change: Partial<CartDataForPromotionChoice> & {
    readonly lines?: readonly CartLineToPrice[];
    readonly shippingMinor?: number;
  } = {},
): CartDataForPromotionChoice {
  const pricing = {
    taxIncluded: true,
    lines: change.lines ?? lines,
    shippingMinor: change.shippingMinor ?? null,
    tax: null,
  };
  return { marketId: "mkt_de", currency: "EUR", buyerReference: null, now, pricing, ...change };
}

const percent = (value: number): Partial<DiscountRule> => ({ kind: "percentage", basisPoints: value * 100 });
const freeShipping: Partial<DiscountRule> = { kind: "free_shipping" };
function buyGet(
  buyQuantity: number,
  getQuantity: number,
  change: Partial<BuyXGetYDiscountAndScope> = {},
): Partial<DiscountRule> {
  return { kind: "buy_x_get_y", buyQuantity, getQuantity, basisPoints: 10_000, buy: everything, ...change };
}

type Change = Partial<Omit<PromotionRule, "discount">> & { readonly off?: Partial<DiscountRule> };

function automatic(id: string, { off = percent(10), ...change }: Change = {}): PromotionRule {
  return {
    id,
    trigger: "automatic",
    status: "active",
    discount: { id, entitled: everything, ...off } as DiscountRule,
    currency: null,
    minimumSubtotalMinor: null,
    minimumQuantity: null,
    marketIds: [],
    requiresSignIn: false,
    isForSomeBuyers: false,
    isForThisBuyer: true,
    startsAt: null,
    endsAt: null,
    usageLimit: null,
    perBuyerLimit: null,
    used: 0,
    usedByBuyer: 0,
    priority: 0,
    isExclusive: false,
    code: null,
    ...change,
  };
}

const code = (change: Change = {}): PromotionRule =>
  automatic("code", { trigger: "code", code: { id: "pcd_1", usageLimit: null, used: 0 }, ...change });

/** The applied promotions in order with their discounts, and the reason why the code is refused. */
function chosen(
  offered: { readonly automatic?: readonly PromotionRule[]; readonly code?: PromotionRule },
  cart: CartDataForPromotionChoice = facts(),
): { readonly applied: readonly [string, number][]; readonly refusal: PromotionRefusal | null } {
  const choice = choosePromotionsAndPriceCart(cart, {
    automatic: offered.automatic ?? [],
    code: offered.code ?? null,
  });
  const applied = choice.priced.discounts.map(({ promotionId, discountMinor }): [string, number] => [
    promotionId,
    discountMinor,
  ]);
  const ids = [...choice.automatic, ...(choice.code?.refusal === null ? [choice.code.rule] : [])].map(
    ({ id }) => id,
  );
  expect(applied.map(([id]) => id)).toEqual(ids);
  expect(choice.priced.discountMinor).toBe(
    applied.reduce((sum, [, discountMinor]) => sum + discountMinor, 0),
  );
  return { applied, refusal: choice.code?.refusal ?? null };
}

interface Case {
  readonly rule: Change;
  readonly cart?: CartDataForPromotionChoice;
  readonly data?: PromotionRefusal["data"];
}

const bea = facts({ buyerReference: "bea" });
/** The promotion is limited to certain buyers; this buyer is or is not one of them. */
const forThisBuyer = { isForSomeBuyers: true, isForThisBuyer: true };
const forOthers = { isForSomeBuyers: true, isForThisBuyer: false };

const refused: readonly (readonly [PromotionRefusal["reason"], string, Case])[] = [
  ["ended", "was ended", { rule: { status: "ended" } }],
  ["ended", "is at its end", { rule: { endsAt: now } }],
  ["ended", "is past its end, paused or not", { rule: { status: "paused", endsAt: before } }],
  ["paused", "is paused", { rule: { status: "paused", endsAt: after, startsAt: after } }],
  ["not_started", "is a draft", { rule: { status: "draft", startsAt: before } }],
  ["not_started", "starts later", { rule: { startsAt: after } }],
  ["market_not_eligible", "is for other markets", { rule: { marketIds: ["mkt_us", "mkt_jp"] } }],
  ["currency_mismatch", "is of another currency", { rule: { currency: "USD" } }],
  ["usage_limit_reached", "was used as often as it may be", { rule: { usageLimit: 5, used: 5 } }],
  [
    "usage_limit_reached",
    "has a code that was used as often as it may be",
    { rule: { code: { id: "pcd_1", usageLimit: 1, used: 1 } } },
  ],
  ["sign_in_required", "asks for a sign-in", { rule: { requiresSignIn: true } }],
  ["sign_in_required", "counts uses for each buyer", { rule: { perBuyerLimit: 1 } }],
  ["sign_in_required", "is for certain buyers", { rule: forOthers }],
  ["customer_not_eligible", "is for other buyers", { rule: forOthers, cart: bea }],
  [
    "customer_usage_limit_reached",
    "was used by this buyer as often as it may be",
    { rule: { perBuyerLimit: 2, usedByBuyer: 2 }, cart: bea },
  ],
  [
    "no_entitled_lines",
    "is about nothing in the cart",
    { rule: { off: { ...percent(10), entitled: onlyCaps } } },
  ],
  ["no_entitled_lines", "is on an empty cart", { rule: {}, cart: facts({ lines: [] }) }],
  [
    "no_entitled_lines",
    "gets what is not in the cart",
    { rule: { off: buyGet(1, 1, { entitled: onlyCaps, buy: onlyShirts }) } },
  ],
  [
    "minimum_subtotal_not_met",
    "needs a cent more",
    {
      rule: { currency: "EUR", minimumSubtotalMinor: 10_001 },
      data: { requiredAmountMinor: 10_001, missingAmountMinor: 1 },
    },
  ],
  [
    "minimum_subtotal_not_met",
    "needs more of what it is about",
    {
      rule: { currency: "EUR", minimumSubtotalMinor: 10_000, off: { ...percent(10), entitled: onlyShirts } },
      data: { requiredAmountMinor: 10_000, missingAmountMinor: 4000 },
    },
  ],
  [
    "minimum_quantity_not_met",
    "needs one more",
    { rule: { minimumQuantity: 4 }, data: { requiredQuantity: 4, missingQuantity: 1 } },
  ],
  [
    "minimum_quantity_not_met",
    "needs more of what it is about",
    {
      rule: { minimumQuantity: 3, off: { ...percent(10), entitled: onlyShirts } },
      data: { requiredQuantity: 3, missingQuantity: 1 },
    },
  ],
  [
    "minimum_quantity_not_met",
    "does not reach its X + Y",
    { rule: { off: buyGet(3, 2) }, data: { requiredQuantity: 5, missingQuantity: 2 } },
  ],
  [
    "minimum_quantity_not_met",
    "has the Y, and the X are not there",
    { rule: { off: buyGet(2, 1, { buy: onlyCaps }) }, data: { requiredQuantity: 3, missingQuantity: 2 } },
  ],
  [
    "minimum_quantity_not_met",
    "is far from X + Y and near its own minimum",
    { rule: { minimumQuantity: 4, off: buyGet(3, 2) }, data: { requiredQuantity: 5, missingQuantity: 2 } },
  ],
  [
    "minimum_quantity_not_met",
    "has its X + Y, and its own minimum is above",
    { rule: { minimumQuantity: 9, off: buyGet(2, 1) }, data: { requiredQuantity: 9, missingQuantity: 6 } },
  ],
];

describe("a code is refused", () => {
  it.each(refused)("with %s if it %s", (reason, _, { rule, cart, data = {} }) => {
    expect(chosen({ code: code(rule) }, cart)).toEqual({ applied: [], refusal: { reason, data } });
  });

  it("for every known reason", () => {
    const met: ReadonlySet<string> = new Set([
      ...refused.map(([reason]) => reason),
      "combination_disallowed",
      "superseded_by_better_deal",
    ]);
    expect(promotionRefusalReasons.filter((reason) => !met.has(reason))).toEqual([]);
  });

  it("for the first failed condition, in a fixed order", () => {
    const broken: readonly (readonly [PromotionRefusal["reason"], Change])[] = [
      ["ended", { endsAt: before }],
      ["paused", { status: "paused" }],
      ["not_started", { startsAt: after }],
      ["market_not_eligible", { marketIds: ["mkt_us"] }],
      ["currency_mismatch", { currency: "USD" }],
      ["usage_limit_reached", { usageLimit: 1, used: 1 }],
      ["customer_not_eligible", forOthers],
      ["customer_usage_limit_reached", { perBuyerLimit: 1, usedByBuyer: 1 }],
      ["no_entitled_lines", { off: { ...percent(10), entitled: onlyCaps } }],
      ["minimum_subtotal_not_met", { minimumSubtotalMinor: 1_000_000 }],
      ["minimum_quantity_not_met", { minimumQuantity: 100 }],
    ];
    const reasons = broken.map((_, turn) => {
      const all = broken.slice(turn).map(([, change]) => change);
      return chosen({ code: code(Object.assign({}, ...all.toReversed()) as Change) }, bea).refusal?.reason;
    });
    expect(reasons).toEqual(broken.map(([reason]) => reason));
    // An unknown buyer comes first, because both conditions about the buyer need it.
    expect(chosen({ code: code({ ...forOthers, perBuyerLimit: 1, usedByBuyer: 1 }) }).refusal?.reason).toBe(
      "sign_in_required",
    );
  });

  it.each(refused)(
    "like an automatic promotion, which is left out silently, with %s if it %s",
    (_reason, _, { rule, cart }) => {
      // Only code promotions have this condition.
      const withCode =
        rule.code === undefined
          ? rule
          : { usageLimit: rule.code?.usageLimit ?? null, used: rule.code?.used ?? 0 };
      expect(chosen({ automatic: [automatic("silent", withCode)] }, cart)).toEqual({
        applied: [],
        refusal: null,
      });
    },
  );
});

describe("a code applies to a cart", () => {
  it.each([
    ["until its last moment", { endsAt: after, startsAt: now }, facts()],
    ["in one of its markets", { marketIds: ["mkt_us", "mkt_de"] }, facts()],
    ["in its currency", { currency: "EUR" }, facts()],
    ["for its last use", { usageLimit: 5, used: 4, code: { id: "pcd_1", usageLimit: 2, used: 1 } }, facts()],
    [
      "to a buyer it is for, for the last use",
      { requiresSignIn: true, ...forThisBuyer, perBuyerLimit: 2, usedByBuyer: 1 },
      bea,
    ],
    ["at its minimum", { currency: "EUR", minimumSubtotalMinor: 10_000, minimumQuantity: 3 }, facts()],
  ] satisfies [string, Change, CartDataForPromotionChoice][])("%s", (_, rule, cart) => {
    expect(chosen({ code: code(rule) }, cart)).toEqual({ applied: [["code", 1000]], refusal: null });
  });

  it("by the subtotal before discounts: an automatic promotion does not reduce it below the minimum", () => {
    const offered = {
      automatic: [automatic("half", { off: percent(50) })],
      code: code({ minimumSubtotalMinor: 10_000, currency: "EUR" }),
    };
    expect(chosen(offered)).toEqual({
      applied: [
        ["half", 5000],
        ["code", 500],
      ],
      refusal: null,
    });
  });

  it("with the amount 0 if it gives free shipping and no delivery option is chosen", () => {
    expect(chosen({ code: code({ off: freeShipping }) })).toEqual({ applied: [["code", 0]], refusal: null });
    expect(chosen({ code: code({ off: freeShipping }) }, facts({ shippingMinor: 490 }))).toEqual({
      applied: [["code", 490]],
      refusal: null,
    });
  });

  it("with the amount 0 if the automatic promotions leave nothing", () => {
    expect(chosen({ automatic: [automatic("all", { off: percent(100) })], code: code() })).toEqual({
      applied: [
        ["all", 10_000],
        ["code", 0],
      ],
      refusal: null,
    });
  });

  it("and no code means no refusal", () => {
    const choice = choosePromotionsAndPriceCart(facts(), { automatic: [], code: null });
    expect(choice).toMatchObject({
      automatic: [],
      code: null,
      priced: { discountMinor: 0, totalMinor: 10_000, discounts: [] },
    });
  });
});

describe("the choice among automatic promotions", () => {
  it("are applied by priority, then by id, each to the amount left by the earlier ones", () => {
    const offered = [
      automatic("c"),
      automatic("low", { priority: -1 }),
      automatic("a"),
      automatic("high", { priority: 9, off: percent(50) }),
    ];
    const applied = [
      ["high", 5000],
      ["a", 500],
      ["c", 450],
      ["low", 405],
    ];
    expect(chosen({ automatic: offered }).applied).toEqual(applied);
    expect(chosen({ automatic: offered.toReversed() }).applied).toEqual(applied);
  });

  it("that discount nothing are left out", () => {
    const offered = [
      automatic("all", { priority: 2, off: percent(100) }),
      automatic("more"),
      automatic("shipping", { priority: 3, off: freeShipping }),
    ];
    expect(chosen({ automatic: offered }).applied).toEqual([["all", 10_000]]);
    expect(chosen({ automatic: offered }, facts({ shippingMinor: 490 })).applied).toEqual([
      ["shipping", 490],
      ["all", 10_000],
    ]);
  });

  it.each([
    ["the first is exclusive: it is alone", [{ priority: 2, isExclusive: true }, { priority: 1 }], ["p0"]],
    [
      "a later one is exclusive: it is left out",
      [{ priority: 2 }, { priority: 1, isExclusive: true }, { priority: 0 }],
      ["p0", "p2"],
    ],
    ["two are exclusive: the first alone", [{ isExclusive: true }, { isExclusive: true }], ["p0"]],
    [
      "the exclusive one takes nothing off: it is in nobody's way",
      [{ priority: 2, isExclusive: true, off: freeShipping }, { priority: 1 }],
      ["p1"],
    ],
    [
      "one before the exclusive one takes nothing off",
      [{ priority: 2, off: freeShipping }, { priority: 1, isExclusive: true }, {}],
      ["p1"],
    ],
    [
      "the exclusive one is not for this cart",
      [{ priority: 2, isExclusive: true, marketIds: ["mkt_us"] }, { priority: 1 }],
      ["p1"],
    ],
    [
      "one before the exclusive one is not for this cart",
      [{ priority: 2, status: "paused" }, { priority: 1, isExclusive: true }, {}],
      ["p1"],
    ],
  ] satisfies [string, Change[], string[]][])("if %s", (_, changes, expected) => {
    const offered = changes.map((change, turn) => automatic(`p${turn}`, change));
    expect(chosen({ automatic: offered }).applied.map(([id]) => id)).toEqual(expected);
  });
});

describe("a code beside automatic promotions", () => {
  const tenAndTwenty = [automatic("ten", { priority: 1 }), automatic("twenty", { off: percent(20) })];
  const together = [
    ["ten", 1000],
    ["twenty", 1800],
  ];

  it("is applied after them", () => {
    expect(chosen({ automatic: tenAndTwenty, code: code({ priority: 9 }) })).toEqual({
      applied: [...together, ["code", 720]],
      refusal: null,
    });
  });

  it("does not affect them if it is refused", () => {
    const offered = {
      automatic: tenAndTwenty,
      code: code({ isExclusive: true, off: percent(90), status: "paused" }),
    };
    expect(chosen(offered)).toEqual({ applied: together, refusal: { reason: "paused", data: {} } });
  });

  it.each([
    ["takes more: they are dropped", 2801, true],
    ["takes as much: they are dropped", 2800, true],
    ["takes less: it is refused", 2799, false],
  ])("that is exclusive and %s", (_, amountMinor, isTaken) => {
    const exclusive = code({
      isExclusive: true,
      currency: "EUR",
      off: { kind: "fixed_amount", amountMinor },
    });
    expect(chosen({ automatic: tenAndTwenty, code: exclusive })).toEqual(
      isTaken
        ? { applied: [["code", amountMinor]], refusal: null }
        : { applied: together, refusal: { reason: "superseded_by_better_deal", data: {} } },
    );
  });

  it("that is exclusive is compared with an exclusive automatic one by discount, not by priority", () => {
    const alone = [automatic("alone", { isExclusive: true, priority: 9, off: percent(20) })];
    expect(chosen({ automatic: alone, code: code({ isExclusive: true, off: percent(20) }) })).toEqual({
      applied: [["code", 2000]],
      refusal: null,
    });
    expect(
      chosen({ automatic: alone, code: code({ isExclusive: true, priority: 99, off: percent(19) }) }),
    ).toEqual({
      applied: [["alone", 2000]],
      refusal: { reason: "superseded_by_better_deal", data: {} },
    });
  });

  it("that is exclusive has no conflict if no automatic promotion discounts anything", () => {
    const idle = [automatic("idle", { off: freeShipping })];
    expect(chosen({ automatic: idle, code: code({ isExclusive: true, off: freeShipping }) })).toEqual({
      applied: [["code", 0]],
      refusal: null,
    });
  });

  it.each([
    ["a higher priority: the automatic one is dropped", 6, true],
    ["the same priority: it is refused", 5, false],
    ["a lower priority: it is refused", 4, false],
  ])("that combines meets an exclusive one with %s", (_, priority, isTaken) => {
    const offered = {
      automatic: [
        automatic("alone", { isExclusive: true, priority: 5, off: percent(50) }),
        automatic("other", { priority: 1 }),
      ],
      code: code({ priority }),
    };
    expect(chosen(offered)).toEqual(
      isTaken
        ? { applied: [["code", 1000]], refusal: null }
        : { applied: [["alone", 5000]], refusal: { reason: "combination_disallowed", data: {} } },
    );
  });
});
