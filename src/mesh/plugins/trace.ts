/**
 * Adds a span for each document of a client to the request's trace: the kind of operation and its root
 * fields, which are names of the graph. Nothing that a client wrote is in it.
 */
import { handleMaybePromise } from "@whatwg-node/promise-helpers";
import { type ExecutionResult, getOperationAST } from "graphql";
import type { Plugin } from "graphql-yoga";
import { isTracing, type Span, type SpanStart, tracedPart } from "#foundation/tracing.ts";
import { isServiceDocument } from "#mesh/contract-schema.ts";
import { getRootFields } from "#mesh/idempotent-document.ts";
import { type ExecutionPolicy, type ExecutionPolicyArgs, createPolicyPlugin } from "#mesh/run.ts";
import { getFailureOfError } from "#mesh/public-error.ts";

/** Tracing is switched on before Mesh is opened, or not at all: without it there is no hook to call. */
export default (): Plugin => (isTracing() ? createPolicyPlugin(withSpan) : {});

const withSpan: ExecutionPolicy = (args, execute) => {
  if (isServiceDocument(args.document)) return undefined;
  const start = spanOf(args);
  return (input) =>
    tracedPart(start, (span) =>
      handleMaybePromise(
        () => execute(input),
        (result) => (span === undefined ? result : noteErrors(result, span)),
      ),
    );
};

function spanOf({ document, operationName }: ExecutionPolicyArgs): SpanStart {
  const operation = getOperationAST(document, operationName);
  const fields = operation
    ? [...new Set(getRootFields(operation.selectionSet, document).map(({ name }) => name.value))].toSorted()
    : [];
  const type = operation?.operation ?? "query";
  return {
    name: `graphql ${type}`,
    attributes: { "graphql.operation.type": type, "commerce.graphql.fields": fields },
  };
}

function noteErrors(result: ExecutionResult, span: Span): ExecutionResult {
  const failures = (result.errors ?? []).map((error) => getFailureOfError(error));
  span.set({ "error.type": failures[0]?.code });
  if (failures.some(({ status }) => status >= 500)) span.markFailed();
  return result;
}
