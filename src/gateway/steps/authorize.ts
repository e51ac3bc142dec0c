/**
 * The steps before the body is read: they verify the API key or the access token of a caller, count the
 * request against its rate limit, and require the operation's scope. A DPoP proof is good once and leaves a
 * row, so a caller that will be refused anyway is refused before its proof is stored.
 */
import type { FastifyRequest } from "fastify";
import { isUseRecorded, ownerOfRefusedApiKey, recordApiKeyUse } from "#access/keys/verify-keys.ts";
import { type ChallengeOptions, authorizationServerMetadataPath } from "#access/authorization.ts";
import {
  anonymousViewer,
  credentialIdOf,
  credentialOwnerOf,
  type IntegratorViewer,
  isIntegrator,
  type Scope,
  type Viewer,
} from "#access/viewer.ts";
import { fail, Failure } from "#foundation/failure.ts";
import type { RestCall, GatewayServices, RestStep } from "#gateway/rest-call.ts";
import {
  type Authorization,
  readAuthorization,
  addressKey,
  authenticate,
  type Authentication,
  headerLines,
} from "#http/caller.ts";
import { requireScope as requireScopeOf, type OperationSecurity } from "#mesh/operation-security.ts";
import { type AdmitViewer, recordGrantUse } from "#access/oauth/access-tokens.ts";
import type { RestOperation } from "#gateway/contract.ts";
import { type Counted, refuseUsedUp, takeOne } from "#http/rate-limiter.ts";

export const identifyCaller: RestStep = {
  name: "identify",
  phase: "headers",
  appliesTo: ({ security }) => security.kind !== "anonymous",
  create: (services, operation) => {
    const place = challengeOptions(operation.security, services.publicUrl);
    const admission = createViewerAdmission(services, operation);
    const isKeyTaken = place.schemes.includes("bearer");
    const door: Authentication<RestCall, IntegratorViewer> = {
      ...place,
      limiter: services.limiter,
      verify: async (authorization, call) => {
        if (authorization.scheme === "bearer" && !isKeyTaken)
          throw fail("oauth_token_invalid", { message: "Only an access token will do here." });
        try {
          return await verifyIntegrator(call.request, authorization, {
            credentials: services.credentials,
            admit: admission(call),
          });
        } catch (error) {
          call.refused ??= ownerOfRefusedApiKey(error);
          throw error;
        }
      },
    };
    return async (call) => {
      const viewer = await authenticate(call.request, call, door);
      call.viewer = viewer;
      if (isCredentialUseRecorded(viewer, services)) return;
      // After the answer: a read is not kept waiting for this, and losing it costs nothing.
      call.reply.raw.once("finish", () => void recordCredentialUse(viewer, services).catch(() => undefined));
    };
  },
};

/** Who has no token yet is told where clients begin. */
function challengeOptions({ kind }: OperationSecurity, publicUrl: string): ChallengeOptions {
  if (kind !== "oauth") return { publicUrl, schemes: ["bearer", "dpop"] };
  return {
    publicUrl,
    schemes: ["dpop"],
    hint: `How to get an access token: ${publicUrl}${authorizationServerMetadataPath}.`,
  };
}

/**
 * An app that a merchant has let in shows an API key, or an access token with the proof that it holds the
 * token's key.
 */
