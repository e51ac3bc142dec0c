/** listApiKeyCatalogProducts: returns the published products of the key's merchant only. */
import { beforeAll, describe, expect, it } from "vitest";
import { sql } from "kysely";
import { challenge, challengeInvalid, expectError } from "#test/support/expect-error.ts";
import { unknownKey } from "#test/support/keys.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { expectShape, listAnswer } from "./shapes.ts";

const url = "/api/v1/open/catalog/products";

interface Summary {
  readonly id: string;
  readonly merchant: { readonly slug: string };
  readonly publishedAt: string;
  readonly locale: string;
  readonly priceRange: { readonly min: { readonly currency: string } } | null;
}

describe.each(["pglite", "postgres"] as const)("listApiKeyCatalogProducts on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
  });

  it("lists the merchant's published products, newest first, in its default locale and market", async () => {
    const answer = await world().getWithKey(url);
    expect(answer.status).toBe(200);
    expectShape(listAnswer, answer.body);
    expect(contract.faultsOf("listApiKeyCatalogProducts", 200, answer.body)).toEqual([]);
    const published = await world()
      .database.db.selectFrom("product")
      .select("id")
      .where("merchantId", "=", world().demo.merchants.first.id)
      .where("status", "=", "published")
      .orderBy("publishedAt", "desc")
      .orderBy("id")
      .execute();
    const products = answer.body.data as Summary[];
    expect(products.map(({ id }) => id)).toEqual(published.map(({ id }) => id));
    expect(products.length).toBeGreaterThanOrEqual(50);
    expect(new Set(products.map(({ merchant }) => merchant.slug))).toEqual(new Set(["lindenhof"]));
    expect(new Set(products.map(({ locale }) => locale))).toEqual(new Set(["en"]));
    expect(new Set(products.flatMap(({ priceRange }) => priceRange?.min.currency ?? []))).toEqual(
      new Set(["EUR"]),
    );
    expect(answer.body.meta).toEqual({
      returned: published.length,
      total: published.length,
      truncated: false,
      limit: 500,
      order: "published_at_desc",
      locale: "en",
      market: "DE",
      currency: "EUR",
      catalogVersion: expect.any(Number) as unknown,
      notice: null,
      generatedAt: world().clock.now().toISOString(),
    });
    expect(answer.headers).toMatchObject({
      "cache-control": "no-store",
      vary: "Authorization, Accept-Encoding",
      "x-api-stability": "stable",
    });
  });

  it("runs four statements for any number of products: credential, installation, ids, products", async () => {
    expect(await statementsOf(world(), () => world().getWithKey(url))).toHaveLength(4);
    expect(await statementsOf(world(), () => world().getWithKey(url, "otherMerchant"))).toHaveLength(4);
  });

  it("returns only the products of the key's own merchant", async () => {
    const answer = await world().getWithKey(url, "otherMerchant");
    expectShape(listAnswer, answer.body);
    expect(new Set((answer.body.data as Summary[]).map(({ merchant }) => merchant.slug))).toEqual(
      new Set(["morgenrot"]),
    );
  });

  it("requires a key, but no scope", async () => {
    expect((await world().getWithKey(url, "noScope")).status).toBe(200);
    expectError(await world().get(url), {
      status: 401,
      code: "credentials_missing",
      headers: { "www-authenticate": challenge },
    });
    expectError(await world().get(url, { authorization: `Bearer ${unknownKey()}` }), {
      status: 401,
      code: "api_key_invalid",
      headers: { "www-authenticate": challengeInvalid },
    });
    for (const [key, code] of [
      ["expired", "api_key_expired"],
      ["revoked", "api_key_revoked"],
    ] as const)
      expectError(await world().getWithKey(url, key), {
        status: 401,
        code,
        headers: { "www-authenticate": challengeInvalid },
      });
  });

  it.each(["page=1", "pageSize=10", "market=US", "locale=de", "q=", "x", "%20=1"])(
    "refuses the parameter %s",
    async (query) => {
      const field = decodeURIComponent(query.split("=")[0] ?? "");
      expectError(await world().getWithKey(`${url}?${query}`), {
        status: 400,
        code: "unknown_parameter",
        details: [{ in: "query", field, code: "unknown" }],
      });
    },
  );

  it("refuses a body", async () => {
    const headers = { authorization: `Bearer ${world().demo.keys.full}` };
    expectError(await world().send({ method: "GET", url, headers, body: {} }), {
      status: 400,
      code: "unexpected_body",
      details: [{ in: "body", field: "", code: "body_not_allowed" }],
    });
  });

  it("checks the key before the parameters and the body", async () => {
    expectError(await world().send({ method: "GET", url: `${url}?page=1`, body: {} }), {
      status: 401,
      code: "credentials_missing",
    });
  });

  it("omits a product as soon as it is archived", async () => {
    const { database, getWithKey } = world();
    const [first] = (await getWithKey(url)).body.data as Summary[];
    await database.db
      .updateTable("product")
      .set({ status: "archived" })
      .where("id", "=", first?.id ?? "")
      .execute();
    const after = await getWithKey(url);
    expect((after.body.data as Summary[]).map(({ id }) => id)).not.toContain(first?.id);
    expect(after.body.meta.total).toBe(after.body.data.length);
  });

  it("stops at 500, reports that there are more, and names the operation that returns them", async () => {
    const { database, demo, getWithKey } = world();
    await sql`
      with made as (
        insert into product (id, merchant_id, status, published_at, created_at, updated_at)
        select 'prd_' || lpad(n::text, 26, '0'), ${demo.merchants.second.id}, 'published', now() - interval
        '9 years' - n * interval '1 minute', now(), now()
        from generate_series(1, 500) n returning id, merchant_id),
      named as (insert into product_slug (merchant_id, slug, product_id)
      select merchant_id, replace(id, '_', '-'), id from made returning *),
      sold as (
        insert into variant (id, merchant_id, product_id, sku, options, restrictions, requires_shipping,
        position, created_at, updated_at)
        select replace(id, 'prd', 'var'), merchant_id, id, id, '{}', '{}', true, 0, now(), now() from made)
      insert into product_translation (product_id, locale, merchant_id, slug, title, updated_at)
      select product_id, 'en', merchant_id, slug, slug, now() from named`.execute(database.db);
    const answer = await getWithKey(url, "otherMerchant");
    expectShape(listAnswer, answer.body);
    const { total } = answer.body.meta as { total: number };
    expect(total).toBeGreaterThan(500);
    expect(answer.body.data).toHaveLength(500);
    expect(answer.body.meta).toMatchObject({ returned: 500, total, truncated: true, limit: 500 });
    expect(answer.body.meta.notice).toBe(
      `The list contains 500 of ${total} products. Read the others by search with the parameter merchant.`,
    );
  });
});
