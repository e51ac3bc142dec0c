/**
 * searchReport: searches over REST and GraphQL are counted, and shown to the merchants whose products were
 * searched.
 */
import { beforeEach, describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";

describe("searchReport", () => {
  const world = useWorld("postgres", { environment: { TRUST_PROXY: "1" } });

  const rest = async (q: string, address: string, more = ""): Promise<void> => {
    const url = `/api/v1/search?q=${encodeURIComponent(q)}&locale=en&market=DE&sort=relevance&page=1&pageSize=1${more}`;
    const { status } = await world().get(url, { "x-forwarded-for": address });
    expect(status).toBe(200);
  };
  const graph = async (
    q: string,
    {
      buyer,
      token = "storefront",
      page = 1,
      address,
    }: {
      buyer?: string;
      token?: keyof ReturnType<typeof world>["demo"]["tokens"];
      page?: number;
      address?: string;
    },
  ): Promise<void> => {
    const { status } = await world().send({
      method: "POST",
      url: "/graphql",
      headers: {
        authorization: `Bearer ${world().demo.tokens[token]}`,
        ...(buyer === undefined ? {} : { "x-buyer-reference": buyer }),
        ...(address === undefined ? {} : { "x-forwarded-for": address }),
      },
      body: {
        query: `{ productSearch(q: ${JSON.stringify(q)}, locale: "en", market: "DE", sort: RELEVANCE, page:
          ${page}, pageSize: 1) { meta { totalItems } } }`,
      },
    });
    expect(status).toBe(200);
  };
  const report = async (
    token = "analyst",
    more = "",
  ): Promise<{ totals: unknown; top: unknown; withoutResults: unknown }> => {
    await world().app.services.searchCounts?.flush();
    const day = world().clock.now().toISOString().slice(0, 10);
    const selection =
      "totals { queries searches empty } top { query searches empty } withoutResults { query empty }";
    const { body } = await world().graphql(
      `{ searchReport(from: "${day}", to: "${day}"${more}) { ${selection} } }`,
      { token },
    );
    return body.errors ?? body.data.searchReport;
  };

  beforeEach(async () => {
    await report();
    await world().database.db.deleteFrom("searchQueryDay").execute();
    world().clock.advance(86_400_000);
  });

  it("counts REST by address and GraphQL by buyer, with normalized queries", async () => {
    await rest("  Tent ", "192.0.2.1");
    await rest("TENT", "192.0.2.2");
    await graph("tent", { buyer: "buyer-1" });
    // Repeated searches of one address or network count as one client.
    for (let time = 0; time < 4; time += 1) await rest("backpack", "192.0.2.1");
    for (const tail of ["1", "2", "3"]) {
      await rest("stove", `2001:db8::${tail}`);
      await graph("stove", { address: `2001:db8::${tail}` });
    }
    for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3"]) await rest("qqxyzzy", address);
    // The storefront of another merchant searches only that merchant's products.
    const everywhere = { query: "qqxyzzy", searches: 3, empty: 3 };
    expect(await report("operator")).toEqual({
      totals: { queries: 1, searches: 3, empty: 3 },
      top: [everywhere],
      withoutResults: [{ query: "qqxyzzy", empty: 3 }],
    });
  });

  it("shows a merchant its own searches and those over all merchants, and the platform all", async () => {
    const { first, second } = world().demo.merchants;
    for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3"]) {
      await rest("tent", address, `&merchant=${second.slug}`);
      await rest("tent", address);
      await rest("lamp", address, `&merchant=${first.slug}`);
    }
    await graph("lamp", { buyer: "buyer-1" });
    const ours = await report();
    expect(
      (ours.top as { query: string; searches: number }[]).map(({ query, searches }) => [query, searches]),
    ).toEqual([
      ["lamp", 4],
      ["tent", 3],
    ]);
    expect((await report("operator")).totals).toMatchObject({ queries: 2, searches: 10 });
    expect((await report("analyst", ', country: "JP"')).totals).toEqual({
      queries: 0,
      searches: 0,
      empty: 0,
    });
    const { body } = await world().graphql(
      `{ searchReport(from: "2026-01-01", to: "2026-01-01", merchantId: "${second.id}") { totals { searches }
        } }`,
      { token: "analyst" },
    );
    expect(body.errors[0].extensions.code).toBe("merchant_not_found");
  });

  it("does not count searches by staff, further pages and searches without words", async () => {
    for (const buyer of ["buyer-1", "buyer-2", "buyer-3"]) {
      await graph("tent", { buyer, token: "analyst" });
      await graph("tent", { buyer, token: "admin" });
      await graph("tent", { buyer, page: 2 });
      await graph("", { buyer });
    }
    expect((await report("operator")).totals).toEqual({ queries: 0, searches: 0, empty: 0 });
  });

  it("does not count queries that contain personal data", async () => {
    for (const q of ["anna.schmidt@example.com", "+49 170 1234567", "DE89 3704 0044 0532 0130 00"])
      for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3"]) {
        await rest(q, address);
        await graph(q, { buyer: address });
      }
    expect((await report("operator")).totals).toEqual({ queries: 0, searches: 0, empty: 0 });
  });

  it("stores nothing that identifies a client", async () => {
    for (const address of ["192.0.2.77", "192.0.2.78", "192.0.2.79"]) await rest("lamp", address);
    await report();
    const rows = await world().database.db.selectFrom("searchQueryDay").selectAll().execute();
    expect(rows.map((row) => Object.keys(row))).toEqual([
      ["day", "merchantId", "country", "query", "searches", "empty"],
    ]);
  });
});
