/** Which documents are compiled and kept: what becomes code, and what one token may take of the room. */
import { buildSchema, execute, type ExecutionResult, type GraphQLFieldMap, isObjectType, parse } from "graphql";
import { describe, expect, it } from "vitest";
import type { GraphContext } from "#graph/context.ts";
import schema from "#graph/schema.ts";
import { type CompiledDocument, compileQueryText } from "#web/graphql/graphql-compiled.ts";
import {
  createKeptQueries,
  documentCaches,
  fieldsKeptMax,
  fieldsOfTokenMax,
  type KeptQueries,
  sightingsMin,
  textLengthMax,
} from "#web/graphql/graphql-kept.ts";

const refused: readonly (readonly [string, string])[] = [
  ["a mutation", "mutation ($input: CartCreateInput!) { cartCreate(input: $input) { id } }"],
  ["several operations", "query A { viewer { role } } query B { viewer { role } }"],
  ["a text, which the compiler would take for code", '{ product(id: "__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74dprocess.exit()") { id } }'],
  [
    "a bare name where a text belongs",
    "{ productSearch(q: foo, locale: en, market: DE, sort: RELEVANCE, page: 1, pageSize: 5) { meta { totalItems } } }",
  ],
  ["a name that the compiler would take for code", "query __MAGIC_NAN__ { viewer { role } }"],
  ["a text as a default", 'query ($id: ID! = "x") { product(id: $id) { id } }'],
  ["a text in a list", 'query ($id: ID!) { publicProduct(merchantSlug: $id, productSlug: $id, languages: ["de"]) { id } }'],
  ["introspection", "{ __schema { queryType { name } } }"],
  ["a name that reaches the prototype", "{ __proto__: viewer { role } }"],
  ["names that another place could have in the code", "{ a_b: viewer { c: role } a: viewer { b_c: role } }"],
  ["a name like a type's", "{ Viewer: viewer { role } }"],
  ["an input object as variable", "query ($input: CartCreateInput) { viewer { role } }"],
  ["lists of lists as variable", "query ($ids: [[ID!]]) { viewer { role } }"],
  ["a default of a scalar of ours", "query ($size: MinorUnits = 5) { viewer { role } }"],
  ["a directive that may be given null", "query ($with: Boolean = true) { viewer { role @include(if: $with) } }"],
  ["a directive where fields are merged", "query ($with: Boolean!) { viewer { role } viewer @include(if: $with) { merchant { id } } }"],
  ["a directive in a fragment", "query ($with: Boolean!) { ...A } fragment A on Query { viewer @include(if: $with) { role } }"],
  ["a directive on a fragment", "query ($with: Boolean!) { ... @include(if: $with) { viewer { role } } }"],
  ["a few lines that are thousands of fields", `{ ...A0 } ${fragments(10)} fragment A10 on Query { viewer { role } }`],
];

/** Each has the next twice. */
function fragments(count: number): string {
  const two = (index: number): string => `fragment A${index} on Query { ...A${index + 1} ...A${index + 1} }`;
  return Array.from({ length: count }, (_, index) => two(index)).join(" ");
}

describe("compileQueryText", () => {
  it.each(refused)("leaves %s", (_name, text) => {
    expect(compileQueryText(schema, text)).toBeUndefined();
  });

  it("compiles what frontends send", () => {
    const text = `query Two($ids: [LocaleCode!], $slug: String!, $with: Boolean! = true, $first: Int = 5, $status: ProductStatus = DRAFT) {
      one: publicProduct(merchantSlug: $slug, productSlug: $slug, languages: $ids) { __typename id title @include(if: $with) }
      products(first: $first, status: $status) { totalCount } }`;
    expect(compileQueryText(schema, text)).toMatchObject({ operationName: "Two", fields: 6 });
    expect(compileQueryText(schema, `{ ...A0 } ${fragments(6)} fragment A6 on Query { viewer { role } }`)).toMatchObject({
      operationName: null,
      fields: 128,
    });
  });
});

const fieldsOf = (type: unknown): GraphQLFieldMap<unknown, unknown> => (isObjectType(type) ? type.getFields() : {});

