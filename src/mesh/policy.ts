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

/**
 * A Mesh plugin with one policy. Plugins are called in the order of `.meshrc.yaml`, and each wraps the executor that
 * the ones before it have set: the last plugin of the list is the outermost.
 */
export function policyPlugin(policy: Policy): Plugin {
  return {
    onExecute: ({ args, executeFn, setExecuteFn }) => {
      const chosen = policy(args as unknown as PolicyArgs, executeFn as Execute);
      if (chosen !== undefined) setExecuteFn(chosen as Parameters<typeof setExecuteFn>[0]);
    },
  };
}
