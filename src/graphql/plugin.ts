/**
 * Serves the route `/graphql`, for the merchant's own frontends, analysts and the staff console. POST accepts
 * every document, GET only trusted documents. Yoga parses and validates the documents, and Mesh executes
 * them. Callers authenticate with an internal token; pages of the console authenticate with the session of
 * the staff member. Errors have the same body as the field `error` of the REST API.
 */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import type { ExecutionArgs } from "graphql";
import { createYoga, type Plugin } from "graphql-yoga";
import type { TrustedDocumentFinder } from "#access/trusted-documents.ts";
import { getBuyerSessionOfViewer, type InternalTokenOrStaffViewer } from "#access/viewer.ts";
import { toServiceUnavailableIfTemporary } from "#database/database-errors.ts";
import {
  createFailure,
  createFailureWithDetail,
  type Failure,
  toErrorResponseBody,
  toFailure,
} from "#foundation/failure.ts";
import { isBuyerReference, parseAcceptLanguage } from "#foundation/text.ts";
import type { Log } from "#foundation/log.ts";
import type { RateLimiter } from "#http/rate-limiter.ts";
import {
  type GraphqlContextOptions,
  createGraphqlContext,
  type GraphqlContext,
  type GraphqlServices,
} from "#graph/context.ts";
import type { OpenedMesh } from "#mesh/open-mesh.ts";
import {
  getRateLimitKeyOfAddress,
  type InternalTokenOrStaffAuthenticator,
  addCredentialIdToRequestLog,
  createIdempotentReplayRecorder,
  decorateRequestsWithGraphqlProperties,
  isReplayedIdempotentAnswer,
  setRequestViewer,
  getRequestViewer,
  type YogaServerContext,
} from "./authenticate.ts";
import { enforceBrowserOriginAndRateLimit } from "./browser-callers.ts";
import {
  createGraphqlHandlerBypassingYoga,
  type GraphqlHandlerBypassingYoga,
  hasYogaRequestHooks,
} from "./direct-answers.ts";
import { createCorsHeaderSetter, type CorsOriginChecker } from "./cors.ts";
import { createYogaDocumentCaches } from "./document-caches.ts";
import { createGraphqlDocumentExecutor, type GraphqlDocumentExecutionFunction } from "./execution.ts";
import { createGraphqlErrorConversionPlugin } from "./failures.ts";
import {
  createServerSentEventStreamManager,
  type ServerSentEventStreams,
  sendSubscriptionResults,
} from "./event-streams.ts";
import { countGraphqlRequestAgainstQuotas, createGraphqlCostCharger } from "./quotas.ts";
import {
  documentIdParameter,
  requireNonEmptyGraphqlBody,
  requireSafeGraphqlUrlJson,
  createTrustedDocumentPlugin,
  trustedDocumentConstraint,
} from "./trusted-documents.ts";
import {
  recordEventStreamAcceptHeader,
  getSubscriptionResultStream,
  createGraphqlSubscriptionPlugin,
} from "./subscriptions.ts";

export interface GraphqlPluginOptions {
  readonly mesh: Pick<OpenedMesh, "schema" | "run" | "prepareDocument" | "serverPlugins">;
  readonly services: GraphqlServices;
  readonly log: Log;
  readonly limiter: RateLimiter;
  /**
   * Returns whether pages of the origin may call `/graphql`. The origin must be in the setting CORS_ORIGINS
   * or in the allowed origins of a publishable token.
   */
  readonly isPageAllowed: CorsOriginChecker;
  readonly authentication: InternalTokenOrStaffAuthenticator;
  readonly trustedDocuments: Pick<TrustedDocumentFinder, "find">;
}

const mebibyte = 1024 * 1024;
const bytesMaxOf = ({ role }: InternalTokenOrStaffViewer): number =>
  (role === "admin" || role === "operator" ? 8 : 1) * mebibyte;

