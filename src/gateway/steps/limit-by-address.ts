/** Anonymous operations are limited by the caller's address; who sends a valid credential all the same is counted by that. */
import { readAuthorization } from "#access/authorization.ts";
import { anonymous, type Viewer } from "#access/viewer.ts";
import { Failure } from "#foundation/failure.ts";
import { createAdmission } from "#gateway/admission.ts";
import { type Call, type Step } from "#gateway/call.ts";
import { addressKey, headerLines } from "#http/caller.ts";
import { verifyIntegrator } from "#gateway/integrator-credentials.ts";
import { takeOne } from "#http/rate-limiter.ts";

export const limitByAddress: Step = {
  name: "limit by address",
  phase: "headers",
  appliesTo: ({ security }) => security.kind === "anonymous",
  create: (services, operation) => {
    const { security } = operation;
    const admission = createAdmission(services, operation);
    const bucket = security.kind === "anonymous" ? security.bucket : "default";
    return async (call) => {
      call.viewer = await volunteered(call, { credentials: services.credentials, admit: admission(call) });
      if (call.viewer.kind === "anonymous") await takeOne(services.limiter, call.reply, { bucket, key: addressKey(call.request.ip) });
    };
  },
};

/** Wrong credentials are ignored where none are needed, and those of who is suspended; used up ones are not. */
async function volunteered(call: Call, verifier: Parameters<typeof verifyIntegrator>[2]): Promise<Viewer> {
  const values = headerLines(call.request, "authorization");
  if (values.length === 0) return anonymous;
  try {
    const authorization = readAuthorization(values);
    if (authorization === undefined) return anonymous;
    return await verifyIntegrator(call.request, authorization, verifier);
  } catch (error) {
    if (error instanceof Failure && error.code !== "rate_limited") return anonymous;
    throw error;
  }
}
