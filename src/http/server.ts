/**
 * The HTTP server: limits of form, one request id, one log line and the contract's shape for every answer,
 * whoever gives it. The operations are mounted by operations.ts; pages and /graphql come beside them from
 * above.
 */
import { METHODS } from "node:http";
import underPressure from "@fastify/under-pressure";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { type Failure, fail } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import { parseJsonBody } from "./body.ts";
import { clientAddress } from "./caller.ts";
import { answerClientError, type ErrorServices, sendFailure, toPublicFailure } from "./errors.ts";
import { traceRequests } from "./request-spans.ts";

declare module "fastify" {
  interface FastifyRequest {
    failureCode: string | null;
    /** Where it is less than the route's bodyLimit: what this caller may send. */
    bodyBytesMax: number | null;
    /** For the log: who asked. */
    credential: Readonly<
      Partial<Record<"installationId" | "keyPrefix" | "tokenId" | "grantId" | "staffId", string>>
    > | null;
  }
  interface FastifyContextConfig {
    /** Of a REST operation. */
    operationId?: string;
  }
}

export const bodyBytesMax = 64 * 1024;

/** One object for each route, the same for all of its requests. */
export type RouteConfig = FastifyRequest["routeOptions"]["config"];

/** Counts what passes through. */
export interface ServerObserver {
  readonly began: (request: FastifyRequest, reply: FastifyReply) => void;
  readonly answered: (request: FastifyRequest, reply: FastifyReply, route: RouteConfig) => void;
}

export interface ServerOptions extends ErrorServices {
  readonly proxies: number;
  readonly observer?: ServerObserver;
}

