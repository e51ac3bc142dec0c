/**
 * Converts the errors of GraphQL answers to the API's error format. Each error contains the API's error body
 * in `extensions`, and the answer has the HTTP status of the failure.
 */
import type { FastifyRequest } from "fastify";
import { type ExecutionResult, GraphQLError, type GraphQLSchema } from "graphql";
import type { Plugin } from "graphql-yoga";
import { type Failure, getRetryAfterSeconds } from "#foundation/failure.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphqlContext } from "#graph/context.ts";
import { getFailuresOfGraphqlResult, PublicGraphqlError } from "#mesh/public-error.ts";
import { stringifyResult } from "#mesh/result-text.ts";
import { type YogaServerContext, getRequestViewer } from "./authenticate.ts";

export interface FailureToGraphqlErrorServices {
  readonly publicUrl: string;
  readonly log: Log;
  readonly schema: GraphQLSchema;
}

/**
 * A plugin for the GraphQL server Yoga that converts all errors of a request to failures of the API. These
 * include errors of documents that cannot be parsed or validated.
 */
export function createGraphqlErrorConversionPlugin(
  services: FailureToGraphqlErrorServices,
): Plugin<GraphqlContext> {
  return {
    onResultProcess(process) {
      const { result, serverContext } = process;
      if (Array.isArray(result) || !("errors" in result) || result.errors === undefined) return;
      const { caller } = serverContext as unknown as YogaServerContext;
      const { errors, status } = publicErrors(result, caller, services);
      process.setResult({ ...result, errors: errors.map((error) => withHttp(error, status)) });
    },
  };
}

/** The HTTP status, headers and body of an answer of `/graphql`. */
export interface GraphqlHttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const answerHeaders = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };

/**
 * Creates the HTTP answer for a GraphQL result that is sent without Yoga. Yoga would send exactly the same
 * answer.
 */
export function toGraphqlHttpAnswer(
  result: ExecutionResult,
  caller: FastifyRequest,
  services: FailureToGraphqlErrorServices,
): GraphqlHttpAnswer {
  if (result.errors === undefined)
    return { status: 200, headers: answerHeaders, body: stringifyResult(result) };
  const { errors, status } = publicErrors(result, caller, services);
  const retryAfter = errors.map(({ failure }) => headersFor(failure, status));
  return {
    status,
    headers: Object.assign({ ...answerHeaders }, ...retryAfter),
    body: JSON.stringify({ ...result, errors }),
  };
}

/**
 * Converts the errors in one result of a subscription to failures of the API. The Yoga plugin cannot do this,
 * because these results are sent as server-sent events and not by Yoga.
 */
export function convertSubscriptionErrorsToFailures(
  result: ExecutionResult,
  caller: FastifyRequest,
  services: FailureToGraphqlErrorServices,
): object {
  if (result.errors === undefined) return result;
  const { errors } = publicErrors(result, caller, services);
  return { errors: errors.map((error) => error.toJSON()), data: result.data, extensions: result.extensions };
}

/**
 * The roles that get no suggestions of similar field names in an error about an unknown field. Only other
 * roles may read some of the suggested fields.
 */
const rolesWithoutSuggestions: ReadonlySet<string> = new Set(["storefront", "browser"]);

/**
 * Converts the errors of a GraphQL result to failures of the API. Errors that already are failures stay
 * unchanged. Logs the errors that this service caused.
 */
function publicErrors(
  result: ExecutionResult,
  caller: FastifyRequest,
  { publicUrl, log, schema }: FailureToGraphqlErrorServices,
): { errors: PublicGraphqlError[]; status: number } {
  const suggests = !rolesWithoutSuggestions.has(getRequestViewer(caller)?.role ?? "");
  const failures = getFailuresOfGraphqlResult(result, { suggests, schema });
  if (failures.some(({ status }) => status >= 500)) caller.span?.markFailed();
  caller.failureCode = failures[0]?.code ?? null;
  for (const failure of failures) {
    if (failure.status >= 500)
      log.error(
        { requestId: caller.id, code: failure.code, err: failure.cause },
        "A GraphQL request failed with a server error.",
      );
  }
  const errors = failures.map((failure, index) =>
    asPublicError(failure, result.errors?.[index], { requestId: caller.id, publicUrl }),
  );
  return { errors, status: statusOf(failures, result) };
}

function asPublicError(
  failure: Failure,
  error: unknown,
  origin: { readonly requestId: string; readonly publicUrl: string },
): PublicGraphqlError {
  return error instanceof PublicGraphqlError ? error : new PublicGraphqlError(failure, origin, error);
}

function statusOf(failures: readonly Failure[], result: ExecutionResult): number {
  const isRefused = failures.every(({ code }) => code === "role_not_allowed");
  if (isRefused && Object.values(result.data ?? {}).every((value) => value === null)) return 403;
  if (!("data" in result)) return Math.max(...failures.map(({ status }) => status));
  return 200;
}

/**
 * Adds the HTTP status and headers of the answer to an error, in `extensions.http`. Yoga reads
 * `extensions.http` and removes it before the error is sent to the client.
 */
function withHttp(error: PublicGraphqlError, status: number): GraphQLError {
  const { message, nodes, source, positions, path, failure, extensions } = error;
  const headers = headersFor(failure, status);
  return new GraphQLError(message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
    extensions: { ...extensions, http: { status, headers } },
    // The failure is stored as `originalError`, so that a second conversion recognizes an error that is
    // already converted.
    originalError: failure,
  });
}

function headersFor(failure: Failure, status: number): Readonly<Record<string, string>> {
  const retryAfter = status === failure.status ? getRetryAfterSeconds(failure) : null;
  return retryAfter === null ? {} : { "retry-after": String(retryAfter) };
}
