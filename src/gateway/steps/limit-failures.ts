/**
 * Guessing has an end. Failures of the kinds named are counted by what they were tried on and by credential, outside of any transaction; used up,
 * the next attempt is refused before it is made, and one that fails beside others at once learns no more than that.
 */
import { credentialIdOf, isIntegrator } from "#access/viewer.ts";
import type { FailureCode } from "#foundation/failure.ts";
import { Failure } from "#foundation/failure.ts";
import type { Call, GatewayServices, Step } from "#gateway/call.ts";
import type { FailureLimit } from "#gateway/contract.ts";
import { limitFailure } from "#http/rate-limiter.ts";

export const limitFailures: Step = {
  name: "limit failures",
  phase: "body",
  appliesTo: ({ failureLimit }) => failureLimit !== null,
  create: ({ limiter }, { failureLimit }) => {
    if (failureLimit === null) return () => undefined;
    return async (call) => {
      for (const [bucket, key] of counted(call, failureLimit)) {
        const state = await limiter.peek(bucket, key);
        if (state !== undefined && state.remaining === 0) throw limitFailure("rate_limited", state);
      }
    };
  },
};

/** Counts a failure where it is of a kind that is; gives what is answered. */
export async function countFailure(error: unknown, call: Call, { limiter }: GatewayServices): Promise<unknown> {
  const { failureLimit } = call.operation;
  if (failureLimit === null || !(error instanceof Failure) || !isCounted(error.code, failureLimit)) return error;
  let refusal: unknown = error;
  for (const [bucket, key] of counted(call, failureLimit)) {
    const state = await limiter.consume(bucket, key);
    if (state?.isExceeded === true) refusal = limitFailure("rate_limited", state);
  }
  return refusal;
}

const isCounted = (code: FailureCode, { codes }: FailureLimit): boolean => codes.includes(code);

function counted({ variables, viewer }: Call, { bucket, credentialBucket, by }: FailureLimit): [FailureLimit["bucket"], string][] {
  const credential = isIntegrator(viewer) ? credentialIdOf(viewer) : "";
  return [
    [bucket, String(variables[by])],
    [credentialBucket, credential],
  ];
}
