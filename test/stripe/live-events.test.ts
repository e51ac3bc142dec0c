/**
 * What happens after a live purchase: captures, refunds, disputes and expired authorizations at Stripe, and
 * events that are forged, late, doubled, out of order or missed.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { sweeps } from "#app/sweeps.ts";
import { drive } from "#test/commerce/payments/checkouts.ts";
import { askGraph } from "#test/operations/cart-calls.ts";
import { done } from "#test/graph/order-money-calls.ts";
import {
  connectLive,
  deliver,
  deliverAll,
  intentOf,
  type LiveShop,
  openLiveShop,
  paymentOf,
  type PlacedOrder,
  placeLiveOrder,
} from "./live-shop.ts";

let shop: LiveShop;
beforeAll(async () => {
  shop = await openLiveShop();
  await connectLive(shop);
});
afterAll(() => shop[Symbol.asyncDispose]());

/** Places an order and captures a part of its payment, by default everything. */
async function captured(amountMinor?: number): Promise<PlacedOrder> {
  const order = await placeLiveOrder(shop);
  const amount = amountMinor === undefined ? {} : { amount: { amountMinor, currency: "EUR" } };
  await done(shop.world, "paymentCapture", { id: order.paymentId, input: amount });
  await drive(shop.world);
  shop.world.clock.advance(1_000);
  return order;
}

const refund = (order: PlacedOrder, amountMinor: number): Promise<{ id: string }> =>
  done(shop.world, "refundCreate", {
    id: order.orderId,
    input: { amount: { amountMinor, currency: "EUR" }, reason: "OTHER" },
  });

/** Runs the payment operations that are due after a time, in milliseconds. */
async function driveAfter(ms: number): Promise<void> {
  shop.world.clock.advance(ms);
  await drive(shop.world);
}

/** Queues a capture while Stripe answers every request with an error. The outage goes on afterwards. */
async function captureDuringOutage({ paymentId }: PlacedOrder, amountMinor: number): Promise<void> {
  shop.stripe.faultOf = () => ({ status: 503 });
  const input = { amount: { amountMinor, currency: "EUR" } };
  await done(shop.world, "paymentCapture", { id: paymentId, input });
  await drive(shop.world);
  shop.world.clock.advance(1_000);
}

/** The types of the events that were published after the payment was authorized, sorted. */
async function paymentEventsOf({ paymentId }: PlacedOrder): Promise<string[]> {
  const rows = await shop.world.database.db
    .selectFrom("event")
    .select("type")
    .where("subjectId", "=", paymentId)
    .where("type", "!=", "payment.authorized")
    .orderBy("type")
    .execute();
  return rows.map(({ type }) => type);
}

/** The kinds and statuses of the payment operations, oldest first. */
async function operationsOf({ paymentId }: PlacedOrder): Promise<string[]> {
  const rows = await shop.world.database.db
    .selectFrom("paymentOperation")
    .select(["kind", "status"])
    .where("paymentId", "=", paymentId)
    .orderBy("createdAt")
    .orderBy("id")
    .execute();
  return rows.map(({ kind, status }) => `${kind} ${status}`);
}

const refundsOf = ({ paymentId }: PlacedOrder): Promise<{ status: string; amountMinor: number }[]> =>
  shop.world.database.db
    .selectFrom("refund")
    .select(["status", "amountMinor"])
    .where("paymentId", "=", paymentId)
    .orderBy("id")
    .execute();

/** The order's amounts: captured − refunded + outstanding = total − reduced. */
async function moneyOf({ orderId }: PlacedOrder): Promise<Record<string, number>> {
  const query = `query ($id: ID!) { order(id: $id) { version paymentStatus totals {
    refunded { amountMinor } outstanding { amountMinor } } } }`;
  const { data, error } = await askGraph(shop.world, query, { id: orderId }, { token: "admin" });
  expect(error).toBeUndefined();
  return data;
}

it("a partial capture releases the rest of the authorization", async () => {
  const order = await captured(1_000);
  expect(intentOf(shop, order)).toMatchObject({ status: "succeeded", amount_received: 1_000 });
  expect(await paymentOf(shop, order.paymentId)).toEqual({
    status: "captured",
    capturedMinor: 1_000,
    voidedMinor: order.amountMinor - 1_000,
    refundedMinor: 0,
    failureCode: null,
    isDisputed: false,
  });
  await deliverAll(shop);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ capturedMinor: 1_000 });
});

it("a capture whose answer was lost captures once", async () => {
  const { stripe, world } = shop;
  let lost = 0;
  stripe.faultOf = ({ path }) => (path.endsWith("/capture") && lost++ < 2 ? "lost_answer" : undefined);
  const order = await captured();
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ status: "authorized" });
  stripe.faultOf = () => undefined;
  world.clock.advance(60_000);
  await drive(world);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ status: "captured", failureCode: null });
  await deliverAll(shop);
});

