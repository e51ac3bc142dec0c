/**
 * Cancellation requests of buyers, cancellations of lines that share a promotion, and the release of
 * promotion uses.
 */
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { runInTransaction } from "#database/transaction.ts";
import { makeCode } from "#test/operations/cart-calls.ts";
import { readOrder } from "#test/support/orders.ts";
import { useWorld } from "#test/support/use-world.ts";
import {
  asBuyer,
  call,
  done,
  expectBalance,
  lineOf,
  makeOrder,
  planFulfillment,
  refusal,
  refused,
  stockOf,
  orderEventTypes,
} from "./order-money-calls.ts";

const [mill, cup] = ["KIT-KVERN", "KIT-EMALJE-WHITE"];
const world = useWorld();
const changed = { reason: "CHANGED_MIND", note: "Too many." };

/** An order that is packed, so its buyer can only request a cancellation. */
async function makePacked(): Promise<OrderAggregate> {
  const order = await makeOrder(world());
  await planFulfillment(world(), order, { status: "packing" });
  return readOrder(world(), order.id);
}

describe("a buyer's request", () => {
  it("changes nothing until the merchant decides", async () => {
    const order = await makePacked();
    const stock = await stockOf(world(), cup);
    const lines = [{ lineId: lineOf(order, cup).id, quantity: 1 }];
    expect(
      await done(world(), "orderCancel", { ...asBuyer, id: order.id, input: { ...changed, lines } }),
    ).toMatchObject({
      status: "CONFIRMED",
      version: order.version + 1,
      cancellation: null,
    });
    const after = await readOrder(world(), order.id);
    expect(after).toMatchObject({
      cancellationRequest: {
        lines,
        reason: "changed_mind",
        note: "Too many.",
        actor: "buyer",
        at: world().clock.now().toISOString(),
      },
      reducedMinor: 0,
      refunds: [],
    });
    expect(after.lines).toEqual(order.lines);
    expect(await stockOf(world(), cup)).toEqual(stock);
    expect(await orderEventTypes(world(), order)).toEqual(["order.cancellation_requested"]);
    expect(await refused(world(), "orderCancel", { ...asBuyer, id: order.id, input: changed })).toEqual(
      refusal("cancellation_already_requested"),
    );
  });

  it("is approved with exactly the requested units, in the buyer's name", async () => {
    const order = await makePacked();
    const lines = [{ lineId: lineOf(order, cup).id, quantity: 1 }];
    await done(world(), "orderCancel", { ...asBuyer, id: order.id, input: { ...changed, lines } });
    await done(world(), "orderCancellationApprove", { id: order.id });
    await world().app.payments.drive();
    const after = await readOrder(world(), order.id);
    expect(after).toMatchObject({
      status: "confirmed",
      cancellationRequest: null,
      reducedMinor: 1290,
      refunds: [{ amountMinor: 1290, note: "Too many." }],
    });
    expectBalance(after);
    expect(after.timeline.map(({ type, actor }) => `${type} ${actor}`).slice(1, 3)).toEqual([
      "order_cancellation_requested buyer",
      "order_partially_canceled merchant",
    ]);
    const again = refusal("cancellation_not_requested");
    expect(await refused(world(), "orderCancellationApprove", { id: order.id })).toEqual(again);
    expect(await refused(world(), "orderCancellationDecline", { id: order.id })).toEqual(again);
  });

  it("for all open units cancels the whole order", async () => {
    const order = await makePacked();
    await done(world(), "orderCancel", { ...asBuyer, id: order.id, input: changed });
    const { status, cancellation } = await done(world(), "orderCancellationApprove", { id: order.id });
    expect([status, cancellation]).toEqual(["CANCELED", { reason: "CHANGED_MIND", actor: "BUYER" }]);
  });

  it("cannot be approved after units were shipped: the error names the line", async () => {
    const order = await makePacked();
    const lines = [
      { lineId: lineOf(order, mill).id, quantity: 1 },
      { lineId: lineOf(order, cup).id, quantity: 2 },
    ];
    await done(world(), "orderCancel", { ...asBuyer, id: order.id, input: { ...changed, lines } });
    await runInTransaction(world().database.db, async (transaction) => {
      await sql`update order_line set shipped = 1 where id = ${lineOf(order, cup).id}`.execute(transaction);
      await sql`update sales_order set version = version + 1 where id = ${order.id}`.execute(transaction);
    });
    expect(await refused(world(), "orderCancellationApprove", { id: order.id })).toEqual(
      refusal("fulfillment_shipped", "/lines/1/quantity too_large"),
    );
    expect((await readOrder(world(), order.id)).cancellationRequest).not.toBeNull();
  });

  it("is declined without a cancellation, and can be made again", async () => {
    const order = await makePacked();
    await done(world(), "orderCancel", { ...asBuyer, id: order.id, input: changed });
    await done(world(), "orderCancellationDecline", {
      id: order.id,
      input: { expectedVersion: order.version + 1 },
    });
    const after = await readOrder(world(), order.id);
    expect(after).toMatchObject({ status: "confirmed", cancellationRequest: null, reducedMinor: 0 });
    expect(after.lines).toEqual(order.lines);
    expect(await orderEventTypes(world(), order)).toEqual([
      "order.cancellation_declined",
      "order.cancellation_requested",
    ]);
    await done(world(), "orderCancel", { ...asBuyer, id: order.id, input: changed });
  });

  it("is not needed for the merchant, who cancels directly", async () => {
    const order = await makePacked();
    expect(
      await done(world(), "orderCancel", { id: order.id, input: { reason: "FRAUD_SUSPECTED" } }),
    ).toMatchObject({
      status: "CANCELED",
      cancellation: { reason: "FRAUD_SUSPECTED", actor: "MERCHANT" },
    });
  });

  it("without lines covers nothing that could be canceled at once", async () => {
    const order = await makeOrder(world());
    await runInTransaction(world().database.db, async (transaction) => {
      const at = world().clock.now();
      await sql`insert into fulfillment (id, order_id, merchant_id, status, type, packing_started_at,
        created_at, updated_at)
        values ('ful_x', ${order.id}, ${order.merchant.id}, 'packing', 'shipping', ${at}, ${at},
        ${at})`.execute(transaction);
      await sql`insert into fulfillment_line values ('ful_x', ${lineOf(order, cup).id}, 2)`.execute(
        transaction,
      );
      await sql`update sales_order set version = version + 1 where id = ${order.id}`.execute(transaction);
    });
    await done(world(), "orderCancel", { ...asBuyer, id: order.id, input: changed });
    const after = await readOrder(world(), order.id);
    expect(after).toMatchObject({ status: "confirmed", cancellationRequest: null });
    expect([lineOf(after, mill).canceled, lineOf(after, cup).canceled]).toEqual([1, 0]);
  });
});

