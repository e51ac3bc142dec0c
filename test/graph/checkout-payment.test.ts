/** Paid and failed checkouts: the order, cart, stock, promotion uses and payment after each outcome. */
import { sql } from "kysely";
import { expect, it } from "vitest";
import { placeOrdersOfFreeCheckouts } from "#commerce/orders/complete-session.ts";
import type { AuthorizedPaymentResult } from "#commerce/payments/provider.ts";
import { indexProducts } from "#commerce/search/index-products.ts";
import {
  type Checkout,
  drive,
  callSession,
  ledgerOf,
  lost,
  openCheckout,
  ordersOf,
  paymentsOf,
  sessionOf,
  stockOf,
  submit,
  submitted,
  publishedEventTypes,
} from "#test/commerce/payments/checkouts.ts";
import { askGraph, changeCart, makeCart, makeCode, variantOf } from "#test/operations/cart-calls.ts";
import { makeSession } from "#test/operations/checkout-calls.ts";
import { useWorld } from "#test/support/use-world.ts";

const getWorld = useWorld();
const minute = 60_000;

it("tok_success: the order is placed once with all sold lines", async () => {
  const world = getWorld();
  const before = await stockOf(world, "KIT-KVERN");
  const checkout = await openCheckout(world, { lines: { "KIT-KVERN": 2 } });
  const { amountMinor } = checkout.amountTotal;
  await submitted(world, checkout, "tok_success");
  expect(await ledgerOf(world, checkout)).toEqual([]);
  await drive(world);
  await drive(world);
  expect(await ledgerOf(world, checkout)).toEqual([`authorize ${amountMinor} authorized`]);
  const [order, ...others] = await ordersOf(world, checkout);
  expect(others).toEqual([]);
  expect(await sessionOf(world, checkout)).toMatchObject({ status: "completed", orderId: order?.id });
  expect(order).toMatchObject({ paymentStatus: "authorized", totalMinor: amountMinor });
  expect(await paymentsOf(world, checkout)).toEqual([
    {
      status: "authorized",
      amountMinor,
      capturedMinor: 0,
      voidedMinor: 0,
      refundedMinor: 0,
      failureCode: null,
      tokenSealed: null,
    },
  ]);
  expect(await stockOf(world, "KIT-KVERN")).toEqual({ ...before, onHand: before.onHand - 2 });
  expect((await publishedEventTypes(world, checkout)).slice(-5)).toEqual([
    "checkout_session.processing",
    "payment.authorized",
    "order.placed",
    "cart.completed",
    "checkout_session.completed",
  ]);
  const query = `query ($id: ID!) { order(id: $id) { number status paymentStatus lines { title quantities {
    ordered allocated } total { amountMinor } }
    totals { total { amountMinor } } deliveryAddress { city } timeline { type actor } policies { type } cartId
    checkoutSessionId } }`;
  const { data } = await askGraph(world, query, { id: order?.id }, { token: "admin" });
  expect(data).toMatchObject({
    number: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/),
    status: "PENDING",
    lines: [{ quantities: { ordered: 2, allocated: 2 } }],
    totals: { total: { amountMinor } },
    deliveryAddress: { city: "Berlin" },
    cartId: checkout.cartId,
    checkoutSessionId: checkout.id,
  });
  expect(data.timeline.map(({ type, actor }: { type: string; actor: string }) => `${type} ${actor}`)).toEqual(
    ["payment_authorized SYSTEM", "order_placed SYSTEM"],
  );
});

it("tok_decline: the session is open again and unchanged, and a second token pays it", async () => {
  const world = getWorld();
  await makeCode(world, "DECLINED");
  const checkout = await openCheckout(world, { code: "DECLINED" });
  const held = await stockOf(world, "KIT-KVERN");
  await submitted(world, checkout, "tok_decline");
  expect(await usesOf("DECLINED")).toBe(1);
  await drive(world);
  expect(await sessionOf(world, checkout)).toMatchObject({ status: "open", orderId: null });
  expect(await usesOf("DECLINED")).toBe(0);
  expect(await stockOf(world, "KIT-KVERN")).toEqual(held);
  expect((await publishedEventTypes(world, checkout)).slice(-2)).toEqual([
    "payment.failed",
    "checkout_session.payment_failed",
  ]);
  await submitted(world, checkout, "tok_decline_insufficient_funds");
  await drive(world);
  await submitted(world, checkout, "tok_success");
  await drive(world);
  expect(
    (await paymentsOf(world, checkout))
      .map(({ status, failureCode }) => `${String(status)} ${String(failureCode)}`)
      .toSorted(),
  ).toEqual(["authorized null", "failed card_declined", "failed insufficient_funds"]);
  expect(await ordersOf(world, checkout)).toHaveLength(1);
  expect(await usesOf("DECLINED")).toBe(1);
});

