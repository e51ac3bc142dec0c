/**
 * The money of orders: captures, voids, refunds and disputes never exceed the amounts available, and always
 * add up.
 */
import { describe, expect, it } from "vitest";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { readOrder } from "#test/support/orders.ts";
import { useWorld } from "#test/support/use-world.ts";
import {
  asBuyer,
  call,
  done,
  expectBalance,
  lineOf,
  makeOrder,
  type OrderMutation,
  paymentOf,
  refusal,
  refused,
  orderEventTypes,
} from "./order-money-calls.ts";

const cup = "KIT-EMALJE-WHITE";
const [cupMinor, shippingMinor] = [1290, 490];
const totalMinor = 8490 + 2 * cupMinor + shippingMinor;
const world = useWorld();
const eur = (amountMinor: number) => ({ amount: { amountMinor, currency: "EUR" } });
const ofPayment = (order: OrderAggregate, input: object = {}) => ({
  id: paymentOf(order).id,
  input: { ...input },
});

/** Runs all provider requests of the order. */
async function settled(order: OrderAggregate): Promise<OrderAggregate> {
  await world().app.payments.drive();
  const after = await readOrder(world(), order.id);
  expect(paymentOf(after).pending).toEqual([]);
  return after;
}

const delivered = { deliveredAt: new Date(), status: "completed" } as const;

describe("a capture", () => {
  it("captures what is authorized and still owed once the provider has answered", async () => {
    const order = await makeOrder(world(), { payment: "authorized" });
    expect(await done(world(), "paymentCapture", ofPayment(order))).toMatchObject({
      status: "AUTHORIZED",
      capturedAmount: { amountMinor: 0 },
    });
    expect(await readOrder(world(), order.id)).toMatchObject({ version: 2, paymentStatus: "authorized" });
    const after = await settled(order);
    expect(after).toMatchObject({ version: 3, paymentStatus: "paid" });
    expect(paymentOf(after)).toMatchObject({ status: "captured", capturedMinor: totalMinor });
    expectBalance(after);
    expect(await orderEventTypes(world(), order)).toEqual([
      "order.updated",
      "order.updated",
      "payment.captured",
    ]);
  });

  it("in parts never exceeds the total, pending captures included", async () => {
    const order = await makeOrder(world(), { payment: "authorized" });
    await done(world(), "paymentCapture", ofPayment(order, eur(totalMinor - 100)));
    expect(await refused(world(), "paymentCapture", ofPayment(order, eur(101)))).toEqual(
      refusal("capture_exceeds_authorized"),
    );
    const { error } = await call(world(), "paymentCapture", ofPayment(order, eur(101)));
    expect(error.conflict.data).toEqual({ capturable: { amountMinor: 100, currency: "EUR", exponent: 2 } });
    await done(world(), "paymentCapture", ofPayment(order));
    expect(await refused(world(), "paymentCapture", ofPayment(order))).toEqual(refusal("nothing_to_capture"));
    expect(paymentOf(await settled(order))).toMatchObject({ capturedMinor: totalMinor });
    expect(await refused(world(), "paymentCapture", ofPayment(order))).toEqual(refusal("nothing_to_capture"));
  });

  it("captures nothing that is voided or about to be voided", async () => {
    const order = await makeOrder(world(), { payment: "authorized" });
    await done(world(), "paymentVoid", ofPayment(order));
    expect(await refused(world(), "paymentCapture", ofPayment(order))).toEqual(refusal("nothing_to_capture"));
    expect(await settled(order)).toMatchObject({
      paymentStatus: "voided",
      payments: [{ status: "canceled", voidedMinor: totalMinor }],
    });
    expect(await refused(world(), "paymentVoid", ofPayment(order))).toEqual(refusal("nothing_to_void"));
    expect(await orderEventTypes(world(), order)).toEqual([
      "order.updated",
      "order.updated",
      "payment.canceled",
    ]);
  });

  it("leaves the rest, which can be voided and then not captured", async () => {
    const order = await makeOrder(world(), { payment: "authorized" });
    await done(world(), "paymentCapture", ofPayment(order, eur(5_000)));
    await done(world(), "paymentVoid", ofPayment(order));
    const after = await settled(order);
    expect(paymentOf(after)).toMatchObject({ capturedMinor: 5_000, voidedMinor: totalMinor - 5_000 });
    expectBalance(after);
  });
});

