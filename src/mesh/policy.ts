/** What the plugins of `.meshrc.yaml` share: how a policy is put around an execution. */
import type { DocumentNode, ExecutionArgs, ExecutionResult } from "graphql";
import type { Plugin } from "graphql-yoga";
import type { GraphContext } from "#graph/context.ts";

/** A Mesh server that this service did not start (`mesh dev`) makes contexts without a caller. */
export interface PolicyArgs extends Omit<ExecutionArgs, "contextValue"> {
  readonly document: DocumentNode;
  readonly contextValue: GraphContext;
}

export type Execute = (args: ExecutionArgs) => Promise<ExecutionResult> | ExecutionResult;

/** Gives the executor to use instead of `execute`, or undefined if the policy has nothing to do with this document. */
export type Policy = (args: PolicyArgs, execute: Execute) => Execute | undefined;

/** A Mesh plugin that consists of one policy. */
export interface PolicyPlugin extends Plugin {
  readonly policies: readonly Policy[];
}

/**
 * A Mesh plugin with these policies. Plugins are called in the order of `.meshrc.yaml`, and each wraps the executor
 * that the ones before it have set: the last plugin of the list is the outermost.
 */
export function policyPlugin(...policies: readonly Policy[]): PolicyPlugin {
  return {
    policies,
    onExecute: ({ args, executeFn, setExecuteFn }) => {
      let execute = executeFn as Execute;
      for (const policy of policies) execute = policy(args as unknown as PolicyArgs, execute) ?? execute;
      setExecuteFn(execute as Parameters<typeof setExecuteFn>[0]);
    },
  };
}

/**
 * The same plugins with neighbouring policies in one hook. Envelop allocates 2 KB for each hook that it calls, at each
 * execution: with one hook for each policy that was a fifth of what reading a cart allocates.
 */
export function joinPolicies(plugins: readonly Plugin[]): Plugin[] {
  const joined: Plugin[] = [];
  for (const plugin of plugins) {
    const last = joined.at(-1);
    if (last !== undefined && isPolicyPlugin(last) && isPolicyPlugin(plugin))
      joined.splice(-1, 1, policyPlugin(...last.policies, ...plugin.policies));
    else joined.push(plugin);
  }
  return joined;
}

const isPolicyPlugin = (plugin: Plugin): plugin is PolicyPlugin => "policies" in plugin;
