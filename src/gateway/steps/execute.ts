/**
 * Runs the operation's document through Mesh with the variables that validation made. An idempotent operation brings
 * its key and says how its answer is recorded; the plugin `mesh/plugins/idempotency.ts` does the rest.
 */
import type { ExecutionResult } from "graphql";
import { isIntegrator } from "#access/viewer.ts";
import type { OnceRequest } from "#database/idempotency.ts";
import { fail } from "#foundation/failure.ts";
import { fingerprintOf } from "#foundation/idempotency-key.ts";
import { type Call, type Step } from "#gateway/call.ts";
import type { Operation } from "#gateway/contract.ts";
import { failureOfError } from "#mesh/public-error.ts";
import { renderAnswer } from "./answer.ts";
import { countFailure } from "./limit-failures.ts";

export const execute: Step = {
  name: "execute",
  phase: "body",
  appliesTo: () => true,
  create: (services, operation) => async (call) => {
    call.result = await services.execute(call, operation.isIdempotent ? onceOf(operation, call) : null);
    const [error] = call.result.errors ?? [];
    if (error !== undefined) throw await countFailure(failureOfError(error), call, services);
  },
};

function onceOf(operation: Operation, call: Call): OnceRequest<ExecutionResult> {
  const { body, ...path } = call.variables;
  return {
    claim: { ...ownKey(call), fingerprint: fingerprintOf({ operationId: operation.id, path, body }) },
    record: (result) => ({ status: 200, contentType: "application/json; charset=utf-8", body: renderAnswer(operation, result).text }),
  };
}

/** A key belongs to the installation, so that a retry survives the rotation of its API key or token. */
function ownKey({ viewer, idempotencyKey }: Call): { ownerId: string; key: string } {
  if (!isIntegrator(viewer) || idempotencyKey === undefined) throw fail("idempotency_key_required");
  return { ownerId: viewer.installationId, key: idempotencyKey };
}
