/**
 * Limits of documents that clients write: texts without control characters, a computed cost, and 10 s to run. Documents of
 * this service have no such limits; their cost was looked at when they were written.
 */
import { type ExecutionResult, getOperationAST } from "graphql";
import type { Plugin } from "graphql-yoga";
import { type Failure, fail } from "#foundation/failure.ts";
import { costLimitOf } from "#graph/limits.ts";
import { requireClean } from "#mesh/clean-text.ts";
import { isOwnDocument } from "#mesh/compile-document.ts";
import { costOfOperation } from "#mesh/cost.ts";
import { type Execute, type PolicyArgs, policyPlugin } from "#mesh/policy.ts";
import { asGraphqlError } from "#mesh/public-error.ts";
import { withinTime } from "#mesh/time-limit.ts";

export default (): Plugin =>
  policyPlugin((args, execute): Execute | undefined => {
    if (args.contextValue.viewer === undefined || isOwnDocument(args.document)) return undefined;
    return async (input) => {
      requireClean(args);
      const cost = costFor(args);
      const withCost = (result: ExecutionResult): ExecutionResult => ({ ...result, extensions: { ...result.extensions, cost } });
      try {
        requireAffordable(cost);
        args.contextValue.services.noteCost?.(cost.requested);
        return withCost(await timed(args, execute(input)));
      } catch (error) {
        return withCost({ errors: [asGraphqlError(error)] });
      }
    };
  });

/** A change is not cut off: a client that was answered 504 would send it again after it has happened. */
function timed({ document, operationName }: PolicyArgs, running: ReturnType<Execute>): ReturnType<Execute> {
  const isMutation = getOperationAST(document, operationName)?.operation === "mutation";
  return running instanceof Promise && !isMutation ? withinTime(running) : running;
}

export interface Cost {
  readonly requested: number;
  readonly limit: number;
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
