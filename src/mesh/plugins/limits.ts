/**
 * Limits GraphQL documents that clients send: their texts must have no control characters, their cost must
 * not exceed a maximum, and queries may run for at most 10 s. Each field costs one point; the page size of a
 * list multiplies the cost of the fields below the list. Documents of this service have no limits.
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
import { requireNoControlCharacters } from "#mesh/clean-text.ts";
import { isServiceDocument } from "#mesh/contract-schema.ts";
import { type DocumentExecutor, type ExecutionPolicyArgs, createPolicyPlugin } from "#mesh/run.ts";
import { toGraphqlError } from "#mesh/public-error.ts";

export default (): Plugin =>
  createPolicyPlugin((args, execute): DocumentExecutor | undefined => {
    if (args.contextValue.viewer === undefined || isServiceDocument(args.document)) return undefined;
    return async (input) => {
      requireNoControlCharacters(args);
      const cost = tryMeasureCost(args);
      if (cost instanceof GraphQLError) return { errors: [cost] };
      const withCost = (result: ExecutionResult): ExecutionResult => ({
        ...result,
        extensions: { ...result.extensions, cost },
      });
      try {
        requireCostWithinLimit(cost);
        args.contextValue.services.events.emit("documentExecuted", cost.requested);
        return withCost(await limitTime(args, execute(input)));
      } catch (error) {
        return withCost({ errors: [toGraphqlError(error)] });
      }
    };
  });

/**
 * Computes the cost of a document. If the variables are invalid, returns an error instead of throwing it,
 * because the fault is the client's and not a bug.
 */
function tryMeasureCost(args: ExecutionPolicyArgs): QueryCost | GraphQLError {
  try {
    return measureQueryCost(args);
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}

/**
 * Applies the time limit to queries. Mutations have no time limit, because a client that gets 504 would send
 * the mutation again, although the first one may have succeeded.
 */
function limitTime(
  { document, operationName }: ExecutionPolicyArgs,
  running: ReturnType<DocumentExecutor>,
): ReturnType<DocumentExecutor> {
  const isMutation = getOperationAST(document, operationName)?.operation === "mutation";
  return running instanceof Promise && !isMutation ? withinTime(running) : running;
}

/** The cost of a document, and the maximum cost for the caller's role, both in points. */
export interface QueryCost {
  readonly requested: number;
  readonly limit: number;
}

/** Returns the cost of the operation that a document runs, and the cost limit of the caller. */
export const measureQueryCost = (args: Omit<ExecutionPolicyArgs, "rootValue">): QueryCost => ({
  requested: computeOperationCost(args),
  limit: getQueryCostLimit(args.contextValue),
});

/** Throws 400 `malformed_request` with cost and limit if the cost of a document is above the limit. */
export function requireCostWithinLimit(cost: QueryCost): void {
  if (cost.requested > cost.limit) throw tooExpensive(cost);
}

function tooExpensive({ requested, limit }: QueryCost): Failure {
  const message = `The query costs ${requested} points; the limit is ${limit}. Select fewer items or fields.`;
  return fail("malformed_request", {
    message,
    details: [{ in: "limit", field: "cost", code: "too_large", message }],
  });
}

/**
 * Computes the cost of the operation that a request runs. Other operations of the same document are not
 * counted.
 */
function computeOperationCost({
  schema,
  document,
  operationName,
  variableValues,
  contextValue,
}: Omit<ExecutionPolicyArgs, "rootValue">): number {
  const operationDocument =
    typeof operationName === "string" ? (separateOperations(document)[operationName] ?? document) : document;
  return computeDocumentCost(schema, operationDocument, { contextValue, variableValues });
}

interface CostContext {
  /** The context of the request; undefined if the document is checked outside of a request. */
  readonly contextValue: GraphContext | undefined;
  readonly variableValues?: { readonly [name: string]: unknown } | null | undefined;
}

/** Computes the cost of a document with one operation. */
export function computeDocumentCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  { contextValue, variableValues }: CostContext,
): number {
  return Math.round(
    complexityFromQuery(document, { schema, ctx: contextValue ?? {}, variables: { ...variableValues } })
      .complexity,
  );
}

/**
 * Waits for the result of a query up to the time limit, then rejects with 504 `upstream_timeout`. The query
 * continues to run, and its result is ignored.
 */
async function withinTime(running: Promise<ExecutionResult>): Promise<ExecutionResult> {
  const { promise, reject } = Promise.withResolvers<never>();
  const message = `The query ran longer than the limit of ${queryMsMax / 1000} s. Select fewer items or fields.`;
  const timer = setTimeout(() => reject(fail("upstream_timeout", { message })), queryMsMax);
  try {
    return await Promise.race([running, promise]);
  } finally {
    clearTimeout(timer);
  }
}
