/** Adds the routes of the REST operations. At start, each operation gets a list of the steps that apply to it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  anonymousViewer,
  getCredentialAndOwnerIds,
  isApiKeyOrOauthViewer,
  type Viewer,
} from "#access/viewer.ts";
import { parseAcceptLanguage } from "#foundation/text.ts";
import { isTracingEnabled, runInChildSpan } from "#foundation/tracing.ts";
import {
  createGraphqlContext,
  type GraphqlContext,
  type GraphqlServices,
  type DatabaseReadSource,
} from "#graph/context.ts";
import { toClientAddressKey } from "#http/caller.ts";
import type { GraphqlDocumentRunner } from "#mesh/run.ts";
import type { RestRequestContext, RestGatewayServices, RestRequestPipelineStep } from "./rest-call.ts";
import type { RestOperation } from "./contract.ts";
import { toDeprecationHeaders } from "./deprecation.ts";
import type { ReadRunnerWithPrimaryFallback } from "./replica-fallback.ts";
import { addWrongIdExplanationToNotFoundError } from "./explain-wrong-id.ts";
import {
  identifyCaller,
  limitByAddress,
  limitByCredential,
  requireOperationScope,
} from "./steps/authorize.ts";
import { findCachedResponse } from "./steps/cached-response.ts";
import { sendAnswer, executeOperation, limitFailedAttempts, requireIdempotencyKey } from "./steps/execute.ts";
import { validateRequest } from "./steps/validate.ts";

declare module "fastify" {
  interface FastifyRequest {
    call: RestRequestContext | null;
  }
}

/**
 * The steps of a REST request, in the order in which they run. The steps before `executeOperation` only check
 * the request: they may refuse it, and do not change shop data.
 */
export const restRequestSteps: readonly RestRequestPipelineStep[] = [
  limitByAddress,
  identifyCaller,
  limitByCredential,
  requireOperationScope,
  requireIdempotencyKey,
  validateRequest,
  limitFailedAttempts,
  findCachedResponse,
  executeOperation,
  sendAnswer,
];

type RunStep = (call: RestRequestContext) => Promise<void> | void;

export function registerRestOperationRoutes(
  server: FastifyInstance,
  services: RestGatewayServices,
  operations: readonly RestOperation[],
): void {
  server.decorateRequest("call", null);
  for (const operation of operations) mountOperation(server, services, operation);
}

function mountOperation(
  server: FastifyInstance,
  services: RestGatewayServices,
  operation: RestOperation,
): void {
  const operationSteps = restRequestSteps
    .filter((step) => step.appliesTo(operation))
    .map((step) => ({ phase: step.phase, run: tracedStep(step.name, step.create(services, operation)) }));
  const inPhase = (phase: "headers" | "body"): RunStep[] =>
    operationSteps.filter((step) => step.phase === phase).map(({ run }) => run);
  const beforeBody = inPhase("headers");
  const afterBody = inPhase("body");
  const headers = toFixedHeaders(operation, services.publicUrl);
  const runAfterBody = async (call: RestRequestContext): Promise<void> => {
    try {
      await runAll(afterBody, call);
    } catch (error) {
      call.fill?.abandon();
      throw addWrongIdExplanationToNotFoundError(error, call);
    }
  };
  server.route({
    method: operation.method,
    url: routePath(operation.path),
    config: { operationId: operation.id },
    onRequest: async (request, reply) => {
      void reply.headers(headers);
      const call: RestRequestContext = {
        operation,
        request,
        reply,
        requestId: request.id,
        viewer: anonymousViewer,
        refusedOwner: undefined,
        variables: {},
        idempotencyKey: undefined,
        result: undefined,
        recorded: undefined,
        cachedResponse: undefined,
        fill: undefined,
      };
      request.call = call;
      await runAll(beforeBody, call);
      request.credential = toLoggedCredential(call.viewer);
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      if (request.call !== null) await runAfterBody(request.call);
      return reply;
    },
    onResponse: (request, _reply, done) => {
      if (request.call !== null) logAnsweredRequest(request.call, services);
      done();
    },
  });
}

/**
 * The names of the steps of a REST request that get their own span in a trace, because they can take long.
 * All other steps are quick. If one of the other steps refuses the request, the error code of the answer
 * shows which step it was.
 */
