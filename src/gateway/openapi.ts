/** The OpenAPI 3.1 document of the operations: made from what is enforced, so that the two cannot differ. */
import { createRequire } from "node:module";
import { type FailureCode, failureKinds } from "#foundation/failure.ts";
import { idempotencyHeaderPattern } from "#database/idempotency.ts";
import type { RestOperation, RestParameter } from "./contract.ts";
import {
  apiKeyOrOAuth,
  listErrorCodes,
  describeRateLimits,
  getRequiredScopeName,
  toOpenApiSecurity,
  openApiSecuritySchemes,
  toOpenApiWebhooks,
  type WebhookEventsDescription,
  webhookEventsTag,
} from "./openapi-parts.ts";
import type { SchemaComponents, JsonSchema } from "./json-schemas.ts";

/** Codes that only the graph gives. */
const graphOnly = new Set<FailureCode>([
  "role_not_allowed",
  "resource_not_found",
  "version_conflict",
  "already_exists",
  "still_in_use",
  "invalid_state",
  "checkout_amount_changed",
]);

/** A part of the document that is no schema. */
type Part = Readonly<Record<string, unknown>>;

const statuses = [400, 401, 403, 404, 409, 429] as const;

const meanings: Readonly<Record<(typeof statuses)[number], string>> = {
  400: "The request does not match the public contract.",
  401: "Authentication failed.",
  403: "The key lacks the required authorization scope.",
  404: "The public resource is not found.",
  409: "Idempotency conflict or state conflict.",
  429: "Rate limited. `retryAfterSeconds` says when to try again.",
};

const tagDescriptions: Readonly<Record<string, string>> = {
  Catalog: "Published products: lists, search and product pages.",
  "Hosted checkout": "Checkouts on the hosted page, each of one cart.",
  "Storefront orders":
    "What buyers have bought, what may still be canceled of it, and what may be sent back.",
  "Storefront carts": "What buyers are about to buy: addresses, promotions, and the end of a cart.",
  Webhooks: "Where an installation is told of what happens.",
  Identity: "Whose credential this is, and whether its installation is ready.",
  OAuth: "How clients get access tokens.",
};

const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };

export interface OpenApiInput {
  readonly operations: readonly RestOperation[];
  readonly components: SchemaComponents;
  readonly sent: WebhookEventsDescription;
}

export function toOpenApi({ operations, components, sent }: OpenApiInput): Part {
  const { webhooks, ...parts } = toOpenApiWebhooks(sent);
  const paths: Record<string, Record<string, Part>> = {};
  for (const operation of operations) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = toOperation(operation);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Commerce Gateway",
      version,
      summary: "A commerce platform's public API.",
      description:
        'Success is `{data}` (lists: `{data, meta}`), an error `{error}`. Answers never leave out a documented field: what is not there is null. Clients ignore fields they do not know and take unknown enum values for "other". Operations marked `stable` change only by additions within v1; those marked `candidate` may change with 30 days\' notice.',
      license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
    },
    servers: [{ url: "/", description: "This service." }],
    externalDocs: { description: "The reference to read, guides, and what every error means.", url: "/docs" },
    tags: [
      ...[...new Set(operations.map(({ tag }) => tag))].map((name) => ({
        name,
        description: tagDescriptions[name] ?? name,
      })),
      webhookEventsTag,
    ],
    security: apiKeyOrOAuth,
    paths,
    webhooks,
    components: {
      securitySchemes: openApiSecuritySchemes,
      parameters: {
        ...(operations.some(({ isIdempotent }) => isIdempotent) ? { IdempotencyKey: idempotencyKey } : {}),
        ...parts.parameters,
      },
      headers: {
        RequestId: requestIdHeader,
        ApiStability: stabilityHeader,
        ...(operations.some(({ isIdempotent }) => isIdempotent)
          ? { IdempotentReplayed: replayedHeader }
          : {}),
        ...(operations.some(({ versionField }) => versionField !== null) ? { ETag: etagHeader } : {}),
      },
      responses: Object.fromEntries(statuses.map((status) => [`Error${status}`, errorResponse(status)])),
      schemas: {
        ...Object.fromEntries(components),
        ...answerSchemas(operations),
        ...bodySchemas(operations),
        ...parts.schemas,
        PublicErrorResponse: errorSchema,
      },
    },
  };
}

function toOperation(operation: RestOperation): Part {
  const [summary = ""] = operation.description.split(/(?<=\.)\s|:\s/);
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: summary.replaceAll("\n", " "),
    description: operation.description,
    "x-stability": operation.stability,
    "x-required-scope": getRequiredScopeName(operation.security),
    "x-idempotency": operation.isIdempotent ? "required" : "none",
    "x-rate-limits": describeRateLimits(operation),
    "x-error-codes": listErrorCodes(operation),
    externalDocs: { description: "With examples.", url: `/docs/operations/${operation.id}` },
    security: toOpenApiSecurity(operation.security),
    parameters: [
      ...operation.parameters.map(toParameter),
      ...(operation.isIdempotent ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
    ],
    ...(operation.body === null
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              "application/json": { schema: { $ref: `#/components/schemas/${operation.body.name}` } },
            },
          },
        }),
    responses: {
      200: {
        description: "Success.",
        headers: {
          "X-Request-Id": { $ref: "#/components/headers/RequestId" },
          "X-Api-Stability": { $ref: "#/components/headers/ApiStability" },
          ...(operation.isIdempotent
            ? { "Idempotent-Replayed": { $ref: "#/components/headers/IdempotentReplayed" } }
            : {}),
          ...(operation.versionField === null ? {} : { ETag: { $ref: "#/components/headers/ETag" } }),
        },
        content: { "application/json": { schema: answerReference(operation) } },
      },
      ...Object.fromEntries(
        statuses.map((status) => [status, { $ref: `#/components/responses/Error${status}` }]),
      ),
    },
  };
}

