/**
 * Reads the GraphQL documents in schema/operations and their directives as REST operations, once when the
 * server starts. The routes, validation, scopes, rate limits, compiled queries and the OpenAPI document are
 * all derived from these operations.
 */
import {
  type DocumentNode,
  type FieldNode,
  getNullableType,
  type GraphQLArgument,
  type GraphQLInputType,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLSchema,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
} from "graphql";
import type { RateLimitBucket } from "#access/viewer.ts";
import { type FailureCode, failureKinds } from "#foundation/failure.ts";
import {
  requireRateLimitBucketName,
  getDirectiveArguments,
  type RestOperationSecurity,
  readRequiredCredentialOfOperation,
} from "#mesh/operation-security.ts";
import {
  addDeprecationToDescription,
  type RestOperationDeprecation,
  readOperationDeprecation,
} from "./deprecation.ts";
import {
  convertGraphqlSelectionToJsonSchema,
  type OpenApiSchemaComponents,
  getSelectedGraphqlFields,
  isGraphqlFieldOnlyForHttpHeader,
  convertGraphqlInputTypeToJsonSchema,
  type JsonSchema,
} from "./json-schemas.ts";

export type HttpMethod = "GET" | "POST" | "PUT" | "DELETE";

/**
 * The kinds of catalog data on which cached answers of an operation can depend. The directive in
 * schema/rest.graphql explains the values.
 */
export type ResponseCatalogDependency = "PRODUCT" | "OWN_CATALOG" | "ALL_CATALOGS";

/** A path or query parameter of a REST operation. */
export interface RestParameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly type: GraphQLInputType;
  readonly schema: JsonSchema;
}

/**
 * Limits the failed attempts of callers of an operation, so that callers cannot guess, for example, promotion
 * codes. An answer with one of the listed failure codes is a failed attempt. Each failed attempt is counted
 * twice: for the value of a path parameter, and for the caller's credential.
 */
export interface FailedAttemptsRateLimit {
  readonly bucket: RateLimitBucket;
  readonly credentialBucket: RateLimitBucket;
  readonly codes: readonly FailureCode[];
  /** The name of the path parameter; each value of the parameter has its own counter of failed attempts. */
  readonly by: string;
}

/**
 * A REST operation. Its properties are read from its GraphQL document and from the directives in this
 * document.
 */
export interface RestOperation {
  readonly id: string;
  readonly description: string;
  readonly method: HttpMethod;
  readonly path: string;
  readonly tag: string;
  readonly stability: "stable" | "candidate";
  /**
   * The dates on which the operation was deprecated and on which it ends; null if the operation is not
   * deprecated.
   */
  readonly deprecation: RestOperationDeprecation | null;
  readonly security: RestOperationSecurity;
  readonly isIdempotent: boolean;
  /**
   * Whether the operation overwrites, deletes or ends an object. Clients such as AI assistants can use this
   * to ask their user for confirmation first.
   */
  readonly isDestructive: boolean;
  readonly parameters: readonly RestParameter[];
  /** The name and the schema of the request body; null if the operation takes no body. */
  readonly body: { readonly name: string; readonly schema: JsonSchema } | null;
  /** The name of the JSON Schema of the answer's body in the OpenAPI document. */
  readonly response: string;
  readonly answer: JsonSchema;
  /**
   * The name of the field of `data` with the language of the answer's texts, for the header
   * `Content-Language`; null if the answer has no translated texts.
   */
  readonly languageField: string | null;
  /**
   * The names of the fields of `data` that are selected only to build headers of the answer. The body of the
   * answer does not contain these fields.
   */
  readonly headerOnlyFields: readonly string[];
  /** The name of the field of `data` whose value becomes the ETag header; null if the answer has no version. */
  readonly versionField: string | null;
  /**
   * The name of the field of `data` that changes only with a new release of the service; null if there is
   * none. With such a field, clients can ask whether the answer has changed (`steps/revalidate.ts`).
   */
  readonly constantField: string | null;
  /** The kind of catalog data on which the operation's answers depend; null if the answers are not cached. */
  readonly dependsOn: ResponseCatalogDependency | null;
  /**
   * The operation's own rate limit, which counts the requests of an app installation to this operation; null
   * if the operation has none. Requests then count against the general limits of the credential: one for
   * reads, one for writes.
   */
  readonly ownBucket: RateLimitBucket | null;
  readonly failureLimit: FailedAttemptsRateLimit | null;
  /** The failure code of the 404 answer of this operation, for example `cart_not_found`. */
  readonly notFound: FailureCode;
  /**
   * The failure codes that the operation's document lists in the directive `@refuses`. Failure codes that the
   * service derives from the operation's parameters, body and security are not in this list.
   */
  readonly refusals: readonly FailureCode[];
  /**
   * The names of the nested GraphQL fields that lead from the root of the result to the object that contains
   * `data` (and `meta`).
   */
  readonly envelope: readonly string[];
  readonly document: DocumentNode;
}

