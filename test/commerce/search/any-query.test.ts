/** A query is any text that a buyer typed: it is read as words and never becomes part of an SQL statement. */
import { beforeAll, beforeEach, expect, it } from "vitest";
import type { ProductSearchInput } from "#commerce/search/search-form.ts";
import { searchProducts, type ProductSearchResults } from "#commerce/search/search-products.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import { now } from "./catalogue.ts";
import { openSmallCatalogue } from "./small-catalogue.ts";

describeOnBoth("any query", (open) => {
  let database: OpenedDatabase;
  const statements: string[] = [];

  const search = (input: Partial<ProductSearchInput>): Promise<ProductSearchResults> =>
    searchProducts(
      database.db,
      { q: "", locale: "en", market: "DE", sort: "relevance", page: 1, pageSize: 20, ...input },
      now,
    );

  beforeAll(async () => {
    database = await open({ onStatement: (event) => statements.push(`${event.level}: ${event.query.sql}`) });
    await openSmallCatalogue(database);
  });
  beforeEach(() => {
    statements.length = 0;
  });

  it.each([
    "'",
    '"',
    "\\",
    "&",
    "|",
    "!",
    ":*",
    "()",
    "<->",
    "%",
    "_",
    ";--",
    "👟",
    "\u200b",
    "\ufffe",
    "...",
    "🏳️‍🌈 & !",
  ])("finds nothing by a query without words: %s", async (q) => {
    const { hits, totalItems, query } = await search({ q });
    expect({ hits, totalItems, query }).toEqual({
      hits: [],
      totalItems: 0,
      query: { normalized: "", corrected: null, dropped: [] },
    });
    expect((await search({ q, category: "running", merchant: "alpha" })).totalItems).toBe(0);
  });

  it.each([
    ["running' & shoes:*", 4],
    ["running\\ | shoes", 4],
    ['"running" !shoes', 4],
    ["running <-> shoes ) (", 4],
    ["%running_ shoes%", 4],
    ["ru'; drop table search_document; --", 0],
    ["o'neill", 1],
    ["running $1 shoes", 4],
    ["🏃 running 👟 shoes", 4],
  ])("reads %s only as words", async (q, total) => {
    expect((await search({ q })).totalItems).toBe(total);
  });

  it("takes any 256 characters without an error", async () => {
    const texts = [
      "a ".repeat(128),
      "靴".repeat(256),
      "あ".repeat(256),
      "ก ข".repeat(85),
      "é".repeat(256),
      "1 2 3 4 ".repeat(32),
      "x-".repeat(128),
      "the ".repeat(64),
    ];
    for (let seed = 1; seed <= 20; seed += 1) {
      texts.push(
        Array.from({ length: 128 }, (_, index) =>
          String.fromCodePoint(32 + ((seed * 7919 + index * index * 104_729) % 0xd000)),
        ).join(""),
      );
    }
    for (const q of texts) expect((await search({ q, category: "trail" })).hits).toEqual([]);
    expect(statements.filter((statement) => statement.startsWith("error"))).toEqual([]);
  });

  it(
    "needs one statement to browse and for cached words, two more for new words, and four more to repair " +
      "a query",
    async () => {
      const counted = async (input: Partial<ProductSearchInput>): Promise<number> => {
        statements.length = 0;
        await search(input);
        return statements.length;
      };
      await search({ q: "sh" });
      expect(await counted({ category: "footwear" })).toBe(1);
      expect(await counted({ category: "footwear" })).toBe(1);
      expect([await counted({ q: "s" }), await counted({ q: "s" })].at(-1)).toBe(1);
      expect(await counted({ q: "running zwölf" })).toBe(7);
      expect(await counted({ q: "zwölf running" })).toBe(5);
    },
  );
});
