/**
 * After-sales eligibility: quantities, periods, kinds of goods, the merchant's rules, and defects that are
 * the merchant's fault.
 */
import { describe, expect, it } from "vitest";
import {
  evaluateAfterSalesEligibility,
  evaluateOptionForReturnRequest,
} from "#commerce/after-sales/eligibility.ts";
import type { AfterSalesDataOutsideOrder } from "#commerce/after-sales/after-sales-option.ts";
import { isMerchantFaultReason, returnReasonsByKind } from "#commerce/after-sales/reasons.ts";
import { returnKinds } from "#commerce/orders/order-states.ts";
import { ask, at, eur, optionOf, shown, soon } from "./paper-answer.ts";
import { delivered, factsAt, paperOrder, type PaperOrder } from "./paper-order.ts";

const stocked = { siblingsInStock: new Map([["prd_0", ["var_0", "var_9"]]]) };

describe("a delivered order", () => {
  it("gets a complete answer for each of its lines and for the order", () => {
    const answer = ask(delivered(at, { rules: { return: { methods: ["mail", "store"] } } }), soon, stocked);
    const returns = {
      clock: "delivered",
      startsAt: at,
      endsAt: "2026-04-04T21:59:59.999Z",
      estimated: false,
    };
    const free = { code: "return_shipping", amount: eur(0), basisPoints: null, payer: "merchant" };
    expect(answer.lines.map(({ options }) => options.map(({ kind }) => kind))).toEqual([
      returnKinds,
      returnKinds,
    ]);
    expect(optionOf(answer, "return_refund")).toEqual({
      kind: "return_refund",
      decision: "allowed",
      eligibleQuantity: 1,
      reasons: [],
      allowedReasonCodes: [...returnReasonsByKind.return_refund].toSorted(
        (a, b) => Number(isMerchantFaultReason(a)) - Number(isMerchantFaultReason(b)),
      ),
      window: returns,
      methods: ["mail", "store"],
      fees: [free],
      estimatedRefund: eur(1000),
      settlement: ["original_payment"],
      evidenceRequired: [],
      policyId: "pol_return",
    });
    expect(optionOf(answer, "exchange")).toMatchObject({
      decision: "allowed",
      eligibleQuantity: 1,
      estimatedRefund: null,
      settlement: ["replacement"],
    });
    expect(shown(optionOf(answer, "refund_only"))).toBe("denied 0 self_service_disabled");
    expect(optionOf(answer, "repair")).toMatchObject({
      decision: "allowed",
      window: { clock: "delivered", startsAt: at, endsAt: "2028-03-05T22:59:59.999Z" },
      evidenceRequired: ["receipt"],
      settlement: [],
      policyId: "pol_warranty",
    });
    expect(optionOf(answer, "replacement")).toMatchObject({
      decision: "allowed",
      settlement: ["replacement"],
    });
    expect(optionOf(answer, "withdrawal")).toMatchObject({
      decision: "allowed",
      window: { ...returns, endsAt: "2026-03-19T22:59:59.999Z" },
      settlement: ["original_payment"],
      policyId: "pol_withdrawal",
    });
    const { lines, orderLevel, ...rest } = answer;
    expect(
      orderLevel.map(({ kind, decision, eligibleQuantity, estimatedRefund }) => [
        kind,
        decision,
        eligibleQuantity,
        estimatedRefund,
      ]),
    ).toEqual([
      ["refund_undelivered", "denied", 0, null],
      // All three units, with the shipping for the last of them.
      ["withdrawal", "allowed", 3, eur(3500)],
    ]);
    expect(lines[1]?.quantities).toEqual({
      ordered: 2,
      canceled: 0,
      allocated: 2,
      shipped: 2,
      delivered: 2,
      returnRequested: 0,
      returned: 0,
      refunded: 0,
    });
    expect(rest).toEqual({
      orderId: "ord_1",
      orderVersion: 3,
      decision: "eligible",
      openCases: [],
      policies: [
        {
          id: "pol_return",
          type: "return",
          clock: "delivered",
          windowDays: 30,
          summary: "How it is with return.",
          url: null,
        },
        {
          id: "pol_withdrawal",
          type: "withdrawal",
          clock: "delivered",
          windowDays: 14,
          summary: "How it is with withdrawal.",
          url: null,
        },
        {
          id: "pol_warranty",
          type: "warranty",
          clock: "warranty_start",
          windowDays: null,
          summary: "How it is with warranty.",
          url: null,
        },
      ],
      evaluatedAt: soon,
      validUntil: "2026-03-06T09:15:00.000Z",
    });
  });
});

