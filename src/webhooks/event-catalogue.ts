/**
 * What integrators read of the events: what each is about, what its body looks like, and an example. Every
 * body is the same envelope around the document of a thing, so that a type's schema is the envelope with what
 * the type fixes.
 */
import { readFileSync } from "node:fs";
import { type EventType, eventTypes, type SubjectType } from "./event-types.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

export interface EventTypeView {
  readonly name: EventType;
  /** What stands before the dot: endpoints listen to `group.*`. */
  readonly group: string;
  readonly description: string;
  readonly stability: "stable" | "candidate";
  readonly schemaVersion: number;
  readonly payloadSchema: JsonSchema;
  readonly example: JsonSchema;
  readonly deprecated: boolean;
}

/** Their documents are those of operations that may still change. */
const candidateSubjectTypes = new Set<SubjectType>([
  "cart",
  "order",
  "payment",
  "refund",
  "fulfillment",
  "return",
  "warranty",
]);

export const eventTypeNames = Object.keys(eventTypes) as readonly EventType[];
export const subjectTypes: readonly SubjectType[] = [
  ...new Set(Object.values(eventTypes).map(({ subject }) => subject)),
];

const eventGroup = (name: EventType): string => name.split(".", 1).join("");

export const eventTypeStability = (name: EventType): "stable" | "candidate" =>
  candidateSubjectTypes.has(eventTypes[name].subject) ? "candidate" : "stable";

/** What the document of a kind of thing is called in the OpenAPI document. */
export function eventObjectSchemaName(subject: SubjectType): string {
  const words = subject.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join("")}EventObject`;
}

const idOf = (prefix: string): JsonSchema => ({
  type: "string",
  pattern: `^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`,
});
const fixedObject = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: "object",
  required: Object.keys(properties),
  properties,
});

/** The body of any event. */
export const eventEnvelopeSchema: JsonSchema = {
  ...fixedObject({
    id: { ...idOf("evt"), description: "The same in every attempt and replay." },
    type: { type: "string" },
    schemaVersion: { type: "integer", minimum: 1 },
    apiVersion: { const: "v1" },
    timestamp: { type: "string", format: "date-time", description: "When it happened." },
    mode: { enum: ["live", "test"] },
    merchantId: idOf("mer"),
    subject: fixedObject({
      type: { type: "string" },
      id: { type: "string" },
      version: {
        type: "integer",
        minimum: 1,
        description: "Rises: drop what is not above the one you have.",
      },
    }),
    data: fixedObject({
      object: { type: "object" },
      previous: { type: ["object", "null"], description: "The fields that changed, as they were." },
      truncated: { type: "boolean", description: "Too large for one body: only the id is there." },
    }),
    cause: fixedObject({
      operationId: { type: ["string", "null"] },
      actor: { enum: ["api_key", "oauth_client", "buyer", "staff", "system"] },
      requestId: { type: ["string", "null"] },
    }),
  }),
  description: "What is sent of an event.",
};

/** What a type fixes in it. `schemas` is where the documents of things are described. */
export function eventTypeConstraints(name: EventType, schemas: string): JsonSchema {
  const { subject, schemaVersion } = eventTypes[name];
  return {
    properties: {
      type: { const: name },
      schemaVersion: { const: schemaVersion },
      subject: { properties: { type: { const: subject } } },
      data: { properties: { object: { $ref: `${schemas}${eventObjectSchemaName(subject)}` } } },
    },
  };
}

const payloadSchemaOf = (name: EventType, schemas: string): JsonSchema =>
  mergeSchemas(eventEnvelopeSchema, eventTypeConstraints(name, schemas));

/** Both in one. */
function mergeSchemas(schema: JsonSchema, by: JsonSchema): JsonSchema {
  const properties = schema["properties"] as Readonly<Record<string, JsonSchema>> | undefined;
  const fixed = by["properties"] as Readonly<Record<string, JsonSchema>> | undefined;
  if (properties === undefined || fixed === undefined) return by;
  const entries = Object.entries(properties).map(([name, property]) => [
    name,
    mergeSchemas(property, fixed[name] ?? property),
  ]);
  return { ...schema, properties: Object.fromEntries(entries) as JsonSchema };
}

/** Made from the schemas by `npm run generate`. */
const examplesFile = new URL("../../schema/event-examples.json", import.meta.url);

const catalogues = new Map<string, readonly EventTypeView[]>();

/** All types. `publicUrl` is where the service is reached: the schemas point there. */
export function eventCatalogue(publicUrl: string): readonly EventTypeView[] {
  const known = catalogues.get(publicUrl);
  if (known !== undefined) return known;
  const objects = JSON.parse(readFileSync(examplesFile, "utf8")) as Readonly<Record<string, JsonSchema>>;
  const catalogue = eventTypeNames.map((name): EventTypeView => {
    const { subject, schemaVersion, description } = eventTypes[name];
    return {
      name,
      group: eventGroup(name),
      description,
      stability: eventTypeStability(name),
      schemaVersion,
      payloadSchema: payloadSchemaOf(name, `${publicUrl}/openapi.json#/components/schemas/`),
      example: exampleOf(name, objects[subject]),
      deprecated: false,
    };
  });
  catalogues.set(publicUrl, catalogue);
  return catalogue;
}

function exampleOf(name: EventType, object: JsonSchema | undefined): JsonSchema {
  const { subject, schemaVersion } = eventTypes[name];
  if (object === undefined)
    throw new Error(`schema/event-examples.json has no ${subject}: npm run generate makes it.`);
  const version = typeof object["version"] === "number" ? object["version"] : 1;
  return {
    id: "evt_01kg9qzkm0exampe00000000ev",
    type: name,
    schemaVersion,
    apiVersion: "v1",
    timestamp: "2026-01-31T09:15:00.000Z",
    mode: "live",
    merchantId: "mer_01kg9qzkm0exampe00000000mr",
    subject: { type: subject, id: object["id"], version },
    data: { object, previous: null, truncated: false },
    cause: { operationId: null, actor: "system", requestId: null },
  };
}
