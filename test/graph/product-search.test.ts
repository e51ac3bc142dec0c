/** productSearch over GraphQL: filters as the facets count them, synonyms of merchants, and explanations. */
import { beforeEach, describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";

interface Bucket {
  readonly value: string;
  readonly count: number;
}

interface Page {
  readonly items: readonly { readonly id: string; readonly title: string; readonly explanation: unknown }[];
  readonly meta: {
    readonly totalItems: number;
    readonly currency: string | null;
    readonly facets: readonly { readonly key: string; readonly buckets: readonly Bucket[] }[];
    readonly query: { readonly corrected: string | null; readonly dropped: readonly string[] };
  };
}

describe("productSearch", () => {
  const world = useWorld("pglite");

  const send = async (
    query: string,
    {
      token = "admin",
      variables = {},
    }: { token?: "admin" | "storefront" | "analyst"; variables?: object } = {},
  ): Promise<{ data: Record<string, unknown>; errors?: readonly { extensions: { code: string } }[] }> => {
    const { body } = await world().send({
      method: "POST",
      url: "/graphql",
      headers: { authorization: `Bearer ${world().demo.tokens[token]}` },
      body: { query, variables },
    });
    return body as never;
  };

  const search = async (args: string, token: "admin" | "storefront" = "storefront"): Promise<Page> => {
    const { data, errors } = await send(
      `{ productSearch(locale: "en", market: "DE", sort: RELEVANCE, page: 1, pageSize: 100, ${args}) {
        items { id title explanation { tier tierScore stockScore popularityScore textScore } }
        meta { totalItems currency facets { key buckets { value count } } query { corrected dropped } } } }`,
      { token },
    );
    expect(errors).toBeUndefined();
    return data["productSearch"] as Page;
  };

  const bucketsOf = ({ meta }: Page, key: string): readonly Bucket[] =>
    meta.facets.find((facet) => facet.key === key)?.buckets ?? [];

  it.each([
    ["without words", ""],
    ["with words", "coffee"],
  ])("finds as many products by a filter as its facet counted, %s", async (_name, q) => {
    const all = await search(
      `q: "${q}", hasAttributeFacets: true, filter: { price: { currency: "EUR", minMinor: 0 } }`,
    );
    for (const { value, count } of bucketsOf(all, "BRAND").slice(0, 5)) {
      const filter = `filter: { brands: [${JSON.stringify(value)}], price: { currency: "EUR", minMinor: 0 } }`;
      expect((await search(`q: "${q}", ${filter}`)).meta.totalItems, value).toBe(count);
    }
    for (const { value, count } of bucketsOf(all, "AVAILABILITY")) {
      const filter = `filter: { availabilities: [${value.toUpperCase()}], price: { currency: "EUR", minMinor: 0 } }`;
      expect((await search(`q: "${q}", ${filter}`)).meta.totalItems, value).toBe(count);
    }
    const attributes = bucketsOf(all, "ATTRIBUTE");
    expect(attributes.length).toBeGreaterThan(0);
    for (const { value, count } of attributes.slice(0, 5)) {
      const [code, ...rest] = value.split(":");
      const filter = `filter: { attributes: [{ code: "${code}", values: [${JSON.stringify(rest.join(":"))}] }],
        price: { currency: "EUR", minMinor: 0 } }`;
      expect((await search(`q: "${q}", ${filter}`)).meta.totalItems, value).toBe(count);
    }
    for (const { value, count } of bucketsOf(all, "PRICE")) {
      const [from = "0", to = ""] = value.split("-");
      const end = to === "" ? "" : `, maxMinor: ${Number(to) - 1}`;
      const filter = `filter: { price: { currency: "EUR", minMinor: ${from}${end} } }`;
      expect((await search(`q: "${q}", ${filter}`)).meta.totalItems, value).toBe(count);
    }
  });

  it("refuses a price filter without an end", async () => {
    const { errors } = await send(
      `{ productSearch(q: "", locale: "en", market: "DE", sort: RELEVANCE, page: 1, pageSize: 1,
        filter: { price: { currency: "EUR" } }) { meta { page } } }`,
    );
    expect(errors?.[0]?.extensions).toMatchObject({ code: "invalid_field" });
  });

  it("explains to admins why a product has its place, and to storefronts not", async () => {
    const [first] = (await search('q: "trekking tent"', "admin")).items;
    expect(first?.explanation).toEqual({
      tier: "TITLE_PHRASE",
      tierScore: 600,
      stockScore: expect.any(Number),
      popularityScore: expect.any(Number),
      textScore: expect.any(Number),
    });
    expect((await search('q: "trekking tent"')).items[0]?.explanation).toBeNull();
  });

  describe("synonyms", () => {
    const merchantId = (): string => world().demo.merchants.first.id;
    const set = `mutation ($merchantId: ID, $input: SearchSynonymsSetInput!) {
      searchSynonymsSet(merchantId: $merchantId, input: $input) { locale version rules { terms replacements }
      } }`;
    const setSynonyms = (rules: readonly object[], expectedVersion?: number): ReturnType<typeof send> =>
      send(set, { variables: { merchantId: merchantId(), input: { locale: "en", rules, expectedVersion } } });

    beforeEach(async () => {
      await setSynonyms([]);
    });

    it("are found in both directions without replacements, and at once", async () => {
      expect((await search('q: "wigwam"')).meta.totalItems).toBe(0);
      await setSynonyms([{ terms: ["wigwam", "Tent"] }]);
      const tents = await search('q: "wigwams"');
      expect(tents.meta).toMatchObject({ query: { corrected: null, dropped: [] } });
      expect(tents.items.map(({ title }) => title).join()).toMatch(/tent/i);
      await setSynonyms([]);
      expect((await search('q: "wigwam"')).meta.totalItems).toBe(0);
    });

    it("are found in one direction with replacements, and as phrases", async () => {
      await setSynonyms([
        { terms: ["trekking tent"], replacements: ["coffee"] },
        { terms: ["zzyzx"], replacements: ["sleeping bag"] },
      ]);
      const titles = (await search('q: "zzyzx"')).items.map(({ title }) => title);
      expect(titles.some((title) => /sleeping bag/i.test(title))).toBe(true);
      const all = await search('q: "trekking tent"');
      expect(all.items[0]?.title).toMatch(/trekking tent/i);
      expect(all.items.some(({ title }) => /coffee/i.test(title))).toBe(true);
      const coffee = await search('q: "coffee"');
      expect(coffee.items.some(({ title }) => /trekking tent/i.test(title))).toBe(false);
    });

    it("are exported as they were imported, and replaced only in the expected version", async () => {
      const rules = [{ terms: ["mug", "cup"], replacements: [] }];
      const { data } = await setSynonyms(rules);
      const { version } = data["searchSynonymsSet"] as { version: number };
      const exported = await send(
        `query ($id: ID) { searchSynonyms(merchantId: $id) { locale version rules { terms replacements } } }`,
        { variables: { id: merchantId() } },
      );
      expect(exported.data["searchSynonyms"]).toContainEqual({ locale: "en", version, rules });
      const late = await setSynonyms([], version - 1);
      expect(late.errors?.[0]?.extensions).toMatchObject({ code: "version_conflict" });
      expect((await setSynonyms([], version)).errors).toBeUndefined();
    });

    it.each([
      ["a single term without replacements", { terms: ["mug"] }],
      ["a term without letters", { terms: ["mug", "!!"] }],
      ["a term of four words", { terms: ["mug", "a very large cup"] }],
      ["a term twice", { terms: ["mug", "MUG"] }],
    ])("refuses %s", async (_name, rule) => {
      const { errors } = await setSynonyms([rule]);
      expect(errors?.[0]?.extensions).toMatchObject({ code: "invalid_field" });
    });
  });
});
