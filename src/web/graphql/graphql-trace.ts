/** What of a document stands in a trace: what kind of operation it is, and its fields at the root, which are names of the graph. Nothing that a client wrote. */
import { type DocumentNode, type ExecutionResult, getOperationAST } from "graphql";
import type { Plugin } from "graphql-yoga";
import { isTracing, type Span, type SpanStart, tracedPart } from "#foundation/tracing.ts";
import type { GraphContext } from "#graph/context.ts";
import { failuresOf } from "./graphql-failures.ts";
import { rootFields } from "./graphql-once.ts";

export function spanOfDocument(document: DocumentNode, operationName: string | null | undefined): SpanStart {
  const operation = getOperationAST(document, operationName);
  const fields = operation ? [...new Set(rootFields(operation.selectionSet, document).map(({ name }) => name.value))].toSorted() : [];
  const type = operation?.operation ?? "query";
  return { name: `graphql ${type}`, attributes: { "graphql.operation.type": type, "commerce.graphql.fields": fields } };
}

/** The execution as a part of the trace. Errors are a part of its result, which was not thrown: of them there is the first one's code. */
export function tracedExecution<Result>(start: SpanStart, execute: () => Result): Result {
  return tracedPart(start, (span) => {
    const running = execute();
    if (span === undefined) return running;
    if (!(running instanceof Promise)) return told(running, span);
    return running.then((result: unknown) => told(result, span)) as Result;
  });
}

function told<Result>(result: Result, span: Span): Result {
  const failures = isResult(result) ? failuresOf(result) : [];
  span.set({ "error.type": failures[0]?.code });
  if (failures.some(({ status }) => status >= 500)) span.markFailed();
  return result;
}

const isResult = (value: unknown): value is ExecutionResult => typeof value === "object" && value !== null && "errors" in value;

/** Around all that executes, what happens once included. */
export function traceExecution(): Plugin<GraphContext>[] {
  if (!isTracing()) return [];
  return [
    {
      onExecute({ args, executeFn, setExecuteFn }) {
        const start = spanOfDocument(args.document, args.operationName);
        setExecuteFn((input: unknown) => tracedExecution(start, () => (executeFn as (input: unknown) => unknown)(input)));
      },
    },
  ];
}
