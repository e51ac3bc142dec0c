/**
 * Converts all errors of an executed document to failures of the list in `foundation/failure.ts`. The
 * extensions of each error get the error body of the API. The message of an error that a resolver, the
 * database driver or Mesh throws is never sent.
 */
import type { ExecutionResult } from "graphql";
import type { Plugin } from "graphql-yoga";
import type { GraphqlContext } from "#graph/context.ts";
import { isBuiltInGraphqlDocument } from "#mesh/contract-schema.ts";
import {
  type GraphqlDocumentExecutor,
  type GraphqlDocumentExecutionArgs,
  createMeshExecutorWrappingPlugin,
} from "#mesh/run.ts";
import {
  toGraphqlError,
  getFailureOfGraphqlError,
  getFailuresOfGraphqlResult,
  PublicGraphqlError,
} from "#mesh/public-error.ts";

export default (): Plugin =>
  createMeshExecutorWrappingPlugin((args, execute) => (input): ReturnType<GraphqlDocumentExecutor> => {
    try {
      const running = execute(input);
      return running instanceof Promise
        ? running.then(
            (result) => convertErrors(result, args),
            (error: unknown) => toFailedResult(error, args),
          )
        : convertErrors(running, args);
    } catch (error) {
      return toFailedResult(error, args);
    }
  });

const toFailedResult = (error: unknown, args: GraphqlDocumentExecutionArgs): ExecutionResult =>
  convertErrors({ errors: [toGraphqlError(error)] }, args);

function convertErrors(
  result: ExecutionResult,
  { document, contextValue, schema }: GraphqlDocumentExecutionArgs,
): ExecutionResult {
  if (result.errors === undefined) return result;
  const { requestId, publicUrl, viewer }: Partial<GraphqlContext> = contextValue;
  const suggests = viewer?.kind === "internal" && viewer.role !== "storefront";
  // Under `mesh dev`, the context has no request id and no public URL, so empty texts replace them.
  const bodyContext = { requestId: requestId ?? "", publicUrl: publicUrl ?? "" };
  // Errors in a document of this service become `internal_error`, because this service and not the client
  // wrote the document.
  const failures = isBuiltInGraphqlDocument(document)
    ? result.errors.map((error) => getFailureOfGraphqlError(error))
    : getFailuresOfGraphqlResult(result, { suggests, schema });
  return {
    ...result,
    errors: failures.map(
      (failure, index) => new PublicGraphqlError(failure, bodyContext, result.errors?.[index]),
    ),
  };
}
