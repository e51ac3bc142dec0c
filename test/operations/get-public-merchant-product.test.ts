/** getPublicMerchantProduct: returns one product to anonymous callers, in the requested language. */
import { beforeAll, describe, expect, it } from "vitest";
import { sql } from "kysely";
import { expectError } from "#test/support/expect-error.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { expectShape, productAnswer } from "./shapes.ts";

const addressOf = (product: string, merchant = "lindenhof"): string =>
  `/api/v1/catalog/merchants/${merchant}/products/${product}`;
const tent = addressOf("fjell-2-trekking-tent");
const eur = (amountMinor: number): unknown => ({ amountMinor, currency: "EUR", exponent: 2 });

describe.each(["pglite", "postgres"] as const)("getPublicMerchantProduct on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
  });

  it("returns every product of the demo with every field of the contract", async () => {
    for (const { merchantSlug, productSlug, title, sku } of world().demo.products) {
      const answer = await world().get(addressOf(productSlug, merchantSlug), { "accept-language": "en" });
      expect(answer.status).toBe(200);
      expectShape(productAnswer, answer.body);
      expect(contract.faultsOf("getPublicMerchantProduct", 200, answer.body)).toEqual([]);
      expect(answer.body.data).toMatchObject({
        slug: productSlug,
        title,
        locale: "en",
        merchant: { slug: merchantSlug },
      });
      expect(answer.body.data.variants[0].sku).toBe(sku);
      expect(answer.body.data.variantCount).toBe(answer.body.data.variants.length);
    }
  });

  it("returns the slugs of all locales and the offers of every market", async () => {
    const { data } = (await world().get(tent)).body;
    expect(data.localizedSlugs).toEqual([
      { locale: "de", slug: "trekkingzelt-fjell-2" },
      { locale: "en", slug: "fjell-2-trekking-tent" },
      { locale: "ja", slug: "torekkingu-tento-fieru-2" },
    ]);
    const range = { min: eur(34_900), max: eur(34_900) };
    expect(data.offers.slice(0, 4)).toEqual([
      { market: "DE", currency: "EUR", taxIncluded: true, ...range },
      { market: "AT", currency: "EUR", taxIncluded: true, ...range },
      { market: "FR", currency: "EUR", taxIncluded: true, ...range },
      { market: "NL", currency: "EUR", taxIncluded: true, ...range },
    ]);
    expect(data.offers.slice(4)).toMatchObject([
      { market: "JP", currency: "JPY", taxIncluded: true, min: { exponent: 0 } },
      { market: "US", currency: "USD", taxIncluded: false, min: { exponent: 2 } },
    ]);
    expect(data.priceRange).toEqual(range);
    expect(data.structuredData).toMatchObject({
      productID: data.id,
      offers: { "@type": "AggregateOffer", priceCurrency: "EUR", lowPrice: "349.00", highPrice: "349.00" },
    });
    expect(data.policies.map(({ type }: { type: string }) => type)).toEqual([
      "return",
      "warranty",
      "cancellation",
    ]);
  });

  it("runs one statement", async () => {
    expect(await statementsOf(world(), () => world().get(tent))).toHaveLength(1);
  });

  it("allows caches to store one answer per language, and any page to read it", async () => {
    expect((await world().get(tent)).headers).toMatchObject({
      "cache-control": "public, max-age=30, stale-while-revalidate=60",
      vary: "Authorization, Accept-Language, Accept-Encoding",
      "access-control-allow-origin": "*",
      "x-api-stability": "stable",
    });
  });

  it.each([
    ["nothing: the default market's language", undefined, "de"],
    ["en", "en", "en"],
    ["a region that falls back to its language", "en-GB", "en"],
    ["the best by quality, not by position", "de;q=0.2, ja;q=0.9, en;q=0.5", "ja"],
    ["the first available language", "fr, pt-BR, ja-JP;q=0.4, en;q=0.3", "ja"],
    ["only unavailable languages", "fr, sv", "de"],
    ["an excluded language", "en;q=0, ja", "ja"],
    ["anything", "*", "de"],
    ["garbage", ";;q=x,,,\u00e4, -", "de"],
    ["upper case", "EN", "en"],
  ])("negotiates the language: %s", async (_name, acceptLanguage, chosen) => {
    const answer = await world().get(
      tent,
      acceptLanguage === undefined ? {} : { "accept-language": acceptLanguage },
    );
    expect(answer.body.data.locale).toBe(chosen);
    expect(answer.headers["content-language"]).toBe(chosen);
    const own = answer.body.data.localizedSlugs.find(({ locale }: { locale: string }) => locale === chosen);
    expect(answer.body.data.slug).toBe(own.slug);
  });

  it("finds the product by the slug of every locale; the slug does not choose the language", async () => {
    const { data } = (await world().get(tent)).body;
    for (const { slug } of data.localizedSlugs as { slug: string }[]) {
      const answer = await world().get(addressOf(slug), { "accept-language": "ja" });
      expect(answer.body.data).toMatchObject({ id: data.id, locale: "ja", slug: "torekkingu-tento-fieru-2" });
    }
  });

  it("finds the product by an old slug, and returns the current slug", async () => {
    const answer = await world().get(addressOf("fjell-2-tent"), { "accept-language": "en" });
    expect(answer.status).toBe(200);
    expect(answer.body.data.slug).toBe("fjell-2-trekking-tent");
  });

  it("returns the price before a reduction, and the lowest price of the 30 days before", async () => {
    const { data } = (await world().get(addressOf("sund-4-family-tent"))).body;
    const german = data.variants[0].offers.find(({ market }: { market: string }) => market === "DE");
    expect(german).toEqual({
      market: "DE",
      price: eur(45_900),
      compareAt: eur(52_900),
      lowest30d: eur(50_260),
    });
    expect(data.compareAtRange).toEqual({ min: eur(52_900), max: eur(52_900) });
    const steady = (await world().get(tent)).body.data.variants[0].offers[0];
    expect(steady).toMatchObject({ compareAt: null, lowest30d: null });
  });

  it.each([
    ["a slug that no product has", addressOf("no-such-product")],
    ["another merchant's product", addressOf("fjell-2-trekking-tent", "morgenrot")],
    ["an id instead of a slug", addressOf("prd_01ky432e7wsvr05qhw7x98xpa0")],
    ["a slug in upper case", addressOf("FJELL-2-TREKKING-TENT")],
    ["a slug with a NUL", addressOf("fjell%00")],
    ["a slug with an encoded slash", addressOf("fjell%2F2")],
    ["the longest slug that is routed", addressOf("x".repeat(500))],
  ])("answers 404 for %s", async (_name, url) => {
    expectError(await world().get(url), { status: 404, code: "product_not_found" });
  });

  it.each(["draft", "archived"] as const)("answers 404 for a product with the status %s", async (status) => {
    const rows = await world()
      .database.db.selectFrom("product")
      .innerJoin("productSlug", "productSlug.productId", "product.id")
      .innerJoin("merchant", "merchant.id", "product.merchantId")
      .select(["productSlug.slug", "merchant.slug as merchant"])
      .where("product.status", "=", status)
      .execute();
    expect(rows.length).toBeGreaterThan(0);
    for (const { slug, merchant } of rows)
      expectError(await world().get(addressOf(slug, merchant)), { status: 404, code: "product_not_found" });
  });

  it("answers 404 for an unknown merchant", async () => {
    expectError(await world().get(addressOf("fjell-2-trekking-tent", "nobody")), {
      status: 404,
      code: "merchant_not_found",
    });
  });

  it("answers 404 for a suspended merchant, and the product again after it is resumed", async () => {
    const setStatus = (status: "active" | "suspended"): Promise<unknown> =>
      world().database.db.updateTable("merchant").set({ status }).where("slug", "=", "lindenhof").execute();
    await setStatus("suspended");
    const answer = await world().get(tent);
    await setStatus("active");
    expectError(answer, { status: 404, code: "merchant_not_found" });
    expect((await world().get(tent)).status).toBe(200);
  });

  it("returns each merchant's own product if two merchants use the same slug", async () => {
    const { database, demo, get } = world();
    const coffee = demo.products.find(({ merchantSlug }) => merchantSlug === "morgenrot");
    const other = (await get(addressOf(coffee?.productSlug ?? "", "morgenrot"))).body.data;
    await sql`insert into product_slug (merchant_id, slug, product_id)
      values (${demo.merchants.second.id}, 'fjell-2-trekking-tent', ${other.id})`.execute(database.db);
    const [one, two] = await Promise.all([get(tent), get(addressOf("fjell-2-trekking-tent", "morgenrot"))]);
    expect(one.body.data.merchant.slug).toBe("lindenhof");
    expect(two.body.data.id).toBe(other.id);
    await sql`delete from product_slug where merchant_id = ${demo.merchants.second.id}
      and slug = 'fjell-2-trekking-tent'`.execute(database.db);
  });

  it("refuses every query parameter", async () => {
    expectError(await world().get(`${tent}?locale=en&market=DE`), {
      status: 400,
      code: "unknown_parameter",
      details: [
        { in: "query", field: "locale", code: "unknown" },
        { in: "query", field: "market", code: "unknown" },
      ],
    });
  });

  it("refuses a body", async () => {
    expectError(await world().send({ method: "GET", url: tent, body: {} }), {
      status: 400,
      code: "unexpected_body",
      details: [{ in: "body", field: "", code: "body_not_allowed" }],
    });
  });

  it.each(["expired", "revoked", "otherMerchant", "full"] as const)(
    "requires no credentials and ignores them: the key %s changes nothing",
    async (key) => {
      const [without, withKey] = await Promise.all([world().get(tent), world().getWithKey(tent, key)]);
      expect(withKey.body).toEqual(without.body);
      expect((await world().get(tent, { authorization: "Basic x" })).status).toBe(200);
    },
  );
});
