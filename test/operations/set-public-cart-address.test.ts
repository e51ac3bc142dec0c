/**
 * setPublicCartAddress: returns a token, a quote and a masked view for an address. The address is checked by
 * its country's rules and stored encrypted.
 */
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { erasePersonalDataPastRetention, decryptPersonalData } from "#commerce/addresses/personal-data.ts";
import { expectError } from "#test/support/expect-error.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { useWorld } from "#test/support/use-world.ts";
import {
  berlin,
  callCart,
  changeCart,
  deliveryOf,
  eur,
  eventsOf,
  expectConflict,
  germanOptions,
  jpy,
  makeCart,
  makeCode,
  maskedBerlin,
  newYork,
  readCart,
  sanFrancisco,
  tokyo,
  usd,
  withoutTrace,
} from "./cart-calls.ts";
import { addressFaults } from "./cart-address-faults.ts";
import { describeBodyFaults, describeCommonRefusals } from "./cart-refusals.ts";

const tokenPattern = /^adt_[0-9a-hjkmnp-tv-z]{26}$/;
const minuteMs = 60_000;

describe.each(["pglite", "postgres"] as const)("setPublicCartAddress on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
  });

  const set = (cartId: string, body: unknown) => callCart(world(), "setPublicCartAddress", { cartId, body });
  const inMs = (ms: number): string => new Date(world().clock.now().getTime() + ms).toISOString();
  const personalData = (cartId: string) =>
    world()
      .database.db.selectFrom("personalData")
      .selectAll()
      .where("cartId", "=", cartId)
      .orderBy("id")
      .execute();

  it("returns a token, the masked address, and the quote for the address", async () => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1, "KIT-EMALJE-WHITE": 2 } });
    const answer = await set(cartId, {
      address: { ...berlin, postalCode: "D-10115", city: " Berlin " },
      expectedVersion: 1,
    });
    expect(answer.status).toBe(200);
    expect(contract.faultsOf("setPublicCartAddress", 200, answer.body)).toEqual([]);
    const end = inMs(30 * minuteMs);
    expect(answer.body).toEqual({
      data: {
        addressToken: expect.stringMatching(tokenPattern),
        cartId,
        cartVersion: 2,
        expiresAt: end,
        address: maskedBerlin,
        validation: { level: "strict", corrected: ["/address/city", "/address/postalCode"] },
        serviceability: { status: "deliverable", undeliverableLineIds: [] },
        quote: {
          // 110.70 includes 19 % tax: 13.56 of 84.90 and 4.12 of 25.80.
          totals: {
            subtotal: eur(11_070),
            discount: eur(0),
            shipping: null,
            tax: eur(1768),
            taxIncluded: true,
            total: eur(11_070),
            estimated: true,
          },
          deliveryOptions: await germanOptions(world()),
          quotedAt: world().clock.now().toISOString(),
          validUntil: end,
        },
      },
    });
    expect(answer.headers).toMatchObject({
      "idempotent-replayed": "false",
      "cache-control": "no-store",
      "x-api-stability": "candidate",
      "content-type": "application/json; charset=utf-8",
    });
    expect(answer.headers["etag"]).toBeUndefined();
  });

  it("adds US tax by region to the quote, and quotes yen without decimals", async () => {
    const quoteAt = async (country: string, address: object) => {
      const { id: cartId } = await makeCart(world(), { country, lines: { "KIT-KVERN": 1 } });
      const { status, body } = await set(cartId, { address });
      expect({ status, faults: contract.faultsOf("setPublicCartAddress", 200, body) }).toEqual({
        status: 200,
        faults: [],
      });
      return {
        masked: body.data.address,
        totals: body.data.quote.totals,
        prices: body.data.quote.deliveryOptions.map(({ price }: { price: unknown }) => price),
      };
    };
    const american = {
      subtotal: usd(8990),
      discount: usd(0),
      shipping: null,
      taxIncluded: false,
      estimated: true,
    };
    expect(await quoteAt("US", sanFrancisco)).toEqual({
      masked: {
        countryCode: "US",
        regionCode: "US-CA",
        city: "San Francisco",
        postalCodePrefix: "94",
        recipientInitials: "A. E.",
        complete: true,
      },
      totals: { ...american, tax: usd(652), total: usd(9642) },
      prices: [usd(795), usd(1995)],
    });
    expect((await quoteAt("US", newYork)).totals).toEqual({ ...american, tax: usd(360), total: usd(9350) });
    expect(await quoteAt("JP", tokyo)).toMatchObject({
      totals: {
        subtotal: jpy(12_800),
        discount: jpy(0),
        shipping: null,
        tax: jpy(1164),
        taxIncluded: true,
        total: jpy(12_800),
        estimated: true,
      },
      prices: [jpy(770), jpy(550)],
    });
  });

  it("changes the country within the cart's market: other tax, and a warning", async () => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    const vienna = { ...berlin, city: "Wien", postalCode: "1010", countryCode: "AT" };
    const { body } = await set(cartId, { address: vienna });
    // 84.90 includes 20 % tax.
    expect(body.data.quote.totals).toMatchObject({ tax: eur(1415), total: eur(8490) });
    expect((await readCart(world(), cartId)).data).toMatchObject({
      market: "AT",
      version: 2,
      warnings: [{ code: "MARKET_CHANGED", lineId: null, data: { before: "DE", now: "AT" } }],
    });
  });

  it("refuses an address outside of the cart's market", async () => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    const answer = await withoutTrace(world(), () => set(cartId, { address: sanFrancisco }));
    expectConflict(answer, {
      code: "address_market_mismatch",
      id: cartId,
      status: "active",
      version: 1,
      data: { market: "DE", countries: ["DE", "AT", "FR", "NL"] },
    });
    expect(contract.faultsOf("setPublicCartAddress", 409, answer.body)).toEqual([]);
  });

  it('accepts an address with faults if "validation" is "basic", and returns that level', async () => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    const { status, body } = await set(cartId, {
      address: { ...berlin, postalCode: "X", city: undefined },
      validation: "basic",
    });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      validation: { level: "basic", corrected: [] },
      address: { city: null, postalCodePrefix: null, complete: false },
    });
  });

  it("accepts an address for an empty cart, without a quote", async () => {
    const { id: cartId } = await makeCart(world());
    const { status, body } = await set(cartId, { address: berlin });
    expect(contract.faultsOf("setPublicCartAddress", 200, body)).toEqual([]);
    expect([status, body.data.quote, body.data.serviceability]).toEqual([
      200,
      null,
      { status: "deliverable", undeliverableLineIds: [] },
    ]);
  });

  it("returns the undeliverable lines: sold-out ones, or all if no delivery method exists", async () => {
    const { db } = world().database;
    const made = await makeCart(world(), { lines: { "KIT-KVERN": 1, "HOM-BIVOKS": 1, "GFT-CARD-25": 1 } });
    const [grinder, wax, card] = made.lines.map(({ id }: { id: string }) => id);
    const levelOf = db.selectFrom("variant").select("id").where("sku", "=", "HOM-BIVOKS");
    const { onHand } = await db
      .selectFrom("stockLevel")
      .select("onHand")
      .where("variantId", "=", levelOf)
      .executeTakeFirstOrThrow();
    await db.updateTable("stockLevel").set({ onHand: 0 }).where("variantId", "=", levelOf).execute();
    const available = await set(made.id, { address: berlin });
    await db.updateTable("stockLevel").set({ onHand }).where("variantId", "=", levelOf).execute();
    expect(available.body.data.serviceability).toEqual({
      status: "partially_deliverable",
      undeliverableLineIds: [wax],
    });
    await db.updateTable("deliveryMethod").set({ active: false }).execute();
    const stuck = await set(made.id, { address: berlin });
    await db.updateTable("deliveryMethod").set({ active: true }).execute();
    // Lines delivered by e-mail stay deliverable.
    expect(stuck.body.data.serviceability).toEqual({
      status: "no_delivery_options",
      undeliverableLineIds: [grinder, wax],
    });
    expect(stuck.body.data.quote.deliveryOptions).toEqual([]);
    expect(card).toMatch(/^cln_/);
  });

  it("quotes no shipping costs for a cart without physical goods", async () => {
    const { id: cartId } = await makeCart(world(), { lines: { "GFT-CARD-25": 2 } });
    const { body } = await set(cartId, { address: berlin });
    expect(body.data).toMatchObject({
      serviceability: { status: "deliverable" },
      quote: {
        deliveryOptions: [],
        totals: { shipping: eur(0), tax: eur(798), total: eur(5000), estimated: false },
      },
    });
  });

  it("recalculates the promotion in the same change", async () => {
    await makeCode(world(), "SHIP-FREE", { kind: "FREE_SHIPPING" });
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    await changeCart(world(), "cartPromotionApply", { cartId, input: { code: "ship-free" } });
    await set(cartId, { address: berlin });
    await changeCart(world(), "cartDeliveryOptionSelect", {
      cartId,
      input: { optionId: await deliveryOf(world(), "express") },
    });
    const { body } = await set(cartId, { address: berlin });
    expect(body.data.quote.totals).toMatchObject({
      shipping: eur(1290),
      discount: eur(1290),
      total: eur(8490),
      estimated: false,
    });
  });

  describe("the token", () => {
    const optionsFor = (addressToken: string) =>
      world().graphql("query ($addressToken: ID!) { deliveryOptions(addressToken: $addressToken) { id } }", {
        variables: { addressToken },
        token: "storefront",
      });

    it("is stored only as a digest", async () => {
      const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
      const { body } = await set(cartId, { address: berlin });
      const row = await world()
        .database.db.selectFrom("cart")
        .selectAll()
        .where("id", "=", cartId)
        .executeTakeFirstOrThrow();
      expect(Buffer.from(row.addressTokenDigest ?? []).toString("hex")).toBe(
        createHash("sha256").update(body.data.addressToken).digest("hex"),
      );
      expect(JSON.stringify(row)).not.toContain(body.data.addressToken);
    });

    it("ends when another address replaces it, and when the cart ends", async () => {
      const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
      const first = (await set(cartId, { address: berlin })).body.data.addressToken;
      expect((await optionsFor(first)).body.data.deliveryOptions).toHaveLength(3);
      const second = (await set(cartId, { address: berlin })).body.data;
      expect(second).toMatchObject({ cartVersion: 3 });
      expect((await optionsFor(first)).body.errors[0].extensions.code).toBe("resource_not_found");
      expect((await optionsFor(second.addressToken)).body.data.deliveryOptions).toHaveLength(3);
      await callCart(world(), "revokePublicCart", { cartId, body: { expectedVersion: 3 } });
      expect((await optionsFor(second.addressToken)).body.errors[0].extensions.code).toBe(
        "resource_not_found",
      );
    });
  });

  describe("the stored address", () => {
    const full = {
      ...berlin,
      company: "Muster GmbH",
      line2: "2. Stock",
      phone: "+49 30 1234567",
      email: "Anna@Example.COM",
    };

    it("is decrypted only with the keyring, and is normalized", async () => {
      const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
      expect((await set(cartId, { address: full })).status).toBe(200);
      const [row, ...others] = await personalData(cartId);
      expect(others).toEqual([]);
      expect(row).toMatchObject({
        kind: "address",
        level: "strict",
        masked: maskedBerlin,
        erasedAt: null,
        buyerReference: null,
      });
      expect(row?.eraseAfter?.getTime()).toBe(world().clock.now().getTime() + 48 * 60 * minuteMs);
      if (row === undefined) return;
      expect(decryptPersonalData(world().app.services.keyring, row)).toEqual({
        kind: "address",
        level: "strict",
        address: {
          ...full,
          line3: null,
          district: null,
          regionCode: null,
          phone: "+49301234567",
          email: "Anna@example.com",
        },
      });
      expect(Buffer.from(row.sealed ?? []).includes("Anna")).toBe(false);
    });

    it("is erased at once if it is replaced, and a day after the cart is revoked", async () => {
      const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
      await set(cartId, { address: full });
      world().clock.advance(1000);
      await set(cartId, { address: berlin });
      const erased = {
        sealed: null,
        dataKey: null,
        keyId: null,
        masked: { countryCode: "DE", city: null, postalCodePrefix: null, recipientInitials: null },
      };
      const [first, second] = await personalData(cartId);
      expect(first).toMatchObject({ ...erased, erasedAt: world().clock.now() });
      expect(second?.sealed).not.toBeNull();
      await callCart(world(), "revokePublicCart", { cartId, body: { expectedVersion: 3 } });
      const stored = async () => (await personalData(cartId))[1];
      world().clock.advance(24 * 60 * minuteMs - 1);
      await erasePersonalDataPastRetention(world().database.db, world().clock.now());
      expect((await stored())?.sealed).not.toBeNull();
      world().clock.advance(1);
      await erasePersonalDataPastRetention(world().database.db, world().clock.now());
      expect(await stored()).toMatchObject({ ...erased, erasedAt: world().clock.now() });
    });

    it("outlives the cart if the buyer saves it; a cart without a buyer refuses to save it", async () => {
      const { id: cartWithoutBuyer } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
      expectError(
        await withoutTrace(world(), () => set(cartWithoutBuyer, { address: berlin, saveForBuyer: true })),
        {
          status: 400,
          code: "invalid_field",
          details: [{ in: "body", field: "/saveForBuyer", code: "buyer_required" }],
        },
      );
      const kept = () =>
        world()
          .database.db.selectFrom("personalData")
          .selectAll()
          .where("buyerReference", "=", "keeper")
          .execute();
      const { id: cartId } = await makeCart(world(), {
        lines: { "KIT-KVERN": 1 },
        input: { buyerReference: "keeper" },
      });
      expect((await set(cartId, { address: berlin })).status).toBe(200);
      expect(await kept()).toEqual([]);
      expect((await set(cartId, { address: berlin, saveForBuyer: true })).status).toBe(200);
      const [row] = await kept();
      expect(row).toMatchObject({ kind: "address", masked: maskedBerlin });
      await callCart(world(), "revokePublicCart", { cartId, body: { expectedVersion: 3 } });
      world().clock.advance(2 * 86_400_000);
      await erasePersonalDataPastRetention(world().database.db, world().clock.now());
      expect((await personalData(cartId)).map(({ sealed }) => sealed)).toEqual([null, null]);
      expect(await kept()).toEqual([row]);
    });
  });

  it("publishes one event with the changed fields", async () => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    const { body } = await set(cartId, { address: berlin });
    const [, event, ...others] = await eventsOf(world(), cartId);
    expect([event?.type, event?.version, others]).toEqual(["cart.address_set", 2, []]);
    expect(Object.keys(event?.snapshot.data.previous as object).toSorted()).toEqual(
      ["address", "addressTokenExpiresAt", "delivery", "lines", "promotion", "totals", "version"].toSorted(),
    );
    expect(event?.snapshot.data.object).toEqual(
      (await callCart(world(), "getPublicCart", { cartId })).body.data,
    );
    expect(JSON.stringify(event)).not.toContain(body.data.addressToken);
  });

  it("refuses a version that is not the cart's current version", async () => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    const answer = await withoutTrace(world(), () => set(cartId, { address: berlin, expectedVersion: 2 }));
    expectConflict(answer, { code: "cart_version_conflict", id: cartId, status: "active", version: 1 });
  });

  describeCommonRefusals("setPublicCartAddress", { world, body: { address: berlin } });

  describeBodyFaults("setPublicCartAddress", { world, faults: addressFaults });
});
