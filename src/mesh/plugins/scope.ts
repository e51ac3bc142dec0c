/**
 * Holds every document that is a REST operation to its own `@requires`, `@oauth` or `@anonymous`. The gateway
 * has checked the scope before it read the body; this check makes sure that no other way of executing the
 * document avoids it. A document without any caller is refused too, for example under `mesh dev`.
 */
import type { Plugin } from "graphql-yoga";
import { Failure, fail } from "#foundation/failure.ts";
import { getDocumentRequirements, requireAccess } from "#mesh/operation-security.ts";
import type { ExecutionPolicyArgs } from "#mesh/run.ts";
import { PublicError } from "#mesh/public-error.ts";
import type { MeshDevContext } from "./caller.ts";

export default (): Plugin => ({
  onExecute: ({ args, setExecuteFn }) => {
    const refusal = refusalOf(args as unknown as ExecutionPolicyArgs);
    if (refusal === undefined) return undefined;
    const result = { errors: [refusal] };
    setExecuteFn(() => result);
    // Also where a later plugin gives a result of its own instead of executing, as a cache does.
    return { onExecuteDone: ({ setResult }) => setResult(result) };
  },
  onSubscribe: ({ args, setResultAndStopExecution }) => {
    const refusal = refusalOf(args as unknown as ExecutionPolicyArgs);
    if (refusal !== undefined) setResultAndStopExecution({ errors: [refusal] });
  },
});

function refusalOf({
  schema,
  document,
  operationName,
  contextValue,
}: ExecutionPolicyArgs): PublicError | undefined {
  const { viewer, refusal, requestId, publicUrl }: MeshDevContext = contextValue;
  try {
    if (viewer === undefined) throw refusal ?? fail("credentials_missing");
    const demands = getDocumentRequirements(schema, document, operationName);
    if (demands !== null) requireAccess(viewer, demands.security, publicUrl ?? "");
    return undefined;
  } catch (error) {
    // A client's document may have the directives of an operation and break their rules.
    const failure =
      error instanceof Failure
        ? error
        : fail("malformed_request", { message: error instanceof Error ? error.message : "" });
    return new PublicError(failure, { requestId: requestId ?? "", publicUrl: publicUrl ?? "" });
  }
}