describe("the eligible quantity", () => {
  const line = { ordered: 4, shipped: 3, delivered: 3 };
  it.each([
    [{ ordered: 2 }, "denied 0 not_fulfilled"],
    [{ ordered: 2, shipped: 2 }, "denied 0 not_delivered_yet"],
    [{ ordered: 2, canceled: 2, allocated: 0 }, "denied 0 quantity_exhausted"],
    [line, "allowed 3"],
    [{ ...line, returnRequested: 1 }, "allowed 2"],
    [{ ...line, returnRequested: 1, returned: 2, refunded: 2 }, "denied 0 return_in_progress"],
    [{ ...line, returned: 3, refunded: 3 }, "denied 0 already_returned"],
    [{ ordered: 2, shipped: 2, delivered: 2, refunded: 2 }, "denied 0 quantity_exhausted"],
    [{ ordered: 2, shipped: 2, delivered: 2, refunded: 1 }, "allowed 1"],
    [{ ordered: 2, shipped: 2, delivered: 1, refunded: 1 }, "allowed 1"],
  ] as const)("of %o: %s", (given, expected) => {
    const order: PaperOrder = {
      lines: [given],
      fulfillments: [{ status: "delivered", shippedAt: at, deliveredAt: at }],
      order: { status: "confirmed", paymentStatus: "paid" },
    };
    expect(shown(optionOf(ask(order), "return_refund"))).toBe(expected);
  });
});

describe("the order's state", () => {
  it.each([
    ["order_canceled", { status: "canceled" as const }, "denied 0 order_canceled"],
    ["payment_disputed", {}, "request_required 1 (payment_disputed)"],
    ["order_on_hold", { status: "on_hold" as const }, "request_required 1 (order_on_hold)"],
    ["order_refunded", { paymentStatus: "refunded" as const }, "denied 0 order_refunded"],
  ])(
    "%s denies the merchant's voluntary offers, and leaves legal rights to be requested",
    (code, order, withdrawal) => {
      const payment = code === "payment_disputed" ? { disputedAt: at } : {};
      const answer = ask(delivered(at, { order, payment }), soon, stocked);
      for (const kind of ["return_refund", "exchange", "refund_only", "repair", "replacement"] as const)
        expect([kind, shown(optionOf(answer, kind))]).toEqual([kind, `denied 0 ${code}`]);
      expect(shown(optionOf(answer, "withdrawal"))).toBe(withdrawal);
    },
  );
});

