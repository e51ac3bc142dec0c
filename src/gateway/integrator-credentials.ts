/** Verifies the credential of an integrator: an API key, or an access token with its DPoP proof. */
import type { FastifyRequest } from "fastify";
import { isUseNoted, recordUse } from "#access/keys/verify-keys.ts";
import { type Admit, recordGrantUse } from "#access/oauth/access-tokens.ts";
import type { Authorization } from "#access/authorization.ts";
import { credentialIdOf, type IntegratorViewer } from "#access/viewer.ts";
import { fail } from "#foundation/failure.ts";
import { headerLines } from "#http/caller.ts";
import type { GatewayServices } from "./call.ts";

/** An app that a merchant has let in shows an API key, or an access token with the proof that it holds the token's key. */
export async function verifyIntegrator(
  request: FastifyRequest,
  { scheme, token }: Authorization,
  { credentials, admit }: Pick<GatewayServices, "credentials"> & { readonly admit: Admit<IntegratorViewer> },
): Promise<IntegratorViewer> {
  if (scheme === "bearer") {
    if (jwt.test(token)) throw fail("oauth_token_invalid", { message: "Access tokens are bound to a key: they come as `DPoP`, with a proof." });
    const viewer = await credentials.apiKey(token);
    await admit(viewer);
    return viewer;
  }
  const { method, raw } = request;
  const [path = ""] = (raw.url ?? "").split("?");
  return credentials.accessToken({ token, proofs: headerLines(request, "dpop"), method, path }, admit);
}

const jwt = /^[\w-]+\.[\w-]*\.[\w-]*$/;

/** Asked before anything waits for the answer's end: almost always it is. */
export function isCredentialUseNoted(viewer: IntegratorViewer, { db, clock }: Pick<GatewayServices, "db" | "clock">): boolean {
  return isUseNoted(db, { credentialId: credentialIdOf(viewer), now: clock.now() });
}

export function noteCredentialUse(viewer: IntegratorViewer, { db, clock }: Pick<GatewayServices, "db" | "clock">): Promise<void> {
  return viewer.kind === "api_key" ? recordUse(db, viewer.apiKeyId, clock.now()) : recordGrantUse(db, viewer.grantId, clock.now());
}
