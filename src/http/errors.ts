/**
 * Sends the error answers of the REST API. Every error is converted to one of the failures that the service
 * defines, and sent in the form of error bodies that the OpenAPI document describes. This includes errors of
 * Fastify, and errors of Node's HTTP parser, for which no request object exists. No other module answers REST
 * errors.
 */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { toServiceUnavailableIfTemporary } from "#database/database-errors.ts";
import {
  createFailure,
  createFailureWithDetail,
  type Failure,
  type FailureCode,
  getRetryAfterSeconds,
  toErrorResponseBody,
  toFailure,
} from "#foundation/failure.ts";
import type { Log } from "#foundation/log.ts";
import { createId } from "#foundation/ids.ts";

/** The error codes with which the REST API answers Fastify's errors, by Fastify's error code. */
const frameworkFailures: Readonly<Record<string, FailureCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "request_too_large",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "unsupported_media_type",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "malformed_request",
  FST_ERR_CTP_EMPTY_JSON_BODY: "missing_body",
  FST_ERR_CTP_EMPTY_TYPE: "unsupported_media_type",
  FST_ERR_BAD_URL: "route_not_found",
  FST_ERR_MAX_PARAM_LENGTH: "route_not_found",
};

/**
 * Converts an error to the failure with which the REST API answers it. `bodyBytesMax` is the maximum size of
 * the request body in bytes, for the message; undefined if the route is not known.
 */
export function toPublicFailure(error: unknown, bodyBytesMax?: number): Failure {
  if (error instanceof Error && "code" in error && typeof error.code === "string") {
    const code = frameworkFailures[error.code];
    if (code === "request_too_large" && bodyBytesMax !== undefined)
      return createBodyTooLargeFailure(bodyBytesMax);
    if (code === "unsupported_media_type") return createMediaTypeFailure();
    if (code !== undefined) return createFailure(code);
  }
  return toServiceUnavailableIfTemporary(toFailure(error));
}

export const createBodyTooLargeFailure = (bytesMax: number): Failure =>
  createFailureWithDetail("request_too_large", {
    in: "body",
    field: "",
    code: "too_long",
    message: `The body must have at most ${bytesMax} bytes.`,
  });

const createMediaTypeFailure = (): Failure =>
  createFailureWithDetail("unsupported_media_type", {
    in: "header",
    field: "Content-Type",
    code: "not_allowed",
    message: "The body must be JSON, with the header Content-Type: application/json.",
    allowed: ["application/json"],
  });

export interface ErrorResponseServices {
  readonly publicUrl: string;
  readonly log: Log;
}

export function sendFailureResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  { failure, services }: { failure: Failure; services: ErrorResponseServices },
): void {
  if (failure.status >= 500)
    services.log.error(
      { requestId: request.id, code: failure.code, err: failure.cause },
      "A request failed with a server error.",
    );
  request.failureCode = failure.code;
  const retryAfter = getRetryAfterSeconds(failure);
  void reply
    .code(failure.status)
    .headers({
      ...failure.parts.headers,
      ...(retryAfter === null ? {} : { "retry-after": String(retryAfter) }),
    })
    .header("cache-control", "no-store")
    .type("application/json; charset=utf-8")
    .send(JSON.stringify({ error: toErrorResponseBody(failure, request.id, services.publicUrl) }));
}

/**
 * The error codes with which the REST API answers errors of Node's HTTP server. The key is Node's error code.
 * Every code of Node that is not listed means malformed HTTP.
 */
const parserFailures: Readonly<Record<string, FailureCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

interface RawAnswer {
  readonly publicUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Answers requests that Node's HTTP parser refuses: malformed HTTP, too large headers, and requests that
 * arrive too slowly. Such a request has no request object yet, and Node would answer it without a body.
 */
export function answerMalformedHttpRequest(
  error: Error & { readonly code?: string },
  socket: Socket,
  { publicUrl, headers }: RawAnswer,
): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const failure = createFailure(parserFailures[error.code ?? ""] ?? "malformed_request");
  const requestId = createId("request");
  const body = JSON.stringify({ error: toErrorResponseBody(failure, requestId, publicUrl) });
  socket.end(
    [
      `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? ""}`,
      "Content-Type: application/json; charset=utf-8",
      "Cache-Control: no-store",
      `X-Request-Id: ${requestId}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}
