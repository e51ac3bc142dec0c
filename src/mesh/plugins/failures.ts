/**
 * Turns whatever goes wrong in an execution into errors of the registry (`foundation/failure.ts`), each with
 * the contract's error body as its extensions. Nothing that a resolver, a driver or Mesh throws leaves in its
 * own words.
 */
import type { ExecutionResult } from "graphql";
import type { Plugin } from "graphql-yoga";
import type { GraphContext } from "#graph/context.ts";
import { isOwnDocument } from "#mesh/contract-schema.ts";
import { type Execute, type PolicyArgs, policyPlugin } from "#mesh/run.ts";
import { asGraphqlError, failureOfError, failuresOfResult, PublicError } from "#mesh/public-error.ts";

export default (): Plugin =>
  policyPlugin((args, execute) => (input): ReturnType<Execute> => {
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

const ofThrown = (error: unknown, args: PolicyArgs): ExecutionResult =>
  translated({ errors: [asGraphqlError(error)] }, args);

function translated(result: ExecutionResult, { document, contextValue }: PolicyArgs): ExecutionResult {
  if (result.errors === undefined) return result;
  const { requestId, publicUrl, viewer }: Partial<GraphContext> = contextValue;
  const suggests = viewer?.kind === "internal" && viewer.role !== "storefront";
  // Under `mesh dev` there is no request of this service.
  const origin = { requestId: requestId ?? "", publicUrl: publicUrl ?? "" };
  // A fault in one of our own documents is a fault of this service, never of the client.
  const failures = isOwnDocument(document)
    ? result.errors.map((error) => failureOfError(error))
    : failuresOfResult(result, suggests);
  return {
    ...result,
    errors: failures.map((failure, index) => new PublicError(failure, origin, result.errors?.[index])),
  };
}