it("of two equal captures that were queued during an outage, one succeeds and the other is declined", async () => {
  const { stripe } = shop;
  const order = await placeLiveOrder(shop);
  const id = order.paymentId;
  await captureDuringOutage(order, 300);
  await captureDuringOutage(order, 300);
  stripe.faultOf = () => undefined;
  await driveAfter(60_000);
  expect(intentOf(shop, order)).toMatchObject({ status: "succeeded", amount_received: 300 });
  const released = { capturedMinor: 300, voidedMinor: order.amountMinor - 300 };
  expect(await paymentOf(shop, id)).toMatchObject({
    ...released,
    failureCode: "payment_intent_unexpected_state",
  });
  expect(await operationsOf(order)).toEqual(["authorize succeeded", "capture succeeded", "capture failed"]);
  await refund(order, 300);
  await driveAfter(60_000);
  expect(await paymentOf(shop, id)).toMatchObject({ ...released, status: "refunded", refundedMinor: 300 });
  await deliverAll(shop);
});

it("a voided authorization is canceled at Stripe", async () => {
  const order = await placeLiveOrder(shop);
  await done(shop.world, "paymentVoid", { id: order.paymentId });
  await drive(shop.world);
  shop.world.clock.advance(1_000);
  expect(intentOf(shop, order)).toMatchObject({ status: "canceled" });
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ status: "canceled", failureCode: null });
  await deliverAll(shop);
});

it("an authorization that has expired at Stripe is canceled here", async () => {
  const [first, second] = [await placeLiveOrder(shop), await placeLiveOrder(shop)];
  await deliverAll(shop);
  shop.stripe.state.cancel(intentOf(shop, first));
  await deliverAll(shop);
  expect(await paymentOf(shop, first.paymentId)).toMatchObject({
    status: "canceled",
    voidedMinor: first.amountMinor,
  });
  // The capture finds out by itself, before the event arrives.
  shop.stripe.state.cancel(intentOf(shop, second));
  await done(shop.world, "paymentCapture", { id: second.paymentId });
  await deliverAll(shop);
  expect(await paymentOf(shop, second.paymentId)).toMatchObject({
    status: "canceled",
    failureCode: "authorization_expired",
  });
});

it("an authorization that expires before a capture and a void of the rest is canceled once", async () => {
  const { stripe, world } = shop;
  const order = await placeLiveOrder(shop);
  await captureDuringOutage(order, 600);
  await done(world, "paymentVoid", { id: order.paymentId });
  stripe.state.cancel(intentOf(shop, order));
  stripe.faultOf = () => undefined;
  await driveAfter(60_000);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({
    status: "canceled",
    capturedMinor: 0,
    voidedMinor: order.amountMinor,
    failureCode: "authorization_expired",
  });
  expect(await paymentEventsOf(order)).toEqual(["payment.canceled", "payment.failed"]);
  await deliverAll(shop);
});

it("a void of the rest that was asked for during a partial capture is no failure", async () => {
  const { stripe, world } = shop;
  const order = await placeLiveOrder(shop);
  await captureDuringOutage(order, 600);
  await done(world, "paymentVoid", { id: order.paymentId });
  stripe.faultOf = () => undefined;
  await driveAfter(60_000);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({
    capturedMinor: 600,
    voidedMinor: order.amountMinor - 600,
    failureCode: null,
  });
  expect(await operationsOf(order)).toEqual(["authorize succeeded", "capture succeeded", "void failed"]);
  expect(await paymentEventsOf(order)).toEqual(["payment.captured"]);
  await deliverAll(shop);
});

it("a refund is pending until Stripe has paid it out, and is made once", async () => {
  const { state } = shop.stripe;
  const order = await captured();
  await deliverAll(shop);
  state.newRefundStatus = "pending";
  const { length: requestsBefore } = shop.stripe.requests;
  await refund(order, 500);
  await deliverAll(shop);
  await deliverAll(shop);
  expect(await refundsOf(order)).toEqual([{ status: "pending", amountMinor: 500 }]);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ refundedMinor: 0 });
  const made = state.refunds.values().find((one) => one.payment_intent === intentOf(shop, order).id);
  if (made !== undefined) state.endRefund(made, "succeeded");
  await deliverAll(shop);
  expect(await refundsOf(order)).toEqual([{ status: "succeeded", amountMinor: 500 }]);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({
    status: "partially_refunded",
    refundedMinor: 500,
  });
  expect(
    shop.stripe.requests
      .slice(requestsBefore)
      .filter(({ method, path }) => method === "POST" && path === "/v1/refunds"),
  ).toHaveLength(1);
  state.newRefundStatus = "succeeded";
});

