/**
 * Limits of documents that clients write: texts without control characters, a computed cost, and 10 s to run. Documents of
 * this service have no such limits; their cost was looked at when they were written.
 */
import { getOperationAST } from "graphql";
import type { Plugin } from "graphql-yoga";
import { type Failure, fail } from "#foundation/failure.ts";
import { costLimitOf } from "#graph/limits.ts";
import { requireClean } from "#mesh/clean-text.ts";
import { isOwnDocument } from "#mesh/compile-document.ts";
import { costOfOperation } from "#mesh/cost.ts";
import type { Execute, PolicyArgs } from "#mesh/policy.ts";
import { withinTime } from "#mesh/time-limit.ts";

export default (): Plugin => ({
  onExecute: ({ args: given, executeFn, setExecuteFn }) => {
    const args = given as unknown as PolicyArgs;
    if (args.contextValue.viewer === undefined || isOwnDocument(args.document)) return undefined;
    const measured: Measured = {};
    setExecuteFn(limited(args, measured, executeFn as Execute) as Parameters<typeof setExecuteFn>[0]);
    return {
      onExecuteDone: ({ result, setResult }) => {
        if (measured.cost === undefined || Symbol.asyncIterator in result) return;
        setResult({ ...result, extensions: { ...result.extensions, cost: measured.cost } });
      },
    };
  },
});

export interface Cost {
  readonly requested: number;
  readonly limit: number;
}

interface Measured {
  cost?: Cost;
}

function limited(args: PolicyArgs, measured: Measured, execute: Execute): Execute {
  return (input) => {
    requireClean(args);
    measured.cost = costFor(args);
    requireAffordable(measured.cost);
    args.contextValue.services.noteCost?.(measured.cost.requested);
    const running = execute(input);
    // A change is not cut off: a client that was answered 504 would send it again after it has happened.
    const isMutation = getOperationAST(args.document, args.operationName)?.operation === "mutation";
    return running instanceof Promise && !isMutation ? withinTime(running) : running;
  };
}

export const costFor = (args: Omit<PolicyArgs, "rootValue">): Cost => ({
  requested: costOfOperation(args),
  limit: costLimitOf(args.contextValue.viewer),
});

/** Throws 400 `malformed_request` with both figures if the document costs more than the caller's role may spend at once. */
export function requireAffordable(cost: Cost): void {
  if (cost.requested > cost.limit) throw tooCostly(cost);
}

function tooCostly({ requested, limit }: Cost): Failure {
  const message = `The query costs ${requested}; the limit is ${limit}. Ask for fewer items or fields.`;
  return fail("malformed_request", { message, details: [{ in: "limit", field: "cost", code: "too_large", message }] });
}
