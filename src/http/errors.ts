/** Every error on the way of a request becomes one failure of the registry, and one body. Nobody else answers errors over REST. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { orUnavailable } from "#database/unavailable.ts";
import { type Failure, type FailureCode, fail, retryAfterSecondsOf, toErrorBody, toFailure } from "#foundation/failure.ts";
import type { Log } from "#foundation/log.ts";

/** What Fastify refuses by itself, in the contract's words. */
const frameworkFailures: Readonly<Record<string, FailureCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "request_too_large",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "unsupported_media_type",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "malformed_request",
  FST_ERR_CTP_EMPTY_JSON_BODY: "missing_body",
  FST_ERR_CTP_EMPTY_TYPE: "unsupported_media_type",
  FST_ERR_BAD_URL: "route_not_found",
  FST_ERR_MAX_PARAM_LENGTH: "route_not_found",
};

export function toPublicFailure(error: unknown): Failure {
  if (error instanceof Error && "code" in error && typeof error.code === "string") {
    const code = frameworkFailures[error.code];
    if (code !== undefined) return fail(code);
  }
  return orUnavailable(toFailure(error));
}

export interface ErrorServices {
  readonly publicUrl: string;
  readonly log: Log;
}

export function sendFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  { failure, services }: { failure: Failure; services: ErrorServices },
): void {
  if (failure.status >= 500) services.log.error({ requestId: request.id, code: failure.code, err: failure.cause }, "A request failed on our side.");
  request.failureCode = failure.code;
  const retryAfter = retryAfterSecondsOf(failure);
  void reply
    .code(failure.status)
    .headers({ ...failure.parts.headers, ...(retryAfter === null ? {} : { "retry-after": String(retryAfter) }) })
    .header("cache-control", "no-store")
    .type("application/json; charset=utf-8")
    .send(JSON.stringify({ error: toErrorBody(failure, request.id, services.publicUrl) }));
}
