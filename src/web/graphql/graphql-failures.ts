/** Gives every GraphQL error the contract's error body as its extensions, and the answer its status. What the registry does not know is masked. */
import type { FastifyRequest } from "fastify";
import { type ExecutionResult, GraphQLError } from "graphql";
import type { Plugin } from "graphql-yoga";
import { orUnavailable } from "#database/unavailable.ts";
import { Failure, fail, toErrorBody, toFailure } from "#foundation/failure.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphContext } from "#graph/context.ts";
import { type Arrival, viewerOf } from "./asker.ts";
import { withoutValues } from "./graphql-messages.ts";

export interface FailureServices {
  readonly publicUrl: string;
  readonly log: Log;
}

export function showFailures(services: FailureServices): Plugin<GraphContext> {
  return {
    onResultProcess(process) {
      const { result, serverContext } = process;
      if (Array.isArray(result) || !("errors" in result) || result.errors === undefined) return;
      const { asker } = serverContext as unknown as Arrival;
      const { failures, status } = tellFailures(result, asker, services.log);
      const errors = failures.map((failure, index) =>
        toGraphqlError(failure, result.errors?.[index], { requestId: asker.id, status, publicUrl: services.publicUrl }),
      );
      process.setResult({ ...result, errors });
    },
  };
}

interface Told {
  readonly failures: readonly Failure[];
  readonly status: number;
}

/** The same for whoever asked; what is our fault is logged. */
function tellFailures(result: ExecutionResult, asker: FastifyRequest, log: Log): Told {
  const failures = failuresOf(result, viewerOf(asker)?.role !== "storefront");
  if (failures.some(({ status }) => status >= 500)) asker.span?.markFailed();
  asker.failureCode = failures[0]?.code ?? null;
  for (const failure of failures) {
    if (failure.status >= 500) log.error({ requestId: asker.id, code: failure.code, err: failure.cause }, "A GraphQL request failed on our side.");
  }
  return { failures, status: statusOf(failures, result) };
}

/** What the errors of a result stand for. */
export function failuresOf(result: ExecutionResult, suggests = false): readonly Failure[] {
  return (result.errors ?? []).map((error) => failureOf(error, { result, suggests }));
}

/** A result that does not pass through Yoga, with its errors as they are sent. */
export function showResult(
  result: ExecutionResult,
  asker: FastifyRequest,
  { publicUrl, log }: FailureServices,
): { readonly status: number; readonly result: object } {
  if (result.errors === undefined) return { status: 200, result };
  const { failures, status } = tellFailures(result, asker, log);
  const errors = failures.map((failure, index) => {
    const { locations, path } = result.errors?.[index] ?? {};
    return { message: failure.message, locations, path, extensions: toErrorBody(failure, asker.id, publicUrl) };
  });
  return { status, result: { errors, data: result.data, extensions: result.extensions } };
}

/**
 * Mesh gives an error's origin away in its extensions and forgets the object: what failed is kept from it, right where it comes out of the
 * executor, and read again by showFailures.
 */
export function keepFailures(): Plugin<GraphContext> {
  return {
    onExecute({ executeFn, setExecuteFn }) {
      setExecuteFn(async (args: unknown) => {
        const result = await (executeFn as (input: unknown) => Promise<ExecutionResult>)(args);
        if (result.errors === undefined) return result;
        return { ...result, errors: result.errors.map(withoutOrigin) };
      });
    },
  };
}

/** A failure on its way to showFailures. */
export function asGraphqlError(failure: Failure): GraphQLError {
  return withoutOrigin(new GraphQLError(failure.message, { originalError: failure }));
}

const kept = new WeakMap<GraphQLError, unknown>();

/** What was thrown where the error arose. */
export function originOf(error: GraphQLError): unknown {
  return kept.get(error) ?? error.originalError;
}

function withoutOrigin(error: GraphQLError): GraphQLError {
  const { nodes, source, positions, path, originalError } = error;
  if (originalError === undefined || originalError instanceof GraphQLError) return error;
  const bare = new GraphQLError(error.message, { nodes: nodes ?? null, source: source ?? null, positions: positions ?? null, path: path ?? null });
  kept.set(bare, originalError);
  return bare;
}

interface Seen {
  readonly result: ExecutionResult;
  /** Whether GraphQL may name fields that resemble a wrong one: it would tell a storefront what there is for others. */
  readonly suggests: boolean;
}

/** Without `data` nothing was executed: what could not be parsed or validated is the client's, and GraphQL's own words help, but for what they quote. */
function failureOf(error: unknown, { result, suggests }: Seen): Failure {
  const original = error instanceof GraphQLError ? originOf(error) : error;
  if (original instanceof Failure) return original;
  const isGraphqlsOwn = error instanceof GraphQLError && (original === undefined || original === null || original instanceof GraphQLError);
  if (!isGraphqlsOwn) return orUnavailable(toFailure(original));
  const isClients = !("data" in result) || error.message.startsWith("Variable ");
  if (!isClients) return fail("internal_error", { cause: error });
  const message = withoutValues(error.message);
  return fail("malformed_request", { message: suggests ? message : message.replace(/ Did you mean .*$/s, "") });
}

function statusOf(failures: readonly Failure[], result: ExecutionResult): number {
  const isRefused = failures.every(({ code }) => code === "role_not_allowed");
  if (isRefused && Object.values(result.data ?? {}).every((value) => value === null)) return 403;
  if (!("data" in result)) return Math.max(...failures.map(({ status }) => status));
  return 200;
}

interface Shown {
  readonly requestId: string;
  readonly status: number;
  readonly publicUrl: string;
}

function toGraphqlError(failure: Failure, error: unknown, { requestId, status, publicUrl }: Shown): GraphQLError {
  const body = toErrorBody(failure, requestId, publicUrl);
  const isToWait = status === failure.status && body.retryAfterSeconds !== null;
  const headers = isToWait ? { "retry-after": String(body.retryAfterSeconds) } : {};
  const extensions = { ...body, http: { status, headers } };
  // With the failure as its origin, an error that passes here again stays what it is.
  if (!(error instanceof GraphQLError)) return new GraphQLError(failure.message, { extensions, originalError: failure });
  const { nodes, source, positions, path } = error;
  return new GraphQLError(failure.message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
    extensions,
    originalError: failure,
  });
}
