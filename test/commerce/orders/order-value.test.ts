/**
 * The value of canceled units: the amounts of all partial cancellations add up to the order's total, to the
 * cent.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  calculateCanceledUnitsValue,
  computeRefundableOrderAmountMinor,
  computeRemainingShippingPriceMinor,
  computeUncapturedAmountMinor,
  computeValueOfOrderLineUnitsMinor,
} from "#commerce/orders/order-value.ts";
import type {
  OrderFulfillment,
  OrderLine,
  OrderPayment,
  OrderRefund,
} from "#commerce/orders/order-aggregate.ts";
import { computeOutstandingAmountMinor, getUncanceledQuantity } from "#commerce/orders/order-statuses.ts";
import "#test/support/properties.ts";

type Valued = Parameters<typeof calculateCanceledUnitsValue>[0];

const lineOf = (id: string, line: Partial<OrderLine>): OrderLine =>
  ({
    id,
    variantId: `var_${id}`,
    requiresShipping: true,
    restrictions: [],
    totalMinor: 1000,
    reducedMinor: 0,
    ordered: 1,
    canceled: 0,
    allocated: 0,
    shipped: 0,
    refunded: 0,
    ...line,
  }) as unknown as OrderLine;

const paymentOf = (amountMinor: number, capturedMinor: number): OrderPayment =>
  ({
    id: "pay",
    status: "authorized",
    amountMinor,
    capturedMinor,
    voidedMinor: 0,
    refundedMinor: 0,
    pending: [],
  }) as unknown as OrderPayment;

interface Parts {
  readonly lines: readonly OrderLine[];
  readonly shippingMinor?: number;
  readonly capturedMinor?: number;
  readonly fulfillments?: readonly OrderFulfillment[];
}

function orderOf({ lines, shippingMinor = 0, capturedMinor, fulfillments = [] }: Parts): Valued {
  const totalMinor = lines.reduce((sum, line) => sum + line.totalMinor, shippingMinor);
  const payments =
    totalMinor === 0 ? [] : [paymentOf(totalMinor, Math.min(capturedMinor ?? totalMinor, totalMinor))];
  return { lines, totalMinor, reducedMinor: 0, shippingReducedMinor: 0, payments, refunds: [], fulfillments };
}

/** The order after the cancellation was written, while its refund is pending. */
function after(order: Valued, asked: { readonly lineId: string; readonly quantity: number }): Valued {
  const value = calculateCanceledUnitsValue(order, [asked]);
  const refund = { status: "pending", amountMinor: value.refundMinor } as OrderRefund;
  return {
    ...order,
    reducedMinor: order.reducedMinor + value.reducedMinor,
    shippingReducedMinor: order.shippingReducedMinor + value.shippingMinor,
    refunds: [...order.refunds, refund],
    lines: order.lines.map((line) => {
      const units = value.lines.find(({ lineId }) => lineId === line.id);
      if (units === undefined) return line;
      const { quantity, allocated, amountMinor } = units;
      const changed = {
        canceled: line.canceled + quantity,
        allocated: line.allocated - allocated,
        reducedMinor: line.reducedMinor + amountMinor,
      };
      return Object.assign({}, line, changed);
    }),
  };
}

const lines = fc
  .array(
    fc.record({ totalMinor: fc.nat(100_000), ordered: fc.integer({ min: 1, max: 7 }), allocated: fc.nat(7) }),
    { minLength: 1, maxLength: 4 },
  )
  .map((all) =>
    all.map(({ allocated, ...line }, index) =>
      lineOf(`l${index}`, { ...line, allocated: Math.min(allocated, line.ordered) }),
    ),
  );

