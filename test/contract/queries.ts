/** Query strings from the document's parameters: valid ones, and ones with a single violated rule. */
import fc from "fast-check";
import type { DocumentOperation, DocumentParameter } from "./document.ts";
import type { Parts } from "./ground.ts";
import { text } from "./values.ts";

type Query = Parts["query"];

export interface QueryBreak {
  readonly rule: string;
  readonly code: string;
  readonly field: string;
  readonly write: (query: Query) => fc.Arbitrary<string>;
}

export const queryOf = (query: Query): string =>
  query.length === 0
    ? ""
    : `?${query.map((pair) => pair.map((part) => encodeURIComponent(part)).join("=")).join("&")}`;

const withMore = (query: Query, more: string): string =>
  query.length === 0 ? `?${more}` : `${queryOf(query)}&${more}`;

export function queryBreaks({ parameters }: DocumentOperation): QueryBreak[] {
  return [
    ...generalBreaks,
    ...parameters.filter((parameter) => parameter.in === "query").flatMap(parameterBreaks),
  ];
}

const general = (
  rule: string,
  code: string,
  { field, more }: { readonly field: string; readonly more: string },
): QueryBreak => ({
  rule,
  code,
  field,
  write: (query) => fc.constant(withMore(query, more)),
});

const generalBreaks: readonly QueryBreak[] = [
  general("unknown", "unknown_parameter", { field: "extra", more: "extra=1" }),
  general("unknown, of the prototype", "unknown_parameter", { field: "__proto__", more: "__proto__=1" }),
  general("unknown, without a value", "unknown_parameter", { field: "fields", more: "fields" }),
  general("unknown, as a list", "unknown_parameter", { field: "q[]", more: "q%5B%5D=1" }),
  general("a name that cannot be decoded", "invalid_parameter", { field: "%zz", more: "%zz=1" }),
  general("a value that cannot be decoded", "invalid_parameter", { field: "x", more: "x=%ff" }),
  general("a surrogate", "invalid_parameter", { field: "x", more: "x=%ED%A0%80" }),
  general("a NUL", "invalid_parameter", { field: "x", more: "x=a%00b" }),
  general("too many", "invalid_parameter", { field: "", more: "x=1&".repeat(101) }),
];

const without = (query: Query, name: string): Query => query.filter(([known]) => known !== name);

function parameterBreaks({ name, required, schema }: DocumentParameter): QueryBreak[] {
  const code =
    schema["format"] === "locale"
      ? "invalid_locale"
      : schema["format"] === "country-code"
        ? "unknown_market"
        : "invalid_parameter";
  const broken = (rule: string, values: fc.Arbitrary<string>): QueryBreak => ({
    rule: `${name}: ${rule}`,
    code,
    field: name,
    write: (query) => values.map((value) => queryOf([...without(query, name), [name, value]])),
  });
  const twice: QueryBreak = {
    rule: `${name}: twice`,
    code: "invalid_parameter",
    field: name,
    write: (query) =>
      fc.constant(queryOf([...without(query, name), [name, sample(schema)], [name, sample(schema)]])),
  };
  const missing: QueryBreak = {
    rule: `${name}: required`,
    code: "missing_parameter",
    field: name,
    write: (query) => fc.constant(queryOf(without(query, name))),
  };
  return [twice, ...(required ? [missing] : []), ...ruleBreaks(schema, broken)];
}

/** Any valid value. */
const sample = ({ type, enum: values, ...schema }: DocumentParameter["schema"]): string =>
  type === "integer"
    ? "1"
    : Array.isArray(values)
      ? String(values[0])
      : schema["format"] === "country-code"
        ? "DE"
        : "en";

function ruleBreaks(
  schema: DocumentParameter["schema"],
  broken: (rule: string, values: fc.Arbitrary<string>) => QueryBreak,
): QueryBreak[] {
  const {
    maximum,
    maxLength,
    pattern,
    format,
    enum: values,
  } = schema as { maximum?: number; maxLength?: number; pattern?: string; format?: string; enum?: unknown };
  return [
    ...(schema.type === "integer"
      ? [broken("type", fc.constantFrom("", "x", "1.0", "+1", "-1", "1e2", " 1", "0x1", "１", "1_0", "true"))]
      : []),
    ...(maximum === undefined
      ? []
      : [broken("bounds", fc.constantFrom("0", String(maximum + 1), "9".repeat(15), "9".repeat(40)))]),
    ...(values === undefined
      ? []
      : [broken("enum", fc.constantFrom("", "RELEVANCE", "price", "relevance "))]),
    ...(maxLength === undefined || format !== undefined
      ? []
      : [broken("maxLength", text(maxLength + 1, maxLength + 9, fc.constantFrom("x")))]),
    ...(pattern === undefined || format !== undefined
      ? []
      : [broken("pattern", fc.constantFrom("", "-", "A", "a--b", "a_b", "ä", "a/b", "😀"))]),
    ...(format === "locale"
      ? [
          broken(
            "format",
            fc.constantFrom(
              "",
              "e",
              "-",
              "en_US",
              "english-language-of-the-british-isles",
              "en-",
              "*",
              "日本",
            ),
          ),
        ]
      : []),
    ...(format === "country-code"
      ? [broken("format", fc.constantFrom("", "D", "DEU", "XX", "00", "D E", "ＤＥ"))]
      : []),
  ];
}