describe("the kind of goods", () => {
  it.each([
    ["no_returns", "request_required 1 (final_sale)", "allowed 1", "allowed 1"],
    ["final_sale", "request_required 1 (final_sale)", "allowed 1", "allowed 1"],
    ["custom_made", "request_required 1 (custom_made)", "denied 0 custom_made", "allowed 1"],
    ["perishable", "request_required 1 (perishable)", "denied 0 perishable", "denied 0 perishable"],
    [
      "hygiene_sealed",
      "request_required 1 (hygiene_unsealed)",
      "request_required 1 (hygiene_unsealed)",
      "allowed 1",
    ],
    [
      "digital",
      "denied 0 digital_content_used",
      "denied 0 digital_content_used",
      "denied 0 digital_content_used",
    ],
    ["gift_card", "denied 0 gift_card", "request_required 1 (gift_card)", "denied 0 gift_card"],
    ["age_18", "allowed 1", "allowed 1", "allowed 1"],
  ])("%s: return %s, withdrawal %s, repair %s", (restriction, returned, withdrawn, repaired) => {
    const answer = ask(delivered(at, { lines: [{ restrictions: [restriction] }] }));
    expect([
      shown(optionOf(answer, "return_refund")),
      shown(optionOf(answer, "withdrawal")),
      shown(optionOf(answer, "repair")),
    ]).toEqual([returned, withdrawn, repaired]);
  });

  it("allows the return of a defective final-sale line, and nothing else", () => {
    const order = paperOrder(delivered(at, { lines: [{ restrictions: ["final_sale"] }] }));
    const option = evaluateAfterSalesEligibility(order, factsAt(soon)).lines[0]?.options[0];
    expect(option?.allowedReasonCodes).toEqual([
      "not_as_described",
      "wrong_item",
      "defective",
      "damaged_in_transit",
    ]);
    const by = (reason: "unwanted" | "defective") =>
      evaluateOptionForReturnRequest(order, factsAt(soon), {
        lineId: "oln_0",
        kind: "return_refund",
        reason,
      });
    expect([by("unwanted")?.decision, by("defective")?.decision]).toEqual(["denied", "request_required"]);
    expect(
      evaluateOptionForReturnRequest(order, factsAt(soon), {
        lineId: "oln_7",
        kind: "repair",
        reason: "defective",
      }),
    ).toBeUndefined();
  });
});

