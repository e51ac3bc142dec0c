/**
 * The parts of a cancellation's answer, tested one by one: blocking reasons with their data, the deadline,
 * the money, the consequences.
 */
import { describe, expect, it } from "vitest";
import {
  evaluateCancellationEligibility,
  type CancellationEligibility,
} from "#commerce/orders/cancellation/eligibility.ts";
import { groupOrderLinesBySharedPromotion } from "#commerce/orders/cancellation/obstacles.ts";
import {
  findMostFavorableEligibilityDecision,
  decideEligibilityFromReasons,
  calculateEligibilityAnswerExpiry,
  removeReasonsWithRepeatedCode,
} from "#commerce/orders/eligibility-reason.ts";
import type { OrderFulfillment, OrderPromotion } from "#commerce/orders/order-aggregate.ts";
import { eur } from "./paper-answer.ts";
import {
  later,
  type PaperOrder,
  paperOrder,
  paperPayment,
  paperPromotion,
  pendingRefund,
  placedAt,
} from "./paper-order.ts";

const minute = 60_000;
const soon = later(placedAt, minute);
const ask = (paper: PaperOrder = {}, now = soon): CancellationEligibility =>
  evaluateCancellationEligibility(paperOrder(paper), now);
const reasonsOf = ({ reasons }: Pick<CancellationEligibility, "reasons">): unknown =>
  reasons.map(({ code, blocking, data }) => [code, blocking, data]);
const linesOf = ({ lines }: CancellationEligibility): unknown =>
  lines.map(({ decision, reasons }) => [decision, ...reasons.map(({ code }) => code)]);

describe("the blocking reasons", () => {
  it("are all listed in a fixed order without duplicates", () => {
    const request = {
      lines: [{ lineId: "oln_0", quantity: 1 }],
      reason: "other",
      note: null,
      actor: "buyer",
      at: placedAt,
    } as const;
    const merchant = { ...paperOrder().merchant, status: "suspended" } as const;
    const answer = ask({
      order: { merchant, status: "on_hold", refunds: [pendingRefund], cancellationRequest: request },
      payment: { disputedAt: placedAt, status: "pending" },
    });
    expect(reasonsOf(answer)).toEqual([
      ["merchant_suspended", true, {}],
      ["order_on_hold", true, {}],
      ["payment_disputed", true, {}],
      ["payment_processing", true, {}],
      ["refund_in_progress", true, {}],
      ["cancellation_already_requested", true, { at: placedAt }],
    ]);
    // A suspended merchant cannot be contacted.
    expect(answer.alternatives).toEqual([]);
  });

  it("distinguish a pending refund from a pending payment", () => {
    const pending = (kind: "refund" | "capture" | "void"): unknown =>
      reasonsOf(ask({ payment: { pending: [{ kind, amountMinor: 1 }] } }));
    expect(pending("refund")).toEqual([["refund_in_progress", true, {}]]);
    expect(pending("capture")).toEqual([["payment_processing", true, {}]]);
    expect(reasonsOf(ask({ order: { refunds: [{ ...pendingRefund, status: "succeeded" }] } }))).toEqual([]);
    const settled = [paperPayment({ id: "pay_0" }), paperPayment({ status: "pending" })];
    expect(reasonsOf(ask({ order: { payments: settled } }))).toEqual([["payment_processing", true, {}]]);
  });

  it("after the deadline are the deadline with its end, next to the rule that the merchant decides", () => {
    const after = later(placedAt, 61 * minute);
    const endsAt = "2026-03-02T12:00:00.000Z";
    expect(reasonsOf(ask({ rules: { cancellation: { mode: "request" } } }, after))).toEqual([
      ["self_service_disabled", false, {}],
      ["cancellation_window_elapsed", false, { endsAt }],
    ]);
    expect(reasonsOf(ask({ rules: { cancellation: { mode: "none" } } }, after))).toEqual([
      ["self_service_disabled", true, {}],
    ]);
  });

  it.each([
    ["requested", true],
    ["approved", true],
    ["in_transit", true],
    ["received", true],
    ["inspected", true],
    ["declined", false],
    ["closed", false],
    ["canceled", false],
  ] as const)("a return of the line that is %s: %s", (status, isInTheWay) => {
    const answer = ask({ lines: [{ ordered: 3, shipped: 1, delivered: 1 }, {}], returns: [{ status }] });
    expect(linesOf(answer)).toEqual([isInTheWay ? ["denied", "return_open"] : ["allowed"], ["allowed"]]);
    if (isInTheWay) expect(answer.lines[0]?.reasons[0]?.data).toEqual({ returnId: "ret_0" });
  });

  it("a return of several lines blocks each of them", () => {
    const some = (lineId: string) => ({ lineId, quantity: 1, received: 0, accepted: 0, restocked: 0 });
    const sent = { ordered: 2, shipped: 1, delivered: 1 };
    const answer = ask({ lines: [sent, sent, sent], returns: [{ lines: [some("oln_0"), some("oln_1")] }] });
    expect(linesOf(answer)).toEqual([["denied", "return_open"], ["denied", "return_open"], ["allowed"]]);
  });
});

