/**
 * With many products PostgreSQL must use its indexes: a statement that scans all documents gets slower with
 * the catalog's size.
 */
import { CompiledQuery } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { searchSorts, type ProductSearchInput } from "#commerce/search/search-form.ts";
import { searchProducts } from "#commerce/search/search-products.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { openFresh } from "#test/support/databases.ts";
import { addIndexed, addMerchants, now } from "./catalogue.ts";
import { generatedMerchants, generatedProducts } from "./generated-catalogue.ts";

describe("plans with 12 000 products", () => {
  let database: OpenedDatabase;
  let statements: { sql: string; parameters: readonly unknown[] }[] = [];

  beforeAll(async () => {
    database = await openFresh("postgres", { onStatement: ({ query }) => statements.push(query) });
    await addMerchants(database, generatedMerchants(10));
    await addIndexed(database, [...generatedProducts(12_000, 10)]);
    await database.script((run) => run("analyze"));
  });
  afterAll(() => database.close());

  it.each<Partial<ProductSearchInput>>([
    { q: "running shoes" },
    { q: "red wool sweater" },
    { q: "kalo" },
    { q: "Laufschuhe rot", locale: "de" },
    { q: "ランニングシューズ", locale: "ja" },
    { q: "LOS-12" },
    { q: "runnign shos" },
    { q: "the red lamp", category: "lamps" },
    { q: "blue bottle", merchant: "shop-3" },
    { q: "green mat", locale: "fr", market: "US" },
    { category: "shoes" },
    { merchant: "shop-3" },
    ...searchSorts.map((sort) => ({ sort, q: "desk lamp" })),
    // Sorting by title is left out: titles are not stored per offer, so that sort may read every offer.
    ...searchSorts.filter((sort) => sort !== "title_asc").map((sort) => ({ sort })),
  ])("%o reads only the documents it found", async (input) => {
    statements = [];
    await searchProducts(
      database.db,
      { q: "", locale: "en", market: "DE", sort: "relevance", page: 1, pageSize: 20, ...input },
      now,
    );
    for (const { sql, parameters } of statements.slice()) {
      for (const mode of ["force_custom_plan", "force_generic_plan"]) {
        const plan = await database.db.connection().execute(async (connection) => {
          await connection.executeQuery(CompiledQuery.raw(`set plan_cache_mode = ${mode}`));
          const { rows } = await connection.executeQuery<Record<string, unknown>>(
            CompiledQuery.raw(`explain (costs off) ${sql}`, [...parameters]),
          );
          await connection.executeQuery(CompiledQuery.raw("reset plan_cache_mode"));
          return rows.flatMap((row) => Object.values(row)).join("\n");
        });
        expect(plan).not.toMatch(/Seq Scan on search_document/);
      }
    }
  });

  it("counts and pages through at most 10 000 matches", async () => {
    for (const input of [
      ...searchSorts.map((sort) => ({ sort, q: "" })),
      { sort: "relevance" as const, q: "s" },
    ]) {
      const search = (page: number): ReturnType<typeof searchProducts> =>
        searchProducts(database.db, { locale: "en", market: "DE", page, pageSize: 100, ...input }, now);
      const last = await search(100);
      expect([last.totalItems, last.totalItemsRelation, last.hits.length]).toEqual([10_000, "at_least", 100]);
      expect(
        last.facets
          .flatMap(({ key, buckets }) => (key === "availability" ? buckets : []))
          .reduce((sum, { count }) => sum + count, 0),
      ).toBe(10_000);
      const beyond = await search(101);
      expect(beyond.hits).toEqual([]);
      const before = await search(99);
      const ids = new Set([...before.hits, ...last.hits].map((hit) => hit.productId));
      expect(ids.size).toBe(200);
    }
  });
});
