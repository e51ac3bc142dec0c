/** Verifies the credential of a request; attempts with wrong ones are counted per address, so that guessing has an end. */
import type { FastifyRequest } from "fastify";
import { bearerToken } from "#access/oauth/authorization.ts";
import { Failure, fail } from "#foundation/failure.ts";
import { addressKey } from "./client-address.ts";
import { limitFailure } from "./limit.ts";
import type { RateLimiter } from "./rate-limiter.ts";

/** Node keeps only the first of two Authorization lines; the raw headers have both. */
export function authorizationValues(request: FastifyRequest): string[] {
  const { rawHeaders } = request.raw;
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "authorization");
}

export interface Authentication<Viewer> {
  readonly limiter: RateLimiter;
  readonly publicUrl: string;
  readonly verify: (token: string) => Promise<Viewer>;
}

/** A valid credential is never refused for its neighbours' failures; a missing one is no attempt. */
export async function authenticate<Viewer>(request: FastifyRequest, { limiter, publicUrl, verify }: Authentication<Viewer>): Promise<Viewer> {
  try {
    const token = bearerToken(authorizationValues(request));
    if (token === undefined) throw fail("credentials_missing");
    return await verify(token);
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 401) throw error;
    if (error.code !== "credentials_missing" && !error.code.endsWith("_suspended")) {
      const state = await limiter.consume("auth-fail", addressKey(request.ip));
      if (state?.isExceeded === true) throw limitFailure("too_many_failed_attempts", state);
    }
    throw challenge(error, publicUrl);
  }
}

/** RFC 6750 section 3: the challenge names an error only when something was sent. */
export function challenge(failure: Failure, publicUrl: string): Failure {
  const realm = `Bearer realm="${publicUrl}"`;
  const value = failure.code === "credentials_missing" ? realm : `${realm}, error="invalid_token"`;
  return fail(failure.code, { ...failure.parts, message: failure.message, headers: { ...failure.parts.headers, "www-authenticate": value } });
}
