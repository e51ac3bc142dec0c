/**
 * The one way in which this service executes a GraphQL document. REST operations, event payloads, the checkout page,
 * `/graphql`, events of subscriptions and CSV reports all call `run`, so every policy under `plugins:` in
 * `.meshrc.yaml` sees every execution.
 */
import type { getMesh } from "@graphql-mesh/runtime";
import { handleMaybePromise } from "@whatwg-node/promise-helpers";
import type { DocumentNode, ExecutionArgs, ExecutionResult } from "graphql";
import type { Plugin } from "graphql-yoga";
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

/** A plugin whose context hooks do nothing for contexts that this service made. */
export interface ForeignContextPlugin extends Plugin {
  readonly isForForeignContexts?: true;
}

type MeshInstance = Pick<Awaited<ReturnType<typeof getMesh>>, "getEnveloped" | "schema">;
type Execute = (args: ExecutionArgs) => ReturnType<Run>;

/**
 * Does what `mesh.execute` does, on the given context object. What Mesh adds to every context (its cache, its logger, the
 * sources) is the same for all, so it is built once; only a plugin with context hooks makes Mesh build each context.
 */
export function createRun(mesh: MeshInstance, plugins: readonly ForeignContextPlugin[]): Run {
  const run = plugins.some(hasContextHooks) ? runInBuiltContext(mesh) : runInOwnContext(mesh);
  return (document, context, { variables, operationName, rootValue } = {}) =>
    run({ schema: mesh.schema, document, contextValue: context, variableValues: variables, operationName, rootValue });
}

function hasContextHooks({ onContextBuilding, onEnveloped, onPluginInit, isForForeignContexts }: ForeignContextPlugin): boolean {
  return isForForeignContexts !== true && (onContextBuilding ?? onEnveloped ?? onPluginInit) !== undefined;
}

function runInOwnContext({ getEnveloped }: MeshInstance): Execute {
  const { execute, contextFactory } = getEnveloped({});
  const shared: object = contextFactory() as object;
  return (args) => {
    Object.assign(args.contextValue as object, shared);
    return execute(args) as ReturnType<Run>;
  };
}

const runInBuiltContext =
  ({ getEnveloped }: MeshInstance): Execute =>
  (args) => {
    const { contextFactory, execute } = getEnveloped(args.contextValue as object);
    return handleMaybePromise(
      () => contextFactory(),
      (contextValue) => execute({ ...args, contextValue }) as ReturnType<Run>,
    );
  };
