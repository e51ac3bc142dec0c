/**
 * Regression tests for the end of a promotion, an address, a cart and stock. Reviewers found each of these
 * bugs.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lockCart } from "#test/operations/cart-states.ts";
import {
  askGraph,
  berlin,
  callCart,
  changeCart,
  deliveryOf,
  eventsOf,
  makeCart,
  makeCode,
  movePromotion,
  readCart,
} from "#test/operations/cart-calls.ts";
import { createWorld, type World } from "#test/support/world.ts";

const minuteMs = 60_000;

describe("when a promotion, address or cart ends", () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const lines = { "HOM-BIVOKS": 2 };
  const typesOf = async (cartId: string, version: number): Promise<string[]> =>
    (await eventsOf(world, cartId)).filter((event) => event.version === version).map(({ type }) => type);
  const withAddress = async (
    cartId: string,
    version: number,
  ): Promise<{ token: string; version: number }> => {
    const { data } = await changeCart(world, "cartAddressSet", {
      cartId,
      input: { address: berlin, expectedVersion: version },
    });
    return { token: data.addressToken, version: data.cartVersion };
  };
  const optionsOf = (token: string) =>
    askGraph(world, "query ($token: ID!) { deliveryOptions(addressToken: $token) { id } }", { token });

  it("an ended promotion leaves the cart with a warning and an event; a paused one stays", async () => {
    const promotionId = await makeCode(world, "SOON-OVER");
    const { id } = await makeCart(world, { lines });
    await callCart(world, "applyPublicCartPromotion", { cartId: id, body: { code: "SOON-OVER" } });
    await movePromotion(world, "promotionPause", promotionId);
    const paused = await changeCart(world, "cartBuyerSet", { cartId: id, input: { buyerReference: "anna" } });
    expect(paused.data).toMatchObject({
      version: 3,
      promotion: { state: "SUSPENDED", suspendedReason: "PAUSED" },
    });
    await movePromotion(world, "promotionEnd", promotionId);
    const ended = await changeCart(world, "cartBuyerSet", { cartId: id, input: { buyerReference: "berta" } });
    expect(ended.data).toMatchObject({
      version: 4,
      promotion: { state: "NONE", promotion: null, discount: { amountMinor: 0 } },
      warnings: [{ code: "PROMOTION_REMOVED", lineId: null, data: { code: "SOON-OVER", reason: "ended" } }],
    });
    expect(await typesOf(id, 4)).toEqual(["cart.promotion_removed", "cart.updated"]);
    // An ended promotion does not prevent another code.
    await makeCode(world, "NEXT-ONE");
    const next = await callCart(world, "applyPublicCartPromotion", {
      cartId: id,
      body: { code: "NEXT-ONE", onExisting: "reject" },
    });
    expect(next.body.data).toMatchObject({ state: "applied", replaced: null });
  });

  it("the same code again returns current totals, not those before the address ended", async () => {
    await makeCode(world, "AGAIN");
    const { id } = await makeCart(world, { lines });
    const { version } = await withAddress(id, 1);
    await changeCart(world, "cartDeliveryOptionSelect", {
      cartId: id,
      input: { optionId: await deliveryOf(world, "standard"), expectedVersion: version },
    });
    await callCart(world, "applyPublicCartPromotion", { cartId: id, body: { code: "AGAIN" } });
    world.clock.advance(31 * minuteMs);
    const read = (await callCart(world, "getPublicCart", { cartId: id })).body.data;
    const again = (await callCart(world, "applyPublicCartPromotion", { cartId: id, body: { code: "again" } }))
      .body.data;
    expect(read.totals).toMatchObject({ shipping: null, tax: null, estimated: true });
    expect(again).toMatchObject({
      cartVersion: read.version,
      totals: read.totals,
      discount: read.promotion.discount,
    });
  });

  it("an address token ends with the address and with the cart", async () => {
    const { id } = await makeCart(world, { lines });
    const { token, version } = await withAddress(id, 1);
    expect((await optionsOf(token)).data).toHaveLength(3);
    const locked = await lockCart(world, { cartId: id, version });
    world.clock.advance(40 * minuteMs);
    // The checkout session keeps the address alive.
    expect((await optionsOf(token)).data).toHaveLength(3);
    world.clock.advance(24 * 60 * minuteMs);
    expect((await readCart(world, locked.cartId)).data).toMatchObject({ status: "ACTIVE", address: null });
    expect((await optionsOf(token)).error.code).toBe("resource_not_found");
  });

  it("a cart that became an order keeps its totals after the address's half hour", async () => {
    const { id: cartId } = await makeCart(world, { lines });
    const { version } = await withAddress(cartId, 1);
    const optionId = await deliveryOf(world, "standard");
    await changeCart(world, "cartDeliveryOptionSelect", {
      cartId,
      input: { optionId, expectedVersion: version },
    });
    await lockCart(world, { cartId, version: version + 1 }, "processing");
    const endedAt = world.clock.now();
    await world.database.db
      .updateTable("cart")
      .set((row) => ({ status: "completed", endedAt, version: row("version", "+", 1) }))
      .where("id", "=", cartId)
      .execute();
    const before = (await callCart(world, "getPublicCart", { cartId })).body.data;
    world.clock.advance(31 * minuteMs);
    expect(before).toMatchObject({
      status: "completed",
      totals: { shipping: { amountMinor: 490 }, estimated: false },
    });
    expect((await callCart(world, "getPublicCart", { cartId })).body.data).toEqual(before);
  });

  it("the warning of an expired address is returned after the cart's end as well", async () => {
    const { id } = await makeCart(world, { lines });
    const { version } = await withAddress(id, 1);
    world.clock.advance(31 * minuteMs);
    const { data } = await changeCart(world, "cartRevoke", {
      cartId: id,
      input: { expectedVersion: version },
    });
    expect(data).toMatchObject({ status: "REVOKED", warnings: [{ code: "ADDRESS_EXPIRED" }] });
  });

  it("setting the same buyer and e-mail again changes nothing and keeps the stored row", async () => {
    const { id } = await makeCart(world, { lines });
    const input = { buyerReference: "anna", email: "anna@example.com" };
    const first = await changeCart(world, "cartBuyerSet", { cartId: id, input });
    const again = await changeCart(world, "cartBuyerSet", { cartId: id, input });
    expect([first.data.version, again.data.version, again.data.updatedAt]).toEqual([
      2,
      2,
      first.data.updatedAt,
    ]);
    const { db } = world.database;
    const rows = () =>
      db
        .selectFrom("personalData")
        .select(["id", "erasedAt"])
        .where("cartId", "=", id)
        .orderBy("id")
        .execute();
    expect(await rows()).toEqual([{ id: expect.any(String), erasedAt: null }]);
    await changeCart(world, "cartBuyerSet", { cartId: id, input: { ...input, email: "other@example.com" } });
    expect((await rows()).map(({ erasedAt }) => erasedAt === null)).toHaveLength(2);
    expect((await rows()).filter(({ erasedAt }) => erasedAt === null)).toHaveLength(1);
  });

  it("a cart that becomes empty has no shipping costs", async () => {
    const { id, lines: made } = await makeCart(world, { lines });
    const { version } = await withAddress(id, 1);
    await changeCart(world, "cartDeliveryOptionSelect", {
      cartId: id,
      input: { optionId: await deliveryOf(world, "standard"), expectedVersion: version },
    });
    const { data } = await changeCart(world, "cartLinesRemove", {
      cartId: id,
      input: { lineIds: [made[0].id] },
    });
    expect(data.totals).toMatchObject({
      subtotal: { amountMinor: 0 },
      shipping: null,
      total: { amountMinor: 0 },
    });
  });

  it("another market ends and erases the address at once, with a warning to set it again", async () => {
    const { id } = await makeCart(world, { lines });
    const { token } = await withAddress(id, 1);
    const { data } = await changeCart(world, "cartMarketChange", { cartId: id, input: { market: "AT" } });
    expect(data).toMatchObject({ market: "AT", address: null });
    expect(data.warnings.map(({ code }: { code: string }) => code)).toEqual([
      "ADDRESS_EXPIRED",
      "MARKET_CHANGED",
    ]);
    const rows = await world.database.db
      .selectFrom("personalData")
      .select(["sealed", "dataKey"])
      .where("cartId", "=", id)
      .execute();
    expect(rows).toEqual([{ sealed: null, dataKey: null }]);
    expect((await optionsOf(token)).error.code).toBe("resource_not_found");
  });

  it("carts of two buyers cannot be merged by any caller", async () => {
    const anna = await makeCart(world, { lines, input: { buyerReference: "anna" } });
    const berta = await makeCart(world, { lines, input: { buyerReference: "berta" } });
    const { error } = await changeCart(world, "cartMerge", {
      cartId: anna.id,
      input: { sourceCartId: berta.id },
    });
    expect(error).toMatchObject({
      code: "invalid_field",
      details: [{ field: "/sourceCartId", code: "not_allowed" }],
    });
    expect((await readCart(world, berta.id)).data).toMatchObject({ status: "ACTIVE", version: 1 });
  });
});
