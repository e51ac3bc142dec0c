/** What happens after a live purchase: captures, refunds, disputes and expired authorizations at Stripe. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { drive } from "#test/commerce/payments/checkouts.ts";
import { done } from "#test/graph/order-money-calls.ts";
import {
  captureDuringOutage,
  driveAfter,
  orderMoneyOf,
  paymentOperationsOf,
  placeCapturedOrder,
  publishedPaymentEventsOf,
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
  openPaymentPage,
  paymentOf,
  placeLiveOrder,
} from "./live-shop.ts";

let shop: LiveShop;
beforeAll(async () => {
  shop = await openLiveShop();
  await connectLive(shop);
});
afterAll(() => shop[Symbol.asyncDispose]());

it("a partial capture releases the rest of the authorization", async () => {
  const order = await placeCapturedOrder(shop, 1_000);
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
  const order = await placeCapturedOrder(shop);
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
  await captureDuringOutage(shop, order, 300);
  await captureDuringOutage(shop, order, 300);
  stripe.faultOf = () => undefined;
  await driveAfter(shop, 60_000);
  expect(intentOf(shop, order)).toMatchObject({ status: "succeeded", amount_received: 300 });
  const released = { capturedMinor: 300, voidedMinor: order.amountMinor - 300 };
  expect(await paymentOf(shop, id)).toMatchObject({
    ...released,
    failureCode: "payment_intent_unexpected_state",
  });
  expect(await paymentOperationsOf(shop, order)).toEqual([
    "authorize succeeded",
    "capture succeeded",
    "capture failed",
  ]);
  await refundOrder(shop, order, 300);
  await driveAfter(shop, 60_000);
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
  await captureDuringOutage(shop, order, 600);
  await done(world, "paymentVoid", { id: order.paymentId });
  stripe.state.cancel(intentOf(shop, order));
  stripe.faultOf = () => undefined;
  await driveAfter(shop, 60_000);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({
    status: "canceled",
    capturedMinor: 0,
    voidedMinor: order.amountMinor,
    failureCode: "authorization_expired",
  });
  expect(await publishedPaymentEventsOf(shop, order)).toEqual(["payment.canceled", "payment.failed"]);
  await deliverAll(shop);
});

it("a void of the rest that was asked for during a partial capture is no failure", async () => {
  const { stripe, world } = shop;
  const order = await placeLiveOrder(shop);
  await captureDuringOutage(shop, order, 600);
  await done(world, "paymentVoid", { id: order.paymentId });
  stripe.faultOf = () => undefined;
  await driveAfter(shop, 60_000);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({
    capturedMinor: 600,
    voidedMinor: order.amountMinor - 600,
    failureCode: null,
  });
  expect(await paymentOperationsOf(shop, order)).toEqual([
    "authorize succeeded",
    "capture succeeded",
    "void failed",
  ]);
  expect(await publishedPaymentEventsOf(shop, order)).toEqual(["payment.captured"]);
  await deliverAll(shop);
});

it("a refund is pending until Stripe has paid it out, and is made once", async () => {
  const { state } = shop.stripe;
  const order = await placeCapturedOrder(shop);
  await deliverAll(shop);
  state.newRefundStatus = "pending";
  const { length: requestsBefore } = shop.stripe.requests;
  await refundOrder(shop, order, 500);
  await deliverAll(shop);
  await deliverAll(shop);
  expect(await refundsOfOrder(shop, order)).toEqual([{ status: "pending", amountMinor: 500 }]);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ refundedMinor: 0 });
  const made = state.refunds.values().find((one) => one.payment_intent === intentOf(shop, order).id);
  if (made !== undefined) state.endRefund(made, "succeeded");
  await deliverAll(shop);
  expect(await refundsOfOrder(shop, order)).toEqual([{ status: "succeeded", amountMinor: 500 }]);
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
  const order = await placeCapturedOrder(shop);
  state.newRefundStatus = "pending";
  await refundOrder(shop, order, 700);
  await deliverAll(shop);
  const refundAt = (index: number) =>
    [...state.refunds.values()].filter((one) => one.payment_intent === intentOf(shop, order).id)[index];
  const first = refundAt(0);
  if (first === undefined) throw new Error("No refund was made.");
  state.endRefund(first, "failed");
  await deliverAll(shop);
  expect(await refundsOfOrder(shop, order)).toEqual([{ status: "failed", amountMinor: 700 }]);

  state.newRefundStatus = "succeeded";
  await refundOrder(shop, order, 300);
  await deliverAll(shop);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ refundedMinor: 300 });
  const second = refundAt(1);
  if (second === undefined) throw new Error("No second refund was made.");
  state.endRefund(second, "failed");
  await deliverAll(shop);
  expect((await refundsOfOrder(shop, order)).map(({ status }) => status)).toEqual(["failed", "failed"]);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ status: "captured", refundedMinor: 0 });
});

it("a refund in Stripe's dashboard becomes a refund of the order and reduces its cost", async () => {
  const order = await placeCapturedOrder(shop);
  await deliverAll(shop);
  shop.stripe.state.refund(intentOf(shop, order), 400);
  await deliverAll(shop);
  expect(await refundsOfOrder(shop, order)).toEqual([{ status: "succeeded", amountMinor: 400 }]);
  expect(await orderMoneyOf(shop, order)).toMatchObject({
    totals: { refunded: { amountMinor: 400 }, outstanding: { amountMinor: 0 } },
  });
});

it("a refund in Stripe's dashboard that fails later is reversed in the order", async () => {
  const { state } = shop.stripe;
  const order = await placeCapturedOrder(shop);
  await deliverAll(shop);
  // The service learns of both refunds at once and records them as one.
  const [first, second] = [
    state.refund(intentOf(shop, order), 300),
    state.refund(intentOf(shop, order), 200),
  ];
  await deliverAll(shop);
  expect(await refundsOfOrder(shop, order)).toEqual([{ status: "succeeded", amountMinor: 500 }]);
  state.endRefund(first, "failed");
  const failed = [...state.events];
  await deliverAll(shop);
  expect(await refundsOfOrder(shop, order)).toEqual([
    { status: "failed", amountMinor: 500 },
    { status: "succeeded", amountMinor: 200 },
  ]);
  const expected = { status: "partially_refunded", refundedMinor: 200 };
  expect(await paymentOf(shop, order.paymentId)).toMatchObject(expected);
  state.endRefund(second, "failed");
  await deliverAll(shop);
  expect((await refundsOfOrder(shop, order)).map(({ status }) => status)).toEqual(["failed", "failed"]);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ status: "captured", refundedMinor: 0 });
  expect(await orderMoneyOf(shop, order)).toMatchObject({ totals: { refunded: { amountMinor: 0 } } });
  state.events.push(...failed);
  await deliverAll(shop);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ status: "captured", refundedMinor: 0 });
});

it("publishes payment.refund_required if the refund of a payment without an order fails later", async () => {
  const { world, stripe } = shop;
  const checkout = await openPaymentPage(shop);
  await checkout.buyer.open("?returned=canceled");
  await checkout.buyer.press("give-up");
  stripe.state.pay(checkout.page, "success");
  stripe.state.capture(intentOf(shop, checkout), checkout.amountMinor);
  await deliverAll(shop);
  await driveAfter(shop, 60_000);
  const [payment] = await world.database.db
    .selectFrom("payment")
    .select(["id as paymentId", "orderId", "status"])
    .where("sessionId", "=", checkout.sessionId)
    .execute();
  if (payment === undefined) throw new Error("There is no payment.");
  expect(payment).toMatchObject({ orderId: null, status: "refunded" });
  const required = async (): Promise<number> =>
    (await publishedPaymentEventsOf(shop, payment)).filter((type) => type === "payment.refund_required")
      .length;
  expect(await required()).toBe(1);
  const made = stripe.state.refunds
    .values()
    .find((one) => one.payment_intent === intentOf(shop, checkout).id);
  if (made === undefined) throw new Error("No refund was made.");
  stripe.state.endRefund(made, "failed");
  await deliverAll(shop);
  expect(await required()).toBe(2);
  expect(await paymentOf(shop, payment.paymentId)).toMatchObject({ status: "captured", refundedMinor: 0 });
  expect(await refundsOfOrder(shop, payment)).toEqual([
    { status: "failed", amountMinor: checkout.amountMinor },
  ]);
});

it("a dispute that is won leaves the payment as it was; a lost one counts as refunded", async () => {
  const { state } = shop.stripe;
  for (const outcome of ["won", "lost"] as const) {
    const order = await placeCapturedOrder(shop);
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
    expect(await orderMoneyOf(shop, order)).toMatchObject({ totals: { outstanding: { amountMinor: 0 } } });
  }
});

it("a payment stays disputed until its last dispute is closed, and each lost dispute reaches the order", async () => {
  const { state } = shop.stripe;
  const order = await placeCapturedOrder(shop);
  await deliverAll(shop);
  const disputes = [300, 200, 100].map((amount) => state.dispute(intentOf(shop, order), amount));
  await deliverAll(shop);
  const steps = [
    ["won", { refundedMinor: 0, isDisputed: true }],
    ["lost", { refundedMinor: 100, isDisputed: true }],
    ["lost", { refundedMinor: 400, isDisputed: false }],
  ] as const;
  const [third, first, second] = disputes;
  for (const [index, dispute] of [first, second, third].entries()) {
    const [outcome, expected] = steps[index] ?? [];
    if (dispute === undefined || outcome === undefined) throw new Error("There is no dispute.");
    state.endDispute(dispute, outcome);
    await deliverAll(shop);
    expect(await paymentOf(shop, order.paymentId)).toMatchObject(expected);
  }
  expect(await orderMoneyOf(shop, order)).toMatchObject({
    totals: { refunded: { amountMinor: 400 }, outstanding: { amountMinor: 0 } },
  });
});

it("events of a dispute that arrive in the wrong order, late and twice end in the same state", async () => {
  const { state } = shop.stripe;
  const order = await placeCapturedOrder(shop);
  await deliverAll(shop);
  const dispute = state.dispute(intentOf(shop, order), 1_500);
  state.endDispute(dispute, "lost");
  const events = [...state.events];
  await deliverAll(shop, (all) => all.toReversed());
  const expected = { status: "partially_refunded", refundedMinor: 1_500, isDisputed: false };
  expect(await paymentOf(shop, order.paymentId)).toMatchObject(expected);
  const { version } = await orderMoneyOf(shop, order);
  for (const event of events) {
    const { status, body } = await deliver(shop, event);
    expect([status, body]).toEqual([200, { result: "repeated" }]);
  }
  expect(await paymentOf(shop, order.paymentId)).toMatchObject(expected);
  expect(await orderMoneyOf(shop, order)).toMatchObject({ version });
});

it("an event that arrives twice at once changes the order once", async () => {
  const { state } = shop.stripe;
  const order = await placeCapturedOrder(shop);
  await deliverAll(shop);
  state.dispute(intentOf(shop, order));
  const [event] = state.events.splice(0);
  if (event === undefined) throw new Error("There is no event.");
  const before = (await orderMoneyOf(shop, order))["version"] ?? 0;
  const answers = await Promise.all([deliver(shop, event), deliver(shop, event)]);
  expect(answers.map(({ status }) => status)).toContain(200);
  expect(await paymentOf(shop, order.paymentId)).toMatchObject({ isDisputed: true });
  expect((await orderMoneyOf(shop, order))["version"]).toBe(before + 1);
});
