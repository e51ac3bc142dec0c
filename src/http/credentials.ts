/** Verifies the credential of a request; attempts with wrong ones are counted per address, so that guessing has an end. */
import type { FastifyRequest } from "fastify";
import { type Authorization, readAuthorization } from "#access/oauth/authorization.ts";
import { Failure, fail } from "#foundation/failure.ts";
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
