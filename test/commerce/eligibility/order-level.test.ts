/** The answer about an order as a whole, and lines for which two reasons lead to the same refund. */
import { describe, expect, it } from "vitest";
import { isMerchantFaultReason, returnReasonsByKind } from "#commerce/after-sales/reasons.ts";
import { ask, at, eur, optionOf, shown, soon } from "./paper-answer.ts";
import { delivered, later, type PaperOrder } from "./paper-order.ts";

const noTerms = { methods: [], fees: [], estimatedRefund: null, settlement: [], evidenceRequired: [] };

describe("open cases", () => {
  it("are all cases without an end, with their units", () => {
    const statuses = [
      "requested",
      "approved",
      "in_transit",
      "received",
      "inspected",
      "declined",
      "closed",
      "canceled",
    ] as const;
    const lines = [{ lineId: "oln_0", quantity: 2, received: 1, accepted: 1, restocked: 0 }];
    const { openCases } = ask(
      delivered(at, {
        lines: [{ ordered: 20 }],
        returns: statuses.map((status) => ({ status, kind: "exchange", lines })),
      }),
    );
    expect(openCases).toEqual(
      statuses.slice(0, 5).map((status, index) => ({
        returnId: `ret_${index}`,
        kind: "exchange",
        status,
        lines: [{ lineId: "oln_0", quantity: 2 }],
      })),
    );
  });
});

describe("a denied option", () => {
  it("has no terms, on a line and on the order", () => {
    const answer = ask({});
    const denied = { decision: "denied", eligibleQuantity: 0, allowedReasonCodes: [], ...noTerms };
    expect(optionOf(answer, "return_refund")).toMatchObject(denied);
    for (const option of answer.orderLevel) expect(option).toMatchObject(denied);
  });

  it("does not call units of a canceled order or line unsent", () => {
    const canceled = { lines: [{ ordered: 2, canceled: 2, allocated: 0 }] };
    for (const order of [canceled, { ...canceled, status: "canceled" } as const]) {
      const { lines, orderLevel } = ask(order);
      const options = [...lines.flatMap((line) => line.options), ...orderLevel];
      const codes = new Set(options.flatMap(({ reasons }) => reasons.map(({ code }) => code)));
      expect(codes).toContain("quantity_exhausted");
      expect(codes).not.toContain("not_fulfilled");
    }
    expect(optionOf(ask({}), "refund_only").reasons).toMatchObject([{ code: "not_fulfilled" }]);
  });

  it("shows for every reason the same obstacles as a request without a reason", () => {
    const answer = ask(delivered(at, { lines: [{ restrictions: ["final_sale", "digital"] }] }));
    expect(shown(optionOf(answer, "return_refund"))).toBe("denied 0 final_sale digital_content_used");
  });
});

describe("kept and lost units of one line", () => {
  const parcels: PaperOrder = {
    lines: [{ ordered: 4, shipped: 4, delivered: 2 }],
    fulfillments: [
      { status: "delivered", shippedAt: at, deliveredAt: at, lines: [{ lineId: "oln_0", quantity: 2 }] },
      {
        status: "in_transit",
        shippedAt: at,
        estimatedDeliveryAt: at,
        lines: [{ lineId: "oln_0", quantity: 2 }],
      },
    ],
    rules: { return: { keepItemMinor: 100_000, restockingBasisPoints: 1000, returnShippingMinor: 490 } },
  };
  const due = "2026-03-20T09:00:00.000Z";
  const kept = returnReasonsByKind.refund_only.filter((code) => code !== "not_received");

  it("can both be requested, and are refunded together", () => {
    expect(optionOf(ask(parcels, due), "refund_only")).toMatchObject({
      decision: "allowed",
      eligibleQuantity: 4,
      // A part of the order arrived, so the shipping is not refunded.
      estimatedRefund: eur(4000),
      allowedReasonCodes: [
        ...kept.filter((code) => !isMerchantFaultReason(code)),
        ...kept.filter(isMerchantFaultReason),
        "not_received",
      ],
    });
  });

  it("are only the kept units if nothing is lost, and only the lost units if nothing can be kept", () => {
    expect(optionOf(ask(parcels, soon), "refund_only").eligibleQuantity).toBe(2);
    const strict = ask({ ...parcels, rules: { return: { keepItemMinor: 0 } } }, due);
    expect(optionOf(strict, "refund_only")).toMatchObject({
      decision: "allowed",
      eligibleQuantity: 2,
      allowedReasonCodes: ["not_received"],
    });
  });

  it("are denied because of a parcel in transit, else for the reason that blocks keeping", () => {
    const strict = { ...parcels, rules: { return: { keepItemMinor: 0 } } };
    expect(shown(optionOf(ask(strict, soon), "refund_only"))).toBe("denied 0 return_window_not_started");
    expect(shown(optionOf(ask(delivered(at, { rules: strict.rules })), "refund_only"))).toBe(
      "denied 0 self_service_disabled",
    );
  });
});

