/** Cached search data (counts of a browse, stems of words) is never older than the results. */
import { sql } from "kysely";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { indexProducts } from "#commerce/search/index-products.ts";
import { refreshProductPopularity } from "#commerce/search/refresh-popularity.ts";
import type { ProductSearchInput } from "#commerce/search/search-form.ts";
import { searchProducts, type ProductSearchResults } from "#commerce/search/search-products.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { describeOnBoth, openFresh } from "#test/support/databases.ts";
import { addIndexed, addMerchants, addProducts, now } from "./catalogue.ts";
import { openSmallCatalogue } from "./small-catalogue.ts";

const browse: ProductSearchInput = {
  q: "",
  locale: "en",
  market: "DE",
  sort: "relevance",
  page: 1,
  pageSize: 20,
};
const isCount = (statement: string): boolean => statement.includes("grouping sets");

describeOnBoth("the counts of a browse", (open) => {
  let database: OpenedDatabase;
  const statements: string[] = [];
  const search = (input: Partial<ProductSearchInput> = {}): Promise<ProductSearchResults> =>
    searchProducts(database.db, { ...browse, ...input }, now);
  const counts = async (input: Partial<ProductSearchInput> = {}): Promise<number> => {
    statements.length = 0;
    await search(input);
    return statements.filter(isCount).length;
  };
  const bucket = (result: ProductSearchResults, key: string, value: string): number | undefined =>
    result.facets.find((facet) => facet.key === key)?.buckets.find((candidate) => candidate.value === value)
      ?.count;

  beforeAll(async () => {
    database = await open({ onStatement: (event) => statements.push(event.query.sql) });
    await openSmallCatalogue(database);
  });
  beforeEach(async () => {
    await search();
  });

  it("is counted once for all pages, and separately for each filter, order, country and locale", async () => {
    expect([await counts(), await counts({ page: 2, pageSize: 3 }), await counts({ page: 9 })]).toEqual([
      0, 0, 0,
    ]);
    const others = [
      { category: "footwear" },
      { merchant: "beta" },
      { sort: "newest" },
      { market: "JP" },
      { locale: "de" },
    ] as const;
    for (const other of others) expect([await counts(other), await counts(other)]).toEqual([1, 0]);
  });

  it("is the same from the cache as counted", async () => {
    for (const sort of ["newest", "price_asc", "title_asc"] as const) {
      const [counted, kept] = [await search({ sort, pageSize: 4 }), await search({ sort, pageSize: 4 })];
      expect(kept).toEqual(counted);
      expect((await search({ sort, pageSize: 4, page: 2 })).hits).toEqual(
        (await search({ sort, pageSize: 8 })).hits.slice(4),
      );
    }
  });

  it("follows indexing, renaming, suspension and purchases immediately", async () => {
    const { totalItems } = await search();
    await addIndexed(database, [
      { id: "p_new", merchant: "mer_beta", titles: { en: "New" }, prices: { CHF: 1 }, brand: "Brandnew" },
    ]);
    expect(bucket(await search(), "brand", "Brandnew")).toBe(1);
    expect((await search()).totalItems).toBe(totalItems + 1);
    await database.db.updateTable("product").set({ status: "archived" }).where("id", "=", "p_new").execute();
    await runInTransaction(database.db, (transaction) => indexProducts(transaction, ["p_new"], now));
    expect((await search()).totalItems).toBe(totalItems);
    await database.db.updateTable("merchant").set({ name: "Renamed" }).where("id", "=", "mer_beta").execute();
    expect(JSON.stringify((await search()).facets)).toContain("Renamed");
    await sql`update category set names = '{"en":"Everything for feet"}' where slug = 'footwear'`.execute(
      database.db,
    );
    expect(JSON.stringify((await search()).facets)).toContain("Everything for feet");
    await database.db
      .updateTable("merchant")
      .set({ status: "suspended" })
      .where("id", "=", "mer_beta")
      .execute();
    expect(bucket(await search(), "merchant", "beta")).toBeUndefined();
    await database.db
      .updateTable("merchant")
      .set({ status: "active" })
      .where("id", "=", "mer_beta")
      .execute();
    const [least] = (await search()).hits.slice(-1);
    await database.db
      .updateTable("product")
      .set({ popularity: 5000 })
      .where("id", "=", least?.productId ?? "")
      .execute();
    await sql`update search_offer set popularity = 5000 where product_id = ${least?.productId}`.execute(
      database.db,
    );
    expect((await search()).hits[0]?.productId).toBe(least?.productId);
    await refreshProductPopularity({ db: database.db, now });
    expect((await search()).hits[0]?.productId).not.toBe(least?.productId);
  });

  it("counts a transaction's changes inside of that transaction, and caches none of them", async () => {
    const { totalItems } = await search();
    await addProducts(database, [
      { id: "p_inside", merchant: "mer_beta", titles: { en: "Inside" }, prices: { CHF: 1 } },
    ]);
    const undone = runInTransaction(database.db, async (transaction) => {
      await indexProducts(transaction, ["p_inside"], now);
      expect((await searchProducts(transaction, browse, now)).totalItems).toBe(totalItems + 1);
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    expect((await search()).totalItems).toBe(totalItems);
  });

  it("uses the stems of a language from its first document on", async () => {
    await addIndexed(database, [
      { id: "p_swedish", merchant: "mer_beta", titles: { en: "Boat" }, prices: { CHF: 1 } },
    ]);
    expect((await search({ q: "båtarna", locale: "sv" })).hits).toEqual([]);
    await addIndexed(database, [
      { id: "p_boats", merchant: "mer_beta", titles: { sv: "Röda båtar" }, prices: { CHF: 1 } },
    ]);
    const { hits, query } = await search({ q: "båtarna", locale: "sv" });
    expect(hits.map(({ productId }) => productId)).toEqual(["p_boats"]);
    // The word is found by its stem, not by a corrected spelling.
    expect(query.corrected).toBeNull();
  });
});

describe("the cached browse counts on postgres, while other transactions write", () => {
  it("do not outlive the commit of a change that was uncommitted while they were counted", async () => {
    const database = await openFresh("postgres");
    try {
      await addMerchants(database, [
        { id: "mer_a", slug: "a", markets: [{ countries: ["DE"], currency: "EUR", locale: "en" }] },
      ]);
      await addIndexed(database, [{ id: "p_1", merchant: "mer_a", titles: { en: "One" } }]);
      await addProducts(database, [{ id: "p_2", merchant: "mer_a", titles: { en: "Two" } }]);
      const total = async (): Promise<number> => (await searchProducts(database.db, browse, now)).totalItems;
      const [indexed, read] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
      const change = runInTransaction(database.db, async (transaction) => {
        await indexProducts(transaction, ["p_2"], now);
        indexed.resolve(undefined);
        await read.promise;
      });
      await indexed.promise;
      // A younger transaction commits first: its id is larger and already visible.
      await database.db.updateTable("merchant").set({ name: "Younger" }).execute();
      expect([await total(), await total()]).toEqual([1, 1]);
      read.resolve(undefined);
      await change;
      expect([await total(), await total()]).toEqual([2, 2]);
    } finally {
      await database.close();
    }
  });
});
