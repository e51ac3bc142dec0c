/**
 * The amounts of returns in special cases: several partial returns, lost orders, unpaid orders, and services
 * that need no shipping.
 */
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { readOrder } from "#test/support/orders.ts";
import { useWorld } from "#test/support/use-world.ts";
import { call as callOrder, expectBalance, lineOf, makeOrder, stockOf } from "./order-money-calls.ts";
import { asBuyer, conflict, done, invalid, makeDelivered, refused, returnOf } from "./return-calls.ts";

const [mill, cup] = ["KIT-KVERN", "KIT-EMALJE-WHITE"];
const [millMinor, cupMinor, shippingMinor] = [8490, 1290, 490];

describe("the refund of a return", () => {
  const world = useWorld();

  const ask = (order: OrderAggregate, input: object): ReturnType<typeof done> =>
    done(world(), "returnRequest", { ...asBuyer, id: order.id, input: input as never });

  async function finish(id: string, lineId: string, units: number): Promise<number> {
    await done(world(), "returnTrack", { id });
    await done(world(), "returnReceive", { id, input: { lines: [{ lineId, received: units }] } });
    await done(world(), "returnInspect", { id, input: { lines: [{ lineId, accepted: units, restock: 0 }] } });
    const { refund } = await done(world(), "returnClose", { id });
    await world().app.payments.drive();
    return refund.amountMinor;
  }

  /** An order that was sent three weeks ago and never arrived. */
  async function makeLost(policies: object = {}): Promise<OrderAggregate> {
    const order = await makeOrder(world(), { policies: { return: policies } });
    const { id } = await done(world(), "fulfillmentCreate", { id: order.id, input: {} });
    await done(world(), "fulfillmentPack", { id });
    await done(world(), "fulfillmentShip", { id });
    world().clock.advance(21 * 86_400_000);
    return order;
  }

  const notReceived = (order: OrderAggregate, skus: readonly string[]): object => ({
    kind: "REFUND_ONLY",
    reason: "NOT_RECEIVED",
    lines: skus.map((sku) => ({ lineId: lineOf(order, sku).id, quantity: lineOf(order, sku).ordered })),
  });

  it("for a withdrawal in parts adds up to the paid total, with the shipping in the last part", async () => {
    const order = await makeDelivered(world(), { lines: { [cup]: 3, [mill]: 1 } });
    // A price that is not divisible by three units.
    await runInTransaction(world().database.db, async (transaction) => {
      await sql`update order_line set total_minor = total_minor + 1
        where id = ${lineOf(order, cup).id}`.execute(transaction);
      await sql`update sales_order set total_minor = total_minor + 1, version = version + 1
        where id = ${order.id}`.execute(transaction);
      await sql`update payment set amount_minor = amount_minor + 1, captured_minor = captured_minor + 1
        where order_id = ${order.id}`.execute(transaction);
      await sql`update test_provider_payment set amount_minor = amount_minor + 1, captured_minor =
        captured_minor + 1
        where reference = ${order.payments[0]?.id}`.execute(transaction);
    });
    const parts = [
      [cup, 1],
      [mill, 1],
      [cup, 2],
    ] as const;
    const requested = [];
    for (const [sku, quantity] of parts) {
      const { id: lineId } = lineOf(order, sku);
      const { id } = await ask(order, { kind: "WITHDRAWAL", reason: "OTHER", lines: [{ lineId, quantity }] });
      requested.push({ id, lineId, quantity });
    }
    const paid = [];
    for (const { id, lineId, quantity } of requested.toReversed())
      paid.push(await finish(id, lineId, quantity));
    const after = await readOrder(world(), order.id);
    expect(paid.reduce((sum, minor) => sum + minor, 0)).toBe(order.totalMinor + 1);
    expect(paid.at(-1)).toBe(cupMinor + 1 + shippingMinor);
    expect(after).toMatchObject({
      reducedMinor: order.totalMinor + 1,
      shippingReducedMinor: shippingMinor,
      paymentStatus: "refunded",
    });
    expectBalance(after);
  });

  it("is limited to the money left after earlier refunds", async () => {
    const order = await makeDelivered(world());
    const { id: lineId } = lineOf(order, mill);
    const amount = { amountMinor: order.totalMinor - 100, currency: "EUR" };
    expect(
      (await callOrder(world(), "refundCreate", { id: order.id, input: { amount, reason: "OTHER" } })).error,
    ).toBeUndefined();
    await world().app.payments.drive();
    const requested = await ask(order, {
      kind: "RETURN_REFUND",
      reason: "UNWANTED",
      lines: [{ lineId, quantity: 1 }],
    });
    expect(requested.refund).toEqual({ amountMinor: 100 });
    expect(await finish(requested.id, lineId, 1)).toBe(100);
    expectBalance(await readOrder(world(), order.id));
  });

  it("for a lost parcel waits for approval or is refused, by the order's policy", async () => {
    const asking = await makeLost({ mode: "request" });
    const requested = await ask(asking, notReceived(asking, [mill]));
    expect(requested).toMatchObject({ status: "REQUESTED", refund: { amountMinor: millMinor } });
    expect(await readOrder(world(), asking.id)).toMatchObject({ refunds: [], reducedMinor: 0 });
    expect(await done(world(), "returnApprove", { id: requested.id })).toMatchObject({ status: "CLOSED" });
    const never = await makeLost({ mode: "none" });
    const input = notReceived(never, [mill]) as never;
    expect(await refused(world(), "returnRequest", { ...asBuyer, id: never.id, input })).toMatchObject({
      reason: "self_service_disabled",
    });
    const limited = await makeLost({ returnsPerBuyerMax: 1 });
    expect(await ask(limited, notReceived(limited, [mill]))).toMatchObject({ status: "REQUESTED" });
  });

  it("for a lost order includes the shipping with the last requested lines", async () => {
    const order = await makeLost();
    expect(await ask(order, notReceived(order, [mill]))).toMatchObject({
      refund: { amountMinor: millMinor },
    });
    expect(await ask(order, notReceived(order, [cup]))).toMatchObject({
      refund: { amountMinor: 2 * cupMinor + shippingMinor },
    });
    await world().app.payments.drive();
    const after = await readOrder(world(), order.id);
    expect(after).toMatchObject({ reducedMinor: order.totalMinor, paymentStatus: "refunded" });
    expectBalance(after);
    const whole = await makeLost();
    expect(await ask(whole, notReceived(whole, [mill, cup]))).toMatchObject({
      refund: { amountMinor: whole.totalMinor },
    });
  });

  it("for an unpaid order voids the authorization once nothing is owed", async () => {
    const order = await makeDelivered(world(), { payment: "authorized", lines: { [cup]: 2 } });
    const { id: lineId } = lineOf(order, cup);
    const first = await ask(order, { kind: "WITHDRAWAL", reason: "OTHER", lines: [{ lineId, quantity: 1 }] });
    await finish(first.id, lineId, 1);
    expect((await readOrder(world(), order.id)).payments).toMatchObject([
      { status: "authorized", voidedMinor: 0 },
    ]);
    const second = await ask(order, {
      kind: "WITHDRAWAL",
      reason: "OTHER",
      lines: [{ lineId, quantity: 1 }],
    });
    expect(second.refund).toEqual({ amountMinor: cupMinor + shippingMinor });
    await finish(second.id, lineId, 1);
    const after = await readOrder(world(), order.id);
    expect(after.payments).toMatchObject([{ status: "canceled", voidedMinor: order.totalMinor }]);
    expect(after).toMatchObject({
      status: "completed",
      paymentStatus: "voided",
      reducedMinor: order.totalMinor,
    });
    expectBalance(after);
  });

  it("settles its units: they cannot be refunded as well", async () => {
    const order = await makeDelivered(world());
    const { id: lineId } = lineOf(order, cup);
    const input = { kind: "RETURN_REFUND", reason: "UNWANTED", lines: [{ lineId, quantity: 1 }] };
    await finish((await ask(order, input)).id, lineId, 1);
    const refund = async (quantity: number): Promise<unknown> => {
      const { error } = await callOrder(world(), "refundCreate", {
        id: order.id,
        input: { lines: [{ lineId, quantity }], reason: "OTHER" },
      });
      return error?.conflict?.reason;
    };
    expect(await refund(2)).toBe("quantity_not_refundable");
    expect(await refund(1)).toBeUndefined();
    expect(await refund(1)).toBe("quantity_not_refundable");
  });

  it("is limited to a hundred returns per order", async () => {
    const order = await makeDelivered(world());
    await runInTransaction(world().database.db, async (transaction) => {
      const [requestedAt, updatedAt] = [world().clock.now(), world().clock.now()];
      const row = {
        orderId: order.id,
        merchantId: order.merchant.id,
        kind: "repair",
        status: "canceled",
        reason: "defective",
      } as const;
      const rows = Array.from({ length: 100 }, () =>
        Object.assign({ id: createId("return"), requestedAt, updatedAt }, row),
      );
      await transaction.insertInto("orderReturn").values(rows).execute();
      await sql`update sales_order set version = version + 1 where id = ${order.id}`.execute(transaction);
    });
    const lines = [{ lineId: lineOf(order, mill).id, quantity: 1 }];
    for (const kind of ["RETURN_REFUND", "WITHDRAWAL", "REPAIR"])
      expect(
        await refused(world(), "returnRequest", {
          ...asBuyer,
          id: order.id,
          input: { kind, reason: "DEFECTIVE", lines },
        }),
      ).toMatchObject({
        code: "invalid_state",
        reason: "buyer_limit_reached",
      });
  });
});

