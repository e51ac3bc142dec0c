/**
 * A strict reading of the OpenAPI document: each operation with its references resolved, and exact validation
 * of answers. An answer's listed fields are complete: no others are allowed, and none may be missing.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

export interface Schema {
  readonly [keyword: string]: unknown;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

export interface DocumentParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: Schema;
}

export interface DocumentOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly stability: string;
  /** The required scope; `none` if any credential will do. */
  readonly scope: string;
  readonly isIdempotent: boolean;
  readonly isAnonymous: boolean;
  /** Whether the operation requires an access token instead of an API key. */
  readonly needsToken: boolean;
  readonly parameters: readonly DocumentParameter[];
  readonly body: Schema | null;
  readonly errorCodes: ReadonlySet<string>;
  readonly answers: ReadonlyMap<number, DeclaredAnswer>;
}

/** Lists the faults of a value; empty if it is valid. */
type Check = (value: unknown) => readonly string[];

export interface DeclaredAnswer {
  readonly check: Check;
  /** The headers' names in lower case, each with its check. */
  readonly headers: readonly { readonly name: string; readonly check: Check }[];
  /** The error codes in the response's description; empty for a success. */
  readonly codes: ReadonlySet<string>;
}

interface RawOperation {
  readonly operationId: string;
  readonly "x-stability": string;
  readonly "x-required-scope"?: string;
  readonly "x-idempotency": string;
  readonly "x-error-codes": readonly string[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters: readonly (DocumentParameter | Reference)[];
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Schema } } };
  readonly responses: Readonly<Record<string, RawResponse | Reference>>;
}

interface RawResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly schema: Schema } | Reference>>;
  readonly content: { readonly "application/json": { readonly schema: Schema } };
}

interface Reference {
  readonly $ref: string;
}

interface RawDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export function readOperations(document: unknown): DocumentOperation[] {
  const raw = document as RawDocument;
  const { schemas } = raw.components;
  const answers = createReader(
    Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, closed(schema)])),
  );
  const follow = <Part>(part: Part | Reference): Part =>
    typeof part === "object" && part !== null && "$ref" in part ? follow(at(raw, part.$ref) as Part) : part;
  return Object.entries(raw.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const schema = operation.requestBody?.content["application/json"].schema;
      return {
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        stability: operation["x-stability"],
        scope: operation["x-required-scope"] ?? "none",
        isIdempotent: operation["x-idempotency"] === "required",
        isAnonymous: operation.security.some((way) => Object.keys(way).length === 0),
        needsToken: operation.security.every((way) => "oauth" in way),
        parameters: operation.parameters.map((parameter) => follow(parameter)),
        body: schema === undefined ? null : follow(schema),
        errorCodes: new Set(operation["x-error-codes"]),
        answers: new Map(
          Object.entries(operation.responses).map(([status, response]) => {
            const { description, headers = {}, content } = follow(response);
            const shown = Object.entries(headers).map(([name, header]) => ({
              name: name.toLowerCase(),
              check: answers(follow(header).schema),
            }));
            const codes = new Set([...description.matchAll(/`([a-z0-9_]+)`/g)].map(([, code = ""]) => code));
            return [
              Number(status),
              { check: answers(closed(content["application/json"].schema)), headers: shown, codes },
            ];
          }),
        ),
      };
    }),
  );
}

function at(document: unknown, ref: string): unknown {
  const steps = ref.slice(2).split("/");
  return steps.reduce<unknown>((part, step) => (part as Readonly<Record<string, unknown>>)[step], document);
}

const components = "https://contract.test/components.json";

/** Compiles schemas at first use and shares equal ones, because compiling takes longer than most checks. */
function createReader(schemas: Readonly<Record<string, Schema>>): (schema: Schema) => Check {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat("date-time", /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  ajv.addFormat("uri", (text) => URL.canParse(text));
  ajv.addFormat("locale", (tag) => Intl.getCanonicalLocales(tag)[0] === tag);
  ajv.addFormat("country-code", /^[A-Z]{2}$/);
  ajv.addSchema({ $id: components, components: { schemas } });
  const known = new Map<string, ValidateFunction>();
  const compile = (written: string): ValidateFunction => {
    const check = known.get(written) ?? ajv.compile(JSON.parse(written) as Schema);
    known.set(written, check);
    return check;
  };
  return (schema) => {
    const written = JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${components}#/`);
    return (value) => {
      const check = compile(written);
      if (check(value)) return [];
      return (check.errors ?? []).map(
        ({ instancePath, message, params }) =>
          `${instancePath || "The whole"} ${message} ${JSON.stringify(params)}.`,
      );
    };
  };
}

/** Disallows additional properties in every object with listed fields. */
function closed<Part>(part: Part): Part {
  if (Array.isArray(part)) return part.map((one: unknown) => closed(one)) as Part;
  if (typeof part !== "object" || part === null) return part;
  const inner = Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, closed(value as unknown)]),
  );
  const { properties, additionalProperties } = part as Schema;
  if (properties === undefined || additionalProperties !== undefined) return inner as Part;
  return { ...inner, additionalProperties: false, required: Object.keys(properties) } as Part;
}
