/**
 * Checks path, query and body of a REST request with Ajv against the JSON Schemas of the OpenAPI document,
 * and converts them to the variables of the operation's document. A failure names the field, the broken rule
 * and the allowed values.
 */
import { getNamedType, type GraphQLInputType, isScalarType } from "graphql";
import { Ajv2020 } from "ajv/dist/2020.js";
import {
  createFailure,
  createFailureWithDetail,
  type Failure,
  type FailureDetail,
} from "#foundation/failure.ts";
import { isTextWithoutForbiddenCharacters, isCountryCode, parseLocale } from "#foundation/text.ts";
import type { RestRequestContext, RestRequestPipelineStep } from "#gateway/rest-call.ts";
import type { RestOperation, RestParameter } from "#gateway/contract.ts";
import type { JsonSchema } from "#gateway/json-schemas.ts";
import {
  addEtagHintToExpectedVersionErrors,
  nameLengthMax,
  escapeJsonPointerToken,
  type RequestValidationError as Fault,
  type HttpRequestPart,
  convertAjvErrorToRequestValidationError,
} from "#gateway/request-faults.ts";

/**
 * Validates path, query and body of a REST request, in this order. Throws one failure with all faults of the
 * first invalid part.
 */
export const validateRequest: RestRequestPipelineStep = {
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
    const missingBodyMessage = describeMissingBody(operation);
    return (call) => {
      for (const name of pathNames) call.variables[name] = pathValue(call, name, operation);
      readQuery(call);
      if (checkBody !== undefined && call.request.body === undefined)
        throw createFailureWithDetail("missing_body", bodyDetail("required", missingBodyMessage));
      readBody(call, checkBody);
    };
  },
};

/**
 * Returns the value of a path parameter. No id contains control characters, so for a value with control
 * characters, the operation's "not found" failure is thrown.
 */
function pathValue({ request }: RestRequestContext, name: string, { notFound }: RestOperation): string {
  const value = (request.params as Record<string, string>)[name] ?? "";
  if (!isTextWithoutForbiddenCharacters(value)) throw createFailure(notFound);
  return value;
}

function queryReader({ parameters }: RestOperation): (call: RestRequestContext) => void {
  const known = parameters.filter((parameter) => parameter.in === "query");
  const check = compileSchema(querySchemaOf(parameters), { in: "query" });
  const readers = new Map(known.map((parameter) => [parameter.name, valueReader(parameter)]));
  return (call) => {
    const { values, faults } = parseQuery(call.request.raw.url ?? "");
    // The object with the query parameters has no prototype, so that a parameter named __proto__ is refused
    // as unknown.
    const variables = Object.create(null) as Record<string, unknown>;
    for (const [name, text] of values) variables[name] = readers.get(name)?.(text) ?? text;
    // A query parameter that could not be decoded is reported as malformed. The same parameter is not also
    // reported as missing.
    const unread = new Set(faults.map(({ detail }) => detail.field));
    const all = [...faults, ...check(variables).filter(({ detail }) => !unread.has(detail.field))];
    if (all.length > 0) throw combineFaults(all);
    Object.assign(call.variables, variables);
  };
}

/** The schemas by the parameters of their operation. Ajv compiles the same schema object once. */
const querySchemas = new WeakMap<RestOperation["parameters"], JsonSchema>();

