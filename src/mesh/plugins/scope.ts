/**
 * Checks that the caller may execute a REST document, as its directive `@requires`, `@oauth` or `@anonymous`
 * says. The gateway has already checked the scope before it read the body. The check in this plugin also
 * covers executions of the document that do not come through the gateway. An execution without a caller is
 * refused, for example under `mesh dev`.
 */
import type { Plugin } from "graphql-yoga";
import { Failure, createFailure } from "#foundation/failure.ts";
import {
  getRestDocumentSecurityAndIdempotency,
  requireCredentialAndScopeOfDocument,
} from "#mesh/operation-security.ts";
import type { GraphqlDocumentExecutionArgs } from "#mesh/run.ts";
import { PublicGraphqlError } from "#mesh/public-error.ts";
import type { MeshDevContext } from "./caller.ts";

export default (): Plugin => ({
  onExecute: ({ args, setExecuteFn }) => {
    const refusal = findAccessError(args as unknown as GraphqlDocumentExecutionArgs);
    if (refusal === undefined) return undefined;
    const result = { errors: [refusal] };
    setExecuteFn(() => result);
    // A later plugin, for example a cache, may set a result without calling the executor. This hook replaces
    // that result by the error that refuses the caller.
    return { onExecuteDone: ({ setResult }) => setResult(result) };
  },
  onSubscribe: ({ args, setResultAndStopExecution }) => {
    const refusal = findAccessError(args as unknown as GraphqlDocumentExecutionArgs);
    if (refusal !== undefined) setResultAndStopExecution({ errors: [refusal] });
  },
});

function findAccessError({
  schema,
  document,
  operationName,
  contextValue,
}: GraphqlDocumentExecutionArgs): PublicGraphqlError | undefined {
  const { viewer, refusal, requestId, publicUrl }: MeshDevContext = contextValue;
  try {
    if (viewer === undefined) throw refusal ?? createFailure("credentials_missing");
    const requirements = getRestDocumentSecurityAndIdempotency(schema, document, operationName);
    if (requirements !== null)
      requireCredentialAndScopeOfDocument(viewer, requirements.security, publicUrl ?? "");
    return undefined;
  } catch (error) {
    // A document that a client sends may contain directives of REST operations with invalid arguments. The
    // error about such a directive becomes the failure `malformed_request`.
    const failure =
      error instanceof Failure
        ? error
        : createFailure("malformed_request", { message: error instanceof Error ? error.message : "" });
    return new PublicGraphqlError(failure, { requestId: requestId ?? "", publicUrl: publicUrl ?? "" });
  }
}
