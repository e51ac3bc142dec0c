/**
 * The part of the OpenAPI document about errors: one response for each HTTP status, and the schema of the
 * error body.
 */
import { type FailureCode, failureKinds } from "#foundation/failure.ts";
import type { JsonSchema } from "./json-schemas.ts";

type Part = Readonly<Record<string, unknown>>;

/**
 * Failure codes that only `/graphql`, `/mcp` and the downloads of export files answer. The REST API never
 * answers them.
 */
const graphqlOnlyCodes: ReadonlySet<string> = new Set<FailureCode>([
  "role_not_allowed",
  "origin_not_allowed",
  "resource_not_found",
  "trusted_document_not_found",
  "trusted_document_required",
  "version_conflict",
  "already_exists",
  "still_in_use",
  "invalid_state",
  "checkout_amount_changed",
  "export_limit_reached",
  "export_not_completed",
]);

const statuses = [400, 401, 403, 404, 409, 429] as const;

const meanings: Readonly<Record<(typeof statuses)[number], string>> = {
  400: "The request is not valid: a parameter, a header or the body breaks a rule.",
  401: "The credential is missing or not valid.",
  403: "The credential lacks the required scope, or its installation or merchant is suspended.",
  404: "The requested object does not exist, or is not visible to the caller.",
  409:
    "The request conflicts with the current state of the object, or with an earlier request with the " +
    "same idempotency key.",
  429:
    "A rate limit is used up. `retryAfterSeconds` is the number of seconds to wait before the next " +
    "attempt.",
};

function errorResponse(status: (typeof statuses)[number]): Part {
  const codes = Object.entries(failureKinds).flatMap(([code, kind]) =>
    kind.status === status && !graphqlOnlyCodes.has(code) ? [code] : [],
  );
  return {
    description: `${meanings[status]} Codes: ${codes.map((code) => `\`${code}\``).join(", ")}.`,
    headers: { "X-Request-Id": { $ref: "#/components/headers/RequestId" } },
    content: { "application/json": { schema: { $ref: "#/components/schemas/PublicErrorResponse" } } },
  };
}

const nullableText = (description: string): JsonSchema => ({ type: ["string", "null"], description });

/** JSON Schema of the body of every error answer. */
export const errorBodySchema: JsonSchema = {
  type: "object",
  description: "The body of every error answer. `code` is stable; `message` is for people and may change.",
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
          description: "The error code, for programs. It is stable; each status lists its codes.",
          examples: ["product_not_found"],
        },
        message: { type: "string", description: "The explanation of the error in English, for people." },
        requestId: { type: "string", description: "The id of the request, for questions to support." },
        retryable: {
          type: "boolean",
          description: "Whether the same request may succeed later without a change.",
        },
        retryAfterSeconds: {
          type: ["integer", "null"],
          description:
            "The number of seconds to wait before the next attempt; null if the time is not known.",
        },
        details: {
          type: "array",
          maxItems: 20,
          description:
            "The invalid fields. Headers, query and body are checked in this order; only the faults of " +
            "the first part with a fault are listed, at most 20.",
          items: {
            type: "object",
            required: ["in", "field", "code", "message", "allowed"],
            properties: {
              in: { type: "string", enum: ["path", "query", "header", "body", "limit"] },
              field: {
                type: "string",
                description:
                  "The name of the parameter or header, or a JSON Pointer (RFC 6901) to the field of the " +
                  "body.",
              },
              code: {
                type: "string",
                description: "The code of the rule that the field breaks.",
                examples: ["pattern_mismatch"],
              },
              message: { type: "string", description: "The broken rule in English, for people." },
              allowed: {
                type: ["array", "null"],
                items: { type: "string" },
                description:
                  "The allowed values if they are few, otherwise the most similar ones; null if neither is known.",
              },
            },
          },
        },
        conflict: {
          type: ["object", "null"],
          description:
            "For status 409, the object whose state conflicts with the request; null for other errors.",
          required: ["resource", "id", "currentStatus", "currentVersion", "reason", "data"],
          properties: {
            resource: { type: "string", description: "The kind of the object, for example `cart`." },
            id: nullableText("The id of the object; null if the conflict concerns no single object."),
            currentStatus: nullableText("The current status of the object; null if it has none."),
            currentVersion: {
              type: ["integer", "null"],
              description: "The current version of the object; null if it has none.",
            },
            reason: nullableText(
              "The reason for the conflict as a code; null if the error code says enough.",
            ),
            data: { type: "object", description: "Further values that depend on the reason." },
          },
        },
        docUrl: {
          type: "string",
          format: "uri",
          description: "The URL of the documentation of the error code.",
        },
      },
    },
  },
};

/** The responses for errors in the OpenAPI document (`components/responses`), by their name. */
export const errorResponses: Part = Object.fromEntries(
  statuses.map((status) => [`Error${status}`, errorResponse(status)]),
);

/**
 * References to the error responses of the OpenAPI document, by HTTP status. All of them are added to every
 * operation.
 */
export const errorResponseReferences: Part = Object.fromEntries(
  statuses.map((status) => [status, { $ref: `#/components/responses/Error${status}` }]),
);
