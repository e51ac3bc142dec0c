/** Cancellation eligibility: every state at every time, with each deadline crossed by a millisecond. */
import { describe, expect, it } from "vitest";
import {
  evaluateCancellationEligibility,
  type CancellationEligibility,
} from "#commerce/orders/cancellation/eligibility.ts";
import { findLinesThatShareCanceledPromotion } from "#commerce/orders/cancellation/obstacles.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import {
  delivered,
  later,
  paperOrder,
  type PaperOrder,
  paperPayment,
  paperPromotion,
  pendingRefund,
  placedAt,
} from "./paper-order.ts";

const minute = 60_000;
const soon = later(placedAt, minute);
const ask = (paper: PaperOrder = {}, now = soon): CancellationEligibility =>
  evaluateCancellationEligibility(paperOrder(paper), now);
const eur = (amountMinor: number): unknown => ({ amountMinor, currency: "EUR", exponent: 2 });
const codesOf = ({ reasons }: Pick<CancellationEligibility, "reasons">): string[] =>
  reasons.map(({ code }) => code);

describe("a paid order without fulfillments", () => {
  it("can be canceled as a whole, and the answer contains all consequences", () => {
    expect(ask()).toEqual({
      orderId: "ord_1",
      orderVersion: 3,
      action: "cancel",
      decision: "allowed",
      scope: "order",
      reasons: [],
      lines: [
        { lineId: "oln_0", decision: "allowed", cancelableQuantity: 1, orderedQuantity: 1, reasons: [] },
        { lineId: "oln_1", decision: "allowed", cancelableQuantity: 2, orderedQuantity: 2, reasons: [] },
      ],
      allowedReasonCodes: expect.arrayContaining([
        { code: "changed_mind", label: "Changed my mind", actor: "buyer" },
        { code: "price_error", label: "Wrong price", actor: "merchant" },
      ]),
      deadline: { at: "2026-03-02T12:00:00.000Z", clock: "placed", policyMinutes: 60 },
      refund: {
        estimated: eur(3500),
        method: "refund",
        shippingRefunded: true,
        fees: [],
        promotionEffect: "kept",
      },
      consequences: ["stock_released", "order_canceled"],
      alternatives: [],
      policy: { id: "pol_cancellation", type: "cancellation", summary: "How it is with cancellation." },
      evaluatedAt: "2026-03-02T11:01:00.000Z",
      validUntil: "2026-03-02T11:16:00.000Z",
    });
    expect(ask().allowedReasonCodes.map(({ actor, code }) => `${actor} ${code}`)).toEqual([
      ...[
        "ordered_by_mistake",
        "changed_mind",
        "better_price",
        "arrives_too_late",
        "wrong_address",
        "other",
      ].map((code) => `buyer ${code}`),
      ...["out_of_stock", "fraud_suspected", "price_error", "buyer_unreachable", "other"].map(
        (code) => `merchant ${code}`,
      ),
    ]);
  });
});

