/**
 * Effects of time on checkouts: expired holds release their stock, and due work is done long after the buyer
 * left.
 */
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { erasePersonalDataPastRetention } from "#commerce/addresses/personal-data.ts";
import { expireCarts } from "#commerce/carts/cart-transitions.ts";
import {
  callSession,
  drive,
  openCheckout,
  paymentsOf,
  submit,
  submitted,
} from "#test/commerce/payments/checkouts.ts";
import {
  askGraph,
  berlin,
  changeCart,
  deliveryOf,
  eur,
  eventsOf,
  makeCart,
  readCart,
  variantOf,
  withoutTrace,
} from "#test/operations/cart-calls.ts";
import { makeSession, readSession, stockOf, sweepSessions } from "#test/operations/checkout-calls.ts";
import { useWorld } from "#test/support/use-world.ts";

const world = useWorld();
const minuteMs = 60_000;
const dayMs = 86_400_000;
const sku = "KIT-EMALJE-WHITE";

const setStock = async (onHand: number): Promise<void> => {
  const variantId = await variantOf(world(), sku);
  await sql`update stock_level set on_hand = ${onHand}, backorder_limit = 0
    where variant_id = ${variantId}`.execute(world().database.db);
};

describe("unreleased holds of an expired session", () => {
  const variantSeen = async () => {
    const { data } = await askGraph(
      world(),
      `{ products(first: 100) { edges { node { variants { sku availability stock { onHand reserved available }
        } } } } }`,
      {},
      { token: "admin" },
    );
    interface Seen {
      readonly sku: string;
    }
    const variants: readonly Seen[] = data.edges.flatMap(
      ({ node }: { node: { variants: readonly Seen[] } }) => node.variants,
    );
    return variants.find((variant) => variant.sku === sku);
  };
  const adjust = async (delta: number) => {
    const query = `mutation ($input: StockAdjustInput!) { stockAdjust(idempotencyKey:
      "take-${world().clock.now().getTime()}", input: $input) { stock { onHand reserved } } }`;
    return askGraph(
      world(),
      query,
      { input: { variantId: await variantOf(world(), sku), delta, reason: "LOST" } },
      { token: "admin" },
    );
  };

  it("count as free for catalog reads and stock adjustments, without a sweep", async () => {
    const { reserved } = await stockOf(world(), sku);
    await setStock(reserved + 3);
    const { id } = await makeSession(world(), { lines: { [sku]: 3 } });
    world().clock.advance(60 * minuteMs - 1);
    expect(await variantSeen()).toMatchObject({
      availability: "OUT_OF_STOCK",
      stock: { reserved: reserved + 3, available: 0 },
    });
    const { error } = await withoutTrace(world(), () => adjust(-1));
    expect(error.conflict).toMatchObject({
      reason: "insufficient_stock",
      data: { onHand: reserved + 3, reserved: reserved + 3, delta: -1 },
    });
    world().clock.advance(1);
    expect(await variantSeen()).toMatchObject({
      availability: "LOW_STOCK",
      stock: { onHand: reserved + 3, reserved, available: 3 },
    });
    expect((await stockOf(world(), sku)).reserved).toBe(reserved + 3);
    expect((await adjust(-3)).data).toEqual({ stock: { onHand: reserved, reserved } });
    expect(await stockOf(world(), sku)).toEqual({ onHand: reserved, reserved });
    expect((await readSession(world(), id)).data).toMatchObject({ status: "EXPIRED", version: 1 });
    expect(await sweepSessions(world())).toBeGreaterThan(0);
    expect(await stockOf(world(), sku)).toEqual({ onHand: reserved, reserved });
  });
});

describe("a submission", () => {
  it("reports a reduced line before the changed amount, with the cart at its version", async () => {
    const { reserved } = await stockOf(world(), sku);
    await setStock(reserved + 5);
    const checkout = await openCheckout(world(), { lines: { [sku]: 5 } });
    const { version, lines } = (await readCart(world(), checkout.cartId)).data;
    const limit = (most: number | null) =>
      sql`update variant set max_order_quantity = ${most} where sku = ${sku}`.execute(world().database.db);
    await limit(2);
    const { error } = await withoutTrace(world(), () => submit(world(), checkout));
    await limit(null);
    expect([error.code, error.conflict]).toEqual([
      "invalid_state",
      {
        resource: "cart",
        id: checkout.cartId,
        currentStatus: "locked",
        currentVersion: version,
        reason: "insufficient_stock",
        data: { lines: [{ lineId: lines[0].id, wanted: 5, available: 2 }] },
      },
    ]);
  });
});

describe("events of a session", () => {
  it("contain previous values in the session's own form, amounts with their currency", async () => {
    const { reserved } = await stockOf(world(), sku);
    await setStock(reserved + 5);
    const checkout = await openCheckout(world(), { lines: { [sku]: 1 } });
    const { version, cartVersion } = (await readSession(world(), checkout.id)).data;
    const raise = (byMinor: number) =>
      sql`update price set amount_minor = amount_minor + ${byMinor}::int where variant_id = (select id
        from variant where sku = ${sku})`.execute(world().database.db);
    await raise(100);
    const { amountMinor, currency } = checkout.amountTotal;
    await submitted(
      world(),
      { ...checkout, amountTotal: { amountMinor: amountMinor + 100, currency } },
      "tok_decline",
    );
    await raise(-100);
    const events = (await eventsOf(world(), checkout.id)).find(
      ({ type }) => type === "checkout_session.processing",
    );
    expect(events?.snapshot.data).toMatchObject({ object: { amountTotal: eur(amountMinor + 100) } });
    expect(events?.snapshot.data.previous).toEqual({
      version,
      status: "open",
      amountTotal: eur(amountMinor),
      paymentStatus: "unpaid",
      cartVersion,
    });
  });
});

