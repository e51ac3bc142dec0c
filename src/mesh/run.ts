/**
 * Executes every GraphQL document of this service. REST operations, event payloads, the checkout page,
 * `/graphql`, subscription events and CSV reports all call `run`, so the plugins of `.meshrc.yaml` apply to
 * every execution.
 */
import type { getMesh } from "@graphql-mesh/runtime";
import { handleMaybePromise, isPromise } from "@whatwg-node/promise-helpers";
import type { DocumentNode, ExecutionArgs, ExecutionResult } from "graphql";
import type { Plugin } from "graphql-yoga";
import type { GraphqlContext } from "#graph/context.ts";
import type { GraphqlVariables } from "./contract-schema.ts";

/** Options of one execution of a GraphQL document. */
export interface GraphqlDocumentRunOptions {
  readonly variables?: GraphqlVariables | null | undefined;
  /** The name of the operation to execute; required if the document has several operations. */
  readonly operationName?: string | null | undefined;
  /** The event for which the root field of a subscription is resolved; left out for queries and mutations. */
  readonly rootValue?: unknown;
}

/**
 * Executes a GraphQL document with Mesh. Errors are returned in `errors` of the result, already converted by
 * the plugin `failures.ts`. The promise is rejected only if a hook of an additional plugin throws; callers
 * then answer `internal_error`.
 */
export type GraphqlDocumentRunner = (
  document: DocumentNode,
  context: GraphqlContext,
  options?: GraphqlDocumentRunOptions,
) => Promise<ExecutionResult> | ExecutionResult;

/**
 * A Mesh plugin. If `isOnlyForMeshDev` is true, its context hooks are needed only under `mesh dev` and do
 * nothing in this service.
 */
export interface GraphqlMeshPlugin extends Plugin {
  readonly isOnlyForMeshDev?: true;
}

type MeshInstance = Pick<Awaited<ReturnType<typeof getMesh>>, "getEnveloped" | "schema">;

/**
 * Creates the function that executes documents with the same plugins as `mesh.execute`, but on the context
 * object that the caller passes. The properties that Mesh adds to every context (cache, logger, sources) are
 * created once and copied into each context. If a plugin has context hooks, Mesh adds the properties to each
 * context itself.
 */
export function createMeshDocumentRunner(
  { schema, getEnveloped }: MeshInstance,
  configured: readonly GraphqlMeshPlugin[],
): GraphqlDocumentRunner {
  // All plugins: those of Mesh, those of `.meshrc.yaml`, and those that these plugins have added.
  // eslint-disable-next-line no-underscore-dangle -- Envelop's name for the list that it calls.
  const execute = createGraphqlExecutorWithPluginHooks(getEnveloped._plugins as unknown as readonly Plugin[]);
  const extend = configured.some(hasContextHooks)
    ? extendEachContext(getEnveloped)
    : extendFromTemplate(getEnveloped);
  return (document, context, { variables: variableValues, operationName, rootValue } = {}) => {
    const args = { schema, document, contextValue: context, variableValues, operationName, rootValue };
    const extended = extend(context);
    return extended instanceof Promise ? extended.then(() => execute(args)) : execute(args);
  };
}

type Extend = (context: GraphqlContext) => unknown;

/**
 * Replaces the `headers` that Mesh adds to a context by an empty object, so that no Mesh source receives the
 * caller's credentials. `{context.headers[…]}` in the Mesh configuration is therefore empty.
 */
const noHeaders = { headers: {} };

function extendFromTemplate(getEnveloped: MeshInstance["getEnveloped"]): Extend {
  const meshContext = { ...(getEnveloped({}).contextFactory() as object), ...noHeaders };
  return (context) => void Object.assign(context, meshContext);
}

const extendEachContext =
  (getEnveloped: MeshInstance["getEnveloped"]): Extend =>
  (context) =>
    handleMaybePromise(
      () => getEnveloped(context).contextFactory(),
      () => void Object.assign(context, noHeaders),
    );

function hasContextHooks({
  onContextBuilding,
  onEnveloped,
  onPluginInit,
  isOnlyForMeshDev,
}: GraphqlMeshPlugin): boolean {
  return isOnlyForMeshDev !== true && (onContextBuilding ?? onEnveloped ?? onPluginInit) !== undefined;
}

type MaybePromise<Value> = Promise<Value> | Value;

interface ExecuteDonePayload {
  readonly args: ExecutionArgs;
  readonly result: ExecutionResult;
  readonly setResult: (result: ExecutionResult) => void;
}

interface DoneHooks {
  readonly onExecuteDone?: (payload: ExecuteDonePayload) => MaybePromise<unknown>;
}

