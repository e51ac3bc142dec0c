/**
 * Limits of queries: excessive documents are refused before they run, with figures, in the form of every
 * other error.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reindexProductsWithChangedAvailability } from "#commerce/search/index-products.ts";
import { createWorld, type World } from "#test/support/world.ts";

describe("limits of /graphql", () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it("return the cost of every query", async () => {
    const { status, body } = await world.graphql("{ viewer { role } }");
    expect(status).toBe(200);
    expect(body.extensions.cost).toEqual({ requested: expect.any(Number), limit: 20_000 });
    expect(
      (await world.graphql("{ viewer { role } }", { token: "storefront" })).body.extensions.cost.limit,
    ).toBe(4_000);
  });

  it("refuse a query above the cost limit of its role before it runs", async () => {
    world.statements.length = 0;
    const { status, body } = await world.graphql(
      "{ products(first: 100) { edges { node { variants { prices { market { merchant { markets { " +
        "taxRates { id } } } } } } } } } }",
    );
    expect(status).toBe(400);
    expect(body.errors[0].extensions).toMatchObject({
      code: "malformed_request",
      details: [{ in: "limit", field: "cost", code: "too_large" }],
    });
    expect(body.extensions.cost.requested).toBeGreaterThan(body.extensions.cost.limit);
    expect(world.statements.filter((text) => /from .?product/.test(text))).toEqual([]);
  });

  const deep = "{ product(id: 1) { merchant ".concat(
    "{ markets { merchant ".repeat(8),
    "{ id }",
    " } }".repeat(8),
    " } }",
  );
  const hostile: readonly (readonly [string, string])[] = [
    ["too deep", deep],
    [
      "too many aliases",
      `{ ${Array.from({ length: 201 }, (_, index) => `a${index}: __typename`).join(" ")} }`,
    ],
    ["too many directives", `{ viewer { role ${"@include(if: true) ".repeat(6)} } }`],
    ["too many tokens", `{ ${"viewer { role } ".repeat(400)} }`],
    ["not GraphQL", "{ viewer { "],
    ["an unknown field", "{ nothing }"],
    ["a fragment that contains itself", "{ viewer { ...A } } fragment A on Viewer { ...A }"],
    ["no query", ""],
  ];
  it.each(hostile)("refuse %s with 400", async (_name, query) => {
    const { status, body } = await world.graphql(query);
    expect({ status, code: body.errors[0].extensions.code }).toEqual({
      status: 400,
      code: "malformed_request",
    });
    expect(body.errors[0].extensions).toMatchObject({
      requestId: expect.stringMatching(/^req_/),
      retryable: false,
      details: [],
      conflict: null,
    });
    expect(body.data).toBeUndefined();
  });

  it("allow introspection of any depth", async () => {
    const { body } = await world.graphql(
      "{ __schema { types { fields { type { ofType { ofType { ofType { ofType { ofType { ofType { ofType " +
        "{ name } } } } } } } } } } } }",
    );
    expect(body.errors).toBeUndefined();
  });

  it("hide field name suggestions from storefronts", async () => {
    const { body } = await world.graphql("{ viewer { rol } }", { token: "storefront" });
    expect(body.errors[0].message).not.toContain("Did you mean");
    expect((await world.graphql("{ viewer { rol } }")).body.errors[0].message).toContain("Did you mean");
  });

  const bodies: readonly (readonly [string, string, number, string])[] = [
    ["broken JSON", '{"query": ', 400, "invalid_json"],
    ["a batch", '[{"query":"{ viewer { role } }"}]', 400, "malformed_request"],
    [
      "a key that reaches the prototype",
      '{"query":"{ viewer { role } }","variables":{"__proto__":{"a":1}}}',
      400,
      "unknown_field",
    ],
    ["too deep JSON", `{"variables":${"[".repeat(20)}${"]".repeat(20)}}`, 400, "invalid_json"],
    ["nothing", "", 400, "missing_body"],
  ];
  it.each(bodies)("refuse %s", async (_name, text, status, code) => {
    const answer = await world.send({
      method: "POST",
      url: "/graphql",
      headers: { authorization: `Bearer ${world.demo.tokens.admin}`, "content-type": "application/json" },
      body: text,
    });
    expect({ status: answer.status, code: answer.body.errors[0].extensions.code }).toEqual({ status, code });
  });

  it("refuse a media type other than JSON, and bodies above 1 MiB from storefronts", async () => {
    const headers = { authorization: `Bearer ${world.demo.tokens.storefront}` };
    const form = await world.send({
      method: "POST",
      url: "/graphql",
      headers: { ...headers, "content-type": "text/plain" },
      body: "query=x",
    });
    expect(form.body.errors[0].extensions.code).toBe("unsupported_media_type");
    const large = JSON.stringify({ query: "{ viewer { role } }", variables: { x: "x".repeat(1024 * 1024) } });
    expect(
      (await world.send({ method: "POST", url: "/graphql", headers, body: large })).body.errors[0].extensions
        .code,
    ).toBe("request_too_large");
    expect(
      (
        await world.send({
          method: "POST",
          url: "/graphql",
          headers: { authorization: `Bearer ${world.demo.tokens.admin}` },
          body: large,
        })
      ).status,
    ).toBe(200);
  });

  it("hide the cause of internal errors, and log it", async () => {
    await world.database.script((run) => run("alter table app rename to app_gone"));
    try {
      const { status, body, text } = await world.graphql("{ apps { edges { node { id } } } }");
      expect(status).toBe(200);
      expect(body.errors[0].extensions.code).toBe("internal_error");
      expect(text).not.toMatch(/relation|app_gone|select/i);
      expect(world.logged.find((line) => line["code"] === "internal_error")).toMatchObject({
        err: { code: "42P01", stack: expect.stringContaining("    at ") },
      });
    } finally {
      await world.database.script((run) => run("alter table app_gone rename to app"));
    }
  });
});

describe("regressions of the limits of /graphql", () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const dear =
    "{ products(first: 100) { edges { node { variants { prices { market { merchant { markets { taxRates " +
    "{ id } } } } } } } } } }";

  it("the cost is that of the operation that runs, not of the document's first one", async () => {
    const body = { query: `query A { viewer { role } } query B ${dear}`, operationName: "B" };
    const answer = await world.send({
      method: "POST",
      url: "/graphql",
      headers: { authorization: `Bearer ${world.demo.tokens.admin}` },
      body,
    });
    expect({ status: answer.status, field: answer.body.errors[0].extensions.details[0].field }).toEqual({
      status: 400,
      field: "cost",
    });
  });

  it("a variant has no field for its product, which would allow cycles", async () => {
    expect(
      (await world.graphql("{ products { edges { node { variants { product { id } } } } } }")).status,
    ).toBe(400);
  });

  it.each([
    ["a literal", '{ product(id: "\\u0000") { id } }', undefined, "/query"],
    ["a variable", "query ($id: ID!) { product(id: $id) { id } }", { id: "\u0000" }, "/variables/id"],
    ["a lone surrogate", "query ($id: ID!) { product(id: $id) { id } }", { id: "\ud800" }, "/variables/id"],
  ])(
    "control characters in %s are refused with 400 and the field",
    async (_name, query, variables, field) => {
      const { status, body } = await world.graphql(query, variables === undefined ? {} : { variables });
      expect({
        status,
        code: body.errors[0].extensions.code,
        field: body.errors[0].extensions.details[0].field,
      }).toEqual({
        status: 400,
        code: "invalid_field",
        field,
      });
    },
  );

  it("the answer is JSON for any Accept header", async () => {
    const headers = { authorization: `Bearer ${world.demo.tokens.admin}`, accept: "image/png" };
    const { status, body } = await world.send({
      method: "POST",
      url: "/graphql",
      headers,
      body: { query: "{ viewer { role } }" },
    });
    expect({ status, role: body.data.viewer.role }).toEqual({ status: 200, role: "admin" });
  });

  it("the log of a failed statement contains none of its values", async () => {
    await world.database.script((run) =>
      run("alter table app add constraint no_canary check (name not like 'canary%')"),
    );
    const { body } = await world.graphql('mutation { appCreate(input: { name: "canary-value" }) { id } }', {
      token: "operator",
    });
    expect(body.errors[0].extensions.code).toBe("internal_error");
    const line = world.logged.find((logged) => logged["code"] === "internal_error");
    expect(line).toMatchObject({ err: { code: "23514", stack: expect.stringContaining("    at ") } });
    expect(JSON.stringify(world.logged)).not.toContain("canary-value");
  });

  it("the lists of many installations are read in one statement", async () => {
    world.statements.length = 0;
    await world.graphql(
      "{ installations(first: 10) { edges { node { catalogProducts { meta { total } } } } } }",
      { token: "operator" },
    );
    expect(world.statements.filter((text) => text.includes("catalog_version")).length).toBe(1);
  });

  it("a preorder counts as in stock once its date has passed", async () => {
    const { body } = await world.graphql(
      "{ products(first: 100) { edges { node { id status variants { id sku availability } } } } }",
    );
    const product = body.data.products.edges
      .map(({ node }: { node: { status: string; variants: { availability: string }[] } }) => node)
      .find(
        (node: { status: string; variants: { availability: string }[] }) =>
          node.status === "PUBLISHED" &&
          node.variants.every(({ availability }) => availability === "PREORDER"),
      );
    const facet = async () => {
      const answer = await world.get(
        `/api/v1/search?q=${product.variants[0].sku}&locale=en&market=DE&sort=relevance&page=1&pageSize=1`,
      );
      return answer.body.meta.facets
        .find(({ key }: { key: string }) => key === "availability")
        .buckets.map(({ value }: { value: string }) => value);
    };
    expect(await facet()).toEqual(["preorder"]);
    world.clock.advance(400 * 86_400_000);
    expect(
      await reindexProductsWithChangedAvailability(world.database.db, world.clock.now()),
    ).toBeGreaterThan(0);
    expect(await facet()).not.toContain("preorder");
    expect(await reindexProductsWithChangedAvailability(world.database.db, world.clock.now())).toBe(0);
  });

  it("no prices of another market are returned for a market without prices", async () => {
    const { body } = await world.graphql("{ viewer { merchant { id } } }");
    await world.graphql(
      `mutation { merchantUpdate(input: { merchantId: "${body.data.viewer.merchant.id}", defaultMarket: "BR"
        }) { id } }`,
    );
    const answer = await world.getWithKey("/api/v1/open/catalog/products");
    expect(answer.body.meta).toMatchObject({ market: "BR", currency: null });
    expect(answer.body.data.every(({ priceRange }: { priceRange: unknown }) => priceRange === null)).toBe(
      true,
    );
  });
});