describe("a refund", () => {
  it("of shipped lines returns the paid amount, once", async () => {
    const order = await makeOrder(world(), delivered);
    const lines = [{ lineId: lineOf(order, cup).id, quantity: 1 }];
    expect(
      await done(world(), "refundCreate", {
        id: order.id,
        input: { lines, reason: "DAMAGED", note: "Chipped." },
      }),
    ).toEqual({
      id: expect.stringMatching(/^rfd_/),
      status: "PENDING",
      reason: "DAMAGED",
      note: "Chipped.",
      amount: { amountMinor: cupMinor },
      lines: [{ ...lines[0], amount: { amountMinor: cupMinor } }],
      shipping: { amountMinor: 0 },
    });
    const after = await settled(order);
    expect(after).toMatchObject({
      status: "completed",
      paymentStatus: "partially_refunded",
      reducedMinor: cupMinor,
    });
    expect(lineOf(after, cup)).toMatchObject({ refunded: 1, canceled: 0, reducedMinor: cupMinor });
    expectBalance(after);
    expect(await orderEventTypes(world(), order)).toEqual([
      "order.updated",
      "order.updated",
      "refund.created",
      "refund.succeeded",
    ]);
    const two = { id: order.id, input: { lines: [{ ...lines[0], quantity: 2 }], reason: "DAMAGED" } };
    expect(await refused(world(), "refundCreate", two)).toEqual(
      refusal("quantity_not_refundable", "/lines/0/quantity too_large"),
    );
  });

  it("of unshipped units is refused: these are canceled instead", async () => {
    const order = await makeOrder(world());
    const input = { lines: [{ lineId: lineOf(order, cup).id, quantity: 1 }], reason: "OTHER" };
    expect(await refused(world(), "refundCreate", { id: order.id, input })).toEqual(
      refusal("quantity_not_refundable", "/lines/0/quantity too_large"),
    );
  });

  it("of the shipping happens once, and with a goodwill amount stays within the capture", async () => {
    const order = await makeOrder(world(), delivered);
    const refund = (input: object) => ({ id: order.id, input: { reason: "PRICE_ADJUSTMENT", ...input } });
    expect(
      await refused(
        world(),
        "refundCreate",
        refund({ shipping: true, ...eur(totalMinor - shippingMinor + 1) }),
      ),
    ).toEqual(refusal("refund_exceeds_captured"));
    await done(world(), "refundCreate", refund({ shipping: true, ...eur(1_000) }));
    expect(await refused(world(), "refundCreate", refund({ shipping: true }))).toEqual(
      refusal("shipping_not_refundable"),
    );
    expect(await refused(world(), "refundCreate", refund(eur(totalMinor - shippingMinor - 999)))).toEqual(
      refusal("refund_exceeds_captured"),
    );
    await done(world(), "refundCreate", refund(eur(totalMinor - shippingMinor - 1_000)));
    const after = await settled(order);
    expect(after).toMatchObject({
      paymentStatus: "refunded",
      reducedMinor: totalMinor,
      shippingReducedMinor: shippingMinor,
    });
    expectBalance(after);
  });

  it("that the provider refused leaves the money owed to the buyer, and can be repeated", async () => {
    const order = await makeOrder(world(), delivered);
    const { db } = world().database;
    await db
      .updateTable("testProviderPayment")
      .set({ capturedMinor: 0 })
      .where("reference", "=", paymentOf(order).id)
      .execute();
    const refund = { id: order.id, input: { reason: "OTHER", ...eur(1_000) } };
    await done(world(), "refundCreate", refund);
    const failed = await settled(order);
    expect(failed).toMatchObject({
      paymentStatus: "paid",
      reducedMinor: 1_000,
      refunds: [{ status: "failed" }],
    });
    expect(await orderEventTypes(world(), order)).toContain("refund.failed");
    await db
      .updateTable("testProviderPayment")
      .set({ capturedMinor: totalMinor })
      .where("reference", "=", paymentOf(order).id)
      .execute();
    await done(world(), "refundCreate", refund);
    const after = await settled(order);
    expect(after).toMatchObject({
      paymentStatus: "partially_refunded",
      reducedMinor: 1_000,
      payments: [{ refundedMinor: 1_000 }],
    });
    expectBalance(after);
  });
});

