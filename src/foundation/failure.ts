/**
 * The closed registry of failures: code → HTTP status → public text. Domain code throws `fail("cart_locked",
 * …)`; gateway and graph translate it once each. Anything else that is thrown is a bug: logged whole, shown
 * as `internal_error`.
 */
export interface FailureKind {
  readonly status: number;
  readonly text: string;
  /** The same request may succeed later, unchanged. */
  readonly retryable?: true;
}

const bad = (text: string): FailureKind => ({ status: 400, text });
const unauthenticated = (text: string): FailureKind => ({ status: 401, text });
const missing = (text: string): FailureKind => ({ status: 404, text });
const conflict = (text: string): FailureKind => ({ status: 409, text });
const later = (status: number, text: string): FailureKind => ({ status, text, retryable: true });

export const failureKinds = {
  malformed_request: bad("The request could not be understood."),
  invalid_json: bad("The body is not valid JSON in UTF-8."),
  unsupported_media_type: bad("The body must be sent as application/json."),
  request_too_large: bad("The request is larger than this operation takes."),
  unexpected_body: bad("This operation takes no body."),
  missing_body: bad("This operation needs a body."),
  unknown_field: bad("The body has a field that this operation does not know."),
  unknown_parameter: bad("The request has a parameter that this operation does not know."),
  missing_parameter: bad("A required parameter is missing."),
  invalid_parameter: bad("A parameter breaks its rule."),
  invalid_field: bad("A field of the body breaks its rule."),
  missing_field: bad("A required field of the body is missing."),
  idempotency_key_required: bad("This operation needs an Idempotency-Key header."),
  idempotency_key_invalid: bad("The Idempotency-Key is not well-formed."),
  page_window_exceeded: bad("page × pageSize may reach 10 000 at most."),
  invalid_locale: bad("The locale is not a well-formed BCP 47 tag."),
  unknown_market: bad("The market is not a country code of ISO 3166-1."),
  address_invalid: bad("The address breaks the rules of its country."),
  webhook_url_not_allowed: bad("The URL may not be used for webhooks."),
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
  dpop_nonce_required: unauthenticated("The DPoP proof needs the nonce given in this answer."),

  scope_missing: { status: 403, text: "The credential lacks the scope that this operation needs." },
  role_not_allowed: { status: 403, text: "The token's role may not do this." },

  route_not_found: missing("There is nothing at this address."),
  cart_not_found: missing("There is no such cart."),
  order_not_found: missing("There is no such order."),
  checkout_session_not_found: missing("There is no such checkout session."),
  webhook_endpoint_not_found: missing("There is no such webhook endpoint."),
  webhook_delivery_not_found: missing("There is no such webhook delivery."),
  merchant_not_found: missing("There is no such merchant."),
  product_not_found: missing("There is no such product."),
  promotion_code_not_found: missing("There is no such promotion code."),
  resource_not_found: missing("There is no such thing."),

  idempotency_key_reused: conflict("The Idempotency-Key was used for another request."),
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
  promotion_already_applied: conflict("The cart has a promotion already."),
  promotion_not_present: conflict("The cart has no promotion."),
  checkout_session_processing: later(409, "The checkout session's payment is being processed."),
  checkout_session_completed: conflict("The checkout session is completed."),
  checkout_session_canceled: conflict("The checkout session is canceled."),
  checkout_session_expired: conflict("The checkout session has expired."),
  checkout_session_version_conflict: conflict("The checkout session has another version than expected."),
  checkout_amount_changed: conflict("The amount differs from the one the buyer confirmed."),
  webhook_endpoint_duplicate: conflict("The installation has an endpoint with this URL."),
  webhook_endpoint_limit_reached: conflict("The installation has as many endpoints as it may have."),
  webhook_endpoint_disabled: conflict("The endpoint is not enabled."),
  delivery_in_progress: later(409, "The delivery is still under way."),
  delivery_already_succeeded: conflict("The delivery has succeeded; send force to replay it."),
  delivery_payload_expired: conflict("The delivery's payload is no longer kept."),
  delivery_replay_limit_reached: conflict("The delivery was replayed as often as it may be."),
  version_conflict: conflict("It has another version than expected."),
  already_exists: conflict("There is one already."),
  still_in_use: conflict("It is still in use."),
  invalid_state: conflict("Its state does not allow this."),

  rate_limited: later(429, "Too many requests."),
  too_many_failed_attempts: later(429, "Too many failed attempts to authenticate."),

  method_not_allowed: { status: 405, text: "This address does not take this method." },
  request_timeout: { status: 408, text: "The request took too long to arrive." },
  headers_too_large: { status: 431, text: "The request's headers are too large." },

  internal_error: later(500, "Something went wrong on our side."),
  service_unavailable: later(503, "The service is not available for the moment."),
  upstream_timeout: later(504, "Something that this service depends on did not answer in time."),
} as const satisfies Record<string, FailureKind>;

