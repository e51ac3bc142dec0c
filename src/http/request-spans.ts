/**
 * Creates a trace span for each HTTP request, with the route template, status, error code, and the caller's
 * installation. Makes the id of the request known to all code that the request runs.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type RequestIdAndRoute, runWithRequestIdAndRoute } from "#foundation/request-origin.ts";
import { isTracingEnabled, type Span, startSpan } from "#foundation/tracing.ts";

declare module "fastify" {
  interface FastifyRequest {
    span: Span | null;
    origin: RequestIdAndRoute | null;
  }
}

type FindTemplate = (url: string) => string | undefined;

/**
 * Registers the hooks that create and end the trace spans of requests and make the id of a request known to
 * its code. These hooks must be the first ones, so that the work of all other hooks belongs to the request.
 * `findTemplate` returns the template of the path of a request that no route accepts; undefined if no route
 * has the path.
 */
export function traceHttpRequests(server: FastifyInstance, findTemplate: FindTemplate): void {
  nameOriginOfRequests(server, findTemplate);
  server.decorateRequest("span", null);
  if (!isTracingEnabled()) return;
  server.addHook("onRequest", (request, reply, done) => {
    const span = startRequestSpan(request);
    request.span = span ?? null;
    // Ends the request's span if the client disconnects, because the hook `onResponse` may not run then. If
    // the span was already ended, ending it again has no effect.
    reply.raw.once("close", () => endSpan(request, reply));
    if (span === undefined) done();
    else span.run(done);
  });
  // Fastify reads the body in the async context of the connection, in which the request's span is not active.
  // The hook makes the span active again.
  server.addHook("preValidation", ({ span }, _reply, done) => {
    if (span === null) done();
    else span.run(done);
  });
  server.addHook("onResponse", (request, reply, done) => {
    endSpan(request, reply);
    done();
  });
}

/**
 * Registers the hooks that make the request known to the code that it runs (`getCurrentRequestIdAndRoute`).
 * The hook `preValidation` repeats this, because Fastify reads the body in the async context of the
 * connection.
 */
function nameOriginOfRequests(server: FastifyInstance, findTemplate: FindTemplate): void {
  server.decorateRequest("origin", null);
  server.addHook("onRequest", (request, _reply, done) => {
    const { config, url: route = findTemplate(request.url) } = request.routeOptions;
    request.origin = { requestId: request.id, operationId: config.operationId, route };
    runWithRequestIdAndRoute(request.origin, done);
  });
  server.addHook("preValidation", ({ origin }, _reply, done) => {
    runWithRequestIdAndRoute(origin ?? undefined, done);
  });
}

/** Converts the path of a Fastify route to the form of OpenAPI paths: `:id` becomes `{id}`. */
const routeTemplate = (route: string): string => route.replaceAll(/:(\w+)/g, "{$1}");

function startRequestSpan({ method, origin, headers, id }: FastifyRequest): Span | undefined {
  const route = origin?.route === undefined ? undefined : routeTemplate(origin.route);
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
  // The headers were not sent if the client disconnected before the answer. The span then gets no status
  // code.
  const isAnswered = reply.raw.headersSent;
  span.set({
    "http.response.status_code": isAnswered ? statusCode : undefined,
    "commerce.operation.id": request.call?.operation.id,
    "commerce.installation.id": credential?.installationId,
    "error.type": failureCode ?? errorTypeOf(statusCode, isAnswered),
  });
  if (statusCode >= 500) span.markFailed();
  span.end();
}

function errorTypeOf(statusCode: number, isAnswered: boolean): string | undefined {
  if (!isAnswered) return "client_closed";
  return statusCode >= 500 ? String(statusCode) : undefined;
}
