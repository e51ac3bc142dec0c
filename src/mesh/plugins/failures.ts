/**
 * Turns whatever goes wrong in an execution into errors of the registry (`foundation/failure.ts`), each with
 * the contract's error body as its extensions. Nothing that a resolver, a driver or Mesh throws leaves in its
 * own words.
 */
import type { ExecutionResult } from "graphql";
import type { Plugin } from "graphql-yoga";
import type { GraphContext } from "#graph/context.ts";
import { isServiceDocument } from "#mesh/contract-schema.ts";
import { type ExecuteDocument, type ExecutionPolicyArgs, createPolicyPlugin } from "#mesh/run.ts";
import { toGraphqlError, getFailureOfError, getFailuresOfResult, PublicError } from "#mesh/public-error.ts";

export default (): Plugin =>
  createPolicyPlugin((args, execute) => (input): ReturnType<ExecuteDocument> => {
    try {
      const running = execute(input);
      return running instanceof Promise
        ? running.then(
            (result) => translated(result, args),
            (error: unknown) => ofThrown(error, args),
          )
        : translated(running, args);
    } catch (error) {
      return ofThrown(error, args);
    }
  });

const ofThrown = (error: unknown, args: ExecutionPolicyArgs): ExecutionResult =>
  translated({ errors: [toGraphqlError(error)] }, args);

function translated(
  result: ExecutionResult,
  { document, contextValue }: ExecutionPolicyArgs,
): ExecutionResult {
  if (result.errors === undefined) return result;
  const { requestId, publicUrl, viewer }: Partial<GraphContext> = contextValue;
  const suggests = viewer?.kind === "internal" && viewer.role !== "storefront";
  // Under `mesh dev` there is no request of this service.
  const origin = { requestId: requestId ?? "", publicUrl: publicUrl ?? "" };
  // A fault in one of our own documents is a fault of this service, never of the client.
  const failures = isServiceDocument(document)
    ? result.errors.map((error) => getFailureOfError(error))
    : getFailuresOfResult(result, suggests);
  return {
    ...result,
    errors: failures.map((failure, index) => new PublicError(failure, origin, result.errors?.[index])),
  };
}
