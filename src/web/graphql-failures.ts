/** Gives every GraphQL error the contract's error body as its extensions, and the answer its status. What the registry does not know is masked. */
import { type ExecutionResult, GraphQLError } from "graphql";
import type { Plugin } from "graphql-yoga";
import { orUnavailable } from "#database/unavailable.ts";
import { Failure, fail, toErrorBody, toFailure } from "#foundation/failure.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphContext } from "#graph/context.ts";

interface FailureServices {
  readonly publicUrl: string;
  readonly log: Log;
}

export function showFailures(services: FailureServices): Plugin<GraphContext> {
  return {
    onResultProcess(process) {
      const { result, serverContext } = process;
      if (Array.isArray(result) || !("errors" in result) || result.errors === undefined) return;
      const context = serverContext as unknown as Partial<GraphContext> & { readonly asker?: { readonly id: string; failureCode: string | null } };
      const requestId = context.asker?.id ?? context.requestId ?? "";
      const failures = result.errors.map((error) => failureOf(error, result));
      const status = statusOf(failures, result);
      if (context.asker !== undefined) context.asker.failureCode = failures[0]?.code ?? null;
      for (const failure of failures) {
        if (failure.status >= 500) services.log.error({ requestId, code: failure.code, err: failure.cause }, "A GraphQL request failed on our side.");
      }
      const errors = failures.map((failure, index) =>
        toGraphqlError(failure, result.errors?.[index], { requestId, status, publicUrl: services.publicUrl }),
      );
      process.setResult({ ...result, errors });
    },
  };
}

/** Without `data` nothing was executed: what could not be parsed or validated is the client's, and GraphQL's own words help. */
function failureOf(error: unknown, result: ExecutionResult): Failure {
  const original = error instanceof GraphQLError ? error.originalError : error;
  if (original instanceof Failure) return original;
  const isGraphqlsOwn = error instanceof GraphQLError && (original === undefined || original === null || original instanceof GraphQLError);
  if (isGraphqlsOwn && !("data" in result)) return fail("malformed_request", { message: error.message });
  if (isGraphqlsOwn && error.message.startsWith("Variable ")) return fail("malformed_request", { message: error.message });
  return orUnavailable(toFailure(original));
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
  const extensions = { ...toErrorBody(failure, requestId, publicUrl), http: { status } };
  if (!(error instanceof GraphQLError)) return new GraphQLError(failure.message, { extensions });
  const { nodes, source, positions, path } = error;
  return new GraphQLError(failure.message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
    extensions,
  });
}
