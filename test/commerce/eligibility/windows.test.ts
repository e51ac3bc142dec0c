/**
 * Begin and end of after-sales periods: by delivered units, by expected deliveries, and for goods that are
 * not shipped.
 */
import { describe, expect, it } from "vitest";
import {
  getAfterSalesWindowBoundaryTimes,
  calculateAfterSalesTimeWindows,
} from "#commerce/after-sales/after-sales-option.ts";
import {
  calculateOrderLineArrival,
  getOrderLineDeliveryTime,
  isTimeWindowOver,
  calculateParcelLossTimeOfLine,
  getTimeWindowBoundaries,
  calculateTimeWindowFromArrival,
  calculateWithdrawalWindow,
} from "#commerce/orders/order-terms.ts";
import type { OrderAggregate, OrderFulfillment } from "#commerce/orders/order-aggregate.ts";
import { at } from "./paper-answer.ts";
import { delivered, later, paperOrder, type PaperOrder, paperWarranty, placedAt } from "./paper-order.ts";

const dayMs = 86_400_000;
const after = (days: number): string => later(at, days * dayMs).toISOString();
const line = { id: "oln_0" };
const sent = (...fulfillments: readonly Partial<OrderFulfillment>[]): OrderAggregate =>
  paperOrder({ lines: [{ ordered: 9, shipped: 9 }], fulfillments });

describe("a window", () => {
  it("is over after its last millisecond, and never without an end", () => {
    expect([-1, 0, 1].map((ms) => isTimeWindowOver({ endsAt: at }, later(at, ms)))).toEqual([
      false,
      false,
      true,
    ]);
    expect(isTimeWindowOver({ endsAt: null }, later(at, 0))).toBe(false);
  });

  it("changes at its begin and after its last millisecond, if those are known", () => {
    expect(getTimeWindowBoundaries({ startsAt: at, endsAt: after(1) })).toEqual([
      Date.parse(at),
      Date.parse(after(1)) + 1,
    ]);
    expect(getTimeWindowBoundaries({ startsAt: at, endsAt: null })).toEqual([Date.parse(at)]);
    expect(getTimeWindowBoundaries({ startsAt: null, endsAt: null })).toEqual([]);
  });

  it("has not begun without a delivery, and has no end without days or months", () => {
    const order = paperOrder();
    expect(calculateTimeWindowFromArrival(order, null, { days: 30 })).toEqual({
      clock: "delivered",
      startsAt: null,
      endsAt: null,
      estimated: false,
    });
    const arrival = { startsAt: at, at, clock: "delivered" } as const;
    const open = { clock: "delivered", startsAt: at, endsAt: null, estimated: false };
    expect(calculateTimeWindowFromArrival(order, arrival, {})).toEqual(open);
    // The merchant's extension date does not give the period an end.
    expect(calculateTimeWindowFromArrival(order, arrival, { extendUntil: "2026-12-31" })).toEqual(open);
    expect(calculateTimeWindowFromArrival(order, arrival, { days: 1 }).endsAt).toBe(
      "2026-03-06T22:59:59.999Z",
    );
    expect(
      calculateTimeWindowFromArrival(order, arrival, { days: 1, extendUntil: "2026-03-05" }).endsAt,
    ).toBe("2026-03-06T22:59:59.999Z");
  });
});

