/**
 * Each request as a span of its trace: its route by the template, its status and its error's code, and of its
 * caller the installation alone.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isTracing, type Span, startSpan } from "#foundation/tracing.ts";

declare module "fastify" {
  interface FastifyRequest {
    span: Span | null;
  }
}

/** Before all other hooks, so that whatever they do belongs to the request. */
export function traceRequests(server: FastifyInstance): void {
  server.decorateRequest("span", null);
  if (!isTracing()) return;
  server.addHook("onRequest", (request, reply, done) => {
    const span = spanOf(request);
    request.span = span ?? null;
    // Whoever goes away gets no answer. What has ended does not end again.
    reply.raw.once("close", () => endSpan(request, reply));
    if (span === undefined) done();
    else span.run(done);
  });
  // A body arrives in the name of its connection.
  server.addHook("preValidation", ({ span }, _reply, done) => {
    if (span === null) done();
    else span.run(done);
  });
  server.addHook("onResponse", (request, reply, done) => {
    endSpan(request, reply);
    done();
  });
}

/** As they stand in the contract. */
const templateOf = (route: string): string => route.replaceAll(/:(\w+)/g, "{$1}");

function spanOf({ method, routeOptions, headers, id }: FastifyRequest): Span | undefined {
  const route = routeOptions.url === undefined ? undefined : templateOf(routeOptions.url);
  const { traceparent } = headers;
  return startSpan({
    name: route === undefined ? method : `${method} ${route}`,
    kind: "server",
    attributes: { "http.request.method": method, "http.route": route, "commerce.request.id": id },
    ...(typeof traceparent === "string" ? { caller: traceparent } : {}),
  });
}

function endSpan(request: FastifyRequest, reply: FastifyReply): void {
  const { span, failureCode, credential } = request;
  if (span === null) return;
  const { statusCode } = reply;
  // Who went away has got none; what stands there is what it would have begun with.
  const isAnswered = reply.raw.headersSent;
  span.set({
    "http.response.status_code": isAnswered ? statusCode : undefined,
    "commerce.operation.id": request.call?.operation.id,
    "commerce.installation.id": credential?.installationId,
    "error.type": failureCode ?? typeOf(statusCode, isAnswered),
  });
  if (statusCode >= 500) span.markFailed();
  span.end();
}

function typeOf(statusCode: number, isAnswered: boolean): string | undefined {
  if (!isAnswered) return "client_closed";
  return statusCode >= 500 ? String(statusCode) : undefined;
}
