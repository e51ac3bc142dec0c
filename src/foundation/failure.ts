/**
 * All failures that the API can answer, with their codes, HTTP statuses and public texts. Domain code throws
 * `createFailure("cart_locked", …)`. REST and GraphQL each convert failures to answers in one place. Every
 * other thrown error is a bug of this service: the caller gets `internal_error`, and the log has the
 * details.
 */
export interface FailureDefinition {
  readonly status: number;
  readonly text: string;
  /** True if the same, unchanged request may succeed later. */
  readonly retryable?: true;
}

const bad = (text: string): FailureDefinition => ({ status: 400, text });
const unauthenticated = (text: string): FailureDefinition => ({ status: 401, text });
const missing = (text: string): FailureDefinition => ({ status: 404, text });
const conflict = (text: string): FailureDefinition => ({ status: 409, text });
const later = (status: number, text: string): FailureDefinition => ({ status, text, retryable: true });

export const failureKinds = {
  malformed_request: bad("The request could not be understood."),
  invalid_json: bad("The body is not valid JSON in UTF-8."),
  unsupported_media_type: bad("The body must be sent as application/json."),
  request_too_large: bad("The request is larger than this operation allows."),
  unexpected_body: bad("This operation does not accept a body."),
  missing_body: bad("This operation needs a body."),
  unknown_field: bad("The body has a field that this operation does not know."),
  unknown_parameter: bad("The request has a parameter that this operation does not know."),
  missing_parameter: bad("A required parameter is missing."),
  invalid_parameter: bad("A parameter breaks its rule."),
  invalid_field: bad("A field of the body breaks its rule."),
  missing_field: bad("A required field of the body is missing."),
  idempotency_key_required: bad("This operation needs an Idempotency-Key header."),
  idempotency_key_invalid: bad("The Idempotency-Key is not well-formed."),
  page_window_exceeded: bad("page × pageSize must be 10 000 or less."),
  invalid_locale: bad("The locale is not a well-formed BCP 47 tag."),
  unknown_market: bad("The market is not a country code of ISO 3166-1."),
  address_invalid: bad("The address breaks the rules of its country."),
  webhook_url_not_allowed: bad("The URL is not allowed for webhooks."),
  unknown_event_type: bad("The event type is not in the catalogue."),

  credentials_missing: unauthenticated("This operation needs credentials in the Authorization header."),
  credentials_malformed: unauthenticated("The Authorization header is not well-formed."),
  api_key_invalid: unauthenticated("The API key is not valid."),
  api_key_expired: unauthenticated("The API key has expired."),
  api_key_revoked: unauthenticated("The API key was revoked."),
  installation_suspended: unauthenticated("The installation is suspended."),
  merchant_suspended: unauthenticated("The merchant is suspended."),
  oauth_token_invalid: unauthenticated("The access token is not valid."),
  oauth_token_expired: unauthenticated("The access token has expired."),
  dpop_proof_missing: unauthenticated("The DPoP proof is missing."),
  dpop_proof_invalid: unauthenticated("The DPoP proof is not valid."),

  scope_missing: { status: 403, text: "The credential lacks the scope that this operation needs." },
  origin_not_allowed: { status: 403, text: "The Origin or Host header of the request is not allowed." },
  role_not_allowed: { status: 403, text: "The token's role may not do this." },
  trusted_document_required: { status: 403, text: "This internal token may run only trusted documents." },

  route_not_found: missing(
    "No route has this path. Paths of the REST API begin with /api/v1/; /docs lists them.",
  ),
  cart_not_found: missing("There is no such cart."),
  order_not_found: missing("There is no such order."),
  checkout_session_not_found: missing("There is no such checkout session."),
  webhook_endpoint_not_found: missing("There is no such webhook endpoint."),
  webhook_delivery_not_found: missing("There is no such webhook delivery."),
  merchant_not_found: missing("There is no such merchant."),
  product_not_found: missing("There is no such product."),
  promotion_code_not_found: missing("There is no such promotion code."),
  resource_not_found: missing("No object has this id."),
  trusted_document_not_found: missing("The merchant has no trusted document with this hash."),

  idempotency_key_reused: conflict("The Idempotency-Key was used for another request. Use a new key."),
  idempotency_in_progress: later(409, "A request with this Idempotency-Key is still running."),
  cart_version_conflict: conflict("The cart has another version than expected."),
  cart_locked: later(409, "The cart is locked by its checkout."),
  cart_completed: conflict("The cart has become an order."),
  cart_revoked: conflict("The cart was revoked."),
  cart_expired: conflict("The cart has expired."),
  cart_merged: conflict("The cart was merged into another."),
  cart_empty: conflict("The cart has no lines."),
  address_market_mismatch: conflict("The address lies outside the cart's market."),
  promotion_not_applicable: conflict("The promotion does not apply to the cart."),
  promotion_already_applied: conflict("The cart already has a promotion code."),
  promotion_not_present: conflict("The cart has no promotion code."),
  checkout_session_processing: later(409, "The checkout session's payment is being processed."),
  checkout_session_completed: conflict("The checkout session is completed."),
  checkout_session_canceled: conflict("The checkout session is canceled."),
  checkout_session_expired: conflict("The checkout session has expired."),
  checkout_session_version_conflict: conflict("The checkout session has another version than expected."),
  checkout_amount_changed: conflict("The amount differs from the one the buyer confirmed."),
  webhook_endpoint_duplicate: conflict("The installation has an endpoint with this URL."),
  webhook_endpoint_limit_reached: conflict("The installation has the maximum number of endpoints."),
  webhook_endpoint_disabled: conflict("The endpoint is not enabled."),
  delivery_in_progress: later(409, "The delivery is in progress."),
  delivery_already_succeeded: conflict("The delivery has succeeded; send force: true to replay it."),
  delivery_payload_expired: conflict("The delivery's payload is no longer stored."),
  delivery_replay_limit_reached: conflict("The delivery was replayed the maximum number of times."),
  export_limit_reached: later(409, "The merchant has the maximum number of exports."),
  export_not_completed: later(409, "The file of the export is not complete."),
  version_conflict: conflict("The object has another version than expected."),
  already_exists: conflict("The object already exists."),
  still_in_use: conflict("The object is still in use."),
  invalid_state: conflict("The object's state does not allow this change."),

  rate_limited: later(429, "Too many requests."),
  too_many_failed_attempts: later(429, "Too many failed attempts to authenticate."),

  method_not_allowed: { status: 405, text: "This path does not support this method." },
  range_not_satisfiable: { status: 416, text: "The file has no bytes in the requested range." },
  request_timeout: { status: 408, text: "The request took too long to arrive." },
  headers_too_large: { status: 431, text: "The request's headers are too large." },

  internal_error: later(500, "The service has an internal error."),
  service_unavailable: later(503, "The service is temporarily unavailable."),
  upstream_timeout: later(504, "A service that this service depends on did not answer in time."),
} as const satisfies Record<string, FailureDefinition>;

