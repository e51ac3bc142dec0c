/** The seeded search counts: reports show them, and their searches have results or none as seeded. */
import { describe, expect, it } from "vitest";
import { clientsPerQueryMin } from "#commerce/search/search-counts.ts";
import { createDemoSearchCountRows } from "#demo/seed-demo.ts";
import { useWorld } from "#test/support/use-world.ts";

const now = new Date("2026-11-20T09:30:00.000Z");

describe("the demo's searches", () => {
  const world = useWorld();

  it("cover the last four weeks, have no count below the stored minimum, and are the same each time", () => {
    const rows = createDemoSearchCountRows(now);
    expect(rows).toEqual(createDemoSearchCountRows(now));
    expect(new Set(rows.map(({ day }) => day)).size).toBe(28);
    expect(
      rows
        .map(({ day }) => day)
        .toSorted()
        .at(-1),
    ).toBe("2026-11-20");
    expect(rows.filter(({ searches }) => searches < clientsPerQueryMin)).toEqual([]);
    const keys = rows.map(({ day, country, query }) => `${day} ${country} ${query}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("have results, or none, as seeded", async () => {
    const wanted = new Map(
      createDemoSearchCountRows(now).map(({ country, query, empty }) => [
        `${country} ${query}`,
        { country, query, isFound: empty === 0 },
      ]),
    );
    for (const { country, query, isFound } of wanted.values()) {
      const locale = country === "US" ? "en" : "de";
      const place = `locale=${locale}&market=${country}`;
      const { body } = await world().get(
        `/api/v1/search?q=${encodeURIComponent(query)}&${place}&sort=relevance&page=1&pageSize=1`,
      );
      expect([country, query, body.meta.totalItems > 0]).toEqual([country, query, isFound]);
    }
  });

  it("show analysts the most frequent searches and the searches without results", async () => {
    const today = world().clock.now();
    const from = new Date(today.getTime() - 27 * 86_400_000).toISOString().slice(0, 10);
    const to = today.toISOString().slice(0, 10);
    const { body } = await world().graphql(
      `{ searchReport(from: "${from}", to: "${to}") { top { query searches } withoutResults { query empty } }
        }`,
      { token: "analyst" },
    );
    const { top, withoutResults } = body.data.searchReport;
    expect(top[0].query).toBe("zelt");
    expect(withoutResults.map(({ query }: { query: string }) => query)).toContain("drohne");
  });
});
