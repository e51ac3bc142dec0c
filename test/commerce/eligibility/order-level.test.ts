/** What is answered about an order as a whole, and where two ways to the same thing meet. */
import { describe, expect, it } from "vitest";
import { isMerchantFault, returnReasonsByKind } from "#commerce/after-sales/reasons.ts";
import { ask, at, eur, optionOf, shown, soon } from "./paper-answer.ts";
import { delivered, later, type PaperOrder } from "./paper-order.ts";

const noTerms = { methods: [], fees: [], estimatedRefund: null, settlement: [], evidenceRequired: [] };

describe("open cases", () => {
  it("are those that have not come to an end, with the units they are about", () => {
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

describe("what is denied", () => {
  it("has no terms, on a line and on the order", () => {
    const answer = ask({});
    const denied = { decision: "denied", eligibleQuantity: 0, allowedReasonCodes: [], ...noTerms };
    expect(optionOf(answer, "return_refund")).toMatchObject(denied);
    for (const option of answer.orderLevel) expect(option).toMatchObject(denied);
  });

  it("for whatever reason is denied with what stands against asking without one", () => {
    const answer = ask(delivered(at, { lines: [{ restrictions: ["final_sale", "digital"] }] }));
    expect(shown(optionOf(answer, "return_refund"))).toBe("denied 0 final_sale digital_content_used");
  });
});

describe("what was kept and what never came of one line", () => {
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

  it("can both be asked for, and come to the money of all of it", () => {
    expect(optionOf(ask(parcels, due), "refund_only")).toMatchObject({
      decision: "allowed",
      eligibleQuantity: 4,
      // Some of the order came: the delivery is not given back with the rest.
      estimatedRefund: eur(4000),
      allowedReasonCodes: [
        ...kept.filter((code) => !isMerchantFault(code)),
        ...kept.filter(isMerchantFault),
        "not_received",
      ],
    });
  });

  it("is what was kept alone where nothing is lost yet, and what was lost alone where nothing may be kept", () => {
    expect(optionOf(ask(parcels, soon), "refund_only").eligibleQuantity).toBe(2);
    const strict = ask({ ...parcels, rules: { return: { keepItemMinor: 0 } } }, due);
    expect(optionOf(strict, "refund_only")).toMatchObject({
      decision: "allowed",
      eligibleQuantity: 2,
      allowedReasonCodes: ["not_received"],
    });
  });

  it("is denied with what stands against the parcel where something is on its way, else with what stands against keeping it", () => {
    const strict = { ...parcels, rules: { return: { keepItemMinor: 0 } } };
    expect(shown(optionOf(ask(strict, soon), "refund_only"))).toBe("denied 0 return_window_not_started");
    expect(shown(optionOf(ask(delivered(at, { rules: strict.rules })), "refund_only"))).toBe(
      "denied 0 self_service_disabled",
    );
  });
});

describe("parcels that were lost", () => {
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
  ])("count from %s, where that is the earlier", (_name, paper) => {
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
  ])("count from the one that was sent: %s what was not", (_name, paper) => {
    const [lost] = ask(paper).orderLevel;
    expect(lost).toMatchObject({ decision: "denied", window: { startsAt: "2026-03-12T09:00:00.000Z" } });
    expect(lost?.reasons.map(({ code }) => code).toSorted()).toEqual([
      "not_fulfilled",
      "return_window_not_started",
    ]);
  });
});

describe("withdrawing from the whole order", () => {
  it("is of what is sent back, where there is also something that nobody has sent", () => {
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

  it("is for no fault of the merchant's, so that the buyer pays the way back, once", () => {
    const [, withdrawal] = ask(delivered(at, { rules: { return: { returnShippingMinor: 490 } } })).orderLevel;
    expect(withdrawal).toMatchObject({
      estimatedRefund: eur(3500 - 490),
      fees: [{ code: "return_shipping", amount: eur(490), basisPoints: null, payer: "buyer" }],
    });
    expect(withdrawal?.allowedReasonCodes.some(isMerchantFault)).toBe(false);
  });
});
