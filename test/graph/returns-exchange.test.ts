/**
 * Exchanges: the replacement is reserved from the approval on, sent once the returned units arrived, and
 * limited to the accepted units.
 */
import { describe, expect, it } from "vitest";
import type { OrderAggregate, OrderFulfillment } from "#commerce/orders/order-aggregate.ts";
import { variantOf } from "#test/operations/cart-calls.ts";
import { readOrder } from "#test/support/orders.ts";
import { useWorld } from "#test/support/use-world.ts";
import { expectBalance, lineOf, stockOf } from "./order-money-calls.ts";
import {
  asBuyer,
  conflict,
  done,
  invalid,
  makeDelivered,
  refused,
  returnOf,
  partEventTypes,
} from "./return-calls.ts";

const [white, moss] = ["KIT-EMALJE-WHITE", "KIT-EMALJE-MOSS"];

describe("an exchange", () => {
  const world = useWorld();

  async function ask(order: OrderAggregate, quantity = 2): Promise<string> {
    const lines = [{ lineId: lineOf(order, white).id, quantity }];
    const input = {
      kind: "EXCHANGE",
      reason: "COLOR",
      lines,
      exchangeVariantId: await variantOf(world(), moss),
    };
    const requested = await done(world(), "returnRequest", { ...asBuyer, id: order.id, input });
    expect(requested).toMatchObject({
      status: "APPROVED",
      settlement: "REPLACEMENT",
      refund: { amountMinor: 0 },
      fulfillmentIds: [expect.any(String)],
    });
    return requested.id;
  }

  async function bring(order: OrderAggregate, id: string, accepted: number): Promise<void> {
    const { id: lineId, ordered } = lineOf(order, white);
    await done(world(), "returnTrack", { id });
    await done(world(), "returnReceive", { id, input: { lines: [{ lineId, received: ordered }] } });
    await done(world(), "returnInspect", { id, input: { lines: [{ lineId, accepted, restock: accepted }] } });
  }

  const sendingOf = async (orderId: string): Promise<OrderFulfillment> => {
    const found = (await readOrder(world(), orderId)).fulfillments.at(-1);
    if (found === undefined) throw new Error("Nothing is sent.");
    return found;
  };

  it("reserves the replacement at once, sends it after the return arrived, and moves no money", async () => {
    const order = await makeDelivered(world());
    const [stock, whites] = [await stockOf(world(), moss), await stockOf(world(), white)];
    const id = await ask(order);
    expect(await stockOf(world(), moss)).toEqual({ ...stock, reserved: stock.reserved + 2 });
    const { id: fulfillmentId, ...sending } = await sendingOf(order.id);
    expect(sending).toMatchObject({
      returnId: id,
      status: "pending",
      type: "shipping",
      lines: [{ lineId: lineOf(order, white).id, quantity: 2 }],
    });
    expect(await refused(world(), "fulfillmentPack", { id: fulfillmentId })).toEqual(
      conflict("return_not_received"),
    );
    await bring(order, id, 2);
    expect(await stockOf(world(), white)).toEqual({ ...whites, onHand: whites.onHand + 2 });
    expect(await refused(world(), "returnClose", { id })).toEqual(conflict("replacement_not_sent"));
    await done(world(), "fulfillmentPack", { id: fulfillmentId });
    await done(world(), "fulfillmentShip", { id: fulfillmentId });
    expect(await stockOf(world(), moss)).toEqual({ onHand: stock.onHand - 2, reserved: stock.reserved });
    expect(await done(world(), "returnClose", { id })).toMatchObject({
      status: "CLOSED",
      refund: { amountMinor: 0 },
    });
    await done(world(), "fulfillmentDeliver", { id: fulfillmentId });
    const after = await readOrder(world(), order.id);
    expect(lineOf(after, white)).toMatchObject({
      ordered: 2,
      shipped: 2,
      delivered: 2,
      returnRequested: 0,
      returned: 2,
      refunded: 0,
      reducedMinor: 0,
    });
    expect(after).toMatchObject({
      reducedMinor: 0,
      refunds: [],
      status: "completed",
      fulfillmentStatus: "delivered",
    });
    expectBalance(after);
    expect(await partEventTypes(world(), order)).toEqual(
      [
        ...["requested", "approved", "in_transit", "received", "inspected", "closed"].map(
          (step) => `return.${step}`,
        ),
        ...["created", "packed", "shipped", "delivered"].map((step) => `fulfillment.${step}`),
        "exchange.created",
        "exchange.completed",
      ].toSorted(),
    );
  });

  it("sends only as many units as were accepted, and frees the stock of the others", async () => {
    for (const accepted of [1, 0]) {
      const order = await makeDelivered(world());
      const stock = await stockOf(world(), moss);
      const id = await ask(order);
      await bring(order, id, accepted);
      expect(await stockOf(world(), moss)).toEqual({ ...stock, reserved: stock.reserved + accepted });
      const sending = await sendingOf(order.id);
      expect(sending.status).toBe(accepted === 0 ? "canceled" : "pending");
      if (accepted === 0)
        expect(await done(world(), "returnClose", { id })).toMatchObject({ status: "CLOSED" });
      else expect(sending.lines).toMatchObject([{ quantity: 1 }]);
      const events = await partEventTypes(world(), order);
      expect(events.includes("exchange.completed")).toBe(false);
    }
  });

  it("that is canceled frees its stock", async () => {
    const order = await makeDelivered(world());
    const stock = await stockOf(world(), moss);
    const id = await ask(order);
    expect(await done(world(), "returnCancel", { ...asBuyer, id })).toMatchObject({ status: "CANCELED" });
    expect(await stockOf(world(), moss)).toEqual(stock);
    expect((await sendingOf(order.id)).status).toBe("canceled");
    expect(lineOf(await readOrder(world(), order.id), white)).toMatchObject({
      returnRequested: 0,
      returned: 0,
    });
  });

  it("is for one line and another variant of the product, in stock and at the same price", async () => {
    const order = await makeDelivered(world());
    const [{ id: lineId }, { id: other }] = [lineOf(order, white), lineOf(order, "KIT-KVERN")];
    const input = { kind: "EXCHANGE", reason: "COLOR", lines: [{ lineId, quantity: 1 }] };
    const exchangeVariantId = await variantOf(world(), moss);
    const attempt = (more: object): ReturnType<typeof refused> =>
      refused(world(), "returnRequest", { ...asBuyer, id: order.id, input: { ...input, ...more } });
    expect(await attempt({})).toEqual(invalid("/exchangeVariantId required"));
    expect(
      await attempt({
        exchangeVariantId,
        lines: [
          { lineId, quantity: 1 },
          { lineId: other, quantity: 1 },
        ],
      }),
    ).toEqual(invalid("/lines too_long"));
    expect(await attempt({ kind: "RETURN_REFUND", exchangeVariantId })).toEqual(
      invalid("/exchangeVariantId not_allowed"),
    );
    for (const sku of [white, "KIT-KVERN"])
      expect(await attempt({ exchangeVariantId: await variantOf(world(), sku) })).toEqual(
        conflict("exchange_out_of_stock", "/exchangeVariantId not_allowed"),
      );
    const { db } = world().database;
    await db
      .updateTable("price")
      .set({ amountMinor: 1390 })
      .where("variantId", "=", exchangeVariantId)
      .where("validUntil", "is", null)
      .execute();
    expect(await attempt({ exchangeVariantId })).toEqual(
      conflict("exchange_out_of_stock", "/exchangeVariantId not_allowed"),
    );
    await db
      .updateTable("price")
      .set({ amountMinor: 1290 })
      .where("variantId", "=", exchangeVariantId)
      .where("validUntil", "is", null)
      .execute();
    const { onHand } = await stockOf(world(), moss);
    await db
      .updateTable("stockLevel")
      .set({ reserved: onHand - 1, backorderLimit: 0 })
      .where("variantId", "=", exchangeVariantId)
      .execute();
    expect(await attempt({ exchangeVariantId, lines: [{ lineId, quantity: 2 }] })).toEqual(
      conflict("exchange_out_of_stock"),
    );
  });
});

