/**
 * Checks path, query and body against the JSON Schemas that the OpenAPI document shows (Ajv), and makes the
 * document's variables of them. A failure names the field, the rule and what is allowed.
 */
import { getNamedType, type GraphQLInputType, isScalarType } from "graphql";
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { fail, failAt, type Failure, type FailureCode, type FailureDetail } from "#foundation/failure.ts";
import { isCleanText, isCountry, parseLocale } from "#foundation/text.ts";
import type { RestCall, RestStep } from "#gateway/rest-call.ts";
import type { RestOperation, RestParameter } from "#gateway/contract.ts";
import type { JsonSchema } from "#gateway/json-schemas.ts";

export const validateRequest: RestStep = {
  name: "validate",
  phase: "body",
  appliesTo: () => true,
  create: (_services, operation) => {
    const readQuery = queryReader(operation);
    const checkBody =
      operation.body === null ? undefined : compileSchema(operation.body.schema, { in: "body" });
    const pathNames = operation.parameters
      .filter((parameter) => parameter.in === "path")
      .map(({ name }) => name);
    return (call) => {
      for (const name of pathNames) call.variables[name] = pathValue(call, name, operation);
      readQuery(call);
      readBody(call, checkBody);
    };
  },
};

/** An id that cannot be one is simply not there. */
function pathValue({ request }: RestCall, name: string, { notFound }: RestOperation): string {
  const value = (request.params as Record<string, string>)[name] ?? "";
  if (!isCleanText(value)) throw fail(notFound);
  return value;
}

function queryReader({ parameters }: RestOperation): (call: RestCall) => void {
  const known = parameters.filter((parameter) => parameter.in === "query");
  const check = compileSchema(
    {
      type: "object",
      properties: Object.fromEntries(known.map(({ name, schema }) => [name, schema])),
      required: known.filter(({ required }) => required).map(({ name }) => name),
      additionalProperties: false,
    },
    { in: "query" },
  );
  const readers = new Map(known.map((parameter) => [parameter.name, valueReader(parameter)]));
  return (call) => {
    const { values, faults } = parseQuery(call.request.raw.url ?? "");
    // Without a prototype: there a parameter named __proto__ is one that is not known.
    const variables = Object.create(null) as Record<string, unknown>;
    for (const [name, text] of values) variables[name] = readers.get(name)?.(text) ?? text;
    // One fault for each parameter: what could not be read is not also missing.
    const unread = new Set(faults.map(({ detail }) => detail.field));
    const all = [...faults, ...check(variables).filter(({ detail }) => !unread.has(detail.field))];
    if (all.length > 0) throw failureOf(all);
    Object.assign(call.variables, variables);
  };
}

/** A query is text: integers are decimal digits and nothing else, and scalars normalise what people type. */
function valueReader({ schema, type }: RestParameter): (text: string) => unknown {
  if (schema.type === "integer") return (text) => (/^\d{1,15}$/.test(text) ? Number(text) : text);
  const normalize = normalizerOf(type);
  return (text) => (text === "" ? text : normalize(text));
}

function normalizerOf(type: GraphQLInputType): (text: string) => string {
  const named = getNamedType(type);
  const normalize = isScalarType(named)
    ? (named.extensions["normalize"] as ((text: string) => string) | undefined)
    : undefined;
  return normalize ?? ((text): string => text);
}

function readBody(call: RestCall, check: ((body: unknown) => Fault[]) | undefined): void {
  const { body, raw } = call.request;
  if (check === undefined) {
    const hasBody =
      raw.headers["transfer-encoding"] !== undefined || Number(raw.headers["content-length"] ?? 0) > 0;
    if (hasBody)
      throw fail("unexpected_body", {
        details: [bodyDetail("body_not_allowed", "This operation takes no body.")],
      });
    return;
  }
  if (body === undefined)
    throw fail("missing_body", { details: [bodyDetail("required", "This operation needs a JSON body.")] });
  const faults = check(body);
  if (faults.length > 0) throw failureOf(faults);
  call.variables["body"] = body;
}

const bodyDetail = (code: string, message: string): FailureDetail => ({
  in: "body",
  field: "",
  code,
  message,
});

/** One broken rule of a field. */
interface Fault {
  readonly failure: FailureCode;
  readonly detail: FailureDetail;
}

const ajv = new Ajv2020({ allErrors: true, strict: false, verbose: true });
ajv.addFormat("country-code", (text) => isCountry(text.toUpperCase()));
ajv.addFormat("locale", (text) => parseLocale(text) !== undefined);
ajv.addFormat("date-time", (text) => !Number.isNaN(Date.parse(text)));
ajv.addFormat("uri", (text) => URL.canParse(text));

type Place = { readonly in: "query" | "body" };

function compileSchema(schema: JsonSchema, place: Place): (value: unknown) => Fault[] {
  const check = ajv.compile(schema);
  return (value) => {
    const faults = check(value)
      ? []
      : withoutEchoes((check.errors ?? []).map((error) => toFault(error, place)));
    return place.in === "body" ? [...faults, ...uncleanTexts(value, "")] : faults;
  };
}

/** The whole group's faults in one answer; the first of them names it. */
function failureOf(faults: readonly Fault[]): Failure {
  const [first] = faults;
  if (first === undefined) return fail("malformed_request");
  return fail(first.failure, { message: first.detail.message, details: faults.map(({ detail }) => detail) });
}

/** Several rules of one field that all say the same thing are one fault. */
function withoutEchoes(faults: readonly Fault[]): Fault[] {
  const seen = new Set<string>();
  return faults.filter(({ detail: { field } }) => {
    const isNew = !seen.has(field);
    seen.add(field);
    return isNew;
  });
}

