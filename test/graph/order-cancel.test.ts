/** Cancellations return stock, money and promotion uses exactly once, while the order may be canceled. */
import { describe, expect, it } from "vitest";
import { askGraph, type Frontend } from "#test/operations/cart-calls.ts";
import { readOrder } from "#test/support/orders.ts";
import { useWorld } from "#test/support/use-world.ts";
import {
  asBuyer,
  done,
  expectBalance,
  lineOf,
  makeOrder,
  paymentOf,
  planFulfillment,
  stockOf,
  stockWithout,
  orderEventTypes,
} from "./order-money-calls.ts";

const [mill, cup] = ["KIT-KVERN", "KIT-EMALJE-WHITE"];
const [millMinor, cupMinor, shippingMinor] = [8490, 1290, 490];
const totalMinor = millMinor + 2 * cupMinor + shippingMinor;
const world = useWorld();

describe("a cancellation of a whole order", () => {
  it("by its buyer in time returns stock, captured money and shipping", async () => {
    const order = await makeOrder(world());
    const before = [await stockWithout(world(), order.id, mill), await stockWithout(world(), order.id, cup)];
    expect(
      await done(world(), "orderCancel", { ...asBuyer, id: order.id, input: { reason: "CHANGED_MIND" } }),
    ).toEqual({
      id: order.id,
      version: 2,
      status: "CANCELED",
      paymentStatus: "PAID",
      fulfillmentStatus: "CANCELED",
      cancellation: { reason: "CHANGED_MIND", actor: "BUYER" },
      totals: { refunded: { amountMinor: 0 }, outstanding: { amountMinor: -totalMinor } },
    });
    expect([await stockOf(world(), mill), await stockOf(world(), cup)]).toEqual(before);
    await world().app.payments.drive();
    const after = await readOrder(world(), order.id);
    expect(after).toMatchObject({
      version: 3,
      status: "canceled",
      paymentStatus: "refunded",
      reducedMinor: totalMinor,
      shippingReducedMinor: shippingMinor,
    });
    expect(after.refunds).toMatchObject([
      {
        status: "succeeded",
        amountMinor: totalMinor,
        reason: "order_canceled",
        shippingMinor,
        lines: [
          { lineId: lineOf(order, mill).id, quantity: 1, amountMinor: millMinor },
          { lineId: lineOf(order, cup).id, quantity: 2, amountMinor: 2 * cupMinor },
        ],
      },
    ]);
    expect(
      after.lines.map(({ canceled, allocated, reducedMinor }) => [canceled, allocated, reducedMinor]),
    ).toEqual([
      [1, 0, millMinor],
      [2, 0, 2 * cupMinor],
    ]);
    expectBalance(after);
    expect(await orderEventTypes(world(), order)).toEqual([
      "order.canceled",
      "order.updated",
      "refund.created",
      "refund.succeeded",
    ]);
    expect(after.timeline.map(({ type, actor }) => `${type} ${actor}`)).toEqual([
      "order_placed system",
      "order_canceled buyer",
      "refund_created buyer",
      "refund_succeeded system",
    ]);
    const movements = await world()
      .database.db.selectFrom("stockMovement")
      .select(["delta", "reason", "note"])
      .where("note", "=", order.number)
      .orderBy("delta")
      .execute();
    expect(movements).toEqual([
      { delta: 1, reason: "canceled", note: order.number },
      { delta: 2, reason: "canceled", note: order.number },
    ]);
  });

  it("with only an authorization refunds nothing and voids the authorization", async () => {
    const order = await makeOrder(world(), { payment: "authorized" });
    await done(world(), "orderCancel", { id: order.id, input: { reason: "OUT_OF_STOCK" } });
    await world().app.payments.drive();
    const after = await readOrder(world(), order.id);
    expect(after).toMatchObject({
      status: "canceled",
      paymentStatus: "voided",
      refunds: [],
      cancellation: { reason: "out_of_stock", actor: "merchant" },
    });
    expect(paymentOf(after)).toMatchObject({ status: "canceled", voidedMinor: totalMinor, capturedMinor: 0 });
    expectBalance(after);
    expect(await orderEventTypes(world(), order)).toEqual([
      "order.canceled",
      "order.updated",
      "payment.canceled",
    ]);
  });

  it("with a partial capture refunds that part and voids the rest", async () => {
    const order = await makeOrder(world(), { payment: "authorized" });
    await done(world(), "paymentCapture", {
      id: paymentOf(order).id,
      input: { amount: { amountMinor: 5000, currency: "EUR" } },
    });
    await world().app.payments.drive();
    await done(world(), "orderCancel", { id: order.id, input: { reason: "OTHER" } });
    await world().app.payments.drive();
    const after = await readOrder(world(), order.id);
    expect(paymentOf(after)).toMatchObject({
      capturedMinor: 5000,
      refundedMinor: 5000,
      voidedMinor: totalMinor - 5000,
    });
    expect(after.refunds).toMatchObject([
      { amountMinor: 5000, shippingMinor: 0, lines: [{ amountMinor: 5000 }, { amountMinor: 0 }] },
    ]);
    expectBalance(after);
  });

  it("releases reserved stock", async () => {
    const order = await makeOrder(world(), { lines: { [cup]: 3 }, quantities: { [cup]: { allocated: 1 } } });
    const { onHand, reserved } = await stockOf(world(), cup);
    await done(world(), "orderCancel", { id: order.id, input: { reason: "OUT_OF_STOCK" } });
    expect(await stockOf(world(), cup)).toEqual({ onHand: onHand + 1, reserved: reserved - 2 });
  });

  it("cancels the fulfillments", async () => {
    const order = await makeOrder(world(), { payment: "authorized" });
    const fulfillmentId = await planFulfillment(world(), order, { status: "pending" });
    await done(world(), "orderCancel", { ...asBuyer, id: order.id, input: { reason: "WRONG_ADDRESS" } });
    const after = await readOrder(world(), order.id);
    expect(after.fulfillments).toMatchObject([
      { id: fulfillmentId, status: "canceled", version: 2, lines: [{}, {}] },
    ]);
    expect(await orderEventTypes(world(), order)).toContain("fulfillment.canceled");
  });
});