describe("packing", () => {
  const packing = (one: Partial<OrderFulfillment>, restrictions: readonly string[] = []): unknown =>
    linesOf(
      ask({
        lines: [{ restrictions }, {}],
        fulfillments: [{ lines: [{ lineId: "oln_0", quantity: 1 }], ...one }],
      }),
    );
  const begun = { packingStartedAt: placedAt };

  it("requires the merchant's consent for the packed line only", () => {
    const asked = ["request_required", "fulfillment_in_progress"];
    expect(packing({ status: "packing", ...begun })).toEqual([asked, ["allowed"]]);
    expect(packing({ status: "ready_for_pickup", ...begun })).toEqual([asked, ["allowed"]]);
    expect(packing({ status: "pending" })).toEqual([["allowed"], ["allowed"]]);
    // The fulfillment is canceled, or sends the replacement of an exchange.
    expect(packing({ status: "canceled", ...begun })).toEqual([["allowed"], ["allowed"]]);
    expect(packing({ status: "packing", ...begun, returnId: "ret_1" })).toEqual([["allowed"], ["allowed"]]);
  });

  it("of a made-to-order line counts as its production, also if packing was abandoned", () => {
    const made = ["custom_made"];
    expect(packing({ status: "pending", ...begun }, made)).toEqual([
      ["denied", "line_custom_made"],
      ["allowed"],
    ]);
    expect(packing({ status: "pending" }, made)).toEqual([["allowed"], ["allowed"]]);
    expect(packing({ status: "packing", ...begun, returnId: "ret_1" }, made)).toEqual([
      ["allowed"],
      ["allowed"],
    ]);
  });

  it("ends a cancellation period without minutes, when the first parcel's packing begins", () => {
    const rules = { cancellation: { windowMinutes: null } };
    const [first, second, other] = [
      "2026-03-02T11:00:10.000Z",
      "2026-03-02T11:00:20.000Z",
      "2026-03-02T11:00:05.000Z",
    ];
    const fulfillments = [
      { packingStartedAt: second },
      { packingStartedAt: null },
      { packingStartedAt: first },
      { packingStartedAt: other, returnId: "ret_1" },
    ];
    expect(ask({ rules, fulfillments }).deadline).toEqual({
      at: first,
      clock: "packing_started",
      policyMinutes: null,
    });
    // Past packing does not limit the answer's validity.
    expect(ask({ rules, fulfillments }).validUntil).toBe(later(placedAt, 16 * minute).toISOString());
  });
});

