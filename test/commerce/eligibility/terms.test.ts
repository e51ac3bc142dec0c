/** The terms of after-sales options: return method, who pays, required evidence, and settlement. */
import { describe, expect, it } from "vitest";
import type { AfterSalesOption } from "#commerce/after-sales/after-sales-option.ts";
import { ask, at, eur, optionOf, shown, soon } from "./paper-answer.ts";
import { delivered, later, type PaperOrder, paperPayment } from "./paper-order.ts";

const stocked = { siblingsInStock: new Map([["prd_0", ["var_0", "var_9"]]]) };
const free = [{ code: "return_shipping", amount: eur(0), basisPoints: null, payer: "merchant" }];
const lost: PaperOrder = {
  lines: [{ shipped: 1 }, { ordered: 2, shipped: 2 }],
  fulfillments: [{ status: "in_transit", shippedAt: at, estimatedDeliveryAt: at }],
};
const due = "2026-03-20T09:00:00.000Z";
const termsOf = ({
  methods,
  fees,
  settlement,
  evidenceRequired,
}: Omit<AfterSalesOption, "kind">): unknown => ({
  methods,
  fees,
  settlement,
  evidenceRequired,
});

describe("a merchant that requires photos and accepts returns in a store", () => {
  const rules = {
    return: {
      photoRequired: true,
      methods: ["store", "keep_item"],
      keepItemMinor: 100_000,
    },
  } as const;
  const answer = ask(delivered(at, { rules }), soon, stocked);
  const money = ["original_payment"];
  it.each([
    ["return_refund", { methods: ["store"], fees: free, settlement: money, evidenceRequired: ["photo"] }],
    [
      "exchange",
      { methods: ["store"], fees: free, settlement: ["replacement"], evidenceRequired: ["photo"] },
    ],
    ["refund_only", { methods: ["keep_item"], fees: [], settlement: money, evidenceRequired: ["photo"] }],
    ["repair", { methods: ["store"], fees: free, settlement: [], evidenceRequired: ["receipt"] }],
    [
      "replacement",
      { methods: ["store"], fees: free, settlement: ["replacement"], evidenceRequired: ["receipt"] },
    ],
    // A legal right needs no evidence, and is refunded to the original payment.
    ["withdrawal", { methods: ["store"], fees: free, settlement: money, evidenceRequired: [] }],
  ] as const)("%s: %o", (kind, terms) => {
    expect(termsOf(optionOf(answer, kind))).toEqual(terms);
  });

  it("lost units need no evidence and are refunded to the original payment", () => {
    const [onOrder] = ask({ ...lost, rules }, due).orderLevel;
    const terms = { methods: ["keep_item"], fees: [], settlement: money, evidenceRequired: [] };
    expect(termsOf(optionOf(ask({ ...lost, rules }, due), "refund_only"))).toEqual(terms);
    expect(onOrder === undefined ? undefined : termsOf(onOrder)).toEqual(terms);
  });

  it("a merchant whose return methods are described only in words gets returns by mail", () => {
    const only = ask(delivered(at, { rules: { return: { methods: ["keep_item"] } } }));
    expect(optionOf(only, "return_refund").methods).toEqual(["mail"]);
  });
});

describe("keeping the item", () => {
  const kept = (
    rules: NonNullable<PaperOrder["rules"]>["return"],
    lines?: PaperOrder["lines"],
  ): AfterSalesOption =>
    optionOf(
      ask(delivered(at, { rules: { return: rules ?? {} }, ...(lines === undefined ? {} : { lines }) })),
      "refund_only",
    );

  it.each([
    [{ keepItemMinor: 1000 }, "allowed 1"],
    [{ keepItemMinor: 1000, mode: "request" as const }, "request_required 1 (self_service_disabled)"],
    [{ keepItemMinor: 1000, mode: "none" as const }, "denied 0 self_service_disabled"],
    // The consent reason occurs once, whichever of the two causes it.
    [{ keepItemMinor: 999, mode: "request" as const }, "denied 0 self_service_disabled"],
    [{ keepItemMinor: 999, mode: "none" as const }, "denied 0 self_service_disabled"],
    [
      { keepItemMinor: 999, excludedCountries: ["DE"] },
      "denied 0 region_not_supported self_service_disabled",
    ],
  ])("%o: %s", (rules, expected) => {
    expect(shown(kept(rules))).toBe(expected);
  });

  it("is not allowed without a threshold, not even for free items", () => {
    const option = kept({ keepItemMinor: null }, [
      { totalMinor: 0, unitPriceMinor: 0, subtotalMinor: 0 },
      {},
    ]);
    expect(option).toMatchObject({
      decision: "denied",
      reasons: [{ code: "self_service_disabled", data: { keepItemUpTo: null } }],
    });
  });
});

