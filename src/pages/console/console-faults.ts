/** What goes wrong on the way to a page of the console, said on a page. */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { orUnavailable } from "#database/database-errors.ts";
import { type Failure, fail, retryAfterSecondsOf, toFailure } from "#foundation/failure.ts";
import type { Log } from "#foundation/log.ts";
import { type Page, pageHeaders, renderPage } from "#pages/shared/page.ts";
import { messagePage } from "./console-pages.ts";

export function showPage(reply: FastifyReply, page: Page): FastifyReply {
  return reply.headers(pageHeaders(page)).send(renderPage(page));
}

export function answerOnPage(log: Log): (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  return (error, request, reply) => {
    const failure = toRefusal(error);
    if (failure.status >= 500) log.error({ requestId: request.id, code: failure.code, err: failure.cause }, "A request failed on our side.");
    request.failureCode = failure.code;
    const retryAfter = retryAfterSecondsOf(failure);
    if (retryAfter !== null) void reply.header("retry-after", String(retryAfter));
    return showPage(reply.code(failure.status), pageOf(failure.status, retryAfter));
  };
}

/** Fastify's own, of a body that it does not take, say so by their status. */
function toRefusal(error: unknown): Failure {
  const status = (error as Partial<FastifyError>).statusCode ?? 500;
  return status < 500 ? fail("malformed_request", { cause: error }) : orUnavailable(toFailure(error));
}

function pageOf(status: number, retryAfterSeconds: number | null): Page {
  if (status === 429) return messagePage("There were too many requests", `Try again in ${retryAfterSeconds ?? 60} s.`);
  if (status >= 500) return messagePage("This does not work at the moment", "Try again in a minute.");
  return messagePage("This did not work", "Go back and try again.");
}
