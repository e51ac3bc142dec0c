/**
 * Values for a JSON Schema of the document: allowed ones up to the bounds, and each violation of a single
 * rule.
 */
import fc from "fast-check";
import type { Schema } from "./document.ts";

/**
 * Characters of one to three UTF-16 units and different UTF-8 lengths, to detect code that counts bytes or
 * units.
 */
const character = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCodePoint(code)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "é",
      "ß",
      "İ",
      "Ж",
      "א",
      "ع",
      "漢",
      "か",
      "\u0301",
      "\u200d",
      "\ufffd",
      "\u2028",
      "😀",
      "𝒳",
      "𠮷",
      "\u{e0001}",
    ),
  },
);

/** A length that is often near its bounds. */
function lengthOf(min: number, max: number): fc.Arbitrary<number> {
  return fc.oneof(fc.constant(min), fc.constant(max), fc.integer({ min, max: Math.min(max, min + 40) }));
}

export function text(min: number, max: number, unit: fc.Arbitrary<string> = character): fc.Arbitrary<string> {
  return lengthOf(min, max).chain((length) =>
    fc.string({ unit, minLength: length, maxLength: length, size: "max" }),
  );
}

const textLengthMax = 300;
const numberOf = (schema: Schema, name: string, otherwise: number): number =>
  typeof schema[name] === "number" ? schema[name] : otherwise;

/**
 * Generates values that the schema allows. `hints`: values by field name, for fields whose schema is too
 * general.
 */
export function validOf(
  schema: Schema,
  hints: Readonly<Record<string, fc.Arbitrary<unknown>>> = {},
): fc.Arbitrary<unknown> {
  if (Array.isArray(schema["enum"])) return fc.constantFrom(...(schema["enum"] as unknown[]));
  if (schema.type === "boolean") return fc.boolean();
  if (schema.type === "integer")
    return integer(numberOf(schema, "minimum", -(2 ** 31)), numberOf(schema, "maximum", 2 ** 31 - 1));
  if (schema.type === "string")
    return text(numberOf(schema, "minLength", 0), numberOf(schema, "maxLength", textLengthMax));
  if (schema.type === "array") return list(schema, hints);
  if (schema.properties === undefined) return map(schema);
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties).map(([name, field]) => {
    const valid = hints[name] ?? validOf(field, hints);
    return (required.has(name) ? valid : fc.option(valid, { nil: undefined })).map((value) =>
      value === undefined ? [] : [[name, value] as const],
    );
  });
  return fc.tuple(...fields).map((entries) => Object.fromEntries(entries.flat()) as unknown);
}

function integer(min: number, max: number): fc.Arbitrary<number> {
  return fc.oneof(
    fc.constant(min),
    fc.constant(max),
    fc.integer({ min, max: Math.min(max, min + 10) }),
    fc.integer({ min, max }),
  );
}

function list(schema: Schema, hints: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<unknown> {
  const items = schema.items === undefined ? fc.string() : validOf(schema.items, hints);
  return fc.uniqueArray(items, {
    minLength: numberOf(schema, "minItems", 0),
    maxLength: Math.min(numberOf(schema, "maxItems", 5), 5),
  });
}

function map(schema: Schema): fc.Arbitrary<unknown> {
  const values = validOf((schema["additionalProperties"] ?? { type: "string" }) as Schema);
  const { minLength, maxLength } = (schema["propertyNames"] ?? {}) as {
    minLength?: number;
    maxLength?: number;
  };
  const name = text(minLength ?? 1, maxLength ?? 40).filter(
    (key) => key !== "__proto__" && key !== "constructor",
  );
  return fc.dictionary(name, values, {
    maxKeys: numberOf(schema, "maxProperties", 5),
    size: "small",
    noNullPrototype: true,
  });
}

/** A violation of one rule at one place of a valid object. */
export interface Break {
  readonly rule: string;
  /** The path from the root to the changed value. */
  readonly at: readonly string[];
  /** The wrong value; undefined removes the current value. */
  readonly value: fc.Arbitrary<unknown>;
  readonly failure: "missing_field" | "unknown_field" | "invalid_field";
  /** The path at which the service reports the fault. */
  readonly place: readonly string[];
}

const nothing: fc.Arbitrary<unknown> = fc.constant(undefined);
const oddNames = ["Extra", "extra~field", "a/b", "ключ", "😀", "toString", "expected_version", "$where"];

/** Generates violations of every rule of an object's schema, including nested objects. */
export function breaksOf(schema: Schema, place: readonly string[] = []): Break[] {
  const child = (name: string, rest: Pick<Break, "rule" | "failure" | "value">): Break => {
    const at = [...place, name];
    return { ...rest, at, place: at };
  };
  const unknown = {
    rule: "unknown",
    failure: "unknown_field",
    value: fc.constantFrom<unknown>(null, "", 1, [], {}, [{ x: [1.5e300] }], { "": { "😀": false } }),
  } as const;
  return [
    ...(schema["additionalProperties"] === false ? oddNames.map((name) => child(name, unknown)) : []),
    ...(schema.required ?? []).map((name) =>
      child(name, { rule: "required", failure: "missing_field", value: nothing }),
    ),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
      fieldBreaks(field, [...place, name]),
    ),
  ];
}

