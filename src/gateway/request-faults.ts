/**
 * Converts the errors of Ajv to the details of error answers. A message names the field, the broken rule and
 * the allowed values, in words instead of JSON Schema.
 */
import type { ErrorObject } from "ajv/dist/2020.js";
import { formatCountryCodeSuggestion } from "#foundation/country-names.ts";
import type { FailureCode, FailureDetail } from "#foundation/failure.ts";
import { findMostSimilarTexts } from "#foundation/nearest.ts";
import { parseLocale } from "#foundation/text.ts";
import type { JsonSchema } from "./json-schemas.ts";

/** A fault of the request: one rule that one field breaks, with the failure code and the error detail. */
export interface RequestValidationError {
  readonly failure: FailureCode;
  readonly detail: FailureDetail;
}

/** The part of the HTTP request that is checked with a JSON Schema: the query or the body. */
export type HttpRequestPart = { readonly in: "query" | "body" };

/**
 * Maximum number of characters of a field's or parameter's name that an error message shows; longer names are
 * cut.
 */
export const nameLengthMax = 100;
const allowedMax = 20;

/**
 * The rule code in error details, by the JSON Schema keyword that the value violates, for example
 * `maxLength`.
 */
const ruleCodes: Readonly<Record<string, string>> = {
  type: "wrong_type",
  enum: "not_allowed",
  const: "not_allowed",
  minimum: "too_small",
  exclusiveMinimum: "too_small",
  maximum: "too_large",
  exclusiveMaximum: "too_large",
  minLength: "too_short",
  minItems: "too_short",
  maxLength: "too_long",
  maxItems: "too_long",
  minProperties: "too_short",
  maxProperties: "too_long",
  pattern: "pattern_mismatch",
  format: "invalid_format",
  uniqueItems: "duplicate",
};

export function convertAjvErrorToRequestValidationError(
  error: ErrorObject,
  part: HttpRequestPart,
): RequestValidationError {
  const isQuery = part.in === "query";
  if (error.keyword === "required" || error.keyword === "additionalProperties")
    return toNameFault(error, isQuery);
  const field = isQuery ? error.instancePath.slice(1) : error.instancePath;
  const code = ruleCodes[error.keyword] ?? "invalid";
  const allowed = error.keyword === "enum" ? listValues(error.schema) : null;
  const message = `${field === "" ? "The body" : field} ${describeRule(error, isQuery)}.`;
  return { failure: failureFor(error, isQuery), detail: { in: part.in, field, code, message, allowed } };
}

/** Returns the allowed values of an enum for the error message; null if they are too many to be listed. */
function listValues(values: unknown): readonly string[] | null {
  return Array.isArray(values) && values.length <= allowedMax
    ? values.filter((value) => value !== null).map(String)
    : null;
}

/** Creates the error detail for a missing or an unknown field of the request. */
function toNameFault(error: ErrorObject, isQuery: boolean): RequestValidationError {
  const { keyword, params, instancePath, parentSchema } = error;
  const isMissing = keyword === "required";
  const name = String(params[isMissing ? "missingProperty" : "additionalProperty"]).slice(0, nameLengthMax);
  const field = isQuery ? name : `${instancePath}/${escapeJsonPointerToken(name)}`;
  const properties: Readonly<Record<string, JsonSchema>> = parentSchema?.["properties"] ?? {};
  const detail = isMissing
    ? describeMissing(field, properties[name])
    : describeUnknown(field, name, { names: Object.keys(properties), isQuery });
  return {
    failure: `${isMissing ? "missing" : "unknown"}_${isQuery ? "parameter" : "field"}`,
    detail: { in: isQuery ? "query" : "body", field, ...detail },
  };
}

type NameDetail = Pick<FailureDetail, "code" | "message" | "allowed">;

function describeMissing(field: string, schema: JsonSchema | undefined): NameDetail {
  const allowed = listValues(schema?.["enum"]);
  const rule = allowed === null ? exampleOf(schema) : `: one of ${allowed.join(", ")}`;
  return { code: "required", message: `${field} is required${rule}.`, allowed };
}

function describeUnknown(
  field: string,
  name: string,
  { names, isQuery }: { readonly names: readonly string[]; readonly isQuery: boolean },
): NameDetail {
  if (names.length === 0) {
    const kind = isQuery ? "query parameters" : "fields";
    return {
      code: "unknown",
      message: `${field} is unknown: ${isQuery ? "the operation" : "the object"} has no ${kind}.`,
    };
  }
  const nearest = findMostSimilarTexts(name, names);
  const hint = nearest.length === 0 ? "" : `; the nearest is ${nearest.join(", ")}`;
  return {
    code: "unknown",
    message: `${field} is unknown${hint}.`,
    allowed: names.length > allowedMax ? nearest : names,
  };
}

/**
 * Returns the failure code of a broken rule of the schema. All rules of a locale have the same failure code,
 * and so have all rules of a country.
 */
function failureFor({ parentSchema }: ErrorObject, isQuery: boolean): FailureCode {
  const format: unknown = parentSchema?.["format"];
  if (format === "locale") return "invalid_locale";
  if (format === "country-code") return "unknown_market";
  return isQuery ? "invalid_parameter" : "invalid_field";
}

