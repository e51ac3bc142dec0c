/**
 * Builds the OpenAPI 3.1 document from the operations with which the gateway also validates and executes
 * requests, so the document always matches the behaviour of the API.
 */
import { createRequire } from "node:module";
import { idempotencyHeaderPattern } from "#database/idempotency.ts";
import type { RestOperation, RestParameter } from "./contract.ts";
import { errorBodySchema, errorResponseReferences, errorResponses } from "./openapi-errors.ts";
import {
  apiKeyOrOAuth,
  listErrorCodesOfOperation,
  listOpenApiRateLimits,
  toOpenApiRequiredScopeExtension,
  toOpenApiSecurityRequirements,
  openApiSecuritySchemes,
  toOpenApiWebhooks,
  type WebhookEventTypesDescription,
  webhookEventsTag,
} from "./openapi-parts.ts";
import type { OpenApiSchemaComponents, JsonSchema } from "./json-schemas.ts";

/** A part of the OpenAPI document, as a JSON object, that is not a JSON Schema. */
type Part = Readonly<Record<string, unknown>>;

const tagDescriptions: Readonly<Record<string, string>> = {
  Catalog: "Published products: lists, search and product details.",
  "Hosted checkout":
    "Checkout sessions. Each session lets a buyer check out one cart on a page that this service hosts.",
  "Storefront orders": "Orders of buyers, their cancellation, and their returns and warranties.",
  "Storefront carts": "Carts of buyers: their lines, addresses and promotions, and the end of a cart.",
  Webhooks: "The webhook endpoints of an installation, and the events that they receive.",
  Identity: "The owner of the credential, and whether its installation is ready for use.",
  OAuth: "Information with which clients obtain access tokens.",
};

export const { version: apiVersion } = createRequire(import.meta.url)("../../package.json") as {
  version: string;
};

/** The operations, schemas and webhook events from which the OpenAPI document is built. */
export interface OpenApiDocumentInput {
  readonly operations: readonly RestOperation[];
  readonly components: OpenApiSchemaComponents;
  readonly webhookEvents: WebhookEventTypesDescription;
}

/** Builds the OpenAPI document. The document has relative URLs, which `addPublicUrlToOpenApi` completes. */
export function buildOpenApiDocument({ operations, components, webhookEvents }: OpenApiDocumentInput): Part {
  const { webhooks, ...parts } = toOpenApiWebhooks(webhookEvents);
  const paths: Record<string, Record<string, Part>> = {};
  for (const operation of operations) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = toOperation(operation);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Commerce Gateway",
      version: apiVersion,
      summary: "The public API of a commerce platform.",
      description:
        "A successful answer is `{data}`, for lists `{data, meta}`; an error is `{error}`. An answer has " +
        "every documented field; a field without a value is null. Clients must ignore unknown fields and " +
        'treat unknown enum values as "other". Operations marked `stable` change only by additions ' +
        "within v1. Operations marked `candidate` may change with 30 days' notice.",
      license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
    },
    servers: [{ url: "/", description: "This service." }],
    externalDocs: {
      description: "The API reference, guides, and an explanation of every error code.",
      url: "/docs",
    },
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
        ...(operations.some(hasContentEtag) ? { ContentETag: contentEtagHeader } : {}),
        ...(operations.some(({ deprecation }) => deprecation !== null) ? deprecationHeaders : {}),
      },
      responses: errorResponses,
      schemas: {
        ...Object.fromEntries(components),
        ...answerSchemas(operations),
        ...bodySchemas(operations),
        ...parts.schemas,
        PublicErrorResponse: errorBodySchema,
      },
    },
  };
}

/** Returns whether the ETag of the operation's answers identifies their content and not the object's version. */
const hasContentEtag = ({ constantField, dependsOn }: RestOperation): boolean =>
  constantField !== null || dependsOn !== null;