describe("a cancellation of a part of an order", () => {
  it("keeps the rest, the shipping, and the money captured for it", async () => {
    const order = await makeOrder(world());
    const before = await stockOf(world(), cup);
    const lines = [{ lineId: lineOf(order, cup).id, quantity: 1 }];
    const { status, version } = await done(world(), "orderCancel", {
      ...asBuyer,
      id: order.id,
      input: { lines, reason: "BETTER_PRICE", note: "Elsewhere." },
    });
    expect([status, version]).toEqual(["CONFIRMED", 2]);
    await world().app.payments.drive();
    const after = await readOrder(world(), order.id);
    expect(after).toMatchObject({
      paymentStatus: "partially_refunded",
      reducedMinor: cupMinor,
      shippingReducedMinor: 0,
      cancellation: null,
    });
    expect(after.refunds).toMatchObject([{ amountMinor: cupMinor, note: "Elsewhere.", shippingMinor: 0 }]);
    expect(lineOf(after, cup)).toMatchObject({
      ordered: 2,
      canceled: 1,
      allocated: 1,
      reducedMinor: cupMinor,
    });
    expect(await stockOf(world(), cup)).toEqual({ onHand: before.onHand + 1, reserved: before.reserved });
    expectBalance(after);
    expect(await orderEventTypes(world(), order)).toEqual([
      "order.partially_canceled",
      "order.updated",
      "refund.created",
      "refund.succeeded",
    ]);
  });

  it("takes waiting units before allocated ones, and unplanned ones before packed ones", async () => {
    const order = await makeOrder(world(), {
      lines: { [cup]: 4 },
      quantities: { [cup]: { allocated: 3 } },
      payment: "authorized",
    });
    const packingId = await planFulfillment(world(), order, { status: "packing", quantity: 2 });
    const pendingId = await planFulfillment(world(), order, { status: "pending", quantity: 1 });
    const cancel = (quantity: number) =>
      done(world(), "orderCancel", {
        id: order.id,
        input: { lines: [{ lineId: lineOf(order, cup).id, quantity }], reason: "OUT_OF_STOCK" },
      });
    const stock = await stockOf(world(), cup);
    await cancel(1);
    expect(await stockOf(world(), cup)).toEqual({ onHand: stock.onHand, reserved: stock.reserved - 1 });
    await cancel(2);
    expect(await stockOf(world(), cup)).toEqual({ onHand: stock.onHand + 2, reserved: stock.reserved - 1 });
    const after = await readOrder(world(), order.id);
    expect(lineOf(after, cup)).toMatchObject({ canceled: 3, allocated: 1 });
    expect(after.fulfillments).toMatchObject([
      { id: packingId, status: "packing", version: 2, lines: [{ quantity: 1 }] },
      { id: pendingId, status: "canceled", version: 2 },
    ]);
    expectBalance(after);
  });

  it("with only an authorization sends no provider request and lowers the later capture", async () => {
    const order = await makeOrder(world(), { payment: "authorized" });
    await done(world(), "orderCancel", {
      id: order.id,
      input: { lines: [{ lineId: lineOf(order, mill).id, quantity: 1 }], reason: "PRICE_ERROR" },
    });
    expect(paymentOf(await readOrder(world(), order.id)).pending).toEqual([]);
    await done(world(), "paymentCapture", { id: paymentOf(order).id });
    await world().app.payments.drive();
    const after = await readOrder(world(), order.id);
    expect(paymentOf(after).capturedMinor).toBe(totalMinor - millMinor);
    expectBalance(after);
  });

  it("shows its note only to the merchant's staff once all is canceled, and in no event", async () => {
    const order = await makeOrder(world(), { payment: "authorized" });
    const note = "Moving to the sea.";
    await done(world(), "orderCancel", { ...asBuyer, id: order.id, input: { reason: "OTHER", note } });
    const read = async (frontend: Frontend): Promise<unknown> =>
      (
        await askGraph(
          world(),
          "query ($id: ID!) { order(id: $id) { cancellation { reason note } } }",
          { id: order.id },
          frontend,
        )
      ).data.cancellation;
    for (const token of ["admin", "operator"] as const)
      expect(await read({ token })).toEqual({ reason: "OTHER", note });
    for (const frontend of [{ token: "analyst" }, asBuyer] as const)
      expect(await read(frontend)).toEqual({ reason: "OTHER", note: null });
    const { number } = await readOrder(world(), order.id);
    const events = await world()
      .database.db.selectFrom("event")
      .select(["snapshot", "thin"])
      .where("subjectId", "=", order.id)
      .execute();
    expect(events.length).toBeGreaterThan(0);
    expect(events.filter(({ snapshot, thin }) => `${snapshot}${thin}`.includes(note))).toEqual([]);
    expect(events.some(({ snapshot }) => snapshot.includes(number))).toBe(true);
  });

  it("that takes the last units cancels the whole order with its shipping", async () => {
    const order = await makeOrder(world());
    for (const [sku, quantity] of [
      [cup, 1],
      [mill, 1],
      [cup, 1],
    ] as const) {
      await done(world(), "orderCancel", {
        id: order.id,
        input: { lines: [{ lineId: lineOf(order, sku).id, quantity }], reason: "OTHER" },
      });
      await world().app.payments.drive();
      world().clock.advance(1_000);
    }
    const after = await readOrder(world(), order.id);
    expect(after).toMatchObject({
      status: "canceled",
      paymentStatus: "refunded",
      reducedMinor: totalMinor,
      shippingReducedMinor: shippingMinor,
    });
    expect(after.refunds.map(({ amountMinor }) => amountMinor)).toEqual([
      cupMinor,
      millMinor,
      cupMinor + shippingMinor,
    ]);
  });
});
