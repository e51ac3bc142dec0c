/** Only results that depend on one cart or order and on the viewer are kept in memory. */
import { parse } from "graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findKeepableQuery } from "#mesh/keepable-query.ts";
import { type OpenedMesh, openGraphqlMesh } from "#mesh/open-mesh.ts";
import { stringifyResult, encodeResultData, keepTextOfResultData } from "#mesh/result-text.ts";
import { readInlined } from "#test/support/documents.ts";

describe("a query whose result may be kept", () => {
  let mesh: OpenedMesh;
  beforeAll(async () => void (mesh = await openGraphqlMesh()));
  afterAll(() => mesh.close());

  const isKeepable = (text: string): boolean => findKeepableQuery(mesh.schema, parse(text)) !== null;

  it.each(["carts/getPublicCart", "orders/getStorefrontOrder"])("is that of %s", (path) => {
    expect(findKeepableQuery(mesh.schema, readInlined(`operations/${path}.graphql`))).not.toBeNull();
  });

  it.each([
    '{ cart(id: "cart_1") { id lines { title } } }',
    "query ($id: ID!) { shown: cart(id: $id) { __typename buyer { reference } revocation { note } } }",
    "query ($id: ID!) { order(id: $id) { ...A } } fragment A on Order { id payments { ... { id } } ...B } " +
      "fragment B on Order { fulfillments { trackingNumber } }",
  ])("may be a client's: %s", (text) => expect(isKeepable(text)).toBe(true));

  it.each([
    ["two objects", "query ($id: ID!) { a: cart(id: $id) { id } b: cart(id: $id) { id } }"],
    ["a list", "{ carts { nodes { id } } }"],
    ["another object", "query ($id: ID!) { fulfillment(id: $id) { id } }"],
    ["a directive", "query ($id: ID!, $no: Boolean!) { cart(id: $id) { id @skip(if: $no) } }"],
    ["introspection", "{ __typename }"],
    ["a mutation", "mutation { x: __typename }"],
    ["a field of other tables", "query ($id: ID!) { cart(id: $id) { taxLines { name } } }"],
    ["a field with personal data", "query ($id: ID!) { order(id: $id) { shippingAddress { line1 } } }"],
    ["a field with time", "query ($id: ID!) { order(id: $id) { cancellationEligibility { decision } } }"],
    [
      "such a field in a fragment",
      "query ($id: ID!) { order(id: $id) { ...A } } fragment A on Order { id ...B } " +
        "fragment B on Order { buyerEmail }",
    ],
  ])("does not read %s", (_what, text) => expect(isKeepable(text)).toBe(false));

  it("gives no id for a variable that is no text", () => {
    const query = findKeepableQuery(mesh.schema, parse("query ($id: ID!) { cart(id: $id) { id } }"));
    expect([{ id: "cart_1" }, { id: 1 }, {}, null].map((given) => query?.getId(given))).toEqual([
      "cart_1",
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("the text of a result", () => {
  it("is the same with and without a kept text", () => {
    const data = { cart: { title: 'Zelt "Fjell" • 2', id: null } };
    const results = [{ data }, { data, extensions: { cost: 1 } }, { extensions: {}, data }, { data: null }];
    const expected = results.map((result) => JSON.stringify(result));
    expect(results.map((result) => stringifyResult(result))).toEqual(expected);
    expect(encodeResultData(data)).toBe(JSON.stringify(data));
    keepTextOfResultData(data);
    expect(results.map((result) => stringifyResult(result))).toEqual(expected);
    expect(String(encodeResultData(data))).toBe(JSON.stringify(data));
  });
});
