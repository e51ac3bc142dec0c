/** Checks path, query and body against the schemas that the OpenAPI document shows, and makes the document's variables of them. */
import { type GraphQLInputType, getNamedType, isScalarType } from "graphql";
import { fail, type FailureDetail } from "#foundation/failure.ts";
import { isCleanText } from "#foundation/text.ts";
import { type Call, type Step } from "#gateway/call.ts";
import type { Operation, Parameter } from "#gateway/contract.ts";
import { compileSchema, failureOf, type Fault, parseQuery } from "#gateway/rules.ts";

export const validate: Step = {
  name: "validate",
  phase: "body",
  appliesTo: () => true,
  create: (_services, operation) => {
    const readQuery = queryReader(operation);
    const checkBody = operation.body === null ? undefined : compileSchema(operation.body.schema, { in: "body" });
    const pathNames = operation.parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
    return (call) => {
      for (const name of pathNames) call.variables[name] = pathValue(call, name, operation);
      readQuery(call);
      readBody(call, checkBody);
    };
  },
};

/** An id that cannot be one is simply not there. */
function pathValue({ request }: Call, name: string, { notFound }: Operation): string {
  const value = (request.params as Record<string, string>)[name] ?? "";
  if (!isCleanText(value)) throw fail(notFound);
  return value;
}

function queryReader({ parameters }: Operation): (call: Call) => void {
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
function valueReader({ schema, type }: Parameter): (text: string) => unknown {
  if (schema.type === "integer") return (text) => (/^\d{1,15}$/.test(text) ? Number(text) : text);
  const normalize = normalizerOf(type);
  return (text) => (text === "" ? text : normalize(text));
}

function normalizerOf(type: GraphQLInputType): (text: string) => string {
  const named = getNamedType(type);
  const normalize = isScalarType(named) ? (named.extensions["normalize"] as ((text: string) => string) | undefined) : undefined;
  return normalize ?? ((text): string => text);
}

function readBody(call: Call, check: ((body: unknown) => Fault[]) | undefined): void {
  const { body, raw } = call.request;
  if (check === undefined) {
    const hasBody = raw.headers["transfer-encoding"] !== undefined || Number(raw.headers["content-length"] ?? 0) > 0;
    if (hasBody) throw fail("unexpected_body", { details: [detail("body_not_allowed", "This operation takes no body.")] });
    return;
  }
  if (body === undefined) throw fail("missing_body", { details: [detail("required", "This operation needs a JSON body.")] });
  const faults = check(body);
  if (faults.length > 0) throw failureOf(faults);
  call.variables["body"] = body;
}

const detail = (code: string, message: string): FailureDetail => ({ in: "body", field: "", code, message });