const rules: Readonly<Record<string, string>> = {
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

function toFault(error: ErrorObject, place: Place): Fault {
  const isQuery = place.in === "query";
  if (error.keyword === "required") return missing(error, isQuery);
  if (error.keyword === "additionalProperties") return unknown(error, isQuery);
  const field = isQuery ? error.instancePath.slice(1) : error.instancePath;
  const code = rules[error.keyword] ?? "invalid";
  const allowed =
    error.keyword === "enum" && Array.isArray(error.schema) && error.schema.length <= 20
      ? error.schema.map(String)
      : null;
  return {
    failure: failureFor(error, isQuery),
    detail: { in: place.in, field, code, message: `${field} ${wording(error)}.`, allowed },
  };
}

function missing({ params, instancePath }: ErrorObject, isQuery: boolean): Fault {
  const name = String(params["missingProperty"]);
  const field = isQuery ? name : `${instancePath}/${pointerStep(name)}`;
  return {
    failure: isQuery ? "missing_parameter" : "missing_field",
    detail: { in: isQuery ? "query" : "body", field, code: "required", message: `${field} is required.` },
  };
}

function unknown({ params, instancePath }: ErrorObject, isQuery: boolean): Fault {
  const name = String(params["additionalProperty"]).slice(0, 100);
  const field = isQuery ? name : `${instancePath}/${pointerStep(name)}`;
  return {
    failure: isQuery ? "unknown_parameter" : "unknown_field",
    detail: {
      in: isQuery ? "query" : "body",
      field,
      code: "unknown",
      message: `${field} is not known here.`,
    },
  };
}

/** A malformed locale or market has a code of its own, whichever of its rules it breaks. */
function failureFor({ parentSchema }: ErrorObject, isQuery: boolean): FailureCode {
  const format: unknown = parentSchema?.["format"];
  if (format === "locale") return "invalid_locale";
  if (format === "country-code") return "unknown_market";
  return isQuery ? "invalid_parameter" : "invalid_field";
}

function wording({ keyword, message, parentSchema, schema }: ErrorObject): string {
  if (parentSchema?.["format"] === "locale") return "must be a BCP 47 language tag of at most 35 characters";
  if (parentSchema?.["format"] === "country-code") return "must be an ISO 3166-1 alpha-2 country code";
  if (keyword === "enum" && Array.isArray(schema)) return `must be one of ${schema.map(String).join(", ")}`;
  if (keyword === "type" && parentSchema?.type === "integer") return "must be an integer in decimal digits";
  return message ?? "breaks its rule";
}

function uncleanTexts(value: unknown, path: string): Fault[] {
  if (typeof value === "string") return uncleanText(value, path);
  if (typeof value !== "object" || value === null) return [];
  // A name stands in what holds it: it is no step that a pointer could show.
  return Object.entries(value).flatMap(([key, item]) =>
    uncleanText(key, path).concat(uncleanTexts(item, `${path}/${pointerStep(key)}`)),
  );
}

function uncleanText(text: string, field: string): Fault[] {
  if (isCleanText(text)) return [];
  const message = `${field} has a control character or a lone surrogate.`;
  return [{ failure: "invalid_field", detail: { in: "body", field, code: "control_character", message } }];
}

const pointerStep = (text: string): string => text.replaceAll("~", "~0").replaceAll("/", "~1");

/**
 * Takes a query string apart (application/x-www-form-urlencoded): every name once, decoded, clean. What is
 * wrong is told by name.
 */
interface Query {
  readonly values: ReadonlyMap<string, string>;
  readonly faults: readonly Fault[];
}

const shownNameLengthMax = 100;
const parametersMax = 100;

function parseQuery(url: string): Query {
  const values = new Map<string, string>();
  const faults: Fault[] = [];
  const at = url.indexOf("?");
  if (at === -1) return { values, faults };
  const pairs = url
    .slice(at + 1)
    .split("&")
    .filter((pair) => pair !== "");
  if (pairs.length > parametersMax) throw tooMany();
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    const raw = equals === -1 ? pair : pair.slice(0, equals);
    const name = decode(raw);
    const value = decode(equals === -1 ? "" : pair.slice(equals + 1));
    const rule = brokenRule(name, value, values);
    if (rule === undefined) values.set(name ?? "", value ?? "");
    else faults.push(fault(name !== undefined && isCleanText(name) ? name : raw, rule));
  }
  return { values, faults };
}

/** Looking at each of thousands would keep everybody else waiting. */
function tooMany(): Failure {
  const message = `The query may have ${parametersMax} parameters at most.`;
  return failAt("invalid_parameter", { in: "query", field: "", code: "too_many", message });
}

const queryRules = {
  invalid_encoding: "is not valid percent-encoded UTF-8.",
  control_character: "has a control character.",
  duplicate: "stands there more than once.",
};

function brokenRule(
  name: string | undefined,
  value: string | undefined,
  values: ReadonlyMap<string, string>,
): keyof typeof queryRules | undefined {
  if (name === undefined || name === "" || value === undefined) return "invalid_encoding";
  if (!isCleanText(name) || !isCleanText(value)) return "control_character";
  return values.has(name) ? "duplicate" : undefined;
}

/** A name that cannot be decoded is shown as it was sent. */
function fault(name: string, code: keyof typeof queryRules): Fault {
  const field = name.slice(0, shownNameLengthMax);
  return {
    failure: "invalid_parameter",
    detail: { in: "query", field, code, message: `${field} ${queryRules[code]}` },
  };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