describe("the cancellation period", () => {
  it.each([
    ["request", -1, "allowed", []],
    ["request", 0, "request_required", ["cancellation_window_elapsed"]],
    ["request", 1, "request_required", ["cancellation_window_elapsed"]],
    ["deny", -1, "allowed", []],
    ["deny", 0, "denied", ["cancellation_window_elapsed"]],
    ["deny", 1, "denied", ["cancellation_window_elapsed"]],
  ] as const)("%s, %i ms from its end: %s", (afterWindow, offset, decision, codes) => {
    const answer = ask({ rules: { cancellation: { afterWindow } } }, later(placedAt, 60 * minute + offset));
    expect([answer.decision, codesOf(answer)]).toEqual([decision, codes]);
    expect(answer.lines.map((line) => line.decision)).toEqual([decision, decision]);
    expect(answer.deadline).toEqual({ at: "2026-03-02T12:00:00.000Z", clock: "placed", policyMinutes: 60 });
  });

  it("limits the answer's validity if it ends within 15 minutes", () => {
    expect(ask({}, later(placedAt, 45 * minute - 1)).validUntil).toBe(
      later(placedAt, 60 * minute - 1).toISOString(),
    );
    expect(ask({}, later(placedAt, 45 * minute + 1)).validUntil).toBe("2026-03-02T12:00:00.000Z");
    expect(ask({}, later(placedAt, 60 * minute)).validUntil).toBe(later(placedAt, 75 * minute).toISOString());
  });

  it("without minutes ends when packing begins", () => {
    const rules = { cancellation: { windowMinutes: null } };
    const open = ask({ rules }, later(placedAt, 30 * 24 * 60 * minute));
    expect([open.decision, open.deadline]).toEqual([
      "allowed",
      { at: null, clock: "packing_started", policyMinutes: null },
    ]);
    const packingStartedAt = "2026-03-02T11:00:30.000Z";
    const packed = ask({ rules, fulfillments: [{ status: "packing", packingStartedAt }] });
    expect([packed.decision, codesOf(packed), packed.deadline?.at]).toEqual([
      "request_required",
      ["fulfillment_in_progress"],
      packingStartedAt,
    ]);
  });
});

describe("the policy", () => {
  it("can require the merchant's consent, or forbid cancellations by buyers", () => {
    const request = ask({ rules: { cancellation: { mode: "request" } } });
    expect([request.decision, request.reasons]).toEqual([
      "request_required",
      [{ code: "self_service_disabled", message: expect.any(String), blocking: false, data: {} }],
    ]);
    const none = ask({ rules: { cancellation: { mode: "none" } } });
    expect(none).toMatchObject({
      decision: "denied",
      scope: "none",
      deadline: null,
      refund: null,
      allowedReasonCodes: [],
      consequences: [],
    });
    expect([codesOf(none), none.alternatives]).toEqual([["self_service_disabled"], ["contact_merchant"]]);
  });

  it("does not restrict the merchant, but the order's state does", () => {
    const strict: PaperOrder = {
      rules: { cancellation: { mode: "none" } },
      fulfillments: [{ status: "packing" }],
    };
    expect(evaluateCancellationEligibility(paperOrder(strict), soon, "merchant")).toMatchObject({
      decision: "allowed",
      reasons: [],
    });
    const held = paperOrder({ ...strict, order: { status: "on_hold" } });
    expect(codesOf(evaluateCancellationEligibility(held, soon, "merchant"))).toEqual(["order_on_hold"]);
  });
});

