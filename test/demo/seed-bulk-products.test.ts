/**
 * Bulk products are varied, complete and equal for the same seed, and are passed to the caller's search
 * index.
 */
import { sql } from "kysely";
import { beforeAll, expect, it } from "vitest";
import type { OpenedDatabase } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createBulkProductRows, type ValuesSharedByBulkProducts } from "#demo/bulk/bulk-product-rows.ts";
import { loadBulkVocabulary } from "#demo/demo-data.ts";
import { seedDemo } from "#demo/seed-demo.ts";
import { type BulkProductOptions, seedBulkProducts } from "#demo/bulk/seed-bulk-products.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import { hasGtinCheckDigit } from "./gtin.ts";

const now = new Date("2026-11-20T09:30:00.000Z");
const slugs = loadBulkVocabulary().departments.flatMap(({ slug, ranges }) =>
  [slug].concat(ranges.map((range) => range.slug)),
);
const context: ValuesSharedByBulkProducts = {
  merchantId: "mer_x",
  markets: [
    { id: "mkt_e", currency: "EUR" },
    { id: "mkt_j", currency: "JPY" },
  ],
  categoryIds: new Map(slugs.map((slug) => [slug, `cat_${slug}`])),
  now,
  seed: 1,
};

it("uses each word of a title in 0.5 % to 5 % of the products", () => {
  const words = new Map<string, number>();
  for (let number = 1; number <= 20_000; number += 1) {
    const title = createBulkProductRows(number, context).productTranslation[0]?.title.toLowerCase() ?? "";
    for (const word of new Set(title.split(" "))) words.set(word, (words.get(word) ?? 0) + 1);
  }
  const shares = [...words.values()].map((count) => count / 20_000);
  expect(words.size).toBeGreaterThan(200);
  expect(Math.min(...shares)).toBeGreaterThan(0.005);
  expect(Math.max(...shares)).toBeLessThan(0.05);
});

it("rounds prices to usual amounts, in the minor units of each currency", () => {
  const price = createBulkProductRows(7, context).price.slice(0, 2);
  expect(price.map(({ amountMinor }) => amountMinor % 10)).toEqual([0, 0]);
  expect(price[0]?.amountMinor).toBeGreaterThan(100);
});

it("creates the same product for the same seed and number, and a different product for a different seed", () => {
  expect(contentOf(1)).toEqual(contentOf(1));
  expect(contentOf(1)).not.toEqual(contentOf(2));
});

