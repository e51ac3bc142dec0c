/**
 * Figure 15: hostile documents sent to /graphql are refused in the usual error format before any work is
 * done. The soak test (`npm run soak`) measures how soon.
 */
import { getIntrospectionQuery } from "graphql";
import { describe, expect, it } from "vitest";
import { typeMapQuery } from "#pages/graphiql/browser/type-map/introspection.ts";
import { validationErrorsMax } from "#graph/limits.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";
import { type HostileDocument, hostileDocuments } from "./hostile-documents.ts";

const world = useWorld();
const documents = [...hostileDocuments.values()].flat();
const answerLengthMax = 32 * 1024;

function send({ body, headers }: Omit<HostileDocument, "name">): Promise<Answer> {
  const authorization = `Bearer ${world().demo.tokens.storefront}`;
  return world().send({ method: "POST", url: "/graphql", headers: { authorization, ...headers }, body });
}

describe("a hostile GraphQL request", () => {
  it("comes in more than 200 documents", () => {
    expect(new Set(documents.map(({ name }) => name)).size).toBe(documents.length);
    expect(documents.length).toBeGreaterThanOrEqual(200);
  });

  it.each([...hostileDocuments.keys()])("is refused before any work is done: %s", async (kind) => {
    const { statements } = world();
    for (const document of hostileDocuments.get(kind) ?? []) {
      statements.length = 0;
      const { status, body, text } = await send(document);
      const error = body?.errors?.[0]?.extensions;
      const summary = {
        name: document.name,
        status,
        retryable: error?.retryable,
        requestId: error?.requestId,
        data: body?.data,
      };
      expect(summary).toEqual({
        name: document.name,
        status: 400,
        retryable: false,
        requestId: expect.stringMatching(/^req_/),
        data: undefined,
      });
      expect(body.errors.length).toBeLessThanOrEqual(validationErrorsMax + 1);
      expect(text.length).toBeLessThan(answerLengthMax);
      expect(statements.filter((statement) => !statement.includes("internal_token"))).toEqual([]);
    }
  });
});

describe("introspection", () => {
  const asked = async (query: string): Promise<unknown> => {
    const { status, body } = await send({ body: JSON.stringify({ query }) });
    return { status, message: body.errors?.[0].message };
  };

  const everything = {
    descriptions: true,
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    inputValueDeprecation: true,
  };

  it.each([
    ["the map of types", typeMapQuery],
    ["tools", getIntrospectionQuery({ ...everything, oneOf: true })],
    ["tools that know nothing of today's GraphQL", getIntrospectionQuery()],
    [
      "tools that find out what there is",
      '{ a: __type(name: "__Type") { fields { name } } b: __type(name: "__Field") { fields { name } } }',
    ],
  ])("answers the usual queries of %s", async (_name, query) => {
    expect(await asked(query)).toEqual({ status: 200, message: undefined });
  });

  it.each([
    ["the schema", "{ __schema { queryType { name } } a: __schema { queryType { name } } }"],
    ["what is in it", "{ __schema { a: types { name } b: types { name } } }"],
    [
      "a fragment of it",
      "{ __schema { types { ...T } } } fragment T on __Type { fields { name } ofType { a: fields { name } } }",
    ],
    ["what each has", "{ __schema { types { a: __typename b: __typename } } }"],
  ])("refuses a second alias of %s, which would repeat its output", async (_name, query) => {
    expect(await asked(query)).toEqual({
      status: 400,
      message: "An introspection query must select each field under only one name, except __type.",
    });
  });

  it("is limited to ten types", async () => {
    const types = (count: number): string =>
      `{ ${Array.from({ length: count }, (_, index) => `a${index}: __type(name: "Cart") { name }`).join(" ")} }`;
    expect(await asked(types(10))).toEqual({ status: 200, message: undefined });
    expect(await asked(types(11))).toEqual({
      status: 400,
      message: "A query must select at most 10 types with __type.",
    });
  });
});