describe("a dispute", () => {
  it("blocks all changes until it is closed; if won, everything is as before", async () => {
    const order = await makeOrder(world(), { payment: "authorized" });
    expect(await refused(world(), "paymentDisputeOpen", ofPayment(order, { reason: "OTHER" }))).toEqual(
      refusal("nothing_captured"),
    );
    await done(world(), "paymentCapture", ofPayment(order, eur(5_000)));
    await settled(order);
    expect(
      await done(world(), "paymentDisputeOpen", ofPayment(order, { reason: "NOT_RECEIVED" })),
    ).toMatchObject({
      disputedAt: world().clock.now().toISOString(),
      disputeReason: "not_received",
    });
    expect((await readOrder(world(), order.id)).paymentStatus).toBe("disputed");
    const disputed = refusal("payment_disputed");
    expect(await refused(world(), "paymentDisputeOpen", ofPayment(order, { reason: "OTHER" }))).toEqual(
      disputed,
    );
    expect(await refused(world(), "paymentCapture", ofPayment(order))).toEqual(disputed);
    expect(
      await refused(world(), "refundCreate", { id: order.id, input: { reason: "OTHER", ...eur(1) } }),
    ).toEqual(disputed);
    await done(world(), "paymentDisputeClose", ofPayment(order, { outcome: "WON" }));
    const after = await readOrder(world(), order.id);
    expect(after).toMatchObject({
      paymentStatus: "partially_paid",
      reducedMinor: 0,
      payments: [{ disputedAt: null, refundedMinor: 0 }],
    });
    expect(await refused(world(), "paymentDisputeClose", ofPayment(order, { outcome: "WON" }))).toEqual(
      refusal("payment_not_disputed"),
    );
    expect(await orderEventTypes(world(), order)).toEqual(
      expect.arrayContaining(["payment.disputed", "payment.dispute_closed"]),
    );
  });

  it("that is lost takes the remaining money, and the buyer does not owe it again", async () => {
    const order = await makeOrder(world(), delivered);
    await done(world(), "refundCreate", { id: order.id, input: { reason: "OTHER", ...eur(560) } });
    await settled(order);
    await done(world(), "paymentDisputeOpen", ofPayment(order, { reason: "FRAUDULENT" }));
    await done(world(), "paymentDisputeClose", ofPayment(order, { outcome: "LOST" }));
    const after = await readOrder(world(), order.id);
    expect(after).toMatchObject({ status: "completed", paymentStatus: "refunded", reducedMinor: totalMinor });
    expect(paymentOf(after)).toMatchObject({ status: "refunded", refundedMinor: totalMinor });
    expect(
      await refused(world(), "refundCreate", { id: order.id, input: { reason: "OTHER", ...eur(1) } }),
    ).toEqual(refusal("refund_exceeds_captured"));
  });
});

describe("a mutation that moves money", () => {
  it("reports invalid input before anything is written", async () => {
    const order = await makeOrder(world(), delivered);
    const bad = (...fields: readonly string[]) => ({ code: "invalid_field", reason: null, fields });
    const refund = (input: object) =>
      refused(world(), "refundCreate", { id: order.id, input: { reason: "OTHER", ...input } });
    expect(await refund({})).toEqual(bad("/amount required"));
    expect(await refund({ ...eur(0), lines: [], note: "x".repeat(501) })).toEqual(
      bad("/lines too_short", "/amount/amountMinor too_small", "/note too_long"),
    );
    expect(await refund({ amount: { amountMinor: 1, currency: "USD" } })).toEqual(
      bad("/amount/currency currency_mismatch"),
    );
    expect(await refund({ lines: [{ lineId: "oln_unknown", quantity: 1 }] })).toEqual(
      bad("/lines/0/lineId unknown"),
    );
    const capture = ofPayment(order, { amount: { amountMinor: 1, currency: "USD" } });
    expect(await refused(world(), "paymentCapture", capture)).toEqual(
      bad("/amount/currency currency_mismatch"),
    );
  });

  const cases: readonly (readonly [OrderMutation, Readonly<Record<string, unknown>>])[] = [
    ["paymentCapture", {}],
    ["paymentVoid", {}],
    ["paymentDisputeOpen", { reason: "OTHER" }],
    ["refundCreate", { reason: "OTHER", shipping: true }],
  ];

  it.each(cases)("%s refuses buyers, other merchants and outdated versions", async (field, input) => {
    const order = await makeOrder(
      world(),
      field === "paymentCapture" || field === "paymentVoid" ? { payment: "authorized" } : {},
    );
    const id = field === "refundCreate" ? order.id : paymentOf(order).id;
    expect(await refused(world(), field, { ...asBuyer, id, input })).toMatchObject({
      code: "role_not_allowed",
    });
    expect(
      await refused(world(), field, { id: `${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`, input }),
    ).toMatchObject({
      code: field === "refundCreate" ? "order_not_found" : "resource_not_found",
    });
    expect(await refused(world(), field, { id, input: { ...input, expectedVersion: 9 } })).toMatchObject({
      code: "version_conflict",
    });
  });
});