describe("the order's state", () => {
  const request = {
    lines: [{ lineId: "oln_0", quantity: 1 }],
    reason: "other",
    note: null,
    actor: "buyer",
    at: placedAt,
  } as const;
  const suspended = {
    id: "mer_1",
    slug: "shop",
    name: "Shop",
    status: "suspended",
    defaultLocale: "de",
    referenceKey: "secret",
  } as const;
  it.each([
    [
      "order_already_canceled",
      {
        order: {
          status: "canceled",
          cancellation: { reason: "other", note: null, actor: "buyer", at: placedAt },
        },
      },
      [],
    ],
    ["order_completed", { order: { status: "completed" } }, ["contact_merchant"]],
    ["order_on_hold", { order: { status: "on_hold", holdReason: "Looked at." } }, ["contact_merchant"]],
    ["cancellation_already_requested", { order: { cancellationRequest: request } }, ["contact_merchant"]],
    ["payment_disputed", { payment: { disputedAt: placedAt } }, ["contact_merchant"]],
    [
      "payment_processing",
      { payment: { pending: [{ kind: "capture", amountMinor: 1 }] } },
      ["contact_merchant"],
    ],
    [
      "payment_processing",
      { payment: { pending: [{ kind: "void", amountMinor: 1 }] } },
      ["contact_merchant"],
    ],
    ["payment_processing", { payment: { status: "pending" } }, ["contact_merchant"]],
    ["refund_in_progress", { order: { refunds: [pendingRefund] } }, ["contact_merchant"]],
    ["merchant_suspended", { order: { merchant: suspended } }, []],
  ] satisfies readonly (readonly [string, PaperOrder, readonly string[]])[])(
    "%s denies the cancellation",
    (code, paper, alternatives) => {
      for (const actor of ["buyer", "merchant"] as const) {
        const answer = evaluateCancellationEligibility(paperOrder(paper), soon, actor);
        expect([answer.decision, answer.scope, codesOf(answer), answer.alternatives]).toEqual([
          "denied",
          "none",
          [code],
          alternatives,
        ]);
        expect(
          answer.lines.every((line) => line.decision === "denied" && line.cancelableQuantity === 0),
        ).toBe(true);
      }
    },
  );

  it.each([
    ["line_already_canceled", { canceled: 1, allocated: 0 }],
    ["fulfillment_shipped", { shipped: 1 }],
    ["fulfillment_delivered", { shipped: 1, delivered: 1 }],
    ["line_digital_delivered", { shipped: 1, delivered: 1, restrictions: ["digital"] }],
    ["line_digital_delivered", { shipped: 1, delivered: 1, restrictions: ["gift_card"] }],
  ] as const)("%s denies one line but not the other", (code, line) => {
    const answer = ask({ lines: [line, { ordered: 2 }] });
    expect(answer.lines.map((one) => [one.decision, one.cancelableQuantity, codesOf(one)])).toEqual([
      ["denied", 0, [code]],
      ["allowed", 2, []],
    ]);
    expect([answer.decision, answer.scope, codesOf(answer)]).toEqual([
      "allowed",
      code === "line_already_canceled" ? "order" : "lines",
      [],
    ]);
  });

  it("a return of a line blocks canceling the rest of that line", () => {
    const answer = ask({
      lines: [{ ordered: 3, shipped: 1, delivered: 1, returnRequested: 1 }, {}],
      returns: [{}],
    });
    expect(answer.lines.map((line) => [line.decision, codesOf(line)])).toEqual([
      ["denied", ["return_open"]],
      ["allowed", []],
    ]);
    expect(
      codesOf(ask({ lines: [{ ordered: 3, shipped: 1, delivered: 1 }], returns: [{ status: "closed" }] })),
    ).toEqual([]);
  });

  it("a made-to-order line cannot be canceled once its packing began, but can before", () => {
    const lines = [{ restrictions: ["custom_made"] }];
    expect(ask({ lines, fulfillments: [{}] }).decision).toBe("allowed");
    const begun = ask({ lines, fulfillments: [{ status: "packing", packingStartedAt: placedAt }] });
    expect([begun.decision, codesOf(begun)]).toEqual([
      "denied",
      ["line_custom_made", "fulfillment_in_progress"],
    ]);
    expect(ask({ lines, fulfillments: [{ status: "canceled", packingStartedAt: placedAt }] }).decision).toBe(
      "allowed",
    );
  });

  it("answers as the contract's example: one line packed, the other shipped", () => {
    const fulfillments = [
      { status: "packing" as const, packingStartedAt: placedAt, lines: [{ lineId: "oln_0", quantity: 2 }] },
      { status: "shipped" as const, shippedAt: placedAt, lines: [{ lineId: "oln_1", quantity: 1 }] },
    ];
    const answer = ask({ lines: [{ ordered: 2 }, { shipped: 1 }], fulfillments });
    expect(answer).toMatchObject({
      decision: "request_required",
      scope: "lines",
      consequences: ["stock_released"],
      alternatives: ["return", "withdrawal"],
    });
    expect(codesOf(answer)).toEqual(["fulfillment_in_progress"]);
    expect(answer.lines.map((line) => [line.decision, line.cancelableQuantity, codesOf(line)])).toEqual([
      ["request_required", 2, ["fulfillment_in_progress"]],
      ["denied", 0, ["fulfillment_shipped"]],
    ]);
    expect(answer.refund).toEqual({
      estimated: eur(2000),
      method: "refund",
      shippingRefunded: false,
      fees: [],
      promotionEffect: "kept",
    });
    expect(ask(delivered(placedAt)).reasons.map(({ code }) => code)).toEqual(["order_completed"]);
  });
});