describe("repairs and replacements", () => {
  const world = useWorld();

  it("a replacement sends the same variant and uses the warranty's allowance", async () => {
    const order = await makeDelivered(world());
    const { id: lineId } = lineOf(order, white);
    const stock = await stockOf(world(), white);
    const warranty = await done(world(), "warrantyRegister", { ...asBuyer, id: order.id, input: { lineId } });
    expect(warranty).toMatchObject({ repairsLeft: 2, replacementsLeft: 1 });
    const input = { kind: "REPLACEMENT", reason: "DEFECTIVE", lines: [{ lineId, quantity: 1 }] };
    const requested = await done(world(), "returnRequest", { ...asBuyer, id: order.id, input });
    expect(requested).toMatchObject({ status: "APPROVED", fulfillmentIds: [expect.any(String)] });
    expect(await stockOf(world(), white)).toEqual({ ...stock, reserved: stock.reserved + 1 });
    await done(world(), "returnTrack", { id: requested.id });
    await done(world(), "returnReceive", { id: requested.id, input: { lines: [{ lineId, received: 1 }] } });
    await done(world(), "returnInspect", {
      id: requested.id,
      input: { lines: [{ lineId, accepted: 1, restock: 0 }] },
    });
    const [fulfillmentId] = requested.fulfillmentIds;
    await done(world(), "fulfillmentPack", { id: fulfillmentId });
    await done(world(), "fulfillmentShip", { id: fulfillmentId });
    await done(world(), "returnClose", { id: requested.id });
    const after = await readOrder(world(), order.id);
    expect(after.warranties).toMatchObject([{ status: "active", repairsLeft: 2, replacementsLeft: 0 }]);
    expect(await stockOf(world(), white)).toEqual({ ...stock, onHand: stock.onHand - 1 });
    // The buyer has the purchased units again with the warranty, and may withdraw from both units.
    expect(lineOf(after, white)).toMatchObject({ returned: 0, returnRequested: 0, refunded: 0 });
    const all = [{ lineId, quantity: 2 }];
    const repair = { kind: "REPAIR", reason: "DEFECTIVE", lines: all };
    const { id: repairId } = await done(world(), "returnRequest", {
      ...asBuyer,
      id: order.id,
      input: repair,
    });
    await done(world(), "returnCancel", { ...asBuyer, id: repairId });
    const withdrawal = { kind: "WITHDRAWAL", reason: "UNWANTED", lines: all };
    expect(
      await done(world(), "returnRequest", { ...asBuyer, id: order.id, input: withdrawal }),
    ).toMatchObject({ status: "APPROVED" });
  });

  it("a repair returns to the buyer, counts no return and cannot be requested twice meanwhile", async () => {
    const order = await makeDelivered(world());
    const { id: lineId } = lineOf(order, "KIT-KVERN");
    const input = { kind: "REPAIR", reason: "DEFECTIVE", lines: [{ lineId, quantity: 1 }] };
    const { id } = await done(world(), "returnRequest", { ...asBuyer, id: order.id, input });
    await done(world(), "returnTrack", { id });
    await done(world(), "returnReceive", { id, input: { lines: [{ lineId, received: 1 }] } });
    expect(
      await refused(world(), "returnInspect", {
        id,
        input: { lines: [{ lineId, accepted: 1, restock: 1 }] },
      }),
    ).toEqual(invalid("/lines/0/restock too_large"));
    await done(world(), "returnInspect", { id, input: { lines: [{ lineId, accepted: 1, restock: 0 }] } });
    expect(await refused(world(), "returnRequest", { ...asBuyer, id: order.id, input })).toMatchObject({
      reason: "return_in_progress",
    });
    await done(world(), "returnClose", { id });
    expect(lineOf(await readOrder(world(), order.id), "KIT-KVERN")).toMatchObject({
      returnRequested: 0,
      returned: 0,
      refunded: 0,
    });
    expect(await returnOf(world(), order.id)).toMatchObject({ status: "closed", kind: "repair" });
  });
});
