/**
 * Adds a span to the request's trace for each document of a client. The span has the kind of operation and
 * the names of its root fields, but no text that the client wrote.
 */
import { handleMaybePromise } from "@whatwg-node/promise-helpers";
import { type ExecutionResult, getOperationAST } from "graphql";
import type { Plugin } from "graphql-yoga";
import { isTracingEnabled, type Span, type SpanOptions, runInChildSpan } from "#foundation/tracing.ts";
import { isBuiltInGraphqlDocument } from "#mesh/contract-schema.ts";
import { getGraphqlRootFields } from "#mesh/idempotent-document.ts";
import {
  type GraphqlExecutorOverride,
  type GraphqlDocumentExecutionArgs,
  createMeshExecutorWrappingPlugin,
} from "#mesh/run.ts";
import { getFailureOfGraphqlError } from "#mesh/public-error.ts";

/**
 * Creates the plugin; without tracing, the plugin has no hooks. Tracing is started before GraphQL Mesh is
 * opened, so this function already knows whether tracing is on.
 */
export default (): Plugin => (isTracingEnabled() ? createMeshExecutorWrappingPlugin(traceExecution) : {});

const traceExecution: GraphqlExecutorOverride = (args, execute) => {
  if (isBuiltInGraphqlDocument(args.document)) return undefined;
  const start = createSpanOptions(args);
  return (input) =>
    runInChildSpan(start, (span) =>
      handleMaybePromise(
        () => execute(input),
        (result) => (span === undefined ? result : addErrorsToSpan(result, span)),
      ),
    );
};

function createSpanOptions({ document, operationName }: GraphqlDocumentExecutionArgs): SpanOptions {
  const operation = getOperationAST(document, operationName);
  const fields = operation
    ? [
        ...new Set(getGraphqlRootFields(operation.selectionSet, document).map(({ name }) => name.value)),
      ].toSorted()
    : [];
  const type = operation?.operation ?? "query";
  return {
    name: `graphql ${type}`,
    attributes: { "graphql.operation.type": type, "commerce.graphql.fields": fields },
  };
}

function addErrorsToSpan(result: ExecutionResult, span: Span): ExecutionResult {
  const failures = (result.errors ?? []).map((error) => getFailureOfGraphqlError(error));
  span.set({ "error.type": failures[0]?.code });
  if (failures.some(({ status }) => status >= 500)) span.markFailed();
  return result;
}
