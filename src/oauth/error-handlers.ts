/**
 * What goes wrong outside of oidc-provider: on a page for whoever looks at one, in RFC 6749's form for an
 * app.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { orUnavailable } from "#database/database-errors.ts";
import { type Failure, fail, retryAfterSecondsOf, toFailure } from "#foundation/failure.ts";
import { sendOauthPage } from "./interaction-request.ts";
import type { OauthServices } from "./oauth-services.ts";
import { oauthMessagePage } from "./pages.ts";

type AnswerFault = (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

export function handleErrorOnPage(services: Pick<OauthServices, "log">): AnswerFault {
  return (error, request, reply) => {
    const failure = note(toRefusal(error), { request, reply }, services);
    const { status } = failure;
    if (status === 429)
      return sendOauthPage(
        reply,
        oauthMessagePage(
          "There were too many requests",
          `Try again in ${retryAfterSecondsOf(failure) ?? 60} s.`,
        ),
      );
    const title = status >= 500 ? "This does not work at the moment" : "This did not work";
    return sendOauthPage(reply, oauthMessagePage(title, "Go back to the app and try again."));
  };
}

export function handleErrorAsJson(services: Pick<OauthServices, "log">): AnswerFault {
  return (error, request, reply) => {
    const { status, message } = note(toRefusal(error), { request, reply }, services);
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

/** Fastify's own, of a body that it does not take, say so by their status. */
function toRefusal(error: unknown): Failure {
  const status = (error as Partial<FastifyError>).statusCode ?? 500;
  return status < 500 ? fail("malformed_request", { cause: error }) : orUnavailable(toFailure(error));
}

function note(
  failure: Failure,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { log }: Pick<OauthServices, "log">,
): Failure {
  if (failure.status >= 500)
    log.error(
      { requestId: request.id, code: failure.code, err: failure.cause },
      "A request failed on our side.",
    );
  request.failureCode = failure.code;
  const retryAfter = retryAfterSecondsOf(failure);
  void reply.code(failure.status).headers(retryAfter === null ? {} : { "retry-after": String(retryAfter) });
  return failure;
}
