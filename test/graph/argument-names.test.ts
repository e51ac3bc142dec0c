/**
 * Errors about invalid values of arguments name the argument and the allowed values: enums, scalars and
 * built-in types, in the document and in variables.
 */
import { expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";

const world = useWorld();
const sorts = ["OLDEST_FIRST", "NEWEST_FIRST", "HIGHEST_TOTAL_FIRST", "LOWEST_TOTAL_FIRST"];

const errorOf = async (query: string, options: object = {}) => {
  const { body } = await world().graphql(query, { token: "analyst", ...options });
  return body.errors?.[0]?.extensions;
};

it.each([
  [
    "orders(sort: TOTAL_DESC)",
    { code: "malformed_request", message: `"sort" must be one of ${sorts.join(", ")}.` },
    { field: "/sort", code: "not_allowed", allowed: sorts },
  ],
  [
    'orders(sort: "x")',
    { code: "malformed_request", message: `"sort" must be one of ${sorts.join(", ")}.` },
    { field: "/sort", code: "not_allowed", allowed: sorts },
  ],
  [
    'orders(first: 1, placedFrom: "2026-11-01", status: PLACED)',
    {
      code: "invalid_field",
      message:
        '"placedFrom" must be a time with a time zone as in RFC 3339, for example 2026-01-31T09:15:00Z.',
    },
    { field: "/placedFrom", code: "invalid_format" },
  ],
  [
    '# a comment\norders(country: # another one\n"Deutschland")',
    {
      code: "invalid_field",
      message:
        '"country" must be a country code of ISO 3166-1 alpha-2 in two letters, for example DE; the value ' +
        "seems to mean DE.",
    },
    { field: "/country", code: "invalid_format" },
  ],
])("%s is refused with the name of the argument", async (field, error, detail) => {
  expect(await errorOf(`{ ${field} { totalCount } }`)).toMatchObject({ ...error, details: [detail] });
});

it("names arguments of other built-in types, and input fields inside lists", async () => {
  expect(await errorOf('{ orders(first: "many") { totalCount } }')).toMatchObject({
    code: "malformed_request",
    message: '"first" is not valid: expected type Int.',
  });
  const create =
    'mutation { cartCreate(input: { market: "DE", lines: [{ variantId: "a", quantity: 1 }, ' +
    '{ variantId: "b", quantity: "x" }] }) { id } }';
  expect(await errorOf(create, { token: "admin" })).toMatchObject({
    message: '"lines.quantity" is not valid: expected type Int.',
  });
});

it("names the variable and the allowed values", async () => {
  const query = "query ($sort: OrderSort!) { orders(sort: $sort) { totalCount } }";
  expect(await errorOf(query, { variables: { sort: "TOTAL_DESC" } })).toMatchObject({
    code: "malformed_request",
    message: `Variable "$sort" must be one of ${sorts.join(", ")}.`,
    details: [{ field: "/variables/sort", code: "not_allowed", allowed: sorts }],
  });
  const defaults = "query ($sort: OrderSort! = TOTAL_DESC) { orders(sort: $sort) { totalCount } }";
  expect(await errorOf(defaults)).toMatchObject({
    message: "A value is not valid: expected type OrderSort.",
  });
});

it("does not list the values of an enum for a storefront, which gets no suggestions", async () => {
  const error = await errorOf("{ orders(sort: TOTAL_DESC) { totalCount } }", { token: "storefront" });
  expect(error).toMatchObject({ message: '"sort" is not valid: expected type OrderSort.', details: [] });
});

it.each([
  [
    "{ orders { edges } }",
    'Field "edges" of type "[OrderEdge!]!" must have a selection of subfields. Did you mean "edges { ... }"?',
  ],
  [
    "{ orders }",
    'Field "orders" of type "OrderConnection!" must have a selection of subfields. Did you mean "orders { ... }"?',
  ],
])("%s is refused with the missing selection", async (query, message) => {
  expect(await errorOf(query)).toMatchObject({ message });
});

it("says which credentials GraphQL accepts if the caller sends an API key", async () => {
  for (const url of ["/graphql", "/reports/inventory.csv"]) {
    const { status, body } = await world().send({
      method: url === "/graphql" ? "POST" : "GET",
      url,
      headers: { authorization: `Bearer ${world().demo.keys.full}` },
      ...(url === "/graphql" ? { body: { query: "{ viewer { role } }" } } : {}),
    });
    const { code, message } = body.errors?.[0]?.extensions ?? body.error;
    expect([status, code]).toEqual([401, "api_key_invalid"]);
    expect(message).toContain("an internal token (cit_…)");
  }
});

it.each(["{}", "[]", '{ "variables": {} }', '{ "query": null }'])(
  'says that "query" is required if the body is %s',
  async (body) => {
    const { status, body: answer } = await world().send({
      method: "POST",
      url: "/graphql",
      headers: { authorization: `Bearer ${world().demo.tokens.admin}` },
      body,
    });
    expect([status, answer.errors[0].extensions]).toMatchObject([
      400,
      {
        code: "malformed_request",
        message: expect.stringMatching(/^"query" is required: .*"documentId"/),
        details: [{ field: "/query", code: "required" }],
      },
    ]);
  },
);

it.each([
  ['returnApprove(returnId: "ret_none", idempotencyKey: "one", input: {}) { id }', "returnId"],
  ['exportCancel(input: { exportId: "exp_none" }) { id }', "exportId"],
])("%s names the argument whose object does not exist", async (call, name) => {
  expect(await errorOf(`mutation { ${call} }`, { token: "admin" })).toMatchObject({
    code: "resource_not_found",
    message: `"${name}" must be the id of an existing object that the caller may use.`,
    details: [{ field: `/${name}`, code: "unknown" }],
  });
});

it("names the field of an input that breaks a rule, also in the message", async () => {
  const create =
    'mutation { cartCreate(input: { market: "DE", lines: [{ variantId: "a", quantity: 0 }] }) { id } }';
  const error = await errorOf(create, { token: "admin" });
  expect(error).toMatchObject({ code: "invalid_field", details: [{ field: "/lines/0/quantity" }] });
  expect(error.message).toMatch(/^"lines\[0\]\.quantity" must be an integer from 1 to \d+\.$/);
});
