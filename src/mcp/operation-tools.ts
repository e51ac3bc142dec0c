/**
 * Describes each REST operation as an MCP tool. The names, descriptions and JSON Schemas of the tools are
 * taken from the OpenAPI document, so each operation needs to be described only once, in schema/operations.
 */
import type { Tool } from "@modelcontextprotocol/server";
import type { RestOperationsAndOpenApiDocument } from "#gateway/api-description.ts";
import type { RestOperation } from "#gateway/contract.ts";
import type { JsonSchema } from "#gateway/json-schemas.ts";
import { getOperationTitle } from "#pages/docs/operation-titles.ts";

/** A REST operation and the MCP tool that calls it. */
export interface RestOperationWithMcpTool {
  readonly operation: RestOperation;
  readonly tool: Tool;
}

/** The part of the OpenAPI document that describes one REST operation. */
interface OperationDocument {
  readonly description: string;
  readonly parameters: readonly ParameterDocument[];
  readonly requestBody?: { readonly content: JsonContent };
  readonly responses: { readonly 200: { readonly content: JsonContent } };
}

interface ParameterDocument {
  readonly name?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema?: JsonSchema;
}

interface JsonContent {
  readonly "application/json": { readonly schema: JsonSchema };
}

/** The parts of the OpenAPI document from which the MCP tools are made. */
interface ToolSource {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationDocument>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly parameters: { readonly IdempotencyKey: ParameterDocument };
  };
}

/** Name of the tool argument for the body of the REST request. */
export const bodyArgumentName = "body";
/** Name of the tool argument for the request header `Idempotency-Key`. */
export const idempotencyKeyArgumentName = "idempotencyKey";
/** Name of the tool argument for the request header `Accept-Language`. */
export const languageArgumentName = "acceptLanguage";

const languageSchema: JsonSchema = {
  type: "string",
  maxLength: 200,
  description:
    "The preferred languages of the answer, like the header Accept-Language (RFC 9110 section 12.5.4).",
  examples: ["de-AT, de;q=0.9, en;q=0.5"],
};

/** Returns an MCP tool for each REST operation, in the order of the operations. */
export function createMcpOperationTools({
  operations,
  document,
}: RestOperationsAndOpenApiDocument): RestOperationWithMcpTool[] {
  const source = document as unknown as ToolSource;
  return operations.map((operation) => ({ operation, tool: createTool(operation, source) }));
}

function createTool(operation: RestOperation, { paths, components }: ToolSource): Tool {
  const described = paths[operation.path]?.[operation.method.toLowerCase()];
  if (described === undefined) throw new Error(`The OpenAPI document has no operation ${operation.id}.`);
  const title = getOperationTitle(operation.id);
  return {
    name: operation.id,
    title,
    description: `${described.description}\n\n${describeAccess(operation)}`,
    inputSchema: selfContained(toInputSchema(operation, described, components), components.schemas),
    outputSchema: selfContained(
      described.responses[200].content["application/json"].schema,
      components.schemas,
    ),
    annotations: {
      title,
      readOnlyHint: operation.method === "GET",
      destructiveHint: operation.isDestructive,
      idempotentHint: operation.method !== "POST" || operation.isIdempotent,
      openWorldHint: false,
    },
  };
}

function describeAccess({ security }: RestOperation): string {
  if (security.kind === "anonymous") return "This tool needs no credential.";
  const credential =
    security.kind === "oauth" ? "an OAuth access token" : "an API key or an OAuth access token";
  return `This tool needs ${credential}${security.scope === null ? "" : ` with the scope ${security.scope}`}.`;
}

function toInputSchema(
  operation: RestOperation,
  { parameters, requestBody }: OperationDocument,
  components: ToolSource["components"],
): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const { name, description, required: isRequired, schema } of parameters) {
    if (name === undefined || schema === undefined) continue;
    properties[name] = { ...schema, ...(description === undefined ? {} : { description }) };
    if (isRequired === true) required.push(name);
  }
  if (requestBody !== undefined) {
    properties[bodyArgumentName] = requestBody.content["application/json"].schema;
    required.push(bodyArgumentName);
  }
  if (operation.isIdempotent) {
    const { description, schema } = components.parameters.IdempotencyKey;
    properties[idempotencyKeyArgumentName] = { ...schema, description };
    required.push(idempotencyKeyArgumentName);
  }
  if (operation.languageField !== null) properties[languageArgumentName] = languageSchema;
  return { type: "object", properties, required, additionalProperties: false };
}

const componentPrefix = "#/components/schemas/";

/**
 * Returns an object schema without references to the OpenAPI document: the components that the schema uses
 * are copied into its `$defs`.
 */
function selfContained(
  schema: JsonSchema,
  components: ToolSource["components"]["schemas"],
): Tool["inputSchema"] {
  const definitions: Record<string, unknown> = {};
  const convert = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(convert);
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(
      Object.entries(part).map(([keyword, value]) =>
        keyword === "$ref" ? [keyword, define(String(value))] : [keyword, convert(value)],
      ),
    );
  };
  const define = (reference: string): string => {
    const name = reference.slice(componentPrefix.length);
    if (!(name in definitions)) {
      definitions[name] = {};
      definitions[name] = convert(componentOf(name, components));
    }
    return `#/$defs/${name}`;
  };
  const reference = schema["$ref"];
  const root =
    typeof reference === "string" ? componentOf(reference.slice(componentPrefix.length), components) : schema;
  const converted = convert(root) as JsonSchema;
  const $defs = Object.keys(definitions).length === 0 ? {} : { $defs: definitions };
  return { ...converted, type: "object", ...$defs } as Tool["inputSchema"];
}

function componentOf(name: string, components: ToolSource["components"]["schemas"]): JsonSchema {
  const component = components[name];
  if (component === undefined) throw new Error(`The OpenAPI document has no schema ${name}.`);
  return component;
}