describe("the merchant's rules", () => {
  it.each([
    [{ mode: "request" as const }, {}, "request_required 1 (self_service_disabled)"],
    [{ mode: "none" as const }, {}, "denied 0 self_service_disabled"],
    [{ excludedCountries: ["DE"] }, {}, "request_required 1 (region_not_supported)"],
    [{ excludedCategoryIds: ["cat_0"] }, {}, "request_required 1 (category_excluded)"],
    [{ returnsPerBuyerMax: 2 }, { returnsOfBuyer: 1 }, "allowed 1"],
    [{ returnsPerBuyerMax: 2 }, { returnsOfBuyer: 2 }, "request_required 1 (buyer_limit_reached)"],
  ])("%o, with %o: %s", (rules, facts, expected) => {
    expect(
      shown(optionOf(ask(delivered(at, { rules: { return: rules } }), soon, facts), "return_refund")),
    ).toBe(expected);
  });

  const lost: PaperOrder = {
    lines: [{ shipped: 1 }, { ordered: 2, shipped: 2 }],
    fulfillments: [{ status: "in_transit", shippedAt: at, estimatedDeliveryAt: at }],
  };
  const due = "2026-03-20T09:00:00.000Z";

  it.each([
    [{ mode: "request" as const }, {}, "request_required 1 (self_service_disabled)"],
    [{ mode: "none" as const }, {}, "denied 0 self_service_disabled"],
    [{ returnsPerBuyerMax: 2 }, { returnsOfBuyer: 2 }, "request_required 1 (buyer_limit_reached)"],
    [{ excludedCountries: ["DE"], excludedCategoryIds: ["cat_0"] }, {}, "allowed 1"],
  ])("apply to lost units: %o, with %o: %s", (rules, facts, expected) => {
    const answer = ask({ ...lost, rules: { return: rules } }, due, facts);
    expect(shown(optionOf(answer, "refund_only"))).toBe(expected);
    expect(answer.orderLevel[0]).toMatchObject({
      kind: "refund_undelivered",
      decision: expected.split(" ")[0],
    });
  });

  it("refund the shipping of an order that never arrived, but not of a lost part", () => {
    expect(ask(lost, due).orderLevel[0]).toMatchObject({ eligibleQuantity: 3, estimatedRefund: eur(3500) });
    expect(optionOf(ask(lost, due), "refund_only").estimatedRefund).toEqual(eur(1000));
    const [first, ...others] = lost.lines ?? [];
    const came = { ...lost, lines: [{ ...first, delivered: 1, returned: 1, refunded: 1 }, ...others] };
    expect(ask(came, due).orderLevel[0]).toMatchObject({ eligibleQuantity: 2, estimatedRefund: eur(2000) });
  });

  it("promise at most the rest of the paid amount", () => {
    const forgiven = delivered(at, { order: { reducedMinor: 3300 } });
    expect(optionOf(ask(forgiven), "return_refund").estimatedRefund).toEqual(eur(200));
    expect(ask(forgiven).orderLevel[1]).toMatchObject({ kind: "withdrawal", estimatedRefund: eur(200) });
  });

  it("limit an order to a hundred cases, counting finished cases too", () => {
    const closed = { status: "canceled" as const };
    const of = (count: number) =>
      ask(delivered(at, { returns: Array.from({ length: count }, () => closed) }), soon, stocked);
    expect(of(99).decision).toBe("eligible");
    for (const { reasons } of of(100).lines[0]?.options ?? [])
      expect(reasons).toMatchObject([
        { code: "buyer_limit_reached", blocking: true, data: { limit: 100, returns: 100 } },
      ]);
  });

  it("deduct their fees from the refund, unless the merchant is at fault", () => {
    const order = paperOrder(
      delivered(at, {
        lines: [{ ordered: 2, totalMinor: 2005 }],
        rules: { return: { restockingBasisPoints: 1000, returnShippingMinor: 490 } },
      }),
    );
    const by = (kind: "return_refund" | "withdrawal", reason: "unwanted" | "defective") => {
      const option = evaluateOptionForReturnRequest(order, factsAt(soon), { lineId: "oln_0", kind, reason });
      return [
        option?.estimatedRefund,
        option?.fees.map((fee) => [fee.code, fee.amount, fee.basisPoints, fee.payer]),
      ];
    };
    // 10 % of 20.05 is 2.005, rounded half to even: 2.00.
    expect(by("return_refund", "unwanted")).toEqual([
      eur(2005 - 200 - 490),
      [
        ["restocking", eur(200), 1000, "buyer"],
        ["return_shipping", eur(490), null, "buyer"],
      ],
    ]);
    expect(by("return_refund", "defective")).toEqual([
      eur(2005),
      [["return_shipping", eur(0), null, "merchant"]],
    ]);
    // A full refund with the shipping, less only the cost of the return shipment.
    expect(by("withdrawal", "unwanted")).toEqual([
      eur(2505 - 490),
      [["return_shipping", eur(490), null, "buyer"]],
    ]);
  });

  it("let a buyer keep goods up to the threshold value", () => {
    const at1000 = (keepItemMinor: number) =>
      optionOf(ask(delivered(at, { rules: { return: { keepItemMinor } } })), "refund_only");
    expect(at1000(1000)).toMatchObject({
      decision: "allowed",
      methods: ["keep_item"],
      estimatedRefund: eur(1000),
      fees: [],
    });
    expect(at1000(1000).allowedReasonCodes).not.toContain("not_received");
    expect(at1000(999)).toMatchObject({
      decision: "denied",
      reasons: [{ code: "self_service_disabled", data: { keepItemUpTo: eur(999) } }],
    });
  });

  it("allow an exchange only for another variant that is in stock", () => {
    const exchange = (paper: PaperOrder, facts: Partial<AfterSalesDataOutsideOrder>) =>
      shown(optionOf(ask(paper, soon, facts), "exchange"));
    expect(exchange(delivered(at), { siblingsInStock: new Map([["prd_0", ["var_0"]]]) })).toBe(
      "denied 0 exchange_out_of_stock",
    );
    expect(exchange(delivered(at, { rules: { return: { exchangeWindowDays: null } } }), stocked)).toBe(
      "denied 0 exchange_not_offered",
    );
  });
});
