/**
 * Handlers for errors of the authorization server's routes that oidc-provider does not answer itself. A
 * browser gets a page, an app gets the JSON of RFC 6749.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { toServiceUnavailableIfTemporary } from "#database/database-errors.ts";
import { type Failure, createFailure, getRetryAfterSeconds, toFailure } from "#foundation/failure.ts";
import { sendOauthPage } from "./interaction-request.ts";
import type { OauthServices } from "./oauth-services.ts";
import { renderOauthMessagePage } from "./pages.ts";

type ErrorHandler = (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

export function createOauthErrorPageHandler(services: Pick<OauthServices, "log">): ErrorHandler {
  return (error, request, reply) => {
    const failure = recordFailure(toRequestFailure(error), { request, reply }, services);
    const { status } = failure;
    if (status === 429)
      return sendOauthPage(
        reply,
        renderOauthMessagePage("Too many requests", `Try again in ${getRetryAfterSeconds(failure) ?? 60} s.`),
      );
    const title = status >= 500 ? "This does not work at the moment" : "Your request could not be processed";
    return sendOauthPage(reply, renderOauthMessagePage(title, "Go back to the app and try again."));
  };
}

export function createOauthJsonErrorHandler(services: Pick<OauthServices, "log">): ErrorHandler {
  return (error, request, reply) => {
    const { status, message } = recordFailure(toRequestFailure(error), { request, reply }, services);
    const code =
      status === 503 || status === 429
        ? "temporarily_unavailable"
        : status >= 500
          ? "server_error"
          : "invalid_request";
    return reply
      .header("cache-control", "no-store")
      .type("application/json; charset=utf-8")
      .send(JSON.stringify({ error: code, error_description: message }));
  };
}

/**
 * Converts an error to a failure. A status below 500 means that Fastify has refused the request, for example
 * because of an unreadable body.
 */
function toRequestFailure(error: unknown): Failure {
  const status = (error as Partial<FastifyError>).statusCode ?? 500;
  return status < 500
    ? createFailure("malformed_request", { cause: error })
    : toServiceUnavailableIfTemporary(toFailure(error));
}

function recordFailure(
  failure: Failure,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { log }: Pick<OauthServices, "log">,
): Failure {
  if (failure.status >= 500)
    log.error(
      { requestId: request.id, code: failure.code, err: failure.cause },
      "A request failed with a server error.",
    );
  request.failureCode = failure.code;
  const retryAfter = getRetryAfterSeconds(failure);
  void reply.code(failure.status).headers(retryAfter === null ? {} : { "retry-after": String(retryAfter) });
  return failure;
}
