/** Runs the operation's document in one transaction with the record of its answer, or answers what was recorded. */
import { isIntegrator } from "#access/viewer.ts";
import { fail } from "#foundation/failure.ts";
import { fingerprintOf } from "#foundation/idempotency-key.ts";
import { type Call, type Step } from "#gateway/call.ts";
import { renderAnswer } from "./answer.ts";
import { countFailure } from "./limit-failures.ts";

export const executeOnce: Step = {
  name: "execute once",
  phase: "body",
  appliesTo: ({ isIdempotent }) => isIdempotent,
  create: (services, operation) => {
    const run = services.compile(operation);
    return async (call) => {
      const { body, ...path } = call.variables;
      const claim = { ...ownKey(call), fingerprint: fingerprintOf({ operationId: operation.id, path, body }) };
      try {
        call.recorded = await services.doOnce(claim, async (transaction) => ({
          status: 200,
          contentType: "application/json; charset=utf-8",
          body: renderAnswer(operation, await run(call, transaction)).text,
        }));
      } catch (error) {
        throw await countFailure(error, call, services);
      }
    };
  },
};

/** A key belongs to the installation, so that a retry survives the change of its API key or token. */
function ownKey({ viewer, idempotencyKey }: Call): { ownerId: string; key: string } {
  if (!isIntegrator(viewer) || idempotencyKey === undefined) throw fail("idempotency_key_required");
  return { ownerId: viewer.installationId, key: idempotencyKey };
}
