/**
 * Makes a change happen once, however often its request is sent. The document runs in one transaction with
 * the record of its answer (`database/idempotency.ts`). A REST operation with `@idempotent` brings its key in
 * the context; a GraphQL document has its key in the argument `idempotencyKey` of its one mutation. An answer
 * with errors is rolled back and not recorded.
 */
import { type ExecutionArgs, type ExecutionResult, getOperationAST, GraphQLError } from "graphql";
import type { Plugin } from "graphql-yoga";
import { credentialIdOf } from "#access/viewer.ts";
import type { OnceRequest } from "#database/idempotency.ts";
import { Failure, fail } from "#foundation/failure.ts";
import { contextInTransaction, type GraphContext } from "#graph/context.ts";
import { isServiceDocument } from "#mesh/contract-schema.ts";
import { fingerprintDocument, readIdempotencyKey, prepareMutations } from "#mesh/idempotent-document.ts";
import { getDocumentRequirements } from "#mesh/operation-security.ts";
import { type ExecuteDocument, type ExecutionPolicyArgs, createPolicyPlugin } from "#mesh/run.ts";

export default (): Plugin =>
  createPolicyPlugin((args, execute): ExecuteDocument | undefined => {
    const { schema, document, operationName, contextValue } = args;
    if (
      contextValue.viewer === undefined ||
      getOperationAST(document, operationName)?.operation !== "mutation"
    )
      return undefined;
    if (!isServiceDocument(document)) return onceByArgument(args, execute);
    const { once } = contextValue;
    if (once !== null) return (input) => runOnce(once, input, execute);
    return getDocumentRequirements(schema, document)?.isIdempotent === true ? refuseWithoutKey : undefined;
  });

const refuseWithoutKey: ExecuteDocument = () => {
  throw fail("idempotency_key_required");
};

function onceByArgument(args: ExecutionPolicyArgs, execute: ExecuteDocument): ExecuteDocument {
  return async (input) => {
    const key = readIdempotencyKey(args);
    if (key === undefined) return execute(input);
    const { viewer } = args.contextValue;
    if (viewer.kind !== "internal") throw fail("role_not_allowed");
    const claim = { ownerId: credentialIdOf(viewer), key, fingerprint: fingerprintDocument(args) };
    return runOnce({ claim, record: asJson, isAnsweredFromRecord: true }, input, execute);
  };
}

const asJson: OnceRequest<ExecutionResult>["record"] = (result) => ({
  status: 200,
  contentType: "application/json",
  body: JSON.stringify(result),
});

async function runOnce(
  { claim, record, isAnsweredFromRecord }: OnceRequest<ExecutionResult>,
  input: ExecutionArgs,
  execute: ExecuteDocument,
): Promise<ExecutionResult> {
  const context = input.contextValue as GraphContext;
  try {
    const prepared = await prepareMutations(input as ExecutionPolicyArgs);
    let result: ExecutionResult = { data: null };
    const answer = await context.services.doOnce(claim, async (transaction) => {
      result = await execute({
        ...input,
        contextValue: { ...contextInTransaction(context, transaction), prepared },
      });
      if (result.errors !== undefined) throw new RolledBack(result);
      return record(result);
    });
    context.onOnce?.(answer);
    return isAnsweredFromRecord ? (JSON.parse(answer.recorded.body) as ExecutionResult) : result;
  } catch (error) {
    if (error instanceof RolledBack) return error.result;
    // `data: null`: the document was executed, as far as a client is concerned.
    if (error instanceof Failure)
      return { data: null, errors: [new GraphQLError(error.message, { originalError: error })] };
    throw error;
  }
}

/** Ends the transaction of a result that has errors. Its cause tells the database layer whether a retry helps. */
class RolledBack extends Error {
  readonly result: ExecutionResult;
  constructor(result: ExecutionResult) {
    super("The document was refused.", { cause: result.errors?.[0]?.originalError });
    this.result = result;
  }
}
