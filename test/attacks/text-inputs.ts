/**
 * Builds a call of every root field of the graph with an arbitrary text in every text input. Inputs are read
 * from the schema, so a new input is tested automatically.
 */
import {
  getNamedType,
  getNullableType,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
} from "graphql";
import graph from "#graph/schema.ts";

const queries = graph.getQueryType()?.getFields() ?? {};
const mutations = graph.getMutationType()?.getFields() ?? {};

export const attackedFields: readonly string[] = [...Object.keys(queries), ...Object.keys(mutations)];

/** Valid values for inputs with a format, so that validation reaches the other inputs. */
const formal: Readonly<Record<string, unknown>> = {
  Boolean: false,
  Int: 1,
  MinorUnits: 1,
  DateTime: "2026-01-01T00:00:00Z",
  Date: "2026-01-01",
  CurrencyCode: "EUR",
  CountryCode: "DE",
  LocaleCode: "en",
  URL: "https://shop.example.com/hooks",
  Slug: "a-slug",
};

export interface TextCall {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Builds a call. `inForms`: put the text also into inputs that expect a code, a date or an address. */
export function callWithText(field: string, text: string, inForms = false): TextCall {
  const root = queries[field] ?? mutations[field];
  if (root === undefined) throw new Error(`There is no field ${field}.`);
  const valueOf = (type: GraphQLInputType, depth: number): unknown => {
    const bare = getNullableType(type);
    if (isListType(bare)) return [valueOf(bare.ofType, depth)];
    if (isInputObjectType(bare)) return depth > 4 ? {} : objectOf(bare, depth);
    if (isEnumType(bare)) return bare.getValues()[0]?.name;
    if (bare.name === "StringMap" || bare.name === "JSON") return { [text.slice(0, 30)]: text };
    return bare.name in formal && !(inForms && typeof formal[bare.name] === "string")
      ? formal[bare.name]
      : text;
  };
  const objectOf = (
    type: Extract<GraphQLInputType, { getFields: unknown }>,
    depth: number,
  ): Record<string, unknown> => {
    const fields = Object.values(type.getFields());
    const given = type.isOneOf ? fields.slice(0, 1) : fields;
    return Object.fromEntries(given.map((of) => [of.name, valueOf(of.type, depth + 1)]));
  };
  const named = root.args.map(({ name, type }) => ({ name, type: String(type), value: valueOf(type, 0) }));
  const declared =
    named.length === 0 ? "" : `(${named.map(({ name, type }) => `$${name}: ${type}`).join(", ")})`;
  const given = named.length === 0 ? "" : `(${named.map(({ name }) => `${name}: $${name}`).join(", ")})`;
  const selection = isLeafType(getNamedType(root.type)) ? "" : " { __typename }";
  return {
    query: `${field in mutations ? "mutation" : "query"} ${declared} { ${field}${given}${selection} }`,
    variables: Object.fromEntries(named.map(({ name, value }) => [name, value])),
  };
}