it("a refund that fails, before or after it has succeeded, leaves the amount owed to the buyer", async () => {
  const { state } = shop.stripe;
  const order = await captured();
  state.newRefundStatus = "pending";
  await refund(order, 700);
  await deliverAll(shop);
  const refundAt = (index: number) =>
    [...state.refunds.values()].filter((one) => one.payment_intent === intentOf(shop, order).id)[index];
  const first = refundAt(0);
  if (first === undefined) throw new Error("No refund was made.");
  state.endRefund(first, "failed");
  await deliverAll(shop);
  expect(await refundsOf(order)).toEqual([{ status: "failed", amountMinor: 700 }]);

  state.newRefundStatus = "succeeded";
  await refund(order, 300);
  await deliverAll(shop);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ refundedMinor: 300 });
  const second = refundAt(1);
  if (second === undefined) throw new Error("No second refund was made.");
  state.endRefund(second, "failed");
  await deliverAll(shop);
  expect((await refundsOf(order)).map(({ status }) => status)).toEqual(["failed", "failed"]);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ status: "captured", refundedMinor: 0 });
});

it("a refund in Stripe's dashboard becomes a refund of the order and reduces its cost", async () => {
  const order = await captured();
  await deliverAll(shop);
  shop.stripe.state.refund(intentOf(shop, order), 400);
  await deliverAll(shop);
  expect(await refundsOf(order)).toEqual([{ status: "succeeded", amountMinor: 400 }]);
  expect(await moneyOf(order)).toMatchObject({
    totals: { refunded: { amountMinor: 400 }, outstanding: { amountMinor: 0 } },
  });
});

it("a dispute that is won leaves the payment as it was; a lost one counts as refunded", async () => {
  const { state } = shop.stripe;
  for (const outcome of ["won", "lost"] as const) {
    const order = await captured();
    await deliverAll(shop);
    const dispute = state.dispute(intentOf(shop, order));
    await deliverAll(shop);
    expect(await paymentOf(shop, order.paymentId)).toMatchObject({ status: "captured", isDisputed: true });
    state.endDispute(dispute, outcome);
    await deliverAll(shop);
    expect(await paymentOf(shop, order.paymentId)).toMatchObject(
      outcome === "won"
        ? { status: "captured", refundedMinor: 0, isDisputed: false }
        : { status: "refunded", refundedMinor: order.amountMinor, isDisputed: false },
    );
    expect(await moneyOf(order)).toMatchObject({ totals: { outstanding: { amountMinor: 0 } } });
  }
});

it("events of a dispute that arrive in the wrong order, late and twice end in the same state", async () => {
  const { state } = shop.stripe;
  const order = await captured();
  await deliverAll(shop);
  const dispute = state.dispute(intentOf(shop, order), 1_500);
  state.endDispute(dispute, "lost");
  const events = [...state.events];
  await deliverAll(shop, (all) => all.toReversed());
  const expected = { status: "partially_refunded", refundedMinor: 1_500, isDisputed: false };
  expect(await paymentOf(shop, order.paymentId)).toMatchObject(expected);
  const { version } = await moneyOf(order);
  for (const event of events) {
    const { status, body } = await deliver(shop, event);
    expect([status, body]).toEqual([200, { result: "repeated" }]);
  }
  expect(await paymentOf(shop, order.paymentId)).toMatchObject(expected);
  expect(await moneyOf(order)).toMatchObject({ version });
});

it("an event that arrives twice at once changes the order once", async () => {
  const { state } = shop.stripe;
  const order = await captured();
  await deliverAll(shop);
  state.dispute(intentOf(shop, order));
  const [event] = state.events.splice(0);
  if (event === undefined) throw new Error("There is no event.");
  const before = (await moneyOf(order))["version"] ?? 0;
  const answers = await Promise.all([deliver(shop, event), deliver(shop, event)]);
  expect(answers.map(({ status }) => status)).toContain(200);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ isDisputed: true });
  expect((await moneyOf(order))["version"]).toBe(before + 1);
});

it("refuses events with a forged, an old or no signature, and events of an unknown address", async () => {
  const { state } = shop.stripe;
  const order = await captured();
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
  const order = await captured();
  await deliverAll(shop);
  const sweep = sweeps.find(({ name }) => name === "read payment provider events");
  const read = (): Promise<unknown> | undefined =>
    sweep?.run(shop.world.app.services, {
      now: shop.world.clock.now(),
      signal: new AbortController().signal,
    });
  await read();
  state.dispute(intentOf(shop, order));
  shop.world.clock.advance(3_600_000);
  expect(await read()).toBe(1);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ isDisputed: true });
  expect(await read()).toBe(0);
});

it("an event whose handling fails is sent again by Stripe and handled then", async () => {
  const { state } = shop.stripe;
  const order = await captured();
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