function toOperation(operation: RestOperation): Part {
  const [summary = ""] = operation.description.split(/(?<=\.)\s|:\s/);
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: summary.replaceAll("\n", " "),
    description: operation.description,
    ...(operation.deprecation === null ? {} : { deprecated: true }),
    "x-stability": operation.stability,
    ...toOpenApiRequiredScopeExtension(operation.security),
    "x-idempotency": operation.isIdempotent ? "required" : "none",
    "x-rate-limits": listOpenApiRateLimits(operation),
    "x-error-codes": listErrorCodesOfOperation(operation),
    externalDocs: {
      description: "The reference of this operation, with examples.",
      url: `/docs/operations/${operation.id}`,
    },
    security: toOpenApiSecurityRequirements(operation.security),
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
        description: "The request succeeded.",
        headers: {
          "X-Request-Id": { $ref: "#/components/headers/RequestId" },
          "X-Api-Stability": { $ref: "#/components/headers/ApiStability" },
          ...(operation.isIdempotent
            ? { "Idempotent-Replayed": { $ref: "#/components/headers/IdempotentReplayed" } }
            : {}),
          ...(operation.versionField === null ? {} : { ETag: { $ref: "#/components/headers/ETag" } }),
          ...(hasContentEtag(operation) ? { ETag: { $ref: "#/components/headers/ContentETag" } } : {}),
          ...(operation.deprecation === null ? {} : deprecationHeaderReferences),
        },
        content: { "application/json": { schema: answerReference(operation) } },
      },
      ...errorResponseReferences,
    },
  };
}

function toParameter({ name, in: location, required, schema }: RestParameter): Part {
  const { description, ...rest } = schema;
  return {
    name,
    in: location,
    required,
    ...(description === undefined ? {} : { description }),
    schema: rest,
  };
}

const sharedSchemaName = "OperationResponse";

/**
 * Returns the schema of an operation's answer. Several operations refer to one common schema; the schema of
 * the operation's own `data` is added to the reference, so that generated clients know the fields of `data`.
 */
function answerReference({ response, answer }: RestOperation): Part {
  const reference = { $ref: `#/components/schemas/${response}` };
  return response === sharedSchemaName
    ? { allOf: [reference, { required: ["data"], properties: { data: answer.properties?.["data"] } }] }
    : reference;
}

function answerSchemas(operations: readonly RestOperation[]): Record<string, JsonSchema> {
  return Object.fromEntries(
    operations.map(({ response, answer }) => [
      response,
      response === sharedSchemaName
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
    "A key that makes retries safe: a second request with the same key and content changes nothing and " +
    'gets the stored first answer. 1 to 255 printable ASCII characters without spaces and without `" \\ ' +
    ", ;`; stored for 7 days. The same key in quotation marks counts as the same key.",
  schema: { type: "string", pattern: idempotencyHeaderPattern },
};

const requestIdHeader: Part = {
  description: "The id of the request. Include it in questions to support.",
  schema: { type: "string", pattern: "^req_[0-9a-hjkmnp-tv-z]{26}$" },
};
const stabilityHeader: Part = {
  description:
    "`stable`: the operation changes only by additions. `candidate`: it may change with 30 days' notice.",
  schema: { type: "string", enum: ["stable", "candidate"] },
};

const replayedHeader: Part = {
  description:
    "`true` if an earlier request with the same Idempotency-Key made the change. The body is then the " +
    "stored answer to that request, byte for byte.",
  schema: { type: "string", enum: ["true", "false"] },
};
const etagHeader: Part = {
  description:
    'The version of the object: `"v7"` is version 7. Requests do not need it; the service ignores ' +
    "`If-Match`.",
  schema: { type: "string", pattern: '^"v\\d+"$' },
};
const contentEtagHeader: Part = {
  description:
    "Identifies the content of the answer. A request with this value as `If-None-Match` gets 304 without a " +
    "body if the content is the same.",
  schema: { type: "string" },
};
const deprecationHeaders: Readonly<Record<string, Part>> = {
  Deprecation: {
    description: "The time from which the operation is deprecated (RFC 9745): `@` and Unix seconds.",
    schema: { type: "string", pattern: "^@\\d+$" },
  },
  Sunset: {
    description: "The time from which the operation may no longer answer (RFC 8594), as an HTTP date.",
    schema: { type: "string" },
  },
};
const deprecationHeaderReferences = Object.fromEntries(
  Object.keys(deprecationHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);
