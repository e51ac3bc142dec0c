/** productSearch over GraphQL: filters as the facets count them, synonyms of merchants, and explanations. */
import { beforeEach, describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";

interface Bucket {
  readonly value: string;
  readonly count: number;
  readonly availability: string | null;
  readonly attribute: { readonly code: string; readonly value: string } | null;
}

interface Page {
  readonly items: readonly {
    readonly id: string;
    readonly title: string;
    readonly matched: readonly string[];
    readonly highlights: { readonly title: string | null };
    readonly explanation: unknown;
  }[];
  readonly meta: {
    readonly totalItems: number;
    readonly currency: string | null;
    readonly facets: readonly { readonly key: string; readonly buckets: readonly Bucket[] }[];
    readonly query: { readonly corrected: string | null; readonly dropped: readonly string[] };
  };
}

describe("productSearch", () => {
  const world = useWorld();

  const send = async (
    query: string,
    {
      token = "admin",
      variables = {},
    }: { token?: "admin" | "storefront" | "analyst"; variables?: object } = {},
  ): Promise<{
    data: Record<string, unknown>;
    errors?: readonly { extensions: { code: string; details: unknown } }[];
  }> => {
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
        items { id title matched highlights { title }
          explanation { tier tierScore stockScore popularityScore textScore } }
        meta { totalItems currency query { corrected dropped }
          facets { key buckets { value count availability attribute { code value } } } } } }`,
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
    for (const { value, count, availability } of bucketsOf(all, "AVAILABILITY")) {
      expect(availability).toBe(value.toUpperCase());
      const filter = `filter: { availabilities: [${availability}], price: { currency: "EUR", minMinor: 0 } }`;
      expect((await search(`q: "${q}", ${filter}`)).meta.totalItems, value).toBe(count);
    }
    const attributes = bucketsOf(all, "ATTRIBUTE");
    expect(attributes.length).toBeGreaterThan(0);
    for (const { value, count, attribute } of attributes.slice(0, 5)) {
      const { code, value: one } = attribute ?? { code: "", value: "" };
      expect(`${code}:${one}`).toBe(value);
      const filter = `filter: { attributes: [{ code: "${code}", values: [${JSON.stringify(one)}] }],
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

  it("gives a bucket an availability or an attribute only in these facets", async () => {
    const { meta } = await search('q: "coffee", hasAttributeFacets: true');
    const isGiven = meta.facets.map(({ key, buckets }) => [
      key,
      buckets.some(({ availability }) => availability !== null),
      buckets.some(({ attribute }) => attribute !== null),
    ]);
    expect(isGiven).toEqual([
      ["CATEGORY", false, false],
      ["MERCHANT", false, false],
      ["BRAND", false, false],
      ["AVAILABILITY", true, false],
      ["ATTRIBUTE", false, true],
      ["PRICE", false, false],
    ]);
  });

  describe("with invalid arguments", () => {
    const faultsOf = async (args: string): Promise<unknown> => {
      const { data, errors } = await send(
        `{ productSearch(q: "", locale: "en", market: "DE", sort: RELEVANCE, ${args}) { meta { page } } }`,
      );
      expect([data, errors?.length, errors?.[0]?.extensions.code]).toEqual([undefined, 1, "invalid_field"]);
      return errors?.[0]?.extensions.details;
    };
    const many = (count: number): string => JSON.stringify(Array.from({ length: count }, () => "x"));
    const long = "x".repeat(201);

    it.each([
      ["page: 0, pageSize: 1", "/page", "too_small", '"page" must be an integer from 1 to 10000.'],
      ["page: 10001, pageSize: 1", "/page", "too_large", '"page" must be an integer from 1 to 10000.'],
      ["page: 1, pageSize: 0", "/pageSize", "too_small", '"pageSize" must be an integer from 1 to 100.'],
      ["page: 1, pageSize: 1000", "/pageSize", "too_large", '"pageSize" must be an integer from 1 to 100.'],
    ])("refuses %s", async (args, field, code, message) => {
      expect(await faultsOf(args)).toEqual([{ in: "body", field, code, message, allowed: null }]);
    });

    it.each([
      ["brands: []", "/brands", "too_short", "brands", "have 1 to 50 items"],
      [`brands: ${many(51)}`, "/brands", "too_long", "brands", "have 1 to 50 items"],
      ['brands: ["x", ""]', "/brands/1", "too_short", "brands[1]", "have 1 to 200 characters"],
      [`brands: ["${long}"]`, "/brands/0", "too_long", "brands[0]", "have 1 to 200 characters"],
      ["availabilities: []", "/availabilities", "too_short", "availabilities", "have at least 1 item"],
      [
        'attributes: [{ code: "material", values: [] }]',
        "/attributes/0/values",
        "too_short",
        "attributes[0].values",
        "have 1 to 50 items",
      ],
      [
        'attributes: [{ code: "", values: ["x"] }]',
        "/attributes/0/code",
        "too_short",
        "attributes[0].code",
        "have 1 to 200 characters",
      ],
      [
        `attributes: [${'{ code: "a", values: ["x"] } '.repeat(11)}]`,
        "/attributes",
        "too_long",
        "attributes",
        "have at most 10 items",
      ],
      ['price: { currency: "EUR" }', "/price", "required", "price", 'have "minMinor", "maxMinor" or both'],
      [
        'price: { currency: "EUR", minMinor: 2, maxMinor: 1 }',
        "/price",
        "out_of_range",
        "price",
        'have a "minMinor" that is not higher than its "maxMinor"',
      ],
    ])("refuses the filter %s", async (...[filter, field, code, path, rule]) => {
      expect(await faultsOf(`page: 1, pageSize: 1, filter: { ${filter} }`)).toEqual([
        {
          in: "body",
          field: `/filter${field}`,
          code,
          message: `"filter.${path}" must ${rule}.`,
          allowed: null,
        },
      ]);
    });

    it("reports all faults at once", async () => {
      const filter = `{ brands: [], availabilities: [], attributes: [{ code: "", values: [] }],
        price: { currency: "EUR", minMinor: 2, maxMinor: 1 } }`;
      const faults = await faultsOf(`page: 0, pageSize: 0, filter: ${filter}`);
      expect((faults as readonly { field: string }[]).map(({ field }) => field).toSorted()).toEqual([
        "/filter/attributes/0/code",
        "/filter/attributes/0/values",
        "/filter/availabilities",
        "/filter/brands",
        "/filter/price",
        "/page",
        "/pageSize",
      ]);
    });

    it("accepts a price range of one price, and an empty list of attributes", async () => {
      const filter = 'filter: { attributes: [], price: { currency: "EUR", minMinor: 1, maxMinor: 1 } }';
      expect((await search(`q: "", ${filter}`)).meta.totalItems).toBe(0);
    });
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

  it.each(['q: ""', 'q: " "', 'q: "", filter: { price: { currency: "EUR", minMinor: 0 } }'])(
    "explains no search without text: %s",
    async (args) => {
      const { items } = await search(args, "admin");
      expect(items.length).toBeGreaterThan(0);
      expect(items.filter(({ explanation, matched }) => explanation !== null || matched.length > 0)).toEqual(
        [],
      );
    },
  );

  it("counts the title as matched if it has one word of a term and other fields have the rest", async () => {
    const { items } = await search('q: "back pack"');
    const marked = items.filter(({ highlights }) => highlights.title !== null);
    expect(marked.length).toBeGreaterThan(0);
    expect(marked.filter(({ matched }) => matched.length === 0)).toEqual([]);
  });

  it.each(["cofee", "coffe grinder xyzzy", "best coffee", "tents"])(
    "names the matched fields of %s, also if words were corrected or dropped",
    async (q) => {
      const { items } = await search(`q: "${q}"`);
      expect(items.length).toBeGreaterThan(0);
      expect(items.filter(({ matched }) => matched.length === 0)).toEqual([]);
    },
  );

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