describe("a bundle that a promotion creates", () => {
  const bought = (promotion: Partial<OrderPromotion>): OrderPromotion => ({
    ...paperPromotion("gift", [{ lineId: "oln_1", amountMinor: 100 }]),
    boughtLineIds: ["oln_0", "oln_1"],
    ...promotion,
  });
  const sets = (promotion: Partial<OrderPromotion>): unknown =>
    groupOrderLinesBySharedPromotion({ promotions: [bought(promotion)] });

  it("consists of the given lines and the bought lines, each once", () => {
    expect(sets({})).toEqual([["oln_1", "oln_0"]]);
    expect(sets({ kind: "buy_x_get_y" })).toEqual([["oln_1", "oln_0"]]);
    expect(sets({ boughtLineIds: [] })).toEqual([["oln_1"]]);
    expect(
      groupOrderLinesBySharedPromotion({
        promotions: [paperPromotion("gift", [{ lineId: "oln_1", amountMinor: 100 }])],
      }),
    ).toEqual([["oln_1"]]);
  });

  it("does not exist for discounts without a bundle, with amount zero, or on the shipping", () => {
    expect(sets({ kind: "percentage" })).toEqual([]);
    expect(sets({ discountMinor: 0 })).toEqual([]);
    expect(sets({ allocations: [{ lineId: null, amountMinor: 100 }], boughtLineIds: [] })).toEqual([]);
    expect(sets({ allocations: [{ lineId: "oln_1", amountMinor: 0 }], boughtLineIds: ["oln_0"] })).toEqual([
      ["oln_0"],
    ]);
  });

  it("requires the merchant's consent if a part is shipped, whatever else blocks it", () => {
    const order = { promotions: [bought({})] };
    const partly = ask({ order, lines: [{ ordered: 2, shipped: 1 }, {}, {}] });
    expect(linesOf(partly)).toEqual([
      ["request_required", "line_not_separable"],
      ["request_required", "line_not_separable"],
      ["allowed"],
    ]);
    const late = ask({ order, lines: [{ ordered: 2, shipped: 1 }, {}, {}] }, later(placedAt, 61 * minute));
    expect(linesOf(late)).toEqual([
      ["request_required", "cancellation_window_elapsed", "line_not_separable"],
      ["request_required", "cancellation_window_elapsed", "line_not_separable"],
      ["request_required", "cancellation_window_elapsed"],
    ]);
    expect(reasonsOf(partly)).toEqual([]);
  });

  it("requires the merchant's consent if a part can never be canceled, though nothing is shipped", () => {
    const fulfillments = [
      { status: "packing" as const, packingStartedAt: placedAt, lines: [{ lineId: "oln_0", quantity: 1 }] },
    ];
    const made = ask({
      order: { promotions: [bought({})] },
      lines: [{ restrictions: ["custom_made"] }, {}],
      fulfillments,
    });
    expect(linesOf(made)).toEqual([
      ["denied", "line_custom_made", "fulfillment_in_progress"],
      ["request_required", "line_not_separable"],
    ]);
  });

  it("does not restrict the merchant", () => {
    const order = paperOrder({
      order: { promotions: [bought({})] },
      lines: [{ ordered: 2, shipped: 1 }, {}],
    });
    expect(linesOf(evaluateCancellationEligibility(order, soon, "merchant"))).toEqual([
      ["allowed"],
      ["allowed"],
    ]);
    expect(linesOf(evaluateCancellationEligibility(order, soon, "system"))).toEqual([
      ["allowed"],
      ["allowed"],
    ]);
  });
});

describe("the money", () => {
  it("is refunded if captured, else its authorization is voided", () => {
    const half = ask({
      payment: { status: "authorized", amountMinor: 3500, capturedMinor: 0, voidedMinor: 3000 },
    });
    expect(half.refund).toMatchObject({ estimated: eur(500), method: "void" });
    // 15.00 of 35.00 are still owed: of the captured 30.00 only the excess is refunded.
    const part = ask({
      lines: [{ shipped: 1 }, { ordered: 2 }],
      payment: { amountMinor: 3500, capturedMinor: 3000 },
    });
    expect(part.refund).toMatchObject({ estimated: eur(1500), method: "refund" });
    const free = ask({ payment: null });
    expect(free.refund).toMatchObject({ method: "none", fees: [] });
  });

  const off = (...allocations: OrderPromotion["allocations"]): PaperOrder["order"] => ({
    promotions: [paperPromotion("percentage", allocations)],
  });
  it.each([
    ["kept: nothing was taken off what goes", off({ lineId: "oln_0", amountMinor: 0 }), {}],
    ["kept: it was off the shipping, which stays", off({ lineId: null, amountMinor: 100 }), { shipped: 1 }],
    ["removed: it was off what goes", off({ lineId: "oln_1", amountMinor: 100 }), { shipped: 1 }],
    [
      "removed: it was off what goes, though more of another line stays",
      off({ lineId: "oln_1", amountMinor: 100 }),
      { ordered: 3, shipped: 3 },
    ],
    [
      "recalculated: it was off what goes, and off the shipping",
      off({ lineId: "oln_1", amountMinor: 1 }, { lineId: null, amountMinor: 1 }),
      { shipped: 1 },
    ],
    [
      "recalculated: it was off what goes, and off what stays",
      off({ lineId: "oln_0", amountMinor: 1 }, { lineId: "oln_1", amountMinor: 1 }),
      { shipped: 1 },
    ],
    [
      "removed: it was off all, and all goes",
      off({ lineId: "oln_0", amountMinor: 1 }, { lineId: "oln_1", amountMinor: 1 }),
      {},
    ],
  ] as const)("leaves a discount %s", (effect, order, first) => {
    const { refund } = ask({ lines: [first, {}], ...(order === undefined ? {} : { order }) });
    expect(refund?.promotionEffect).toBe(effect.split(":")[0]);
  });
});

