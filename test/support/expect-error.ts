/** Says that an answer is an error of the contract: the whole body, and the headers that every error has. */
import { expect } from "vitest";
import type { FailureCode, FailureDetail } from "#foundation/failure.ts";
import { type Answer, publicUrl } from "./world.ts";

export interface ExpectedError {
  readonly status: number;
  readonly code: FailureCode;
  readonly details?: readonly (Omit<FailureDetail, "message"> & { readonly message?: string })[];
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** The service's address, where it is not the world's. */
  readonly baseUrl?: string;
}

export function expectError(answer: Answer, expected: ExpectedError): void {
  expect({ status: answer.status, body: answer.body as unknown }).toEqual({ status: expected.status, body: errorBody(answer, expected) });
  const retryAfter = expected.retryAfterSeconds === undefined ? undefined : String(expected.retryAfterSeconds);
  expect(answer.headers).toMatchObject({ "cache-control": "no-store", "content-type": "application/json; charset=utf-8" });
  expect(answer.headers["x-request-id"]).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/);
  expect(answer.headers["retry-after"]).toBe(retryAfter);
  for (const [name, value] of Object.entries(expected.headers ?? {})) expect({ [name]: answer.headers[name] }).toEqual({ [name]: value });
}

export function errorBody(answer: Answer, { code, details = [], retryAfterSeconds, baseUrl = publicUrl }: ExpectedError): unknown {
  return {
    error: {
      code,
      message: expect.stringMatching(/\S\.$/),
      requestId: answer.headers["x-request-id"],
      retryable: retryAfterSeconds !== undefined,
      retryAfterSeconds: retryAfterSeconds ?? null,
      details: details.map((detail) => ({ allowed: null, message: expect.stringMatching(/\S\.$/), ...detail })),
      conflict: null,
      docUrl: `${baseUrl}/docs/errors#${code}`,
    },
  };
}

export const challenge = `Bearer realm="${publicUrl}"`;
export const challengeInvalid = `${challenge}, error="invalid_token"`;
