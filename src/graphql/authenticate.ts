/**
 * Authenticates requests to `/graphql` and to the CSV reports. Verifies an internal token or the session of
 * the staff console before the body is read. Stores the authenticated caller (viewer) until the answer is
 * sent.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { CredentialVerifier } from "#access/credentials.ts";
import { recordInternalTokenUse } from "#access/keys/internal-tokens.ts";
import { type InternalTokenOrStaffViewer, isStaffViewer, type InternalTokenViewer } from "#access/viewer.ts";
import { createFailure } from "#foundation/failure.ts";
import type { GraphqlServices } from "#graph/context.ts";
import { toClientAddressKey, authenticateRequest, type RouteAuthenticationOptions } from "#http/caller.ts";
import {
  type ConsoleStaffAuthenticationOptions,
  findStaffMemberOfConsoleRequest,
} from "#http/staff-session.ts";
import { createRateLimitFailure, type RateLimiter } from "#http/rate-limiter.ts";

export interface InternalTokenOrStaffAuthenticator {
  /**
   * Verifies the credential of a request. Throws the failure that the request is answered with if the
   * credential is not valid.
   */
  readonly authenticate: (request: FastifyRequest) => Promise<InternalTokenOrStaffViewer>;
  /**
   * Verifies the credential of a download request like `authenticate`. Also accepts the session cookie of a
   * staff member who follows a link on a page of this service.
   */
  readonly authenticateDownload: (request: FastifyRequest) => Promise<InternalTokenOrStaffViewer>;
  /**
   * Verifies the credential of an open event stream again. Does not update the stored time of the
   * credential's last use.
   */
  readonly recheck: (request: FastifyRequest) => Promise<InternalTokenOrStaffViewer>;
}

export interface InternalTokenOrStaffAuthenticatorOptions {
  readonly services: Pick<GraphqlServices, "db" | "clock" | "publicUrl">;
  readonly limiter: RateLimiter;
  readonly credentials: CredentialVerifier;
}

export const createInternalTokenOrStaffAuthenticator = (
  parts: InternalTokenOrStaffAuthenticatorOptions,
): InternalTokenOrStaffAuthenticator => ({
  authenticate: authenticationOf({ ...parts, isUse: true, acceptsLinks: false }),
  authenticateDownload: authenticationOf({ ...parts, isUse: true, acceptsLinks: true }),
  recheck: authenticationOf({ ...parts, isUse: false, acceptsLinks: false }),
});

function authenticationOf({
  services: { db, clock, publicUrl },
  limiter,
  credentials,
  isUse,
  acceptsLinks,
}: InternalTokenOrStaffAuthenticatorOptions &
  Pick<
    ConsoleStaffAuthenticationOptions,
    "isUse" | "acceptsLinks"
  >): InternalTokenOrStaffAuthenticator["authenticate"] {
  const token: RouteAuthenticationOptions<null, InternalTokenViewer> = {
    limiter,
    publicUrl,
    schemes: ["bearer"],
    verify: ({ scheme, token: text }) => {
      if (scheme !== "bearer")
        throw createFailure("credentials_malformed", {
          message: "The Authorization header must be `Bearer` and the internal token.",
        });
      return credentials.internalToken(text);
    },
  };
  // An unknown session secret counts as a failed attempt of the request's network address, in the same
  // counter as wrong tokens.
  const onUnknown = async (request: FastifyRequest): Promise<void> => {
    const state = await limiter.consume("auth-fail", getRateLimitKeyOfAddress(request));
    if (state?.isExceeded === true) throw createRateLimitFailure("too_many_failed_attempts", state);
  };
  return async (request) => {
    const person = await findStaffMemberOfConsoleRequest(request, {
      db,
      clock,
      publicUrl,
      isUse,
      acceptsLinks,
      onUnknown,
    });
    if (person !== undefined) return person;
    const viewer = await authenticateRequest(request, null, token);
    if (isUse) void recordInternalTokenUse(db, viewer.tokenId, clock.now()).catch(() => undefined);
    return viewer;
  };
}

/** Returns the key of the rate limit counter for the network address of a request. */
export const getRateLimitKeyOfAddress = ({ ip }: FastifyRequest): string => toClientAddressKey(ip);

/** The data that the Fastify plugin passes to GraphQL Yoga (the GraphQL server library) with each request. */
export interface YogaServerContext {
  readonly caller: FastifyRequest;
}

declare module "fastify" {
  interface FastifyRequest {
    /** The caller of a request to `/graphql`; undefined before its credential has been verified. */
    graphqlViewer: InternalTokenOrStaffViewer | undefined;
    /** Set when the GraphQL context of the request is created. */
    graphqlReplay: AnswerReplay | undefined;
  }
}

/**
 * Whether the answer of a request is the stored answer of an earlier request with the same idempotency key;
 * undefined if the request has no such key.
 */
interface AnswerReplay {
  isReplay: boolean | undefined;
}

/**
 * Declares the properties of requests that this file sets. Properties are used instead of a WeakMap, because
 * the garbage collector needs more time for the entries of a WeakMap.
 */
export function decorateRequestsWithGraphqlProperties(server: FastifyInstance): void {
  server.decorateRequest("graphqlViewer", undefined);
  server.decorateRequest("graphqlReplay", undefined);
}

export function setRequestViewer(request: FastifyRequest, viewer: InternalTokenOrStaffViewer): void {
  request.graphqlViewer = viewer;
}

/** Adds the id of the internal token or of the staff member to the log line of the request. */
export function addCredentialIdToRequestLog(
  request: FastifyRequest,
  viewer: InternalTokenOrStaffViewer,
): void {
  request.credential = isStaffViewer(viewer) ? { staffId: viewer.staffId } : { tokenId: viewer.tokenId };
}

/**
 * Creates the function that stores for the request whether its answer is the stored answer of an earlier
 * request. If so, the answer gets the header `Idempotent-Replayed`. The function references the property and
 * not the request, so that the GraphQL context does not keep the request in memory.
 */
export function createIdempotentReplayRecorder(request: FastifyRequest): (answer: AnswerWithReplay) => void {
  const replay: AnswerReplay = { isReplay: undefined };
  request.graphqlReplay = replay;
  return recordReplayIn(replay);
}

interface AnswerWithReplay {
  readonly isReplay: boolean;
}

const recordReplayIn =
  (replay: AnswerReplay) =>
  ({ isReplay }: AnswerWithReplay): void => {
    replay.isReplay = isReplay;
  };

export const isReplayedIdempotentAnswer = ({ graphqlReplay }: FastifyRequest): boolean | undefined =>
  graphqlReplay?.isReplay;

export const getRequestViewer = ({ graphqlViewer }: FastifyRequest): InternalTokenOrStaffViewer | undefined =>
  graphqlViewer;
