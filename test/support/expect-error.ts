/** Asserts that an answer is an error of the contract: the whole body, and the headers that every error has. */
import { expect } from "vitest";
import type { FailureCode, FailureDetail } from "#foundation/failure.ts";
import { type Answer, publicUrl } from "./world.ts";

export interface ExpectedError {
  readonly status: number;
  readonly code: FailureCode;
  readonly details?: readonly (Omit<FailureDetail, "message"> & { readonly message?: string })[];
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** The service's base address, if it differs from the test world's. */
  readonly baseUrl?: string;
}

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

export function errorBody(
  answer: Answer,
  { code, details = [], retryAfterSeconds, baseUrl = publicUrl }: ExpectedError,
): unknown {
  return {
    error: {
      code,
      message: expect.stringMatching(/\S\.$/),
      requestId: answer.headers["x-request-id"],
      retryable: retryAfterSeconds !== undefined,
      retryAfterSeconds: retryAfterSeconds ?? null,
      details: details.map((detail) => ({
        allowed: null,
        message: expect.stringMatching(/\S\.$/),
        ...detail,
      })),
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
