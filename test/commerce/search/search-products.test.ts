/** The contract of search, tested on a catalog made for this purpose. */
import { sql } from "kysely";
import { beforeAll, expect, it } from "vitest";
import { type ProductSearchInput, searchSorts } from "#commerce/search/search-form.ts";
import { searchProducts, type ProductSearchResults } from "#commerce/search/search-products.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import { addIndexed, now } from "./catalogue.ts";
import { openSmallCatalogue } from "./small-catalogue.ts";

describeOnBoth("product search", (open) => {
  let database: OpenedDatabase;
  const search = (input: Partial<ProductSearchInput>): Promise<ProductSearchResults> =>
    searchProducts(
      database.db,
      { q: "", locale: "en", market: "DE", sort: "relevance", page: 1, pageSize: 20, ...input },
      now,
    );
  const ids = async (input: Partial<ProductSearchInput>): Promise<string[]> =>
    (await search(input)).hits.map((hit) => hit.productId);

  beforeAll(async () => {
    database = await open();
    await openSmallCatalogue(database);
  });

  it.each([
    [
      "title phrase, in stock first, then scattered title words, then the description",
      "running shoes",
      "en",
      "DE",
      ["p_runner", "p_runner_sold", "p_shoe_rack", "p_sock"],
    ],
    ["the other number of a word", "shoe rack", "en", "US", ["p_shoe_rack"]],
    ["the last word as a prefix", "cloud run", "en", "DE", ["p_runner"]],
    ["an exact SKU", "CLD-100-BLK", "en", "DE", ["p_runner"]],
    ["a SKU however it is punctuated", "cld100 blk", "en", "DE", ["p_runner"]],
    ["the beginning of a SKU", "cld-1", "en", "DE", ["p_runner"]],
    ["a GTIN", "4006381333931", "en", "DE", ["p_runner"]],
    ["a GTIN without its leading zeros", "012345678905", "en", "DE", ["p_runner_sold"]],
    ["a brand", "nimbus", "en", "DE", ["p_cap", "p_runner", "p_runner_sold"]],
    [
      "a word of the title and the brand",
      "nimbus running",
      "en",
      "DE",
      ["p_runner", "p_runner_sold", "p_cap"],
    ],
    ["an ancestor category's name", "footwear", "en", "US", ["p_runner", "p_cap", "p_runner_sold"]],
    ["German, stemmed", "laufschuh", "de", "DE", ["p_runner", "p_runner_sold"]],
    ["German without umlaut and ß", "grune strassenleder", "de", "DE", ["p_sandal"]],
    ["German, a stop word of the query", "regal für schuhe", "de", "DE", ["p_shoe_rack"]],
    ["a stop word the text does not have", "the cloud shoes", "en", "DE", ["p_runner"]],
    [
      "a stop word with an accent the text does not have",
      "storm für laufschuhe",
      "de",
      "DE",
      ["p_runner_sold"],
    ],
    ["a hyphenated brand written in one", "quatro cap", "en", "DE", ["p_cap"]],
    ["a hyphenated word written in one", "tshirt", "en", "DE", ["p_tee"]],
    ["a hyphenated word", "t-shirt", "de", "DE", ["p_tee"]],
    ["Japanese cut otherwise than in the title", "シューズ", "ja", "JP", ["p_runner"]],
    ["Japanese in full", "ランニングシューズ", "ja", "JP", ["p_runner"]],
    ["Japanese, a part no dictionary knows", "ングシュ", "ja", "JP", ["p_runner"]],
    ["Japanese in half width", "ｸﾗｳﾄﾞ", "ja", "JP", ["p_runner"]],
    ["one Chinese character", "靴", "ja", "JP", ["p_runner"]],
    ["words of two scripts", "クラウド nimbus", "ja", "JP", ["p_runner"]],
    ["a product that lacks the locale, in the market's", "hiking boots", "fr", "DE", []],
    ["a product that lacks the locale, in the market's words", "wanderstiefel", "fr", "DE", ["p_boot"]],
    ["the language of a regional locale", "laufschuhe cloud", "de-CH", "DE", ["p_runner"]],
    ["not the other language of a product that has the asked one", "laufschuhe", "en", "DE", []],
    [
      "French without accents in a Japanese market's fallback",
      "bouilloire elegante",
      "fr",
      "JP",
      ["p_kettle"],
    ],
  ])("finds %s: %s (%s, %s)", async (...[, q, locale, market, expected]) => {
    const { hits, query } = await search({ q, locale, market });
    expect(hits.map((hit) => hit.productId)).toEqual(expected);
    expect(query.corrected).toBeNull();
  });

  it("ranks an exact code above a code's prefix, title phrase, words, brand, description", async () => {
    await addIndexed(database, [
      {
        id: "p_zed_1_text",
        merchant: "mer_beta",
        titles: { en: { title: "Thing", description: "about zed 12" } },
        prices: { GBP: 1 },
      },
      {
        id: "p_zed_2_brand",
        merchant: "mer_beta",
        titles: { en: "Thing" },
        brand: "Zed 12",
        prices: { GBP: 1 },
      },
      {
        id: "p_zed_3_words",
        merchant: "mer_beta",
        titles: { en: "12 in Zed" },
        stock: 0,
        prices: { GBP: 1 },
      },
      { id: "p_zed_5_phrase", merchant: "mer_beta", titles: { en: "The Zed 12" }, prices: { GBP: 1 } },
      {
        id: "p_zed_6_prefix",
        merchant: "mer_beta",
        titles: { en: "Other" },
        sku: "ZED-123",
        prices: { GBP: 1 },
      },
      {
        id: "p_zed_7_exact",
        merchant: "mer_beta",
        titles: { en: "Other" },
        sku: "ZED-12",
        prices: { GBP: 1 },
      },
      {
        id: "p_zed_4_sold",
        merchant: "mer_beta",
        titles: { en: "The Zed 12" },
        stock: 0,
        prices: { GBP: 1 },
      },
    ]);
    const { hits } = await search({ q: "zed 12", market: "GB" });
    const ranked = [
      "p_zed_7_exact",
      "p_zed_6_prefix",
      "p_zed_5_phrase",
      "p_zed_4_sold",
      "p_zed_3_words",
      "p_zed_2_brand",
      "p_zed_1_text",
    ];
    expect(hits.map((hit) => hit.productId)).toEqual(ranked);
    expect(hits.map((hit) => hit.score)).toEqual(hits.map((hit) => hit.score).toSorted((a, b) => b - a));
    expect(hits.map((hit) => hit.matched)).toEqual([
      ["sku"],
      ["sku"],
      ["title"],
      ["title"],
      ["title"],
      ["brand"],
      ["description"],
    ]);
  });

  it("reports the fields that matched, and highlights the words in the title as HTML", async () => {
    const { hits } = await search({ q: "men shirt" });
    expect(hits).toEqual([
      {
        productId: "p_tee",
        locale: "en",
        score: expect.any(Number),
        matched: ["title"],
        titleHighlight: "<mark>Men</mark>&#39;s T-<mark>Shirt</mark> &lt;b&gt;&amp;",
        explanation: null,
      },
    ]);
    const highlightOf = async (q: string, locale: string): Promise<unknown> =>
      (await search({ q, locale, market: locale === "ja" ? "JP" : "DE" })).hits[0]?.titleHighlight;
    expect(await highlightOf("laufschuh", "de")).toBe("Cloud <mark>Laufschuhe</mark>");
    expect(await highlightOf("シューズ", "ja")).toBe("クラウド ランニング<mark>シューズ</mark>");
    expect(await highlightOf("ｸﾗｳﾄﾞ ランニング", "ja")).toBe(
      "<mark>クラウド</mark> <mark>ランニング</mark>シューズ",
    );
    expect(await highlightOf("4006381333931", "en")).toBeNull();
  });

  it("returns each product once, in the requested locale or its fallback", async () => {
    const localesOf = async (locale: string): Promise<Record<string, string>> =>
      Object.fromEntries((await search({ locale })).hits.map((hit) => [hit.productId, hit.locale]));
    expect(await localesOf("de-AT")).toMatchObject({
      p_runner: "de",
      p_cap: "en",
      p_kettle: "fr",
      p_boot: "de",
    });
    expect(await localesOf("en")).toMatchObject({
      p_runner: "en",
      p_sandal: "de",
      p_kettle: "fr",
      p_boot: "en",
    });
    expect(await localesOf("fr")).toMatchObject({
      p_runner: "de",
      p_cap: "en",
      p_kettle: "fr",
      p_boot: "de",
    });
    expect((await search({ locale: "fr", market: "US" })).localeResolved).toBe("en");
    const everywhere = await ids({ q: "nimbus", locale: "xx" });
    expect(everywhere.toSorted()).toEqual(["p_cap", "p_runner", "p_runner_sold"]);
    expect((await search({ q: "laufschuhe", locale: "xx" })).localeResolved).toBe("de");
    expect((await search({ q: "nothing like it at all", locale: "xx" })).localeResolved).toBe("xx");
  });

  it("returns no products that are not sold in the country or not published", async () => {
    expect(await ids({ market: "FR" })).toEqual([]);
    expect(await ids({ market: "JP" })).toEqual(["p_runner", "p_sock", "p_kettle"]);
    expect(await ids({ q: "hiking boots", market: "GB" })).toEqual(["p_boot"]);
    expect(await ids({ market: "US" })).not.toContain("p_kettle");
  });

  it("browses by popularity, then the newer, then the smaller id", async () => {
    const all = [
      "p_runner_sold",
      "p_runner",
      "p_boot",
      "p_sandal",
      "p_tee",
      "p_cap",
      "p_sock",
      "p_shoe_rack",
      "p_kettle",
    ];
    expect(await ids({})).toEqual(all);
    expect(await ids({ q: "   " })).toEqual(all);
    expect(await ids({ sort: "popularity" })).toEqual(all);
    expect(await ids({ sort: "newest" })).toEqual([
      "p_boot",
      "p_sandal",
      "p_kettle",
      "p_tee",
      "p_cap",
      "p_sock",
      "p_shoe_rack",
      "p_runner_sold",
      "p_runner",
    ]);
  });

  it("sorts by the displayed titles, and by prices with the most common currency first", async () => {
    expect(await ids({ sort: "title_asc", locale: "de" })).toEqual([
      "p_kettle",
      "p_runner",
      "p_sandal",
      "p_tee",
      "p_sock",
      "p_cap",
      "p_shoe_rack",
      "p_runner_sold",
      "p_boot",
    ]);
    const euros = ["p_sock", "p_tee", "p_cap", "p_kettle", "p_shoe_rack", "p_runner_sold", "p_runner"];
    expect(await ids({ sort: "price_asc" })).toEqual([...euros, "p_boot", "p_sandal"]);
    expect(await ids({ sort: "price_desc" })).toEqual([...euros.toReversed(), "p_sandal", "p_boot"]);
    expect(await ids({ sort: "price_asc", q: "s" })).toEqual(
      expect.arrayContaining(["p_runner", "p_sandal"]),
    );
    const [price, popularity] = [await search({ sort: "price_asc" }), await search({ sort: "popularity" })];
    expect([
      price.currency,
      popularity.currency,
      (await search({ market: "GB", q: "boots" })).currency,
    ]).toEqual(["EUR", "EUR", "GBP"]);
    expect((await search({ market: "FR" })).currency).toBeNull();
  });

  it("filters by category with its descendants and by merchant; unknown ids match nothing", async () => {
    expect((await ids({ category: "footwear" })).toSorted()).toEqual([
      "p_boot",
      "p_cap",
      "p_runner",
      "p_runner_sold",
      "p_sandal",
    ]);
    expect((await ids({ category: "running" })).toSorted()).toEqual(["p_cap", "p_runner", "p_runner_sold"]);
    expect(await ids({ category: "trail" })).toEqual(["p_runner_sold"]);
    expect(await ids({ category: "trail", q: "shoes" })).toEqual(["p_runner_sold"]);
    expect((await ids({ category: "footwear", merchant: "beta" })).toSorted()).toEqual([
      "p_boot",
      "p_sandal",
    ]);
    expect((await ids({ merchant: "beta", q: "s" })).toSorted()).toEqual(["p_sandal"]);
    expect(await ids({ merchant: "beta", category: "footwear", q: "boots", sort: "title_asc" })).toEqual([
      "p_boot",
    ]);
    for (const q of ["", "shoes"]) {
      expect(await ids({ q, category: "unknown" })).toEqual([]);
      expect(await ids({ q, merchant: "unknown" })).toEqual([]);
    }
  });

  it("counts facets over all matches, labeled in the requested locale", async () => {
    const { facets, totalItems } = await search({ locale: "de", pageSize: 1 });
    expect(totalItems).toBe(9);
    expect(facets.map(({ key }) => key)).toEqual(["category", "merchant", "brand", "availability", "price"]);
    const [category, merchant, brand, availability, price] = facets.map(({ buckets }) => buckets);
    expect(category).toEqual([
      { value: "footwear", label: "Schuhwerk", count: 5 },
      { value: "running", label: "Laufen", count: 3 },
      { value: "home", label: "Wohnen", count: 2 },
      { value: "trail", label: "Trail", count: 1 },
    ]);
    expect(merchant).toEqual([
      { value: "alpha", label: "Shop alpha", count: 7 },
      { value: "beta", label: "Shop beta", count: 2 },
    ]);
    expect(brand?.[0]).toEqual({ value: "Nimbus", label: "Nimbus", count: 2 });
    expect(availability).toEqual([
      { value: "in_stock", label: "in_stock", count: 8 },
      { value: "out_of_stock", label: "out_of_stock", count: 1 },
    ]);
    expect(price?.map(({ value, count }) => [value, count])).toEqual([
      ["1000-2000", 1],
      ["2000-5000", 4],
      ["5000-10000", 1],
      ["10000-20000", 1],
    ]);
    expect(price?.[1]?.label).toMatch(/^20.50\s€$/u);
    expect((await search({ q: "no such thing" })).facets.every(({ buckets }) => buckets.length === 0)).toBe(
      true,
    );
  });

  it("corrects a misspelled word if no product has all words, and reports it", async () => {
    const corrected = await search({ q: "runnign shos" });
    expect(corrected.query).toEqual({ normalized: "runnign shos", corrected: "running shoes", dropped: [] });
    expect(corrected.hits[0]).toMatchObject({
      productId: "p_runner",
      titleHighlight: "Cloud <mark>Running</mark> <mark>Shoes</mark>",
    });
    expect((await search({ q: "lauffschuhe", locale: "de" })).query.corrected).toBe("laufschuhe");
    expect((await search({ q: "nimbsu runing" })).query.corrected).toBe("nimbus running");
    const right = await search({ q: "running shoes" });
    expect(right.query).toEqual({ normalized: "running shoes", corrected: null, dropped: [] });
    expect(await search({ q: "qqqqqq" })).toMatchObject({
      totalItems: 0,
      query: { normalized: "qqqqqq", corrected: null, dropped: [] },
    });
  });

  it.each([
    ["an unknown word", "running qqqqqq", null, ["qqqqqq"]],
    ["an unknown word beside a corrected one", "runnign qqqqqq", "running qqqqqq", ["qqqqqq"]],
    ["a word, if no product has all known words", "boot storm shoes", null, ["boot"]],
    ["a beginning of a word that is not the last", "cl running", null, ["cl"]],
    ["a word that describes no product", "best running shoes", null, ["best"]],
  ])("leaves out %s", async (_name, q, corrected, dropped) => {
    const { totalItems, query } = await search({ q });
    expect(totalItems).toBeGreaterThan(0);
    expect(query).toMatchObject({ corrected, dropped });
  });

  it("leaves out a word also inside a category and a merchant", async () => {
    const inCategory = await search({ q: "running qqqqqq", category: "running", merchant: "alpha" });
    expect(inCategory.query.dropped).toEqual(["qqqqqq"]);
    expect(inCategory.totalItems).toBeGreaterThan(0);
  });

  it("does not correct to a word without products", async () => {
    await addIndexed(database, [
      { id: "p_gone", merchant: "mer_beta", titles: { en: "Zwibelbak" }, prices: { GBP: 1 } },
      { id: "p_stays", merchant: "mer_beta", titles: { en: "Zwibelbok" }, prices: { GBP: 1 } },
    ]);
    expect(await ids({ q: "zwibelbakt", market: "GB" })).toEqual(["p_gone"]);
    await database.db.deleteFrom("searchDocument").where("productId", "=", "p_gone").execute();
    expect((await search({ q: "zwibelbakt", market: "GB" })).query.corrected).toBe("zwibelbok");
  });

  it("ranks a title with the whole Japanese phrase above one with only its words", async () => {
    await addIndexed(database, [
      { id: "p_kanji_1", merchant: "mer_beta", titles: { ja: "靴の運動" }, prices: { GBP: 1 } },
      { id: "p_kanji_2", merchant: "mer_beta", titles: { ja: "白い運動靴" }, prices: { GBP: 1 } },
    ]);
    expect(await ids({ q: "運動靴", locale: "ja", market: "GB" })).toEqual(["p_kanji_2", "p_kanji_1"]);
  });

  it.each(searchSorts)(
    "returns the same products page by page, without duplicates or gaps, sorted by %s",
    async (sort) => {
      for (const q of ["", "tie"]) {
        if (q !== "" && sort === "relevance") {
          const ties = Array.from({ length: 23 }, (_, index) => ({
            id: `p_tie_${(index * 7) % 23}`,
            merchant: "mer_beta",
            titles: { en: "Tie" },
            prices: { GBP: 500 },
          }));
          await addIndexed(database, ties);
        }
        const whole = await ids({ q, sort, market: "GB", pageSize: 100 });
        const pages: string[] = [];
        for (let page = 1; page <= Math.ceil(whole.length / 4) + 1; page += 1)
          pages.push(...(await ids({ q, sort, market: "GB", page, pageSize: 4 })));
        expect(pages).toEqual(whole);
        expect(new Set(whole).size).toBe(whole.length);
      }
    },
  );

  it("returns only the totals after the last page", async () => {
    const { hits, totalItems, totalItemsRelation } = await search({ page: 5 });
    expect({ hits, totalItems, totalItemsRelation }).toEqual({
      hits: [],
      totalItems: 9,
      totalItemsRelation: "exact",
    });
  });

  it("hides a merchant's products on suspension and shows them again on reactivation", async () => {
    await database.db
      .updateTable("merchant")
      .set({ status: "suspended" })
      .where("id", "=", "mer_alpha")
      .execute();
    for (const sort of searchSorts) expect((await ids({ sort })).toSorted()).toEqual(["p_boot", "p_sandal"]);
    expect(await ids({ q: "running" })).toEqual([]);
    await database.db
      .updateTable("merchant")
      .set({ status: "active" })
      .where("id", "=", "mer_alpha")
      .execute();
    expect((await ids({ q: "running shoes" })).length).toBe(4);
  });

  it("reports when the index last changed", async () => {
    expect((await search({})).indexedAt).toEqual(now);
    const { rows } = await sql<{ count: number }>`select count(*) from search_document`.execute(database.db);
    expect(rows[0]?.count).toBeGreaterThan(0);
  });
});
