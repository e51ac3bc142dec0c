/**
 * Until when a buyer may make an after-sales request: the day from which the period counts, and whether its
 * end is an estimate.
 */
import { describe, expect, it } from "vitest";
import { isMerchantFaultReason } from "#commerce/after-sales/reasons.ts";
import { ask, at, eur, optionOf, shown, soon } from "./paper-answer.ts";
import { delivered, later, type PaperOrder } from "./paper-order.ts";

describe("the period", () => {
  it("for defects is that of the statutory warranty", () => {
    const ordinary = "2026-04-04T21:59:59.999Z";
    const guaranteed = "2028-03-05T22:59:59.999Z";
    const at1 = (instant: string) =>
      optionOf(ask(delivered(at), later(instant, 1).toISOString()), "return_refund");
    expect(at1(ordinary)).toMatchObject({
      decision: "request_required",
      window: { endsAt: guaranteed },
      fees: [{ payer: "merchant" }],
    });
    expect(at1(ordinary).allowedReasonCodes.every(isMerchantFaultReason)).toBe(true);
    expect(at1(guaranteed)).toMatchObject({
      decision: "denied",
      window: { endsAt: ordinary },
      allowedReasonCodes: [],
    });
    expect(shown(optionOf(ask(delivered(at), later(guaranteed, 1).toISOString()), "repair"))).toBe(
      "denied 0 warranty_expired",
    );
  });

  it("never ends before the merchant's extension date, and does not end without a number of days", () => {
    const rules = { return: { extendUntil: "2026-12-31" } };
    expect(optionOf(ask(delivered(at, { rules })), "return_refund").window.endsAt).toBe(
      "2026-12-31T22:59:59.999Z",
    );
    const endless = optionOf(
      ask(delivered(at, { rules: { return: { windowDays: null } } }), "2090-01-01T00:00:00.000Z"),
      "return_refund",
    );
    expect([endless.decision, endless.window.endsAt]).toEqual(["allowed", null]);
  });

  it("for withdrawal starts with the last line's delivery, and has no end before all is shipped", () => {
    const fulfillments = [
      {
        status: "delivered" as const,
        shippedAt: at,
        deliveredAt: at,
        lines: [{ lineId: "oln_0", quantity: 1 }],
      },
      {
        status: "delivered" as const,
        shippedAt: at,
        deliveredAt: "2026-03-20T09:00:00.000Z",
        lines: [{ lineId: "oln_1", quantity: 2 }],
      },
    ];
    const all = optionOf(ask(delivered(at, { fulfillments }), "2026-03-25T09:00:00.000Z"), "withdrawal");
    expect([all.decision, all.window.startsAt, all.window.endsAt]).toEqual([
      "allowed",
      at,
      "2026-04-03T21:59:59.999Z",
    ]);
    const half = ask(
      { lines: [{ shipped: 1, delivered: 1 }, { ordered: 2 }], fulfillments: fulfillments.slice(0, 1) },
      "2026-06-25T09:00:00.000Z",
    );
    expect(optionOf(half, "withdrawal")).toMatchObject({
      decision: "allowed",
      window: { endsAt: null, estimated: true },
    });
    expect(half.decision).toBe("partially_eligible");
  });

  it("for lost units starts seven days after the expected delivery", () => {
    const paper: PaperOrder = {
      lines: [{ ordered: 2, shipped: 2 }],
      fulfillments: [
        { status: "in_transit", shippedAt: at, estimatedDeliveryAt: "2026-03-08T09:00:00.000Z" },
      ],
    };
    const startsAt = "2026-03-15T09:00:00.000Z";
    const early = ask(paper, later(startsAt, -1).toISOString());
    expect(optionOf(early, "refund_only").reasons).toMatchObject([
      { code: "return_window_not_started", data: { startsAt } },
    ]);
    expect([early.decision, early.validUntil]).toEqual(["not_eligible", startsAt]);
    const due = ask(paper, startsAt);
    expect(optionOf(due, "refund_only")).toMatchObject({
      decision: "allowed",
      eligibleQuantity: 2,
      allowedReasonCodes: ["not_received"],
      // No part of the order arrived, so the shipping is refunded too.
      estimatedRefund: eur(2500),
    });
    expect(due.orderLevel[0]).toMatchObject({
      kind: "refund_undelivered",
      decision: "allowed",
      eligibleQuantity: 2,
      estimatedRefund: eur(2500),
    });
    expect(optionOf(due, "return_refund")).toMatchObject({
      decision: "denied",
      reasons: [{ code: "not_delivered_yet" }],
      window: { clock: "shipped_plus_transit", startsAt: "2026-03-12T09:00:00.000Z", estimated: true },
    });
  });

  it("does not end after a first parcel while the next is in transit", () => {
    const parcels: PaperOrder = {
      lines: [{ ordered: 2, shipped: 2, delivered: 1 }],
      fulfillments: [
        { status: "delivered", shippedAt: at, deliveredAt: at, lines: [{ lineId: "oln_0", quantity: 1 }] },
        {
          status: "in_transit",
          shippedAt: "2026-03-20T09:00:00.000Z",
          lines: [{ lineId: "oln_0", quantity: 1 }],
        },
      ],
    };
    const answer = ask(parcels, "2026-04-06T09:00:00.000Z");
    const window = { clock: "shipped_plus_transit", startsAt: at, estimated: true };
    // The second parcel may arrive on the 27th; 14 and 30 days count from then.
    expect(optionOf(answer, "withdrawal")).toMatchObject({
      decision: "allowed",
      window: { ...window, endsAt: "2026-04-10T21:59:59.999Z" },
    });
    expect(optionOf(answer, "return_refund")).toMatchObject({
      decision: "allowed",
      window: { ...window, endsAt: "2026-04-26T21:59:59.999Z" },
    });
    expect(optionOf(answer, "repair").window).toMatchObject({
      ...window,
      endsAt: "2028-03-27T21:59:59.999Z",
    });
  });

  it("for withdrawing from lines that are not shipped starts with the order, whatever is outstanding", () => {
    const lines = [{ requiresShipping: false }, { ordered: 2 }];
    const placed = {
      clock: "placed",
      startsAt: "2026-03-02T11:00:00.000Z",
      endsAt: "2026-03-16T22:59:59.999Z",
      estimated: false,
    };
    const inTime = ask({ lines }, "2026-03-16T22:59:59.999Z");
    expect(optionOf(inTime, "withdrawal")).toMatchObject({
      decision: "allowed",
      eligibleQuantity: 1,
      window: placed,
      methods: ["keep_item"],
      fees: [],
    });
    expect(shown(optionOf(inTime, "return_refund"))).toBe("denied 0 not_fulfilled");
    expect(inTime.orderLevel[1]).toMatchObject({
      kind: "withdrawal",
      decision: "allowed",
      eligibleQuantity: 1,
      estimatedRefund: eur(1000),
    });
    expect(shown(optionOf(ask({ lines }, "2026-03-16T23:00:00.000Z"), "withdrawal"))).toBe(
      "denied 0 return_window_elapsed",
    );
    expect(inTime.validUntil).toBe("2026-03-16T23:00:00.000Z");
    expect(shown(optionOf(ask({ lines, rules: { withdrawal: { windowDays: 0 } } }), "withdrawal"))).toBe(
      "denied 0 region_not_supported",
    );
  });

  it.each([
    ["digital", 0, "allowed 1"],
    ["digital", 1, "denied 0 digital_content_used"],
    ["gift_card", 0, "allowed 1"],
    ["gift_card", 1, "request_required 1 (gift_card)"],
    ["custom_made", 0, "denied 0 custom_made"],
  ])("for withdrawing from a line %s that is not shipped, %i sent: %s", (restriction, sent, expected) => {
    const lines = [{ requiresShipping: false, restrictions: [restriction], shipped: sent, delivered: sent }];
    const paper: PaperOrder = {
      lines,
      fulfillments:
        sent === 0 ? [] : [{ status: "delivered", type: "digital", shippedAt: at, deliveredAt: at }],
    };
    expect(shown(optionOf(ask(paper), "withdrawal"))).toBe(expected);
  });

  it("of an answer ends with a deciding fact, for example a hold that expires or a return that ends", () => {
    const instant = "2026-03-06T09:03:00.000Z";
    expect(
      ask(delivered(at), soon, { changeTimes: [Date.parse(instant), Date.parse(soon)] }).validUntil,
    ).toBe(instant);
  });

  it("for withdrawal does not exist where the law grants no withdrawal", () => {
    const answer = ask(delivered(at, { order: { country: "US" }, rules: { withdrawal: { windowDays: 0 } } }));
    expect(shown(optionOf(answer, "withdrawal"))).toBe("denied 0 region_not_supported");
    expect(shown(optionOf(answer, "repair"))).toBe("denied 0 warranty_not_registered");
  });
});
