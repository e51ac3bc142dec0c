/** Puts the OpenAPI document together: the operations from their documents, and what is sent from the documents of events. */
import { readFileSync } from "node:fs";
import { type DocumentNode, getNullableType, GraphQLNonNull, type GraphQLSchema, Kind, parse } from "graphql";
import { type Operation, readContract } from "#gateway/contract.ts";
import { toOpenApi } from "#gateway/openapi.ts";
import { answerShape, type Components, fieldsOf, type JsonSchema } from "#gateway/shapes.ts";
import { respelledDocument } from "#gateway/spelling.ts";
import { envelopeSchema, eventNames, fixedByType, objectSchemaName, stabilityOf, subjectTypes } from "#webhooks/event-catalogue.ts";
import { eventTypes, type SubjectType } from "#webhooks/event-types.ts";

export interface ApiDescription {
  readonly operations: readonly Operation[];
  /** OpenAPI 3.1. */
  readonly document: Readonly<Record<string, unknown>>;
}

const schemas = "#/components/schemas/";

/** `schema` is the respelled one. Throws, naming the document, when one does not fit it. */
export function describeApi(schema: GraphQLSchema, documents: readonly DocumentNode[]): ApiDescription {
  const { operations, components } = readContract(schema, documents);
  for (const subject of subjectTypes) components.set(objectSchemaName(subject), objectSchema(schema, subject, components));
  const events = eventNames.map((name) => ({
    name,
    description: eventTypes[name].description,
    stability: stabilityOf(name),
    fixed: fixedByType(name, schemas),
  }));
  return { operations, document: toOpenApi({ operations, components, sent: { envelope: envelopeSchema, events } }) };
}

/** The whole thing, or its id alone: for who asked for no more, and where the body would be too large. */
function objectSchema(schema: GraphQLSchema, subject: SubjectType, components: Components): JsonSchema {
  return { anyOf: [wholeSchema(schema, subject, components), thinSchema] };
}

const thinSchema: JsonSchema = {
  type: "object",
  description: "Its id alone.",
  properties: { id: { type: "string" } },
  required: ["id"],
  additionalProperties: false,
};

function wholeSchema(schema: GraphQLSchema, subject: SubjectType, components: Components): JsonSchema {
  const file = new URL(`../schema/events/${subject}.graphql`, import.meta.url);
  const document = respelledDocument(parse(readFileSync(file, "utf8")));
  const definition = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  const [node] = fieldsOf(definition?.selectionSet);
  const field = schema.getQueryType()?.getFields()[node?.name.value ?? ""];
  if (node === undefined || field === undefined) throw new Error(`schema/events/${subject}.graphql asks for nothing.`);
  return answerShape(new GraphQLNonNull(getNullableType(field.type)), node.selectionSet, components);
}