describe("lost parcels", () => {
  const sent = (first: string, second: string): PaperOrder => ({
    lines: [{ shipped: 1 }, { shipped: 1 }],
    fulfillments: [
      {
        status: "in_transit",
        shippedAt: first,
        estimatedDeliveryAt: first,
        lines: [{ lineId: "oln_0", quantity: 1 }],
      },
      {
        status: "in_transit",
        shippedAt: second,
        estimatedDeliveryAt: second,
        lines: [{ lineId: "oln_1", quantity: 1 }],
      },
    ],
  });
  const next = later(at, 86_400_000).toISOString();

  it.each([
    ["the first", sent(at, next)],
    ["the second", sent(next, at)],
  ])("count from %s, if that is earlier", (_name, paper) => {
    const [lost] = ask(paper, "2026-04-01T09:00:00.000Z").orderLevel;
    expect(lost).toMatchObject({
      decision: "allowed",
      eligibleQuantity: 2,
      window: { startsAt: "2026-03-12T09:00:00.000Z", endsAt: null },
    });
    expect(lost?.reasons).toEqual([]);
  });

  it.each([
    ["before", { lines: [{ shipped: 1 }, {}], fulfillments: sent(at, at).fulfillments?.slice(0, 1) ?? [] }],
    ["after", { lines: [{}, { shipped: 1 }], fulfillments: sent(at, at).fulfillments?.slice(1) ?? [] }],
  ])("of the shipped part decide the period: %s the part that was not shipped", (_name, paper) => {
    const [lost] = ask(paper).orderLevel;
    expect(lost).toMatchObject({ decision: "denied", window: { startsAt: "2026-03-12T09:00:00.000Z" } });
    expect(lost?.reasons.map(({ code }) => code).toSorted()).toEqual([
      "not_fulfilled",
      "return_window_not_started",
    ]);
  });
});

describe("withdrawing from the whole order", () => {
  it("covers the goods to send back, and also the units that were not shipped", () => {
    const paper = delivered(at, {
      lines: [{ requiresShipping: false, shipped: 0, delivered: 0 }, { ordered: 2 }],
    });
    const answer = ask(paper);
    expect(optionOf(answer, "withdrawal")).toMatchObject({
      decision: "allowed",
      eligibleQuantity: 1,
      methods: ["keep_item"],
    });
    expect(answer.orderLevel[1]).toMatchObject({
      decision: "allowed",
      eligibleQuantity: 2,
      methods: ["mail"],
      estimatedRefund: eur(2500),
    });
  });

  it("is no fault of the merchant, so the buyer pays the return shipment once", () => {
    const [, withdrawal] = ask(delivered(at, { rules: { return: { returnShippingMinor: 490 } } })).orderLevel;
    expect(withdrawal).toMatchObject({
      estimatedRefund: eur(3500 - 490),
      fees: [{ code: "return_shipping", amount: eur(490), basisPoints: null, payer: "buyer" }],
    });
    expect(withdrawal?.allowedReasonCodes.some(isMerchantFaultReason)).toBe(false);
  });
});
