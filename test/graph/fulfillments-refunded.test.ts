/**
 * Parcels that never arrive: refunded units are not sent again, losses are reported for any stock, and the
 * order still completes.
 */
import { describe, expect, it } from "vitest";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { fulfillmentsPerOrderMax } from "#commerce/orders/fulfillment/create-fulfillment.ts";
import { refundsPerOrderMax } from "#commerce/orders/payment/refunds.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { variantOf } from "#test/operations/cart-calls.ts";
import { type OrderOverrides, readOrder } from "#test/support/orders.ts";
import { useWorld } from "#test/support/use-world.ts";
import {
  countsOf,
  made,
  make,
  orderConflictOf,
  send,
  sent,
  setStock,
  stockOf,
  untouched,
} from "./fulfillment-calls.ts";
import { call, done, expectBalance, lineOf, makeOrder, refusal, refused } from "./order-money-calls.ts";

const world = useWorld();
const sku = "KIT-KVERN";
const variant = (): Promise<string> => variantOf(world(), sku);
const plan = async ({ id }: OrderAggregate, quantity?: number): Promise<string> => {
  const lineId = lineOf(await readOrder(world(), id), sku).id;
  const input = quantity === undefined ? {} : { lines: [{ lineId, quantity }] };
  return (await sent(world(), "fulfillmentCreate", { id, input })).id;
};
const order = (ordered: number, overrides: OrderOverrides = {}): Promise<OrderAggregate> =>
  makeOrder(world(), { lines: { [sku]: ordered }, ...overrides });
const payBack = async (
  from: OrderAggregate,
  { quantity, reason }: { readonly quantity: number; readonly reason: string },
): Promise<void> => {
  await done(world(), "refundCreate", {
    id: from.id,
    input: { lines: [{ lineId: lineOf(from, sku).id, quantity }], reason },
  });
  await world().app.payments.drive();
};
const noneOpen = async (id: string): Promise<void> => {
  const { error } = await untouched(world(), () => send(world(), "fulfillmentCreate", { id }));
  expect([error.code, error.conflict.reason]).toEqual(["invalid_state", "nothing_open"]);
};

describe("a unit that was refunded before it arrived", () => {
  it.each(["NOT_RECEIVED", "OTHER"])("returns to stock once and is not sent again: %s", async (reason) => {
    const from = await order(3);
    const parcel = await plan(from, 2);
    await made(world(), parcel, ["pack", "ship"]);
    await payBack(from, { quantity: 2, reason });
    const [onHand, reserved] = await stockOf(world(), await variant());
    await made(world(), parcel, ["returned_to_sender"]);
    expect(await stockOf(world(), await variant())).toEqual([onHand + 2, reserved]);
    expect(await countsOf(world(), from.id)).toEqual({ [sku]: [3, 2, 0] });
    const rest = await plan(from);
    const planned = (await readOrder(world(), from.id)).fulfillments.find(({ id }) => id === rest);
    expect(planned?.lines).toMatchObject([{ quantity: 1 }]);
    await noneOpen(from.id);
    await made(world(), rest, ["pack", "ship", "deliver"]);
    const after = await readOrder(world(), from.id);
    expect(after).toMatchObject({
      status: "completed",
      fulfillmentStatus: "delivered",
      lines: [{ shipped: 3, delivered: 1, refunded: 2, allocated: 3 }],
    });
    expect(await stockOf(world(), await variant())).toEqual([onHand + 2, reserved]);
    expectBalance(after);
  });

  it("reserves nothing if its parcel is lost, and the order ends", async () => {
    const from = await order(2);
    const parcel = await plan(from);
    await made(world(), parcel, ["pack", "ship"]);
    await payBack(from, { quantity: 2, reason: "NOT_RECEIVED" });
    const before = await stockOf(world(), await variant());
    await made(world(), parcel, ["fail"]);
    expect(await stockOf(world(), await variant())).toEqual(before);
    expect(await readOrder(world(), from.id)).toMatchObject({
      status: "completed",
      fulfillmentStatus: "canceled",
    });
    expect(
      (await call(world(), "orderCancel", { id: from.id, input: { reason: "OTHER" } })).error.conflict.reason,
    ).toBe("order_completed");
  });

  it("is distinguished from a refunded damaged unit: the lost rest is sent again", async () => {
    const from = await order(3);
    await made(world(), await plan(from, 1), ["pack", "ship", "deliver"]);
    await payBack(from, { quantity: 1, reason: "DAMAGED" });
    const parcel = await plan(from);
    await made(world(), parcel, ["pack", "ship", "fail"]);
    await made(world(), await plan(from, 2), ["pack", "ship", "deliver"]);
    expect(await countsOf(world(), from.id)).toEqual({ [sku]: [3, 3, 3] });
  });

  it("is not sent again with the rest of its parcel, and is not refunded twice", async () => {
    const from = await order(2);
    const parcel = await plan(from);
    await made(world(), parcel, ["pack", "ship"]);
    await payBack(from, { quantity: 1, reason: "NOT_RECEIVED" });
    await made(world(), parcel, ["fail"]);
    await made(world(), await plan(from), ["pack", "ship", "deliver"]);
    expect(await readOrder(world(), from.id)).toMatchObject({
      status: "completed",
      lines: [{ shipped: 2, delivered: 1, refunded: 1 }],
    });
    expect(
      await refused(world(), "refundCreate", {
        id: from.id,
        input: { lines: [{ lineId: lineOf(from, sku).id, quantity: 2 }], reason: "OTHER" },
      }),
    ).toEqual(refusal("quantity_not_refundable", "/lines/0/quantity too_large"));
  });
});