type RuleDescriber = (limit: unknown, schema: JsonSchema) => string;

const describeLength: RuleDescriber = (_limit, schema) =>
  `must have ${describeRange(schema["minLength"], schema["maxLength"])} characters`;
const describeEntries: RuleDescriber = (_limit, schema) =>
  `must have ${describeRange(schema["minItems"], schema["maxItems"])} entries`;
const describeMembers: RuleDescriber = (_limit, schema) =>
  `must have ${describeRange(schema["minProperties"], schema["maxProperties"])} fields`;
const describeNumber: RuleDescriber = (_limit, schema) =>
  `must be ${schema.type === "integer" ? "an integer " : ""}${describeBounds(schema)}`;

/**
 * Functions that describe a rule of a JSON Schema in words, by the keyword of the rule. The words end a
 * sentence that begins with the name of the field.
 */
const describers: Readonly<Record<string, RuleDescriber>> = {
  minLength: describeLength,
  maxLength: describeLength,
  minItems: describeEntries,
  maxItems: describeEntries,
  minProperties: describeMembers,
  maxProperties: describeMembers,
  minimum: describeNumber,
  maximum: describeNumber,
  uniqueItems: () => "must not contain an entry twice",
  pattern: (pattern, schema) => `must match the pattern ${String(pattern)}${exampleOf(schema)}`,
};

function describeRule(error: ErrorObject, isQuery: boolean): string {
  const { keyword, message, schema } = error;
  const parentSchema: JsonSchema = error.parentSchema ?? {};
  const format = describeFormat(parentSchema, error.data);
  if (format !== undefined) return format;
  if (keyword === "enum" && Array.isArray(schema))
    return `must be one of ${schema.filter((value) => value !== null).join(", ")}`;
  if (keyword === "type") return `must be ${describeType(parentSchema, isQuery)}`;
  return describers[keyword]?.(schema, parentSchema) ?? message ?? "is not valid";
}

function describeFormat({ format }: JsonSchema, value: unknown): string | undefined {
  if (format === "country-code")
    return `must be an ISO 3166-1 alpha-2 country code, for example DE${formatCountryCodeSuggestion(value)}`;
  if (format !== "locale") return undefined;
  const meant = typeof value === "string" ? parseLocale(value.replaceAll("_", "-")) : undefined;
  const hint = meant === undefined ? "" : `; the value seems to mean ${meant}`;
  return `must be a BCP 47 language tag of at most 35 characters, for example de or en-GB${hint}`;
}

const typeNames: Readonly<Record<string, string>> = {
  string: "a text in quotation marks",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "a JSON object",
  null: "null",
};

function describeType(schema: JsonSchema, isQuery: boolean): string {
  const types = [schema.type ?? []].flat().map(String);
  return types
    .map((type) => (type === "integer" ? describeInteger(schema, isQuery) : typeNames[type]))
    .join(" or ");
}

function describeInteger(schema: JsonSchema, isQuery: boolean): string {
  const bounds = describeBounds(schema);
  return `an integer ${bounds === "" ? "" : `${bounds} `}${isQuery ? "in decimal digits" : "without quotation marks"}`;
}

/**
 * Describes the minimum and maximum of a number in words. Limits that are only those of GraphQL's Int are
 * left out; the text is empty if no other limit exists.
 */
function describeBounds({ minimum, maximum }: JsonSchema): string {
  if (typeof minimum === "number" && typeof maximum === "number" && maximum < int32Max)
    return `from ${minimum} to ${maximum}`;
  if (typeof minimum === "number" && minimum > -int32Max) return `of at least ${minimum}`;
  return typeof maximum === "number" && maximum < int32Max ? `of at most ${maximum}` : "";
}

/**
 * The largest value of GraphQL's Int (32 bits). A minimum or maximum of this size follows from the type and
 * is no rule of the field itself.
 */
const int32Max = 2_147_483_647;

function describeRange(min: unknown, max: unknown): string {
  if (typeof max !== "number") return `at least ${String(min)}`;
  return typeof min === "number" && min > 0 ? `${min} to ${max}` : `at most ${max}`;
}

function exampleOf(schema: JsonSchema | undefined): string {
  const examples: unknown = schema?.["examples"];
  return Array.isArray(examples) && examples.length > 0 ? `, for example ${String(examples[0])}` : "";
}

/**
 * Adds a hint to faults of the field `expectedVersion`. The hint says which number to send for an ETag, and
 * that the service does not read the header If-Match, in which clients often send the ETag.
 */
export function addEtagHintToExpectedVersionErrors(
  faults: readonly RequestValidationError[],
  hasIfMatch: boolean,
): readonly RequestValidationError[] {
  return faults.map((fault) => {
    const { field, code, message } = fault.detail;
    if (field !== "/expectedVersion" || (code !== "wrong_type" && !hasIfMatch)) return fault;
    const ignored = hasIfMatch ? " The service does not read the header If-Match." : "";
    const hint = ` For the ETag "v7" send the number 7.${ignored}`;
    return { ...fault, detail: { ...fault.detail, message: message + hint } };
  });
}

export const escapeJsonPointerToken = (text: string): string =>
  text.replaceAll("~", "~0").replaceAll("/", "~1");
