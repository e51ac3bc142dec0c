/**
 * The one way in which this service executes a GraphQL document. REST operations, event payloads, the checkout page,
 * `/graphql`, events of subscriptions and CSV reports all call `run`, so every policy under `plugins:` in
 * `.meshrc.yaml` sees every execution.
 */
import type { getMesh } from "@graphql-mesh/runtime";
import { handleMaybePromise } from "@whatwg-node/promise-helpers";
import type { DocumentNode, ExecutionResult } from "graphql";
import type { Plugin } from "graphql-yoga";
import type { GraphContext } from "#graph/context.ts";
import type { Variables } from "./compile-document.ts";
import { executeWith } from "./execution-hooks.ts";

export interface RunOptions {
  readonly variables?: Variables | null | undefined;
  /** Needed for a document with more than one operation. */
  readonly operationName?: string | null | undefined;
  /** An event of a subscription; the document's fields are resolved on it. */
  readonly rootValue?: unknown;
}

/** Whatever fails is in `errors`, translated by the plugin `failures.ts`; only an error in a foreign plugin's hook rejects. */
export type Run = (document: DocumentNode, context: GraphContext, options?: RunOptions) => Promise<ExecutionResult> | ExecutionResult;

/** A plugin whose context hooks do nothing for contexts that this service made. */
export interface ForeignContextPlugin extends Plugin {
  readonly isForForeignContexts?: true;
}

type MeshInstance = Pick<Awaited<ReturnType<typeof getMesh>>, "getEnveloped" | "schema">;

/**
 * Does what `mesh.execute` does, with the same plugins, on the given context object. What Mesh adds to every context (its cache, its logger, the
 * sources) is the same for all, so it is built once; only a plugin with context hooks makes Mesh build each context.
 */
export function createRun({ schema, getEnveloped }: MeshInstance, configured: readonly ForeignContextPlugin[]): Run {
  // Mesh's own plugins, those of the configuration, and whatever these have added.
  // eslint-disable-next-line no-underscore-dangle -- Envelop's name for the list that it calls.
  const execute = executeWith(getEnveloped._plugins as unknown as readonly Plugin[]);
  const shared = getEnveloped({}).contextFactory() as object;
  const isBuilt = configured.some(hasContextHooks);
  return (document, context, { variables: variableValues, operationName, rootValue } = {}) => {
    const args = { schema, document, contextValue: context, variableValues, operationName, rootValue };
    if (!isBuilt) {
      Object.assign(context, shared);
      return execute(args);
    }
    return handleMaybePromise(
      () => getEnveloped(context).contextFactory(),
      (contextValue) => execute({ ...args, contextValue }),
    );
  };
}

function hasContextHooks({ onContextBuilding, onEnveloped, onPluginInit, isForForeignContexts }: ForeignContextPlugin): boolean {
  return isForForeignContexts !== true && (onContextBuilding ?? onEnveloped ?? onPluginInit) !== undefined;
}