describe("the value of a cancellation", () => {
  it("in any portions reduces the owed amount to zero, refunds everything captured, and never more", () => {
    fc.assert(
      fc.property(
        lines,
        fc.nat(2_000),
        fc.nat(200_000),
        fc.infiniteStream(fc.nat()),
        (given, shippingMinor, capturedMinor, choices) => {
          let order = orderOf({ lines: given, shippingMinor, capturedMinor });
          const capturedAtFirst = computeRefundableOrderAmountMinor(order);
          for (;;) {
            const open = order.lines.filter((line) => getUncanceledQuantity(line) > 0);
            const line = open[Number(choices.next().value) % Math.max(1, open.length)];
            if (line === undefined) break;
            order = after(order, {
              lineId: line.id,
              quantity: 1 + (Number(choices.next().value) % getUncanceledQuantity(line)),
            });
            // The merchant keeps at most the owed amount, and refunded exactly the excess.
            expect(computeRefundableOrderAmountMinor(order)).toBe(
              Math.min(capturedAtFirst, order.totalMinor - order.reducedMinor),
            );
            for (const { allocated, ordered, canceled } of order.lines)
              expect(allocated).toBeLessThanOrEqual(ordered - canceled);
          }
          expect(order.reducedMinor).toBe(order.totalMinor);
          expect(order.shippingReducedMinor).toBe(shippingMinor);
          expect(order.lines.map(({ reducedMinor }) => reducedMinor)).toEqual(
            order.lines.map(({ totalMinor }) => totalMinor),
          );
          expect(order.lines.every(({ allocated }) => allocated === 0)).toBe(true);
          expect(computeRefundableOrderAmountMinor(order)).toBe(0);
          expect(computeOutstandingAmountMinor(order)).toBe(-capturedAtFirst);
        },
      ),
    );
  });

  it("takes unallocated units first, and the shipping with the last shipped line", () => {
    const order = orderOf({
      lines: [
        lineOf("a", { ordered: 3, allocated: 1, totalMinor: 100 }),
        lineOf("b", { requiresShipping: false, restrictions: ["digital"] }),
      ],
      shippingMinor: 50,
    });
    expect(calculateCanceledUnitsValue(order, [{ lineId: "a", quantity: 2 }])).toMatchObject({
      lines: [{ waiting: 2, allocated: 0, amountMinor: 66 }],
      shippingMinor: 0,
      refundMinor: 66,
      isWhole: false,
    });
    expect(calculateCanceledUnitsValue(order, [{ lineId: "a", quantity: 3 }])).toMatchObject({
      lines: [{ waiting: 2, allocated: 1, amountMinor: 100 }],
      shippingMinor: 50,
      refundMinor: 150,
      isWhole: false,
    });
  });

  it("refunds at most the amount still owed if a part was waived", () => {
    const order = {
      ...orderOf({ lines: [lineOf("a", {})] }),
      reducedMinor: 300,
      refunds: [{ status: "succeeded", amountMinor: 300 } as OrderRefund],
    };
    const [payment] = order.payments;
    const paid = { ...order, payments: [Object.assign({}, payment, { refundedMinor: 300 }) as OrderPayment] };
    expect(calculateCanceledUnitsValue(paid, [{ lineId: "a", quantity: 1 }])).toMatchObject({
      reducedMinor: 700,
      refundMinor: 700,
    });
  });

  it("refunds the shipping once: an earlier refund of shipping reduces it", () => {
    const both = [lineOf("a", { totalMinor: 1000 }), lineOf("b", { totalMinor: 500 })];
    expect(
      computeRemainingShippingPriceMinor({ lines: both, totalMinor: 1900, shippingReducedMinor: 0 }),
    ).toBe(400);
    expect(
      computeRemainingShippingPriceMinor({ lines: both, totalMinor: 1900, shippingReducedMinor: 150 }),
    ).toBe(250);
    expect(
      computeRemainingShippingPriceMinor({ lines: both, totalMinor: 1900, shippingReducedMinor: 400 }),
    ).toBe(0);
  });

  it("of no units is zero, without the shipping", () => {
    const order = orderOf({ lines: [lineOf("a", { requiresShipping: false })], shippingMinor: 50 });
    expect(calculateCanceledUnitsValue(order, [])).toMatchObject({
      lines: [],
      shippingMinor: 0,
      reducedMinor: 0,
      refundMinor: 0,
      isWhole: false,
    });
  });

  it("values a unit after the canceled and refunded ones, and never above the rest of its line", () => {
    const line = { totalMinor: 100, reducedMinor: 0, ordered: 3 };
    // Thirds of 100 are 33, 33 and 34, in whatever way the earlier units were removed.
    expect(computeValueOfOrderLineUnitsMinor(lineOf("a", { ...line, canceled: 0, refunded: 0 }), 1)).toBe(33);
    expect(
      computeValueOfOrderLineUnitsMinor(
        lineOf("a", { ...line, canceled: 1, refunded: 1, reducedMinor: 66 }),
        1,
      ),
    ).toBe(34);
    expect(
      computeValueOfOrderLineUnitsMinor(
        lineOf("a", { ...line, canceled: 0, refunded: 2, reducedMinor: 66 }),
        1,
      ),
    ).toBe(34);
    expect(
      computeValueOfOrderLineUnitsMinor(
        lineOf("a", { ...line, canceled: 1, refunded: 0, reducedMinor: 90 }),
        1,
      ),
    ).toBe(10);
  });

  it("of a free order is zero", () => {
    const order = orderOf({ lines: [lineOf("a", { totalMinor: 0 })] });
    expect(calculateCanceledUnitsValue(order, [{ lineId: "a", quantity: 1 }])).toMatchObject({
      reducedMinor: 0,
      refundMinor: 0,
      isWhole: true,
    });
  });

  it("leaves fulfillments only the remaining units, cuts the least advanced first, ignores exchanges", () => {
    const fulfillment = (id: string, status: string, quantity: number, returnId: string | null = null) =>
      ({ id, status, returnId, lines: [{ lineId: "a", quantity }] }) as unknown as OrderFulfillment;
    const order = orderOf({
      lines: [lineOf("a", { ordered: 8, allocated: 8, shipped: 2 })],
      fulfillments: [
        fulfillment("sent", "shipped", 2),
        fulfillment("planned", "pending", 2),
        fulfillment("packed", "packing", 3),
        fulfillment("exchange", "pending", 1, "ret_x"),
      ],
    });
    const cuts = (quantity: number) => calculateCanceledUnitsValue(order, [{ lineId: "a", quantity }]).cuts;
    expect(cuts(1)).toEqual([]);
    expect(cuts(2)).toEqual([{ fulfillmentId: "planned", lines: [{ lineId: "a", quantity: 1 }] }]);
    expect(cuts(4)).toEqual([
      { fulfillmentId: "packed", lines: [{ lineId: "a", quantity: 2 }] },
      { fulfillmentId: "planned", lines: [] },
    ]);
  });

  it("describes a cut fulfillment by its remaining units, and cuts one that is ready for pickup last", () => {
    const open = [lineOf("a", { ordered: 2, allocated: 2 }), lineOf("b", { ordered: 2, allocated: 2 })];
    const fulfillment = (id: string, status: string, quantity: number) =>
      ({
        id,
        status,
        returnId: null,
        lines: open.map((line) => ({ lineId: line.id, quantity })),
      }) as unknown as OrderFulfillment;
    const order = orderOf({
      lines: open,
      fulfillments: [fulfillment("planned", "pending", 1), fulfillment("ready", "ready_for_pickup", 1)],
    });
    expect(calculateCanceledUnitsValue(order, [{ lineId: "b", quantity: 1 }]).cuts).toEqual([
      { fulfillmentId: "planned", lines: [{ lineId: "a", quantity: 1 }] },
    ]);
    const larger = { ...order, fulfillments: [fulfillment("planned", "pending", 2)] };
    expect(calculateCanceledUnitsValue(larger, [{ lineId: "b", quantity: 1 }]).cuts).toEqual([
      {
        fulfillmentId: "planned",
        lines: [
          { lineId: "a", quantity: 2 },
          { lineId: "b", quantity: 1 },
        ],
      },
    ]);
  });
});

describe("the amount that can still be captured", () => {
  const pending = (kind: string, amountMinor: number) => ({ kind, amountMinor });
  it.each([
    ["all of it", [], 600],
    ["less what is being captured", [pending("capture", 200)], 400],
    ["less what is being let go", [pending("void", 600)], 0],
    ["less both", [pending("capture", 200), pending("void", 100)], 300],
    ["whatever is being given back", [pending("refund", 500)], 600],
    ["never less than nothing", [pending("capture", 600), pending("void", 600)], 0],
  ])("is %s", (_name, asked, expected) => {
    expect(
      computeUncapturedAmountMinor(
        Object.assign({}, paymentOf(1000, 400), { pending: asked }) as unknown as OrderPayment,
      ),
    ).toBe(expected);
  });
});