describe("a withdrawal from a service", () => {
  const world = useWorld();

  /** An order whose cups are a service without shipping. */
  async function makeServed(
    status: "confirmed" | "completed",
    lines: Readonly<Record<string, number>> = { [mill]: 1, [cup]: 2 },
  ): Promise<OrderAggregate> {
    const order = await makeOrder(world(), { lines, status });
    await runInTransaction(world().database.db, async (transaction) => {
      await sql`update order_line set requires_shipping = false where id = ${lineOf(order, cup).id}`.execute(
        transaction,
      );
      await sql`update sales_order set version = version + 1 where id = ${order.id}`.execute(transaction);
    });
    return order;
  }

  const input = (order: OrderAggregate, quantity: number): object => ({
    kind: "WITHDRAWAL",
    reason: "OTHER",
    lines: [{ lineId: lineOf(order, cup).id, quantity }],
  });

  it("is settled at once: the units are canceled, their stock is free, and they are refunded", async () => {
    const order = await makeServed("confirmed");
    const stock = await stockOf(world(), cup);
    const requested = await done(world(), "returnRequest", {
      ...asBuyer,
      id: order.id,
      input: input(order, 1) as never,
    });
    expect(requested).toMatchObject({
      status: "CLOSED",
      method: "KEEP_ITEM",
      refund: { amountMinor: cupMinor },
    });
    await world().app.payments.drive();
    const after = await readOrder(world(), order.id);
    expect(lineOf(after, cup)).toMatchObject({
      canceled: 1,
      returned: 0,
      refunded: 0,
      reducedMinor: cupMinor,
    });
    // Reports sum the amounts of returns by the refund's returnId.
    const refund = { status: "succeeded", amountMinor: cupMinor, returnId: requested.id };
    expect(after).toMatchObject({ status: "confirmed", reducedMinor: cupMinor, refunds: [refund] });
    expect(await stockOf(world(), cup)).toEqual({ ...stock, onHand: stock.onHand + 1 });
    expectBalance(after);
    expect(
      await refused(world(), "returnRequest", { ...asBuyer, id: order.id, input: input(order, 2) as never }),
    ).toEqual(conflict("quantity_exhausted", "/lines/0/quantity too_large"));
  });

  it("cancels the order with its last units, but a completed order stays completed", async () => {
    const [open, over] = [
      await makeServed("confirmed", { [cup]: 2 }),
      await makeServed("completed", { [cup]: 2 }),
    ];
    for (const order of [open, over])
      expect(
        await done(world(), "returnRequest", { ...asBuyer, id: order.id, input: input(order, 2) as never }),
      ).toMatchObject({ status: "CLOSED" });
    await world().app.payments.drive();
    const [canceled, completed] = [await readOrder(world(), open.id), await readOrder(world(), over.id)];
    expect(canceled).toMatchObject({
      status: "canceled",
      cancellation: { reason: "changed_mind", actor: "buyer" },
    });
    expect(lineOf(canceled, cup)).toMatchObject({ canceled: 2, refunded: 0 });
    expect(completed).toMatchObject({ status: "completed", reducedMinor: 2 * cupMinor });
    expect(lineOf(completed, cup)).toMatchObject({ canceled: 0, refunded: 2, returned: 0 });
    for (const order of [canceled, completed]) expectBalance(order);
  });

  it("waits for the merchant while the order is on hold, and includes no shipped goods", async () => {
    const order = await makeServed("confirmed");
    await sql`update sales_order set status = 'on_hold', hold_reason = 'x', version = version + 1
      where id = ${order.id}`.execute(world().database.db);
    const requested = await done(world(), "returnRequest", {
      ...asBuyer,
      id: order.id,
      input: input(order, 2) as never,
    });
    expect(requested).toMatchObject({ status: "REQUESTED" });
    expect(
      await refused(world(), "returnRequest", { ...asBuyer, id: order.id, input: input(order, 1) as never }),
    ).toMatchObject({
      code: "invalid_state",
    });
    expect(await done(world(), "returnApprove", { id: requested.id })).toMatchObject({
      status: "CLOSED",
      refund: { amountMinor: 2 * cupMinor },
    });
    expect(await returnOf(world(), order.id)).toMatchObject({ status: "closed" });
    const mixed = await makeDelivered(world());
    await runInTransaction(world().database.db, async (transaction) => {
      await sql`update order_line set requires_shipping = false, shipped = 0, delivered = 0
        where id = ${lineOf(mixed, cup).id}`.execute(transaction);
      await sql`update sales_order set version = version + 1 where id = ${mixed.id}`.execute(transaction);
    });
    const lines = mixed.lines.map(({ id: lineId, ordered: quantity }) => ({ lineId, quantity }));
    expect(
      await refused(world(), "returnRequest", {
        ...asBuyer,
        id: mixed.id,
        input: { kind: "WITHDRAWAL", reason: "OTHER", lines },
      }),
    ).toEqual(invalid("/lines not_allowed"));
  });
});
