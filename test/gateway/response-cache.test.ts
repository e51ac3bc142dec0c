/**
 * The response cache: every change of a catalog changes the answers at once, at each of its tables and
 * through each mutation. A second service on the same database, without a cache, gives the right answers.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sql } from "kysely";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { createServiceApp, type ServiceApp } from "#app/app.ts";
import { parseServiceSettings } from "#app/settings.ts";
import { sweeps } from "#app/sweeps.ts";
import { noticeChannel } from "#database/notices.ts";
import { createLog } from "#foundation/log.ts";
import { publicUrl } from "#test/support/copies.ts";
import { useWorld } from "#test/support/use-world.ts";

const page = "/api/v1/catalog/merchants/lindenhof/products/fjell-2-trekking-tent";
const search = "/api/v1/search?q=tent&locale=en&market=DE&sort=relevance&page=1&pageSize=20";
const list = "/api/v1/open/catalog/products";
const urls = [page, search, list] as const;
type Url = (typeof urls)[number];
const hourMs = 3_600_000;
/** The parts of a body that differ at each request. */
const ofRequest = /"(?:generatedAt|requestId)":"[^"]*"/;
const inEnglish = (text: string) => [{ locale: "en", text }];

describe.each(["pglite", "postgres"] as const)("the response cache on %s", (engine) => {
  // A gateway runs no periodic work, whose changes would send notices.
  const world = useWorld(engine, { role: "gateway", environment: { PORT: "0" } });
  /** A service on the same database that keeps no answers. */
  let plain: ServiceApp;
  let ids: Record<"product" | "variant" | "market" | "category" | "merchant", string>;
  const uses: { operation: string; isHit: boolean }[] = [];
  const notices: string[] = [];

  beforeAll(async () => {
    await world().app.listen();
    const settings = parseServiceSettings({
      PORT: "4000",
      PUBLIC_URL: publicUrl,
      RATE_LIMIT_SCALE: "0",
      RESPONSE_CACHE_MB: "0",
      ENCRYPTION_KEYS: encryptionKeys,
      ...(engine === "postgres" ? { DATABASE_URL: "postgres://unused" } : {}),
    });
    const { database, clock } = world();
    plain = await createServiceApp({ settings, log: createLog("silent"), clock, database });
    world().app.services.events.on("responseCacheUsed", (operation, isHit) =>
      uses.push({ operation, isHit }),
    );
    const { rows } = await sql<typeof ids>`
      select p.id as product, p.merchant_id as merchant, k.id as market,
        (select v.id from variant v where v.product_id = p.id order by v.position limit 1) as variant,
        (select c.category_id from product_category c where c.product_id = p.id limit 1) as category
      from product_slug s join product p on p.id = s.product_id join market k on k.merchant_id = p.merchant_id
      where s.slug = 'fjell-2-trekking-tent' and k.handle = 'de'`.execute(database.db);
    const [row] = rows;
    if (row === undefined) throw new Error("The demo has no tent.");
    ids = row;
    world().app.services.events.on("noticeReceived", (notice) => notices.push(notice));
  });
  afterAll(() => plain.close());
  beforeEach(() => void (uses.length = 0));

  const authorization = () => ({ authorization: `Bearer ${world().demo.keys.full}` });
  /** Sends a request again as long as it is refused because the machine is overloaded. */
  const served = async <Answer extends { readonly status?: number; readonly statusCode?: number }>(
    send: () => Promise<Answer>,
  ): Promise<Answer> => {
    const answer = await send();
    if ((answer.status ?? answer.statusCode) !== 503) return answer;
    await sleep(300);
    return served(send);
  };
  const ask = (url: Url, headers: Record<string, string> = {}) =>
    served(() => world().get(url, { ...authorization(), ...headers }));
  const askPlain = async (url: Url): Promise<string> =>
    (await served(() => plain.server.inject({ url, headers: authorization() }))).body;
  const readAll = async (read: (url: Url) => Promise<string>): Promise<string[]> => {
    const answers: string[] = [];
    for (const url of urls) answers.push((await read(url)).replace(ofRequest, ""));
    return answers;
  };
  /** Asks until all answers come from the cache. */
  const warm = async (): Promise<void> => {
    const isWarm = async (): Promise<boolean> => {
      uses.length = 0;
      for (const url of urls) await ask(url);
      return uses.length === urls.length && uses.every(({ isHit }) => isHit);
    };
    await expect.poll(isWarm).toBe(true);
  };
  /** Expects that the first answers after a change are right, and returns which of them came from the cache. */
  const expectRight = async (): Promise<boolean[]> => {
    uses.length = 0;
    const answers = await readAll(async (url) => (await ask(url)).text);
    const hits = uses.map(({ isHit }) => isHit);
    expect(answers).toEqual(await readAll(askPlain));
    return hits;
  };
  const mutate = async (field: string, input: Readonly<Record<string, unknown>>, selection = "id") => {
    const type = /^product(?:Unp|P)ublish$/.test(field)
      ? "ProductTransitionInput"
      : `${field[0]?.toUpperCase()}${field.slice(1)}Input`;
    const { body } = await world().graphql(
      `mutation ($input: ${type}!, $key: String!) {
        ${field}(input: $input, idempotencyKey: $key) { ${selection} } }`,
      { variables: { input, key: randomUUID() } },
    );
    expect(body.errors).toBeUndefined();
    return body.data[field];
  };

  it("sends the same body, ETag and language again without a statement that reads products", async () => {
    const headers = { "accept-language": "de" };
    const first = await ask(page, headers);
    let second = first;
    // An answer comes from the cache unless the service checks its notice connection at the same moment.
    const isReadWithoutProducts = async (): Promise<boolean> => {
      uses.length = 0;
      world().statements.length = 0;
      second = await ask(page, headers);
      return (
        uses[0]?.isHit === true && !world().statements.some((statement) => statement.includes("product"))
      );
    };
    await expect.poll(isReadWithoutProducts).toBe(true);
    expect(second.text).toBe(first.text);
    const names = ["etag", "content-language", "vary", "cache-control", "content-type"];
    expect(names.map((name) => second.headers[name])).toEqual([
      first.headers["etag"],
      "de",
      "Authorization, Accept-Language, Accept-Encoding",
      "public, max-age=30, stale-while-revalidate=60",
      "application/json; charset=utf-8",
    ]);
    expect(second.headers["x-request-id"]).not.toBe(first.headers["x-request-id"]);
  });

  it("answers 304 to a client that has the answer, from the cache and from the database", async () => {
    await warm();
    for (const url of urls) {
      const { headers } = await ask(url);
      const etag = headers["etag"] ?? "";
      expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
      const cached = await ask(url, { "if-none-match": etag });
      expect([cached.status, cached.text, cached.headers["etag"]]).toEqual([304, "", etag]);
      expect((await ask(url, { "if-none-match": '"other"' })).status).toBe(200);
      const read = await plain.server.inject({
        url,
        headers: { ...authorization(), "if-none-match": etag },
      });
      expect([read.statusCode, read.body]).toEqual([304, ""]);
    }
  });

  it("sends compressed bodies to clients that accept them", async () => {
    await warm();
    const { text: body, headers } = await ask(page);
    const inject = (accepted: string) =>
      world().app.server.inject({ url: page, headers: { ...authorization(), "accept-encoding": accepted } });
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync } as const;
    for (const [accepted, encoding] of [
      ["gzip, deflate, br", "br"],
      ["br;q=0, gzip;q=0.5", "gzip"],
      ["*", "br"],
    ] as const) {
      let answer = await inject(accepted);
      const getEncoding = async (): Promise<unknown> => {
        answer = await inject(accepted);
        return answer.headers["content-encoding"];
      };
      await expect.poll(getEncoding).toBe(encoding);
      expect(answer.rawPayload.length).toBeLessThan(body.length / 2);
      expect(decoders[encoding](answer.rawPayload).toString()).toBe(body);
      expect(answer.headers["etag"]).toBe(headers["etag"]);
    }
    expect((await inject("identity")).headers["content-encoding"]).toBeUndefined();
    expect((await inject("br;q=0")).body).toBe(body);
  });

  it("counts each search that the cache answers for the report on searches", async () => {
    const { services } = world().app;
    await services.searchCounts?.flush();
    const url = search.replace("q=tent", "q=sund");
    const askFrom = (address: string) =>
      world().app.server.inject({ url, remoteAddress: address, headers: authorization() });
    await askFrom("192.0.2.1");
    const isHit = async (): Promise<boolean> => {
      uses.length = 0;
      await askFrom("192.0.2.1");
      return uses[0]?.isHit === true;
    };
    await expect.poll(isHit).toBe(true);
    for (const address of ["192.0.2.2", "192.0.2.3", "192.0.2.4"]) await askFrom(address);
    await services.searchCounts?.flush();
    const { rows } = await sql<{ searches: number }>`
      select searches from search_query_day where query = 'sund'`.execute(world().database.db);
    expect(rows[0]?.searches).toBeGreaterThanOrEqual(5);
  });

  it("gives right answers directly after each mutation that can change them", async () => {
    const { product, variant, market, category, merchant } = ids;
    const prices = (input: Record<string, unknown>) => ({
      prices: [{ variantId: variant, marketId: market, ...input }],
    });
    const changes: [field: string, input: Record<string, unknown>, changed: readonly Url[]][] = [
      ["productUpdate", { productId: product, brand: "Fjellmark" }, urls],
      ["productUpdate", { productId: product, rating: { average: 4.2, count: 12 } }, urls],
      [
        "productTranslationUpsert",
        {
          productId: product,
          translation: { locale: "en", slug: "fjell-2-trekking-tent", title: "Fjell 2 tent, renamed" },
        },
        urls,
      ],
      ["pricesSet", prices({ amountMinor: 12_300 }), urls],
      ["pricesSet", prices({ amountMinor: 11_100, endsAt: new Date(Date.now() + 24 * hourMs) }), urls],
      ["stockAdjust", { variantId: variant, delta: 500, reason: "RECEIVED" }, []],
      ["categoryUpsert", { categoryId: category, slug: "renamed", names: inEnglish("Renamed") }, urls],
      ["policyUpsert", { type: "RETURN", marketId: market, summaries: inEnglish("Send it back.") }, [page]],
      ["merchantUpdate", { merchantId: merchant, name: "Lindenhof renamed" }, urls],
      ["searchSynonymsSet", { locale: "en", rules: [{ terms: ["tent", "yurt"] }] }, [search]],
    ];
    for (const [field, input, changed] of changes) {
      await warm();
      await mutate(field, input, field === "searchSynonymsSet" ? "version" : "id");
      const hits = await expectRight();
      for (const [index, url] of urls.entries())
        if (changed.includes(url)) expect([field, url, hits[index]]).toEqual([field, url, false]);
    }
  });

  it("gives right answers directly after a product is unpublished, published, imported and deleted", async () => {
    const { product } = ids;
    await warm();
    await mutate("productUnpublish", { productId: product });
    expect((await ask(page)).status).toBe(404);
    await expectRight();
    await mutate("productPublish", { productId: product });
    expect(await expectRight()).toEqual([false, false, false]);
    await warm();
    const item = {
      status: "PUBLISHED",
      translations: [{ locale: "en", slug: "new-tent", title: "New tent" }],
      variants: [
        { sku: "NEW-TENT", options: [], onHand: 9, prices: [{ marketHandle: "de", amountMinor: 900 }] },
      ],
    };
    await mutate("productsImport", { items: [item] }, "results { status }");
    expect((await expectRight()).slice(1)).toEqual([false, false]);
  });

  it("gives right answers from the moment at which a price or a reservation ends", async () => {
    await warm();
    const { database, clock } = world();
    const endsAt = new Date(clock.now().getTime() + hourMs);
    await mutate("pricesSet", {
      prices: [{ variantId: ids.variant, marketId: ids.market, amountMinor: 7_700, endsAt }],
    });
    await warm();
    const price = async (): Promise<number> =>
      (await ask(page)).body.data.variants[0].offers[0].price.amountMinor;
    expect(await price()).toBe(7_700);
    clock.at = new Date(endsAt.getTime() - 1);
    await warm();
    expect(await price()).toBe(7_700);
    clock.at = endsAt;
    expect(await price()).not.toBe(7_700);
    await expectRight();
    await sweeps
      .find(({ name }) => name === "end prices")
      ?.run(world().app.services, { now: clock.now(), signal: new AbortController().signal });
    await expectRight();
    await warm();
    const availableAt = new Date(clock.now().getTime() + hourMs);
    await sql`update variant set available_from = ${availableAt} where id = ${ids.variant}`.execute(
      database.db,
    );
    await warm();
    const availability = async (): Promise<string> => (await ask(page)).body.data.variants[0].availability;
    expect(await availability()).toBe("preorder");
    clock.at = availableAt;
    expect(await availability()).not.toBe("preorder");
    await expectRight();
  });

  /** Returns the notices about catalogs that a statement sends. */
  const noticesOf = async (statement: ReturnType<typeof sql>): Promise<string[]> => {
    const { db } = world().database;
    notices.length = 0;
    await statement.execute(db);
    const marker = `marker ${randomUUID()}`;
    await sql`select pg_notify(${noticeChannel}, ${marker})`.execute(db);
    await expect.poll(() => notices.includes(marker)).toBe(true);
    return notices.filter((text) => /^(?:catalog|products|searches)/.test(text)).toSorted();
  };

  it("receives a notice after a statement on any table that answers are read from", async () => {
    const { product, variant, market, merchant } = ids;
    const ofProduct = (table: string, column: string) =>
      sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} where product_id = ${product}`;
    const ofMerchant = (table: string) =>
      sql`update ${sql.table(table)} set merchant_id = merchant_id where merchant_id = ${merchant}`;
    const session = sql`(select id from hosted_checkout_session order by id limit 1)`;
    const one = [`products:${merchant}:${product}`];
    const all = [`catalog:${merchant}`];
    const statements: [statement: ReturnType<typeof sql>, expected: readonly string[]][] = [
      [sql`update product set brand = 'Raw' where id = ${product}`, one],
      [ofProduct("product_translation", "title"), one],
      [ofProduct("product_slug", "slug"), one],
      [ofProduct("product_category", "position"), one],
      [ofProduct("product_option", "position"), one],
      [ofProduct("media", "position"), one],
      [ofProduct("variant", "position"), one],
      [sql`update price set amount_minor = 1 where variant_id = ${variant} and market_id = ${market}`, one],
      [sql`delete from price where variant_id = ${variant} and market_id = ${market}`, one],
      [sql`update stock_level set on_hand = reserved where variant_id = ${variant}`, one],
      [
        sql`insert into stock_hold (session_id, variant_id, merchant_id, quantity, expires_at)
          values (${session}, ${variant}, ${merchant}, 1, now()) on conflict do nothing`,
        one,
      ],
      [sql`update stock_hold set expires_at = null where variant_id = ${variant}`, one],
      [sql`delete from stock_hold where variant_id = ${variant}`, one],
      [sql`update stock_level set on_hand = reserved + 900 where variant_id = ${variant}`, one],
      [ofMerchant("category"), all],
      [ofMerchant("market"), all],
      [ofMerchant("market_country"), all],
      [ofMerchant("policy"), all],
      [sql`update merchant set name = 'Raw' where id = ${merchant}`, all],
      [
        sql`update merchant set catalog_version = catalog_version + 1 where id = ${merchant}`,
        [`products:${merchant}:`],
      ],
      [ofProduct("search_document", "title"), ["searches"]],
      [ofProduct("search_offer", "popularity"), ["searches"]],
      [ofProduct("search_summary", "locale"), ["searches"]],
      [sql`update search_term set term = term where locale = 'en'`, ["searches"]],
      [
        sql`insert into search_synonym_list (merchant_id, locale, rules, updated_at)
        values (${merchant}, 'sv', '[]', now())`,
        ["searches"],
      ],
      [sql`update price set amount_minor = amount_minor where false`, []],
      [sql`update stock_level set on_hand = on_hand - 1 where variant_id = ${variant}`, []],
      [sql`update product set popularity = popularity + 1 where id = ${product}`, []],
    ];
    for (const [statement, expected] of statements) {
      const { sql: text } = statement.compile(world().database.db);
      expect([text, await noticesOf(statement)]).toEqual([text, expected]);
    }
  });

  it("receives one notice of the whole catalog for a statement that changes many products", async () => {
    const { merchant } = ids;
    const insert = sql`insert into product (id, merchant_id, created_at, updated_at)
      select 'prd_many_' || n, ${merchant}, now(), now() from generate_series(1, 101) n`;
    expect(await noticesOf(insert)).toEqual([`catalog:${merchant}`]);
    expect(await noticesOf(sql`delete from product where id like 'prd_many_%'`)).toEqual([
      `catalog:${merchant}`,
    ]);
  });
});

const encryptionKeys = `test:${Buffer.alloc(32, 1).toString("base64")}`;