/**
 * Reads the REST operations from GraphQL documents that have been validated on `schema`, the schema with
 * lower-case enum values of `mesh/open-mesh.ts`. Throws an error if a document is not a valid REST operation,
 * for example because a directive is missing or has a wrong value.
 */
export function buildRestOperationsAndSchemas(
  schema: GraphQLSchema,
  documents: readonly DocumentNode[],
): { operations: RestOperation[]; components: OpenApiSchemaComponents } {
  const components: OpenApiSchemaComponents = new Map();
  const operations = documents
    .map((document) => readOperation(schema, document, components))
    .toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.method < b.method ? -1 : 1));
  return { operations, components };
}

function readOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  components: OpenApiSchemaComponents,
): RestOperation {
  const definition = definitionOf(document);
  const binding = getDirectiveArguments(schema, definition, "rest");
  if (binding === undefined) throw new Error(`schema/operations: ${nameOf(definition)} has no @rest.`);
  const path = String(binding["path"]);
  const stability = binding["stability"] === "CANDIDATE" ? "candidate" : "stable";
  const deprecation = readOperationDeprecation(schema, definition, stability);
  const variables = definition.variableDefinitions ?? [];
  return {
    id: nameOf(definition),
    description: addDeprecationToDescription(definition.description?.value ?? "", deprecation),
    method: binding["method"] as HttpMethod,
    path,
    tag: String(binding["tag"]),
    stability,
    deprecation,
    security: readRequiredCredentialOfOperation(schema, definition),
    isIdempotent: getDirectiveArguments(schema, definition, "idempotent") !== undefined,
    isDestructive: getDirectiveArguments(schema, definition, "destructive") !== undefined,
    parameters: variables
      .filter((variable) => !isBody(variable))
      .map((variable) => readParameter(schema, definition, { variable, path })),
    body: readBody(schema, variables.find(isBody)),
    response: String(binding["response"]),
    languageField: typeof binding["language"] === "string" ? binding["language"] : null,
    versionField: typeof binding["version"] === "string" ? binding["version"] : null,
    constantField: typeof binding["constant"] === "string" ? binding["constant"] : null,
    dependsOn:
      (getDirectiveArguments(schema, definition, "cached")?.["dependsOn"] as
        | ResponseCatalogDependency
        | undefined) ?? null,
    ownBucket: ownBucketOf(schema, definition),
    failureLimit: failureLimitOf(schema, definition),
    notFound: failureCode(binding["notFound"] ?? "route_not_found"),
    refusals: refusalsOf(schema, definition),
    ...readAnswer(schema, definition, components),
    document,
  };
}

function definitionOf(document: DocumentNode): OperationDefinitionNode {
  const definition = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  if (definition?.name === undefined)
    throw new Error("A document under schema/operations has no named operation.");
  return definition;
}

const nameOf = (definition: OperationDefinitionNode): string => definition.name?.value ?? "";

type VariableNode = NonNullable<OperationDefinitionNode["variableDefinitions"]>[number];

const isBody = ({ variable }: VariableNode): boolean => variable.name.value === "body";

function readBody(schema: GraphQLSchema, variable: VariableNode | undefined): RestOperation["body"] {
  if (variable === undefined) return null;
  const type = typeFromAST(schema, variable.type as never) as GraphQLInputType;
  return { name: getNullableType(type).toString(), schema: convertGraphqlInputTypeToJsonSchema(type) };
}

function failureCode(name: unknown): FailureCode {
  if (typeof name !== "string" || !Object.hasOwn(failureKinds, name))
    throw new Error(`${String(name)} is not a failure code of src/foundation/failure.ts.`);
  return name as FailureCode;
}

function ownBucketOf(schema: GraphQLSchema, definition: OperationDefinitionNode): RateLimitBucket | null {
  const limited = getDirectiveArguments(schema, definition, "limited");
  return limited === undefined ? null : requireRateLimitBucketName(nameOf(definition), limited["bucket"]);
}