describe("lost units", () => {
  const codes = (paper: PaperOrder, now = soon): unknown =>
    ask(paper, now).orderLevel[0]?.reasons.map(({ code, blocking }) => [code, blocking]);

  it("exclude units that were not shipped, that arrived, or that were reported before", () => {
    expect(codes({})).toEqual([["not_fulfilled", true]]);
    expect(codes(delivered(at))).toEqual([["quantity_exhausted", true]]);
    const reported = {
      kind: "refund_only",
      reason: "not_received",
      lines: [{ lineId: "oln_0", quantity: 1, received: 0, accepted: 0, restocked: 0 }],
    } as const;
    const one: PaperOrder = { ...lost, lines: [{ shipped: 1 }] };
    expect(codes({ ...one, returns: [{ ...reported, status: "requested" }] }, due)).toEqual([
      ["quantity_exhausted", true],
    ]);
    expect(codes({ ...one, returns: [{ ...reported, status: "closed" }] }, due)).toEqual([
      ["quantity_exhausted", true],
    ]);
    for (const status of ["declined", "canceled"] as const)
      expect(codes({ ...one, returns: [{ ...reported, status }] }, due)).toEqual([]);
  });

  it("are a voluntary offer of the merchant: a dispute or a hold denies them", () => {
    expect(codes({ ...lost, payment: { disputedAt: at } }, due)).toEqual([["payment_disputed", true]]);
    expect(codes({ ...lost, order: { status: "on_hold" } }, due)).toEqual([["order_on_hold", true]]);
  });
});

describe("a period that is over", () => {
  const dataOf = (kind: "return_refund" | "exchange" | "withdrawal" | "repair", now: string): unknown =>
    optionOf(ask(delivered(at), now, stocked), kind).reasons.map(({ code, data }) => [code, data]);
  const afterAll = "2029-01-01T00:00:00.000Z";

  it("is reported with its end", () => {
    expect(dataOf("return_refund", afterAll)).toEqual([
      ["return_window_elapsed", { endsAt: "2026-04-04T21:59:59.999Z" }],
    ]);
    expect(dataOf("exchange", afterAll)).toEqual([
      ["return_window_elapsed", { endsAt: "2026-04-04T21:59:59.999Z" }],
    ]);
    expect(dataOf("withdrawal", afterAll)).toEqual([
      ["return_window_elapsed", { endsAt: "2026-03-19T22:59:59.999Z" }],
    ]);
    expect(dataOf("repair", afterAll)).toEqual([
      ["warranty_expired", { endsAt: "2028-03-05T22:59:59.999Z" }],
    ]);
  });

  it("for exchanges is separate, if the policy has one", () => {
    const rules = { return: { windowDays: 30, exchangeWindowDays: 60 } };
    const option = (now: string): AfterSalesOption =>
      optionOf(ask(delivered(at, { rules }), now, stocked), "exchange");
    const end = "2026-05-04T21:59:59.999Z";
    expect(option(end)).toMatchObject({ decision: "allowed", window: { endsAt: end } });
    // For defects the statutory warranty goes on.
    expect(option(later(end, 1).toISOString())).toMatchObject({
      decision: "request_required",
      window: { endsAt: "2028-03-05T22:59:59.999Z" },
    });
  });
});

describe("the merchant's rules", () => {
  it("report the limit that a buyer has reached", () => {
    const answer = ask(delivered(at, { rules: { return: { returnsPerBuyerMax: 2 } } }), soon, {
      returnsOfBuyer: 3,
    });
    expect(optionOf(answer, "return_refund").reasons.map(({ code, data }) => [code, data])).toEqual([
      ["buyer_limit_reached", { limit: 2, returns: 3 }],
    ]);
  });

  it("exclude a product if one of its categories is excluded", () => {
    const paper = delivered(at, {
      lines: [{ categoryIds: ["cat_8", "cat_9"] }],
      rules: { return: { excludedCategoryIds: ["cat_9"] } },
    });
    expect(shown(optionOf(ask(paper), "return_refund"))).toBe("request_required 1 (category_excluded)");
  });

  it("wait for a dispute about one of several payments", () => {
    const payments = [paperPayment({ id: "pay_0" }), paperPayment({ disputedAt: at })];
    expect(shown(optionOf(ask(delivered(at, { order: { payments } })), "return_refund"))).toBe(
      "denied 0 payment_disputed",
    );
  });
});