export type FailureCode = keyof typeof failureKinds;

export interface FailureDetail {
  readonly in: "path" | "query" | "header" | "body" | "limit";
  /** The invalid field: the name of a parameter, or a JSON Pointer (RFC 6901) into the request body. */
  readonly field: string;
  /** The code of the rule that the field's value violates, in lower snake case, for example `too_long`. */
  readonly code: string;
  readonly message: string;
  readonly allowed?: readonly string[] | null;
}

/** The field `conflict` of an error body. It describes the object whose state prevents the change. */
export interface ConflictErrorDetails {
  /** The kind of the object whose state prevents the change, in snake case: for example `cart` or `api_key`. */
  readonly resource: string;
  readonly id: string | null;
  readonly currentStatus: string | null;
  readonly currentVersion: number | null;
  readonly reason: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface FailureOptions {
  readonly message?: string;
  readonly details?: readonly FailureDetail[];
  readonly conflict?: ConflictErrorDetails;
  readonly retryAfterSeconds?: number;
  /** Additional headers of the answer, for example `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The error that caused the failure. This error is logged, and never sent to the caller. */
  readonly cause?: unknown;
}

const detailsMax = 20;

export class Failure extends Error {
  readonly code: FailureCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly parts: FailureOptions;

  constructor(code: FailureCode, parts: FailureOptions = {}) {
    const kind: FailureDefinition = failureKinds[code];
    super(parts.message ?? kind.text, { cause: parts.cause });
    this.name = "Failure";
    this.code = code;
    this.status = kind.status;
    this.retryable = kind.retryable === true;
    this.parts = parts;
  }
}

/** Creates a failure without throwing it; callers write `throw createFailure("cart_locked")`. */
export function createFailure(code: FailureCode, parts?: FailureOptions): Failure {
  return new Failure(code, parts);
}

/** Returns a failure with a single detail. The message of the detail is also the message of the failure. */
export function createFailureWithDetail(code: FailureCode, detail: FailureDetail): Failure {
  return new Failure(code, { details: [detail], message: detail.message });
}

export interface ErrorResponseBody {
  readonly code: FailureCode;
  readonly message: string;
  readonly requestId: string;
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | null;
  readonly details: readonly (FailureDetail & { readonly allowed: readonly string[] | null })[];
  readonly conflict: ConflictErrorDetails | null;
  readonly docUrl: string;
}

/** Returns the body of an error answer. REST sends it as `error`, GraphQL as `errors[].extensions`. */
export function toErrorResponseBody(
  failure: Failure,
  requestId: string,
  publicUrl: string,
): ErrorResponseBody {
  const { details = [], conflict: conflictPart = null, retryAfterSeconds } = failure.parts;
  return {
    code: failure.code,
    message: failure.message,
    requestId,
    retryable: failure.retryable,
    retryAfterSeconds: retryAfterSeconds ?? getRetryAfterSeconds(failure),
    details: details.slice(0, detailsMax).map((detail) => ({
      in: detail.in,
      field: detail.field,
      code: detail.code,
      message: detail.message,
      allowed: detail.allowed ?? null,
    })),
    conflict: conflictPart,
    docUrl: getErrorDocUrl(failure.code, publicUrl),
  };
}

/** Returns the URL of the documentation page about an error code. */
export const getErrorDocUrl = (code: string, publicUrl: string): string => `${publicUrl}/docs/errors#${code}`;

/**
 * Returns the number of seconds that a client must wait before a retry: `retryAfterSeconds` of the failure if
 * set, otherwise 1. Returns null if a retry cannot succeed. Also returns null for `cart_locked`, because the
 * end of the checkout that locks the cart cannot be predicted.
 */
export function getRetryAfterSeconds(failure: Failure): number | null {
  if (failure.parts.retryAfterSeconds !== undefined) return failure.parts.retryAfterSeconds;
  return failure.retryable && failure.code !== "cart_locked" ? 1 : null;
}

/**
 * Converts a thrown value to a failure. A failure is returned unchanged; from a GraphQL error that wraps a
 * failure, the failure is returned. Every other value is a bug and becomes `internal_error`, with the value
 * as the cause.
 */
export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  if (thrown instanceof Error && "originalError" in thrown && thrown.originalError !== undefined)
    return toFailure(thrown.originalError);
  return createFailure("internal_error", { cause: thrown });
}

/** Environment variables by name, in the form of Node's `process.env`. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/**
 * Thrown at start if a setting has an invalid value; the process then does not start. The message names the
 * setting, the broken rule and the allowed values.
 */
export class InvalidSettingError extends Error {}