function failureLimitOf(
  schema: GraphQLSchema,
  definition: OperationDefinitionNode,
): FailedAttemptsRateLimit | null {
  const limit = getDirectiveArguments(schema, definition, "limitFailures");
  if (limit === undefined) return null;
  const id = nameOf(definition);
  const codes = (limit["codes"] as readonly string[]).map(failureCode);
  return {
    bucket: requireRateLimitBucketName(id, limit["bucket"]),
    credentialBucket: requireRateLimitBucketName(id, limit["credentialBucket"]),
    codes,
    by: String(limit["by"]),
  };
}

function refusalsOf(schema: GraphQLSchema, definition: OperationDefinitionNode): FailureCode[] {
  const refuses = getDirectiveArguments(schema, definition, "refuses");
  return ((refuses?.["codes"] ?? []) as readonly string[]).map(failureCode);
}

function readParameter(
  schema: GraphQLSchema,
  definition: OperationDefinitionNode,
  { variable, path }: { variable: VariableNode; path: string },
): RestParameter {
  const name = variable.variable.name.value;
  if (variable.defaultValue !== undefined)
    throw new Error(
      `schema/operations: the variable $${name} must not have a default. Give the default to the ` +
        "graph's argument.",
    );
  const type = typeFromAST(schema, variable.type as never) as GraphQLInputType;
  const shape = convertGraphqlInputTypeToJsonSchema(type, argumentOf(schema, definition, name));
  return {
    name,
    in: path.includes(`{${name}}`) ? "path" : "query",
    required: isNonNullType(type),
    type,
    schema: shape,
  };
}

/**
 * Finds the argument of the GraphQL schema to which an operation's document passes a variable. The REST
 * parameter made from the variable gets the description and the bounds of this argument.
 */
function argumentOf(
  schema: GraphQLSchema,
  definition: OperationDefinitionNode,
  variable: string,
): GraphQLArgument | undefined {
  const search = (type: GraphQLObjectType, nodes: readonly FieldNode[]): GraphQLArgument | undefined => {
    for (const node of nodes) {
      const field = type.getFields()[node.name.value];
      const use = node.arguments?.find(
        ({ value }) => value.kind === Kind.VARIABLE && value.name.value === variable,
      );
      const below = field && getNullableType(field.type);
      const found = use
        ? field?.args.find(({ name }) => name === use.name.value)
        : isObjectType(below)
          ? search(below, getSelectedGraphqlFields(node.selectionSet))
          : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const root = schema.getRootType(definition.operation);
  return root ? search(root, getSelectedGraphqlFields(definition.selectionSet)) : undefined;
}

function readAnswer(
  schema: GraphQLSchema,
  definition: OperationDefinitionNode,
  components: OpenApiSchemaComponents,
): Pick<RestOperation, "answer" | "envelope" | "headerOnlyFields"> {
  let type = schema.getRootType(definition.operation);
  let nodes = getSelectedGraphqlFields(definition.selectionSet);
  const envelope: string[] = [];
  while (type) {
    const data = nodes.find((node) => node.alias?.value === "data");
    if (data !== undefined) {
      const headerOnlyFields = getSelectedGraphqlFields(data.selectionSet)
        .filter(isGraphqlFieldOnlyForHttpHeader)
        .map((node) => node.alias?.value ?? node.name.value);
      return { answer: envelopeShape(type, nodes, components), envelope, headerOnlyFields };
    }
    const [only, second] = nodes;
    if (only === undefined || second !== undefined) break;
    envelope.push(only.alias?.value ?? only.name.value);
    const below = type.getFields()[only.name.value]?.type;
    const named = below && getNullableType(below);
    type = isObjectType(named) ? named : undefined;
    nodes = getSelectedGraphqlFields(only.selectionSet);
  }
  throw new Error(`schema/operations: ${nameOf(definition)} has no field aliased data.`);
}

/**
 * Returns the JSON Schema of the body of a 200 answer. In this body, `data` is never null, because the API
 * answers 404 if `data` is null.
 */
function envelopeShape(
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  components: OpenApiSchemaComponents,
): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const node of nodes) {
    const field = type.getFields()[node.name.value];
    if (field !== undefined)
      properties[node.alias?.value ?? node.name.value] = convertGraphqlSelectionToJsonSchema(
        new GraphQLNonNull(getNullableType(field.type)),
        node.selectionSet,
        components,
      );
  }
  return { type: "object", properties, required: Object.keys(properties) };
}
