/** What one query may cost and how long it may run: decided before it runs, told in `extensions.cost` of every answer. */
import { complexityFromQuery } from "@pothos/plugin-complexity";
import type { GraphQLSchema } from "graphql";
import type { Plugin } from "graphql-yoga";
import { type Failure, fail } from "#foundation/failure.ts";
import type { GraphContext } from "#graph/context.ts";
import { costLimitOf, executionMsMax } from "#graph/limits.ts";
import { asGraphqlError } from "./graphql-failures.ts";

export function limitCost(schema: GraphQLSchema): Plugin<GraphContext> {
  return {
    onExecute({ args, setResultAndStopExecution }) {
      const { viewer } = args.contextValue;
      const { complexity } = complexityFromQuery(args.document, { schema, ctx: args.contextValue, variables: args.variableValues ?? {} });
      const cost = { requested: Math.round(complexity), limit: costLimitOf(viewer) };
      if (cost.requested > cost.limit) {
        setResultAndStopExecution({ errors: [asGraphqlError(tooCostly(cost))], extensions: { cost } });
        return undefined;
      }
      return {
        onExecuteDone({ result, setResult }) {
          if (Symbol.asyncIterator in result) return;
          setResult({ ...result, extensions: { ...result.extensions, cost } });
        },
      };
    },
  };
}

function tooCostly({ requested, limit }: { readonly requested: number; readonly limit: number }): Failure {
  const message = `The query costs ${requested}; the limit is ${limit}. Ask for fewer items or fields.`;
  return fail("malformed_request", { message, details: [{ in: "limit", field: "cost", code: "too_large", message }] });
}

export function limitTime(): Plugin<GraphContext> {
  return {
    onExecute({ executeFn, setExecuteFn }) {
      setExecuteFn((args: unknown) => {
        const running: unknown = (executeFn as (input: unknown) => unknown)(args);
        return running instanceof Promise ? withinTime(running) : running;
      });
    },
  };
}

async function withinTime(running: Promise<unknown>): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const message = `The query ran for ${executionMsMax / 1000} s, which is the limit. Ask for less at once.`;
  const timer = setTimeout(() => resolve({ errors: [asGraphqlError(fail("upstream_timeout", { message }))] }), executionMsMax);
  try {
    return await Promise.race([running, promise]);
  } finally {
    clearTimeout(timer);
  }
}