describe("an arrival", () => {
  it.each([
    ["shipped", after(7)],
    ["in_transit", after(7)],
    ["out_for_delivery", after(7)],
    ["pending", null],
    ["packing", null],
    ["ready_for_pickup", null],
    ["failed", null],
    ["canceled", null],
  ] as const)("of a parcel that is %s is expected: %s", (status, expected) => {
    const arrival =
      expected === null ? null : { startsAt: expected, at: expected, clock: "shipped_plus_transit" };
    expect(calculateOrderLineArrival(sent({ status, shippedAt: at }), line)).toEqual(arrival);
  });

  it("is the last known delivery, and counts parcels in transit only while they may arrive later", () => {
    const came = (deliveredAt: string): Partial<OrderFulfillment> => ({
      status: "delivered",
      shippedAt: at,
      deliveredAt,
    });
    expect(calculateOrderLineArrival(sent(came(after(3)), came(after(2))), line)).toEqual({
      startsAt: after(3),
      at: after(3),
      clock: "delivered",
    });
    const underWay = { status: "in_transit", shippedAt: at } as const;
    expect(calculateOrderLineArrival(sent(came(after(2)), underWay), line)).toEqual({
      startsAt: after(2),
      at: after(7),
      clock: "shipped_plus_transit",
    });
    expect(calculateOrderLineArrival(sent(came(after(9)), underWay), line)).toEqual({
      startsAt: after(9),
      at: after(9),
      clock: "shipped_plus_transit",
    });
  });

  it("ignores other lines and the shipments of an exchange", () => {
    const came = { status: "delivered", shippedAt: at, deliveredAt: at } as const;
    for (const order of [
      sent({ ...came, returnId: "ret_1" }),
      sent({ ...came, lines: [{ lineId: "oln_7", quantity: 1 }] }),
    ]) {
      expect(calculateOrderLineArrival(order, line)).toBeNull();
      expect(getOrderLineDeliveryTime(order, line)).toBeNull();
    }
    expect(
      getOrderLineDeliveryTime(sent(came, { ...came, deliveredAt: after(1), returnId: "ret_1" }), line),
    ).toBe(at);
  });
});

describe("a loss", () => {
  it.each([
    ["shipped", after(14)],
    ["in_transit", after(14)],
    ["out_for_delivery", after(14)],
    // The parcel came back or broke, so no delivery is expected any more.
    ["failed", after(5)],
    ["delivered", null],
    ["canceled", null],
  ] as const)("of a parcel that is %s counts from %s", (status, expected) => {
    expect(calculateParcelLossTimeOfLine(sent({ status, shippedAt: at, updatedAt: after(5) }), line)).toBe(
      expected,
    );
  });

  it("counts from the expected delivery date if it is known, of several parcels from the last", () => {
    const parcel = (days: number): Partial<OrderFulfillment> => ({
      status: "in_transit",
      shippedAt: at,
      estimatedDeliveryAt: after(days),
    });
    expect(calculateParcelLossTimeOfLine(sent(parcel(2)), line)).toBe(after(9));
    expect(calculateParcelLossTimeOfLine(sent(parcel(3), parcel(2)), line)).toBe(after(10));
  });

  it("does not exist for units that were never shipped", () => {
    for (const status of ["pending", "packing", "failed"] as const)
      expect(calculateParcelLossTimeOfLine(sent({ status, updatedAt: after(5) }), line)).toBeNull();
  });
});