describe("the consequences", () => {
  const lines = [{ shipped: 1 }, { ordered: 2 }];
  const minimum = (subtotalMinor: number): PaperOrder["order"] => ({
    promotions: [
      {
        ...paperPromotion("fixed_amount", [{ lineId: "oln_0", amountMinor: 100 }]),
        minimum: { lineIds: ["oln_0", "oln_1"], quantity: null, subtotalMinor },
      },
    ],
  });

  it.each([
    [3000, ["stock_released", "minimum_order_not_met_after_cancel"]],
    [1000, ["stock_released"]],
  ])("of a partial cancellation with %i units: %o", (subtotalMinor, consequences) => {
    const order = minimum(subtotalMinor);
    expect(ask({ lines, ...(order === undefined ? {} : { order }) }).consequences).toEqual(consequences);
  });

  it("of a full cancellation are a canceled order and a promotion code that can be used again", () => {
    const order = minimum(3000);
    expect(ask(order === undefined ? {} : { order }).consequences).toEqual([
      "stock_released",
      "promotion_use_restored",
      "order_canceled",
    ]);
    expect(ask().consequences).toEqual(["stock_released", "order_canceled"]);
    expect(ask({ rules: { cancellation: { mode: "none" } } }).consequences).toEqual([]);
  });

  it("name the merchant as contact if the cancellation is denied, and nobody if it is allowed", () => {
    expect(ask({ rules: { cancellation: { mode: "request" } } }).alternatives).toEqual([]);
    expect(ask({ rules: { cancellation: { mode: "none" } } }).alternatives).toEqual(["contact_merchant"]);
  });
});

describe("a decision", () => {
  const reason = (code: string, blocking: boolean) => ({ code, message: code, blocking, data: {} });

  it("is allowed without reasons, requires consent if all reasons can be waived, else is denied", () => {
    expect(decideEligibilityFromReasons([])).toBe("allowed");
    expect(decideEligibilityFromReasons([reason("a", false)])).toBe("request_required");
    expect(decideEligibilityFromReasons([reason("a", false), reason("b", true)])).toBe("denied");
  });

  it("over several lines is the best of them, and denied for no line", () => {
    expect(findMostFavorableEligibilityDecision(["denied", "request_required", "allowed"])).toBe("allowed");
    expect(findMostFavorableEligibilityDecision(["denied", "request_required"])).toBe("request_required");
    expect(findMostFavorableEligibilityDecision([])).toBe("denied");
  });

  it("contains each code once, in its first form", () => {
    const [one, other, again] = [reason("a", true), reason("b", true), reason("a", false)];
    expect(removeReasonsWithRepeatedCode([one, other, again])).toEqual([one, other]);
  });

  it("is valid for 15 minutes, or until the next period begins or ends", () => {
    const now = new Date(placedAt);
    const at = now.getTime();
    expect(calculateEligibilityAnswerExpiry(now, [])).toBe(later(placedAt, 15 * minute).toISOString());
    expect(calculateEligibilityAnswerExpiry(now, [at - 1, at, at + 16 * minute])).toBe(
      later(placedAt, 15 * minute).toISOString(),
    );
    expect(calculateEligibilityAnswerExpiry(now, [at + 2, at + 1])).toBe(later(placedAt, 1).toISOString());
  });
});
