/**
 * getPublicCart: returns every field of a cart in three currencies, masks personal data, sends the version as
 * an informative ETag, and answers for ended carts.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { expectError } from "#test/support/expect-error.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import {
  berlin,
  callCart,
  cartsUrl,
  changeCart,
  deliveryOf,
  eur,
  germanOptions,
  jpy,
  makeCart,
  makeCode,
  makePromotion,
  maskedBerlin,
  movePromotion,
  newYork,
  sanFrancisco,
  tokyo,
  usd,
  variantOf,
  withoutTrace,
} from "./cart-calls.ts";
import { describeCommonRefusals } from "./cart-refusals.ts";

describe.each(["pglite", "postgres"] as const)("getPublicCart on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
  });

  const read = (cartId: string) => callCart(world(), "getPublicCart", { cartId });
  const image = {
    url: expect.stringMatching(/^https:\/\/api\.test\/media\/demo\/\S+\.svg$/),
    alt: expect.any(String),
    width: 800,
    height: 800,
  };

  it("returns every field of a complete cart, exact to the cent", async () => {
    const promotionId = await makeCode(world(), "Ten-Off", {
      startsAt: "2026-01-01T00:00:00Z",
      endsAt: "2999-01-01T00:00:00Z",
    });
    const automaticId = await makePromotion(world(), {
      kind: "FIXED_AMOUNT",
      amountMinor: 500,
      currency: "EUR",
      minimumSubtotalMinor: 10_000,
      titles: [
        { locale: "en", text: "Five off" },
        { locale: "de", text: "Fünf weniger" },
      ],
    });
    const made = await makeCart(world(), { lines: { "KIT-KVERN": 1, "KIT-EMALJE-WHITE": 2 } });
    const { id: cartId, lines } = made;
    const [grinder, mugs] = lines.map(({ id }: { id: string }) => id);
    await changeCart(world(), "cartAddressSet", { cartId, input: { address: berlin } });
    const standard = await deliveryOf(world(), "standard");
    await changeCart(world(), "cartDeliveryOptionSelect", { cartId, input: { optionId: standard } });
    await changeCart(world(), "cartPromotionApply", { cartId, input: { code: "ten-off" } });
    await movePromotion(world(), "promotionPause", automaticId);

    const answer = await withoutTrace(world(), () => read(cartId));
    expect(answer.status).toBe(200);
    expect(contract.faultsOf("getPublicCart", 200, answer.body)).toEqual([]);
    const now = world().clock.now();
    // 84.90 + 2 × 12.90 = 110.70. The automatic 5.00 is split 3.83 and 1.17. Ten percent of the rest is 8.11
    // and 2.46. The prices include 19 % tax: 11.65 of 72.96, 3.54 of 22.17, and 0.78 of 4.90 for shipping.
    const totals = {
      subtotal: eur(11_070),
      discount: eur(1557),
      shipping: eur(490),
      tax: eur(1597),
      taxIncluded: true,
      total: eur(10_003),
      estimated: false,
    };
    expect(answer.body).toEqual({
      data: {
        id: cartId,
        version: 4,
        status: "active",
        merchant: { ...world().demo.merchants.first, name: "Lindenhof" },
        market: "DE",
        currency: "EUR",
        locale: "de",
        lines: [
          {
            id: grinder,
            position: 0,
            productId: expect.stringMatching(/^prd_[0-9a-hjkmnp-tv-z]{26}$/),
            variantId: await variantOf(world(), "KIT-KVERN"),
            productSlug: "handkaffeemuehle-kvern",
            sku: "KIT-KVERN",
            title: "Handkaffeemühle Kvern",
            variantTitle: null,
            image,
            quantity: 1,
            unitPrice: eur(8490),
            compareAtUnitPrice: eur(9990),
            subtotal: eur(8490),
            discount: eur(1194),
            tax: eur(1165),
            total: eur(7296),
            discountAllocations: [
              { source: "automatic", promotionId: automaticId, amount: eur(383) },
              { source: "code", promotionId, amount: eur(811) },
            ],
            availability: "in_stock",
            availableQuantity: expect.any(Number),
            requiresShipping: true,
            restrictions: [],
          },
          {
            id: mugs,
            position: 1,
            productId: expect.stringMatching(/^prd_[0-9a-hjkmnp-tv-z]{26}$/),
            variantId: await variantOf(world(), "KIT-EMALJE-WHITE"),
            productSlug: "emaille-becher-emalje",
            sku: "KIT-EMALJE-WHITE",
            title: "Emaille-Becher Emalje",
            variantTitle: expect.any(String),
            image,
            quantity: 2,
            unitPrice: eur(1290),
            compareAtUnitPrice: null,
            subtotal: eur(2580),
            discount: eur(363),
            tax: eur(354),
            total: eur(2217),
            discountAllocations: [
              { source: "automatic", promotionId: automaticId, amount: eur(117) },
              { source: "code", promotionId, amount: eur(246) },
            ],
            availability: "in_stock",
            availableQuantity: expect.any(Number),
            requiresShipping: true,
            restrictions: [],
          },
        ],
        totalQuantity: 3,
        totals,
        promotion: {
          cartId,
          cartVersion: 4,
          state: "applied",
          suspendedReason: null,
          promotion: {
            id: promotionId,
            code: "Ten-Off",
            title: "A deal",
            kind: "percentage",
            value: { basisPoints: 1000, amount: null },
            startsAt: "2026-01-01T00:00:00.000Z",
            endsAt: "2999-01-01T00:00:00.000Z",
            combinesWithAutomatic: true,
          },
          automatic: [{ id: automaticId, title: "Fünf weniger", discount: eur(500) }],
          discount: eur(1057),
          allocations: [
            { target: "line", lineId: grinder, promotionId, amount: eur(811) },
            { target: "line", lineId: mugs, promotionId, amount: eur(246) },
          ],
          replaced: null,
          totals,
        },
        address: maskedBerlin,
        addressTokenExpiresAt: new Date(now.getTime() + 30 * 60_000).toISOString(),
        delivery: {
          selectedOptionId: standard,
          options: await germanOptions(world()),
        },
        checkout: null,
        orderId: null,
        warnings: [],
        revocation: null,
        createdAt: now.toISOString(),
        updatedAt: now.toISOString(),
        expiresAt: new Date(now.getTime() + 30 * 86_400_000).toISOString(),
      },
    });
    expect(answer.headers).toMatchObject({
      etag: '"v4"',
      "cache-control": "no-store",
      vary: "Authorization",
      "x-api-stability": "candidate",
      "content-type": "application/json; charset=utf-8",
    });
    expect(answer.headers["idempotent-replayed"]).toBeUndefined();
  });

  it("adds regional tax to net prices: New York taxes the shipping too, California does not", async () => {
    const totalsAt = async (address: object) => {
      const { id: cartId } = await makeCart(world(), { country: "US", lines: { "KIT-KVERN": 1 } });
      await changeCart(world(), "cartAddressSet", { cartId, input: { address } });
      await changeCart(world(), "cartDeliveryOptionSelect", {
        cartId,
        input: { optionId: await deliveryOf(world(), "ground") },
      });
      const answer = await read(cartId);
      expect(contract.faultsOf("getPublicCart", 200, answer.body)).toEqual([]);
      const [line] = answer.body.data.lines;
      return { ...answer.body.data.totals, line: [line.tax, line.total] };
    };
    const known = {
      subtotal: usd(8990),
      discount: usd(0),
      shipping: usd(795),
      taxIncluded: false,
      estimated: false,
    };
    // 7.25 % of 89.90 is 6.52. 4 % of 89.90 is 3.60, and of 7.95 0.32. Oregon has no rate.
    expect(await totalsAt(sanFrancisco)).toEqual({
      ...known,
      tax: usd(652),
      total: usd(10_437),
      line: [usd(652), usd(9642)],
    });
    expect(await totalsAt(newYork)).toEqual({
      ...known,
      tax: usd(392),
      total: usd(10_177),
      line: [usd(360), usd(9350)],
    });
    const portland = { ...sanFrancisco, city: "Portland", regionCode: "US-OR", postalCode: "97201" };
    expect(await totalsAt(portland)).toEqual({
      ...known,
      tax: usd(0),
      total: usd(9785),
      line: [usd(0), usd(8990)],
    });
  });

  it("returns yen without decimals and Japanese texts", async () => {
    const { id: cartId } = await makeCart(world(), { country: "JP", lines: { "KIT-KVERN": 2 } });
    await changeCart(world(), "cartAddressSet", { cartId, input: { address: tokyo } });
    await changeCart(world(), "cartDeliveryOptionSelect", {
      cartId,
      input: { optionId: await deliveryOf(world(), "konbini") },
    });
    const { body } = await read(cartId);
    expect(contract.faultsOf("getPublicCart", 200, body)).toEqual([]);
    // The prices include 10 % tax, one eleventh of each amount: ¥2,327 of ¥25,600 and ¥50 of ¥550.
    expect(body.data).toMatchObject({
      market: "JP",
      currency: "JPY",
      locale: "ja",
      lines: [
        {
          title: "手挽きコーヒーミル クヴァルン",
          unitPrice: jpy(12_800),
          compareAtUnitPrice: jpy(15_400),
          tax: jpy(2327),
        },
      ],
      totals: {
        subtotal: jpy(25_600),
        discount: jpy(0),
        shipping: jpy(550),
        tax: jpy(2377),
        taxIncluded: true,
        total: jpy(26_150),
        estimated: false,
      },
      address: { countryCode: "JP", regionCode: "JP-13", postalCodePrefix: "100", complete: true },
      // Home delivery is free from ¥22,000.
      delivery: {
        options: [
          { name: "宅配便", price: jpy(0) },
          { name: "コンビニ受け取り", price: jpy(550) },
        ],
      },
    });
  });

  it("returns an empty cart with null for every unknown value", async () => {
    const { id: cartId } = await makeCart(world());
    const { body, headers } = await read(cartId);
    expect(contract.faultsOf("getPublicCart", 200, body)).toEqual([]);
    const totals = {
      subtotal: eur(0),
      discount: eur(0),
      shipping: null,
      tax: null,
      taxIncluded: true,
      total: eur(0),
      estimated: true,
    };
    expect(body.data).toMatchObject({
      version: 1,
      lines: [],
      totalQuantity: 0,
      totals,
      promotion: {
        state: "none",
        suspendedReason: null,
        promotion: null,
        automatic: [],
        discount: eur(0),
        allocations: [],
        replaced: null,
        totals,
      },
      address: null,
      addressTokenExpiresAt: null,
      delivery: null,
      checkout: null,
      orderId: null,
      warnings: [],
      revocation: null,
    });
    expect(headers["etag"]).toBe('"v1"');
  });

  it("runs two statements, the credential and the cart, for any number of lines", async () => {
    const [small, large] = [
      await makeCart(world(), { lines: { "KIT-KVERN": 1 } }),
      await makeCart(world(), {
        lines: {
          "KIT-KVERN": 1,
          "KIT-EMALJE-WHITE": 1,
          "KIT-BRETT-SMALL": 1,
          "HOM-BIVOKS": 1,
          "GFT-CARD-25": 1,
        },
      }),
    ];
    expect(await statementsOf(world(), () => read(small.id))).toHaveLength(2);
    expect(await statementsOf(world(), () => read(large.id))).toHaveLength(2);
  });

  it("refuses a body", async () => {
    const { id: cartId } = await makeCart(world());
    expectError(await callCart(world(), "getPublicCart", { cartId, body: "{}" }), {
      status: 400,
      code: "unexpected_body",
      details: [{ in: "body", field: "", code: "body_not_allowed" }],
    });
  });

  it("ignores an Idempotency-Key, and answers HEAD without the body", async () => {
    const { id: cartId } = await makeCart(world());
    const answer = await callCart(world(), "getPublicCart", {
      cartId,
      headers: { "idempotency-key": "not a key" },
    });
    expect([answer.status, answer.headers["idempotent-replayed"]]).toEqual([200, undefined]);
    const authorization = `Bearer ${world().demo.keys.full}`;
    expect(
      await world().send({ method: "HEAD", url: `${cartsUrl}/${cartId}`, headers: { authorization } }),
    ).toMatchObject({
      status: 200,
      text: "",
      headers: { etag: '"v1"' },
    });
  });

  describeCommonRefusals("getPublicCart", { world, body: undefined });
});
