/**
 * Erasing a buyer leaves no personal data in any column, encrypted or not, while the purchases remain
 * readable.
 */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findAndEraseBuyerData } from "#app/erase-buyers.ts";
import type { BuyerIdentifierForErasure } from "#commerce/orders/erasure/erasure-scope.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import {
  berlin,
  callCart,
  changeCart,
  writtenRows,
  makeCart,
  readCart,
} from "#test/operations/cart-calls.ts";
import { makeSession, trySession } from "#test/operations/checkout-calls.ts";
import { encryptionKeys } from "#test/support/copies.ts";
import { type MarkedPurchase, purchaseMarked } from "#test/support/marked-purchase.ts";
import {
  declaredColumns,
  erasedColumns,
  findTextColumns,
  kindOf,
  readColumn,
} from "#test/support/personal-data.ts";
import { readSealedRows } from "#test/support/sealed-rows.ts";
import { createWorld, publicUrl, type World } from "#test/support/world.ts";

const [keyName = "", base64 = ""] = encryptionKeys.split(":");
const keyring = createEncryptionKeyring([{ id: keyName, key: Buffer.from(base64, "base64") }]);

/**
 * Markers that must not remain anywhere, including displayed values (town, initials, e-mail hint). Random ids
 * never contain the letters i, l, o and u (Crockford's base32), so no marker occurs in an id by chance.
 */
const markers = ["zoqlui", "31201234987", "9876uo", "9876 uo", "Q. X.", "q•••@"];
const address = {
  recipientName: "Qzoqluigiven Xzoqluifamily",
  company: "Zoqluicompany",
  line1: "Zoqluistreet 77",
  line2: "Zoqluifloor",
  city: "Zoqluitown",
  postalCode: "9876UO",
  countryCode: "NL",
  phone: "+31201234987",
  email: "qzoqluimailbox@zoqluidomain.example",
};
const email = "qzoqluibuyer@zoqluidomain.example";