describeOnPostgres("bulk products", (open) => {
  let database: OpenedDatabase;
  let merchantId = "";

  beforeAll(async () => {
    database = await open();
    const { merchants } = await runInTransaction(database.db, (transaction) =>
      seedDemo(transaction, { now }),
    );
    merchantId = merchants.first.id;
  });

  const seed = (count: number, options: Partial<BulkProductOptions> = {}): Promise<void> =>
    seedBulkProducts(database.db, { merchantId, count, now, index: async () => undefined, ...options });
  const rows = async (text: string): Promise<Record<string, unknown>[]> =>
    (await database.script((run) => run(text))).flat();
  const countOfProducts = async (): Promise<number> => {
    const [row] = await rows(
      `select count(*)::int as count from product where merchant_id = '${merchantId}'`,
    );
    return Number(row?.["count"]);
  };
  const versionOfCatalog = async (): Promise<unknown> =>
    (await rows(`select catalog_version from merchant where id = '${merchantId}'`))[0]?.["catalog_version"];

  it("adds 300 complete products, in the transaction that updates the index", async () => {
    const indexed: string[] = [];
    const progress: number[] = [];
    const already = await countOfProducts();
    await seed(300, {
      index: async (transaction, ids) => {
        const { rows: found } = await sql<{
          id: string;
        }>`select id from product where id = any(${ids}::text[])`.execute(transaction);
        indexed.push(...found.map(({ id }) => id));
      },
      onProgress: (done) => progress.push(done),
    });
    expect(progress).toEqual([300]);
    expect(new Set(indexed).size).toBe(300);
    const list = indexed.map((id) => `'${id}'`).join(",");
    const [counts] = await rows(
      `select count(*)::int as products,
         count(*) filter (where exists (select from product_translation t where t.product_id = p.id
         and t.locale = 'de'))::int as german,
         bool_and((select count(*) between 1 and 2 from variant v where v.product_id = p.id)) as variants,
         bool_and((select count(*) from media m where m.product_id = p.id) = 1) as media,
         bool_and((select count(*) from product_category c where c.product_id = p.id) = 2) as categories,
         bool_and((select count(*) = 3 * (select count(*) from variant v where v.product_id = p.id)
                   from price join variant v on v.id = price.variant_id where v.product_id = p.id)) as prices,
         bool_and(not exists (select from variant v join stock_level s on s.variant_id = v.id
         where v.product_id = p.id
                   and s.on_hand <> coalesce((select sum(delta) from stock_movement m
                   where m.variant_id = v.id), 0))) as stock
       from product p where p.id in (${list})`,
    );
    const german = Number(counts?.["german"]);
    expect(counts).toEqual({
      products: 300,
      german,
      variants: true,
      media: true,
      categories: true,
      prices: true,
      stock: true,
    });
    expect(german).toBeGreaterThan(110);
    expect(german).toBeLessThan(190);
    const titles = await rows(
      `select title from product_translation where locale = 'en' and product_id in (${list})`,
    );
    const expected = Array.from(
      { length: 300 },
      (_, index) => createBulkProductRows(already + 1 + index, context).productTranslation[0]?.title ?? "",
    );
    expect(titles.map(({ title }) => String(title)).toSorted()).toEqual(expected.toSorted());
    const gtins = await rows("select gtin from variant where gtin is not null");
    expect(gtins.filter(({ gtin }) => !hasGtinCheckDigit(String(gtin)))).toEqual([]);
    expect(await versionOfCatalog()).toBe(2);
  });

  it("continues after the existing products, in several transactions", async () => {
    const progress: number[] = [];
    const before = await countOfProducts();
    await seed(2100, { onProgress: (done) => progress.push(done) });
    expect(await countOfProducts()).toBe(before + 2100);
    expect(progress).toHaveLength(3);
    expect(progress.at(-1)).toBe(2100);
    expect(await versionOfCatalog()).toBe(5);
  });

  it("stops at the first failure and keeps no product of a failed batch", async () => {
    const before = await countOfProducts();
    let calls = 0;
    const index = async (): Promise<void> => {
      calls += 1;
      if (calls > 1) throw new Error("The index is full.");
    };
    await expect(seed(10_000, { index })).rejects.toThrow("The index is full.");
    // The first batch, then at most one batch in each of the two lanes.
    expect(calls).toBeLessThanOrEqual(3);
    expect(await countOfProducts()).toBe(before + 1000);
  });

  it("refuses a merchant without a market, and a count out of range", async () => {
    const before = await countOfProducts();
    await expect(seed(1, { merchantId: "mer_none" })).rejects.toThrow("no market");
    await expect(seed(1_000_001)).rejects.toThrow("count must be");
    await expect(seed(-1)).rejects.toThrow("count must be");
    await expect(seed(0.5)).rejects.toThrow("count must be");
    expect(await countOfProducts()).toBe(before);
  });
});

/** Returns the compared values of 50 products, without ids. */
function contentOf(seed: number): unknown[] {
  return Array.from({ length: 50 }, (_, number) => {
    const rows = createBulkProductRows(number, { ...context, seed });
    return [
      rows.product.brand,
      rows.product.publishedAt,
      rows.productTranslation.map(({ locale, slug, title }) => [locale, slug, title]),
      rows.variant.map(({ sku, gtin, options }) => [sku, gtin, options]),
      rows.price.map(({ marketId, amountMinor, compareAtMinor }) => [marketId, amountMinor, compareAtMinor]),
      rows.stockLevel.map(({ onHand }) => onHand),
    ];
  });
}
