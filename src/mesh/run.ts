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
import { executeWith } from "./policy.ts";

export interface RunOptions {
  readonly variables?: Variables | null | undefined;
  /** Needed for a document with more than one operation. */
  readonly operationName?: string | null | undefined;
  /** An event of a subscription; the document's fields are resolved on it. */
  readonly rootValue?: unknown;
}

/** Whatever fails is in `errors`, translated by the plugin `failures.ts`. Rejects only if a hook of an added plugin throws, which callers mask as every bug. */
export type Run = (document: DocumentNode, context: GraphContext, options?: RunOptions) => Promise<ExecutionResult> | ExecutionResult;

/** A plugin whose context hooks do nothing in this service: they find the caller for `mesh dev`. */
export interface MeshDevPlugin extends Plugin {
  readonly isOnlyForMeshDev?: true;
}

type MeshInstance = Pick<Awaited<ReturnType<typeof getMesh>>, "getEnveloped" | "schema">;

/**
 * Does what `mesh.execute` does, with the same plugins, on the given context object. What Mesh adds to every context (its cache, its logger, the
 * sources) is the same for all, so it is built once; only a plugin with context hooks makes Mesh build each context.
 */
export function createRun({ schema, getEnveloped }: MeshInstance, configured: readonly MeshDevPlugin[]): Run {
  // Mesh's own plugins, those of the configuration, and whatever these have added.
  // eslint-disable-next-line no-underscore-dangle -- Envelop's name for the list that it calls.
  const execute = executeWith(getEnveloped._plugins as unknown as readonly Plugin[]);
  const extend = configured.some(hasContextHooks) ? extendEach(getEnveloped) : extendAlike(getEnveloped);
  return (document, context, { variables: variableValues, operationName, rootValue } = {}) => {
    const args = { schema, document, contextValue: context, variableValues, operationName, rootValue };
    const extended = extend(context);
    return extended instanceof Promise ? extended.then(() => execute(args)) : execute(args);
  };
}

type Extend = (context: GraphContext) => unknown;

/** No source gets our callers' headers, which have their credentials: `{context.headers[…]}` in a configuration is empty. */
const noHeaders = { headers: {} };

function extendAlike(getEnveloped: MeshInstance["getEnveloped"]): Extend {
  const meshContext = { ...(getEnveloped({}).contextFactory() as object), ...noHeaders };
  return (context) => void Object.assign(context, meshContext);
}

const extendEach =
  (getEnveloped: MeshInstance["getEnveloped"]): Extend =>
  (context) =>
    handleMaybePromise(
      () => getEnveloped(context).contextFactory(),
      () => void Object.assign(context, noHeaders),
    );

function hasContextHooks({ onContextBuilding, onEnveloped, onPluginInit, isOnlyForMeshDev }: MeshDevPlugin): boolean {
  return isOnlyForMeshDev !== true && (onContextBuilding ?? onEnveloped ?? onPluginInit) !== undefined;
}
