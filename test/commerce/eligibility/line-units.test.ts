/**
 * Counts the units of a line that can still be requested. Returned, refunded and currently requested units
 * count once.
 */
import { describe, expect, it } from "vitest";
import {
  explainWhyNoUnitsAreReturnable,
  countUnitsRefundedOrAcceptedForRefund,
  countReturnableUnits,
  countShippedUndeliveredUnits,
  countWithdrawableUnsentIntangibleUnits,
} from "#commerce/after-sales/obstacles.ts";
import type { OrderLine, OrderReturn } from "#commerce/orders/order-aggregate.ts";
import { returnKinds, returnStatuses } from "#commerce/orders/order-states.ts";
import { isOpenReturn } from "#commerce/orders/order-statuses.ts";
import { paperOrder } from "./paper-order.ts";

type Counted = (order: ReturnType<typeof paperOrder>, line: OrderLine) => unknown;

const units = (quantity: number, accepted = 0, lineId = "oln_0") => ({
  lineId,
  quantity,
  received: quantity,
  accepted,
  restocked: 0,
});
function count(
  counted: Counted,
  line: Partial<OrderLine>,
  ...returns: readonly Partial<OrderReturn>[]
): unknown {
  const order = paperOrder({ lines: [line, { ordered: 9, shipped: 9, delivered: 9 }], returns });
  const [first] = order.lines;
  if (first === undefined) throw new Error("There is a line.");
  return counted(order, first);
}

describe("the returnable units", () => {
  const arrived = { ordered: 5, shipped: 5, delivered: 5 };

  it("are the delivered units less those being returned, returned, or refunded", () => {
    expect(count(countReturnableUnits, arrived)).toBe(5);
    expect(count(countReturnableUnits, { ...arrived, returnRequested: 1, returned: 2, refunded: 2 })).toBe(2);
    expect(count(countReturnableUnits, { ...arrived, refunded: 4 })).toBe(1);
    expect(count(countReturnableUnits, { ...arrived, returnRequested: 2, refunded: 2 })).toBe(1);
    expect(count(countReturnableUnits, { ...arrived, delivered: 2 })).toBe(2);
    expect(count(countReturnableUnits, { ...arrived, refunded: 7 })).toBe(0);
  });

  // Two of three returned units were accepted: those are settled, however long the refund takes.
  it.each(returnKinds.flatMap((kind) => returnStatuses.map((status) => [kind, status] as const)))(
    "with a case of %s that is %s",
    (kind, status) => {
      const found = { kind, status, lines: [units(3, 2), units(3, 3, "oln_1")] };
      const isExchanged = kind === "exchange" && (status === "inspected" || status === "closed");
      const isOwed = (kind === "return_refund" || kind === "withdrawal") && status === "inspected";
      // One unit was refunded before.
      const line = { ...arrived, refunded: 1 };
      expect(count(countReturnableUnits, line, found)).toBe(isExchanged || isOwed ? 2 : 4);
      // The exchanged unit stays paid.
      expect(count(countUnitsRefundedOrAcceptedForRefund, line, found)).toBe(isOwed ? 3 : 1);
    },
  );

  it("count units that came back and were exchanged once", () => {
    const exchanged = { kind: "exchange", status: "closed", lines: [units(2, 2)] } as const;
    expect(count(countReturnableUnits, { ...arrived, returned: 2 }, exchanged)).toBe(3);
    expect(count(countUnitsRefundedOrAcceptedForRefund, { ...arrived, returned: 2 }, exchanged)).toBe(0);
    expect(
      count(countUnitsRefundedOrAcceptedForRefund, { ...arrived, refunded: 1 }, exchanged, {
        kind: "withdrawal",
        status: "inspected",
        lines: [units(1, 1)],
      }),
    ).toBe(2);
  });
});

describe("the units that are not shipped and can be withdrawn from", () => {
  const service = { ordered: 3, requiresShipping: false };
  const asked = {
    kind: "withdrawal",
    method: "keep_item",
    status: "requested",
    lines: [units(2), units(1, 0, "oln_1")],
  } as const;

  it("are those that are not requested already", () => {
    expect(count(countWithdrawableUnsentIntangibleUnits, service)).toBe(3);
    expect(count(countWithdrawableUnsentIntangibleUnits, service, asked)).toBe(1);
    expect(count(countWithdrawableUnsentIntangibleUnits, service, asked, asked)).toBe(0);
  });

  it.each([
    ["another kind", { ...asked, kind: "refund_only" }],
    ["something that is sent back", { ...asked, method: "mail" }],
    ["something that was settled", { ...asked, status: "closed" }],
    ["another line", { ...asked, lines: [units(2, 0, "oln_1")] }],
  ] as const)("are not reduced by a case of %s", (_what, found) => {
    expect(count(countWithdrawableUnsentIntangibleUnits, service, found)).toBe(3);
  });
});

describe("the shipped units that never arrived", () => {
  const lost = { ordered: 5, shipped: 4, delivered: 1 };
  const reported = {
    kind: "refund_only",
    reason: "not_received",
    lines: [units(2), units(1, 0, "oln_1")],
  } as const;

  it("are neither delivered nor reported nor refunded", () => {
    expect(count(countShippedUndeliveredUnits, lost)).toBe(3);
    expect(count(countShippedUndeliveredUnits, { ...lost, refunded: 3 })).toBe(2);
    expect(count(countShippedUndeliveredUnits, { ...lost, refunded: 9 })).toBe(0);
    expect(count(countShippedUndeliveredUnits, lost, { ...reported, reason: "defective" })).toBe(3);
  });

  it.each(
    returnStatuses.map((status) => [status, status === "declined" || status === "canceled" ? 3 : 1] as const),
  )("are reported by a case that is %s: %i", (status, expected) => {
    expect(count(countShippedUndeliveredUnits, lost, { ...reported, status })).toBe(expected);
  });
});

describe("the reason for zero units", () => {
  const reason = (line: Partial<OrderLine>, ...returns: readonly Partial<OrderReturn>[]): unknown =>
    count(
      (order, one) => {
        const { code, data } = explainWhyNoUnitsAreReturnable(order, one);
        return [code, data];
      },
      line,
      ...returns,
    );

  it("names the open cases with units of the line", () => {
    const line = { ordered: 2, shipped: 2, delivered: 2, returnRequested: 2 };
    const cases = [
      { id: "ret_a", status: "approved", lines: [units(1)] },
      { id: "ret_b", status: "declined", lines: [units(1)] },
      { id: "ret_c", status: "in_transit", lines: [units(1, 0, "oln_1")] },
      { id: "ret_d", status: "requested", lines: [units(1, 0, "oln_1"), units(1)] },
    ] as const;
    expect(reason(line, ...cases)).toEqual(["return_in_progress", { returnIds: ["ret_a", "ret_d"] }]);
  });

  it("is the first reason that applies", () => {
    expect(reason({ canceled: 1, allocated: 0 })).toEqual(["quantity_exhausted", {}]);
    expect(reason({})).toEqual(["not_fulfilled", {}]);
    expect(reason({ shipped: 1 })).toEqual(["not_delivered_yet", {}]);
    expect(reason({ shipped: 1, delivered: 1, returned: 1 })).toEqual(["already_returned", {}]);
    expect(reason({ shipped: 1, delivered: 1, refunded: 1 })).toEqual(["quantity_exhausted", {}]);
  });
});

describe("a case", () => {
  it("is open until it is declined, canceled or closed", () => {
    expect(returnStatuses.filter((status) => isOpenReturn({ status }))).toEqual([
      "requested",
      "approved",
      "in_transit",
      "received",
      "inspected",
    ]);
  });
});
