/** What a query may be: hostile documents are refused before they run, with figures, in the shape of every other error. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorld, type World } from "#test/support/world.ts";

describe("limits of /graphql", () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld("pglite");
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it("tells the cost of every query", async () => {
    const { status, body } = await world.graphql("{ viewer { role } }");
    expect(status).toBe(200);
    expect(body.extensions.cost).toEqual({ requested: expect.any(Number), limit: 20_000 });
    expect((await world.graphql("{ viewer { role } }", { token: "storefront" })).body.extensions.cost.limit).toBe(2_000);
  });

  it("refuses a query that costs more than its role may, before it runs", async () => {
    world.statements.length = 0;
    const { status, body } = await world.graphql(
      "{ products(first: 100) { edges { node { variants { prices { market { merchant { markets { taxRates { id } } } } } } } } } }",
    );
    expect(status).toBe(400);
    expect(body.errors[0].extensions).toMatchObject({ code: "malformed_request", details: [{ in: "limit", field: "cost", code: "too_large" }] });
    expect(body.extensions.cost.requested).toBeGreaterThan(body.extensions.cost.limit);
    expect(world.statements.filter((text) => /from .?product/.test(text))).toEqual([]);
  });

  const deep = "{ product(id: 1) { merchant ".concat("{ markets { merchant ".repeat(8), "{ id }", " } }".repeat(8), " } }");
  const hostile: readonly (readonly [string, string])[] = [
    ["too deep", deep],
    ["too many aliases", `{ ${Array.from({ length: 201 }, (_, index) => `a${index}: __typename`).join(" ")} }`],
    ["too many directives", `{ viewer { role ${"@include(if: true) ".repeat(6)} } }`],
    ["too many tokens", `{ ${"viewer { role } ".repeat(400)} }`],
    ["not GraphQL", "{ viewer { "],
    ["an unknown field", "{ nothing }"],
    ["a fragment that contains itself", "{ viewer { ...A } } fragment A on Viewer { ...A }"],
    ["no query", ""],
  ];
  it.each(hostile)("refuses %s with 400", async (_name, query) => {
    const { status, body } = await world.graphql(query);
    expect({ status, code: body.errors[0].extensions.code }).toEqual({ status: 400, code: "malformed_request" });
    expect(body.errors[0].extensions).toMatchObject({ requestId: expect.stringMatching(/^req_/), retryable: false, details: [], conflict: null });
    expect(body.data).toBeUndefined();
  });

  it("takes introspection, however deep it is", async () => {
    const { body } = await world.graphql(
      "{ __schema { types { fields { type { ofType { ofType { ofType { ofType { ofType { ofType { ofType { name } } } } } } } } } } } }",
    );
    expect(body.errors).toBeUndefined();
  });

  it("suggests no field names to storefronts", async () => {
    const { body } = await world.graphql("{ viewer { rol } }", { token: "storefront" });
    expect(body.errors[0].message).not.toContain("Did you mean");
    expect((await world.graphql("{ viewer { rol } }")).body.errors[0].message).toContain("Did you mean");
  });

  const bodies: readonly (readonly [string, string, number, string])[] = [
    ["broken JSON", '{"query": ', 400, "invalid_json"],
    ["a batch", '[{"query":"{ viewer { role } }"}]', 400, "malformed_request"],
    ["a key that reaches the prototype", '{"query":"{ viewer { role } }","variables":{"__proto__":{"a":1}}}', 400, "unknown_field"],
    ["too deep JSON", `{"variables":${"[".repeat(20)}${"]".repeat(20)}}`, 400, "invalid_json"],
    ["nothing", "", 400, "missing_body"],
  ];
  it.each(bodies)("refuses %s", async (_name, text, status, code) => {
    const answer = await world.send({
      method: "POST",
      url: "/graphql",
      headers: { authorization: `Bearer ${world.demo.tokens.admin}`, "content-type": "application/json" },
      body: text,
    });
    expect({ status: answer.status, code: answer.body.errors[0].extensions.code }).toEqual({ status, code });
  });

  it("refuses what is not JSON by its type, and a body over a mebibyte from a storefront", async () => {
    const headers = { authorization: `Bearer ${world.demo.tokens.storefront}` };
    const form = await world.send({ method: "POST", url: "/graphql", headers: { ...headers, "content-type": "text/plain" }, body: "query=x" });
    expect(form.body.errors[0].extensions.code).toBe("unsupported_media_type");
    const large = JSON.stringify({ query: "{ viewer { role } }", variables: { x: "x".repeat(1024 * 1024) } });
    expect((await world.send({ method: "POST", url: "/graphql", headers, body: large })).body.errors[0].extensions.code).toBe("request_too_large");
    expect(
      (await world.send({ method: "POST", url: "/graphql", headers: { authorization: `Bearer ${world.demo.tokens.admin}` }, body: large })).status,
    ).toBe(200);
  });

  it("masks what is our fault and logs it whole", async () => {
    await world.database.script((run) => run("alter table app rename to app_gone"));
    try {
      const { status, body, text } = await world.graphql("{ apps { edges { node { id } } } }");
      expect(status).toBe(200);
      expect(body.errors[0].extensions.code).toBe("internal_error");
      expect(text).not.toMatch(/relation|app_gone|select/i);
      expect(JSON.stringify(world.logged.at(-1) ?? world.logged)).toBeDefined();
      expect(world.logged.some((line) => JSON.stringify(line).includes("does not exist"))).toBe(true);
    } finally {
      await world.database.script((run) => run("alter table app_gone rename to app"));
    }
  });
});