/**
 * The argument that Envelop, the plugin system of Mesh, passes to an `onExecute` hook. `executeFn` is the
 * executor that earlier plugins have set.
 */
interface ExecutePayload {
  readonly args: ExecutionArgs;
  readonly context: unknown;
  executeFn: GraphqlDocumentExecutor;
  readonly setExecuteFn: (execute: GraphqlDocumentExecutor) => void;
  readonly setResultAndStopExecution: (result: ExecutionResult) => void;
  readonly extendContext: (extension: object) => void;
}

type ExecuteHook = (payload: ExecutePayload) => MaybePromise<DoneHooks | null | undefined>;

/**
 * Creates an executor that calls the hooks `onExecute` and `onExecuteDone` of all plugins in order, as
 * Envelop (the plugin system of Mesh) specifies: https://the-guild.dev/graphql/envelop/v4/plugins/lifecycle.
 * Envelop's own loop is not used, because it allocates 16 KB of memory for each execution, a fifth of what
 * reading a cart allocates. The first plugin sets the executor.
 */
export function createGraphqlExecutorWithPluginHooks(plugins: readonly Plugin[]): GraphqlDocumentExecutor {
  const hooks = plugins.flatMap(({ onExecute }) =>
    onExecute === undefined ? [] : [onExecute as unknown as ExecuteHook],
  );
  return (args) => {
    const done: DoneHooks[] = [];
    const outcome: { stopped?: ExecutionResult } = {};
    const payload: ExecutePayload = {
      args,
      context: args.contextValue,
      executeFn: noExecutor,
      setExecuteFn: (execute) => {
        payload.executeFn = execute;
      },
      setResultAndStopExecution: (result) => {
        outcome.stopped = result;
      },
      extendContext: (extension) => void Object.assign(args.contextValue as object, extension),
    };
    const addDoneHooks = (hooksAfter: DoneHooks | null | undefined): void => {
      if (hooksAfter !== null && hooksAfter !== undefined) done.push(hooksAfter);
    };
    const callFrom = (first: number): MaybePromise<ExecutionResult> => {
      for (let index = first; index < hooks.length && outcome.stopped === undefined; index += 1) {
        const answer = hooks[index]?.(payload);
        if (isPromise(answer)) {
          return answer.then((late) => {
            addDoneHooks(late);
            return callFrom(index + 1);
          });
        }
        addDoneHooks(answer);
      }
      const result = outcome.stopped ?? payload.executeFn(args);
      return isPromise(result) ? result.then((late) => finish(late, args, done)) : finish(result, args, done);
    };
    return callFrom(0);
  };
}

const noExecutor: GraphqlDocumentExecutor = () => {
  throw new Error("No plugin has set an executor.");
};

function finish(
  first: ExecutionResult,
  args: ExecutionArgs,
  done: readonly DoneHooks[],
): MaybePromise<ExecutionResult> {
  let result = first;
  const setResult = (next: ExecutionResult): void => {
    result = next;
  };
  for (const [index, { onExecuteDone }] of done.entries()) {
    const answer = onExecuteDone?.({ args, result, setResult });
    if (isPromise(answer)) return answer.then(() => finish(result, args, done.slice(index + 1)));
  }
  return result;
}

/**
 * The arguments with which a document is executed, including the context of the request. Under `mesh dev`,
 * Mesh's own server creates contexts without a caller.
 */
export interface GraphqlDocumentExecutionArgs extends Omit<ExecutionArgs, "contextValue"> {
  readonly document: DocumentNode;
  readonly contextValue: GraphqlContext;
}

/** Executes a GraphQL document in the same way as the `execute` function of graphql-js. */
export type GraphqlDocumentExecutor = (args: ExecutionArgs) => Promise<ExecutionResult> | ExecutionResult;

/**
 * Chooses the executor of a document. Returns an executor that replaces or wraps `execute`, or undefined to
 * keep `execute`.
 */
export type GraphqlExecutorOverride = (
  args: GraphqlDocumentExecutionArgs,
  execute: GraphqlDocumentExecutor,
) => GraphqlDocumentExecutor | undefined;

/**
 * Creates a Mesh plugin from an execution policy. Plugins are called in the order of `.meshrc.yaml`. Each
 * plugin wraps the executor that the earlier plugins have set, so the last plugin of the list runs first.
 */
export function createMeshExecutorWrappingPlugin(policy: GraphqlExecutorOverride): Plugin {
  return {
    onExecute: ({ args, executeFn, setExecuteFn }) => {
      const chosen = policy(
        args as unknown as GraphqlDocumentExecutionArgs,
        executeFn as GraphqlDocumentExecutor,
      );
      if (chosen !== undefined) setExecuteFn(chosen as Parameters<typeof setExecuteFn>[0]);
    },
  };
}