export async function verifyIntegrator(
  request: FastifyRequest,
  { scheme, token }: Authorization,
  {
    credentials,
    admit,
  }: Pick<GatewayServices, "credentials"> & { readonly admit: AdmitViewer<IntegratorViewer> },
): Promise<IntegratorViewer> {
  if (scheme === "bearer") {
    if (jwt.test(token))
      throw fail("oauth_token_invalid", {
        message: "Access tokens are bound to a key: they come as `DPoP`, with a proof.",
      });
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
function isCredentialUseRecorded(
  viewer: IntegratorViewer,
  { db, clock }: Pick<GatewayServices, "db" | "clock">,
): boolean {
  return isUseRecorded(db, { credentialId: credentialIdOf(viewer), now: clock.now() });
}

function recordCredentialUse(
  viewer: IntegratorViewer,
  { db, clock }: Pick<GatewayServices, "db" | "clock">,
): Promise<void> {
  return viewer.kind === "api_key"
    ? recordApiKeyUse(db, viewer.apiKeyId, clock.now())
    : recordGrantUse(db, viewer.grantId, clock.now());
}

/**
 * What stands between a credential that holds and its use. A token's proof leaves a row (it is good once), so
 * whoever will not be served anyway is refused before that: the rows that an app can make are as many as the
 * requests that its limits allow.
 */
export function createViewerAdmission(
  { limiter }: Pick<GatewayServices, "limiter">,
  operation: RestOperation,
): (call: RestCall) => AdmitViewer<IntegratorViewer> {
  const { security } = operation;
  const mayBeSuspended = security.kind !== "anonymous" && security.whileSuspended;
  return (call) => async (viewer) => {
    if (viewer.suspended !== null && !mayBeSuspended) {
      call.refused = credentialOwnerOf(viewer);
      throw fail(viewer.suspended);
    }
    if (viewer.kind === "oauth")
      await refuseUsedUp(limiter, call.reply, getRateLimitCounter(viewer, operation));
  };
}

/**
 * Reads and changes each have a bucket for each credential; what has a bucket of its own is counted by
 * installation.
 */
export function getRateLimitCounter(
  viewer: IntegratorViewer,
  { method, ownBucket }: Pick<RestOperation, "method" | "ownBucket">,
): Counted {
  if (ownBucket !== null) return { bucket: ownBucket, key: viewer.installationId };
  return { bucket: method === "GET" ? "default" : "write", key: credentialIdOf(viewer) };
}

/**
 * Anonymous operations are limited by the caller's address; who sends a valid credential all the same is
 * counted by that.
 */
export const limitByAddress: RestStep = {
  name: "limit by address",
  phase: "headers",
  appliesTo: ({ security }) => security.kind === "anonymous",
  create: (services, operation) => {
    const { security } = operation;
    const admission = createViewerAdmission(services, operation);
    const bucket = security.kind === "anonymous" ? security.bucket : "default";
    return async (call) => {
      call.viewer = await readOptionalViewer(call, {
        credentials: services.credentials,
        admit: admission(call),
      });
      if (call.viewer.kind === "anonymous")
        await takeOne(services.limiter, call.reply, { bucket, key: addressKey(call.request.ip) });
    };
  },
};

/** Wrong credentials are ignored where none are needed, and those of who is suspended; used up ones are not. */
async function readOptionalViewer(
  call: RestCall,
  verifier: Parameters<typeof verifyIntegrator>[2],
): Promise<Viewer> {
  const values = headerLines(call.request, "authorization");
  if (values.length === 0) return anonymousViewer;
  try {
    const authorization = readAuthorization(values);
    if (authorization === undefined) return anonymousViewer;
    return await verifyIntegrator(call.request, authorization, verifier);
  } catch (error) {
    if (error instanceof Failure && error.code !== "rate_limited") return anonymousViewer;
    throw error;
  }
}

/** Callers with a credential are limited by the key or the grant, or by their installation (`countedAs`). */
export const limitByCredential: RestStep = {
  name: "limit by key",
  phase: "headers",
  appliesTo: () => true,
  create: ({ limiter }, operation) => {
    return ({ viewer, reply }) =>
      isIntegrator(viewer) ? takeOne(limiter, reply, getRateLimitCounter(viewer, operation)) : undefined;
  },
};

/**
 * Refuses a credential without the operation's scope before the body is read, so that an unscoped key learns
 * nothing of the schema.
 */
export const requireOperationScope: RestStep = {
  name: "require scope",
  phase: "headers",
  appliesTo: ({ security }) => scopeOf(security) !== null,
  create: ({ publicUrl }, { security }) => {
    const scope = scopeOf(security);
    return ({ viewer }) => (scope === null ? undefined : requireScopeOf(viewer, scope, publicUrl));
  },
};

const scopeOf = (security: OperationSecurity): Scope | null =>
  security.kind === "anonymous" ? null : security.scope;
