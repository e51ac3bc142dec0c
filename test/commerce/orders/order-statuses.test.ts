/**
 * An order is completed if nothing is left to ship, nothing is owed, and nothing is being returned, whatever
 * the payment's status.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OrderFulfillment, OrderLine, OrderPayment } from "#commerce/orders/order-aggregate.ts";
import { deriveOrderStatuses, computeOutstandingAmountMinor } from "#commerce/orders/order-statuses.ts";
import "#test/support/properties.ts";

type Parts = Parameters<typeof deriveOrderStatuses>[0];

const line = (counts: Partial<OrderLine>): OrderLine =>
  ({
    id: "l",
    requiresShipping: true,
    restrictions: [],
    ordered: 2,
    canceled: 0,
    shipped: 2,
    delivered: 2,
    returned: 0,
    refunded: 0,
    ...counts,
  }) as never;
const paid = (payment: Partial<OrderPayment>): OrderPayment =>
  ({
    status: "authorized",
    amountMinor: 1000,
    capturedMinor: 0,
    voidedMinor: 0,
    refundedMinor: 0,
    disputedAt: null,
    pending: [],
    ...payment,
  }) as never;
const parcel = (status: OrderFulfillment["status"], quantity: number): OrderFulfillment =>
  ({ returnId: null, status, lines: [{ lineId: "l", quantity }] }) as never;
const order = (parts: Partial<Parts>): Parts => ({
  status: "confirmed",
  totalMinor: 1000,
  reducedMinor: 0,
  lines: [line({})],
  fulfillments: [],
  payments: [paid({})],
  returns: [],
  ...parts,
});
const captured: Partial<OrderPayment> = { status: "captured", capturedMinor: 1000 };

describe("a delivered order", () => {
  it.each([
    ["authorized, with nothing owed any more", {}, 1000, "authorized", "completed"],
    ["authorized, with something owed", {}, 999, "authorized", "confirmed"],
    [
      "voided, with nothing owed any more",
      { status: "canceled", voidedMinor: 1000 },
      1000,
      "voided",
      "completed",
    ],
    ["voided, with something owed", { status: "canceled", voidedMinor: 1000 }, 0, "voided", "confirmed"],
    ["paid", captured, 0, "paid", "completed"],
    [
      "paid, and disputed",
      { ...captured, disputedAt: "2026-01-01T00:00:00.000Z" },
      0,
      "disputed",
      "confirmed",
    ],
    ["paid in part, with the rest given up", { capturedMinor: 400 }, 600, "paid", "completed"],
  ] as const)("with %s", (_name, payment, reducedMinor, paymentStatus, status) => {
    const parts = order({ payments: [paid(payment)], reducedMinor });
    expect(deriveOrderStatuses(parts)).toMatchObject({
      paymentStatus,
      status,
      fulfillmentStatus: "delivered",
    });
  });

  it("is never completed while an amount is owed", () => {
    const amount = fc.nat(1000);
    fc.assert(
      fc.property(
        amount,
        amount,
        amount,
        fc.constantFrom("authorized", "canceled", "captured"),
        (capturedMinor, refundedMinor, reducedMinor, status) => {
          const parts = order({
            payments: [
              paid({ status, capturedMinor, refundedMinor: Math.min(refundedMinor, capturedMinor) }),
            ],
            reducedMinor,
          });
          expect(deriveOrderStatuses(parts).status === "completed").toBe(
            computeOutstandingAmountMinor(parts) <= 0,
          );
        },
      ),
    );
  });
});

describe("an order with lost parcels", () => {
  it.each([
    [
      "all of it, not paid back",
      { shipped: 0, delivered: 0 },
      [parcel("failed", 2)],
      "unfulfilled",
      "confirmed",
    ],
    ["all of it, paid back", { delivered: 0, refunded: 2 }, [parcel("failed", 2)], "canceled", "completed"],
    [
      "some of it, paid back",
      { delivered: 1, refunded: 1 },
      [parcel("delivered", 1), parcel("returned_to_sender", 1)],
      "delivered",
      "completed",
    ],
    [
      "some of it, paid back, the rest under way",
      { delivered: 0, refunded: 1 },
      [parcel("shipped", 1), parcel("failed", 1)],
      "shipped",
      "confirmed",
    ],
    [
      "none: paid back, and under way",
      { delivered: 0, refunded: 2 },
      [parcel("shipped", 2)],
      "shipped",
      "confirmed",
    ],
  ] as const)("%s", (_name, counts, fulfillments, fulfillmentStatus, status) => {
    const parts = order({
      lines: [line(counts)],
      fulfillments: [...fulfillments],
      payments: [paid(captured)],
    });
    expect(deriveOrderStatuses(parts)).toMatchObject({ fulfillmentStatus, status });
  });
});