const tracedStepNames: ReadonlySet<string> = new Set(["identify", "validate", "execute"]);

function tracedStep(name: string, run: RunStep): RunStep {
  return isTracingEnabled() && tracedStepNames.has(name)
    ? (call): ReturnType<RunStep> => runInChildSpan({ name }, () => run(call))
    : run;
}

/**
 * Adds an answered request to the request log of the caller's app installation. Requests without a known
 * credential belong to no installation and are not logged.
 */
function logAnsweredRequest(
  { operation, request, reply, requestId, viewer, refusedOwner }: RestRequestContext,
  { logRequest }: RestGatewayServices,
): void {
  const { statusCode: status } = reply;
  const owner = isApiKeyOrOauthViewer(viewer)
    ? getCredentialAndOwnerIds(viewer)
    : status === 401
      ? refusedOwner
      : undefined;
  if (owner === undefined) return;
  const { method, failureCode: errorCode } = request;
  logRequest({
    ...owner,
    id: requestId,
    operation: operation.id,
    method,
    status,
    errorCode,
    durationMs: Math.round(reply.elapsedTime),
  });
}

/**
 * Returns the parts of the caller's credential that may appear in log lines, for example the prefix of an API
 * key.
 */
function toLoggedCredential(viewer: Viewer): FastifyRequest["credential"] {
  if (viewer.kind === "api_key")
    return { installationId: viewer.installationId, keyPrefix: viewer.keyPrefix };
  return viewer.kind === "oauth" ? { installationId: viewer.installationId, grantId: viewer.grantId } : null;
}

async function runAll(runs: readonly RunStep[], call: RestRequestContext): Promise<void> {
  for (const run of runs) {
    const running = run(call);
    if (running !== undefined) await running;
  }
}

/**
 * Returns the headers that all answers of an operation have. `Vary` names `Authorization` even if the
 * operation needs no credential: the rate limit headers of the answer are different for requests with a valid
 * API key.
 */
function toFixedHeaders(
  { id, security, stability, deprecation, languageField, constantField, dependsOn }: RestOperation,
  publicUrl: string,
): Record<string, string> {
  return {
    "x-api-stability": stability,
    vary: [
      "Authorization",
      ...(languageField === null ? [] : ["Accept-Language"]),
      ...(constantField === null ? [] : ["Prefer"]),
      ...(dependsOn === null ? [] : ["Accept-Encoding"]),
    ].join(", "),
    ...(security.kind === "anonymous" ? { "access-control-allow-origin": "*" } : {}),
    ...toDeprecationHeaders(deprecation, `${publicUrl}/docs/operations/${id}`),
  };
}

const routePath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

/** Creates the function that executes the GraphQL document of a REST operation with the rights of the caller. */
export function createRestOperationExecutor(
  run: GraphqlDocumentRunner,
  services: GraphqlServices,
  runPublic: ReadRunnerWithPrimaryFallback,
): RestGatewayServices["execute"] {
  return (call, once) => {
    const { operation, viewer, requestId, request, variables } = call;
    const { id, document, languageField, security } = operation;
    // The Accept-Language header is read only for operations whose answers depend on the language, as their
    // `Vary` header says.
    const languages = languageField === null ? [] : parseAcceptLanguage(request.headers["accept-language"]);
    const caller = {
      viewer,
      requestId,
      languages,
      operationId: id,
      client: toClientAddressKey(request.ip),
      once,
      onOnce: once === null ? undefined : keepRecordedAnswer(call),
      reuseCallbacks: call.fill?.onReuse,
    };
    const runOn = (source?: DatabaseReadSource): ReturnType<GraphqlDocumentRunner> =>
      run(document, createGraphqlContext(services, { ...caller, source }), { variables });
    // An answer for the response cache is read from the primary database. A replica can lack a change whose
    // notice (NOTIFY) has already arrived, so the cache would keep an old answer.
    return security.kind === "anonymous" && call.fill === undefined ? runPublic(runOn) : runOn();
  };
}

const keepRecordedAnswer =
  (call: RestRequestContext): GraphqlContext["onOnce"] =>
  (once) => {
    call.recorded = once;
  };
