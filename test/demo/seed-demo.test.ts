/** The seeded demo has the data that "Demo data" in the guide to running the service describes. */
import { beforeAll, expect, it } from "vitest";
import {
  type StockAvailability,
  availabilities,
  computeStockAvailability,
} from "#commerce/catalog/availability.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { loadDemoMerchants } from "#demo/demo-data.ts";
import { renderDemoPicture } from "#demo/pictures/pictures.ts";
import { type DemoSeedResult, seedDemo } from "#demo/seed-demo.ts";
import { isIdOfKind } from "#foundation/ids.ts";
import { isSlug } from "#foundation/text.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import { hasGtinCheckDigit } from "./gtin.ts";

const { first: store, second: roastery } = loadDemoMerchants();
const now = new Date("2026-11-20T09:30:00.000Z");
const dayMs = 86_400_000;

describeOnPostgres("the demo", (open) => {
  let database: OpenedDatabase;
  let seed: DemoSeedResult;
  const tables: string[] = [];

  beforeAll(async () => {
    database = await open({
      onStatement: ({ query }) => {
        const table = /insert into "(\w+)"/.exec(query.sql)?.[1];
        if (table !== undefined) tables.push(table);
      },
    });
    seed = await runInTransaction(database.db, (transaction) => seedDemo(transaction, { now }));
  });

  const rows = async (text: string): Promise<Record<string, unknown>[]> =>
    (await database.script((run) => run(text))).flat();
  const availabilityBySku = async (): Promise<Map<string, StockAvailability>> => {
    const list = await database.db
      .selectFrom("variant")
      .innerJoin("product", "product.id", "variant.productId")
      .innerJoin("stockLevel", "stockLevel.variantId", "variant.id")
      .select([
        "sku",
        "onHand",
        "reserved",
        "backorderLimit",
        "lowStockThreshold",
        "discontinued",
        "availableFrom",
      ])
      .where("status", "=", "published")
      .execute();
    return new Map(list.map((row) => [row.sku, computeStockAvailability(row, now)]));
  };

  it("is inserted with one statement per table", () => {
    expect(tables).toHaveLength(21);
    expect(new Set(tables).size).toBe(21);
  });

  it("has two merchants in test mode, each with an installation of one app that has all four scopes", async () => {
    const merchants = await rows(
      "select id, slug, mode, default_locale, default_market from merchant order by slug",
    );
    expect(merchants).toEqual([
      { ...seed.merchants.first, mode: "test", default_locale: "en", default_market: "DE" },
      { ...seed.merchants.second, mode: "test", default_locale: "en", default_market: "DE" },
    ]);
    expect([seed.merchants.first.slug, seed.merchants.second.slug]).toEqual([store.slug, roastery.slug]);
    const installations = await database.db
      .selectFrom("installation")
      .select(["id", "merchantId", "scopes", "status", "appId"])
      .execute();
    const scopes = ["catalog:read", "checkout:quote", "webhooks:read", "webhooks:write"];
    expect(new Set(installations.map(({ appId }) => appId)).size).toBe(1);
    expect(
      installations.map(({ id, merchantId, status, scopes: granted }) => ({
        id,
        merchantId,
        status,
        scopes: granted.toSorted(),
      })),
    ).toEqual([
      { id: seed.installations.first, merchantId: seed.merchants.first.id, status: "active", scopes },
      { id: seed.installations.second, merchantId: seed.merchants.second.id, status: "active", scopes },
    ]);
  });

  it("sells in DE, US and JP, with delivery methods and tax rates in every market", async () => {
    const markets = await rows(`
      select m.slug, k.handle, k.currency, k.tax_included, k.default_locale,
        (select string_agg(country, ',' order by position) from market_country c
        where c.market_id = k.id) as countries,
        (select count(*) > 0 from delivery_method d where d.market_id = k.id and d.active
        and not d.pickup) as delivers,
        (select count(*) > 0 from tax_rate t where t.market_id = k.id) as taxes,
        (select string_agg(distinct type, ',' order by type) from policy p where p.merchant_id = m.id and
        coalesce(p.market_id, k.id) = k.id) as policies
      from merchant m join market k on k.merchant_id = m.id order by m.slug, k.handle`);
    const policies = "cancellation,return,warranty";
    const european = {
      handle: "de",
      currency: "EUR",
      tax_included: true,
      default_locale: "de",
      policies: `${policies},withdrawal`,
    };
    const american = {
      handle: "us",
      currency: "USD",
      tax_included: false,
      default_locale: "en",
      countries: "US",
      policies,
    };
    const works = { delivers: true, taxes: true };
    expect(markets).toEqual([
      { slug: "lindenhof", ...european, countries: "DE,AT,FR,NL", ...works },
      {
        slug: "lindenhof",
        handle: "jp",
        currency: "JPY",
        tax_included: true,
        default_locale: "ja",
        countries: "JP",
        policies,
        ...works,
      },
      { slug: "lindenhof", ...american, ...works },
      { slug: "morgenrot", ...european, countries: "DE,AT", ...works },
      { slug: "morgenrot", ...american, ...works },
    ]);
  });

  it(
    "publishes 60 products in English, German and Japanese and 8 in English and German, at distinct " +
      "times of the last 200 days",
    async () => {
      const published = await rows(`
      select m.slug, p.published_at, (select string_agg(locale, ',' order by locale)
      from product_translation t where t.product_id = p.id) as locales
      from product p join merchant m on m.id = p.merchant_id where p.status = 'published'`);
      const counts = Map.groupBy(published, ({ slug, locales }) => `${String(slug)} ${String(locales)}`);
      expect(Object.fromEntries([...counts].map(([key, list]) => [key, list.length]))).toEqual({
        "lindenhof de,en,ja": 60,
        "morgenrot de,en": 8,
      });
      const ages = published.map((row) => (now.getTime() - (row["published_at"] as Date).getTime()) / dayMs);
      expect(Math.min(...ages)).toBeGreaterThan(0.9);
      expect(Math.max(...ages)).toBeLessThan(200);
      expect(new Set(ages).size).toBe(68);
      expect(
        await rows(
          "select status, count(*)::int as count from product where status <> 'published' group by status " +
            "order by status",
        ),
      ).toEqual([
        { status: "archived", count: 1 },
        { status: "draft", count: 2 },
      ]);
    },
  );

  it("has a price for every published variant, and variants of every availability", async () => {
    const unpriced = await rows(`
      select v.sku from variant v join product p on p.id = v.product_id
      where p.status = 'published' and not exists (select from price where variant_id = v.id
      and valid_until is null)`);
    expect(unpriced).toEqual([]);
    expect(new Set((await availabilityBySku()).values())).toEqual(new Set(availabilities));
  });

  it("lists at least 20 products that are in stock in DE, with their first variant", async () => {
    const offered = await rows(`
      select m.slug as "merchantSlug", t.slug as "productSlug", t.title, v.sku
      from product p join merchant m on m.id = p.merchant_id
      join product_translation t on t.product_id = p.id and t.locale = m.default_locale
      join variant v on v.product_id = p.id and v.position = 0
      join price on price.variant_id = v.id and price.valid_until is null
      join market_country c on c.market_id = price.market_id and c.country = 'DE'
      where p.status = 'published'`);
    expect(seed.products.length).toBeGreaterThan(50);
    expect(offered).toEqual(expect.arrayContaining([...seed.products]));
    expect(seed.products.slice(0, 20).every(({ merchantSlug }) => merchantSlug === store.slug)).toBe(true);
    const availability = await availabilityBySku();
    expect(new Set(seed.products.map(({ sku }) => availability.get(sku)))).toEqual(new Set(["in_stock"]));
  });

  it("returns the ids of all published products for the search index", async () => {
    const ids = await rows("select id from product where status = 'published'");
    expect(seed.productIds.toSorted()).toEqual(ids.map(({ id }) => String(id)).toSorted());
    expect(seed.productIds.every((id) => isIdOfKind("product", id))).toBe(true);
  });

  it("has valid GTINs for most variants", async () => {
    const gtins = (await rows("select gtin from variant")).map(({ gtin }) => gtin);
    const given = gtins.filter((gtin) => typeof gtin === "string");
    expect(given.filter((gtin) => !hasGtinCheckDigit(gtin))).toEqual([]);
    expect(new Set(given).size).toBe(given.length);
    expect(given.length).toBeGreaterThan(gtins.length * 0.9);
  });

  it(
    "has price histories without gaps, in which a sale followed an earlier, lower price than its " +
      "compare-at price",
    async () => {
      const gaps = await rows(`
      select a.variant_id from price a where a.valid_until is not null
        and not exists (select from price b where b.variant_id = a.variant_id and b.market_id = a.market_id
        and b.valid_from = a.valid_until)`);
      expect(gaps).toEqual([]);
      const sales = await rows(`
      select o.compare_at_minor, o.amount_minor,
        (select min(h.amount_minor) from price h where h.variant_id = o.variant_id
        and h.market_id = o.market_id
           and h.valid_until > o.valid_from - interval '30 days'
           and h.valid_until <= o.valid_from) as lowest_before
      from price o where o.valid_until is null and o.compare_at_minor is not null`);
      expect(sales.length).toBeGreaterThan(20);
      const wrong = sales.filter(
        (row) =>
          !(
            Number(row["lowest_before"]) < Number(row["compare_at_minor"]) &&
            Number(row["lowest_before"]) > Number(row["amount_minor"])
          ),
      );
      expect(wrong).toEqual([]);
    },
  );

  it("has stock movements that add up to each stock level", async () => {
    const wrong = await rows(`
      select s.variant_id from stock_level s left join stock_movement m on m.variant_id = s.variant_id
      group by s.variant_id, s.on_hand having coalesce(sum(m.delta), 0) <> s.on_hand`);
    expect(wrong).toEqual([]);
  });

  it("has restrictions of every kind", async () => {
    const restrictions = await rows(
      "select distinct unnest(restrictions) as restriction from variant order by 1",
    );
    expect(restrictions.map(({ restriction }) => restriction)).toEqual(
      [
        "age_18",
        "custom_made",
        "digital",
        "final_sale",
        "gift_card",
        "hazmat",
        "hygiene_sealed",
        "no_returns",
        "perishable",
      ].toSorted(),
    );
  });

  it("has one to three pictures per product, each of which can be rendered", async () => {
    const media = await rows(
      "select p.id, count(m.id)::int as count, array_agg(m.url) as urls from product p left join media m " +
        "on m.product_id = p.id group by p.id",
    );
    expect(media.filter(({ count }) => Number(count) < 1 || Number(count) > 3)).toEqual([]);
    const names = media
      .flatMap(({ urls }) => urls as string[])
      .map((url) => /^\/media\/demo\/([a-z0-9-]+)\.svg$/.exec(url)?.[1]);
    expect(names.filter((name) => name === undefined || !isSlug(name))).toEqual([]);
    expect(new Set(names.map((name) => renderDemoPicture(name ?? ""))).size).toBe(names.length);
  });

  it("has one slug in both merchants' catalogues, and former slugs that still find their product", async () => {
    const shared = await rows("select slug from product_slug group by slug having count(*) > 1");
    expect(shared).toEqual([{ slug: "pour-over-coffee-set" }]);
    const former = await rows(
      "select count(*)::int as count from product_slug s where not exists (select from " +
        "product_translation t where t.merchant_id = s.merchant_id and t.slug = s.slug)",
    );
    expect(former).toEqual([{ count: 2 }]);
  });
});
