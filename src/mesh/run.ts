/**
 * The one way in which this service executes a GraphQL document. REST operations, event payloads, the
 * checkout page, `/graphql`, events of subscriptions and CSV reports all call `run`, so every policy under
 * `plugins:` in `.meshrc.yaml` sees every execution.
 */
import type { getMesh } from "@graphql-mesh/runtime";
import { handleMaybePromise, isPromise } from "@whatwg-node/promise-helpers";
import type { DocumentNode, ExecutionArgs, ExecutionResult } from "graphql";
import type { Plugin } from "graphql-yoga";
import type { GraphContext } from "#graph/context.ts";
import type { QueryVariables } from "./contract-schema.ts";

export interface RunOptions {
  readonly variables?: QueryVariables | null | undefined;
  /** Needed for a document with more than one operation. */
  readonly operationName?: string | null | undefined;
  /** An event of a subscription; the document's fields are resolved on it. */
  readonly rootValue?: unknown;
}

/**
 * Whatever fails is in `errors`, translated by the plugin `failures.ts`. Rejects only if a hook of an added
 * plugin throws, which callers mask as every bug.
 */
export type RunDocument = (
  document: DocumentNode,
  context: GraphContext,
  options?: RunOptions,
) => Promise<ExecutionResult> | ExecutionResult;

/** A plugin whose context hooks do nothing in this service: they find the caller for `mesh dev`. */
export interface MeshDevPlugin extends Plugin {
  readonly isOnlyForMeshDev?: true;
}

type MeshInstance = Pick<Awaited<ReturnType<typeof getMesh>>, "getEnveloped" | "schema">;

/**
 * Does what `mesh.execute` does, with the same plugins, on the given context object. What Mesh adds to every
 * context (its cache, its logger, the sources) is the same for all, so it is built once; only a plugin with
 * context hooks makes Mesh build each context.
 */
export function createRunDocument(
  { schema, getEnveloped }: MeshInstance,
  configured: readonly MeshDevPlugin[],
): RunDocument {
  // Mesh's own plugins, those of the configuration, and whatever these have added.
  // eslint-disable-next-line no-underscore-dangle -- Envelop's name for the list that it calls.
  const execute = createHookedExecutor(getEnveloped._plugins as unknown as readonly Plugin[]);
  const extend = configured.some(hasContextHooks) ? extendEach(getEnveloped) : extendAlike(getEnveloped);
  return (document, context, { variables: variableValues, operationName, rootValue } = {}) => {
    const args = { schema, document, contextValue: context, variableValues, operationName, rootValue };
    const extended = extend(context);
    return extended instanceof Promise ? extended.then(() => execute(args)) : execute(args);
  };
}

type Extend = (context: GraphContext) => unknown;

/**
 * No source gets our callers' headers, which have their credentials: `{context.headers[…]}` in a
 * configuration is empty.
 */
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

function hasContextHooks({
  onContextBuilding,
  onEnveloped,
  onPluginInit,
  isOnlyForMeshDev,
}: MeshDevPlugin): boolean {
  return isOnlyForMeshDev !== true && (onContextBuilding ?? onEnveloped ?? onPluginInit) !== undefined;
}

type MaybePromise<Value> = Promise<Value> | Value;

interface DonePayload {
  readonly args: ExecutionArgs;
  readonly result: ExecutionResult;
  readonly setResult: (result: ExecutionResult) => void;
}

interface DoneHooks {
  readonly onExecuteDone?: (payload: DonePayload) => MaybePromise<unknown>;
}

/** What a hook is given. `executeFn` is the executor that the hooks before have set. */
interface ExecutePayload {
  readonly args: ExecutionArgs;
  readonly context: unknown;
  executeFn: ExecuteDocument;
  readonly setExecuteFn: (execute: ExecuteDocument) => void;
  readonly setResultAndStopExecution: (result: ExecutionResult) => void;
  readonly extendContext: (extension: object) => void;
}

type ExecuteHook = (payload: ExecutePayload) => MaybePromise<DoneHooks | null | undefined>;

/**
 * Calls `onExecute` and `onExecuteDone` of all plugins of a Mesh instance in their order, as Envelop
 * specifies (https://the-guild.dev/graphql/envelop/v4/plugins/lifecycle). Envelop's own loop around the same
 * hooks allocates 16 KB for each execution, a fifth of what reading a cart allocates. The first plugin sets
 * the executor.
 */
export function createHookedExecutor(plugins: readonly Plugin[]): ExecuteDocument {
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
    const note = (hooksAfter: DoneHooks | null | undefined): void => {
      if (hooksAfter !== null && hooksAfter !== undefined) done.push(hooksAfter);
    };
    const callFrom = (first: number): MaybePromise<ExecutionResult> => {
      for (let index = first; index < hooks.length && outcome.stopped === undefined; index += 1) {
        const answer = hooks[index]?.(payload);
        if (isPromise(answer)) {
          return answer.then((late) => {
            note(late);
            return callFrom(index + 1);
          });
        }
        note(answer);
      }
      const result = outcome.stopped ?? payload.executeFn(args);
      return isPromise(result) ? result.then((late) => finish(late, args, done)) : finish(result, args, done);
    };
    return callFrom(0);
  };
}

const noExecutor: ExecuteDocument = () => {
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

/** A Mesh server that this service did not start (`mesh dev`) makes contexts without a caller. */
export interface ExecutionPolicyArgs extends Omit<ExecutionArgs, "contextValue"> {
  readonly document: DocumentNode;
  readonly contextValue: GraphContext;
}

export type ExecuteDocument = (args: ExecutionArgs) => Promise<ExecutionResult> | ExecutionResult;

/**
 * Gives the executor to use instead of `execute`, or undefined if the policy has nothing to do with this
 * document.
 */
export type ExecutionPolicy = (
  args: ExecutionPolicyArgs,
  execute: ExecuteDocument,
) => ExecuteDocument | undefined;

/**
 * A Mesh plugin with one policy. Plugins are called in the order of `.meshrc.yaml`, and each wraps the
 * executor that the ones before it have set: the last plugin of the list is the outermost.
 */
export function createPolicyPlugin(policy: ExecutionPolicy): Plugin {
  return {
    onExecute: ({ args, executeFn, setExecuteFn }) => {
      const chosen = policy(args as unknown as ExecutionPolicyArgs, executeFn as ExecuteDocument);
      if (chosen !== undefined) setExecuteFn(chosen as Parameters<typeof setExecuteFn>[0]);
    },
  };
}
