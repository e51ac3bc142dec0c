/**
 * searchPublicProducts over REST: each parameter, and the envelope of the answer. Matching and ranking are
 * tested in the tests of the search itself.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { expectError } from "#test/support/expect-error.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { expectShape, searchAnswer } from "./shapes.ts";

const good = { q: "tent", locale: "en", market: "DE", sort: "relevance", page: "1", pageSize: "20" };
const sorts = ["relevance", "newest", "price_asc", "price_desc", "title_asc", "popularity"];

/** The URL of a search. A change to undefined removes the parameter. */
function search(change: Readonly<Record<string, string | undefined>> = {}): string {
  const entries = Object.entries({ ...good, ...change }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return `/api/v1/search?${new URLSearchParams(entries).toString()}`;
}

interface Hit {
  readonly id: string;
  readonly title: string;
}

describe.each(["pglite", "postgres"] as const)("searchPublicProducts on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
  });

  const pageOf = async (
    page: number,
  ): Promise<{ data: Hit[]; meta: { totalItems: number; totalPages: number; hasNextPage: boolean } }> =>
    (await world().get(search({ q: "", sort: "title_asc", page: String(page), pageSize: "25" }))).body;

  it("returns a page of products with every field", async () => {
    const answer = await world().get(search({ pageSize: "2" }));
    expect(answer.status).toBe(200);
    expectShape(searchAnswer, answer.body);
    expect(contract.faultsOf("searchPublicProducts", 200, answer.body)).toEqual([]);
    expect(answer.body.data).toHaveLength(2);
    expect(answer.body.data[0].highlights.title).toContain("<mark>");
    const { totalItems } = answer.body.meta as { totalItems: number };
    expect(totalItems).toBeGreaterThan(2);
    expect(answer.body.meta).toMatchObject({
      page: 1,
      pageSize: 2,
      totalItems,
      totalItemsRelation: "exact",
      totalPages: Math.ceil(totalItems / 2),
      hasNextPage: true,
      sort: "relevance",
      locale: { requested: "en", resolved: "en" },
      market: "DE",
      currency: "EUR",
      query: { normalized: "tent", corrected: null },
    });
    expect(answer.body.meta.facets.map(({ key }: { key: string }) => key)).toEqual([
      "category",
      "merchant",
      "brand",
      "availability",
      "price",
    ]);
    expect(answer.headers).toMatchObject({
      "cache-control": "public, max-age=30, stale-while-revalidate=60",
      vary: "Authorization, Accept-Encoding",
      "access-control-allow-origin": "*",
      "x-api-stability": "stable",
    });
  });

  it.each([
    ["one statement without words", { q: "" }, 1],
    ["one statement for words that were searched before", { q: "coffee" }, 1],
    ["three more statements if no product has all words", { q: "tent qqqqqq" }, 4],
    ["one statement if nothing matches", { q: "", market: "BR" }, 1],
  ])("runs %s", async (_name, change, count) => {
    await world().get(search(change));
    expect(await statementsOf(world(), () => world().get(search(change)))).toHaveLength(count);
  });

  it("runs two more statements for the stems and compounds of words that were not searched for before", async () => {
    expect(await statementsOf(world(), () => world().get(search({ q: "c" })))).toHaveLength(3);
  });

  it("returns every product exactly once over all pages", async () => {
    const first = await pageOf(1);
    const seen = first.data.map(({ id }) => id);
    for (let page = 2; page <= first.meta.totalPages; page += 1) {
      const next = await pageOf(page);
      expect(next.meta.hasNextPage).toBe(page < first.meta.totalPages);
      seen.push(...next.data.map(({ id }) => id));
    }
    expect(seen).toHaveLength(first.meta.totalItems);
    expect(new Set(seen).size).toBe(first.meta.totalItems);
    const past = await pageOf(first.meta.totalPages + 1);
    expect(past).toMatchObject({ data: [], meta: { totalItems: first.meta.totalItems, hasNextPage: false } });
  });

  it.each(sorts)("sorts by %s and returns the sort", async (sort) => {
    const answer = await world().get(search({ q: "", sort }));
    expect(answer.status).toBe(200);
    expectShape(searchAnswer, answer.body);
    expect(answer.body.meta.sort).toBe(sort);
  });

  it.each([
    ["a market in lower case", { market: "de" }, { market: "DE" }],
    ["a country of another merchant's market", { market: "US" }, { market: "US", currency: "USD" }],
    ["a country without a market", { market: "BR" }, { market: "BR", totalItems: 0, currency: null }],
    ["an unknown category", { category: "no-such-category" }, { totalItems: 0 }],
    ["an unknown merchant", { merchant: "nobody" }, { totalItems: 0 }],
    ["a locale in another case", { locale: "EN-gb" }, { locale: { requested: "en-GB", resolved: "en" } }],
    [
      "a locale with an extension",
      { locale: "en-u-ca-gregory" },
      { locale: { requested: "en", resolved: "en" } },
    ],
    [
      "a locale that no product has",
      { locale: "sv", q: "" },
      { locale: { requested: "sv", resolved: "de" } },
    ],
    ["spaces around the words", { q: "  tent  " }, { query: { normalized: "tent", corrected: null } }],
    ["256 characters within spaces", { q: `   ${"x".repeat(256)}   ` }, { totalItems: 0 }],
    ["256 characters of two UTF-16 units each", { q: "\u{1f3d5}".repeat(256) }, { page: 1 }],
    ["leading zeros in a number", { page: "01", pageSize: "020" }, { page: 1, pageSize: 20 }],
    ["the last page of the window", { page: "100", pageSize: "100" }, { page: 100, pageSize: 100 }],
    ["the highest page", { page: "10000", pageSize: "1" }, { page: 10_000 }],
  ])("accepts %s", async (_name, change, meta) => {
    const answer = await world().get(search(change));
    expect(answer.status).toBe(200);
    expectShape(searchAnswer, answer.body);
    expect(answer.body.meta).toMatchObject(meta);
  });

  it("filters by a category with its subcategories, and by merchant", async () => {
    const [all, some] = await Promise.all([
      world().get(search({ q: "" })),
      world().get(search({ q: "", merchant: "morgenrot", pageSize: "100" })),
    ]);
    expect(some.body.meta.totalItems).toBeLessThan(all.body.meta.totalItems);
    expect(
      new Set(some.body.data.map(({ merchant }: { merchant: { slug: string } }) => merchant.slug)),
    ).toEqual(new Set(["morgenrot"]));
  });

  it.each(Object.keys(good))("requires %s", async (name) => {
    expectError(await world().get(search({ [name]: undefined })), {
      status: 400,
      code: "missing_parameter",
      details: [{ in: "query", field: name, code: "required" }],
    });
  });

  it.each([
    ["page", "0", "too_small"],
    ["page", "10001", "too_large"],
    ["page", "+1", "wrong_type"],
    ["page", "-1", "wrong_type"],
    ["page", "1.0", "wrong_type"],
    ["page", "1e2", "wrong_type"],
    ["page", "0x1", "wrong_type"],
    ["page", " 1", "wrong_type"],
    ["page", "\u0661", "wrong_type"],
    ["page", "", "wrong_type"],
    ["page", "9999999999999999999999", "wrong_type"],
    ["pageSize", "0", "too_small"],
    ["pageSize", "101", "too_large"],
    ["pageSize", "all", "wrong_type"],
    ["q", "x".repeat(257), "too_long"],
    ["q", "a\u0000b", "control_character"],
    ["q", "a\u001bb", "control_character"],
    ["category", "Tents & tarps", "pattern_mismatch"],
    ["category", "", "too_short"],
    ["merchant", "a".repeat(97), "too_long"],
    ["merchant", "a--b", "pattern_mismatch"],
  ])("refuses %s=%s and names the parameter", async (field, value, code) => {
    expectError(await world().get(search({ [field]: value })), {
      status: 400,
      code: "invalid_parameter",
      details: [{ in: "query", field, code }],
    });
  });

  it.each(["RELEVANCE", "price", "", "relevance,newest"])(
    "refuses the sort %s and lists the allowed sorts",
    async (sort) => {
      expectError(await world().get(search({ sort })), {
        status: 400,
        code: "invalid_parameter",
        details: [{ in: "query", field: "sort", code: "not_allowed", allowed: sorts }],
      });
    },
  );

  it.each([
    ["xx_", "invalid_format"],
    ["en_US", "invalid_format"],
    ["e", "too_short"],
    ["", "too_short"],
    ["*", "too_short"],
    [`en-${"abcdefgh-".repeat(4)}x`, "too_long"],
  ])("refuses the locale %s as malformed", async (locale, code) => {
    expectError(await world().get(search({ locale })), {
      status: 400,
      code: "invalid_locale",
      details: [{ in: "query", field: "locale", code }],
    });
  });

  it.each([
    ["ZZ", "invalid_format"],
    ["EU", "invalid_format"],
    ["DEU", "pattern_mismatch"],
    ["D1", "pattern_mismatch"],
    ["\u00df", "pattern_mismatch"],
    ["\u0131n", "pattern_mismatch"],
    ["", "pattern_mismatch"],
  ])("refuses the unknown market %s", async (market, code) => {
    expectError(await world().get(search({ market })), {
      status: 400,
      code: "unknown_market",
      details: [{ in: "query", field: "market", code }],
    });
  });

  it.each([
    [{ page: "101", pageSize: "100" }, "page × pageSize is 10100; 10 000 is the limit."],
    [{ page: "10000", pageSize: "2" }, "page × pageSize is 20000; 10 000 is the limit."],
  ])("refuses pages beyond the first 10 000 products: %o", async (change, message) => {
    expectError(await world().get(search(change)), {
      status: 400,
      code: "page_window_exceeded",
      details: [{ in: "query", field: "page", code: "too_large", message }],
    });
  });

  it.each([
    ["an unknown parameter", "bogus=1", "unknown_parameter", "bogus", "unknown"],
    ["a known parameter in another case", "Category=tents", "unknown_parameter", "Category", "unknown"],
    ["a name without a value", "debug", "unknown_parameter", "debug", "unknown"],
    ["a repeated parameter", "page=2", "invalid_parameter", "page", "duplicate"],
    ["a lone surrogate", "category=%ED%A0%80", "invalid_parameter", "category", "invalid_encoding"],
    ["an incomplete UTF-8 escape", "category=%E4", "invalid_parameter", "category", "invalid_encoding"],
    ["an invalid escape", "category=%zz", "invalid_parameter", "category", "invalid_encoding"],
    [
      "a name that cannot be decoded, as it was sent",
      "%ED%A0%80=1",
      "invalid_parameter",
      "%ED%A0%80",
      "invalid_encoding",
    ],
    ["a name with a NUL, as it was sent", "a%00=1", "invalid_parameter", "a%00", "control_character"],
    ["no name", "=1", "invalid_parameter", "", "invalid_encoding"],
    ["a reserved name", "__proto__=1", "unknown_parameter", "__proto__", "unknown"],
  ] as const)("refuses %s and names the parameter", async (_name, extra, code, field, rule) => {
    expectError(await world().get(`${search()}&${extra}`), {
      status: 400,
      code,
      details: [{ in: "query", field, code: rule }],
    });
  });

  it("reports an undecodable required parameter by its own fault, not as missing", async () => {
    expectError(await world().get(`${search({ q: undefined })}&q=%ED%A0%80`), {
      status: 400,
      code: "invalid_parameter",
      details: [{ in: "query", field: "q", code: "invalid_encoding" }],
    });
  });

  it("reports all faults at once, each parameter once, with the code of the first fault", async () => {
    const answer = await world().get(
      "/api/v1/search?locale=xx_&market=ZZ&sort=best&page=0&pageSize=101&bogus=1&page=2",
    );
    expectError(answer, {
      status: 400,
      code: "invalid_parameter",
      details: [
        { in: "query", field: "page", code: "duplicate" },
        { in: "query", field: "q", code: "required" },
        { in: "query", field: "bogus", code: "unknown" },
        { in: "query", field: "locale", code: "invalid_format" },
        { in: "query", field: "market", code: "invalid_format" },
        { in: "query", field: "sort", code: "not_allowed", allowed: sorts },
        { in: "query", field: "pageSize", code: "too_large" },
      ],
    });
  });

  it("reports at most 20 faults", async () => {
    const unknown = Array.from({ length: 30 }, (_, index) => `x${index}=1`).join("&");
    const answer = await world().get(`${search()}&${unknown}`);
    expect(answer.status).toBe(400);
    expect(answer.body.error.details).toHaveLength(20);
  });

  it("runs no statement for a refused request", async () => {
    expect(await statementsOf(world(), () => world().get(search({ page: "0" })))).toEqual([]);
    expect(await statementsOf(world(), () => world().get(search({ page: "101", pageSize: "100" })))).toEqual(
      [],
    );
  });

  it("refuses a body", async () => {
    expectError(await world().send({ method: "GET", url: search(), body: { q: "tent" } }), {
      status: 400,
      code: "unexpected_body",
      details: [{ in: "body", field: "", code: "body_not_allowed" }],
    });
  });

  it("escapes HTML in the query: no tag of the query appears in highlights", async () => {
    const answer = await world().get(search({ q: "<b>tent" }));
    for (const { highlights } of answer.body.data as { highlights: { title: string | null } }[])
      expect(highlights.title ?? "").not.toContain("<b>");
  });
});
