/** Verifies the credential of a request; attempts with wrong ones are counted per address, so that guessing has an end. */
import type { FastifyRequest } from "fastify";
import { type Admit, recordGrantUse } from "#access/oauth/access-tokens.ts";
import { recordUse } from "#access/keys/api-keys.ts";
import { type Authorization, readAuthorization } from "#access/oauth/authorization.ts";
import { isUseNoted } from "#access/last-used.ts";
import { credentialIdOf, type IntegratorViewer } from "#access/viewer.ts";
import { Failure, fail } from "#foundation/failure.ts";
import type { GatewayServices } from "./call.ts";
import { challenge, type Door } from "#access/challenges.ts";
import { addressKey } from "./client-address.ts";
import { limitFailure } from "./limit.ts";
import type { RateLimiter } from "./rate-limiter.ts";

/** Of two lines of a header Node keeps the first or joins them; the raw headers have both. */
export function headerLines(request: FastifyRequest, name: string): string[] {
  const lines: string[] = [];
  if (request.headers[name] === undefined) return lines;
  const { rawHeaders } = request.raw;
  for (let index = 1; index < rawHeaders.length; index += 2) {
    const shown = rawHeaders[index - 1] ?? "";
    if (shown.length === name.length && shown.toLowerCase() === name) lines.push(rawHeaders[index] ?? "");
  }
  return lines;
}

/** Made once for a door; whoever comes to it is told apart by `Visit`. */
export interface Authentication<Visit, Viewer> extends Door {
  readonly limiter: RateLimiter;
  readonly verify: (authorization: Authorization, visit: Visit) => Promise<Viewer>;
}

/** A valid credential is never refused for its neighbours' failures; a missing one is no attempt. */
export async function authenticate<Visit, Viewer>(request: FastifyRequest, visit: Visit, door: Authentication<Visit, Viewer>): Promise<Viewer> {
  let authorization: Authorization | undefined;
  try {
    authorization = readAuthorization(headerLines(request, "authorization"));
    if (authorization === undefined) throw fail("credentials_missing");
    return await door.verify(authorization, visit);
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 401) throw error;
    if (error.code !== "credentials_missing" && !error.code.endsWith("_suspended")) {
      const state = await door.limiter.consume("auth-fail", addressKey(request.ip));
      if (state?.isExceeded === true) throw limitFailure("too_many_failed_attempts", state);
    }
    throw challenge(error, door, authorization?.scheme);
  }
}

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