describe("long after the buyer left", () => {
  it.each(["active", "suspended"] as const)(
    "expired sessions and carts are written and published for an %s merchant",
    async (status) => {
      const { id, cartId } = await makeSession(world());
      const { db } = world().database;
      world().clock.advance(125 * dayMs);
      expect([(await readSession(world(), id)).data, (await readCart(world(), cartId)).data]).toEqual([
        null,
        null,
      ]);
      await db
        .updateTable("merchant")
        .set({ status })
        .where("id", "=", world().demo.merchants.first.id)
        .execute();
      expect(await sweepSessions(world())).toBeGreaterThan(0);
      expect(await expireCarts({ ...world().app.services, now: world().clock.now() })).toBeGreaterThan(0);
      await db
        .updateTable("merchant")
        .set({ status: "active" })
        .where("id", "=", world().demo.merchants.first.id)
        .execute();
      const events = [...(await eventsOf(world(), id)), ...(await eventsOf(world(), cartId))].map(
        ({ type }) => type,
      );
      expect(events).toEqual([
        "checkout_session.created",
        "checkout_session.expired",
        "cart.created",
        "cart.locked",
        "cart.unlocked",
        "cart.expired",
      ]);
    },
  );

  it("a late answer of the provider is still stored", async () => {
    const checkout = await openCheckout(world());
    await submitted(world(), checkout, "tok_late_success");
    await callSession(world(), "hostedCheckoutSessionFail", {
      id: checkout.id,
      input: { reason: "BUYER_GAVE_UP" },
    });
    world().clock.advance(125 * dayMs);
    expect((await readSession(world(), checkout.id)).data).toBeNull();
    await drive(world());
    const open = await world()
      .database.db.selectFrom("paymentOperation")
      .select("id")
      .where("status", "=", "pending")
      .execute();
    expect([open, await paymentsOf(world(), checkout)]).toMatchObject([[], [{ status: "canceled" }]]);
  });
});

describe("the stored buyer's data", () => {
  const keptOf = async (cartId: string): Promise<Record<string, number | null>> => {
    const rows = await world()
      .database.db.selectFrom("personalData")
      .select(["kind", "eraseAfter"])
      .where("cartId", "=", cartId)
      .where("erasedAt", "is", null)
      .execute();
    return Object.fromEntries(
      rows.map(({ kind, eraseAfter }) => [kind, eraseAfter === null ? null : eraseAfter.getTime()]),
    );
  };
  const now = (): number => world().clock.now().getTime();
  const erase = () => erasePersonalDataPastRetention(world().database.db, world().clock.now());
  const setEmail = (cartId: string) =>
    changeCart(world(), "cartBuyerSet", { cartId, input: { email: "anna@example.com" } });

  it("an e-mail is kept as long as the cart can be read, counted from each change", async () => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    await setEmail(cartId);
    for (let round = 0; round < 6; round += 1) {
      world().clock.advance(29 * dayMs);
      const [{ id: lineId }] = (await readCart(world(), cartId)).data.lines;
      await changeCart(world(), "cartLinesUpdate", {
        cartId,
        input: { lines: [{ lineId, quantity: round % 2 === 0 ? 2 : 1 }] },
      });
      expect(await keptOf(cartId)).toEqual({ buyer_email: now() + 120 * dayMs });
    }
    await erase();
    expect(await keptOf(cartId)).toEqual({ buyer_email: now() + 120 * dayMs });
    const session = await makeSession(world(), { cartId, input: { lifetimeMinutes: 30 } });
    world().clock.advance(minuteMs);
    await callSession(world(), "hostedCheckoutSessionCancel", { id: session.id, input: { reason: "TEST" } });
    expect(await keptOf(cartId)).toEqual({ buyer_email: now() + 120 * dayMs });
  });

  it("is kept while a payment is processed, and for the normal time after it failed", async () => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    await setEmail(cartId);
    await changeCart(world(), "cartAddressSet", { cartId, input: { address: berlin } });
    await changeCart(world(), "cartDeliveryOptionSelect", {
      cartId,
      input: { optionId: await deliveryOf(world(), "standard") },
    });
    const checkout = await makeSession(world(), { cartId });
    const before = await keptOf(cartId);
    const expiresAt = Date.parse((await readSession(world(), checkout.id)).data.expiresAt);
    await submitted(world(), checkout, "tok_decline");
    expect(await keptOf(cartId)).toEqual({ address: null, buyer_email: null });
    await drive(world());
    expect(await keptOf(cartId)).toEqual({ address: expiresAt + dayMs, buyer_email: before["buyer_email"] });
    const again = (await readSession(world(), checkout.id)).data;
    await submitted(world(), again, "tok_success");
    expect(await keptOf(cartId)).toEqual({ address: null, buyer_email: null });
    await drive(world());
    world().clock.advance(200 * dayMs);
    await erase();
    const order = await world()
      .database.db.selectFrom("salesOrder")
      .select(["addressId", "buyerEmailId"])
      .where("cartId", "=", cartId)
      .executeTakeFirst();
    expect(Object.values(order ?? {}).every((id) => id !== null)).toBe(true);
    expect(await keptOf(cartId)).toEqual({ address: null, buyer_email: null });
  });

  it("an e-mail that is nearly due is kept beyond the end of a new session", async () => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    await setEmail(cartId);
    await sql`update personal_data set erase_after = ${world().clock.now()}
      where cart_id = ${cartId}`.execute(world().database.db);
    await makeSession(world(), { cartId, input: { lifetimeMinutes: 1440 } });
    expect((await keptOf(cartId))["buyer_email"]).toBeGreaterThanOrEqual(now() + 2 * dayMs);
  });
});
