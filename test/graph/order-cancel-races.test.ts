/** A cancellation against a concurrent shipment, capture or cancellation: exactly one of them succeeds. */
import { describe, expect, it } from "vitest";
import { type GraphAnswer, askGraph } from "#test/operations/cart-calls.ts";
import { readOrder } from "#test/support/orders.ts";
import { useWorld } from "#test/support/use-world.ts";
import {
  asBuyer,
  call,
  expectBalance,
  makeOrder,
  paymentOf,
  planFulfillment,
  stockOf,
  stockWithout,
} from "./order-money-calls.ts";

const cup = "KIT-EMALJE-WHITE";
const tries = Array.from({ length: 5 }, (_, index) => index);
const cancel = { reason: "OTHER" };

describe("a cancellation on PostgreSQL", () => {
  const world = useWorld();

  const ship = (fulfillmentId: string): Promise<GraphAnswer> =>
    askGraph(
      world(),
      "mutation ($id: ID!, $key: String!) { fulfillmentShip(fulfillmentId: $id, idempotencyKey: $key, " +
        "input: {}) { status } }",
      { id: fulfillmentId, key: `ship-${fulfillmentId}` },
      { token: "admin" },
    );

  it.each(tries)(
    "and a shipment of the same units: shipped units stay, canceled units are not shipped (%i)",
    async () => {
      const order = await makeOrder(world(), { lines: { [cup]: 3 } });
      const stock = await stockWithout(world(), order.id, cup);
      const fulfillmentId = await planFulfillment(world(), order, { status: "packing", quantity: 2 });
      const [shipped, canceled] = await Promise.all([
        ship(fulfillmentId),
        call(world(), "orderCancel", { id: order.id, input: cancel }),
      ]);
      expect(canceled.error).toBeUndefined();
      await world().app.payments.drive();
      const after = await readOrder(world(), order.id);
      const [line] = after.lines;
      const isSent = shipped.error === undefined;
      expect(line).toMatchObject(
        isSent ? { shipped: 2, canceled: 1, allocated: 2 } : { shipped: 0, canceled: 3, allocated: 0 },
      );
      expect(after.fulfillments[0]?.status).toBe(isSent ? "shipped" : "canceled");
      expect(await stockOf(world(), cup)).toEqual({
        onHand: stock.onHand - (isSent ? 2 : 0),
        reserved: stock.reserved,
      });
      expectBalance(after);
    },
  );

  it.each(tries)(
    "and a capture: a captured amount is refunded, a voided one is not captured (%i)",
    async () => {
      const order = await makeOrder(world(), { payment: "authorized" });
      const [captured, canceled] = await Promise.all([
        call(world(), "paymentCapture", { id: paymentOf(order).id }),
        call(world(), "orderCancel", { ...asBuyer, id: order.id, input: cancel }),
      ]);
      const isCharged = captured.error === undefined;
      expect([captured, canceled].map(({ error }) => error?.conflict.reason ?? "done")).toEqual(
        isCharged ? ["done", "payment_processing"] : ["nothing_to_capture", "done"],
      );
      await world().app.payments.drive();
      const after = await readOrder(world(), order.id);
      expect(after).toMatchObject(
        isCharged
          ? { status: "confirmed", paymentStatus: "paid" }
          : { status: "canceled", paymentStatus: "voided" },
      );
      expectBalance(after);
    },
  );

  it.each(tries)("and another one of the same units: the units are returned once (%i)", async () => {
    const order = await makeOrder(world(), { lines: { [cup]: 2 } });
    const stock = await stockWithout(world(), order.id, cup);
    const answers = await Promise.all([
      call(world(), "orderCancel", { ...asBuyer, id: order.id, input: cancel }),
      call(world(), "orderCancel", { id: order.id, input: cancel }),
    ]);
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(1);
    await world().app.payments.drive();
    const after = await readOrder(world(), order.id);
    expect(after.refunds).toMatchObject([{ amountMinor: order.totalMinor, status: "succeeded" }]);
    expect(await stockOf(world(), cup)).toEqual(stock);
    expectBalance(after);
  });
});
