/**
 * Parts of the OpenAPI document that are the same for all operations: security schemes, failures, rate
 * limits, and webhooks.
 */
import {
  oauthPaths,
  authorizationServerMetadataPath,
  tokenSigningAlgorithms,
} from "#access/authorization.ts";
import { type RateBucket, rateQuotas, scopeDescriptions, publicBucketName } from "#access/viewer.ts";
import type { OperationSecurity } from "#mesh/operation-security.ts";
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
    description: `An API key of an installation. Scopes: ${scopeList}`,
  },
  oauth: {
    type: "oauth2",
    description: `An access token of the authorization server, which \`${authorizationServerMetadataPath}\` describes (RFC 8414): authorization code with PKCE S256. Tokens are bound to a key of the client: they are sent as \`Authorization: DPoP {token}\` beside a \`DPoP\` proof of ${tokenSigningAlgorithms.join(" or ")}, a new one for each request (RFC 9449).`,
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

export const getRequiredScopeName = (security: OperationSecurity): string =>
  security.kind === "anonymous" ? "none" : (security.scope ?? "none");

/** One of them will do. */
export const apiKeyOrOAuth: readonly Requirement[] = [{ apiKey: [] }, { oauth: [] }];

export function toOpenApiSecurity(security: OperationSecurity): readonly Requirement[] {
  if (security.kind === "anonymous") return [{}];
  const oauth = { oauth: security.scope === null ? [] : [security.scope] };
  return security.kind === "oauth" ? [oauth] : [{ apiKey: [] }, oauth];
}

/**
 * In the registry's order; statuses outside of the contract (405, 408, 431, 5xx) may come of anything and are
 * left out.
 */
export function listErrorCodes(operation: RestOperation): FailureCode[] {
  const codes = new Set<FailureCode>([
    "malformed_request",
    "unknown_parameter",
    // Of a query that cannot be read, also where none is known.
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

/** The part of the OpenAPI document that says how often an operation may be called. */
interface OpenApiRateLimit {
  readonly bucket: string;
  readonly quota: number;
  readonly windowSeconds: number;
  readonly counts: "requests" | "failures";
  /**
   * Whose they are: a credential's, an installation's, an address's, or those of a path parameter by its
   * name.
   */
  readonly per: string;
}

/** As they are unless whoever runs the service has scaled them. */
export function describeRateLimits({
  security,
  method,
  ownBucket,
  failureLimit,
}: RestOperation): OpenApiRateLimit[] {
  const limit = (bucket: RateBucket, of: Pick<OpenApiRateLimit, "counts" | "per">): OpenApiRateLimit => {
    const { quota, windowSeconds } = rateQuotas[bucket];
    return { bucket: publicBucketName(bucket), quota, windowSeconds, ...of };
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

/** What is sent, as whoever knows the events describes it: the gateway does not. */
interface EventDescription {
  readonly name: string;
  readonly description: string;
  readonly stability: "stable" | "candidate";
  /** What it fixes of the envelope. */
  readonly fixed: JsonSchema;
}

export interface WebhookEventsDescription {
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
export const webhookEventsTag = {
  name: "Events",
  description: "What is sent to webhook endpoints.",
} as const;

export function toOpenApiWebhooks({ envelope, events }: WebhookEventsDescription): WebhookParts {
  const parameters = Object.fromEntries(headers.map(([key, name, schema]) => [key, toHeader(name, schema)]));
  return {
    webhooks: Object.fromEntries(events.map((event) => [event.name, { post: toOperation(event) }])),
    parameters,
    schemas: { [envelopeName]: envelope },
  };
}

/** The first three are those of Standard Webhooks. */
const headers: readonly (readonly [string, string, JsonSchema])[] = [
  [
    "WebhookId",
    "webhook-id",
    { type: "string", description: "The event's id: the same in every attempt and replay." },
  ],
  [
    "WebhookTimestamp",
    "webhook-timestamp",
    { type: "string", pattern: "^\\d+$", description: "When this attempt was made, in Unix seconds." },
  ],
  [
    "WebhookSignature",
    "webhook-signature",
    {
      type: "string",
      description:
        "`v1,` and the signature in base64; while a secret is replaced two, with a space between them.",
    },
  ],
  ["WebhookEventType", "webhook-event-type", { type: "string", description: "The event's type." }],
  ["WebhookDeliveryId", "webhook-delivery-id", { type: "string", description: "What is replayed by." }],
  [
    "WebhookInstallationId",
    "webhook-installation-id",
    { type: "string", description: "The installation that is told." },
  ],
  [
    "WebhookAttempt",
    "webhook-attempt",
    { type: "integer", minimum: 1, maximum: 10, description: "Counts the attempts of the delivery." },
  ],
  [
    "WebhookReplay",
    "webhook-replay",
    { type: "boolean", description: "Whether somebody had it sent once more." },
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
      "2XX": { description: "It has arrived." },
      410: { description: "Nothing is wanted here any more: the endpoint is switched off." },
    },
  };
}
