/** Who asks: verifies the API key. Credentials of a suspended installation or merchant are refused, but where the operation says otherwise. */
import { recordUse, verifyApiKey } from "#access/keys/api-keys.ts";
import { fail } from "#foundation/failure.ts";
import { type Step } from "#gateway/call.ts";
import { authenticate, challenge } from "#gateway/credentials.ts";

export const identify: Step = {
  name: "identify",
  phase: "headers",
  appliesTo: ({ security }) => security.kind === "api_key",
  create: ({ db, clock, limiter, publicUrl }, { security }) => {
    const mayBeSuspended = security.kind === "api_key" && security.whileSuspended;
    const verify = (token: string): ReturnType<typeof verifyApiKey> => verifyApiKey(db, token, clock.now());
    return async (call) => {
      const viewer = await authenticate(call.request, { limiter, publicUrl, verify });
      if (viewer.suspended !== null && !mayBeSuspended) throw challenge(fail(viewer.suspended), publicUrl);
      call.viewer = viewer;
      // After the answer: a read is not kept waiting for this, and losing it costs nothing.
      call.reply.raw.once("finish", () => void recordUse(db, viewer.apiKeyId, clock.now()).catch(() => undefined));
    };
  },
};
