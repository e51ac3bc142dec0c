/**
 * Creates the HTTP server, without routes. The server limits the size of requests, and gives every request a
 * request id, one log line, and errors in the contract's form. `gateway/operations.ts` adds the REST
 * operations; `src/app` adds the pages and `/graphql`.
 */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { type Failure, createFailure } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import { parseJsonBody } from "./body.ts";
import { getClientAddress } from "./caller.ts";
import { createEventLoopDelayMeter } from "./event-loop-delay.ts";
import {
  answerMalformedHttpRequest,
  createBodyTooLargeFailure,
  type ErrorResponseServices,
  sendFailureResponse,
  toPublicFailure,
} from "./errors.ts";
import { traceHttpRequests } from "./request-spans.ts";
import { createUnroutedRequests, pathParameterLengthMax } from "./unrouted-requests.ts";

declare module "fastify" {
  interface FastifyRequest {
    failureCode: string | null;
    /**
     * The maximum size of the body in bytes for requests of this caller; null if the route's `bodyLimit` is
     * the limit.
     */
    bodyBytesMax: number | null;
    /** The ids of the caller's credential that the log line of the request contains. */
    credential: Readonly<
      Partial<Record<"installationId" | "keyPrefix" | "tokenId" | "grantId" | "staffId", string>>
    > | null;
  }
  interface FastifyContextConfig {
    /** The id of the route's REST operation; undefined if the route belongs to no REST operation. */
    operationId?: string;
  }
}

/** The maximum size of a request body, unless the route or the caller has a lower limit. */
export const defaultBodyBytesMax = 64 * 1024;

/**
 * Observes requests, for example to count them. Its functions are called when a request begins and when it
 * has been answered.
 */
export interface HttpRequestObserver {
  readonly began: (request: FastifyRequest, reply: FastifyReply) => void;
  readonly answered: (request: FastifyRequest, reply: FastifyReply) => void;
}

export interface HttpServerOptions extends ErrorResponseServices {
  readonly proxies: number;
  readonly observer?: HttpRequestObserver;
}

export async function createFastifyServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const unrouted = createUnroutedRequests();
  const server = Fastify({
    bodyLimit: defaultBodyBytesMax,
    genReqId: () => createId("request"),
    requestIdHeader: false,
    trustProxy: false,
    requestTimeout: 30_000,
    // `requireHostHeader: false` makes Node accept requests without a Host header, which it would refuse by
    // an answer without a body. `refusalOf` refuses them with a body. `connectionsCheckingInterval` makes
    // Node look for slow clients once a second.
    http: {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: false,
    },
    forceCloseConnections: "idle",
    // Makes the server answer requests on open connections normally while it stops. By default, Fastify would
    // answer them with 503.
    return503OnClosing: false,
    exposeHeadRoutes: true,
    routerOptions: { maxParamLength: pathParameterLengthMax },
    clientErrorHandler: (error, socket) =>
      answerMalformedHttpRequest(error, socket, {
        publicUrl: options.publicUrl,
        headers: browserHeaders(options.publicUrl),
      }),
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request, reply, options);
      sendFailureResponse(request, reply, { failure: toPublicFailure(error), services: options });
      logAnswer(request, reply, options);
    },
  });
  server.addHook("onRoute", ({ method, url }) => unrouted.addRoute({ methods: [method].flat(), path: url }));
  const refuse = (request: FastifyRequest, reply: FastifyReply, failure: Failure): void =>
    sendFailureResponse(request, reply, { failure, services: options });

  server.decorateRequest("failureCode", null);
  server.decorateRequest("credential", null);
  server.decorateRequest("bodyBytesMax", null);
  traceHttpRequests(server, unrouted.findTemplate);
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, bytes, done) => {
    try {
      if (request.bodyBytesMax !== null && bytes.length > request.bodyBytesMax)
        throw createBodyTooLargeFailure(request.bodyBytesMax);
      // A REST operation refuses a missing body itself, so that the error names the required fields.
      const isLeftToOperation = bytes.length === 0 && request.routeOptions.config.operationId !== undefined;
      done(null, isLeftToOperation ? undefined : parseJsonBody(bytes as Buffer));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
  server.setErrorHandler((error, request, reply) =>
    refuse(request, reply, toPublicFailure(error, request.routeOptions.bodyLimit)),
  );
  server.setNotFoundHandler((request, reply) => refuse(request, reply, unrouted.createFailure(request)));
  server.addHook("onRequest", (request, reply, done) => {
    options.observer?.began(request, reply);
    setAddress(request, options.proxies);
    setCommonHeaders(request, reply, options);
    done(refusalOf(request) ?? (request.is404 ? unrouted.createFailure(request) : undefined));
  });
  // Node would answer a request with an unknown Expect header without a body. This handler passes the request
  // on to the normal steps instead, in which `refusalOf` refuses it with a body.
  server.server.on("checkExpectation", (request, response) =>
    server.server.emit("request", request, response),
  );
  logRequests(server, options);
  closeIdleConnectionsAtEnd(server);
  refuseUnderPressure(server);
  return server;
}

/**
 * Makes a browser that has visited the service over https use only https for a year (header
 * Strict-Transport-Security).
 */
const httpsForOneYear = "max-age=31536000";

const headersOverHttp = { "x-content-type-options": "nosniff" } as const;
const headersOverHttps = { ...headersOverHttp, "strict-transport-security": httpsForOneYear } as const;

/** Returns the security headers that every answer has. */
function browserHeaders(publicUrl: string): Readonly<Record<string, string>> {
  return publicUrl.startsWith("https:") ? headersOverHttps : headersOverHttp;
}

function setCommonHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  { publicUrl }: HttpServerOptions,
): void {
  void reply.header("x-request-id", request.id).headers(browserHeaders(publicUrl));
}

