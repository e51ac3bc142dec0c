/**
 * Limits of documents that clients write: texts without control characters, a computed cost, and 10 s to run.
 * Documents of this service have no such limits; their cost was looked at when they were written. A field
 * costs one, and a list multiplies what is below it by its page size.
 */
import { complexityFromQuery } from "@pothos/plugin-complexity";
import {
  type DocumentNode,
  type ExecutionResult,
  getOperationAST,
  GraphQLError,
  type GraphQLSchema,
  separateOperations,
} from "graphql";
import type { Plugin } from "graphql-yoga";
import { type Failure, fail } from "#foundation/failure.ts";
import type { GraphContext } from "#graph/context.ts";
import { getQueryCostLimit, queryMsMax } from "#graph/limits.ts";
import { requireClean } from "#mesh/clean-text.ts";
import { isOwnDocument } from "#mesh/contract-schema.ts";
import { type Execute, type PolicyArgs, policyPlugin } from "#mesh/run.ts";
import { asGraphqlError } from "#mesh/public-error.ts";

export default (): Plugin =>
  policyPlugin((args, execute): Execute | undefined => {
    if (args.contextValue.viewer === undefined || isOwnDocument(args.document)) return undefined;
    return async (input) => {
      requireClean(args);
      const cost = measured(args);
      if (cost instanceof GraphQLError) return { errors: [cost] };
      const withCost = (result: ExecutionResult): ExecutionResult => ({
        ...result,
        extensions: { ...result.extensions, cost },
      });
      try {
        requireAffordable(cost);
        args.contextValue.services.events.emit("documentExecuted", cost.requested);
        return withCost(await timed(args, execute(input)));
      } catch (error) {
        return withCost({ errors: [asGraphqlError(error)] });
      }
    };
  });

/** Variables that do not fit the document are found here first; their error is the client's. */
function measured(args: PolicyArgs): Cost | GraphQLError {
  try {
    return costFor(args);
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}

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
  limit: getQueryCostLimit(args.contextValue.viewer),
});

/**
 * Throws 400 `malformed_request` with both figures if the document costs more than the caller's role may
 * spend at once.
 */
export function requireAffordable(cost: Cost): void {
  if (cost.requested > cost.limit) throw tooCostly(cost);
}

function tooCostly({ requested, limit }: Cost): Failure {
  const message = `The query costs ${requested}; the limit is ${limit}. Ask for fewer items or fields.`;
  return fail("malformed_request", {
    message,
    details: [{ in: "limit", field: "cost", code: "too_large", message }],
  });
}

/** The cost of the operation that runs. Other operations in the same document cost nothing. */
function costOfOperation({
  schema,
  document,
  operationName,
  variableValues,
  contextValue,
}: Omit<PolicyArgs, "rootValue">): number {
  const chosen =
    typeof operationName === "string" ? (separateOperations(document)[operationName] ?? document) : document;
  return costOf(schema, chosen, { contextValue, variableValues });
}

interface Circumstances {
  readonly contextValue: GraphContext;
  readonly variableValues?: { readonly [name: string]: unknown } | null | undefined;
}

/** The cost of a document with one operation. */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  { contextValue, variableValues }: Circumstances,
): number {
  return Math.round(
    complexityFromQuery(document, { schema, ctx: contextValue, variables: { ...variableValues } }).complexity,
  );
}

/** Rejects with 504 `upstream_timeout` after the limit. What is running goes on, and its result is dropped. */
async function withinTime(running: Promise<ExecutionResult>): Promise<ExecutionResult> {
  const { promise, reject } = Promise.withResolvers<never>();
  const message = `The query ran for ${queryMsMax / 1000} s, which is the limit. Ask for less at once.`;
  const timer = setTimeout(() => reject(fail("upstream_timeout", { message })), queryMsMax);
  try {
    return await Promise.race([running, promise]);
  } finally {
    clearTimeout(timer);
  }
}
