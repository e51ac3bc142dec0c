/**
 * Adds a span for each document of a client to the request's trace: the kind of operation and its root
 * fields, which are names of the graph. Nothing that a client wrote is in it.
 */
import { handleMaybePromise } from "@whatwg-node/promise-helpers";
import { type ExecutionResult, getOperationAST } from "graphql";
import type { Plugin } from "graphql-yoga";
import { isTracing, type Span, type SpanStart, tracedPart } from "#foundation/tracing.ts";
import { isOwnDocument } from "#mesh/contract-schema.ts";
import { rootFieldsOf } from "#mesh/idempotent-document.ts";
import { type Policy, type PolicyArgs, policyPlugin } from "#mesh/run.ts";
import { failureOfError } from "#mesh/public-error.ts";

/** Tracing is switched on before Mesh is opened, or not at all: without it there is no hook to call. */
export default (): Plugin => (isTracing() ? policyPlugin(withSpan) : {});

const withSpan: Policy = (args, execute) => {
  if (isOwnDocument(args.document)) return undefined;
  const start = spanOf(args);
  return (input) =>
    tracedPart(start, (span) =>
      handleMaybePromise(
        () => execute(input),
        (result) => (span === undefined ? result : noteErrors(result, span)),
      ),
    );
};

function spanOf({ document, operationName }: PolicyArgs): SpanStart {
  const operation = getOperationAST(document, operationName);
  const fields = operation
    ? [...new Set(rootFieldsOf(operation.selectionSet, document).map(({ name }) => name.value))].toSorted()
    : [];
  const type = operation?.operation ?? "query";
  return {
    name: `graphql ${type}`,
    attributes: { "graphql.operation.type": type, "commerce.graphql.fields": fields },
  };
}

function noteErrors(result: ExecutionResult, span: Span): ExecutionResult {
  const failures = (result.errors ?? []).map((error) => failureOfError(error));
  span.set({ "error.type": failures[0]?.code });
  if (failures.some(({ status }) => status >= 500)) span.markFailed();
  return result;
}