describe("the money", () => {
  it("is not captured if it was only authorized", () => {
    const whole = ask({
      payment: paperPayment({ status: "authorized", amountMinor: 3500, capturedMinor: 0 }),
    });
    expect(whole.refund).toMatchObject({ estimated: eur(3500), method: "void" });
    const part = ask({
      lines: [{ shipped: 1 }, { ordered: 2 }],
      payment: { status: "authorized", capturedMinor: 0 },
    });
    expect(part.refund).toMatchObject({ estimated: eur(2000), method: "void", shippingRefunded: false });
  });

  it("is not refunded if nothing was paid", () => {
    expect(
      ask({ payment: null, order: { totalMinor: 0, shippingMinor: 0 }, lines: [{ totalMinor: 0 }] }).refund,
    ).toMatchObject({
      estimated: eur(0),
      method: "none",
    });
  });

  const off = (lineId: string | null): OrderAggregate["promotions"] => [
    paperPromotion("percentage", [{ lineId, amountMinor: 100 }]),
  ];
  it.each([
    ["removed", "oln_0", {}],
    ["removed", null, {}],
    ["kept", "oln_0", { shipped: 1 }],
    ["recalculated", "oln_0", { ordered: 3, shipped: 1, delivered: 1 }],
  ] as const)("leaves a discount %s: on %s", (effect, lineId, line) => {
    const answer = ask({ lines: [line, {}], order: { promotions: off(lineId) } });
    expect(answer.refund?.promotionEffect).toBe(effect);
    expect(answer.consequences.includes("promotion_use_restored")).toBe(answer.scope === "order");
  });
});

describe("a bundle of a promotion", () => {
  const promotions = [
    paperPromotion("buy_x_get_y", [
      { lineId: "oln_0", amountMinor: 1 },
      { lineId: "oln_1", amountMinor: 999 },
    ]),
  ];

  it("can be canceled as a whole, and in part only with the merchant's consent", () => {
    expect(ask({ order: { promotions } })).toMatchObject({ decision: "allowed", scope: "order" });
    const torn = ask({ order: { promotions }, lines: [{ shipped: 1 }, { ordered: 2 }, {}] });
    expect(torn.lines.map((line) => [line.decision, codesOf(line)])).toEqual([
      ["denied", ["fulfillment_shipped"]],
      ["request_required", ["line_not_separable"]],
      ["allowed", []],
    ]);
    expect(torn.lines[1]?.reasons[0]?.data).toEqual({ lineIds: ["oln_0", "oln_1"] });
  });

  it("is split by some cancellations of its units, and not by others", () => {
    const order = paperOrder({ order: { promotions }, lines: [{}, { ordered: 2 }, {}] });
    expect(findLinesThatShareCanceledPromotion(order, [{ lineId: "oln_1", quantity: 2 }])).toEqual([
      "oln_0",
      "oln_1",
    ]);
    expect(
      findLinesThatShareCanceledPromotion(order, [
        { lineId: "oln_0", quantity: 1 },
        { lineId: "oln_1", quantity: 1 },
      ]),
    ).toEqual(["oln_0", "oln_1"]);
    expect(
      findLinesThatShareCanceledPromotion(order, [
        { lineId: "oln_0", quantity: 1 },
        { lineId: "oln_1", quantity: 2 },
      ]),
    ).toBeUndefined();
    expect(findLinesThatShareCanceledPromotion(order, [{ lineId: "oln_2", quantity: 1 }])).toBeUndefined();
  });
});
