/** Who asks: verifies the API key or the access token. Credentials of a suspended installation or merchant are refused, but where the operation says otherwise. */
import { ownerOfRefused } from "#access/keys/verify-keys.ts";
import { type Door, serverMetadataPath } from "#access/authorization.ts";
import type { IntegratorViewer } from "#access/viewer.ts";
import { fail } from "#foundation/failure.ts";
import { createAdmission } from "#gateway/admission.ts";
import type { Call, Step } from "#gateway/call.ts";
import { type Authentication, authenticate } from "#http/caller.ts";
import { isCredentialUseNoted, noteCredentialUse, verifyIntegrator } from "#gateway/integrator-credentials.ts";
import type { Security } from "#mesh/operation-security.ts";

export const identify: Step = {
  name: "identify",
  phase: "headers",
  appliesTo: ({ security }) => security.kind !== "anonymous",
  create: (services, operation) => {
    const place = doorOf(operation.security, services.publicUrl);
    const admission = createAdmission(services, operation);
    const isKeyTaken = place.schemes.includes("bearer");
    const door: Authentication<Call, IntegratorViewer> = {
      ...place,
      limiter: services.limiter,
      verify: async (authorization, call) => {
        if (authorization.scheme === "bearer" && !isKeyTaken) throw fail("oauth_token_invalid", { message: "Only an access token will do here." });
        try {
          return await verifyIntegrator(call.request, authorization, { credentials: services.credentials, admit: admission(call) });
        } catch (error) {
          call.refused ??= ownerOfRefused(error);
          throw error;
        }
      },
    };
    return async (call) => {
      const viewer = await authenticate(call.request, call, door);
      call.viewer = viewer;
      if (isCredentialUseNoted(viewer, services)) return;
      // After the answer: a read is not kept waiting for this, and losing it costs nothing.
      call.reply.raw.once("finish", () => void noteCredentialUse(viewer, services).catch(() => undefined));
    };
  },
};

/** Who has no token yet is told where clients begin. */
function doorOf({ kind }: Security, publicUrl: string): Door {
  if (kind !== "oauth") return { publicUrl, schemes: ["bearer", "dpop"] };
  return { publicUrl, schemes: ["dpop"], hint: `How to get an access token: ${publicUrl}${serverMetadataPath}.` };
}