/** Builds a violation. `inside`: the path from the value to the fault within it. */
type Broken = (rule: string, value: fc.Arbitrary<unknown>, inside?: string) => Break;

function fieldBreaks(schema: Schema, at: readonly string[]): Break[] {
  const broken: Broken = (rule, value, inside) => {
    const place = inside === undefined ? at : [...at, inside];
    return { rule, at, value, failure: "invalid_field", place };
  };
  return [
    broken("type", otherTypes(schema)),
    ...ruleBreaks(schema, broken),
    ...(schema.properties === undefined ? [] : breaksOf(schema, at)),
  ];
}

function ruleBreaks(schema: Schema, broken: Broken): Break[] {
  if (schema.type === "string") return stringBreaks(schema, broken);
  if (schema.type === "integer") return integerBreaks(schema, broken);
  if (schema.type === "array") return listBreaks(schema, broken);
  return schema.type === "object" && schema.properties === undefined ? mapBreaks(schema, broken) : [];
}

const samples: Readonly<Record<string, readonly unknown[]>> = {
  string: ["", "1", "true"],
  integer: [0, 7, -1],
  boolean: [true, false],
  array: [[], ["x"], [null]],
  object: [{}, { x: 1 }],
  null: [null],
};

export function otherTypes({ type }: Schema): fc.Arbitrary<unknown> {
  return fc.constantFrom(
    ...Object.entries(samples).flatMap(([name, values]) => (name === type ? [] : values)),
  );
}

/** Forbidden characters within other text, so that trimming does not remove them. */
const dirt = fc.constantFrom(
  "a\u0000b",
  "a\u0008b",
  "a\u001bb",
  "a\u007fb",
  "a\ud800b",
  "a\udfffb",
  "a\udc00\ud800b",
);

function stringBreaks(schema: Schema, broken: Broken): Break[] {
  const { minLength = 0, maxLength } = schema as { minLength?: number; maxLength?: number };
  if (schema["enum"] !== undefined)
    return [
      broken("clean text", dirt),
      broken("enum", fc.constantFrom("", "nothing_of_the_kind", "OTHER", "Test", " test")),
    ];
  return [
    broken("clean text", dirt),
    ...(minLength > 0 ? [broken("minLength", text(0, minLength - 1))] : []),
    ...(maxLength === undefined ? [] : [broken("maxLength", text(maxLength + 1, maxLength + 7))]),
  ];
}

function integerBreaks(schema: Schema, broken: Broken): Break[] {
  const { minimum = 0, maximum = 0 } = schema as { minimum?: number; maximum?: number };
  return [
    broken("minimum", fc.constantFrom(minimum - 1, -1, -(2 ** 31) - 1, Number.MIN_SAFE_INTEGER)),
    broken("maximum", fc.constantFrom(maximum + 1, 2 ** 32, 2 ** 53, 1e300)),
    broken("integer", fc.constantFrom(1.5, minimum + 0.1, 1e-7)),
  ];
}

function listBreaks(schema: Schema, broken: Broken): Break[] {
  const { items = {} } = schema;
  const many = Array.from({ length: numberOf(schema, "maxItems", 0) + 1 }, (_, index) => `name.${index}`);
  const alone = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => values.map((value) => [value]);
  return [
    broken("minItems", fc.constant([])),
    broken("maxItems", fc.constant(many)),
    broken("uniqueItems", fc.constant(["order.placed", "order.placed"])),
    broken("items", alone(otherTypes(items)), "0"),
    broken("clean items", alone(dirt), "0"),
  ];
}

function mapBreaks(schema: Schema, broken: Broken): Break[] {
  const { propertyNames = {}, additionalProperties = {} } = schema as {
    propertyNames?: Schema;
    additionalProperties?: Schema;
  };
  const nameMax = numberOf(propertyNames, "maxLength", 0);
  const valueMax = numberOf(additionalProperties, "maxLength", 0);
  const many = Object.fromEntries(
    Array.from({ length: numberOf(schema, "maxProperties", 0) + 1 }, (_, index) => [`key${index}`, ""]),
  );
  const keyed = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    values.map((value) => ({ key: value }));
  return [
    broken("maxProperties", fc.constant(many)),
    broken(
      "propertyNames",
      fc.constantFrom({ "": "x" }, { ["n".repeat(nameMax + 1)]: "x" }, { ["😀".repeat(nameMax + 1)]: "x" }),
    ),
    broken("clean names", fc.constantFrom({ "a\u0000b": "x" }, { "\ud800": "x" }, { "\u001b": "x" })),
    broken("maxLength of values", fc.constant({ key: "v".repeat(valueMax + 1) }), "key"),
    broken("type of values", keyed(otherTypes({ type: "string" })), "key"),
    broken("clean values", keyed(dirt), "key"),
  ];
}

/** A JSON Pointer (RFC 6901). */
export const pointerOf = (place: readonly string[]): string =>
  place.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** Returns a copy with another value at the path. */
export function putAt(body: unknown, [step = "", ...rest]: readonly string[], value: unknown): unknown {
  const { [step]: known, ...others } = body as Readonly<Record<string, unknown>>;
  const inner = rest.length === 0 ? value : putAt(known ?? {}, rest, value);
  return inner === undefined ? others : { ...others, [step]: inner };
}
