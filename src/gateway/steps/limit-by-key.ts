/** Callers with a credential are limited by the key or the grant, or by their installation (admission.ts). */
import { isIntegrator } from "#access/viewer.ts";
import { countedAs } from "#gateway/admission.ts";
import { type Step } from "#gateway/call.ts";
import { takeOne } from "#http/rate-limiter.ts";

export const limitByKey: Step = {
  name: "limit by key",
  phase: "headers",
  appliesTo: () => true,
  create: ({ limiter }, operation) => {
    return ({ viewer, reply }) => (isIntegrator(viewer) ? takeOne(limiter, reply, countedAs(viewer, operation)) : undefined);
  },
};