describe("a lost unit", () => {
  const lose = async (overrides: OrderOverrides = {}): Promise<OrderAggregate> => {
    const from = await order(3, overrides);
    const parcel = await plan(from);
    await made(world(), parcel, ["pack", "ship"]);
    await setStock(world(), await variant(), { onHand: 2, reserved: 0 });
    await made(world(), parcel, ["fail"]);
    return from;
  };

  it("is reported even with too little stock: available units are reserved, the rest waits", async () => {
    const from = await lose();
    expect([await countsOf(world(), from.id), await stockOf(world(), await variant())]).toEqual([
      { [sku]: [0, 0, 0] },
      [2, 2],
    ]);
    const again = await plan(from);
    const short = await untouched(world(), () => make(world(), "pack", again));
    const data = { shortages: [{ variantId: await variant(), wanted: 1, available: 0 }] };
    expect(short.error.conflict).toEqual(
      orderConflictOf(await readOrder(world(), from.id), { reason: "insufficient_stock", data }),
    );
    await setStock(world(), await variant(), { onHand: 3, reserved: 2 });
    await made(world(), again, ["pack", "ship", "deliver"]);
    expect([await countsOf(world(), from.id), await stockOf(world(), await variant())]).toEqual([
      { [sku]: [3, 3, 3] },
      [0, 0],
    ]);
    expect(
      (await readOrder(world(), from.id)).fulfillments
        .flatMap(({ lines }) => lines)
        .map(({ unreserved }) => unreserved),
    ).toEqual([0, 0]);
  });

  it("can be canceled instead, which frees exactly its reserved stock", async () => {
    const from = await lose();
    const lines = [{ lineId: lineOf(from, sku).id, quantity: 2 }];
    await done(world(), "orderCancel", { id: from.id, input: { lines, reason: "OUT_OF_STOCK" } });
    expect(await stockOf(world(), await variant())).toEqual([2, 1]);
    await made(world(), await plan(from), ["pack", "ship", "deliver"]);
    expect([await countsOf(world(), from.id), await stockOf(world(), await variant())]).toEqual([
      { [sku]: [1, 1, 1] },
      [1, 0],
    ]);
  });

  it("of an exchange is replaced by a new fulfillment that waits for stock", async () => {
    const from = await order(2, { deliveredAt: world().clock.now() });
    const [id, returnId, at, variantId] = [
      createId("fulfillment"),
      createId("return"),
      world().clock.now(),
      await variant(),
    ];
    const { id: lineId } = lineOf(from, sku);
    await runInTransaction(world().database.db, async (transaction) => {
      const parts = { orderId: from.id, merchantId: from.merchant.id, updatedAt: at };
      const exchange = {
        ...parts,
        id: returnId,
        kind: "exchange",
        status: "inspected",
        reason: "other",
        requestedAt: at,
      } as const;
      await transaction.insertInto("orderReturn").values(exchange).execute();
      await transaction
        .insertInto("returnLine")
        .values({ returnId, orderLineId: lineId, quantity: 2 })
        .execute();
      await transaction
        .insertInto("fulfillment")
        .values({ ...parts, id, returnId, type: "shipping", createdAt: at })
        .execute();
      await transaction
        .insertInto("fulfillmentLine")
        .values({ fulfillmentId: id, orderLineId: lineId, quantity: 2 })
        .execute();
      await transaction
        .updateTable("salesOrder")
        .set({ version: from.version + 1 })
        .where("id", "=", from.id)
        .execute();
      await transaction
        .updateTable("stockLevel")
        .set({ onHand: 2, reserved: 2, backorderLimit: 0 })
        .where("variantId", "=", variantId)
        .execute();
    });
    await made(world(), id, ["pack", "ship"]);
    await setStock(world(), await variant(), { onHand: 1, reserved: 0 });
    await made(world(), id, ["fail"]);
    const next = (await readOrder(world(), from.id)).fulfillments.find(({ status }) => status === "pending");
    expect([next, await stockOf(world(), await variant())]).toMatchObject([
      { status: "pending", returnId, lines: [{ quantity: 2, unreserved: 1 }] },
      [1, 1],
    ]);
    expect(
      (await untouched(world(), () => make(world(), "pack", next?.id ?? ""))).error.conflict.reason,
    ).toBe("insufficient_stock");
    await setStock(world(), await variant(), { onHand: 2, reserved: 1 });
    await made(world(), next?.id ?? "", ["pack", "ship", "deliver"]);
    expect(await stockOf(world(), await variant())).toEqual([0, 0]);
  });
});

