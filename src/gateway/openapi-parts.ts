/**
 * Builds parts of the OpenAPI document: the security schemes, the security, error codes and rate limits of
 * each operation, and the webhooks.
 */
import {
  oauthPaths,
  authorizationServerMetadataPath,
  tokenSigningAlgorithms,
} from "#access/authorization.ts";
import {
  type RateLimitBucket,
  rateLimitQuotas,
  scopeDescriptions,
  getPublicRateLimitBucketName,
} from "#access/viewer.ts";
import type { RestOperationSecurity } from "#mesh/operation-security.ts";
import { type FailureCode, failureKinds } from "#foundation/failure.ts";
import type { RestOperation } from "./contract.ts";
import type { JsonSchema } from "./json-schemas.ts";

type Requirement = Readonly<Record<string, readonly string[]>>;

const scopeList = Object.entries(scopeDescriptions)
  .map(([scope, meaning]) => `\`${scope}\`: ${meaning}`)
  .join(" ");

export const openApiSecuritySchemes = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "cpk_{live|test}_{id}_{secret}",
    description: `An API key of an installation, sent as \`Authorization: Bearer {key}\`. Scopes: ${scopeList}`,
  },
  oauth: {
    type: "oauth2",
    description: [
      "An access token of the authorization server.",
      `\`${authorizationServerMetadataPath}\` describes the server (RFC 8414).`,
      "Clients use the authorization code flow with PKCE S256.",
      "A token is bound to a key of the client (RFC 9449): each request sends `Authorization: DPoP {token}`",
      `and a new \`DPoP\` proof, signed with ${tokenSigningAlgorithms.join(" or ")}.`,
    ].join(" "),
    flows: {
      authorizationCode: {
        authorizationUrl: oauthPaths.authorization,
        tokenUrl: oauthPaths.token,
        refreshUrl: oauthPaths.token,
        scopes: scopeDescriptions,
      },
    },
  },
} as const;

/**
 * Returns the extension that names the scope of an operation. `none` means that a valid API key of any scope
 * is required. Operations that accept no API key, or need no credential, do not have the extension.
 */
export const toOpenApiRequiredScopeExtension = (
  security: RestOperationSecurity,
): { readonly "x-required-scope"?: string } =>
  security.kind === "api_key" ? { "x-required-scope": security.scope ?? "none" } : {};

/** The OpenAPI security requirements of operations that accept an API key or an OAuth access token. */
export const apiKeyOrOAuth: readonly Requirement[] = [{ apiKey: [] }, { oauth: [] }];

/**
 * Returns the OpenAPI security requirements of an operation; a caller needs to fulfil one of them. OpenAPI
 * 3.1 allows scopes for every kind of security scheme, so both credentials name the scope that they need.
 */
export function toOpenApiSecurityRequirements(security: RestOperationSecurity): readonly Requirement[] {
  if (security.kind === "anonymous") return [{}];
  const scopes = security.scope === null ? [] : [security.scope];
  return security.kind === "oauth" ? [{ oauth: scopes }] : [{ apiKey: scopes }, { oauth: scopes }];
}

/**
 * Lists the error codes that an operation can answer with, in the order of the failure registry. Errors that
 * every request can cause (405, 408, 431, 5xx) are left out.
 */
export function listErrorCodesOfOperation(operation: RestOperation): FailureCode[] {
  const codes = new Set<FailureCode>([
    "malformed_request",
    "unknown_parameter",
    // Operations without query parameters can answer `invalid_parameter` too, because a query string that
    // cannot be decoded is answered with this code.
    "invalid_parameter",
    ...parameterCodes(operation),
    ...bodyCodes(operation),
    ...credentialCodes(operation),
    ...(operation.isIdempotent ? idempotencyCodes : []),
    ...(operation.notFound === "route_not_found" ? [] : [operation.notFound]),
    ...operation.refusals,
    "rate_limited",
  ]);
  return (Object.keys(failureKinds) as FailureCode[]).filter((code) => codes.has(code));
}

const idempotencyCodes: readonly FailureCode[] = [
  "idempotency_key_required",
  "idempotency_key_invalid",
  "idempotency_key_reused",
  "idempotency_in_progress",
];

function parameterCodes({ parameters }: RestOperation): FailureCode[] {
  const query = parameters.filter((parameter) => parameter.in === "query");
  if (query.length === 0) return [];
  const has = (format: string): boolean => query.some(({ schema }) => schema["format"] === format);
  return [
    ...(query.some(({ required }) => required) ? (["missing_parameter"] as const) : []),
    ...(has("locale") ? (["invalid_locale"] as const) : []),
    ...(has("country-code") ? (["unknown_market"] as const) : []),
  ];
}

function bodyCodes({ body }: RestOperation): FailureCode[] {
  if (body === null) return ["unexpected_body"];
  const form: FailureCode[] = [
    "invalid_json",
    "unsupported_media_type",
    "request_too_large",
    "missing_body",
    "unknown_field",
    "invalid_field",
  ];
  return requiresField(body.schema) ? [...form, "missing_field"] : form;
}

const requiresField = ({ required = [] }: JsonSchema): boolean => required.length > 0;

function credentialCodes({ security }: RestOperation): FailureCode[] {
  if (security.kind === "anonymous") return [];
  const token: FailureCode[] = [
    "oauth_token_invalid",
    "oauth_token_expired",
    "dpop_proof_missing",
    "dpop_proof_invalid",
  ];
  const key: FailureCode[] =
    security.kind === "api_key" ? ["api_key_invalid", "api_key_expired", "api_key_revoked"] : [];
  const suspension: FailureCode[] = security.whileSuspended
    ? []
    : ["installation_suspended", "merchant_suspended"];
  const scope: FailureCode[] = security.scope === null ? [] : ["scope_missing"];
  return [
    "credentials_missing",
    "credentials_malformed",
    ...key,
    ...token,
    ...suspension,
    ...scope,
    "too_many_failed_attempts",
  ];
}

