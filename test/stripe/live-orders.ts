/** Helpers for tests about orders of a live shop: captures, refunds, and reading what came of them. */
import { expect } from "vitest";
import { sweeps } from "#app/sweeps.ts";
import { drive } from "#test/commerce/payments/checkouts.ts";
import { askGraph } from "#test/operations/cart-calls.ts";
import { done } from "#test/graph/order-money-calls.ts";
import { type LiveShop, type PlacedOrder, placeLiveOrder } from "./live-shop.ts";

/** Places an order and captures a part of its payment, by default everything. */
export async function placeCapturedOrder(shop: LiveShop, amountMinor?: number): Promise<PlacedOrder> {
  const order = await placeLiveOrder(shop);
  const amount = amountMinor === undefined ? {} : { amount: { amountMinor, currency: "EUR" } };
  await done(shop.world, "paymentCapture", { id: order.paymentId, input: amount });
  await drive(shop.world);
  shop.world.clock.advance(1_000);
  return order;
}

export const refundOrder = (
  { world }: LiveShop,
  order: PlacedOrder,
  amountMinor: number,
): Promise<{ id: string }> =>
  done(world, "refundCreate", {
    id: order.orderId,
    input: { amount: { amountMinor, currency: "EUR" }, reason: "OTHER" },
  });

/** Runs the payment operations that are due after a time, in milliseconds. */
export async function driveAfter({ world }: LiveShop, ms: number): Promise<void> {
  world.clock.advance(ms);
  await drive(world);
}

/** Queues a capture while Stripe answers every request with an error. The outage goes on afterwards. */
export async function captureDuringOutage(
  shop: LiveShop,
  { paymentId }: Pick<PlacedOrder, "paymentId">,
  amountMinor: number,
): Promise<void> {
  shop.stripe.faultOf = () => ({ status: 503 });
  const input = { amount: { amountMinor, currency: "EUR" } };
  await done(shop.world, "paymentCapture", { id: paymentId, input });
  await drive(shop.world);
  shop.world.clock.advance(1_000);
}

/** The types of the events that were published after the payment was authorized, sorted. */
export async function publishedPaymentEventsOf(
  { world }: LiveShop,
  { paymentId }: Pick<PlacedOrder, "paymentId">,
): Promise<string[]> {
  const rows = await world.database.db
    .selectFrom("event")
    .select("type")
    .where("subjectId", "=", paymentId)
    .where("type", "!=", "payment.authorized")
    .orderBy("type")
    .execute();
  return rows.map(({ type }) => type);
}

/** The kinds and statuses of the payment operations, oldest first. */
export async function paymentOperationsOf(
  { world }: LiveShop,
  { paymentId }: Pick<PlacedOrder, "paymentId">,
): Promise<string[]> {
  const rows = await world.database.db
    .selectFrom("paymentOperation")
    .select(["kind", "status"])
    .where("paymentId", "=", paymentId)
    .orderBy("createdAt")
    .orderBy("id")
    .execute();
  return rows.map(({ kind, status }) => `${kind} ${status}`);
}

export const refundsOfOrder = (
  { world }: LiveShop,
  { paymentId }: Pick<PlacedOrder, "paymentId">,
): Promise<{ status: string; amountMinor: number }[]> =>
  world.database.db
    .selectFrom("refund")
    .select(["status", "amountMinor"])
    .where("paymentId", "=", paymentId)
    .orderBy("id")
    .execute();

/** The order's amounts: captured − refunded + outstanding = total − reduced. */
export async function orderMoneyOf(
  { world }: LiveShop,
  { orderId }: PlacedOrder,
): Promise<Record<string, number>> {
  const query = `query ($id: ID!) { order(id: $id) { version paymentStatus totals {
    refunded { amountMinor } outstanding { amountMinor } } } }`;
  const { data, error } = await askGraph(world, query, { id: orderId }, { token: "admin" });
  expect(error).toBeUndefined();
  return data;
}

/** Runs the sweep that reads Stripe's list of events. Returns the number of events that were missed. */
export async function readListedEvents(
  { world }: LiveShop,
  signal = new AbortController().signal,
): Promise<unknown> {
  const sweep = sweeps.find(({ name }) => name === "read payment provider events");
  if (sweep === undefined) throw new Error("There is no sweep that reads events.");
  return sweep.run(world.app.services, { now: world.clock.now(), signal });
}