it("a lost answer of the provider is looked up again: one authorization, one order", async () => {
  const world = getWorld();
  const checkout = await openCheckout(world);
  await submitted(world, checkout, "tok_success");
  await drive(world, ({ authorize }) => ({ authorize: lost(authorize) }));
  expect(await sessionOf(world, checkout)).toMatchObject({ status: "processing" });
  world.clock.advance(1000);
  await drive(world);
  expect(await ledgerOf(world, checkout)).toHaveLength(1);
  expect(await ordersOf(world, checkout)).toHaveLength(1);
});

it("an unresolved payment fails after 15 minutes; a late success is refunded with events", async () => {
  const world = getWorld();
  const checkout = await openCheckout(world);
  const { amountMinor } = checkout.amountTotal;
  const held = await stockOf(world, "KIT-KVERN");
  await submitted(world, checkout, "tok_late_success");
  await drive(world);
  // One millisecond has passed since the submission.
  world.clock.advance(15 * minute - 2);
  await drive(world);
  expect(await sessionOf(world, checkout)).toMatchObject({ status: "processing" });
  world.clock.advance(1);
  await drive(world);
  expect(await sessionOf(world, checkout)).toMatchObject({ status: "open" });
  expect(await paymentsOf(world, checkout)).toMatchObject([{ status: "canceled", failureCode: "timed_out" }]);
  expect(await stockOf(world, "KIT-KVERN")).toEqual(held);
  // Meanwhile the buyer pays with another token.
  await submitted(world, checkout, "tok_success");
  await drive(world);
  world.clock.advance(30 * minute);
  await drive(world);
  expect((await paymentsOf(world, checkout)).map(({ status }) => String(status)).toSorted()).toEqual([
    "authorized",
    "refunded",
  ]);
  expect(await ledgerOf(world, checkout)).toEqual(
    expect.arrayContaining([
      `authorize ${amountMinor} pending`,
      `authorize ${amountMinor} authorized`,
      `refund ${amountMinor} succeeded`,
    ]),
  );
  const events = await publishedEventTypes(world, checkout);
  expect(events).toEqual(
    expect.arrayContaining(["payment.refund_required", "refund.created", "refund.succeeded"]),
  );
  expect(await ordersOf(world, checkout)).toHaveLength(1);
});

it("an authorization of another amount places no order and is voided", async () => {
  const world = getWorld();
  const checkout = await openCheckout(world);
  const { amountMinor } = checkout.amountTotal;
  await submitted(world, checkout, "tok_success");
  await drive(world, ({ authorize }) => ({
    authorize: (request) => authorize({ ...request, amountMinor: request.amountMinor - 1 }),
  }));
  expect(await ordersOf(world, checkout)).toEqual([]);
  expect(await sessionOf(world, checkout)).toMatchObject({ status: "open" });
  expect(await ledgerOf(world, checkout)).toEqual([
    `authorize ${amountMinor - 1} authorized`,
    `void ${amountMinor - 1} succeeded`,
  ]);
  expect(await paymentsOf(world, checkout)).toMatchObject([
    { status: "canceled", failureCode: "amount_mismatch", voidedMinor: amountMinor - 1 },
  ]);
  expect(await publishedEventTypes(world, checkout)).toContain("payment.refund_required");
});

it("a payment that succeeds after its session ended is voided with an event", async () => {
  const world = getWorld();
  const checkout = await openCheckout(world);
  await submitted(world, checkout, "tok_success");
  // The service never does this, but a payment must not depend on it.
  await world.database.db
    .updateTable("hostedCheckoutSession")
    .set({ status: "expired" })
    .where("id", "=", checkout.id)
    .execute();
  await drive(world);
  expect(await ordersOf(world, checkout)).toEqual([]);
  const { amountMinor } = checkout.amountTotal;
  expect(await paymentsOf(world, checkout)).toMatchObject([
    { status: "canceled", failureCode: "late", voidedMinor: amountMinor },
  ]);
  expect(await ledgerOf(world, checkout)).toEqual([
    `authorize ${amountMinor} authorized`,
    `void ${amountMinor} succeeded`,
  ]);
  expect(await publishedEventTypes(world, checkout)).toEqual(
    expect.arrayContaining(["payment.canceled", "payment.refund_required"]),
  );
});

it("a payment that is declined after its session ended has failed, and nothing waits for it", async () => {
  const world = getWorld();
  const checkout = await openCheckout(world);
  await submitted(world, checkout, "tok_decline");
  await world.database.db
    .updateTable("hostedCheckoutSession")
    .set({ status: "expired" })
    .where("id", "=", checkout.id)
    .execute();
  await drive(world);
  expect(await paymentsOf(world, checkout)).toMatchObject([
    { status: "failed", failureCode: "card_declined", tokenSealed: null },
  ]);
  expect(await sessionOf(world, checkout)).toMatchObject({ status: "expired" });
  expect((await publishedEventTypes(world, checkout)).at(-1)).toBe("payment.failed");
});

