/** The plugin `validation.ts` limits the form of documents that clients send. */
import {
  getIntrospectionQuery,
  GraphQLError,
  parse,
  specifiedRules,
  validate,
  type ASTVisitor,
  type ValidationContext,
} from "graphql";
import { describe, expect, it } from "vitest";
import {
  queryAliasesMax,
  queryDepthMax,
  queryDirectivesMax,
  queryTokensMax,
  validationErrorsMax,
} from "#graph/limits.ts";
import validationPlugin from "#mesh/plugins/validation.ts";
import { createSmallSchema } from "./small-graph.ts";

const schema = createSmallSchema();

/** Parses and validates a document with the hooks of the plugin, and returns the errors. */
function validateWithPlugin(text: string): readonly GraphQLError[] {
  const plugin = validationPlugin();
  let parseText = parse;
  const rules: ((context: ValidationContext) => ASTVisitor)[] = [];
  let validateDocument = validate;
  try {
    void plugin.onParse?.({
      params: { source: text },
      parseFn: parseText,
      setParseFn: (next: typeof parse) => (parseText = next),
    } as never);
    const document = parseText(text);
    void plugin.onValidate?.({
      context: {},
      params: { schema, documentAST: document },
      addValidationRule: (rule: (typeof rules)[number]) => rules.push(rule),
      validateFn: validateDocument,
      setValidationFn: (next: typeof validate) => (validateDocument = next),
    } as never);
    return validateDocument(schema, document, [...specifiedRules, ...rules]);
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
}

const check = (text: string): readonly string[] => validateWithPlugin(text).map(({ message }) => message);

const repeat = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(" ");

describe("the form of a client's document", () => {
  it.each<[what: string, max: number, create: (count: number) => string, message: RegExp]>([
    [
      "levels",
      queryDepthMax,
      (n) => `{ item { ${"parent { ".repeat(n - 2)} id ${"}".repeat(n - 2)} } }`,
      /depth/i,
    ],
    ["aliases", queryAliasesMax, (n) => `{ ${repeat(n, (index) => `a${index}: echo`)} }`, /alias/i],
    [
      "directives",
      queryDirectivesMax,
      (n) => `{ ${repeat(n, (index) => `echo${index}: echo @skip(if: true)`)} }`,
      /directive/i,
    ],
    [
      "tokens",
      queryTokensMax,
      (n) => `{ ${"echo ".repeat((n - 2) % 4)}${"... { echo } ".repeat((n - 2) / 4)} }`,
      /token/i,
    ],
    [
      "characters of a name",
      200,
      (n) => `query ${"a".repeat(n)} { echo }`,
      /name must have at most 200 char/,
    ],
    [
      "types by introspection",
      10,
      (n) => `{ ${repeat(n, (index) => `t${index}: __type(name: "Item") { name }`)} }`,
      /^A query must select at most 10 types with __type\.$/,
    ],
  ])("is limited in its number of %s: %i", (_what, max, create, message) => {
    expect(check(create(max))).toEqual([]);
    expect(check(create(max + 1))).toEqual([expect.stringMatching(message)]);
  });

  it("may have a longer name in the schema's own introspection", () => {
    expect(check(getIntrospectionQuery())).toEqual([]);
  });

  it("may not select an introspection field under several names", () => {
    const message = "An introspection query must select each field under only one name, except __type.";
    expect(check("{ __schema { queryType { name } } }")).toEqual([]);
    expect(check("{ a: __schema { queryType { name } } a: __schema { types { name } } }")).toEqual([]);
    expect(check("{ a: __schema { types { name } } b: __schema { types { name } } }")).toEqual([message]);
    expect(check("{ __schema { a: types { name } b: types { name } } }")).toEqual([message]);
    expect(check("{ __schema { types { name } b: types { name } } }")).toEqual([message]);
    expect(check('{ __schema { queryType { name } } __type(name: "Item") { name } }')).toEqual([]);
    expect(check("{ a: echo b: echo }")).toEqual([]);
  });

  it("lists at most 20 errors", () => {
    expect(check(`{ ${repeat(50, (index) => `x${index}`)} }`).length).toBe(validationErrorsMax + 1);
    expect(check(`{ ${repeat(50, (index) => `x${index}`)} }`).at(-1)).toMatch(/Too many validation errors/);
  });

  it("has the line and the column in the errors about introspection", () => {
    const types = repeat(11, (index) => `t${index}: __type(name: "Item") { name }`);
    for (const text of [`{ ${types} }`, "{ a: __schema { types { name } } b: __schema { types { name } } }"])
      expect(validateWithPlugin(text).map(({ locations }) => locations?.length)).toEqual([1]);
  });
});