function toParameter({ name, in: place, required, schema }: RestParameter): Part {
  const { description, ...rest } = schema;
  return { name, in: place, required, ...(description === undefined ? {} : { description }), schema: rest };
}

const shared = "OperationResponse";

/**
 * The operations that share one response schema say beside it what is in their `data`, so that generated
 * clients see its fields.
 */
function answerReference({ response, answer }: RestOperation): Part {
  const reference = { $ref: `#/components/schemas/${response}` };
  return response === shared
    ? { allOf: [reference, { required: ["data"], properties: { data: answer.properties?.["data"] } }] }
    : reference;
}

function answerSchemas(operations: readonly RestOperation[]): Record<string, JsonSchema> {
  return Object.fromEntries(
    operations.map(({ response, answer }) => [
      response,
      response === shared
        ? { type: "object", properties: { data: { type: "object" } }, required: ["data"] }
        : answer,
    ]),
  );
}

function bodySchemas(operations: readonly RestOperation[]): Record<string, JsonSchema> {
  return Object.fromEntries(
    operations.flatMap(({ body }) => (body === null ? [] : [[body.name, body.schema]])),
  );
}

const idempotencyKey: Part = {
  name: "Idempotency-Key",
  in: "header",
  required: true,
  description:
    'Makes a change happen once, however often it is sent: 1 to 255 printable ASCII characters without blanks and `" \\ , ;`, kept for 7 days. In quotes it is the same key.',
  schema: { type: "string", pattern: idempotencyHeaderPattern },
};

const requestIdHeader: Part = {
  description: "The request's id; name it when you ask for help.",
  schema: { type: "string", pattern: "^req_[0-9a-hjkmnp-tv-z]{26}$" },
};
const stabilityHeader: Part = {
  description: "Whether the operation may still change.",
  schema: { type: "string", enum: ["stable", "candidate"] },
};

const replayedHeader: Part = {
  description:
    "Whether an earlier request with this Idempotency-Key had the effect; the body is that request's, byte for byte.",
  schema: { type: "string", enum: ["true", "false"] },
};
const etagHeader: Part = {
  description: 'The version: `"v7"` is version 7. For information.',
  schema: { type: "string", pattern: '^"v\\d+"$' },
};

function errorResponse(status: (typeof statuses)[number]): Part {
  const codes = Object.entries(failureKinds).flatMap(([code, kind]) =>
    kind.status === status && !graphOnly.has(code as FailureCode) ? [code] : [],
  );
  return {
    description: `${meanings[status]} Codes: ${codes.map((code) => `\`${code}\``).join(", ")}.`,
    headers: { "X-Request-Id": { $ref: "#/components/headers/RequestId" } },
    content: { "application/json": { schema: { $ref: "#/components/schemas/PublicErrorResponse" } } },
  };
}

const nullableText: JsonSchema = { type: ["string", "null"] };

const errorSchema: JsonSchema = {
  type: "object",
  description: "What went wrong. `code` is stable; `message` is for people and may change.",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: [
        "code",
        "message",
        "requestId",
        "retryable",
        "retryAfterSeconds",
        "details",
        "conflict",
        "docUrl",
      ],
      properties: {
        code: {
          type: "string",
          description: "Stable, for programs. The codes of each status stand with it.",
          examples: ["product_not_found"],
        },
        message: { type: "string", description: "English, for people." },
        requestId: { type: "string", description: "The request's id." },
        retryable: { type: "boolean", description: "Whether the same request may succeed later, unchanged." },
        retryAfterSeconds: {
          type: ["integer", "null"],
          description: "How long to wait before trying again.",
        },
        details: {
          type: "array",
          maxItems: 20,
          description: "Every fault of the first group (headers, query, body) that has one.",
          items: {
            type: "object",
            required: ["in", "field", "code", "message", "allowed"],
            properties: {
              in: { type: "string", enum: ["path", "query", "header", "body", "limit"] },
              field: {
                type: "string",
                description: "A parameter's name, or a JSON Pointer (RFC 6901) into the body.",
              },
              code: {
                type: "string",
                description: "The rule that is broken.",
                examples: ["pattern_mismatch"],
              },
              message: { type: "string" },
              allowed: {
                type: ["array", "null"],
                items: { type: "string" },
                description: "What would be allowed, where that is short.",
              },
            },
          },
        },
        conflict: {
          type: ["object", "null"],
          description: "For 409: what stands in the way.",
          required: ["resource", "id", "currentStatus", "currentVersion", "reason", "data"],
          properties: {
            resource: { type: "string" },
            id: nullableText,
            currentStatus: nullableText,
            currentVersion: { type: ["integer", "null"] },
            reason: nullableText,
            data: { type: "object" },
          },
        },
        docUrl: { type: "string", format: "uri", description: "Where the code is explained." },
      },
    },
  },
};
