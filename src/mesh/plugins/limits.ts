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
import { requireCleanTexts } from "#mesh/clean-text.ts";
import { isServiceDocument } from "#mesh/contract-schema.ts";
import { type ExecuteDocument, type ExecutionPolicyArgs, createPolicyPlugin } from "#mesh/run.ts";
import { toGraphqlError } from "#mesh/public-error.ts";

export default (): Plugin =>
  createPolicyPlugin((args, execute): ExecuteDocument | undefined => {
    if (args.contextValue.viewer === undefined || isServiceDocument(args.document)) return undefined;
    return async (input) => {
      requireCleanTexts(args);
      const cost = measured(args);
      if (cost instanceof GraphQLError) return { errors: [cost] };
      const withCost = (result: ExecutionResult): ExecutionResult => ({
        ...result,
        extensions: { ...result.extensions, cost },
      });
      try {
        requireCostWithinLimit(cost);
        args.contextValue.services.events.emit("documentExecuted", cost.requested);
        return withCost(await timed(args, execute(input)));
      } catch (error) {
        return withCost({ errors: [toGraphqlError(error)] });
      }
    };
  });

/** Variables that do not fit the document are found here first; their error is the client's. */
function measured(args: ExecutionPolicyArgs): QueryCost | GraphQLError {
  try {
    return measureQueryCost(args);
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}

/** A change is not cut off: a client that was answered 504 would send it again after it has happened. */
function timed(
  { document, operationName }: ExecutionPolicyArgs,
  running: ReturnType<ExecuteDocument>,
): ReturnType<ExecuteDocument> {
  const isMutation = getOperationAST(document, operationName)?.operation === "mutation";
  return running instanceof Promise && !isMutation ? withinTime(running) : running;
}

export interface QueryCost {
  readonly requested: number;
  readonly limit: number;
}

export const measureQueryCost = (args: Omit<ExecutionPolicyArgs, "rootValue">): QueryCost => ({
  requested: costOfOperation(args),
  limit: getQueryCostLimit(args.contextValue.viewer),
});

/**
 * Throws 400 `malformed_request` with both figures if the document costs more than the caller's role may
 * spend at once.
 */
export function requireCostWithinLimit(cost: QueryCost): void {
  if (cost.requested > cost.limit) throw tooCostly(cost);
}

function tooCostly({ requested, limit }: QueryCost): Failure {
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
}: Omit<ExecutionPolicyArgs, "rootValue">): number {
  const chosen =
    typeof operationName === "string" ? (separateOperations(document)[operationName] ?? document) : document;
  return computeDocumentCost(schema, chosen, { contextValue, variableValues });
}

interface Circumstances {
  readonly contextValue: GraphContext;
  readonly variableValues?: { readonly [name: string]: unknown } | null | undefined;
}

/** The cost of a document with one operation. */
export function computeDocumentCost(
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
