/**
 * The registry of failures compared in both directions with the contract's catalogue, which is copied here by
 * hand.
 */
import { expect, it } from "vitest";
import { GraphQLError } from "graphql";
import {
  Failure,
  type FailureCode,
  createFailure,
  createFailureWithDetail,
  failureKinds,
  getRetryAfterSeconds,
  toErrorResponseBody,
  toFailure,
} from "#foundation/failure.ts";

const catalogue: Readonly<Record<number, string>> = {
  400: `malformed_request invalid_json unsupported_media_type request_too_large unexpected_body missing_body
    unknown_field unknown_parameter missing_parameter invalid_parameter invalid_field missing_field
    idempotency_key_required idempotency_key_invalid page_window_exceeded invalid_locale unknown_market
    address_invalid webhook_url_not_allowed unknown_event_type`,
  401: `credentials_missing credentials_malformed api_key_invalid api_key_expired api_key_revoked
    installation_suspended merchant_suspended oauth_token_invalid oauth_token_expired dpop_proof_missing
    dpop_proof_invalid`,
  403: "scope_missing role_not_allowed",
  404: `route_not_found cart_not_found order_not_found checkout_session_not_found webhook_endpoint_not_found
    webhook_delivery_not_found merchant_not_found product_not_found promotion_code_not_found`,
  405: "method_not_allowed",
  408: "request_timeout",
  409: `idempotency_key_reused idempotency_in_progress cart_version_conflict checkout_session_version_conflict
    cart_locked cart_completed cart_revoked cart_expired cart_merged cart_empty address_market_mismatch
    promotion_not_applicable promotion_already_applied promotion_not_present checkout_session_processing
    checkout_session_completed checkout_session_canceled checkout_session_expired checkout_amount_changed
    webhook_endpoint_duplicate webhook_endpoint_limit_reached webhook_endpoint_disabled delivery_in_progress
    delivery_already_succeeded delivery_payload_expired delivery_replay_limit_reached`,
  429: "rate_limited too_many_failed_attempts",
  431: "headers_too_large",
  500: "internal_error",
  503: "service_unavailable",
  504: "upstream_timeout",
};

/** Codes of the graph only, for objects that the REST contract does not have. */
const ofTheGraph: Readonly<Record<number, string>> = {
  403: "origin_not_allowed trusted_document_required",
  404: "resource_not_found trusted_document_not_found",
  409: `version_conflict already_exists still_in_use invalid_state export_limit_reached
    export_not_completed`,
  416: "range_not_satisfiable",
};

const retryable = new Set([
  "rate_limited",
  "too_many_failed_attempts",
  "idempotency_in_progress",
  "cart_locked",
  "checkout_session_processing",
  "delivery_in_progress",
  "export_limit_reached",
  "export_not_completed",
  "internal_error",
  "service_unavailable",
  "upstream_timeout",
]);

const statusesIn = (lists: Readonly<Record<number, string>>): [string, number][] =>
  Object.entries(lists).flatMap(([status, codes]) =>
    codes.split(/\s+/).map((code): [string, number] => [code, Number(status)]),
  );

it("the registry of failures has the contract's codes with their statuses and the graph's codes", () => {
  const shown = Object.entries(failureKinds).map(([code, { status }]) => [code, status]);
  expect(Object.fromEntries(shown)).toEqual(
    Object.fromEntries([...statusesIn(catalogue), ...statusesIn(ofTheGraph)]),
  );
});

it("the registry of failures marks retryable codes, with a time to retry except for locked carts", () => {
  for (const code of Object.keys(failureKinds) as FailureCode[]) {
    const failure = createFailure(code);
    expect({ code, retryable: failure.retryable }).toEqual({ code, retryable: retryable.has(code) });
    expect(getRetryAfterSeconds(failure)).toBe(retryable.has(code) && code !== "cart_locked" ? 1 : null);
  }
});

it("the registry of failures gives every code a message for people", () => {
  for (const { text } of Object.values(failureKinds)) expect(text).toMatch(/^[A-Z\u00d7p].*\.$/);
});

it("the registry of failures creates the whole error body, nulls included", () => {
  const conflict = {
    resource: "cart",
    id: "cart_1",
    currentStatus: "active",
    currentVersion: 7,
    reason: null,
    data: {},
  };
  expect(
    toErrorResponseBody(
      createFailure("cart_version_conflict", { conflict, cause: new Error("secret") }),
      "req_1",
      "https://api.test",
    ),
  ).toEqual({
    code: "cart_version_conflict",
    message: "The cart has another version than expected.",
    requestId: "req_1",
    retryable: false,
    retryAfterSeconds: null,
    details: [],
    conflict,
    docUrl: "https://api.test/docs/errors#cart_version_conflict",
  });
  const detail = { in: "body", field: "/a", code: "too_long", message: "/a is too long." } as const;
  expect(
    toErrorResponseBody(createFailureWithDetail("invalid_field", detail), "req_1", "https://api.test"),
  ).toMatchObject({
    message: "/a is too long.",
    details: [{ ...detail, allowed: null }],
    conflict: null,
  });
});

it("the registry of failures lists at most 20 details", () => {
  const details = Array.from(
    { length: 21 },
    (_, index) => ({ in: "query", field: `p${index}`, code: "unknown", message: "." }) as const,
  );
  expect(
    toErrorResponseBody(createFailure("unknown_parameter", { details }), "req_1", "").details,
  ).toHaveLength(20);
});

it("the registry of failures keeps a failure inside GraphQL's errors, and masks unknown errors", () => {
  const failure = createFailure("product_not_found");
  expect(toFailure(failure)).toBe(failure);
  expect(
    toFailure(new GraphQLError("x", { originalError: new GraphQLError("y", { originalError: failure }) })),
  ).toBe(failure);
  for (const bug of [new Error("password=hunter2"), "text", undefined, new GraphQLError("inner")]) {
    const masked = toFailure(bug);
    expect(masked).toBeInstanceOf(Failure);
    expect(masked).toMatchObject({
      code: "internal_error",
      status: 500,
      message: "The service has an internal error.",
    });
    expect(JSON.stringify(toErrorResponseBody(masked, "req_1", ""))).not.toContain("hunter2");
  }
});