describe("a compiled document", () => {
  const mini = buildSchema("type Query { one: Thing, many: [Thing!] } type Thing { a: Int! b: Int! c: Int d: Int }");
  const fail = (name: string) => () => Promise.reject(new Error(name));
  const resolvers: Readonly<Record<string, Readonly<Record<string, () => unknown>>>> = {
    Query: { one: () => Promise.resolve({ d: 1 }), many: () => [{ d: 1 }, { d: 2 }] },
    Thing: { a: fail("a"), b: fail("b"), c: fail("c") },
  };
  for (const [type, fields] of Object.entries(resolvers))
    for (const [name, resolve] of Object.entries(fields)) Object.assign(fieldsOf(mini.getType(type))[name] ?? {}, { resolve });

  it.each(["{ one { a b } }", "{ many { a } }", "{ one { c d } many { d } }", "{ one { c } many { b a } }"])(
    "fails as GraphQL does: %s",
    async (text) => {
      const expected = await execute({ schema: mini, document: parse(text) });
      const result = await compileQueryText(mini, text)?.run({} as GraphContext, {});
      expect(result?.data).toEqual(expected.data);
      const paths = (errors: ExecutionResult["errors"]): unknown[] => (errors ?? []).map(({ path }) => JSON.stringify(path)).toSorted();
      expect(paths(result?.errors)).toEqual(paths(expected.errors));
    },
  );
});

const hundredFields: CompiledDocument = {
  fields: 100,
  operationName: null,
  span: { name: "graphql query" },
  costOf: () => 1,
  run: () => ({ data: {} }),
};

interface Desk extends KeptQueries {
  readonly tried: string[];
}

function keep(compile: () => CompiledDocument | undefined = () => hundredFields): Desk {
  const tried: string[] = [];
  const kept = createKeptQueries((text) => {
    tried.push(text);
    return compile();
  });
  return { ...kept, tried };
}

function noteOften(kept: KeptQueries, text: string, tokenId = "a"): void {
  for (let count = 0; count < sightingsMin; count += 1) kept.note(text, tokenId);
}

describe("kept queries", () => {
  it("are those that were answered a few times, and compiled once", () => {
    const kept = keep();
    for (let count = 1; count < sightingsMin; count += 1) kept.note("x", "a");
    expect([kept.find("x"), kept.tried]).toEqual([undefined, []]);
    kept.note("x", "b");
    expect([kept.find("x"), kept.tried]).toEqual([hundredFields, ["x"]]);
  });

  it("are not those that cannot be compiled, which is tried once, or are long", () => {
    const kept = keep(() => undefined);
    for (let count = 0; count < 3; count += 1) noteOften(kept, "x");
    noteOften(kept, "x".repeat(textLengthMax + 1));
    expect([kept.find("x"), kept.tried]).toEqual([undefined, ["x"]]);
  });

  it("are none of somebody who sends ever new ones, who pushes out nothing", () => {
    const kept = keep();
    noteOften(kept, "x");
    for (let count = 0; count < 10_000; count += 1) kept.note(`new ${count}`, "b");
    expect([kept.find("x"), kept.tried]).toEqual([hundredFields, ["x"]]);
  });

  it("make room for another by those that the same token brought, the longest unused first", () => {
    const kept = keep();
    noteOften(kept, "other", "b");
    const count = fieldsOfTokenMax / hundredFields.fields;
    for (let index = 0; index < count; index += 1) noteOften(kept, `own ${index}`);
    expect(kept.find("own 0")).toBe(hundredFields);
    for (let index = 0; index < 5; index += 1) noteOften(kept, `more ${index}`);
    const left = Array.from({ length: count }, (_, index) => index).filter((index) => kept.find(`own ${index}`) !== undefined);
    expect(left).toEqual([0, ...Array.from({ length: count - 6 }, (_, index) => index + 6)]);
    expect(kept.find("other")).toBe(hundredFields);
  });

  it("are no more than there is room for, whoever brought them", () => {
    const kept = keep();
    const count = (2 * fieldsKeptMax) / hundredFields.fields;
    for (let index = 0; index < count; index += 1) noteOften(kept, `x ${index}`, `token ${index % 40}`);
    const left = Array.from({ length: count }, (_, index) => kept.find(`x ${index}`)).filter((found) => found !== undefined);
    expect(left).toHaveLength(fieldsKeptMax / hundredFields.fields);
  });
});

it("what Yoga has parsed is kept as far as its texts are not long", () => {
  const { errorCache } = documentCaches();
  const error = new Error("refused");
  errorCache.set("x".repeat(textLengthMax + 1), error);
  errorCache.set("short", error);
  expect([errorCache.get("x".repeat(textLengthMax + 1)), errorCache.get("short")]).toEqual([undefined, error]);
  const medium = (index: number): string => `${index}${"x".repeat(10_000)}`;
  for (let index = 0; index < 900; index += 1) errorCache.set(medium(index), error);
  expect([errorCache.get("short"), errorCache.get(medium(899))]).toEqual([undefined, error]);
});
