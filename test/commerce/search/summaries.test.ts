/** Search summaries equal the product pages, however stock, prices and texts have changed. */
import fc from "fast-check";
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { findProductAggregates } from "#commerce/catalog/read-products.ts";
import { toProductSummaryFromRow, toProductSummary } from "#commerce/catalog/render-product.ts";
import { indexProducts } from "#commerce/search/index-products.ts";
import { type ProductSearchInput, searchSorts } from "#commerce/search/search-form.ts";
import { searchProducts } from "#commerce/search/search-products.ts";
import { runInTransaction } from "#database/transaction.ts";
import { seedBulkProducts } from "#demo/bulk/seed-bulk-products.ts";
import { useWorld } from "#test/support/use-world.ts";

const publicUrl = "https://shop.example";
const dayMs = 86_400_000;

const inputs = fc.record({
  q: fc.constantFrom("", "", "s", "co", "linen", "aus leinen", "kaffee", "コ"),
  locale: fc.constantFrom("en", "de", "de-AT", "ja", "fr", "xx"),
  market: fc.constantFrom("DE", "AT", "US", "JP", "FR"),
  sort: fc.constantFrom(...searchSorts),
  page: fc.integer({ min: 1, max: 3 }),
  pageSize: fc.integer({ min: 1, max: 100 }),
});

describe.each(["pglite", "postgres"] as const)("summaries on %s", (engine) => {
  const world = useWorld(engine);
  let now: Date;

  /** Compares all pages of the search, loaded in both ways. */
  async function compare(input: ProductSearchInput, at: Date): Promise<number> {
    const { db } = world().database;
    const { hits, summaries } = await searchProducts(db, input, at);
    const products = await findProductAggregates(
      db,
      hits.map(({ productId }) => productId),
      at,
    );
    const whole = hits.map(({ productId, locale }) => {
      const product = products.get(productId);
      return product === undefined
        ? undefined
        : toProductSummary(product, { locales: [locale], country: input.market, now: at, publicUrl });
    });
    expect(summaries.map((row) => toProductSummaryFromRow(row, publicUrl))).toEqual(whole);
    return hits.length;
  }

  beforeAll(async () => {
    const { database, clock, demo } = world();
    now = clock.now();
    await seedBulkProducts(database.db, {
      merchantId: demo.merchants.first.id,
      count: 150,
      now,
      index: (transaction, ids) => indexProducts(transaction, ids, now),
    });
  });

  it("equal the products for the demo and a generated catalog", async () => {
    let shown = 0;
    await fc.assert(
      fc.asyncProperty(inputs, async (input) => {
        shown += await compare(input, now);
      }),
      { numRuns: 40 },
    );
    expect(shown).toBeGreaterThan(500);
  });

  it("show stock and prices that changed after indexing", async () => {
    const { db } = world().database;
    const newest = { q: "", locale: "en", market: "DE", sort: "newest", page: 1, pageSize: 100 } as const;
    const { hits } = await searchProducts(db, newest, now);
    const chosen = hits.slice(0, 6).map(({ productId }) => productId);
    const variants = sql`select id from variant where product_id = any(${chosen}::text[])`;
    await sql`update stock_level set on_hand = 10 + abs(hashtext(variant_id)) % 7, reserved = 8 +
      abs(hashtext(variant_id)) % 5, backorder_limit = 3,
      low_stock_threshold = abs(hashtext(variant_id)) % 4`.execute(db);
    await sql`update variant set discontinued = abs(hashtext(id)) % 5 = 0,
      available_from = case when abs(hashtext(id)) % 3 = 0
      then ${new Date(now.getTime() + dayMs)}::timestamptz end`.execute(db);
    await sql`delete from stock_level where abs(hashtext(variant_id)) % 11 = 0
      and variant_id not in (${variants})`.execute(db);
    // One product of each kind; the others are chosen by their ids.
    for (const [index, productId] of chosen.entries()) {
      await sql`update variant set discontinued = ${index === 0}, available_from =
        ${index === 1 ? new Date(now.getTime() + dayMs) : null}::timestamptz
        where product_id = ${productId}`.execute(db);
      await sql`update stock_level set on_hand = ${[0, 9, 9, 2, 0, 0][index]}, reserved = 0, backorder_limit =
        ${index === 4 ? 3 : 0}, low_stock_threshold = 3
        where variant_id in (select id from variant where product_id = ${productId})`.execute(db);
    }
    await sql`update merchant set name = name || ' & Co.', default_locale = 'ja'`.execute(db);
    await sql`update price set compare_at_minor = case when abs(hashtext(variant_id)) % 2 = 0
      then amount_minor + 100 end where valid_until is null`.execute(db);
    await sql`delete from price where valid_until is null and abs(hashtext(variant_id || market_id)) % 6 = 0
      and variant_id not in (${variants})`.execute(db);
    const availabilities = new Set<string>();
    for (const at of [now, new Date(now.getTime() + 2 * dayMs)]) {
      for (const sort of searchSorts)
        await compare({ q: "", locale: "en", market: "DE", sort, page: 1, pageSize: 100 }, at);
      const { summaries } = await searchProducts(db, newest, at);
      for (const row of summaries) availabilities.add(toProductSummaryFromRow(row, publicUrl).availability);
    }
    expect([...availabilities].toSorted()).toEqual([
      "backorder",
      "discontinued",
      "in_stock",
      "low_stock",
      "out_of_stock",
      "preorder",
    ]);
  });

  it("show texts, names, images and ratings as of the last indexing", async () => {
    const { db } = world().database;
    await sql`update product_translation set title = title || ' anew', summary = null
      where locale = 'en'`.execute(db);
    await sql`update category set names = (names::jsonb - 'de')::json`
      .execute(db)
      .catch(() => sql`update category set names = names - 'de'`.execute(db));
    await sql`update media set position = 9 - position, type = case when position = 1 then 'video' else type
      end`.execute(db);
    await sql`update product set brand = null, rating_average = null, rating_count = null
      where abs(hashtext(id)) % 2 = 0`.execute(db);
    const { rows } = await sql<{ id: string }>`select id from product`.execute(db);
    const ids = rows.map(({ id }) => id);
    await runInTransaction(db, (transaction) => indexProducts(transaction, ids, now));
    for (const locale of ["en", "de", "ja"])
      expect(
        await compare({ q: "", locale, market: "DE", sort: "popularity", page: 1, pageSize: 100 }, now),
      ).toBe(100);
  });
});