describe("lines that share a promotion", () => {
  it("are canceled together by a buyer, and separately by the merchant", async () => {
    const order = await makeOrder(world());
    const [bought, given] = [lineOf(order, mill).id, lineOf(order, cup).id];
    const promotion = {
      promotionId: "prm_x",
      trigger: "automatic",
      kind: "buy_x_get_y",
      code: null,
      titles: { en: "A deal" },
      discountMinor: 200,
      allocations: [
        { lineId: bought, amountMinor: 100 },
        { lineId: given, amountMinor: 100 },
      ],
    };
    await sql`update sales_order set version = version + 1, promotions = ${JSON.stringify([promotion])}::jsonb
      where id = ${order.id}`.execute(world().database.db);
    const one = { ...changed, lines: [{ lineId: bought, quantity: 1 }] };
    expect(await refused(world(), "orderCancel", { ...asBuyer, id: order.id, input: one })).toEqual(
      refusal("line_not_separable"),
    );
    const { error } = await call(world(), "orderCancel", { ...asBuyer, id: order.id, input: one });
    expect(error.conflict.data.reasons).toMatchObject([
      { code: "line_not_separable", data: { lineIds: [bought, given] } },
    ]);
    expect(await done(world(), "orderCancel", { id: order.id, input: one })).toMatchObject({
      status: "CONFIRMED",
    });
    expect(lineOf(await readOrder(world(), order.id), mill).canceled).toBe(1);
  });
});

describe("uses of promotions", () => {
  it("are released with the whole order, not with a part of it", async () => {
    const order = await makeOrder(world());
    const promotionId = await makeCode(world(), "COMEBACK", { usageLimit: 1 });
    const { db } = world().database;
    const { id: codeId } = await db
      .selectFrom("promotionCode")
      .select("id")
      .where("promotionId", "=", promotionId)
      .executeTakeFirstOrThrow();
    const at = world().clock.now();
    await sql`update promotion set used = 1 where id = ${promotionId}`.execute(db);
    await sql`update promotion_code set used = 1 where id = ${codeId}`.execute(db);
    await sql`insert into promotion_buyer (promotion_id, buyer_reference, used)
      values (${promotionId}, 'buyer-1', 1)`.execute(db);
    await sql`insert into promotion_use (merchant_id, promotion_id, promotion_code_id, session_id,
      buyer_reference, order_id, redeemed_at)
      values (${order.merchant.id}, ${promotionId}, ${codeId}, ${order.sessionId}, 'buyer-1', ${order.id},
      ${at})`.execute(db);
    const used = async (): Promise<unknown> => {
      const { rows } =
        await sql`select p.used as promotion, c.used as code, b.used as buyer, u.restored_at is not null as
          "isRestored"
        from promotion p join promotion_code c on c.promotion_id = p.id join promotion_buyer b
        on b.promotion_id = p.id
        join promotion_use u on u.promotion_id = p.id where p.id = ${promotionId}`.execute(db);
      return rows[0];
    };
    await done(world(), "orderCancel", {
      id: order.id,
      input: { lines: [{ lineId: lineOf(order, cup).id, quantity: 2 }], reason: "OTHER" },
    });
    expect(await used()).toEqual({ promotion: 1, code: 1, buyer: 1, isRestored: false });
    await world().app.payments.drive();
    await done(world(), "orderCancel", { id: order.id, input: { reason: "OTHER" } });
    expect(await used()).toEqual({ promotion: 0, code: 0, buyer: 0, isRestored: true });
  });
});
