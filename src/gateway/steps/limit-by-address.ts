/** Anonymous operations are limited by the caller's address; who sends a valid key all the same is counted by the key. */
import { verifyApiKey } from "#access/keys/api-keys.ts";
import { bearerToken } from "#access/oauth/authorization.ts";
import { anonymous, type Viewer } from "#access/viewer.ts";
import { Failure } from "#foundation/failure.ts";
import { type Call, type GatewayServices, type Step } from "#gateway/call.ts";
import { addressKey } from "#gateway/client-address.ts";
import { authorizationValues } from "#gateway/credentials.ts";
import { takeOne } from "#gateway/limit.ts";

export const limitByAddress: Step = {
  name: "limit by address",
  phase: "headers",
  appliesTo: ({ security }) => security.kind === "anonymous",
  create: (services, { security }) => {
    const bucket = security.kind === "anonymous" ? security.bucket : "default";
    return async (call) => {
      call.viewer = await volunteered(call, services);
      if (call.viewer.kind === "anonymous") await takeOne(services.limiter, call.reply, { bucket, key: addressKey(call.request.ip) });
    };
  },
};

/** Wrong credentials are ignored where none are needed. */
async function volunteered(call: Call, { db, clock }: GatewayServices): Promise<Viewer> {
  const values = authorizationValues(call.request);
  if (values.length === 0) return anonymous;
  try {
    const viewer = await verifyApiKey(db, bearerToken(values) ?? "", clock.now());
    return viewer.suspended === null ? viewer : anonymous;
  } catch (error) {
    if (error instanceof Failure) return anonymous;
    throw error;
  }
}
