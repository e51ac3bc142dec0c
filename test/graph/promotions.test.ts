/**
 * Promotions over GraphQL: their life with an event at every step, and the roles that may see and change
 * them.
 */
import { validate } from "graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import graph from "#graph/schema.ts";
import { readInlined } from "#test/support/documents.ts";
import { createWorld, type World } from "#test/support/world.ts";

const eventDocument = readInlined("events/promotion.graphql");

describe.each(["postgres"] as const)("promotions on %s", (engine) => {
  let world: World;
  let promotionId: string;
  beforeAll(async () => {
    world = await createWorld(engine);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  type Answered = Promise<{ data: any; error: any }>; // eslint-disable-line typescript/no-explicit-any -- Tests look into answers of any shape.
  const ask = async (query: string, variables: Record<string, unknown> = {}, token = "admin"): Answered => {
    const { body } = await world.graphql(query, { variables, token });
    const [data] = Object.values(body.data ?? {});
    return { data, error: body.errors?.[0]?.extensions };
  };
  const change = (
    field: string,
    type: string,
    input: Record<string, unknown>,
    { selection = "id status version", token = "admin" } = {},
  ): Answered =>
    ask(`mutation ($input: ${type}!) { ${field}(input: $input) { ${selection} } }`, { input }, token);
  const create = (input: Record<string, unknown>, options = {}): Answered =>
    change(
      "promotionCreate",
      "PromotionCreateInput",
      { trigger: "CODE", kind: "PERCENTAGE", titles: [{ locale: "en", text: "Deal" }], ...input },
      options,
    );
  const move = (field: string, input: Record<string, unknown>, options = {}): Answered =>
    change(field, "PromotionTransitionInput", input, options);
  const generate = (input: Record<string, unknown>, selection = "codes { code usageLimit used }"): Answered =>
    change("promotionCodesGenerate", "PromotionCodesGenerateInput", input, { selection });
  const events = (id: string): Promise<[string, number, unknown][]> =>
    world.database.script(async (run) => {
      const [rows = []] = await run(
        `select type, subject_version, snapshot from event where subject_id = '${id}'
          order by subject_version`,
      );
      return rows.map(({ type, subject_version: version, snapshot }) => [
        String(type),
        Number(version),
        JSON.parse(String(snapshot)).data.previous,
      ]);
    });
  const allFields = `id trigger kind status titles basisPoints amount { amountMinor } currency buyQuantity getQuantity
    minimumSubtotal { amountMinor currency exponent } minimumQuantity entitledProductIds entitledCategoryIds buyProductIds buyCategoryIds marketIds
    requiresSignIn buyerReferences startsAt endsAt usageLimit perBuyerLimit used priority isExclusive version createdAt updatedAt
    merchant { slug } codes { totalCount }`;

  describe("live", () => {
    it("from a draft with every field", async () => {
      const { body } = await world.graphql(
        "{ markets { id currency } products(first: 1) { edges { node { id } } } categories(first: 1) { " +
          "edges { node { id } } } }",
      );
      const market = body.data.markets.find(({ currency }: { currency: string }) => currency === "EUR").id;
      const [product, category] = [
        body.data.products.edges[0].node.id,
        body.data.categories.edges[0].node.id,
      ];
      const said = {
        titles: [
          { locale: "en", text: "Twenty off" },
          { locale: "de-at", text: "Zwanzig weniger" },
        ],
        basisPoints: 2000,
        currency: "EUR",
        minimumSubtotalMinor: 5_000_000_000,
        minimumQuantity: 2,
        entitledProductIds: [product],
        entitledCategoryIds: [category],
        marketIds: [market],
        requiresSignIn: true,
        buyerReferences: ["anna"],
        startsAt: "2026-01-01T00:00:00+01:00",
        endsAt: "2999-01-01T00:00:00.000Z",
        usageLimit: 100,
        perBuyerLimit: 1,
        priority: 10,
        isExclusive: true,
      };
      const { data } = await create(said, { selection: allFields });
      promotionId = data.id;
      const now = world.clock.now().toISOString();
      expect(data).toEqual({
        id: expect.stringMatching(/^prm_[0-9a-hjkmnp-tv-z]{26}$/),
        trigger: "CODE",
        kind: "PERCENTAGE",
        status: "DRAFT",
        titles: { en: "Twenty off", "de-AT": "Zwanzig weniger" },
        basisPoints: 2000,
        amount: null,
        currency: "EUR",
        buyQuantity: null,
        getQuantity: null,
        minimumSubtotal: { amountMinor: 5_000_000_000, currency: "EUR", exponent: 2 },
        minimumQuantity: 2,
        entitledProductIds: [product],
        entitledCategoryIds: [category],
        buyProductIds: [],
        buyCategoryIds: [],
        marketIds: [market],
        requiresSignIn: true,
        buyerReferences: ["anna"],
        startsAt: "2025-12-31T23:00:00.000Z",
        endsAt: "2999-01-01T00:00:00.000Z",
        usageLimit: 100,
        perBuyerLimit: 1,
        used: 0,
        priority: 10,
        isExclusive: true,
        version: 1,
        createdAt: now,
        updatedAt: now,
        merchant: { slug: world.demo.merchants.first.slug },
        codes: { totalCount: 0 },
      });
      expect(
        await ask(`query ($id: ID!) { promotion(id: $id) { ${allFields} } }`, { id: promotionId }),
      ).toEqual({ data, error: undefined });
    });

    it("with given codes in their order, and with random codes", async () => {
      const given = await generate({ promotionId, codes: ["TWENTY", "anna-20"], usageLimit: 5 });
      expect(given.data).toEqual({
        codes: [
          { code: "TWENTY", usageLimit: 5, used: 0 },
          { code: "anna-20", usageLimit: 5, used: 0 },
        ],
      });
      const drawn = await generate(
        { promotionId, count: 3, prefix: "NEW-", length: 8 },
        "codes { id code } promotion { version codes(first: 2) { totalCount pageInfo { hasNextPage } } }",
      );
      expect(drawn.data.codes).toHaveLength(3);
      for (const { id, code } of drawn.data.codes) {
        expect(code).toMatch(/^NEW-[3479CDFGHJKMNPQRTWXY]{8}$/);
        expect(id).toMatch(/^pcd_/);
      }
      expect(drawn.data.promotion).toEqual({
        version: 1,
        codes: { totalCount: 5, pageInfo: { hasNextPage: true } },
      });
    });

    it("active, updated, paused, active again and ended, each step with a new version", async () => {
      const at = (status: string, version: number) => ({
        data: { id: promotionId, status, version },
        error: undefined,
      });
      expect(await move("promotionActivate", { promotionId, expectedVersion: 1 })).toEqual(at("ACTIVE", 2));
      expect(
        await change("promotionUpdate", "PromotionUpdateInput", {
          promotionId,
          expectedVersion: 2,
          basisPoints: 2500,
          minimumSubtotalMinor: null,
        }),
      ).toEqual(at("ACTIVE", 3));
      expect(await move("promotionPause", { promotionId, expectedVersion: 3 })).toEqual(at("PAUSED", 4));
      expect(await move("promotionActivate", { promotionId })).toEqual(at("ACTIVE", 5));
      expect(await move("promotionActivate", { promotionId })).toEqual(at("ACTIVE", 5));
      expect(await move("promotionEnd", { promotionId })).toEqual(at("ENDED", 6));
      expect(await move("promotionEnd", { promotionId })).toEqual(at("ENDED", 6));
    });

    it("with one event per step, which contains previous values but no codes and buyers", async () => {
      expect(await events(promotionId)).toEqual([
        ["promotion.started", 2, { status: "draft" }],
        [
          "promotion.updated",
          3,
          {
            basisPoints: 2000,
            currency: "EUR",
            minimumSubtotal: { amountMinor: 5_000_000_000, currency: "EUR", exponent: 2 },
          },
        ],
        ["promotion.updated", 4, { status: "active" }],
        ["promotion.started", 5, { status: "paused" }],
        ["promotion.ended", 6, { status: "active" }],
      ]);
      const rows = await world.database.script((run) =>
        run(`select snapshot, thin from event where subject_id = '${promotionId}'`),
      );
      expect(JSON.stringify(rows)).not.toMatch(/\banna|twenty\b(?! off)/i);
    });
  });

  describe("are refused", () => {
    it("for invalid fields: all faults at once with their paths", async () => {
      const { error } = await create({
        titles: [],
        basisPoints: 0,
        amountMinor: 5,
        endsAt: "2026-01-01T00:00:00Z",
        startsAt: "2026-01-01T00:00:00Z",
      });
      expect(error.code).toBe("invalid_field");
      expect(
        error.details.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`),
      ).toEqual([
        "/titles too_short",
        "/basisPoints too_small",
        "/amountMinor not_allowed",
        "/currency required",
        "/endsAt out_of_range",
      ]);
    });

    it("for ids of objects that the merchant does not have", async () => {
      const { error } = await create({ basisPoints: 1, marketIds: ["mkt_00000000000000000000000000"] });
      expect(error).toMatchObject({
        code: "resource_not_found",
        details: [{ field: "/marketIds/0", code: "resource_not_found" }],
      });
    });

    it("for any change after their end", async () => {
      const refusal = {
        code: "invalid_state",
        conflict: {
          resource: "promotion",
          id: promotionId,
          currentStatus: "ended",
          reason: "promotion_ended",
        },
      };
      expect((await move("promotionActivate", { promotionId })).error).toMatchObject(refusal);
      expect((await move("promotionPause", { promotionId })).error).toMatchObject(refusal);
      expect(
        (await change("promotionUpdate", "PromotionUpdateInput", { promotionId, priority: 1 })).error,
      ).toMatchObject(refusal);
      expect((await generate({ promotionId, count: 1 })).error).toMatchObject(refusal);
    });

    it("for an outdated version", async () => {
      const { data } = await create({ basisPoints: 1 });
      const { error } = await move("promotionActivate", { promotionId: data.id, expectedVersion: 7 });
      expect(error).toMatchObject({
        code: "version_conflict",
        conflict: { resource: "promotion", id: data.id, currentStatus: "draft", currentVersion: 1 },
      });
    });

    it("for a start after their end, and a pause before their start", async () => {
      const { data } = await create({ basisPoints: 1, endsAt: "2001-01-01T00:00:00Z" });
      expect((await move("promotionPause", { promotionId: data.id })).error).toMatchObject({
        conflict: { reason: "promotion_not_active" },
      });
      expect((await move("promotionActivate", { promotionId: data.id })).error).toMatchObject({
        code: "invalid_state",
        conflict: { reason: "window_over", data: { endsAt: "2001-01-01T00:00:00.000Z" } },
      });
    });

    it("for taken codes, codes beside a count, and codes of an automatic promotion", async () => {
      const { data } = await create({ basisPoints: 1 });
      expect((await generate({ promotionId: data.id, codes: ["FREE", "twenty"] })).error).toMatchObject({
        code: "already_exists",
        details: [{ field: "/codes/1", code: "already_exists" }],
        conflict: { resource: "promotion_code", reason: "code_taken", data: { codes: ["twenty"] } },
      });
      expect((await generate({ promotionId: data.id, codes: ["X"], count: 1 })).error).toMatchObject({
        details: [{ field: "/count", code: "not_allowed" }],
      });
      const automatic = await create({ basisPoints: 1, trigger: "AUTOMATIC" });
      expect((await generate({ promotionId: automatic.data.id, count: 1 })).error).toMatchObject({
        conflict: { reason: "promotion_is_automatic" },
      });
      expect(
        (await ask("query ($id: ID!) { promotion(id: $id) { codes { totalCount } } }", { id: data.id })).data,
      ).toEqual({
        codes: { totalCount: 0 },
      });
    });

    it("for a page of codes that is too large", async () => {
      const { error } = await ask(
        "query ($id: ID!) { promotion(id: $id) { codes(first: 101) { totalCount } } }",
        { id: promotionId },
      );
      expect(error).toMatchObject({
        code: "invalid_field",
        details: [{ field: "/first", code: "too_large" }],
      });
    });
  });

  describe("are shown", () => {
    it("to their own merchant only, by id and in the list", async () => {
      const merchantId = world.demo.merchants.second.id;
      const made = await ask(
        `mutation ($merchantId: ID!) { promotionCreate(merchantId: $merchantId, input: { trigger: AUTOMATIC,
          kind: FREE_SHIPPING, titles: [{ locale: "en", text: "x" }] }) { id } }`,
        { merchantId },
        "operator",
      );
      const { id } = made.data;
      expect((await ask("query ($id: ID!) { promotion(id: $id) { id } }", { id })).data).toBeNull();
      expect((await ask("query ($id: ID!) { promotion(id: $id) { id } }", { id }, "operator")).data).toEqual({
        id,
      });
      for (const field of ["promotionActivate", "promotionPause", "promotionEnd"]) {
        expect((await move(field, { promotionId: id })).error.code).toBe("resource_not_found");
      }
      expect(
        (await change("promotionUpdate", "PromotionUpdateInput", { promotionId: id, priority: 1 })).error
          .code,
      ).toBe("resource_not_found");
      expect((await generate({ promotionId: id, count: 1 })).error.code).toBe("resource_not_found");
      const { data } = await ask("{ promotions(first: 100) { edges { node { id } } } }");
      expect(data.edges.map(({ node }: { node: { id: string } }) => node.id)).not.toContain(id);
      expect(
        (await ask("query ($id: ID!) { promotion(id: $id) { status version } }", { id }, "operator")).data,
      ).toEqual({
        status: "DRAFT",
        version: 1,
      });
    });

    it("in a list by status and trigger", async () => {
      const { data } = await ask(
        "{ promotions(status: ENDED, trigger: CODE) { totalCount edges { node { id status trigger } } } }",
      );
      // The demo has one such promotion.
      expect(data.totalCount).toBe(2);
      expect(data.edges[1]).toEqual({ node: { id: promotionId, status: "ENDED", trigger: "CODE" } });
      expect(data.edges[0].node).toMatchObject({ status: "ENDED", trigger: "CODE" });
      expect((await ask("{ promotions(status: ENDED, trigger: AUTOMATIC) { totalCount } }")).data).toEqual({
        totalCount: 0,
      });
    });

    it("to analysts, who cannot change them or see their buyers", async () => {
      const read =
        "query ($id: ID!) { promotion(id: $id) { status codes(first: 1) { edges { node { code } } } } }";
      expect((await ask(read, { id: promotionId }, "analyst")).data).toMatchObject({
        status: "ENDED",
        codes: { edges: [{ node: {} }] },
      });
      const { body } = await world.graphql(
        "query ($id: ID!) { promotion(id: $id) { status buyerReferences } }",
        {
          variables: { id: promotionId },
          token: "analyst",
        },
      );
      expect(body.errors[0].extensions.code).toBe("role_not_allowed");
      expect(JSON.stringify(body)).not.toContain("anna");
      expect((await create({ basisPoints: 1 }, { token: "analyst" })).error.code).toBe("role_not_allowed");
    });

    it("not to storefronts: codes are the merchant's secrets", async () => {
      expect(
        (await ask("query ($id: ID!) { promotion(id: $id) { id } }", { id: promotionId }, "storefront")).error
          .code,
      ).toBe("role_not_allowed");
    });

    it("with pages of codes, forwards and backwards, each code once", async () => {
      const page = async (args: string) => {
        const query = `query ($id: ID!) { promotion(id: $id) { codes(${args}) { edges { cursor node { id } }
          pageInfo { hasNextPage hasPreviousPage } } } }`;
        const { data } = await ask(query, { id: promotionId });
        return {
          ids: data.codes.edges.map(({ node }: { node: { id: string } }) => node.id) as string[],
          ...data.codes.pageInfo,
        };
      };
      const all = (await page("first: 100")).ids;
      expect(all).toHaveLength(5);
      expect(all).toEqual(all.toSorted());
      const first = await page("first: 3");
      expect(first).toEqual({ ids: all.slice(0, 3), hasNextPage: true, hasPreviousPage: false });
      expect(await page(`first: 3, after: "${first.ids[2]}"`)).toEqual({
        ids: all.slice(3),
        hasNextPage: false,
        hasPreviousPage: true,
      });
      expect(await page("last: 2")).toEqual({ ids: all.slice(3), hasNextPage: false, hasPreviousPage: true });
      expect(await page(`last: 2, before: "${all[3]}"`)).toEqual({
        ids: all.slice(1, 3),
        hasNextPage: true,
        hasPreviousPage: true,
      });
    });

    it("with their codes, with the same number of statements for any number", async () => {
      const statements = async (first: number) => {
        world.statements.length = 0;
        const { data } = await ask(
          `{ promotions(first: ${first}) { edges { node { id merchant { id } codes(first: 2) { totalCount
            edges { node { code } } } } } } }`,
        );
        expect(data.edges).toHaveLength(first);
        return world.statements.filter((text) => /from "?promotion/.test(text)).length;
      };
      expect([await statements(1), await statements(4)]).toEqual([3, 3]);
    });
  });

  it("in events with a document that is valid for the graph", () => {
    expect(validate(graph, eventDocument)).toEqual([]);
  });
});
