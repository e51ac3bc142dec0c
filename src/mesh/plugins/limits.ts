/**
 * Limits documents that clients send. Texts must have no control characters. The computed cost has a maximum
 * and is subtracted from the caller's quotas. Queries may run for 10 s. Documents of this service have no
 * limits.
 */
import { type ExecutionResult, getOperationAST, GraphQLError } from "graphql";
import type { Plugin } from "graphql-yoga";
import { type Failure, createFailure } from "#foundation/failure.ts";
import {
  getGraphqlQueryCostLimit,
  type GraphqlCostChargeResult,
  queryCostMax,
  queryMsMax,
} from "#graph/limits.ts";
import { requireNoControlCharacters } from "#mesh/clean-text.ts";
import { isBuiltInGraphqlDocument } from "#mesh/contract-schema.ts";
import { computeGraphqlOperationCost } from "#mesh/document-cost.ts";
import { getParsedAndCompiledGraphqlDocument } from "#mesh/prepared-document.ts";
import {
  type GraphqlDocumentExecutor,
  type GraphqlDocumentExecutionArgs,
  createMeshExecutorWrappingPlugin,
} from "#mesh/run.ts";
import { toGraphqlError } from "#mesh/public-error.ts";

export default (): Plugin =>
  createMeshExecutorWrappingPlugin((args, execute): GraphqlDocumentExecutor | undefined => {
    if (args.contextValue.viewer === undefined || isBuiltInGraphqlDocument(args.document)) return undefined;
    return async (input) => {
      requireNoControlCharacters(args);
      const cost = tryMeasureCost(args);
      if (cost instanceof GraphQLError) return { errors: [cost] };
      let payment: GraphqlCostChargeResult | undefined;
      const withCost = (result: ExecutionResult): ExecutionResult => ({
        ...result,
        extensions: {
          ...result.extensions,
          cost: toCostExtension(cost, isMutation(args) ? undefined : payment),
        },
      });
      try {
        requireQueryCostWithinLimit(cost);
        payment = await args.contextValue.spendCost?.(getChargedGraphqlCostPoints(cost));
        if (payment?.refusal !== undefined) throw payment.refusal;
        args.contextValue.services.events.emit("documentExecuted", cost.requested);
        return withCost(await limitTime(args, execute(input)));
      } catch (error) {
        return withCost({ errors: [toGraphqlError(error)] });
      }
    };
  });

/**
 * Computes the cost of a client's document. If the variables are invalid, returns an error instead of
 * throwing it, because the client has made a mistake and the service has no bug.
 */
function tryMeasureCost(args: GraphqlDocumentExecutionArgs): GraphqlQueryCost | GraphQLError {
  try {
    return measureGraphqlQueryCostAndLimit(args);
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
  { document, operationName }: GraphqlDocumentExecutionArgs,
  running: ReturnType<GraphqlDocumentExecutor>,
): ReturnType<GraphqlDocumentExecutor> {
  return running instanceof Promise && !isMutation({ document, operationName })
    ? withinTime(running)
    : running;
}

const isMutation = ({
  document,
  operationName,
}: Pick<GraphqlDocumentExecutionArgs, "document" | "operationName">): boolean =>
  getOperationAST(document, operationName)?.operation === "mutation";

/** The cost of a document and the maximum cost that the caller's role may spend, both in points. */
export interface GraphqlQueryCost {
  readonly requested: number;
  readonly limit: number;
}

/** Returns the cost of the operation that a document runs, and the maximum cost for the caller's role. */
export const measureGraphqlQueryCostAndLimit = (
  args: Omit<GraphqlDocumentExecutionArgs, "rootValue">,
): GraphqlQueryCost => ({
  requested:
    getParsedAndCompiledGraphqlDocument(args.document)?.measureCost(args) ??
    computeGraphqlOperationCost(args),
  limit: getGraphqlQueryCostLimit(args.contextValue),
});

/**
 * Returns the points that a document takes from the caller's quotas. The points never exceed the maximum cost
 * of a GraphQL document. This matters for CSV reports: their computed cost counts 10 000 rows, but most
 * reports have fewer.
 */
export const getChargedGraphqlCostPoints = ({ requested }: GraphqlQueryCost): number =>
  Math.min(requested, queryCostMax);

/**
 * Returns the content of `extensions.cost` in the answer. Answers of mutations do not show the remaining
 * quota, so that a repeated mutation with an idempotency key gets exactly the bytes of the first answer.
 */
const toCostExtension = (cost: GraphqlQueryCost, payment: GraphqlCostChargeResult | undefined): object =>
  payment === undefined ? cost : { ...cost, throttleStatus: payment.throttleStatus };

/**
 * Throws 400 `malformed_request` if the cost of a document is above the caller's limit. The error names the
 * cost and the limit.
 */
export function requireQueryCostWithinLimit(cost: GraphqlQueryCost): void {
  if (cost.requested > cost.limit) throw tooExpensive(cost);
}

function tooExpensive({ requested, limit }: GraphqlQueryCost): Failure {
  const message = `The query costs ${requested} points; the limit is ${limit}. Select fewer items or fields.`;
  return createFailure("malformed_request", {
    message,
    details: [{ in: "limit", field: "cost", code: "too_large", message }],
  });
}

/**
 * Waits for the result of a query. When the time limit is exceeded, rejects with 504 `upstream_timeout`. The
 * query is not stopped then, and its later result is ignored.
 */
function withinTime(running: Promise<ExecutionResult>): Promise<ExecutionResult> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(createTimeoutFailure()), queryMsMax);
    const settle = async (): Promise<void> => {
      try {
        resolve(await running);
      } catch (error) {
        reject(error);
      } finally {
        clearTimeout(timer);
      }
    };
    void settle();
  });
}

const createTimeoutFailure = (): Failure =>
  createFailure("upstream_timeout", {
    message: `The query ran longer than the limit of ${queryMsMax / 1000} s. Select fewer items or fields.`,
  });
