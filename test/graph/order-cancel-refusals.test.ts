/** Refused cancellations: they return the reasons of the cancellation eligibility and write nothing. */
import { describe, expect, it } from "vitest";
import { readOrder } from "#test/support/orders.ts";
import { useWorld } from "#test/support/use-world.ts";
import { asBuyer, call, done, lineOf, makeOrder, paymentOf, refusal, refused } from "./order-money-calls.ts";

const [mill, cup] = ["KIT-KVERN", "KIT-EMALJE-WHITE"];

describe("a cancellation", () => {
  const world = useWorld();
  const input = { reason: "OTHER" };

  it.each([
    ["canceled", { status: "canceled" }, "order_already_canceled"],
    ["completed", { status: "completed" }, "order_completed"],
    ["on hold", { status: "on_hold" }, "order_on_hold"],
    ["sent", { quantities: { [mill]: { shipped: 1 }, [cup]: { shipped: 2 } } }, "fulfillment_shipped"],
    [
      "delivered and not paid yet",
      {
        payment: "authorized",
        quantities: { [mill]: { shipped: 1, delivered: 1 }, [cup]: { shipped: 2, delivered: 2 } },
      },
      "fulfillment_delivered",
    ],
    [
      "too late",
      {
        policies: { cancellation: { windowMinutes: 5, afterWindow: "deny" } },
        placedAt: new Date("2026-01-01T00:00:00Z"),
      },
      "cancellation_window_elapsed",
    ],
    ["not for buyers to cancel", { policies: { cancellation: { mode: "none" } } }, "self_service_disabled"],
  ] as const)(
    "of an order that is %s returns the reason and writes nothing",
    async (_name, overrides, reason) => {
      const order = await makeOrder(world(), overrides);
      const cancellation = { ...asBuyer, id: order.id, input };
      expect(await refused(world(), "orderCancel", cancellation)).toEqual(refusal(reason));
      const { error } = await call(world(), "orderCancel", cancellation);
      expect(error.conflict).toMatchObject({
        resource: "order",
        id: order.id,
        currentStatus: order.status,
        currentVersion: 1,
      });
      expect(error.conflict.data.reasons.map(({ code }: { code: string }) => code)).toEqual([reason]);
    },
  );

  it("of more units than are open is refused and names the line", async () => {
    const order = await makeOrder(world(), { quantities: { [cup]: { shipped: 1 } } });
    const lines = [
      { lineId: lineOf(order, mill).id, quantity: 1 },
      { lineId: lineOf(order, cup).id, quantity: 2 },
    ];
    expect(await refused(world(), "orderCancel", { id: order.id, input: { ...input, lines } })).toEqual(
      refusal("fulfillment_shipped", "/lines/1/quantity too_large"),
    );
  });

  it("is refused during a pending capture, a pending refund and a dispute", async () => {
    const order = await makeOrder(world(), { payment: "authorized" });
    await done(world(), "paymentCapture", {
      id: paymentOf(order).id,
      input: { amount: { amountMinor: 100, currency: "EUR" } },
    });
    expect(await refused(world(), "orderCancel", { id: order.id, input })).toEqual(
      refusal("payment_processing"),
    );
    await world().app.payments.drive();
    await done(world(), "refundCreate", {
      id: order.id,
      input: { amount: { amountMinor: 50, currency: "EUR" }, reason: "OTHER" },
    });
    expect(await refused(world(), "orderCancel", { id: order.id, input })).toEqual(
      refusal("refund_in_progress"),
    );
    await world().app.payments.drive();
    await done(world(), "paymentDisputeOpen", { id: paymentOf(order).id, input: { reason: "FRAUDULENT" } });
    expect(await refused(world(), "orderCancel", { id: order.id, input })).toEqual(
      refusal("payment_disputed"),
    );
  });

  it("with invalid input is refused before the order is loaded", async () => {
    const order = await makeOrder(world());
    const { id: lineId } = lineOf(order, cup);
    const bad = (fields: readonly string[]) => ({ code: "invalid_field", reason: null, fields });
    const cancel = (given: object) =>
      refused(world(), "orderCancel", { ...asBuyer, id: order.id, input: { ...input, ...given } });
    expect(await cancel({ lines: [] })).toEqual(bad(["/lines too_short"]));
    expect(
      await cancel({
        lines: [
          { lineId, quantity: 0 },
          { lineId, quantity: 1 },
        ],
      }),
    ).toEqual(bad(["/lines/0/quantity too_small", "/lines/1/lineId duplicate"]));
    expect(await cancel({ note: "x".repeat(501) })).toEqual(bad(["/note too_long"]));
    expect(await cancel({ reason: "OUT_OF_STOCK" })).toEqual(bad(["/reason not_allowed"]));
    expect(await cancel({ lines: [{ lineId: "oln_unknown", quantity: 1 }] })).toEqual(
      bad(["/lines/0/lineId unknown"]),
    );
  });

  it("of another buyer's order is not found, and with another version conflicts", async () => {
    const order = await makeOrder(world());
    const notFound = { code: "order_not_found", reason: null, fields: [] };
    expect(
      await refused(world(), "orderCancel", {
        token: "storefront",
        buyer: "somebody-else",
        id: order.id,
        input,
      }),
    ).toEqual(notFound);
    expect(await refused(world(), "orderCancel", { token: "storefront", id: order.id, input })).toEqual(
      notFound,
    );
    expect(
      await refused(world(), "orderCancel", { id: order.id, input: { ...input, expectedVersion: 7 } }),
    ).toEqual({
      ...notFound,
      code: "version_conflict",
    });
  });

  it("with a repeated idempotency key replays the stored answer", async () => {
    const order = await makeOrder(world());
    const cancellation = { ...asBuyer, id: order.id, input, key: `cancel-${order.id}` };
    const first = await done(world(), "orderCancel", cancellation);
    expect(await done(world(), "orderCancel", cancellation)).toEqual(first);
    expect((await readOrder(world(), order.id)).refunds).toHaveLength(1);
  });
});