it("a payment that the buyer gave up is voided, and its expired session ends", async () => {
  const world = getWorld();
  const before = await stockOf(world, "KIT-KVERN");
  const checkout = await openCheckout(world);
  await submitted(world, checkout, "tok_success");
  world.clock.advance(61 * minute);
  const { data, error } = await callSession(world, "hostedCheckoutSessionFail", {
    id: checkout.id,
    input: { reason: "BUYER_GAVE_UP" },
  });
  expect(error).toBeUndefined();
  expect(data).toMatchObject({ status: "EXPIRED", cartStatus: "ACTIVE" });
  expect(await stockOf(world, "KIT-KVERN")).toEqual(before);
  await drive(world);
  expect(await ledgerOf(world, checkout)).toEqual([`void ${checkout.amountTotal.amountMinor} succeeded`]);
  expect(await paymentsOf(world, checkout)).toMatchObject([
    { status: "canceled", failureCode: "buyer_gave_up", tokenSealed: null },
  ]);
  expect((await publishedEventTypes(world, checkout)).slice(-4)).toEqual([
    "payment.canceled",
    "checkout_session.payment_failed",
    "cart.unlocked",
    "checkout_session.expired",
  ]);
});

it("a free checkout is placed at submission, without a provider request", async () => {
  const world = getWorld();
  await makeCode(world, "ALLFREE", { kind: "PERCENTAGE", basisPoints: 10_000 });
  const checkout = await openCheckout(world, { lines: { "KIT-KVERN": 3 }, code: "ALLFREE" });
  expect(checkout.amountTotal.amountMinor).toBe(0);
  const { data, error } = await submit(world, checkout, null);
  expect(error).toBeUndefined();
  expect(data).toMatchObject({ status: "COMPLETED", paymentStatus: "NOT_REQUIRED", cartStatus: "COMPLETED" });
  expect(await ordersOf(world, checkout)).toMatchObject([
    { id: data.orderId, paymentStatus: "not_required", totalMinor: 0 },
  ]);
  expect(await paymentsOf(world, checkout)).toEqual([]);
});

it.each([0, 1])(
  "the event of a payment contains its previous pending state, with %i captured",
  async (capturedMinor) => {
    const world = getWorld();
    const checkout = await openCheckout(world);
    await submitted(world, checkout, "tok_success");
    await drive(world, ({ authorize }) => ({
      authorize: async (request) =>
        ({ ...(await authorize(request)), capturedMinor }) as AuthorizedPaymentResult,
    }));
    const events = await world.database.db
      .selectFrom("event")
      .innerJoin("payment", "payment.id", "event.subjectId")
      .select(["event.type", sql`event.snapshot::jsonb #> '{data,previous}'`.as("previous")])
      .where("payment.sessionId", "=", checkout.id)
      .orderBy("event.id")
      .execute();
    const previous = { status: "pending" };
    const types = ["payment.authorized", ...(capturedMinor > 0 ? ["payment.captured"] : [])];
    expect(events).toEqual(types.map((type) => ({ type, previous })));
  },
);

it("a checkout that becomes free before its submission is placed by the next run", async () => {
  const world = getWorld();
  await makeCode(world, "FREEBYNOW", { kind: "PERCENTAGE", basisPoints: 10_000 });
  const { id: cartId } = await makeCart(world, { lines: { "GFT-KART": 1 } });
  await changeCart(world, "cartPromotionApply", { cartId, input: { code: "FREEBYNOW" } });
  const checkout: Checkout = await makeSession(world, { cartId });
  await sql`update price set amount_minor = amount_minor + 100
    where variant_id = ${await variantOf(world, "GFT-KART")}`.execute(world.database.db);
  expect((await submit(world, checkout, null)).data).toMatchObject({
    status: "PROCESSING",
    amountTotal: { amountMinor: 0 },
  });
  const other = await openCheckout(world);
  await submitted(world, other, "tok_late_success");
  const place = (): Promise<number> =>
    placeOrdersOfFreeCheckouts({ ...world.app.services, now: world.clock.now(), reindex: indexProducts });
  expect([await place(), await place()]).toEqual([1, 0]);
  expect(await sessionOf(world, checkout)).toMatchObject({ status: "completed" });
  expect(await ordersOf(world, checkout)).toMatchObject([{ paymentStatus: "not_required", totalMinor: 0 }]);
  expect(await sessionOf(world, other)).toMatchObject({ status: "processing" });
});

async function usesOf(code: string): Promise<number> {
  const { used } = await getWorld()
    .database.db.selectFrom("promotionCode")
    .select("used")
    .where("code", "=", code)
    .executeTakeFirstOrThrow();
  return used;
}
