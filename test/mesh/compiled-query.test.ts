/**
 * Compiled queries of trusted documents give the same results as graphql-js, which executes the documents
 * that graphql-jit would execute differently.
 */
import {
  execute,
  type ExecutionResult,
  GraphQLEnumType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  parse,
} from "graphql";
import { describe, expect, it } from "vitest";
import { compileGraphqlDocument } from "#mesh/compiled-query.ts";

const Color = new GraphQLEnumType({ name: "Color", values: { DARK_RED: { value: "dark_red" } } });
const Named = new GraphQLInterfaceType({
  name: "Named",
  fields: { name: { type: GraphQLString } },
  resolveType: () => "Part",
});

const refuse = (): never => {
  throw new Error("The resolver fails.");
};

const Part: GraphQLObjectType = new GraphQLObjectType({
  name: "Part",
  interfaces: [Named],
  fields: () => ({
    name: { type: GraphQLString },
    count: { type: new GraphQLNonNull(GraphQLInt), resolve: ({ count }) => Promise.resolve(count) },
    color: { type: Color },
    parts: { type: new GraphQLNonNull(new GraphQLList(Part)), resolve: () => [part, null] },
    broken: { type: GraphQLString, resolve: refuse },
    brokenLater: { type: GraphQLString, resolve: async () => refuse() },
    brokenNonNull: { type: new GraphQLNonNull(GraphQLString), resolve: refuse },
    missing: { type: new GraphQLNonNull(GraphQLString) },
    brokenItems: {
      type: new GraphQLList(GraphQLString),
      resolve: () => ["a", Promise.reject(new Error("b")), "c"],
    },
  }),
});
const part = { name: "bolt", count: 3, color: "dark_red", missing: null };

const schema = new GraphQLSchema({
  types: [Part],
  query: new GraphQLObjectType({
    name: "Query",
    fields: {
      part: { type: Part, resolve: () => part },
      neededPart: { type: new GraphQLNonNull(Part), resolve: () => part },
      named: { type: Named, resolve: () => part },
      echo: {
        type: GraphQLString,
        args: {
          text: { type: new GraphQLNonNull(GraphQLString) },
          colors: { type: new GraphQLList(Color), defaultValue: ["dark_red"] },
        },
        resolve: (_root, args) => JSON.stringify(args),
      },
    },
  }),
  mutation: new GraphQLObjectType({
    name: "Mutation",
    fields: { part: { type: Part, resolve: () => part } },
  }),
});

const plain = ({ data, errors }: ExecutionResult): unknown =>
  JSON.parse(
    JSON.stringify({
      data,
      errors: errors?.map((error) => ({ ...error.toJSON(), from: error.originalError?.message })),
    }),
  );

interface Ran {
  readonly compiled: unknown;
  readonly interpreted: unknown;
  readonly fallbacks: number;
}

async function run(text: string, variableValues: Record<string, unknown> = {}): Promise<Ran> {
  const document = parse(text);
  const query = compileGraphqlDocument(schema, document);
  if (query === undefined) throw new Error("The document was not compiled.");
  const args = { schema, document, variableValues, contextValue: {} };
  let fallbacks = 0;
  const result = await query.execute(args, (given) => {
    fallbacks += 1;
    return execute(given);
  });
  return { compiled: plain(result), interpreted: plain(await execute(args)), fallbacks };
}

describe("compiled queries", () => {
  it.each([
    ["enums, lists and promises", "{ part { name count color parts { color __typename } } }"],
    [
      "an alias, and a field that is selected twice",
      "{ a: part { name } part { count } part { name count } }",
    ],
    [
      "fragments",
      "{ part { ...F ... { count } ... on Named { name } } } fragment F on Part { parts { ...G } } fragment G on Part { name }",
    ],
    ["default values of arguments", '{ echo(text: "x") }'],
    ["literals of arguments", '{ echo(text: "x\\u2028\\"`${1}", colors: [DARK_RED, null]) }'],
    ["an error of a nullable field", "{ part {\n  name\n  broken\n} }"],
    ["an error of a promise in a list", "{ part { parts { b: brokenLater } } }"],
    ["an error of a non-null field", "{ part { name brokenNonNull } }"],
  ])("give the same result for %s without the executor", async (_name, text) => {
    const { compiled, interpreted, fallbacks } = await run(text);
    expect(compiled).toEqual(interpreted);
    expect(fallbacks).toBe(0);
  });

  it.each([
    ["several errors", "{ part { broken brokenLater } }"],
    ["an error that no resolver has thrown", "{ part { missing } }"],
    ["an error up to the root", "{ neededPart { missing } }"],
    ["an error of a list item", "{ part { brokenItems } }"],
  ])("leave %s to the executor", async (_name, text) => {
    const { compiled, interpreted, fallbacks } = await run(text);
    expect(compiled).toEqual(interpreted);
    expect(fallbacks).toBe(1);
  });

  it("coerce variables and their default values as graphql-js does", async () => {
    const text = 'query Q($text: String! = "d", $colors: [Color]) { echo(text: $text, colors: $colors) }';
    for (const variables of [
      {},
      { text: "v" },
      { colors: "DARK_RED" },
      { colors: null },
      { text: null },
      { colors: ["dark_red"] },
    ]) {
      const { compiled, interpreted } = await run(text, variables);
      expect(compiled).toEqual(interpreted);
    }
  });

  it("contain no text of the document as program code", async () => {
    // graphql-jit would write this literal into its program as `new Date(…)`.
    const marker = "__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d";
    const text = `{ echo(text: "${marker}globalThis.wasRun = true") }`;
    const { compiled, interpreted } = await run(text);
    expect(compiled).toEqual(interpreted);
    expect(globalThis).not.toHaveProperty("wasRun");
  });
});

describe("a document that graphql-jit could execute differently", () => {
  const manyFields = Array.from(
    { length: 9 },
    (_, index) =>
      `fragment F${index} on Part { a: parts { ...F${index + 1} } b: parts { ...F${index + 1} } }`,
  ).join(" ");

  it.each([
    ["a mutation", "mutation M { part { name } }"],
    ["@include", "query Q($yes: Boolean!) { part { name @include(if: $yes) } }"],
    ["introspection", "{ __schema { types { name } } }"],
    ["an alias with an underscore", "{ part { a_b: name } }"],
    ["an alias that is a property of prototypes", "{ part { __proto__: name } }"],
    [
      "a variable that is a property of prototypes",
      "query Q($__proto__: String!) { echo(text: $__proto__) }",
    ],
    ["an interface", "{ named { name } }"],
    ["fragments that multiply fields", `{ part { ...F0 } } ${manyFields} fragment F9 on Part { name }`],
  ])("is not compiled: %s", (_name, text) => {
    expect(compileGraphqlDocument(schema, parse(text))).toBeUndefined();
  });
});
