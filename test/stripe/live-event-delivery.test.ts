/** How the events of Stripe arrive: forged, late, missed, during operations, and with failing handling. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startPeriodicCleanupSweeps } from "#app/sweeps.ts";
import { createLog } from "#foundation/log.ts";
import { askGraph, makeCart } from "#test/operations/cart-calls.ts";
import {
  driveAfter,
  orderMoneyOf,
  placeCapturedOrder,
  readListedEvents,
  refundOrder,
  refundsOfOrder,
} from "./live-orders.ts";
import {
  connectLive,
  deliver,
  deliverAll,
  intentOf,
  type LiveShop,
  openLiveShop,
  paymentOf,
} from "./live-shop.ts";

let shop: LiveShop;
beforeAll(async () => {
  shop = await openLiveShop();
  await connectLive(shop);
});
afterAll(() => shop[Symbol.asyncDispose]());

it("refuses events with a forged, an old or no signature, and events of an unknown address", async () => {
  const { state } = shop.stripe;
  const order = await placeCapturedOrder(shop);
  await deliverAll(shop);
  state.dispute(intentOf(shop, order));
  const [event] = state.events.splice(0);
  if (event === undefined) throw new Error("There is no event.");
  const refused = [
    await deliver(shop, event, { secret: ["whsec", "signingSecretOfAnotherShop"].join("_") }),
    await deliver(shop, event, { to: "pcn_01hzzzzzzzzzzzzzzzzzzzzzzz" }),
    await shop.world.send({
      method: "POST",
      url: `/payments/stripe/${shop.connectionId}/events`,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(event),
    }),
  ];
  expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual(
    refused.map(() => [400, "malformed_request"]),
  );
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ isDisputed: false });
  expect((await shop.world.get(`/payments/stripe/${shop.connectionId}/events`)).status).toBe(405);
});

it("reads the events that it missed", async () => {
  const { state } = shop.stripe;
  const order = await placeCapturedOrder(shop);
  await deliverAll(shop);
  await readListedEvents(shop);
  state.dispute(intentOf(shop, order));
  shop.world.clock.advance(3_600_000);
  expect(await readListedEvents(shop)).toBe(1);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ isDisputed: true });
  expect(await readListedEvents(shop)).toBe(0);
});

it("an event whose handling fails is sent again by Stripe and handled then", async () => {
  const { state } = shop.stripe;
  const order = await placeCapturedOrder(shop);
  await deliverAll(shop);
  state.dispute(intentOf(shop, order));
  const [event] = state.events.splice(0);
  if (event === undefined) throw new Error("There is no event.");
  shop.stripe.faultOf = ({ path }) => (path.startsWith("/v1/disputes") ? { status: 503 } : undefined);
  expect((await deliver(shop, event)).status).toBeGreaterThanOrEqual(500);
  shop.stripe.faultOf = () => undefined;
  expect((await deliver(shop, event)).body).toEqual({ result: "handled" });
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ isDisputed: true });
});

const minuteMs = 60_000;

it("handles a refund in the dashboard after a pending operation of the payment has ended", async () => {
  const { state } = shop.stripe;
  const order = await placeCapturedOrder(shop);
  await deliverAll(shop);
  state.newRefundStatus = "pending";
  await refundOrder(shop, order, 500);
  await driveAfter(shop, 1_000);
  state.newRefundStatus = "succeeded";
  const own = state.refunds.values().find((made) => made.payment_intent === intentOf(shop, order).id);
  if (own === undefined) throw new Error("No refund was made.");
  state.events.length = 0;
  state.refund(intentOf(shop, order), 400);
  const [event] = state.events;
  if (event === undefined) throw new Error("There is no event.");
  expect((await deliver(shop, event)).body).toEqual({ result: "later" });
  for (let round = 0; round < 3; round += 1) {
    await driveAfter(shop, 30 * minuteMs);
    expect(await readListedEvents(shop)).toBe(0);
  }
  expect(await refundsOfOrder(shop, order)).toEqual([{ status: "pending", amountMinor: 500 }]);
  own.status = "succeeded";
  await driveAfter(shop, 30 * minuteMs);
  shop.world.clock.advance(1_000);
  expect(await readListedEvents(shop)).toBe(1);
  expect(await refundsOfOrder(shop, order)).toEqual([
    { status: "succeeded", amountMinor: 500 },
    { status: "succeeded", amountMinor: 400 },
  ]);
  expect(await orderMoneyOf(shop, order)).toMatchObject({
    totals: { refunded: { amountMinor: 900 }, outstanding: { amountMinor: 0 } },
  });
  state.events.length = 0;
});

it("handles the other events of the list if the handling of one fails, and reads the failed one again", async () => {
  const { stripe } = shop;
  const orders = [await placeCapturedOrder(shop), await placeCapturedOrder(shop)];
  await deliverAll(shop);
  const [failing] = orders.map((order) => stripe.state.dispute(intentOf(shop, order)));
  const seen = async (): Promise<boolean[]> =>
    Promise.all(orders.map(async ({ paymentId }) => (await paymentOf(shop, paymentId)).isDisputed));
  stripe.faultOf = ({ path }) => (path === `/v1/disputes/${failing?.id}` ? { status: 503 } : undefined);
  for (let round = 0; round < 3; round += 1) {
    shop.world.clock.advance(30 * minuteMs);
    await expect(readListedEvents(shop)).rejects.toThrow(AggregateError);
    expect(await seen()).toEqual([false, true]);
  }
  stripe.faultOf = () => undefined;
  expect(await readListedEvents(shop)).toBe(1);
  expect(await seen()).toEqual([true, true]);
  stripe.state.events.length = 0;
});

it("a list of events that hangs delays neither other sweeps nor the stop of the service", async () => {
  const { world, stripe } = shop;
  const { id: cartId } = await makeCart(world);
  stripe.faultOf = ({ path }) => (path.startsWith("/v1/events") ? "hanging" : undefined);
  const stop = startPeriodicCleanupSweeps(world.app.services, createLog("silent"), 5);
  const patience = { timeout: 30_000, interval: 5 };
  await expect.poll(() => stripe.hanging.size, patience).toBe(1);
  const [request] = stripe.hanging;
  world.clock.advance(31 * 1_440 * minuteMs);
  const isExpired = async (): Promise<boolean> => {
    const { status } = await world.database.db
      .selectFrom("cart")
      .select("status")
      .where("id", "=", cartId)
      .executeTakeFirstOrThrow();
    return status === "expired";
  };
  await expect.poll(isExpired, patience).toBe(true);
  await stop();
  expect([...stripe.hanging]).toEqual([request]);
  stripe.faultOf = () => undefined;
});

it("reports a refused key of an active connection, but not of an ended one", async () => {
  const { world, stripe, merchantId, connectionId } = shop;
  stripe.faultOf = ({ path }) => (path.startsWith("/v1/events") ? { status: 401 } : undefined);
  await expect(readListedEvents(shop)).rejects.toThrow(AggregateError);
  const query = `mutation ($merchantId: ID, $input: PaymentProviderDisconnectInput!) {
    paymentProviderDisconnect(merchantId: $merchantId, input: $input) { id } }`;
  const { error } = await askGraph(world, query, { merchantId, input: { connectionId } }, { token: "admin" });
  expect(error).toBeUndefined();
  expect(await readListedEvents(shop)).toBe(0);
  stripe.faultOf = ({ path }) => (path.startsWith("/v1/events") ? { status: 503 } : undefined);
  await expect(readListedEvents(shop)).rejects.toThrow(AggregateError);
});