export const graphqlPlugin: FastifyPluginAsync<GraphqlPluginOptions> = async (server, options) => {
  decorateRequestsWithGraphqlProperties(server);
  const streams = createServerSentEventStreamManager({
    clock: options.services.clock,
    recheck: options.authentication.recheck,
  });
  server.addHook("preClose", (done) => {
    streams.close();
    options.services.watch?.close();
    done();
  });
  const execute = createGraphqlDocumentExecutor(options.mesh.run, options.limiter);
  const yoga = createGraphYoga(options, streams, execute);
  const answerDirectly = directAnswersOf(options, execute);
  const preflight = createCorsHeaderSetter(options.isPageAllowed);

  const route: Omit<RouteOptions, "method"> = {
    url: "/graphql",
    bodyLimit: 8 * mebibyte,
    onRequest: async (request, reply) => {
      await preflight(request, reply);
      const viewer = await options.authentication.authenticate(request);
      setRequestViewer(request, viewer);
      addCredentialIdToRequestLog(request, viewer);
      await enforceBrowserOriginAndRateLimit({ request, reply }, viewer, options.limiter);
      await countGraphqlRequestAgainstQuotas({ viewer, limiter: options.limiter }, reply);
      // Refuses a malformed X-Buyer-Reference header before the body is read. The whole HTTP request then
      // fails, and not only one GraphQL operation in its body.
      buyerReferenceOf(request, viewer);
      request.bodyBytesMax = bytesMaxOf(viewer);
      // Refuses a request before its body is read if the header Content-Length exceeds the caller's limit.
      if (Number(request.headers["content-length"] ?? 0) > request.bodyBytesMax)
        throw createFailure("request_too_large");
    },
    errorHandler: (error, request, reply) => answerFailure(error, { request, reply, options }),
    handler: async (request, reply) => {
      requireNonEmptyGraphqlBody(request, getRequestViewer(request));
      requireSafeGraphqlUrlJson(request);
      const direct = await answerDirectly?.(request);
      if (direct !== undefined) {
        addReplayHeader(request, reply);
        return reply.code(direct.status).headers(direct.headers).send(direct.body);
      }
      // Yoga must answer with JSON even if the Accept header does not list JSON, because every client can
      // read JSON. Only the results of subscriptions are sent in another format.
      recordEventStreamAcceptHeader(request);
      request.raw.headers.accept = "application/json";
      const response = await yoga.handleNodeRequestAndResponse(request, reply, { caller: request });
      const results = getSubscriptionResultStream(request);
      if (results !== undefined) return sendSubscriptionResults(reply, results);
      for (const [name, value] of response.headers) void reply.header(name, value);
      addReplayHeader(request, reply);
      return reply
        .code(response.status)
        .header("cache-control", "no-store")
        .send(response.body ?? undefined);
    },
  };
  server.route({ ...route, method: "POST" });
  // The route for GET requests that name a trusted document. GraphiQL, the page for writing queries, answers
  // all other GET requests.
  server.addConstraintStrategy(trustedDocumentConstraint);
  server.route({
    ...route,
    method: "GET",
    exposeHeadRoute: false,
    constraints: { [trustedDocumentConstraint.name]: true },
  });
  server.options("/graphql", async (request, reply) => {
    await preflight(request, reply);
    return reply.code(204).send();
  });
};

function addReplayHeader(request: FastifyRequest, reply: FastifyReply): void {
  const isReplay = isReplayedIdempotentAnswer(request);
  if (isReplay !== undefined) void reply.header("idempotent-replayed", String(isReplay));
}

/**
 * Creates the function that answers requests for trusted documents and repeated queries without Yoga. Returns
 * undefined if plugins of `.meshrc.yaml` have hooks that only Yoga calls; Yoga then answers all requests.
 */
function directAnswersOf(
  { mesh, services, log, limiter, trustedDocuments: documents }: GraphqlPluginOptions,
  execute: GraphqlDocumentExecutionFunction,
): GraphqlHandlerBypassingYoga | undefined {
  if (hasYogaRequestHooks(mesh.serverPlugins)) return undefined;
  const { schema, prepareDocument } = mesh;
  const { publicUrl } = services;
  const contextOf = contextsOf({ services, limiter });
  return createGraphqlHandlerBypassingYoga({
    prepareDocument,
    documents,
    execute,
    contextOf,
    publicUrl,
    log,
    schema,
  });
}

/** Creates the GraphQL context of an authenticated request. */
function contextsOf({
  services,
  limiter,
}: Pick<GraphqlPluginOptions, "services" | "limiter">): (request: FastifyRequest) => GraphqlContext {
  return (request) => {
    const viewer = getRequestViewer(request);
    if (viewer === undefined) throw createFailure("credentials_missing");
    // Analysts read from the database replica, unless it is too far behind. They change no data, and data
    // that is some seconds old is sufficient for them.
    const { replica } = services;
    const mayReadReplica = viewer.role === "analyst" && replica?.isBehind() === false;
    const source = mayReadReplica ? replica.forAnalysts : undefined;
    return createGraphqlContext(services, {
      ...callerDetailsOf(request, viewer, limiter),
      source,
      onOnce: createIdempotentReplayRecorder(request),
    });
  };
}

/**
 * Returns what the GraphQL context contains about the caller. No function in it references the HTTP request:
 * such a reference keeps the request in memory with the context, which doubled the time for garbage
 * collection.
 */