/** One rate limit of a REST operation in the form in which the OpenAPI document describes it. */
interface OpenApiRateLimit {
  readonly bucket: string;
  readonly quota: number;
  readonly windowSeconds: number;
  readonly counts: "requests" | "failures";
  /**
   * Says which requests share one counter: those with the same `credential`, of the same `installation` of an
   * app, or from the same network `address`. Any other text is the name of a path parameter; requests with
   * the same value of this parameter then share one counter.
   */
  readonly per: string;
}

/**
 * Returns an operation's rate limits with the default quotas of the code. A setting of the service can
 * multiply all quotas by a factor; the returned quotas are not multiplied.
 */
export function listOpenApiRateLimits({
  security,
  method,
  ownBucket,
  failureLimit,
}: RestOperation): OpenApiRateLimit[] {
  const limit = (bucket: RateLimitBucket, of: Pick<OpenApiRateLimit, "counts" | "per">): OpenApiRateLimit => {
    const { quota, windowSeconds } = rateLimitQuotas[bucket];
    return { bucket: getPublicRateLimitBucketName(bucket), quota, windowSeconds, ...of };
  };
  const keyed = limit(ownBucket ?? (method === "GET" ? "default" : "write"), {
    counts: "requests",
    per: ownBucket === null ? "credential" : "installation",
  });
  const failures =
    failureLimit === null
      ? []
      : [
          limit(failureLimit.bucket, { counts: "failures", per: failureLimit.by }),
          limit(failureLimit.credentialBucket, { counts: "failures", per: "credential" }),
        ];
  if (security.kind === "anonymous") return [limit(security.bucket, { counts: "requests", per: "address" })];
  return [keyed, ...failures];
}

/** One event type of webhooks in the form in which the OpenAPI document describes it. */
interface EventDescription {
  readonly name: string;
  readonly description: string;
  readonly stability: "stable" | "candidate";
  /**
   * JSON Schema of the fields of the webhook body that are specific to this event type; the other fields are
   * the same for all event types.
   */
  readonly fixed: JsonSchema;
}

/** The event types for which webhooks are sent, and the fields that the bodies of all webhooks have. */
export interface WebhookEventTypesDescription {
  /** JSON Schema of the fields that the webhook bodies of all event types have. */
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
export const webhookEventsTag = {
  name: "Events",
  description: "The events that the service sends to webhook endpoints.",
} as const;

/**
 * Builds the section `webhooks` of the OpenAPI document: for each event type, the headers and the schema of
 * the webhook body.
 */
export function toOpenApiWebhooks({ envelope, events }: WebhookEventTypesDescription): WebhookParts {
  const parameters = Object.fromEntries(headers.map(([key, name, schema]) => [key, toHeader(name, schema)]));
  return {
    webhooks: Object.fromEntries(events.map((event) => [event.name, { post: toOperation(event) }])),
    parameters,
    schemas: { [envelopeName]: envelope },
  };
}

/** The headers of a webhook request in the OpenAPI document. The first three are defined by Standard Webhooks. */
const headers: readonly (readonly [string, string, JsonSchema])[] = [
  [
    "WebhookId",
    "webhook-id",
    {
      type: "string",
      description: "The id of the event. Every attempt and replay of the event has the same id.",
    },
  ],
  [
    "WebhookTimestamp",
    "webhook-timestamp",
    {
      type: "string",
      pattern: "^\\d+$",
      description: "The time of this attempt, in seconds since 1970 (Unix time).",
    },
  ],
  [
    "WebhookSignature",
    "webhook-signature",
    {
      type: "string",
      description:
        "`v1,` and the signature in base64. During the replacement of a secret there are two signatures, " +
        "separated by a space.",
    },
  ],
  [
    "WebhookEventType",
    "webhook-event-type",
    { type: "string", description: "The type of the event, for example `order.placed`." },
  ],
  [
    "WebhookDeliveryId",
    "webhook-delivery-id",
    { type: "string", description: "The id of the delivery, with which the delivery can be replayed." },
  ],
  [
    "WebhookInstallationId",
    "webhook-installation-id",
    { type: "string", description: "The id of the installation that receives the event." },
  ],
  [
    "WebhookAttempt",
    "webhook-attempt",
    {
      type: "integer",
      minimum: 1,
      maximum: 10,
      description: "The number of this attempt of the delivery, beginning with 1.",
    },
  ],
  [
    "WebhookReplay",
    "webhook-replay",
    { type: "boolean", description: "True if the event is sent again because a replay was requested." },
  ],
];

function toHeader(name: string, { description, ...schema }: JsonSchema): Part {
  return { name, in: "header", required: true, description, schema };
}

function toOperation({ name, description, stability, fixed }: EventDescription): Part {
  return {
    operationId: `on_${name.replace(".", "_")}`,
    tags: [webhookEventsTag.name],
    summary: name,
    description,
    "x-stability": stability,
    security: [{}],
    parameters: headers.map(([key]) => ({ $ref: `#/components/parameters/${key}` })),
    requestBody: {
      required: true,
      content: {
        "application/json": { schema: { allOf: [{ $ref: `#/components/schemas/${envelopeName}` }, fixed] } },
      },
    },
    responses: {
      "2XX": { description: "The receiver accepted the event." },
      410: { description: "The receiver wants no more events: the service disables the endpoint." },
    },
  };
}