describe("limits", () => {
  it("an order refuses fulfillments and refunds beyond its maximum", async () => {
    const from = await order(2);
    const at = world().clock.now();
    const { id: lineId } = lineOf(from, sku);
    const [payment] = from.payments;
    await runInTransaction(world().database.db, async (transaction) => {
      const parts = { orderId: from.id, merchantId: from.merchant.id, createdAt: at, updatedAt: at };
      const ids = Array.from({ length: fulfillmentsPerOrderMax }, () => createId("fulfillment"));
      const fulfillments = ids.map((id) =>
        Object.assign({ id, status: "canceled", type: "shipping" } as const, parts),
      );
      await transaction.insertInto("fulfillment").values(fulfillments).execute();
      const lines = ids.map((fulfillmentId) => ({ fulfillmentId, orderLineId: lineId, quantity: 1 }));
      await transaction.insertInto("fulfillmentLine").values(lines).execute();
      for (let count = 0; count < refundsPerOrderMax; count += 1) {
        const [id, operationId] = [createId("refund"), createId("paymentOperation")];
        const { id: paymentId } = payment ?? { id: "" };
        const operation = {
          id: operationId,
          paymentId,
          merchantId: from.merchant.id,
          kind: "refund",
          status: "failed",
          amountMinor: 1,
        } as const;
        await transaction
          .insertInto("paymentOperation")
          .values({ ...operation, dueAt: at, createdAt: at, settledAt: at })
          .execute();
        const refund = {
          id,
          paymentId,
          operationId,
          status: "failed",
          amountMinor: 1,
          currency: "EUR",
          reason: "other",
        } as const;
        await transaction
          .insertInto("refund")
          .values({ ...parts, ...refund })
          .execute();
      }
      await transaction
        .updateTable("salesOrder")
        .set({ version: from.version + 1 })
        .where("id", "=", from.id)
        .execute();
    });
    const { error } = await untouched(world(), () => send(world(), "fulfillmentCreate", { id: from.id }));
    expect([error.code, error.conflict.reason, error.conflict.data]).toEqual([
      "invalid_state",
      "too_many_fulfillments",
      { max: fulfillmentsPerOrderMax },
    ]);
    const more = { amount: { amountMinor: 1, currency: "EUR" }, reason: "OTHER" };
    expect(await refused(world(), "refundCreate", { id: from.id, input: more })).toEqual(
      refusal("too_many_refunds"),
    );
  });

  it("a parcel's estimated delivery is after the handover and within a year", async () => {
    const day = 24 * 60 * 60_000;
    const at = (ms: number): Date => new Date(world().clock.now().getTime() + ms);
    for (const estimatedDeliveryAt of [at(-1), at(0), at(365 * day + 1)]) {
      const { error } = await untouched(world(), () =>
        send(world(), "fulfillmentShip", { id: "ful_x", input: { estimatedDeliveryAt } }),
      );
      expect([error.code, error.details]).toMatchObject([
        "invalid_field",
        [{ field: "/estimatedDeliveryAt", code: "out_of_range" }],
      ]);
    }
    const parcel = await plan(await order(1));
    await made(world(), parcel, ["pack"]);
    const { estimatedDeliveryAt } = await sent(world(), "fulfillmentShip", {
      id: parcel,
      input: { estimatedDeliveryAt: at(365 * day) },
    });
    expect(estimatedDeliveryAt).toBe(at(365 * day).toISOString());
  });
});
