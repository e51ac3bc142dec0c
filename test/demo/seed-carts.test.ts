/**
 * The carts and promotion codes of demo.json have the states that their names state, as seen by a client of
 * the service.
 */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { decryptPersonalData } from "#commerce/addresses/personal-data.ts";
import { findDemoAddress } from "#demo/carts/price-carts.ts";
import { loadDemoSales } from "#demo/demo-data.ts";
import { demoCartNames, type DemoJsonFileContent } from "#demo/demo-file.ts";
import { orderScenarios } from "#demo/orders/order-scenarios.ts";
import { findPromotionRuleFaults, emptyPromotionValues } from "#commerce/promotions/promotion-fields.ts";
import { isIdOfKind } from "#foundation/ids.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";

const dayMs = 86_400_000;

it.each(loadDemoSales().promotions)('the promotion "$titles.en" is valid', ({ kind, values, titles }) => {
  expect(findPromotionRuleFaults(kind, { ...emptyPromotionValues, ...values })).toEqual([]);
  expect(Object.keys(titles)).toEqual(["en", "de", "ja"]);
});

describe.each(["pglite", "postgres"] as const)("the demo's carts on %s", (engine) => {
  const world = useWorld(engine);
  const createCartPath = (cartId: string): string => `/api/v1/open/storefront/carts/${cartId}`;
  // eslint-disable-next-line typescript/no-explicit-any -- An answer of any shape.
  const read = async (cartId: string, key: keyof DemoJsonFileContent["keys"] = "full"): Promise<any> => {
    const { status, body } = await world().getWithKey(createCartPath(cartId), key);
    expect(status).toBe(200);
    return body.data;
  };
  const readNamedCart = (
    name: keyof DemoJsonFileContent["carts"],
  ): Promise<Awaited<ReturnType<typeof read>>> =>
    read(world().demo.carts[name], name === "otherMerchant" ? "otherMerchant" : "full");
  const readCartInCountry = async (country: string): Promise<Awaited<ReturnType<typeof read>>> => {
    const { id } = await world()
      .database.db.selectFrom("cart")
      .select("id")
      .where("country", "=", country)
      .where("status", "=", "active")
      .executeTakeFirstOrThrow();
    return read(id);
  };
  const applyCode = (cartId: string, code: string): Promise<Answer> =>
    world().send({
      method: "PUT",
      url: `${createCartPath(cartId)}/promotion`,
      headers: { authorization: `Bearer ${world().demo.keys.full}`, "idempotency-key": randomUUID() },
      body: { code },
    });
  const eur = (amountMinor: number): unknown => ({ amountMinor, currency: "EUR", exponent: 2 });

  it("are in demo.json by name, with different ids", () => {
    const { carts, promotionCodes } = world().demo;
    expect(Object.keys(carts)).toEqual([...demoCartNames]);
    expect(new Set(Object.values(carts)).size).toBe(demoCartNames.length);
    expect(Object.values(carts).filter((id) => !isIdOfKind("cart", id))).toEqual([]);
    expect(Object.keys(promotionCodes)).toEqual([
      "percentage",
      "fixedAmount",
      "freeShipping",
      "minimumSubtotal",
      "ended",
      "exhausted",
      "otherMerchant",
    ]);
  });

  it("have the defined lines, all for sale, without warnings", async () => {
    const { db } = world().database;
    const lines = await db
      .selectFrom("cartLine")
      .innerJoin("variant", "variant.id", "cartLine.variantId")
      .select(["variant.sku", "cartLine.quantity"])
      .execute();
    const expected = [...loadDemoSales().carts, ...orderScenarios].flatMap((entry) =>
      entry.lines.map(([sku, quantity]) => `${sku} ${quantity}`),
    );
    expect(lines.map(({ sku, quantity }) => `${sku} ${quantity}`).toSorted()).toEqual(expected.toSorted());
    const carts = await db.selectFrom("cart").select("warnings").execute();
    expect(carts.filter(({ warnings }) => JSON.stringify(warnings) !== "[]")).toEqual([]);
    for (const name of ["active", "activeSecond", "locked"] as const) {
      for (const line of (await readNamedCart(name)).lines) expect(line.availability).toBe("in_stock");
    }
  });

  it.each(["active", "activeSecond"] as const)(
    "%s: in market DE with two lines, without promotion, address and delivery",
    async (name) => {
      const cart = await readNamedCart(name);
      expect(cart).toMatchObject({
        status: "active",
        merchant: world().demo.merchants.first,
        market: "DE",
        currency: "EUR",
        promotion: { state: "none", promotion: null, automatic: [] },
        address: null,
        delivery: null,
        checkout: null,
        totals: { shipping: null, tax: null, discount: eur(0), taxIncluded: true, estimated: true },
      });
      expect(cart.lines).toHaveLength(2);
      expect(cart.totals.total).toEqual(cart.totals.subtotal);
      expect(cart.totals.subtotal.amountMinor).toBeGreaterThan(5000);
    },
  );

  it("empty, otherMerchant: without lines, and of the second merchant", async () => {
    expect(await readNamedCart("empty")).toMatchObject({
      status: "active",
      market: "DE",
      lines: [],
      totals: { total: eur(0) },
    });
    expect(await readNamedCart("otherMerchant")).toMatchObject({
      status: "active",
      merchant: world().demo.merchants.second,
    });
    expect((await world().getWithKey(createCartPath(world().demo.carts.otherMerchant))).status).toBe(404);
  });

  it("locked: by an open session with the longest remaining lifetime", async () => {
    const { demo, clock, database } = world();
    const cart = await readNamedCart("locked");
    expect(cart).toMatchObject({
      status: "locked",
      address: { countryCode: "DE", city: "Berlin" },
      totals: { estimated: false },
    });
    expect(cart.checkout).toEqual({ sessionId: demo.sessions.open, status: "open" });
    expect(cart.delivery.selectedOptionId).toBe(cart.delivery.options[0].id);
    const session = await database.db
      .selectFrom("hostedCheckoutSession")
      .select("expiresAt")
      .where("cartId", "=", demo.carts.locked)
      .executeTakeFirstOrThrow();
    expect(session.expiresAt.getTime() - clock.now().getTime()).toBe(dayMs);
    const { status, body } = await applyCode(demo.carts.locked, demo.promotionCodes.percentage);
    expect([status, body.error.code]).toEqual([409, "cart_locked"]);
  });

  it("completed: by a session, with the order's id and the paid amounts, without address", async () => {
    const cart = await readNamedCart("completed");
    expect(cart).toMatchObject({
      status: "completed",
      checkout: { sessionId: world().demo.sessions.completed, status: "completed" },
      orderId: world().demo.orders.delivered,
      address: null,
      delivery: null,
      totals: { estimated: false },
    });
    expect(cart.promotion).toMatchObject({
      state: "applied",
      promotion: { code: world().demo.promotionCodes.exhausted },
    });
  });

  it("revoked, expired, merged: with the values of their status", async () => {
    const { clock, database, demo } = world();
    const revoked = await readNamedCart("revoked");
    expect(revoked).toMatchObject({
      status: "revoked",
      revocation: { reason: "buyer_request", at: revoked.updatedAt },
    });
    const expired = await readNamedCart("expired");
    expect(expired.status).toBe("expired");
    expect(Date.parse(expired.expiresAt)).toBe(clock.now().getTime() - dayMs);
    expect((await readNamedCart("merged")).status).toBe("merged");
    const { mergedIntoCartId } = await database.db
      .selectFrom("cart")
      .select("mergedIntoCartId")
      .where("id", "=", demo.carts.merged)
      .executeTakeFirstOrThrow();
    expect(Object.values(demo.carts)).not.toContain(mergedIntoCartId);
    const [line] = (await readNamedCart("merged")).lines;
    const into = await read(mergedIntoCartId ?? "");
    expect(into.status).toBe("active");
    expect(into.lines.map(({ variantId }: { variantId: string }) => variantId)).toContain(line.variantId);
  });

  it("adds shipping, regional tax, and a code after an automatic promotion to the American cart", async () => {
    const cart = await readCartInCountry("US");
    const usd = (amountMinor: number): unknown => ({ amountMinor, currency: "USD", exponent: 2 });
    expect(cart).toMatchObject({
      status: "active",
      market: "US",
      currency: "USD",
      address: { regionCode: "US-NY" },
    });
    expect(cart.totals).toEqual({
      subtotal: usd(12_470),
      discount: usd(1808),
      shipping: usd(795),
      tax: usd(459),
      taxIncluded: false,
      total: usd(11_916),
      estimated: false,
    });
    expect(cart.promotion).toMatchObject({
      state: "applied",
      discount: usd(1185),
      promotion: { code: world().demo.promotionCodes.percentage },
    });
    expect(cart.promotion.automatic).toMatchObject([{ discount: usd(623) }]);
  });

  it("limits the automatic promotion to the American market", async () => {
    const { rows } = await sql`
      select array(select country from market_country c where c.market_id = any(p.market_ids)) as countries
      from promotion p where trigger = 'automatic'`.execute(world().database.db);
    expect(rows).toEqual([{ countries: ["US"] }]);
  });

  it("has amounts without minor units and free shipping in the Japanese cart", async () => {
    const cart = await readCartInCountry("JP");
    const jpy = (amountMinor: number): unknown => ({ amountMinor, currency: "JPY", exponent: 0 });
    expect(cart).toMatchObject({ market: "JP", locale: "ja", address: { regionCode: "JP-13" } });
    expect(cart.totals).toMatchObject({
      subtotal: jpy(19_860),
      shipping: jpy(770),
      discount: jpy(770),
      total: jpy(19_860),
      taxIncluded: true,
    });
    expect(cart.promotion).toMatchObject({
      state: "applied",
      discount: jpy(770),
      allocations: [{ target: "shipping", lineId: null }],
    });
  });

  it("keep addresses encrypted with the service's keys", async () => {
    const { app, database } = world();
    const rows = await database.db
      .selectFrom("personalData")
      .selectAll()
      .where("kind", "=", "address")
      .execute();
    const opened = rows.map((row) => decryptPersonalData(app.services.keyring, row));
    const lines = opened.map((data) => (data?.kind === "address" ? data.address.line1 : ""));
    expect(new Set(lines)).toEqual(
      new Set(["DE", "JP", "US"].map((country) => findDemoAddress(country)?.line1 ?? "none")),
    );
    expect(JSON.stringify(rows)).not.toContain("Invalidenstraße");
  });

  it("counts the single use of the exhausted code", async () => {
    const { db } = world().database;
    const promotions = await db
      .selectFrom("promotion")
      .select(["id", "used", "usageLimit"])
      .where("used", ">", 0)
      .execute();
    const uses = await db
      .selectFrom("promotionUse")
      .select(["promotionId", "redeemedAt", "givenBackAt", "orderId"])
      .execute();
    expect(promotions).toMatchObject([{ used: 1, usageLimit: 1 }]);
    expect(uses).toMatchObject([
      {
        promotionId: promotions[0]?.id,
        givenBackAt: null,
        orderId: (await readNamedCart("completed")).orderId,
      },
    ]);
  });

  describe.each(["active", "activeSecond"] as const)("%s", (name) => {
    it.each([
      ["ended", 409, "promotion_not_applicable", "ended"],
      ["exhausted", 409, "promotion_not_applicable", "usage_limit_reached"],
      ["otherMerchant", 404, "promotion_code_not_found", undefined],
    ] as const)("is refused the code %s with %d %s", async (code, status, failure, reason) => {
      const { demo } = world();
      const before = await readNamedCart(name);
      const answer = await applyCode(demo.carts[name], demo.promotionCodes[code]);
      expect([answer.status, answer.body.error.code, answer.body.error.conflict?.reason]).toEqual([
        status,
        failure,
        reason,
      ]);
      expect(await readNamedCart(name)).toEqual(before);
    });

    it("is refused the code minimumSubtotal with the missing amount", async () => {
      const { demo } = world();
      const { subtotal } = (await readNamedCart(name)).totals;
      const { status, body } = await applyCode(demo.carts[name], demo.promotionCodes.minimumSubtotal);
      expect([status, body.error.conflict.reason]).toEqual([409, "minimum_subtotal_not_met"]);
      expect(body.error.conflict.data).toEqual({
        requiredAmount: eur(50_000),
        missingAmount: eur(50_000 - subtotal.amountMinor),
      });
    });

    it("accepts the codes percentage, fixedAmount and freeShipping in turn", async () => {
      const { demo } = world();
      const discounts = [];
      for (const code of ["percentage", "fixedAmount", "freeShipping"] as const) {
        const { status, body } = await applyCode(demo.carts[name], demo.promotionCodes[code]);
        expect([status, body.data.state, body.data.promotion.code]).toEqual([
          200,
          "applied",
          demo.promotionCodes[code],
        ]);
        discounts.push(body.data.discount.amountMinor);
      }
      const { subtotal } = (await readNamedCart(name)).totals;
      // Free shipping gives no discount, because the cart has no delivery method yet.
      expect(discounts).toEqual([subtotal.amountMinor / 10, 500, 0]);
    });
  });
});