export type FailureCode = keyof typeof failureKinds;

export interface FailureDetail {
  readonly in: "path" | "query" | "header" | "body" | "limit";
  /** A parameter's name, or a JSON Pointer (RFC 6901) into the body. */
  readonly field: string;
  /** The rule that is broken, lower snake case. */
  readonly code: string;
  readonly message: string;
  readonly allowed?: readonly string[] | null;
}

export interface FailureConflict {
  readonly resource: string;
  readonly id: string | null;
  readonly currentStatus: string | null;
  readonly currentVersion: number | null;
  readonly reason: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface FailureParts {
  readonly message?: string;
  readonly details?: readonly FailureDetail[];
  readonly conflict?: FailureConflict;
  readonly retryAfterSeconds?: number;
  /** Additive answer headers, for example `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log only. */
  readonly cause?: unknown;
}

const detailsMax = 20;

export class Failure extends Error {
  readonly code: FailureCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly parts: FailureParts;

  constructor(code: FailureCode, parts: FailureParts = {}) {
    const kind: FailureKind = failureKinds[code];
    super(parts.message ?? kind.text, { cause: parts.cause });
    this.name = "Failure";
    this.code = code;
    this.status = kind.status;
    this.retryable = kind.retryable === true;
    this.parts = parts;
  }
}

export function fail(code: FailureCode, parts?: FailureParts): Failure {
  return new Failure(code, parts);
}

/** One broken rule in one place of the request. */
export function failAt(code: FailureCode, detail: FailureDetail): Failure {
  return new Failure(code, { details: [detail], message: detail.message });
}

export interface ErrorBody {
  readonly code: FailureCode;
  readonly message: string;
  readonly requestId: string;
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | null;
  readonly details: readonly (FailureDetail & { readonly allowed: readonly string[] | null })[];
  readonly conflict: FailureConflict | null;
  readonly docUrl: string;
}

/** What a client reads: the body under `error` over REST, `errors[].extensions` over GraphQL. */
export function toErrorBody(failure: Failure, requestId: string, publicUrl: string): ErrorBody {
  const { details = [], conflict: conflictPart = null, retryAfterSeconds } = failure.parts;
  return {
    code: failure.code,
    message: failure.message,
    requestId,
    retryable: failure.retryable,
    retryAfterSeconds: retryAfterSeconds ?? retryAfterSecondsOf(failure),
    details: details.slice(0, detailsMax).map((detail) => ({
      in: detail.in,
      field: detail.field,
      code: detail.code,
      message: detail.message,
      allowed: detail.allowed ?? null,
    })),
    conflict: conflictPart,
    docUrl: docUrlOf(failure.code, publicUrl),
  };
}

/** Where a code is explained. */
export const docUrlOf = (code: string, publicUrl: string): string => `${publicUrl}/docs/errors#${code}`;

/**
 * Everything retryable says when, except a locked cart: how long a buyer takes to check out is nobody's to
 * promise.
 */
export function retryAfterSecondsOf(failure: Failure): number | null {
  if (failure.parts.retryAfterSeconds !== undefined) return failure.parts.retryAfterSeconds;
  return failure.retryable && failure.code !== "cart_locked" ? 1 : null;
}

/**
 * A Failure stays what it is, also inside a GraphQL error; anything else is a bug and becomes
 * `internal_error` with its cause kept for the log.
 */
export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  if (thrown instanceof Error && "originalError" in thrown && thrown.originalError !== undefined)
    return toFailure(thrown.originalError);
  return fail("internal_error", { cause: thrown });
}

/** Environment variables as Node gives them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A setting from the environment has a bad value. The message names the setting, its rule and what is
 * allowed; the process does not start.
 */
export class BadSetting extends Error {}
