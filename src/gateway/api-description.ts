/**
 * Builds the REST operations and their OpenAPI document from the GraphQL documents in schema/operations, and
 * the description of the webhooks from the GraphQL documents in schema/events.
 */
import { getNullableType, GraphQLNonNull, Kind } from "graphql";
import { type RestOperation, buildRestOperationsAndSchemas } from "./contract.ts";
import { apiVersion, buildOpenApiDocument } from "./openapi.ts";
import {
  convertGraphqlSelectionToJsonSchema,
  type OpenApiSchemaComponents,
  getSelectedGraphqlFields,
  type JsonSchema,
} from "./json-schemas.ts";
import type { OpenedMesh } from "#mesh/open-mesh.ts";
import {
  eventEnvelopeSchema,
  eventTypeNames,
  getEventTypeSchemaConstraints,
  getEventObjectSchemaName,
  getEventTypeStability,
  eventSubjectTypes,
} from "#webhooks/event-catalogue.ts";
import { eventTypes, type EventSubjectType } from "#webhooks/event-types.ts";

/** The REST operations, and the OpenAPI document that describes them. */
export interface RestOperationsAndOpenApiDocument {
  /** The version of the service, as in package.json. */
  readonly version: string;
  readonly operations: readonly RestOperation[];
  /**
   * The OpenAPI 3.1 document with relative URLs; the public URL of the service is added when the document is
   * sent.
   */
  readonly document: Readonly<Record<string, unknown>>;
}

const schemaPrefix = "#/components/schemas/";

type DescribedMesh = Pick<OpenedMesh, "contractSchema" | "operations" | "events">;

/** The descriptions by their mesh, because several services of one process can share a mesh. */
const descriptions = new WeakMap<DescribedMesh, RestOperationsAndOpenApiDocument>();

/**
 * Returns the operations and the OpenAPI document of a mesh, which are built once. Throws an error if a
 * document in schema/operations is invalid, or a document in schema/events is missing.
 */
export function buildRestOperationsAndOpenApiDocument(mesh: DescribedMesh): RestOperationsAndOpenApiDocument {
  const known = descriptions.get(mesh);
  if (known !== undefined) return known;
  const described = describeMesh(mesh);
  descriptions.set(mesh, described);
  return described;
}

/**
 * Builds the operations and the OpenAPI document from the schema and the documents that GraphQL Mesh has
 * loaded.
 */
function describeMesh(mesh: DescribedMesh): RestOperationsAndOpenApiDocument {
  const { operations, components } = buildRestOperationsAndSchemas(mesh.contractSchema, mesh.operations);
  for (const subject of eventSubjectTypes)
    components.set(getEventObjectSchemaName(subject), objectSchema(mesh, subject, components));
  const events = eventTypeNames.map((name) => ({
    name,
    description: eventTypes[name].description,
    stability: getEventTypeStability(name),
    fixed: getEventTypeSchemaConstraints(name, schemaPrefix),
  }));
  return {
    version: apiVersion,
    operations,
    document: buildOpenApiDocument({
      operations,
      components,
      webhookEvents: { envelope: eventEnvelopeSchema, events },
    }),
  };
}

/**
 * Returns the JSON Schema of the object in a webhook body: either the complete object, or only its id. The
 * body has only the id if the webhook endpoint wants thin payloads, or if the complete object would make the
 * body too large.
 */
function objectSchema(
  mesh: DescribedMesh,
  subject: EventSubjectType,
  components: OpenApiSchemaComponents,
): JsonSchema {
  return { anyOf: [completeSchema(mesh, subject, components), idOnlySchema] };
}

const idOnlySchema: JsonSchema = {
  type: "object",
  description: "Only the id of the object.",
  properties: { id: { type: "string" } },
  required: ["id"],
  additionalProperties: false,
};

function completeSchema(
  { contractSchema, events }: DescribedMesh,
  subject: EventSubjectType,
  components: OpenApiSchemaComponents,
): JsonSchema {
  const definition = events.get(subject)?.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  const [node] = getSelectedGraphqlFields(definition?.selectionSet);
  const field = contractSchema.getQueryType()?.getFields()[node?.name.value ?? ""];
  if (node === undefined || field === undefined)
    throw new Error(`schema/events has no document named ${subject}.`);
  return convertGraphqlSelectionToJsonSchema(
    new GraphQLNonNull(getNullableType(field.type)),
    node.selectionSet,
    components,
  );
}