function querySchemaOf(parameters: RestOperation["parameters"]): JsonSchema {
  const built = querySchemas.get(parameters);
  if (built !== undefined) return built;
  const known = parameters.filter((parameter) => parameter.in === "query");
  const schema: JsonSchema = {
    type: "object",
    properties: Object.fromEntries(known.map(({ name, schema: ofParameter }) => [name, ofParameter])),
    required: known.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
  querySchemas.set(parameters, schema);
  return schema;
}

/**
 * Creates the function that converts the text of a query parameter to its value. The text of an integer is
 * converted if it has only decimal digits. Other texts are normalized as the parameter's scalar type
 * requires.
 */
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

function readBody(call: RestRequestContext, check: ((body: unknown) => Fault[]) | undefined): void {
  const { body, raw } = call.request;
  if (check === undefined) {
    const hasBody =
      raw.headers["transfer-encoding"] !== undefined || Number(raw.headers["content-length"] ?? 0) > 0;
    if (hasBody)
      throw createFailure("unexpected_body", {
        details: [bodyDetail("body_not_allowed", "The request must not have a body.")],
      });
    return;
  }
  const faults = check(body);
  if (faults.length > 0)
    throw combineFaults(addEtagHintToExpectedVersionErrors(faults, raw.headers["if-match"] !== undefined));
  call.variables["body"] = body;
}

/** Describes the body that a request lacks, by the required fields of the operation's body. */
function describeMissingBody({ body }: RestOperation): string {
  const required = (body?.schema.required ?? []).map((name) => `"${name}"`);
  const noun = required.length === 1 ? "field" : "fields";
  const fields = required.length === 0 ? "" : ` with the ${noun} ${required.join(" and ")}`;
  return `The request must have a JSON body${fields}.`;
}

const bodyDetail = (code: string, message: string): FailureDetail => ({
  in: "body",
  field: "",
  code,
  message,
});

const ajv = new Ajv2020({ allErrors: true, strict: false, verbose: true });
ajv.addFormat("country-code", (text) => isCountryCode(text.toUpperCase()));
ajv.addFormat("locale", (text) => parseLocale(text) !== undefined);
ajv.addFormat("date-time", (text) => !Number.isNaN(Date.parse(text)));
ajv.addFormat("uri", (text) => URL.canParse(text));

function compileSchema(schema: JsonSchema, part: HttpRequestPart): (value: unknown) => Fault[] {
  const check = ajv.compile(schema);
  return (value) => {
    const faults = check(value)
      ? []
      : keepFirstFaults(
          (check.errors ?? []).map((error) => convertAjvErrorToRequestValidationError(error, part)),
        );
    return part.in === "body" ? [...faults, ...uncleanTexts(value, "")] : faults;
  };
}

/**
 * Combines all faults of a request in one failure. The failure has the code and the message of the first
 * fault.
 */
function combineFaults(faults: readonly Fault[]): Failure {
  const [first] = faults;
  if (first === undefined) return createFailure("malformed_request");
  return createFailure(first.failure, {
    message: first.detail.message,
    details: faults.map(({ detail }) => detail),
  });
}

/** Keeps only the first fault of each field and drops all further faults of the same field. */
function keepFirstFaults(faults: readonly Fault[]): Fault[] {
  const seen = new Set<string>();
  return faults.filter(({ detail: { field } }) => {
    const isNew = !seen.has(field);
    seen.add(field);
    return isNew;
  });
}

function uncleanTexts(value: unknown, path: string): Fault[] {
  if (typeof value === "string") return uncleanText(value, path);
  if (typeof value !== "object" || value === null) return [];
  // A field name with control characters must not get into the pointer. The fault therefore names the object
  // that has the field.
  return Object.entries(value).flatMap(([key, item]) =>
    uncleanText(key, path).concat(uncleanTexts(item, `${path}/${escapeJsonPointerToken(key)}`)),
  );
}

function uncleanText(text: string, field: string): Fault[] {
  if (isTextWithoutForbiddenCharacters(text)) return [];
  const message = `${field} has a control character or a lone surrogate.`;
  return [{ failure: "invalid_field", detail: { in: "body", field, code: "control_character", message } }];
}

/**
 * The result of parsing a query string: the decoded parameters by name, and the faults of malformed or
 * repeated parameters.
 */
interface Query {
  readonly values: ReadonlyMap<string, string>;
  readonly faults: readonly Fault[];
}

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
  if (pairs.length > parametersMax) throw tooManyParameters();
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    const raw = equals === -1 ? pair : pair.slice(0, equals);
    const name = decode(raw);
    const value = decode(equals === -1 ? "" : pair.slice(equals + 1));
    const rule = brokenRule(name, value, values);
    if (rule === undefined) values.set(name ?? "", value ?? "");
    else faults.push(fault(name !== undefined && isTextWithoutForbiddenCharacters(name) ? name : raw, rule));
  }
  return { values, faults };
}

/**
 * Returns the failure of a query with more parameters than any operation has. Such a query is refused without
 * reading each parameter.
 */
function tooManyParameters(): Failure {
  const message = `The query must have at most ${parametersMax} parameters.`;
  return createFailureWithDetail("invalid_parameter", { in: "query", field: "", code: "too_many", message });
}

const queryRules = {
  invalid_encoding: "is not valid percent-encoded UTF-8.",
  control_character: "has a control character.",
  duplicate: "must be given only once.",
};

function brokenRule(
  name: string | undefined,
  value: string | undefined,
  values: ReadonlyMap<string, string>,
): keyof typeof queryRules | undefined {
  if (name === undefined || name === "" || value === undefined) return "invalid_encoding";
  if (!isTextWithoutForbiddenCharacters(name) || !isTextWithoutForbiddenCharacters(value))
    return "control_character";
  return values.has(name) ? "duplicate" : undefined;
}

/**
 * Creates the fault of a query parameter. If the name of the parameter cannot be decoded, the fault contains
 * the name as the client sent it.
 */
function fault(name: string, code: keyof typeof queryRules): Fault {
  const field = name.slice(0, nameLengthMax);
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
