/** The search index matches the catalog after each change, for any texts. */
import { sql } from "kysely";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { indexProducts } from "#commerce/search/index-products.ts";
import { searchProducts } from "#commerce/search/search-products.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import { addIndexed, addMerchants, addProducts, now } from "./catalogue.ts";

const counted = (
  id: string,
): { id: string; merchant: string; titles: Record<string, string>; categories: string[] } => ({
  id,
  merchant: "mer_a",
  titles: { en: "Counted", de: "Gezählt" },
  categories: ["leaf"],
});

describeOnBoth("indexing products", (open) => {
  let database: OpenedDatabase;
  let statements = 0;

  const index = (ids: readonly string[], at = now): Promise<void> =>
    runInTransaction(database.db, (transaction) => indexProducts(transaction, ids, at));
  const found = async (q: string, market = "DE"): Promise<string[]> => {
    const input = { q, locale: "en", market, sort: "relevance", page: 1, pageSize: 100 } as const;
    return (await searchProducts(database.db, input, now)).hits.map((hit) => hit.productId).toSorted();
  };
  const offers = (productId: string): Promise<unknown[]> =>
    database.db
      .selectFrom("searchOffer")
      .select([
        "country",
        "currency",
        "minMinor",
        "maxMinor",
        "availability",
        "inStock",
        "categoryKeys",
        "locales",
        "fallbackLocale",
      ])
      .where("productId", "=", productId)
      .orderBy("country")
      .execute();

  beforeAll(async () => {
    database = await open({ onStatement: () => (statements += 1) });
    await addMerchants(database, [
      {
        id: "mer_a",
        slug: "a",
        locale: "en",
        markets: [
          { countries: ["DE", "AT"], currency: "EUR", locale: "de" },
          { countries: ["JP"], currency: "JPY", locale: "ja" },
        ],
        categories: [
          { slug: "top", names: { en: "Topmost" } },
          { slug: "leaf", parent: "top", names: { de: "Blatt" } },
        ],
      },
      { id: "mer_b", slug: "b", markets: [{ countries: ["DE"], currency: "EUR", locale: "de" }] },
    ]);
  });
  beforeEach(() => {
    statements = 0;
  });

  it("writes one offer per country of the markets with a price, each with its fallback locale", async () => {
    const titles = { en: "Lantern", de: "Laterne" };
    await addIndexed(database, [
      {
        id: "p_lantern",
        merchant: "mer_a",
        titles,
        categories: ["leaf"],
        prices: { EUR: 500, JPY: 90 },
        stock: 3,
      },
    ]);
    const same = { availability: "low_stock", inStock: true, locales: ["de", "en"] };
    const euro = { ...same, currency: "EUR", minMinor: 500, maxMinor: 500, fallbackLocale: "de" };
    expect(await offers("p_lantern")).toEqual([
      { ...euro, country: "AT", categoryKeys: ["AT/leaf", "AT/top"] },
      { ...euro, country: "DE", categoryKeys: ["DE/leaf", "DE/top"] },
      {
        ...same,
        country: "JP",
        currency: "JPY",
        minMinor: 90,
        maxMinor: 90,
        fallbackLocale: "en",
        categoryKeys: ["JP/leaf", "JP/top"],
      },
    ]);
    const documents = await database.db
      .selectFrom("searchDocument")
      .select(["locale", "stemmer", "titleWords"])
      .where("productId", "=", "p_lantern")
      .orderBy("locale")
      .execute();
    expect(documents).toEqual([
      { locale: "de", stemmer: "german", titleWords: ["laterne"] },
      { locale: "en", stemmer: "english", titleWords: ["lantern"] },
    ]);
    expect(await found("topmost")).toEqual(["p_lantern"]);
  });

  it("stores the lowest and highest price and the best availability of the market's variants", async () => {
    await addProducts(database, [
      { id: "p_many", merchant: "mer_a", titles: { en: "Many" }, prices: { EUR: 700 }, stock: 0 },
    ]);
    const variant = {
      merchantId: "mer_a",
      productId: "p_many",
      restrictions: [],
      requiresShipping: true,
      createdAt: now,
      updatedAt: now,
    };
    const rows = Array.from({ length: 200 }, (_, position) => ({
      ...variant,
      id: `var_many_${position}`,
      sku: `MANY-${"x".repeat(40)}-${position}`,
      options: JSON.stringify({ n: String(position) }),
      position: position + 1,
    }));
    await database.db.insertInto("variant").values(rows).execute();
    const price = {
      merchantId: "mer_a",
      marketId: "mkt_mer_a_EUR",
      validFrom: new Date("2026-01-01T00:00:00Z"),
    };
    await database.db
      .insertInto("price")
      .values([
        { ...price, variantId: "var_many_0", amountMinor: 100, validUntil: now },
        { ...price, variantId: "var_many_1", amountMinor: 900 },
      ])
      .execute();
    await database.db
      .insertInto("stockLevel")
      .values({ merchantId: "mer_a", variantId: "var_many_1", onHand: 0, backorderLimit: 5, updatedAt: now })
      .execute();
    await database.db
      .insertInto("stockLevel")
      .values({ merchantId: "mer_a", variantId: "var_many_2", onHand: 50, updatedAt: now })
      .execute();
    await index(["p_many"]);
    expect(await offers("p_many")).toMatchObject([
      { country: "AT", minMinor: 700, maxMinor: 900, availability: "backorder", inStock: false },
      { country: "DE", minMinor: 700, maxMinor: 900, availability: "backorder", inStock: false },
    ]);
    expect(await found(`MANY-${"x".repeat(40)}-199`)).toEqual(["p_many"]);
  });

  it("follows the catalog: changed, archived, without price, without merchant, deleted", async () => {
    const ids = ["p_one", "p_two", "p_three", "p_four"];
    await addIndexed(
      database,
      ids.map((id) => ({ id, merchant: id === "p_four" ? "mer_b" : "mer_a", titles: { en: "Follower" } })),
    );
    expect(await found("follower")).toEqual(ids.toSorted());
    await index([...ids, ...ids]);
    expect(await found("follower")).toEqual(ids.toSorted());
    await database.db
      .updateTable("productTranslation")
      .set({ title: "Leader" })
      .where("productId", "=", "p_one")
      .execute();
    await database.db.updateTable("product").set({ status: "archived" }).where("id", "=", "p_two").execute();
    await database.db
      .updateTable("price")
      .set({ validUntil: new Date("2026-07-01T00:00:00Z") })
      .where("variantId", "=", "var_p_three")
      .execute();
    await database.db
      .updateTable("merchant")
      .set({ status: "suspended" })
      .where("id", "=", "mer_b")
      .execute();
    await index(ids);
    expect([await found("follower"), await found("leader")]).toEqual([[], ["p_one"]]);
    const { rows } = await sql<{
      count: number;
    }>`select count(*) from search_offer where product_id = any(${ids}::text[])`.execute(database.db);
    expect(rows[0]?.count).toBe(3);
    await index(["p_never_there"]);
  });

  it("accepts any text", async () => {
    const texts = [
      "'; drop table product; --",
      "back\\slash 'quote' \"double\"",
      "a:1A b:* & | ! ( )",
      "👟",
      "ก".repeat(200),
      "字".repeat(200),
      "𝒳".repeat(100),
      "'~' '#top' '@mer_a'",
    ];
    const products = texts.map((title, position) => ({
      id: `p_text_${position}`,
      merchant: "mer_a",
      titles: { en: { title, description: texts.join("\n") } },
      brand: title,
      sku: `${position}/${title}`,
    }));
    await addIndexed(database, products);
    const { rows } = await sql<{
      title: string;
    }>`select title from search_document where product_id like 'p_text_%' order by product_id`.execute(
      database.db,
    );
    expect(rows.map(({ title }) => title)).toEqual(texts);
    expect(await found("slash quote")).toContain("p_text_1");
  });

  it("needs as many statements for many products as for one", async () => {
    const many = Array.from({ length: 200 }, (_, position) => counted(`p_counted_${position}`));
    await addProducts(database, [counted("p_single"), ...many]);
    statements = 0;
    await index(["p_single"]);
    const forOne = statements;
    statements = 0;
    await index(many.map(({ id }) => id));
    expect(statements).toBe(forOne);
    expect(forOne).toBeLessThanOrEqual(14);
    expect((await found("counted")).length).toBe(100);
  });

  it("leaves nothing behind if the transaction is rolled back", async () => {
    await addProducts(database, [{ id: "p_undone", merchant: "mer_a", titles: { en: "Undone" } }]);
    const given = runInTransaction(database.db, async (transaction) => {
      await indexProducts(transaction, ["p_undone"], now);
      throw new Error("given up");
    });
    await expect(given).rejects.toThrow("given up");
    expect(await found("undone")).toEqual([]);
  });

  it("lets two transactions index the same products and the same words concurrently", async () => {
    const words = Array.from({ length: 24 }, (_, position) => `Word${position}`);
    const products = words.map((_, position) => ({
      id: `p_twice_${position}`,
      merchant: "mer_a",
      titles: { en: words.toSorted(() => (position % 2) - 0.5).join(" ") },
    }));
    await addProducts(database, products);
    const ids = products.map(({ id }) => id);
    await Promise.all([
      index(ids),
      index(ids.toReversed()),
      index(ids.slice(10)),
      index(ids.slice(0, 30).toReversed()),
    ]);
    expect(await found("word1 word23")).toEqual(ids.toSorted());
  });
});