describe("the right of withdrawal", () => {
  const window = (paper: PaperOrder): unknown => calculateWithdrawalWindow(paperOrder(paper), 14);
  const parcel = (lineId: string, deliveredAt: string | null): Partial<OrderFulfillment> => ({
    status: deliveredAt === null ? "in_transit" : "delivered",
    shippedAt: at,
    deliveredAt,
    lines: [{ lineId, quantity: 1 }],
  });
  const here = { shipped: 1, delivered: 1 };
  const known = { clock: "delivered", startsAt: at, endsAt: "2026-03-19T22:59:59.999Z", estimated: false };

  it("starts with the last line's arrival, ignoring canceled lines and lines that are not shipped", () => {
    const fulfillments = [parcel("oln_0", at)];
    expect(window({ lines: [here], fulfillments })).toEqual(known);
    expect(window({ lines: [here, { canceled: 1, allocated: 0 }], fulfillments })).toEqual(known);
    expect(window({ lines: [here, { requiresShipping: false }], fulfillments })).toEqual(known);
    expect(
      window({ lines: [here, here], fulfillments: [...fulfillments, parcel("oln_1", after(1))] }),
    ).toEqual({
      ...known,
      endsAt: "2026-03-20T22:59:59.999Z",
    });
  });

  it("of an order without shipped lines starts when it is placed", () => {
    const placed = {
      clock: "placed",
      startsAt: placedAt,
      endsAt: "2026-03-16T22:59:59.999Z",
      estimated: false,
    };
    expect(window({ lines: [{ requiresShipping: false }] })).toEqual(placed);
    expect(window({ lines: [{ requiresShipping: false }, { canceled: 1, allocated: 0 }] })).toEqual(placed);
  });

  it("ends at an estimated time while a parcel is in transit, and is open before shipment", () => {
    const estimated = {
      clock: "shipped_plus_transit",
      startsAt: at,
      endsAt: "2026-03-26T22:59:59.999Z",
      estimated: true,
    };
    expect(
      window({ lines: [here, { shipped: 1 }], fulfillments: [parcel("oln_0", at), parcel("oln_1", null)] }),
    ).toEqual(estimated);
    expect(
      window({ lines: [{ ordered: 2, shipped: 2, delivered: 1 }], fulfillments: [parcel("oln_0", at)] }),
    ).toEqual({
      ...known,
      clock: "shipped_plus_transit",
      estimated: true,
    });
    expect(window({ lines: [here, {}], fulfillments: [parcel("oln_0", at)] })).toEqual({
      ...estimated,
      endsAt: null,
    });
    expect(window({ lines: [{}] })).toEqual({
      clock: "delivered",
      startsAt: null,
      endsAt: null,
      estimated: true,
    });
  });
});

describe("all periods of a line", () => {
  const windows = (paper: PaperOrder): ReturnType<typeof calculateAfterSalesTimeWindows> => {
    const order = paperOrder(delivered(at, { lines: [{}], ...paper }));
    const [first] = order.lines;
    if (first === undefined) throw new Error("There is a line.");
    return calculateAfterSalesTimeWindows(order, first);
  };
  const ends = (days: number): unknown => ({
    endsAt: calculateTimeWindowFromArrival(paperOrder(), { startsAt: at, at, clock: "delivered" }, { days })
      .endsAt,
  });

  it("are for defects the longer of return period and warranty, or only the return period", () => {
    expect(windows({ rules: { warranty: { months: 24 } } }).faults).toMatchObject({
      endsAt: "2028-03-05T22:59:59.999Z",
    });
    expect(windows({ rules: { warranty: { months: 1 }, return: { windowDays: 60 } } }).faults).toMatchObject(
      ends(60) as object,
    );
    expect(windows({ rules: { warranty: { months: 0 } } })).toMatchObject({
      faults: ends(30),
      warranted: null,
    });
    // A period without an end is the longest.
    expect(
      windows({ rules: { warranty: { months: 24 }, return: { windowDays: null } } }).faults.endsAt,
    ).toBeNull();
  });

  it("are marked as estimated for a loss, and not for a registered warranty", () => {
    const order = { warranties: [paperWarranty({ startsAt: at, endsAt: after(9) })] };
    const shipped = { status: "in_transit", shippedAt: at, deliveredAt: null } as const;
    expect(windows({ fulfillments: [shipped] }).loss).toEqual({
      clock: "shipped_plus_transit",
      startsAt: after(14),
      endsAt: null,
      estimated: true,
    });
    expect(windows({ order }).registered).toEqual({
      clock: "warranty_start",
      startsAt: at,
      endsAt: after(9),
      estimated: false,
    });
    expect(windows({}).registered).toBeNull();
  });

  it("cause no change if they do not exist", () => {
    const few = windows({
      order: { country: "US" },
      rules: { warranty: { months: 0 }, return: { exchangeWindowDays: null } },
    });
    expect([few.exchanges, few.warranted, few.guarantee, few.registered]).toEqual([null, null, null, null]);
    expect(getAfterSalesWindowBoundaryTimes(few)).toEqual(
      [few.returns, few.faults, few.loss, few.withdrawal].flatMap(getTimeWindowBoundaries),
    );
  });
});
