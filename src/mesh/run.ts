/**
 * The one way in which this service executes a GraphQL document. REST operations, event payloads, the checkout page,
 * `/graphql`, events of subscriptions and CSV reports all call `run`, so every policy under `plugins:` in
 * `.meshrc.yaml` sees every execution.
 */
import type { getMesh } from "@graphql-mesh/runtime";
import { handleMaybePromise } from "@whatwg-node/promise-helpers";
import type { DocumentNode, ExecutionResult } from "graphql";
import type { GraphContext } from "#graph/context.ts";
import type { Variables } from "./compile-document.ts";

export interface RunOptions {
  readonly variables?: Variables | null | undefined;
  /** Needed for a document with more than one operation. */
  readonly operationName?: string | null | undefined;
  /** An event of a subscription; the document's fields are resolved on it. */
  readonly rootValue?: unknown;
}

/** Never throws and never rejects: whatever fails is in `errors`, translated by the plugin `failures.ts`. */
export type Run = (document: DocumentNode, context: GraphContext, options?: RunOptions) => Promise<ExecutionResult> | ExecutionResult;

type MeshInstance = Awaited<ReturnType<typeof getMesh>>;

/** Does what `mesh.execute` does, but on the given context object instead of on a copy of it. */
export function createRun({ getEnveloped, schema }: Pick<MeshInstance, "getEnveloped" | "schema">): Run {
  return (document, context, { variables, operationName, rootValue } = {}) => {
    const { contextFactory, execute } = getEnveloped(context);
    return handleMaybePromise(
      () => contextFactory(),
      (contextValue) => execute({ schema, document, contextValue, variableValues: variables, operationName, rootValue }) as ReturnType<Run>,
    );
  };
}
