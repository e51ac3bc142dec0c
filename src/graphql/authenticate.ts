/**
 * Who calls `/graphql` and the reports: verifies an internal token or the console's session before the body
 * is read, and keeps the viewer until the answer.
 */
import type { FastifyRequest } from "fastify";
import type { CredentialVerifier } from "#access/credentials.ts";
import { recordInternalTokenUse } from "#access/keys/internal-tokens.ts";
import { type InternalViewer, isStaffViewer, type TokenViewer } from "#access/viewer.ts";
import { fail } from "#foundation/failure.ts";
import type { GraphServices } from "#graph/context.ts";
import { addressKey, authenticate, type Authentication } from "#http/caller.ts";
import { findConsoleCaller } from "#http/staff-session.ts";
import { limitFailure, type RateLimiter } from "#http/rate-limiter.ts";

export interface InternalAuthentication {
  /** Throws the failure that is answered. */
  readonly authenticate: (request: FastifyRequest) => Promise<InternalViewer>;
  /** The same for a caller that was let in before; this does not count as another use of the credential. */
  readonly recheck: (request: FastifyRequest) => Promise<InternalViewer>;
}

export interface InternalAuthenticationParts {
  readonly services: Pick<GraphServices, "db" | "clock" | "publicUrl">;
  readonly limiter: RateLimiter;
  readonly credentials: CredentialVerifier;
}

export const createInternalAuthentication = (parts: InternalAuthenticationParts): InternalAuthentication => ({
  authenticate: authenticationOf({ ...parts, isUse: true }),
  recheck: authenticationOf({ ...parts, isUse: false }),
});

function authenticationOf({
  services: { db, clock, publicUrl },
  limiter,
  credentials,
  isUse,
}: InternalAuthenticationParts & { readonly isUse: boolean }): InternalAuthentication["authenticate"] {
  const token: Authentication<null, TokenViewer> = {
    limiter,
    publicUrl,
    schemes: ["bearer"],
    verify: ({ scheme, token: text }) => {
      if (scheme !== "bearer")
        throw fail("credentials_malformed", {
          message: "The Authorization header must be `Bearer` and the internal token.",
        });
      return credentials.internalToken(text);
    },
  };
  // Unknown session secrets are counted together with wrong tokens.
  const onUnknown = async (request: FastifyRequest): Promise<void> => {
    const state = await limiter.consume("auth-fail", clientOf(request));
    if (state?.isExceeded === true) throw limitFailure("too_many_failed_attempts", state);
  };
  return async (request) => {
    const person = await findConsoleCaller(request, { db, clock, publicUrl, isUse, onUnknown });
    if (person !== undefined) return person;
    const viewer = await authenticate(request, null, token);
    if (isUse) void recordInternalTokenUse(db, viewer.tokenId, clock.now()).catch(() => undefined);
    return viewer;
  };
}

/** The name under which the address of a caller is counted. */
export const clientOf = ({ ip }: FastifyRequest): string => addressKey(ip);

/** What Yoga gets with each request. */
export interface YogaServerContext {
  readonly caller: FastifyRequest;
}

const viewers = new WeakMap<FastifyRequest, InternalViewer>();

export function setViewer(request: FastifyRequest, viewer: InternalViewer): void {
  viewers.set(request, viewer);
}

/** Names the token or the person in the log line of the request. */
export function noteCredential(request: FastifyRequest, viewer: InternalViewer): void {
  request.credential = isStaffViewer(viewer) ? { staffId: viewer.staffId } : { tokenId: viewer.tokenId };
}

const replays = new WeakMap<FastifyRequest, boolean>();

/**
 * Whether an earlier request had the effect, for the header `Idempotent-Replayed`; undefined if no key was
 * sent.
 */
export function setReplayed(request: FastifyRequest, isReplay: boolean): void {
  replays.set(request, isReplay);
}

export function replayedOf(request: FastifyRequest): boolean | undefined {
  return replays.get(request);
}

export function viewerOf(request: FastifyRequest): InternalViewer | undefined {
  return viewers.get(request);
}
