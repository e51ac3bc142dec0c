/** The part of the OpenAPI document that says what the service sends by itself: each event with its body, its headers and what it is answered. */
import type { JsonSchema } from "./shapes.ts";

/** What is sent, as whoever knows the events describes it: the gateway does not. */
export interface EventDescription {
  readonly name: string;
  readonly description: string;
  readonly stability: "stable" | "candidate";
  /** What it fixes of the envelope. */
  readonly fixed: JsonSchema;
}

export interface WebhookDescription {
  /** The body of any event. */
  readonly envelope: JsonSchema;
  readonly events: readonly EventDescription[];
}

type Part = Readonly<Record<string, unknown>>;

interface WebhookParts {
  readonly webhooks: Readonly<Record<string, Part>>;
  readonly parameters: Readonly<Record<string, Part>>;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

const envelopeName = "WebhookEvent";
export const webhookTag = { name: "Events", description: "What is sent to webhook endpoints." } as const;

export function toWebhooks({ envelope, events }: WebhookDescription): WebhookParts {
  const parameters = Object.fromEntries(headers.map(([key, name, schema]) => [key, toHeader(name, schema)]));
  return {
    webhooks: Object.fromEntries(events.map((event) => [event.name, { post: toOperation(event) }])),
    parameters,
    schemas: { [envelopeName]: envelope },
  };
}

/** The first three are those of Standard Webhooks. */
const headers: readonly (readonly [string, string, JsonSchema])[] = [
  ["WebhookId", "webhook-id", { type: "string", description: "The event's id: the same in every attempt and replay." }],
  ["WebhookTimestamp", "webhook-timestamp", { type: "string", pattern: "^\\d+$", description: "When this attempt was made, in Unix seconds." }],
  [
    "WebhookSignature",
    "webhook-signature",
    { type: "string", description: "`v1,` and the signature in base64; while a secret is replaced two, with a space between them." },
  ],
  ["WebhookEventType", "webhook-event-type", { type: "string", description: "The event's type." }],
  ["WebhookDeliveryId", "webhook-delivery-id", { type: "string", description: "What is replayed by." }],
  ["WebhookInstallationId", "webhook-installation-id", { type: "string", description: "The installation that is told." }],
  ["WebhookAttempt", "webhook-attempt", { type: "integer", minimum: 1, maximum: 10, description: "Counts the attempts of the delivery." }],
  ["WebhookReplay", "webhook-replay", { type: "boolean", description: "Whether somebody had it sent once more." }],
];

function toHeader(name: string, { description, ...schema }: JsonSchema): Part {
  return { name, in: "header", required: true, description, schema };
}

function toOperation({ name, description, stability, fixed }: EventDescription): Part {
  return {
    operationId: `on_${name.replace(".", "_")}`,
    tags: [webhookTag.name],
    summary: name,
    description,
    "x-stability": stability,
    security: [{}],
    parameters: headers.map(([key]) => ({ $ref: `#/components/parameters/${key}` })),
    requestBody: {
      required: true,
      content: { "application/json": { schema: { allOf: [{ $ref: `#/components/schemas/${envelopeName}` }, fixed] } } },
    },
    responses: {
      "2XX": { description: "It has arrived." },
      410: { description: "Nothing is wanted here any more: the endpoint is switched off." },
    },
  };
}
