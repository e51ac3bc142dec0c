/** Searches as buyers type them, on the demo: typos, compounds, prices and words that no product has. */
import { describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";

interface Answer {
  readonly data: readonly {
    readonly title: string;
    readonly matched: readonly string[];
    readonly highlights: { readonly title: string | null };
  }[];
  readonly meta: {
    readonly query: { readonly corrected: string | null; readonly dropped: readonly string[] };
  };
}

describe("a search", () => {
  const world = useWorld();

  const search = async (locale: "en" | "de", q: string): Promise<Answer> => {
    const parameters = new URLSearchParams({ q, locale, market: "DE", sort: "relevance", page: "1" });
    const { status, body } = await world().send({
      method: "GET",
      url: `/api/v1/search?${parameters.toString()}&pageSize=20`,
    });
    expect(status).toBe(200);
    return body as Answer;
  };

  it.each([
    ["Kafeemühle", "kaffeemühle", "Handkaffeemühle Kvern"],
    ["Kaffemühle", "kaffeemühle", "Handkaffeemühle Kvern"],
    ["Schlafsak", "schlafsack", "Daunenschlafsack Polaris −5"],
    ["Kophörer", "kopfhörer", "Kopfhörer Stille mit Geräuschunterdrückung"],
  ])("corrects %s to %s, also if only compounds end with the word", async (q, corrected, title) => {
    const { data, meta } = await search("de", q);
    expect([meta.query, data[0]?.title]).toEqual([
      { normalized: expect.any(String), corrected, dropped: [] },
      title,
    ]);
  });

  it.each([
    ["en", "show me tents", ["show"], /tent/],
    ["en", "tent under 400 euro", ["under 400 euro"], /tent/],
    ["en", "$50 coffee", ["50"], /coffee/i],
    ["de", "Jacke für Kinder", ["kinder"], /jacke/i],
    ["de", "Socken Merino Wolle", ["wolle"], /socken/i],
    ["de", "Wanderjacke", ["wander"], /jacke/i],
    ["de", "Badezimmer", ["zimmer"], /^Bad/],
  ] as const)("keeps the words that name the product: %s %s", async (locale, q, dropped, title) => {
    const { data, meta } = await search(locale, q);
    expect(meta.query).toMatchObject({ corrected: null, dropped });
    expect(data[0]?.title).toMatch(title);
  });

  it("finds the same products in every spelling of an umlaut", async () => {
    const titles = async (q: string): Promise<string[]> =>
      (await search("de", q)).data.map(({ title }) => title);
    expect(await titles("Kaffeemühle")).toContain("Handkaffeemühle Kvern");
    expect(await titles("Kaffeemuehle")).toEqual(await titles("Kaffeemühle"));
  });

  it.each(["Mütze", "Muetze", "mutze"])("does not take Schmutz for a compound of %s", async (q) => {
    const { data } = await search("de", q);
    expect(data[0]?.title).toBe("Mütze Lue aus Lammwolle");
    expect(data.filter(({ title }) => /Filter|Reinig/.test(title))).toEqual([]);
  });

  it("puts compounds of a known word before longer words that begin with it", async () => {
    const titles = (await search("de", "Decke")).data.map(({ title }) => title);
    expect(titles[0]).toBe("Wolldecke Hytte");
    expect(titles.findIndex((title) => title.includes("Deckel"))).toBeGreaterThan(0);
  });

  it("does not find gloves (Handschuhe) as shoes (Schuhe), but insulated vests as vests", async () => {
    const shoes = (await search("de", "Schuhe")).data.map(({ title }) => title);
    expect(shoes).toContain("Trailrunningschuhe Lett");
    expect(shoes.filter((title) => title.startsWith("Handschuhe"))).toEqual([]);
    expect((await search("de", "Weste")).data[0]?.title).toBe("Isolationsweste Lun");
  });

  it("puts a product with one word in its title before products with all words in their texts", async () => {
    const { data } = await search("de", "warme Handschuhe");
    expect(data[0]?.title).toBe("Handschuhe Vott aus Walkwolle");
    expect(data.length).toBeGreaterThan(1);
  });

  it.each([
    ["500ml", "0.5 l"],
    ["0,5 l", "0.5 l"],
    ["coffe grinder", "coffee"],
    ["rucksack", "daypack"],
  ])("marks the words of titles that match %s", async (q, marked) => {
    const marks = (await search("en", q)).data.flatMap(
      ({ highlights }) => highlights.title?.match(/(?<=<mark>)[^<]+/g) ?? [],
    );
    expect(marks).toContain(marked);
    expect(marks.filter((mark) => mark.length < 3)).toEqual([]);
  });

  it("names the fields in which words were found, also if the words are in different fields", async () => {
    const { data } = await search("en", "back pack");
    expect(data.length).toBeGreaterThan(2);
    expect(data.filter(({ matched }) => matched.length === 0)).toEqual([]);
  });
});