export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const server = Fastify({
    bodyLimit: bodyBytesMax,
    genReqId: () => createId("request"),
    requestIdHeader: false,
    trustProxy: false,
    requestTimeout: 30_000,
    // Node's own answer to a missing Host has no body: it is refused below, in the contract's shape. It looks
    // for slow callers once a second.
    http: {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: false,
    },
    forceCloseConnections: "idle",
    // What still arrives while stopping is served.
    return503OnClosing: false,
    exposeHeadRoutes: true,
    routerOptions: { maxParamLength: 500 },
    clientErrorHandler: (error, socket) =>
      answerClientError(error, socket, {
        publicUrl: options.publicUrl,
        headers: browserHeaders(options.publicUrl),
      }),
    frameworkErrors: (error, request, reply) => {
      showRequest(request, reply, options);
      sendFailure(request, reply, { failure: toPublicFailure(error), services: options });
      logAnswer(request, reply, options);
    },
  });
  const refuse = (request: FastifyRequest, reply: FastifyReply, failure: Failure): void =>
    sendFailure(request, reply, { failure, services: options });

  server.decorateRequest("failureCode", null);
  server.decorateRequest("credential", null);
  server.decorateRequest("bodyBytesMax", null);
  traceRequests(server);
  for (const method of METHODS) if (!server.supportedMethods.includes(method)) server.addHttpMethod(method);
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, bytes, done) => {
    try {
      if (request.bodyBytesMax !== null && bytes.length > request.bodyBytesMax)
        throw fail("request_too_large");
      done(null, parseJsonBody(bytes as Buffer));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
  server.setErrorHandler((error, request, reply) => refuse(request, reply, toPublicFailure(error)));
  server.setNotFoundHandler((request, reply) => refuse(request, reply, fail("route_not_found")));
  server.addHook("onRequest", (request, reply, done) => {
    options.observer?.began(request, reply);
    setAddress(request, options.proxies);
    showRequest(request, reply, options);
    done(refusalOf(request));
  });
  // Node's own answer to an Expect that it does not know has no body either.
  server.server.on("checkExpectation", (request, response) =>
    server.server.emit("request", request, response),
  );
  logRequests(server, options);
  closeIdleConnectionsAtEnd(server);
  await refuseUnderPressure(server);
  return server;
}

/** A browser that came by https once does not use http again for a year. */
const onlyHttps = "max-age=31536000";

const everywhere = { "x-content-type-options": "nosniff" } as const;
const overHttps = { ...everywhere, "strict-transport-security": onlyHttps } as const;

/** Headers of every answer, for browsers. */
function browserHeaders(publicUrl: string): Readonly<Record<string, string>> {
  return publicUrl.startsWith("https:") ? overHttps : everywhere;
}

function showRequest(request: FastifyRequest, reply: FastifyReply, { publicUrl }: ServerOptions): void {
  void reply.header("x-request-id", request.id).headers(browserHeaders(publicUrl));
}

const knownExpectation = /(?:^|\W)100-continue(?:$|\W)/i;

/** What is refused before a body is read. RFC 9112 section 3.2: a request of HTTP/1.1 names its host. */
function refusalOf({ is404, raw: { httpVersion, headers } }: FastifyRequest): Failure | undefined {
  if (httpVersion === "0.9")
    return fail("malformed_request", { message: "The request names no version of HTTP." });
  if (httpVersion === "1.1" && headers.host === undefined)
    return fail("malformed_request", { message: "The Host header is missing." });
  if (httpVersion === "1.1" && headers.expect !== undefined && !knownExpectation.test(headers.expect))
    return fail("malformed_request", { message: "The Expect header may say 100-continue and nothing else." });
  return is404 ? fail("route_not_found") : undefined;
}

/**
 * Fastify's own trustProxy believes the leftmost of n; ours counts from the right, where the proxies are that
 * we know.
 */
function setAddress(request: FastifyRequest, proxies: number): void {
  if (proxies === 0) return;
  const header = request.headers["x-forwarded-for"];
  const address = clientAddress(
    request.raw.socket.remoteAddress,
    Array.isArray(header) ? header.join(",") : header,
    proxies,
  );
  Object.defineProperty(request, "ip", { value: address });
}

function logRequests(server: FastifyInstance, options: ServerOptions): void {
  server.addHook("onResponse", (request, reply, done) => {
    logAnswer(request, reply, options);
    done();
  });
}

/** Built from an allow-list: the route's template instead of the address, no header and no body. */
function logAnswer(request: FastifyRequest, reply: FastifyReply, { log, observer }: ServerOptions): void {
  const route = request.routeOptions;
  observer?.answered(request, reply, route.config);
  log.info({
    requestId: request.id,
    method: request.method,
    route: route.url ?? null,
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    ...(request.failureCode === null ? {} : { code: request.failureCode }),
    // What the framework refuses before there is a route has no span, not even null.
    ...(request.span ? { traceId: request.span.traceId } : {}),
    ...request.credential,
  });
}

const sweepMs = 50;

/**
 * Connections that are idle when closing begins are closed by then; one whose last request is answered later
 * would be waited for.
 */
function closeIdleConnectionsAtEnd(server: FastifyInstance): void {
  server.addHook("preClose", (done) => {
    const sweep = setInterval(() => server.server.closeIdleConnections(), sweepMs).unref();
    server.server.once("close", () => clearInterval(sweep));
    done();
  });
}

const eventLoopDelayMsMax = 1_000;
const sampleMs = 1_000;
/**
 * Whoever looks after the service must see it then of all times; a process that is said to be dead would be
 * ended, and the others get its load.
 */
const servedAlways: ReadonlySet<string> = new Set(["/metrics", "/healthz", "/readyz"]);

/** Overload: anonymous callers are sent away first, callers with a key at three times the delay. */
async function refuseUnderPressure(server: FastifyInstance): Promise<void> {
  // What the start itself takes is no load: the first sample that counts is one taken wholly while listening.
  let countsFrom = Number.POSITIVE_INFINITY;
  server.addHook("onListen", (done) => {
    countsFrom = performance.now() + 2 * sampleMs;
    done();
  });
  await server.register(underPressure, {
    maxEventLoopDelay: eventLoopDelayMsMax,
    sampleInterval: sampleMs,
    // eslint-disable-next-line max-params -- The plugin's own signature.
    pressureHandler: (request, _reply, _type, value) => {
      if (
        performance.now() < countsFrom ||
        !isShed({ headers: request.headers, route: request.routeOptions.url }, value ?? 0)
      )
        return;
      throw fail("service_unavailable", {
        retryAfterSeconds: 2,
        message: "The service is overloaded for the moment.",
      });
    },
  });
}

interface Shedding {
  readonly headers: FastifyRequest["headers"];
  readonly route: string | undefined;
}

/** Where the event loop is late already. The console's own pages show their credential in a cookie. */
export function isShed({ headers, route = "" }: Shedding, eventLoopDelayMs: number): boolean {
  if (servedAlways.has(route)) return false;
  const showsCredential = headers.authorization !== undefined || headers["x-commerce-console"] !== undefined;
  return !showsCredential || eventLoopDelayMs >= 3 * eventLoopDelayMsMax;
}

/** A known address with a wrong method is told so before anything else is looked at. */
export function refuseOtherMethods(server: FastifyInstance, path: string, allowed: readonly string[]): void {
  const withHead = allowed.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  server.route({
    method: server.supportedMethods.filter((method) => !withHead.includes(method)),
    url: path,
    onRequest: () => {
      throw fail("method_not_allowed", { headers: { allow: withHead.join(", ") } });
    },
    handler: () => undefined,
  });
}
