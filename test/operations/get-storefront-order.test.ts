/**
 * getStorefrontOrder: returns an order with every field. It is a masked snapshot with an informative version,
 * for keys of the order's merchant only.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { sql } from "kysely";
import { runInTransaction } from "#database/transaction.ts";
import { made, sent } from "#test/graph/fulfillment-calls.ts";
import { challenge, challengeInvalid, expectError } from "#test/support/expect-error.ts";
import { unknownKey } from "#test/support/keys.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { insertOrder } from "#test/support/orders.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { eur, eventsOf, maskedBerlin, withoutTrace } from "./cart-calls.ts";

const ordersUrl = "/api/v1/open/storefront/orders";

describe.each(["pglite", "postgres"] as const)("getStorefrontOrder on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
  });

  const read = (orderId: string, key?: Parameters<ReturnType<typeof world>["getWithKey"]>[1]) =>
    world().getWithKey(`${ordersUrl}/${orderId}`, key);
  const image = {
    url: expect.stringMatching(/^https:\/\/api\.test\/media\/demo\/\S+\.svg$/),
    alt: expect.any(String),
    width: 800,
    height: 800,
  };
  const policy = (type: string, placedAt: string): unknown => ({
    id: expect.stringMatching(/^pol_[0-9a-hjkmnp-tv-z]{26}$/),
    type,
    summary: `How it is with ${type}.`,
    capturedAt: placedAt,
  });

  it("returns every field of a partly shipped order, exact to the cent", async () => {
    const order = await insertOrder(world(), { buyer: "anna-17", email: "anna@example.com" });
    const placedAt = world().clock.now().toISOString();
    const [[grinder, mugs], [payment]] = [order.lines, order.payments];
    await runInTransaction(world().database.db, async (transaction) => {
      const promotions = [
        {
          promotionId: "prm_x",
          trigger: "code",
          code: "TEN",
          titles: { en: "Ten", de: "Zehn" },
          discountMinor: 0,
          allocations: [],
        },
      ];
      await sql`update sales_order set promotions = ${JSON.stringify(promotions)}::jsonb, version = 2
        where id = ${order.id}`.execute(transaction);
      await sql`insert into warranty_registration (id, order_id, order_line_id, merchant_id, starts_at,
        ends_at, repairs_left, replacements_left, created_at, updated_at)
        values ('wty_1', ${order.id}, ${grinder?.id}, ${order.merchant.id}, ${placedAt},
        '2028-11-30T23:00:00Z', 2, 1, ${placedAt}, ${placedAt})`.execute(transaction);
    });
    world().clock.advance(60_000);
    const [sentAt, arrivesAt] = [0, 3].map((days) =>
      new Date(world().clock.now().getTime() + days * 86_400_000).toISOString(),
    );
    const { id: fulfillmentId } = await sent(world(), "fulfillmentCreate", {
      id: order.id,
      input: { lines: [{ lineId: mugs?.id, quantity: 1 }] },
    });
    await made(world(), fulfillmentId, ["pack"]);
    const tracking = { number: "00340434161094042557", url: "https://track.example/00340434161094042557" };
    await sent(world(), "fulfillmentShip", {
      id: fulfillmentId,
      input: { tracking, estimatedDeliveryAt: arrivesAt },
    });

    const answer = await withoutTrace(world(), () => read(order.id));
    expect(answer.status).toBe(200);
    expect(contract.faultsOf("getStorefrontOrder", 200, answer.body)).toEqual([]);
    const noUnits = { canceled: 0, shipped: 0, delivered: 0, returnRequested: 0, returned: 0, refunded: 0 };
    // 84.90 + 2 × 12.90 = 110.70, and 4.90 for shipping. The prices include 19 % tax: 13.56, 4.12 and 0.78.
    expect(answer.body).toEqual({
      data: {
        id: order.id,
        number: order.number,
        version: 5,
        status: "confirmed",
        paymentStatus: "paid",
        fulfillmentStatus: "partially_shipped",
        returnStatus: "none",
        merchant: { ...world().demo.merchants.first, name: "Lindenhof" },
        market: "DE",
        currency: "EUR",
        locale: "de",
        lines: [
          {
            id: grinder?.id,
            productId: grinder?.productId,
            variantId: grinder?.variantId,
            productSlug: "handkaffeemuehle-kvern",
            sku: "KIT-KVERN",
            title: "Handkaffeemühle Kvern",
            variantTitle: null,
            image,
            unitPrice: eur(8490),
            quantities: {
              ordered: 1,
              allocated: 1,
              ...noUnits,
            },
            subtotal: eur(8490),
            discount: eur(0),
            tax: eur(1356),
            total: eur(8490),
            refundable: eur(8490),
            restrictions: [],
            warranty: {
              id: "wty_1",
              endsAt: "2028-11-30T23:00:00.000Z",
            },
          },
          {
            id: mugs?.id,
            productId: mugs?.productId,
            variantId: mugs?.variantId,
            productSlug: "emaille-becher-emalje",
            sku: "KIT-EMALJE-WHITE",
            title: "Emaille-Becher Emalje",
            variantTitle: "Weiß",
            image,
            unitPrice: eur(1290),
            quantities: {
              ordered: 2,
              allocated: 2,
              ...noUnits,
              shipped: 1,
            },
            subtotal: eur(2580),
            discount: eur(0),
            tax: eur(412),
            total: eur(2580),
            refundable: eur(2580),
            restrictions: [],
            warranty: null,
          },
        ],
        totals: {
          subtotal: eur(11070),
          discount: eur(0),
          shipping: eur(490),
          tax: eur(1846),
          taxIncluded: true,
          total: eur(11560),
          estimated: false,
          refunded: eur(0),
          outstanding: eur(0),
        },
        promotions: [{ code: "TEN", title: "Zehn", discount: eur(0) }],
        fulfillments: [
          {
            id: fulfillmentId,
            status: "shipped",
            type: "shipping",
            lines: [
              {
                lineId: mugs?.id,
                quantity: 1,
              },
            ],
            carrier: "DHL",
            trackingNumber: tracking.number,
            trackingUrl: tracking.url,
            shippedAt: sentAt,
            estimatedDeliveryAt: arrivesAt,
            deliveredAt: null,
          },
        ],
        payments: [
          {
            id: payment?.id,
            status: "captured",
            methodType: "card",
            amount: eur(11560),
            capturedAmount: eur(11560),
            refundedAmount: eur(0),
            createdAt: placedAt,
          },
        ],
        refunds: [],
        returns: [],
        buyer: {
          reference: expect.stringMatching(/^byr_[0-9a-f]{26}$/),
          guest: false,
          emailHint: "a•••@e•••.com",
        },
        deliveryAddress: maskedBerlin,
        policies: ["cancellation", "return", "warranty", "withdrawal"].map((type) => policy(type, placedAt)),
        cartId: order.cartId,
        checkoutSessionId: order.sessionId,
        cancellation: null,
        timeline: [
          { at: placedAt, type: "order_placed", actor: "system" },
          ...["created", "packed", "shipped"].map((type) => ({
            at: sentAt,
            type: `fulfillment_${type}`,
            actor: "merchant",
          })),
        ],
        links: {
          cancellationEligibility: `https://api.test${ordersUrl}/${order.id}/cancellation-eligibility`,
          afterSalesEligibility: `https://api.test${ordersUrl}/${order.id}/after-sales-eligibility`,
        },
        placedAt,
        updatedAt: sentAt,
      },
    });
    expect(answer.text).not.toMatch(/\banna|Beispiel|Musterweg|\b10115\b|example\.com"/i);
    expect(answer.headers).toMatchObject({
      etag: '"v5"',
      "cache-control": "no-store",
      vary: "Authorization",
      "x-api-stability": "candidate",
      "content-type": "application/json; charset=utf-8",
    });
    // Events contain the order in the same form as REST.
    const events = await eventsOf(world(), order.id);
    expect(events.at(-1)?.snapshot).toMatchObject({
      type: "order.updated",
      subject: { type: "order", id: order.id, version: 5 },
    });
    expect(events.at(-1)?.snapshot.data.object).toEqual(answer.body.data);
  });

  it("returns a guest's order with an uncaptured payment, and a canceled order", async () => {
    const guest = await insertOrder(world(), { buyer: null, payment: "authorized", status: "pending" });
    const { body } = await read(guest.id);
    expect(contract.faultsOf("getStorefrontOrder", 200, body)).toEqual([]);
    expect(body.data).toMatchObject({
      status: "pending",
      paymentStatus: "authorized",
      buyer: {
        reference: expect.stringMatching(/^byr_/),
        guest: true,
        emailHint: null,
      },
      lines: [{ refundable: eur(0) }, { refundable: eur(0) }],
      totals: {
        refunded: eur(0),
        outstanding: eur(11560),
      },
      payments: [
        {
          status: "authorized",
          capturedAmount: eur(0),
        },
      ],
    });
    const canceled = await read((await insertOrder(world(), { status: "canceled", payment: "none" })).id);
    expect(contract.faultsOf("getStorefrontOrder", 200, canceled.body)).toEqual([]);
    expect(canceled.body.data).toMatchObject({
      status: "canceled",
      cancellation: { reason: "other", actor: "merchant" },
      payments: [],
    });
  });

  it("returns sold lines unchanged after the product is unpublished and deleted", async () => {
    const order = await insertOrder(world(), { lines: { "HOM-BIVOKS": 1 } });
    const before = (await read(order.id)).body;
    const [line] = order.lines;
    for (const field of ["productUnpublish", "productDelete"]) {
      const { body } = await world().graphql(
        `mutation { ${field}(input: { productId: "${line?.productId}" }) { __typename } }`,
      );
      expect(body.errors).toBeUndefined();
    }
    expect((await read(order.id)).body).toEqual(before);
  });

  it("returns the newest 50 timeline entries", async () => {
    const { id } = await insertOrder(world());
    await sql`insert into order_timeline (order_id, at, type, actor)
      select ${id}, ${world().clock.now()}, 'order_on_hold_' || n, 'merchant'
      from generate_series(1, 60) n`.execute(world().database.db);
    const { timeline } = (await read(id)).body.data;
    expect([timeline.length, timeline[0].type, timeline.at(-1).type]).toEqual([
      50,
      "order_on_hold_11",
      "order_on_hold_60",
    ]);
  });

  it("runs two statements, the credential and the order, for any number of lines", async () => {
    const [small, large] = [
      await insertOrder(world(), { lines: { "KIT-KVERN": 1 } }),
      await insertOrder(world(), {
        lines: { "KIT-KVERN": 1, "KIT-EMALJE-WHITE": 1, "KIT-BRETT-SMALL": 1 },
        deliveredAt: world().clock.now(),
      }),
    ];
    expect(await statementsOf(world(), () => read(small.id))).toHaveLength(2);
    expect(await statementsOf(world(), () => read(large.id))).toHaveLength(2);
  });

  it("refuses missing credentials, a wrong key and keys without catalog:read", async () => {
    const { id } = await insertOrder(world());
    const url = `${ordersUrl}/${id}`;
    expectError(await withoutTrace(world(), () => world().get(url)), {
      status: 401,
      code: "credentials_missing",
      headers: { "www-authenticate": challenge },
    });
    const wrong = await withoutTrace(world(), () =>
      world().get(url, { authorization: `Bearer ${unknownKey()}` }),
    );
    expectError(wrong, {
      status: 401,
      code: "api_key_invalid",
      headers: { "www-authenticate": challengeInvalid },
    });
    for (const key of ["noScope", "checkoutQuote", "webhooksRead", "webhooksWrite"] as const)
      expectError(await withoutTrace(world(), () => read(id, key)), {
        status: 403,
        code: "scope_missing",
        details: [{ in: "header", field: "Authorization", code: "scope_missing", allowed: ["catalog:read"] }],
      });
    expect((await read(id, "catalogRead")).status).toBe(200);
  });

  it("answers 404 for foreign, missing and malformed order ids", async () => {
    const { id } = await insertOrder(world());
    expectError(await withoutTrace(world(), () => read(id, "otherMerchant")), {
      status: 404,
      code: "order_not_found",
    });
    const ids = [
      "ord_00000000000000000000000000",
      id.toUpperCase(),
      id.slice(0, -1),
      id.replace("ord_", "cart_"),
      "1",
      "%00",
      "%ED%A0%80",
      "..%2f..",
      "x".repeat(400),
    ];
    for (const orderId of ids) {
      const answer = await withoutTrace(world(), () => read(orderId));
      expect([orderId, answer.status, answer.body.error.conflict]).toEqual([orderId, 404, null]);
      expect(["order_not_found", "route_not_found"]).toContain(answer.body.error.code);
    }
  });

  it("refuses parameters, a body and other methods", async () => {
    const { id } = await insertOrder(world());
    const headers = { authorization: `Bearer ${world().demo.keys.full}` };
    expectError(await world().getWithKey(`${ordersUrl}/${id}?expand=lines`), {
      status: 400,
      code: "unknown_parameter",
      details: [{ in: "query", field: "expand", code: "unknown" }],
    });
    expectError(await world().send({ method: "GET", url: `${ordersUrl}/${id}`, headers, body: "{}" }), {
      status: 400,
      code: "unexpected_body",
      details: [{ in: "body", field: "", code: "body_not_allowed" }],
    });
    expectError(await world().send({ method: "DELETE", url: `${ordersUrl}/${id}`, headers }), {
      status: 405,
      code: "method_not_allowed",
    });
    expect(await world().send({ method: "HEAD", url: `${ordersUrl}/${id}`, headers })).toMatchObject({
      status: 200,
      text: "",
      headers: { etag: '"v1"' },
    });
  });
});
