/**
 * Puts the OpenAPI document together: the operations from their documents, and what is sent from the
 * documents of events.
 */
import { getNullableType, GraphQLNonNull, Kind } from "graphql";
import { type RestOperation, readRestContract } from "./contract.ts";
import { toOpenApi } from "./openapi.ts";
import { toAnswerSchema, type SchemaComponents, getSelectedFields, type JsonSchema } from "./json-schemas.ts";
import type { Mesh } from "#mesh/open-mesh.ts";
import {
  envelopeSchema,
  eventNames,
  fixedByType,
  objectSchemaName,
  stabilityOf,
  subjectTypes,
} from "#webhooks/event-catalogue.ts";
import { eventTypes, type SubjectType } from "#webhooks/event-types.ts";

export interface ApiDescription {
  readonly operations: readonly RestOperation[];
  /** OpenAPI 3.1. */
  readonly document: Readonly<Record<string, unknown>>;
}

const schemas = "#/components/schemas/";

type DescribedMesh = Pick<Mesh, "contractSchema" | "operations" | "events">;

/** Throws, with the document's name, if a document does not fit. */
export function describeApi(mesh: DescribedMesh): ApiDescription {
  const { operations, components } = readRestContract(mesh.contractSchema, mesh.operations);
  for (const subject of subjectTypes)
    components.set(objectSchemaName(subject), objectSchema(mesh, subject, components));
  const events = eventNames.map((name) => ({
    name,
    description: eventTypes[name].description,
    stability: stabilityOf(name),
    fixed: fixedByType(name, schemas),
  }));
  return {
    operations,
    document: toOpenApi({ operations, components, sent: { envelope: envelopeSchema, events } }),
  };
}

/** The whole thing, or its id alone: for who asked for no more, and where the body would be too large. */
function objectSchema(mesh: DescribedMesh, subject: SubjectType, components: SchemaComponents): JsonSchema {
  return { anyOf: [wholeSchema(mesh, subject, components), thinSchema] };
}

const thinSchema: JsonSchema = {
  type: "object",
  description: "Its id alone.",
  properties: { id: { type: "string" } },
  required: ["id"],
  additionalProperties: false,
};

function wholeSchema(
  { contractSchema, events }: DescribedMesh,
  subject: SubjectType,
  components: SchemaComponents,
): JsonSchema {
  const definition = events.get(subject)?.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  const [node] = getSelectedFields(definition?.selectionSet);
  const field = contractSchema.getQueryType()?.getFields()[node?.name.value ?? ""];
  if (node === undefined || field === undefined)
    throw new Error(`schema/events has no document named ${subject}.`);
  return toAnswerSchema(new GraphQLNonNull(getNullableType(field.type)), node.selectionSet, components);
}