describe.each(["pglite", "postgres"] as const)("erasing a buyer on %s", (engine) => {
  let world: World;
  let bought: MarkedPurchase;
  let cartId: string;
  const key = randomUUID();
  beforeAll(async () => {
    world = await createWorld(engine);
    bought = await purchaseMarked(world, { address, email, cardToken: "tok_nothing" });
    cartId = (
      await world.database.db
        .selectFrom("salesOrder")
        .select("cartId")
        .where("id", "=", bought.orderId)
        .executeTakeFirstOrThrow()
    ).cartId;
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const erase = (target: BuyerIdentifierForErasure, isForced = false) => {
    const { db, render } = world.app.services;
    return findAndEraseBuyerData(
      { db, keyring, render, publicUrl, now: world.clock.now() },
      { target, isForced },
    );
  };
  /** The columns that contain a marker: all that can hold text, including bytes, and decrypted sealed values. */
  const found = async (): Promise<readonly string[]> => {
    const { db } = world.database;
    const columns = new Set<string>();
    const look = (column: string, text: string): void => {
      if (markers.some((marker) => text.toLowerCase().includes(marker.toLowerCase()))) columns.add(column);
    };
    for (const name of await findTextColumns(db))
      for (const text of await readColumn(db, name)) look(name, text);
    for (const row of await readSealedRows(db)) look(`${row.table}, opened`, row.open(keyring));
    return [...columns].toSorted();
  };
  /** Creates an open cart with the same address. */
  const openCart = async (): Promise<string> => {
    const { id } = await makeCart(world, {
      lines: { "KIT-KVERN": 1 },
      buyer: "canary",
      input: { buyerReference: "canary" },
    });
    await changeCart(world, "cartBuyerSet", {
      cartId: id,
      buyer: "canary",
      input: { buyerReference: "canary", email },
    });
    await changeCart(world, "cartAddressSet", {
      cartId: id,
      buyer: "canary",
      input: { address, saveForBuyer: true },
    });
    const headers = { "idempotency-key": key };
    const { status } = await callCart(world, "setPublicCartAddress", {
      cartId: id,
      body: { address },
      headers,
    });
    expect(status).toBe(200);
    return id;
  };

  it("removes the buyer from every column, encrypted or not, and keeps the purchases", async () => {
    const cart = await openCart();
    const before = await found();
    // Every column declared to hold a buyer's data contains a marker, so that erasing it is really tested; no
    // other column does.
    const sealedTables = erasedColumns.flatMap((name) =>
      name.endsWith(".sealed") ? [`${name.split(".", 1).join("")}, opened`] : [],
    );
    const open = erasedColumns.filter((name) => kindOf(declaredColumns[name] ?? "") === "personal");
    expect(before).toEqual([...open, ...sealedTables].toSorted());
    const query = `query ($id: ID!) { order(id: $id) { id number status lines { title quantities { ordered } }
      totals { total { amountMinor } }
      deliveryAddress { countryCode city recipientInitials } shippingAddress { line1 } buyerEmail } }`;
    const read = async () => (await world.graphql(query, { variables: { id: bought.orderId } })).body;
    const { data: then } = await read();
    expect(then.order).toMatchObject({
      shippingAddress: { line1: address.line1 },
      buyerEmail: email,
      deliveryAddress: { city: "Zoqluitown" },
    });

    const merchantId = world.demo.merchants.first.id;
    const erased = await erase({ by: "buyerReference", value: "canary", merchantId }, true);
    expect(erased).toMatchObject({
      orders: 1,
      personalData: expect.any(Number),
      eventBodies: expect.any(Number),
      keptAnswers: expect.any(Number),
    });
    expect(
      Math.min(erased.personalData - 4, erased.eventBodies, erased.keptAnswers, erased.carts - 1),
    ).toBeGreaterThan(0);
    expect(await found()).toEqual([]);

    const { data: now, errors } = await read();
    expect(errors).toBeUndefined();
    expect(now.order).toEqual({
      ...then.order,
      deliveryAddress: { countryCode: "NL", city: null, recipientInitials: null },
      shippingAddress: null,
      buyerEmail: null,
    });
    const { data: left } = await readCart(world, cart, { buyer: "canary" });
    expect(left).toMatchObject({
      status: "ACTIVE",
      address: null,
      buyer: { emailHint: null },
      lines: [{ sku: "KIT-KVERN" }],
    });
    const [entry] = await world.database.db
      .selectFrom("auditEntry")
      .selectAll()
      .where("action", "=", "privacyErase")
      .execute();
    expect(entry).toMatchObject({
      actor: "command",
      merchantId,
      targetId: null,
      details: { by: "buyerReference", forced: true, ...erased },
    });
    expect(entry?.details).toMatchObject({ orderIds: [bought.orderId] });
    expect(JSON.stringify(entry)).not.toContain("canary");
  });

  it("has no second effect: a retry learns that its key was used, but not the answer", async () => {
    const before = await writtenRows(world);
    const { cartId: id } = await world.database.db
      .selectFrom("event")
      .select("subjectId as cartId")
      .where("type", "=", "cart.address_set")
      .orderBy("id", "desc")
      .executeTakeFirstOrThrow();
    const { status, body } = await callCart(world, "setPublicCartAddress", {
      cartId: id,
      body: { address },
      headers: { "idempotency-key": key },
    });
    expect({ status, code: body.error.code }).toEqual({ status: 409, code: "idempotency_key_reused" });
    expect(await writtenRows(world)).toEqual(before);
  });

  it("can be repeated, and finds nothing more", async () => {
    const merchantId = world.demo.merchants.first.id;
    const again = await erase({ by: "buyerReference", value: "canary", merchantId }, true);
    // The open cart's erasure event, which has no address.
    expect(again).toMatchObject({ personalData: 0, eventBodies: 1 });
    expect(await erase({ by: "order", value: bought.orderId }, true)).toMatchObject({
      personalData: 0,
      orders: 1,
    });
    expect(await erase({ by: "cart", value: cartId }, true)).toMatchObject({
      personalData: 0,
      carts: 1,
      orders: 1,
    });
  });

  it("erases one cart by its address token, with the carts merged into it", async () => {
    const { id: one } = await makeCart(world, { lines: { "KIT-KVERN": 1 } });
    await changeCart(world, "cartBuyerSet", { cartId: one, input: { email } });
    const { id: other } = await makeCart(world, { lines: { "KIT-KVERN": 1 } });
    const { data } = await changeCart(world, "cartAddressSet", { cartId: other, input: { address: berlin } });
    const merged = await changeCart(world, "cartMerge", { cartId: other, input: { sourceCartId: one } });
    expect(merged.error).toBeUndefined();
    expect(await erase({ by: "addressToken", value: data.addressToken })).toMatchObject({
      personalData: 2,
      carts: 2,
      orders: 0,
    });
    expect(await found()).toEqual([]);
    await expect(erase({ by: "addressToken", value: data.addressToken })).rejects.toThrow(
      "No data was found for this address token",
    );
  });

  it("is refused during a checkout, while an order needs its address, and for an unknown buyer", async () => {
    const { id: free } = await makeCart(world, {
      lines: { "KIT-KVERN": 1 },
      input: { buyerReference: "busy" },
      buyer: "busy",
    });
    const session = await makeSession(world, { buyer: "busy", input: {}, lines: { "KIT-KVERN": 1 } });
    await sql`update cart set buyer_reference = 'busy', version = version + 1
      where id = ${session.cartId}`.execute(world.database.db);
    await changeCart(world, "cartBuyerSet", {
      cartId: free,
      buyer: "busy",
      input: { buyerReference: "busy", email },
    });
    const before = await writtenRows(world);
    const merchantId = world.demo.merchants.first.id;
    await expect(erase({ by: "buyerReference", value: "busy", merchantId }, true)).rejects.toThrow(
      `A checkout is in progress (${session.id})`,
    );
    await expect(erase({ by: "order", value: world.demo.orders.placed })).rejects.toThrow(
      `Orders are not completed (${world.demo.orders.placed})`,
    );
    await expect(
      erase({ by: "buyerReference", value: "busy", merchantId: world.demo.merchants.second.id }),
    ).rejects.toThrow("No data was found for a buyer");
    await expect(erase({ by: "cart", value: "cart_none" })).rejects.toThrow(
      "No data was found for this cart.",
    );
    expect(await writtenRows(world)).toEqual(before);
    expect(await erase({ by: "cart", value: free })).toMatchObject({ personalData: 1 });
    const { error } = await trySession(world, { cartId: free, buyer: "busy" });
    expect(error).toBeUndefined();
  });
});
