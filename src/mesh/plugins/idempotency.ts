/**
 * Runs a mutation only once for each idempotency key. The changes of the mutation and its stored answer are
 * committed in one transaction (`database/idempotency.ts`). For a REST operation with `@idempotent`, the key
 * is in the context; for a GraphQL document, the key is the argument `idempotencyKey` of its mutation. If the
 * result has errors, the transaction is rolled back and no answer is stored.
 */
import { type ExecutionArgs, type ExecutionResult, getOperationAST, GraphQLError } from "graphql";
import type { Plugin } from "graphql-yoga";
import { getCredentialIdOfViewer } from "#access/viewer.ts";
import type { IdempotentRequest, StoredIdempotentAnswer } from "#database/idempotency.ts";
import type { Transaction } from "#database/transaction.ts";
import { Failure, createFailure } from "#foundation/failure.ts";
import { copyGraphqlContextForTransaction, type GraphqlContext } from "#graph/context.ts";
import { isBuiltInGraphqlDocument } from "#mesh/contract-schema.ts";
import {
  createGraphqlRequestFingerprint,
  getIdempotencyKeyOfMutation,
  runMutationPreparationFunctions,
} from "#mesh/idempotent-document.ts";
import { getRestDocumentSecurityAndIdempotency } from "#mesh/operation-security.ts";
import {
  type GraphqlDocumentExecutor,
  type GraphqlDocumentExecutionArgs,
  createMeshExecutorWrappingPlugin,
} from "#mesh/run.ts";

export default (): Plugin =>
  createMeshExecutorWrappingPlugin((args, execute): GraphqlDocumentExecutor | undefined => {
    const { schema, document, operationName, contextValue } = args;
    if (
      contextValue.viewer === undefined ||
      getOperationAST(document, operationName)?.operation !== "mutation"
    )
      return undefined;
    if (!isBuiltInGraphqlDocument(document)) return runOnceByArgument(args, execute);
    const { once } = contextValue;
    if (once !== null) return (input) => runOnce(once, input, execute);
    return getRestDocumentSecurityAndIdempotency(schema, document)?.isIdempotent === true
      ? refuseWithoutKey
      : undefined;
  });

const refuseWithoutKey: GraphqlDocumentExecutor = () => {
  throw createFailure("idempotency_key_required");
};

function runOnceByArgument(
  args: GraphqlDocumentExecutionArgs,
  execute: GraphqlDocumentExecutor,
): GraphqlDocumentExecutor {
  return async (input) => {
    const key = getIdempotencyKeyOfMutation(args);
    if (key === undefined) return execute(input);
    const { viewer } = args.contextValue;
    if (viewer.kind !== "internal") throw createFailure("role_not_allowed");
    const claim = {
      ownerId: getCredentialIdOfViewer(viewer),
      merchantId: viewer.merchantId,
      key,
      fingerprint: createGraphqlRequestFingerprint(args),
    };
    return runOnce({ claim, record: asJson, isAnsweredFromRecord: true }, input, execute);
  };
}

const asJson: IdempotentRequest<ExecutionResult>["record"] = (result) => ({
  status: 200,
  contentType: "application/json",
  body: JSON.stringify(result),
});

async function runOnce(
  { claim, record, isAnsweredFromRecord }: IdempotentRequest<ExecutionResult>,
  input: ExecutionArgs,
  execute: GraphqlDocumentExecutor,
): Promise<ExecutionResult> {
  const context = input.contextValue as GraphqlContext;
  try {
    const { prepared, lockAndRead } = await runMutationPreparationFunctions(
      input as GraphqlDocumentExecutionArgs,
    );
    let result: ExecutionResult = { data: null };
    const executeInTransaction = async (transaction: Transaction): Promise<StoredIdempotentAnswer> => {
      result = await execute({
        ...input,
        contextValue: { ...copyGraphqlContextForTransaction(context, transaction), prepared },
      });
      if (result.errors !== undefined) throw new RollbackError(result);
      return record(result);
    };
    const answer = await context.services.doOnce(claim, executeInTransaction, lockAndRead);
    context.onOnce?.(answer);
    return isAnsweredFromRecord ? (JSON.parse(answer.recorded.body) as ExecutionResult) : result;
  } catch (error) {
    if (error instanceof RollbackError) return error.result;
    // The result has `data: null` in addition to the errors. Without `data`, a client would conclude that its
    // document was invalid and not executed.
    if (error instanceof Failure)
      return { data: null, errors: [new GraphQLError(error.message, { originalError: error })] };
    throw error;
  }
}

/**
 * Thrown to roll back the transaction of a document whose result has errors. `cause` is the resolver's error.
 * If `cause` is a conflict with another transaction, the database layer runs the transaction again.
 */
class RollbackError extends Error {
  readonly result: ExecutionResult;
  constructor(result: ExecutionResult) {
    super("The transaction is rolled back, because the document's result has errors.", {
      cause: result.errors?.[0]?.originalError,
    });
    this.result = result;
  }
}
