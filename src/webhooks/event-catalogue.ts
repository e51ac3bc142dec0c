/**
 * The event catalogue for integrators: the description, the JSON schema and an example of every event type.
 * The JSON schema of an event type has two parts: a schema that the bodies of all event types share, and
 * constraints that apply only to this type.
 */
import { readFileSync } from "node:fs";
import { type EventType, eventTypes, type EventSubjectType } from "./event-types.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

export interface EventTypeView {
  readonly name: EventType;
  /**
   * The group of the event type: the part of its name before the dot, for example `order`. An endpoint that
   * subscribes to `order.*` receives all event types of this group.
   */
  readonly group: string;
  readonly description: string;
  readonly stability: "stable" | "candidate";
  readonly schemaVersion: number;
  readonly payloadSchema: JsonSchema;
  readonly example: JsonSchema;
  readonly deprecated: boolean;
}

/**
 * Subject types whose event bodies may still change, because the REST operations that return the same objects
 * have the stability `candidate`.
 */
const candidateSubjectTypes = new Set<EventSubjectType>([
  "cart",
  "order",
  "payment",
  "refund",
  "fulfillment",
  "return",
  "warranty",
]);

export const eventTypeNames = Object.keys(eventTypes) as readonly EventType[];
export const eventSubjectTypes: readonly EventSubjectType[] = [
  ...new Set(Object.values(eventTypes).map(({ subject }) => subject)),
];

const eventGroup = (name: EventType): string => name.split(".", 1).join("");

export const getEventTypeStability = (name: EventType): "stable" | "candidate" =>
  candidateSubjectTypes.has(eventTypes[name].subject) ? "candidate" : "stable";

/** Returns the name of a subject type's schema in the OpenAPI document, for example `ApiKeyEventObject`. */
export function getEventObjectSchemaName(subject: EventSubjectType): string {
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

/** The JSON schema of the body that all event types share. */
export const eventEnvelopeSchema: JsonSchema = {
  ...fixedObject({
    id: { ...idOf("evt"), description: "The event id; the same in every attempt and every replay." },
    type: { type: "string" },
    schemaVersion: { type: "integer", minimum: 1 },
    apiVersion: { const: "v1" },
    timestamp: { type: "string", format: "date-time", description: "The time of the event." },
    mode: { enum: ["live", "test"] },
    merchantId: idOf("mer"),
    subject: fixedObject({
      type: { type: "string" },
      id: { type: "string" },
      version: {
        type: "integer",
        minimum: 1,
        description:
          "Increases with every change of the subject. Ignore events with a version that is not greater " +
          "than the last processed one.",
      },
    }),
    data: fixedObject({
      object: { type: "object" },
      previous: {
        type: ["object", "null"],
        description: "The changed fields with their values before the change; null if there are none.",
      },
      truncated: {
        type: "boolean",
        description: "True if the object was too large for the body; `object` then contains only the id.",
      },
    }),
    cause: fixedObject({
      operationId: { type: ["string", "null"] },
      actor: { enum: ["api_key", "oauth_client", "buyer", "staff", "system"] },
      requestId: { type: ["string", "null"] },
    }),
  }),
  description: "The body of an event.",
};

/**
 * Returns the constraints that the JSON schema of an event type adds to the schema that all event types
 * share. `schemas` is the prefix of references to the schemas of objects, for example
 * `#/components/schemas/`.
 */
export function getEventTypeSchemaConstraints(name: EventType, schemas: string): JsonSchema {
  const { subject, schemaVersion } = eventTypes[name];
  return {
    properties: {
      type: { const: name },
      schemaVersion: { const: schemaVersion },
      subject: { properties: { type: { const: subject } } },
      data: { properties: { object: { $ref: `${schemas}${getEventObjectSchemaName(subject)}` } } },
    },
  };
}

const payloadSchemaOf = (name: EventType, schemas: string): JsonSchema =>
  mergeSchemas(eventEnvelopeSchema, getEventTypeSchemaConstraints(name, schemas));

/**
 * Merges the constraints of an event type into the properties of the JSON schema that all event types share,
 * also into nested properties.
 */
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

/** The file with the example object of each subject type, which `npm run generate` writes. */
const examplesFile = new URL("../../schema/event-examples.json", import.meta.url);

const catalogues = new Map<string, readonly EventTypeView[]>();

let exampleObjects: Readonly<Record<string, JsonSchema>> | undefined;
const readExampleObjects = (): Readonly<Record<string, JsonSchema>> =>
  (exampleObjects ??= JSON.parse(readFileSync(examplesFile, "utf8")) as Readonly<Record<string, JsonSchema>>);

/**
 * Returns the names of the fields of the object that events of a type are about. Events can report changes of
 * these fields.
 */
export const listEventObjectFields = (name: EventType): readonly string[] =>
  Object.keys(readExampleObjects()[eventTypes[name].subject] ?? {}).filter((field) => field !== "id");

/**
 * Returns all event types of the event catalogue. References in the JSON schemas are URLs that begin with
 * `publicUrl`.
 */
export function listEventCatalogue(publicUrl: string): readonly EventTypeView[] {
  const known = catalogues.get(publicUrl);
  if (known !== undefined) return known;
  const objects = readExampleObjects();
  const catalogue = eventTypeNames.map((name): EventTypeView => {
    const { subject, schemaVersion, description } = eventTypes[name];
    return {
      name,
      group: eventGroup(name),
      description,
      stability: getEventTypeStability(name),
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
    throw new Error(`schema/event-examples.json has no example of ${subject}. Run "npm run generate".`);
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