const knownExpectation = /(?:^|\W)100-continue(?:$|\W)/i;

/**
 * Returns the failure of a request that is refused before its body is read. RFC 9112 section 3.2: a request
 * of HTTP/1.1 must have a Host header, and no request may have two.
 */
function refusalOf({ raw: { httpVersion, headers, rawHeaders } }: FastifyRequest): Failure | undefined {
  if (httpVersion === "0.9")
    return createFailure("malformed_request", { message: "The request line must name an HTTP version." });
  if (httpVersion === "1.1" && headers.host === undefined)
    return createFailure("malformed_request", { message: "The Host header is missing." });
  if (hasTwoHosts(rawHeaders))
    return createFailure("malformed_request", { message: "The request must have only one Host header." });
  if (httpVersion === "1.1" && headers.expect !== undefined && !knownExpectation.test(headers.expect))
    return createFailure("malformed_request", { message: "The Expect header must be 100-continue." });
  return undefined;
}

/**
 * Returns whether a request has two Host headers. Node's `headers` contains only the first one, but a proxy
 * before the service may have used the second one.
 */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === "host".length && name.toLowerCase() === "host") count += 1;
  }
  return count > 1;
}

/**
 * Sets the client's address on the request. Fastify's option trustProxy reads the leftmost address of
 * X-Forwarded-For, which a client can invent. This function counts addresses from the right, because the
 * service's own proxies have written the rightmost addresses.
 */
function setAddress(request: FastifyRequest, proxies: number): void {
  if (proxies === 0) return;
  const header = request.headers["x-forwarded-for"];
  const address = getClientAddress(
    request.raw.socket.remoteAddress,
    Array.isArray(header) ? header.join(",") : header,
    proxies,
  );
  Object.defineProperty(request, "ip", { value: address });
}

function logRequests(server: FastifyInstance, options: HttpServerOptions): void {
  server.addHook("onResponse", (request, reply, done) => {
    logAnswer(request, reply, options);
    done();
  });
}

/**
 * Writes the log line of a request from a list of allowed fields: the route template instead of the URL, no
 * header, no body.
 */
function logAnswer(request: FastifyRequest, reply: FastifyReply, { log, observer }: HttpServerOptions): void {
  observer?.answered(request, reply);
  log.info({
    requestId: request.id,
    method: request.method,
    route: request.origin?.route ?? null,
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    ...(request.failureCode === null ? {} : { code: request.failureCode }),
    // The span of a request is null if tracing is off, and undefined if Fastify refused the request before it
    // found a route.
    ...(request.span ? { traceId: request.span.traceId } : {}),
    ...request.credential,
  });
}

/** Milliseconds between two rounds in which idle connections are closed while the server stops. */
const closeIdleMs = 50;

/**
 * Closes idle connections repeatedly while the server stops. Node closes only connections that are idle when
 * the server begins to stop, and would wait for connections that become idle later.
 */
function closeIdleConnectionsAtEnd(server: FastifyInstance): void {
  server.addHook("preClose", (done) => {
    const timer = setInterval(() => server.server.closeIdleConnections(), closeIdleMs).unref();
    server.server.once("close", () => clearInterval(timer));
    done();
  });
}

const eventLoopDelayMsMax = 1_000;
/**
 * Routes that are answered even if the process is overloaded. Operators need the metrics during an overload.
 * A process that fails its health check would be stopped, and its load would move to the other processes.
 */
const routesWithoutShedding: ReadonlySet<string> = new Set(["/metrics", "/healthz", "/readyz"]);

/**
 * Refuses requests while the event loop of the process is overloaded. Anonymous requests are refused from a
 * delay of `eventLoopDelayMsMax` on, requests with credentials from three times this delay on.
 */
function refuseUnderPressure(server: FastifyInstance): void {
  const meter = createEventLoopDelayMeter();
  // Delays of the event loop during the start are not overload, so the measurement begins when the server
  // listens.
  server.addHook("onListen", (done) => {
    meter.start();
    done();
  });
  server.addHook("onClose", (_server, done) => {
    meter.stop();
    done();
  });
  server.addHook("onRequest", (request, _reply, done) => {
    // Requests that are answered under any load, for example of health checks, do not start the measurement.
    if (!routesWithoutShedding.has(request.url)) meter.noteRequest();
    const delayMs = meter.getMeanDelayMs();
    const isRefused =
      delayMs >= eventLoopDelayMsMax &&
      shouldShedRequestUnderLoad({ headers: request.headers, route: request.routeOptions.url }, delayMs);
    done(
      isRefused
        ? createFailure("service_unavailable", {
            retryAfterSeconds: 2,
            message: "The service is overloaded.",
          })
        : undefined,
    );
  });
}

interface Shedding {
  readonly headers: FastifyRequest["headers"];
  readonly route: string | undefined;
}

/**
 * Returns whether the request must be refused at this delay of the event loop. Requests with a credential
 * tolerate more delay. Requests of the console have no Authorization header but count as requests with a
 * credential, because they have a session cookie.
 */
export function shouldShedRequestUnderLoad(
  { headers, route = "" }: Shedding,
  eventLoopDelayMs: number,
): boolean {
  if (routesWithoutShedding.has(route)) return false;
  const hasCredential = headers.authorization !== undefined || headers["x-commerce-console"] !== undefined;
  return !hasCredential || eventLoopDelayMs >= 3 * eventLoopDelayMsMax;
}
