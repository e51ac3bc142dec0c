/**
 * Reads the operations from the OpenAPI document for the reference pages of the documentation. References
 * (`$ref`) in the document are replaced by the parts to which they refer.
 */
export interface OpenApiSchema {
  readonly $ref?: string;
  readonly anyOf?: readonly OpenApiSchema[];
  readonly allOf?: readonly OpenApiSchema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly required?: readonly string[];
  readonly items?: OpenApiSchema;
  readonly additionalProperties?: OpenApiSchema | boolean;
}

export type OpenApiSchemas = Readonly<Record<string, OpenApiSchema>>;

export interface OpenApiDocumentParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: OpenApiSchema;
}

export interface OpenApiDocumentRateLimit {
  readonly bucket: string;
  readonly quota: number;
  readonly windowSeconds: number;
  readonly counts: string;
  readonly per: string;
}

interface Named {
  readonly name: string;
  readonly description: string;
}

interface RawOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: true;
  readonly "x-stability": "stable" | "candidate";
  /**
   * The scope that an API key needs for this operation; `none` if every key may call it. Left out if the
   * operation does not accept API keys.
   */
  readonly "x-required-scope"?: string;
  readonly "x-idempotency": "required" | "none";
  readonly "x-rate-limits": readonly OpenApiDocumentRateLimit[];
  readonly "x-error-codes": readonly string[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters: readonly (OpenApiDocumentParameter | { readonly $ref: string })[];
  readonly requestBody?: {
    readonly content: { readonly "application/json": { readonly schema: OpenApiSchema } };
  };
  readonly responses: {
    readonly 200: {
      readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
      readonly content: { readonly "application/json": { readonly schema: OpenApiSchema } };
    };
  };
}

interface RawEvent {
  readonly description: string;
  readonly parameters: readonly { readonly $ref: string }[];
  readonly "x-stability": "stable" | "candidate";
  readonly requestBody: {
    readonly content: { readonly "application/json": { readonly schema: OpenApiSchema } };
  };
}

export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly Named[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: RawEvent }>>;
  readonly components: {
    readonly schemas: OpenApiSchemas;
    readonly parameters: Readonly<Record<string, OpenApiDocumentParameter>>;
    readonly headers: Readonly<Record<string, { readonly description: string }>>;
  };
}

export interface OpenApiDocumentOperation {
  readonly id: string;
  readonly tag: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly stability: "stable" | "candidate";
  readonly isDeprecated: boolean;
  /**
   * The credential that the operation requires. `none`: no credential. `key`: an API key or OAuth token.
   * `token`: an OAuth token with a DPoP proof.
   */
  readonly credential: "none" | "key" | "token";
  readonly scope: string | null;
  readonly isIdempotent: boolean;
  readonly limits: readonly OpenApiDocumentRateLimit[];
  readonly errorCodes: readonly string[];
  readonly parameters: readonly OpenApiDocumentParameter[];
  readonly body: OpenApiSchema | null;
  readonly answer: OpenApiSchema;
  readonly headers: readonly Named[];
}

/**
 * Returns the operations of the OpenAPI document, grouped by tag in the order of the document's tags. Each
 * group is sorted by the verb at the start of the operation id; list and search come first.
 */
export function listOpenApiOperations(document: OpenApiDocument): OpenApiDocumentOperation[] {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) =>
      toOperation(document, { path, method: method.toUpperCase(), raw }),
    ),
  );
  return document.tags.flatMap(({ name }) =>
    all.filter(({ tag }) => tag === name).toSorted((one, other) => rankOf(one) - rankOf(other)),
  );
}

const verbsInOrder = ["list", "search", "create", "get", "set", "apply"];

/**
 * Returns the position of an operation in the sort order by the verb at the start of its id: list, search,
 * create, get, set, apply, then all others.
 */
function rankOf({ id }: OpenApiDocumentOperation): number {
  const rank = verbsInOrder.findIndex((verb) => id.startsWith(verb));
  return rank === -1 ? verbsInOrder.length : rank;
}

function toOperation(
  { components }: OpenApiDocument,
  { path, method, raw }: { path: string; method: string; raw: RawOperation },
): OpenApiDocumentOperation {
  const answer = raw.responses[200];
  return {
    id: raw.operationId,
    tag: raw.tags[0] ?? "",
    method,
    path,
    summary: raw.summary,
    description: raw.description,
    stability: raw["x-stability"],
    isDeprecated: raw.deprecated === true,
    credential: credentialOf(raw),
    scope: scopeOf(raw),
    isIdempotent: raw["x-idempotency"] === "required",
    limits: raw["x-rate-limits"],
    errorCodes: raw["x-error-codes"],
    parameters: raw.parameters.map((parameter) =>
      "$ref" in parameter ? found(components.parameters, parameter.$ref) : parameter,
    ),
    body: raw.requestBody?.content["application/json"].schema ?? null,
    answer: answer.content["application/json"].schema,
    headers: Object.entries(answer.headers).map(([name, { $ref }]) => ({
      name,
      description: found(components.headers, $ref).description,
    })),
  };
}

const scopeOf = ({ "x-required-scope": scope = "none" }: RawOperation): string | null =>
  scope === "none" ? null : scope;

function credentialOf({ security }: RawOperation): OpenApiDocumentOperation["credential"] {
  if (security.some((way) => "apiKey" in way)) return "key";
  return security.some((way) => "oauth" in way) ? "token" : "none";
}

export const getReferencedSchemaName = ($ref: string): string => $ref.slice($ref.lastIndexOf("/") + 1);

function found<T>(parts: Readonly<Record<string, T>>, $ref: string): T {
  const part = parts[getReferencedSchemaName($ref)];
  if (part === undefined) throw new Error(`The document has no ${$ref}.`);
  return part;
}

/**
 * A schema of the OpenAPI document in which references and `allOf` are replaced by the merged schema. The
 * type null is removed from the list of types and stored as `isNullable`.
 */
export interface ResolvedOpenApiSchema extends OpenApiSchema {
  /** The name of the schema in the OpenAPI document; null if the schema has no name. */
  readonly name: string | null;
  readonly isNullable: boolean;
  readonly kind: string;
}

export function resolveOpenApiSchema(schema: OpenApiSchema, schemas: OpenApiSchemas): ResolvedOpenApiSchema {
  const { $ref, anyOf, allOf, ...own } = schema;
  if (anyOf !== undefined) {
    const solid = anyOf.find(({ type }) => type !== "null") ?? {};
    return {
      ...resolveOpenApiSchema(solid, schemas),
      ...own,
      isNullable: anyOf.some(({ type }) => type === "null"),
    };
  }
  if (allOf !== undefined) return allOf.map((part) => resolveOpenApiSchema(part, schemas)).reduce(merge);
  if ($ref !== undefined)
    return {
      ...resolveOpenApiSchema(found(schemas, $ref), schemas),
      ...own,
      name: getReferencedSchemaName($ref),
    };
  const types = typeof own.type === "string" ? [own.type] : (own.type ?? []);
  return {
    ...own,
    name: null,
    isNullable: types.includes("null"),
    kind: types.find((type) => type !== "null") ?? "object",
  };
}

const merge = (one: ResolvedOpenApiSchema, other: ResolvedOpenApiSchema): ResolvedOpenApiSchema => ({
  ...one,
  name: null,
  properties: { ...one.properties, ...other.properties },
  required: [...new Set([...(one.required ?? []), ...(other.required ?? [])])],
});