function callerDetailsOf(
  request: FastifyRequest,
  viewer: InternalTokenOrStaffViewer,
  limiter: RateLimiter,
): GraphqlContextOptions {
  const client = getRateLimitKeyOfAddress(request);
  return {
    viewer,
    requestId: request.id,
    languages: parseAcceptLanguage(request.headers["accept-language"]),
    buyerReference: buyerReferenceOf(request, viewer),
    buyerSessionId: getBuyerSessionOfViewer(viewer)?.id ?? null,
    client,
    spendCost: createGraphqlCostCharger({ address: client, viewer, limiter }),
  };
}

function createGraphYoga(
  { mesh, services, log, limiter, authentication: { recheck }, trustedDocuments }: GraphqlPluginOptions,
  streams: ServerSentEventStreams,
  execute: GraphqlDocumentExecutionFunction,
): ReturnType<typeof createYoga<YogaServerContext, GraphqlContext>> {
  const { schema, run } = mesh;
  const contextOf = contextsOf({ services, limiter });
  return createYoga<YogaServerContext, GraphqlContext>({
    schema,
    graphqlEndpoint: "/graphql",
    batching: false,
    graphiql: false,
    landingPage: false,
    cors: false,
    logging: false,
    // Yoga's own masking of error messages is off, because `createGraphqlErrorConversionPlugin` converts every
    // error and hides the messages of unknown errors.
    maskedErrors: false,
    context: ({ caller }) => contextOf(caller),
    parserAndValidationCache: createYogaDocumentCaches(),
    extraParamNames: [documentIdParameter],
    plugins: [
      createTrustedDocumentPlugin(trustedDocuments),
      ...mesh.serverPlugins,
      executeThroughMesh(execute),
      createGraphqlSubscriptionPlugin({
        schema,
        run,
        streams,
        recheck,
        contextOf: (request, viewer) =>
          createGraphqlContext(services, callerDetailsOf(request, viewer, limiter)),
        publicUrl: services.publicUrl,
        log,
      }),
      createGraphqlErrorConversionPlugin({ publicUrl: services.publicUrl, log, schema }),
    ] as Plugin<GraphqlContext>[],
  });
}

/** A Yoga plugin that executes the documents which Yoga has parsed and validated. */
const executeThroughMesh = (execute: GraphqlDocumentExecutionFunction): Plugin<GraphqlContext> => ({
  onExecute: ({ setExecuteFn }) => {
    setExecuteFn(async ({ document, contextValue, variableValues, operationName }: ExecutionArgs) =>
      execute(document, contextValue as GraphqlContext, { variables: variableValues, operationName }),
    );
  },
});

interface Refusal {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly options: GraphqlPluginOptions;
}

/**
 * Answers a request that is refused before Yoga receives it, for example because of an invalid token. The
 * body is a GraphQL result with `errors`.
 */
function answerFailure(error: unknown, { request, reply, options }: Refusal): void {
  const failure: Failure = toHttpFailure(error);
  request.failureCode = failure.code;
  if (failure.status >= 500)
    options.log.error(
      { requestId: request.id, code: failure.code, err: failure.cause },
      "A GraphQL request failed with a server error.",
    );
  const extensions = toErrorResponseBody(failure, request.id, options.services.publicUrl);
  void reply
    .code(failure.status)
    .headers({
      ...failure.parts.headers,
      ...(extensions.retryAfterSeconds === null
        ? {}
        : { "retry-after": String(extensions.retryAfterSeconds) }),
    })
    .header("cache-control", "no-store")
    .type("application/json; charset=utf-8")
    .send(JSON.stringify({ errors: [{ message: failure.message, extensions }] }));
}

function toHttpFailure(error: unknown): Failure {
  const status = error instanceof Error && "statusCode" in error ? error.statusCode : undefined;
  if (status === 413) return createFailure("request_too_large");
  if (status === 415) return createFailure("unsupported_media_type");
  if (status === 400) return createFailure("malformed_request");
  return toServiceUnavailableIfTemporary(toFailure(error));
}

/**
 * Returns the buyer reference of a request: that of the buyer session, or the header X-Buyer-Reference. Null
 * if the request has neither. Throws if the header is malformed. Also throws if the header is sent with a
 * buyer session, because a buyer must not see data of another buyer.
 */
function buyerReferenceOf(request: FastifyRequest, viewer: InternalTokenOrStaffViewer): string | null {
  const session = getBuyerSessionOfViewer(viewer);
  const value = request.headers["x-buyer-reference"];
  if (value === undefined) return session?.buyerReference ?? null;
  if (session === undefined && typeof value === "string" && isBuyerReference(value)) return value;
  const message =
    session === undefined
      ? "X-Buyer-Reference has 1 to 128 printable ASCII characters without space and @."
      : "X-Buyer-Reference is not allowed with a buyer session, which acts for its own buyer only.";
  throw createFailureWithDetail("malformed_request", {
    in: "header",
    field: "X-Buyer-Reference",
    code: session === undefined ? "pattern_mismatch" : "not_allowed",
    message,
  });
}
