/** Asserts that an answer is an error of the contract: the whole body, and the headers that every error has. */
import { expect } from "vitest";
import type { FailureCode, FailureDetail } from "#foundation/failure.ts";
import { type Answer, publicUrl } from "./world.ts";

export interface ExpectedError {
  readonly status: number;
  readonly code: FailureCode;
  /** If omitted: no details, except for `hintedCodes`, whose details depend on the request. */
  readonly details?: readonly (Omit<FailureDetail, "message"> & { readonly message?: string })[];
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** The service's base address, if it differs from the test world's. */
  readonly baseUrl?: string;
}

/**
 * The codes whose message and details suggest what the caller probably meant. `test/gateway/mistakes.test.ts`
 * and `test/gateway/broken-json.test.ts` check the suggestions.
 */
const hintedCodes: ReadonlySet<FailureCode> = new Set([
  "route_not_found",
  "method_not_allowed",
  "invalid_json",
  "unsupported_media_type",
  "request_too_large",
  "cart_not_found",
  "order_not_found",
  "checkout_session_not_found",
  "webhook_endpoint_not_found",
  "webhook_delivery_not_found",
  "merchant_not_found",
  "product_not_found",
]);

/** The rules whose details list the known names, or the allowed values of a missing field. */
const listedRules: ReadonlySet<string> = new Set(["unknown", "required"]);
const anyNames: unknown = expect.toSatisfy(
  (allowed) =>
    allowed === null || (Array.isArray(allowed) && allowed.every((name) => typeof name === "string")),
);

export function expectError(answer: Answer, expected: ExpectedError): void {
  expect({ status: answer.status, body: answer.body as unknown }).toEqual({
    status: expected.status,
    body: errorBody(answer, expected),
  });
  const retryAfter =
    expected.retryAfterSeconds === undefined ? undefined : String(expected.retryAfterSeconds);
  expect(answer.headers).toMatchObject({
    "cache-control": "no-store",
    "content-type": "application/json; charset=utf-8",
  });
  expect(answer.headers["x-request-id"]).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/);
  expect(answer.headers["retry-after"]).toBe(retryAfter);
  for (const [name, value] of Object.entries(expected.headers ?? {}))
    expect({ [name]: answer.headers[name] }).toEqual({ [name]: value });
}

const toExpectedDetail = (detail: NonNullable<ExpectedError["details"]>[number]): unknown => ({
  allowed: listedRules.has(detail.code) ? anyNames : null,
  message: expect.stringMatching(/\S\.$/),
  ...detail,
});

export function errorBody(
  answer: Answer,
  { code, details, retryAfterSeconds, baseUrl = publicUrl }: ExpectedError,
): unknown {
  return {
    error: {
      code,
      message: expect.stringMatching(/\S\.$/),
      requestId: answer.headers["x-request-id"],
      retryable: retryAfterSeconds !== undefined,
      retryAfterSeconds: retryAfterSeconds ?? null,
      details:
        details === undefined && hintedCodes.has(code)
          ? expect.any(Array)
          : (details ?? []).map(toExpectedDetail),
      conflict: null,
      docUrl: `${baseUrl}/docs/errors#${code}`,
    },
  };
}

const bearerChallenge = `Bearer realm="${publicUrl}"`;
const resourceMetadata = `resource_metadata="${publicUrl}/.well-known/oauth-protected-resource"`;

/** The `WWW-Authenticate` header of an endpoint that accepts an API key or an access token. */
export const challenge = `${bearerChallenge}, DPoP algs="ES256 EdDSA", ${resourceMetadata}`;
export const challengeInvalid = `${bearerChallenge}, error="invalid_token"`;
/** The `WWW-Authenticate` header of an endpoint that accepts only an access token. */
export const dpopChallenge = `DPoP algs="ES256 EdDSA", ${resourceMetadata}`;
export const dpopChallengeFor = (error: string): string =>
  `DPoP algs="ES256 EdDSA", error="${error}", ${resourceMetadata}`;
