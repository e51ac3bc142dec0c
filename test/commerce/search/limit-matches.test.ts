/** Searches of a large catalogue rank only the most popular of too many matches. */
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { buildTsqueriesLimitingRankedDocuments } from "#commerce/search/limit-matches.ts";
import { refreshProductPopularity } from "#commerce/search/refresh-popularity.ts";
import {
  defaultSearchMatchLimits,
  type SearchMatchLimits,
  type ProductSearchInput,
} from "#commerce/search/search-form.ts";
import { searchProducts, type ProductSearchResults } from "#commerce/search/search-products.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import { addIndexed, addMerchants, now, type ProductSpec } from "./catalogue.ts";
import { generatedMerchants } from "./generated-catalogue.ts";

const limits: SearchMatchLimits = { documentsMin: 100, titlesMax: 100, othersMax: 60 };
const fans = 600;

/** Fans, of which every tenth was sold; three with a rare word in the title that all descriptions have. */
const products: ProductSpec[] = Array.from({ length: fans }, (_, index) => ({
  id: `fan${index}`,
  merchant: "m0",
  titles: {
    en: {
      title: index < 3 ? `Quiet fan ${index}` : `Tower fan ${index}`,
      description: "Quiet and frugal.",
    },
  },
  categories: ["lamps"],
  prices: { EUR: 1000 + index },
  stock: 5,
  popularity: index >= 3 && index % 10 === 5 ? 7 : 0,
}));

describeOnBoth("a search with too many matches", (open) => {
  let database: OpenedDatabase;
  const search = (
    input: Partial<ProductSearchInput>,
    matchLimits = defaultSearchMatchLimits,
  ): Promise<ProductSearchResults> =>
    searchProducts(
      database.db,
      { q: "", locale: "en", market: "DE", sort: "relevance", page: 1, pageSize: 100, matchLimits, ...input },
      now,
    );
  const idsOf = ({ summaries }: ProductSearchResults): string[] => summaries.map(({ kept }) => kept.id);

  beforeAll(async () => {
    database = await open();
    await addMerchants(database, generatedMerchants(1));
    await addIndexed(database, products);
    await database.script((run) => run("analyze search_document"));
    // The number of documents is known from the second search on.
    await search({ q: "fan" });
  });

  it("ranks sold products first, and a part of the others", async () => {
    const [all, limited] = [await search({ q: "fan" }), await search({ q: "fan" }, limits)];
    expect([all.totalItems, all.totalItemsRelation]).toEqual([fans, "exact"]);
    expect(limited.totalItemsRelation).toBe("at_least");
    expect(limited.totalItems).toBeLessThan(fans / 2);
    expect(limited.totalItems).toBeGreaterThan(0);
    const found = new Set(idsOf(limited));
    const sold = products.filter(({ popularity = 0 }) => popularity > 0).map(({ id }) => id);
    expect(sold.filter((id) => found.has(id)).length).toBeGreaterThan(0);
    expect(idsOf(limited)).toEqual(idsOf(await search({ q: "fan" }, limits)));
  });

  it("finds every product with the word in its title, even if none was sold", async () => {
    const limited = await search({ q: "quiet" }, limits);
    expect(limited.totalItemsRelation).toBe("at_least");
    expect(idsOf(limited).slice(0, 3).toSorted()).toEqual(["fan0", "fan1", "fan2"]);
  });

  it("keeps the filters, and counts facets over the ranked products", async () => {
    const filtered = await search({ q: "fan", category: "lamps", merchant: "shop-0" }, limits);
    const availability = filtered.facets.find(({ key }) => key === "availability");
    expect(availability?.buckets.reduce((sum, { count }) => sum + count, 0)).toBe(filtered.totalItems);
    expect((await search({ q: "fan", category: "shoes" }, limits)).totalItems).toBe(0);
  });

  it("ranks all matches in other orders, with few matches, and in small catalogues", async () => {
    expect((await search({ q: "fan", sort: "price_asc" }, limits)).totalItems).toBe(fans);
    expect((await search({ q: "fan 17" }, limits)).totalItemsRelation).toBe("exact");
    expect((await search({ q: "fan" }, defaultSearchMatchLimits)).totalItems).toBe(fans);
  });

  it("follows the popularity", async () => {
    await refreshProductPopularity({ db: database.db, now });
    const { rows } = await sql<{ step: string; count: number }>`select lexeme as step, count(*)::int as count
      from search_document, unnest(words) where lexeme like '+%' group by 1`.execute(database.db);
    expect(rows).toEqual([{ step: "+0", count: fans }]);
  });
});

describe("the limits of matches", () => {
  it("prefer high popularity steps, and divide the step that no longer fits", () => {
    const steps = [
      { step: 0, candidates: 600, matches: 500, titles: 400 },
      { step: 2, candidates: 20, matches: 20, titles: 10 },
      { step: 5, candidates: 2, matches: 2, titles: 1 },
    ];
    const { titles = "", others = "" } =
      buildTsqueriesLimitingRankedDocuments(steps, { ...limitsOf(1000), othersMax: 200 }) ?? {};
    expect(titles).toMatch(/^\('\+9' \| .*'\+5' \| '\+4' \| '\+3' \| '\+2' \| '\+1' \| '%1'\)$/);
    // About 128 of the 200 documents have step 5, which leaves 72 of the 1280 with step 2: 3.6 of 64.
    expect(others).toMatch(/'\+3' \| '\+2' & '%2'\)$/);
  });

  it("are left out if all matches can be ranked", () => {
    expect(
      buildTsqueriesLimitingRankedDocuments(
        [{ step: 0, candidates: 15, matches: 15, titles: 5 }],
        limitsOf(1000),
      ),
    ).toBeUndefined();
    expect(buildTsqueriesLimitingRankedDocuments([], limitsOf(1000))).toBeUndefined();
  });
});

const limitsOf = (titlesMax: number): SearchMatchLimits => ({ documentsMin: 0, titlesMax, othersMax: 0 });
