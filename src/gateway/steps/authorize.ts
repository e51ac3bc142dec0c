/**
 * Steps of a REST request that run before the request's body is read. They verify the caller's API key or
 * access token, count the request against its rate limit, and require the operation's scope. The DPoP proof
 * of a request is stored, because a proof may be used only once. A request that must be refused is refused
 * before its proof is stored, so that refused requests add no rows to the database.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { FastifyRequest } from "fastify";
import {
  wasCredentialUseRecordedRecently,
  findOwnerOfRefusedApiKey,
  recordApiKeyUse,
} from "#access/keys/verify-keys.ts";
import {
  type WwwAuthenticateChallengeOptions,
  authorizationServerMetadataPath,
  type OauthProtectedResourceName,
} from "#access/authorization.ts";
import {
  anonymousViewer,
  getCredentialIdOfViewer,
  getCredentialAndOwnerIds,
  type ApiKeyOrOauthViewer,
  isApiKeyOrOauthViewer,
  type PermissionScope,
  type Viewer,
} from "#access/viewer.ts";
import { createFailure, Failure } from "#foundation/failure.ts";
import type { RestRequestContext, RestGatewayServices, RestRequestPipelineStep } from "#gateway/rest-call.ts";
import {
  type ParsedAuthorizationHeader,
  parseAuthorizationHeader,
  toClientAddressKey,
  authenticateRequest,
  type RouteAuthenticationOptions,
  getHttpHeaderValues,
} from "#http/caller.ts";
import { requireScope as requireScopeOf, type RestOperationSecurity } from "#mesh/operation-security.ts";
import { type CheckAfterAuthentication, recordOauthGrantUse } from "#access/oauth/access-tokens.ts";
import type { RestOperation } from "#gateway/contract.ts";
import {
  type RateLimitCounterKey,
  requireRemainingQuota,
  countRequestAgainstQuota,
} from "#http/rate-limiter.ts";

/**
 * Verifies the credential of the caller and sets `call.viewer`. Operations that need no credential do not
 * have this step.
 */
export const identifyCaller: RestRequestPipelineStep = {
  name: "identify",
  phase: "headers",
  appliesTo: ({ security }) => security.kind !== "anonymous",
  create: (services, operation) => {
    const challenge = challengeOptions(operation.security, services.publicUrl);
    const admission = createSuspensionAndRateLimitCheck(services, operation);
    const acceptsApiKey = challenge.schemes.includes("bearer");
    const authentication: RouteAuthenticationOptions<RestRequestContext, ApiKeyOrOauthViewer> = {
      ...challenge,
      limiter: services.limiter,
      verify: async (authorization, call) => {
        if (authorization.scheme === "bearer" && !acceptsApiKey)
          throw createFailure("oauth_token_invalid", {
            message: "This operation requires an OAuth access token.",
          });
        try {
          return await authenticateApiKeyOrAccessToken(call.request, authorization, {
            credentials: services.credentials,
            admit: admission(call),
            resource: "api",
          });
        } catch (error) {
          call.refusedOwner ??= findOwnerOfRefusedApiKey(error);
          throw error;
        }
      },
    };
    return async (call) => {
      const viewer = await authenticateRequest(call.request, call, authentication);
      call.viewer = viewer;
      if (isCredentialUseRecorded(viewer, services)) return;
      // The time of the credential's last use is stored after the answer was sent, so that the caller does
      // not wait. An error while storing it is ignored.
      call.reply.raw.once("finish", () => void recordCredentialUse(viewer, services).catch(() => undefined));
    };
  },
};

/**
 * Returns the options of the `WWW-Authenticate` challenge of a 401 answer. For operations that require OAuth,
 * the text of the challenge names the URL that describes how to get an access token.
 */
function challengeOptions(
  { kind }: RestOperationSecurity,
  publicUrl: string,
): WwwAuthenticateChallengeOptions {
  if (kind !== "oauth") return { publicUrl, schemes: ["bearer", "dpop"] };
  return {
    publicUrl,
    schemes: ["dpop"],
    hint: `${publicUrl}${authorizationServerMetadataPath} describes how to get an access token.`,
  };
}

const viewerOfInternalRequest = new AsyncLocalStorage<ApiKeyOrOauthViewer>();

/**
 * Sends a request from this process to its own REST routes with the rights of a verified caller, for example
 * for a tool call over MCP. `send` sends the request. The credential cannot be verified again from the
 * headers of the inner request, because a DPoP proof is valid only once and for one URL.
 */
export const runInternalRequestAsVerifiedViewer = <Result>(
  viewer: ApiKeyOrOauthViewer,
  send: () => Result,
): Result => viewerOfInternalRequest.run(viewer, send);

interface IntegratorAuthentication extends Pick<RestGatewayServices, "credentials"> {
  readonly admit: CheckAfterAuthentication<ApiKeyOrOauthViewer>;
  /**
   * The protected resource to which the request was sent. Only the MCP server accepts an access token without
   * a DPoP proof, as a bearer token.
   */
  readonly resource: OauthProtectedResourceName;
}

/**
 * Verifies the credential of an app. Accepts an API key, an access token with a DPoP proof for the token's
 * key, or the access token of an AI agent as a bearer token. Throws a failure if the credential is not valid,
 * or if `admit` refuses its owner.
 */
export async function authenticateApiKeyOrAccessToken(
  request: FastifyRequest,
  { scheme, token }: ParsedAuthorizationHeader,
  { credentials, admit, resource }: IntegratorAuthentication,
): Promise<ApiKeyOrOauthViewer> {
  const verified = viewerOfInternalRequest.getStore();
  if (verified !== undefined) {
    await admit(verified);
    return verified;
  }
  const isJwt = jwtPattern.test(token);
  if (scheme === "bearer" && isJwt && resource === "api")
    throw createFailure("oauth_token_invalid", {
      message: "An access token must be sent as `Authorization: DPoP` together with a DPoP proof.",
    });
  if (scheme === "bearer" && !isJwt) {
    const viewer = await credentials.apiKey(token);
    await admit(viewer);
    return viewer;
  }
  if (token.startsWith("cpk_"))
    throw createFailure("oauth_token_invalid", {
      message: "An API key must be sent as `Authorization: Bearer`, without a DPoP proof.",
    });
  const { method, raw } = request;
  const [path = ""] = (raw.url ?? "").split("?");
  const proofs = getHttpHeaderValues(request, "dpop");
  return credentials.accessToken({ token, scheme, resource, proofs, method, path }, admit);
}

const jwtPattern = /^[\w-]+\.[\w-]*\.[\w-]*$/;

/**
 * Returns true if this process has stored a use of the credential within the last minute. The time of the
 * last use is then not stored again, which saves a database write for most requests.
 */
function isCredentialUseRecorded(
  viewer: ApiKeyOrOauthViewer,
  { db, clock }: Pick<RestGatewayServices, "db" | "clock">,
): boolean {
  return wasCredentialUseRecordedRecently(db, {
    credentialId: getCredentialIdOfViewer(viewer),
    now: clock.now(),
  });
}

function recordCredentialUse(
  viewer: ApiKeyOrOauthViewer,
  { db, clock }: Pick<RestGatewayServices, "db" | "clock">,
): Promise<void> {
  return viewer.kind === "api_key"
    ? recordApiKeyUse(db, viewer.apiKeyId, clock.now())
    : recordOauthGrantUse(db, viewer.grantId, clock.now());
}

/**
 * Creates the check that runs after a credential was verified and before its DPoP proof is stored. The check
 * refuses suspended apps and callers over their rate limit. So an app cannot store more DPoP proofs than its
 * rate limit allows requests.
 */
export function createSuspensionAndRateLimitCheck(
  { limiter }: Pick<RestGatewayServices, "limiter">,
  operation: RestOperation,
): (call: RestRequestContext) => CheckAfterAuthentication<ApiKeyOrOauthViewer> {
  const { security } = operation;
  const mayBeSuspended = security.kind !== "anonymous" && security.whileSuspended;
  return (call) => async (viewer) => {
    if (viewer.suspended !== null && !mayBeSuspended) {
      call.refusedOwner = getCredentialAndOwnerIds(viewer);
      throw createFailure(viewer.suspended);
    }
    if (viewer.kind === "oauth")
      await requireRemainingQuota(limiter, call.reply, getRateLimitCounterKeyOfRequest(viewer, operation));
  };
}

/**
 * Returns which rate limit counter counts a request. Each credential has one counter for reads and one for
 * writes. An operation with its own rate limit has a separate counter for each app installation.
 */
export function getRateLimitCounterKeyOfRequest(
  viewer: ApiKeyOrOauthViewer,
  { method, ownBucket }: Pick<RestOperation, "method" | "ownBucket">,
): RateLimitCounterKey {
  if (ownBucket !== null) return { bucket: ownBucket, key: viewer.installationId };
  return { bucket: method === "GET" ? "default" : "write", key: getCredentialIdOfViewer(viewer) };
}

/**
 * Counts requests to operations that need no credential against a limit for each network address. If a caller
 * sends a valid credential anyway, its requests count against the credential's limit instead.
 */
export const limitByAddress: RestRequestPipelineStep = {
  name: "limit by address",
  phase: "headers",
  appliesTo: ({ security }) => security.kind === "anonymous",
  create: (services, operation) => {
    const { security } = operation;
    const admission = createSuspensionAndRateLimitCheck(services, operation);
    const bucket = security.kind === "anonymous" ? security.bucket : "default";
    return async (call) => {
      call.viewer = await readOptionalViewer(call, {
        credentials: services.credentials,
        admit: admission(call),
        resource: "api",
      });
      if (call.viewer.kind === "anonymous")
        await countRequestAgainstQuota(services.limiter, call.reply, {
          bucket,
          key: toClientAddressKey(call.request.ip),
        });
    };
  },
};

/**
 * Reads the credential of a request to an operation that needs none. If the credential is invalid or its
 * owner is suspended, the request is handled as if it had no credential. If the rate limit of the credential
 * is exceeded, the request is refused.
 */
async function readOptionalViewer(
  call: RestRequestContext,
  verifier: IntegratorAuthentication,
): Promise<Viewer> {
  const values = getHttpHeaderValues(call.request, "authorization");
  if (values.length === 0) return anonymousViewer;
  try {
    const authorization = parseAuthorizationHeader(values);
    if (authorization === undefined) return anonymousViewer;
    return await authenticateApiKeyOrAccessToken(call.request, authorization, verifier);
  } catch (error) {
    if (error instanceof Failure && error.code !== "rate_limited") return anonymousViewer;
    throw error;
  }
}

/**
 * Counts a request against the rate limit of its caller's credential or app installation, and refuses the
 * request above the limit.
 */
export const limitByCredential: RestRequestPipelineStep = {
  name: "limit by key",
  phase: "headers",
  appliesTo: () => true,
  create: ({ limiter }, operation) => {
    return ({ viewer, reply }) =>
      isApiKeyOrOauthViewer(viewer)
        ? countRequestAgainstQuota(limiter, reply, getRateLimitCounterKeyOfRequest(viewer, operation))
        : undefined;
  },
};

/**
 * Refuses a credential without the operation's scope before the body is read, so that the caller gets no
 * validation errors, which would describe the body.
 */
export const requireOperationScope: RestRequestPipelineStep = {
  name: "require scope",
  phase: "headers",
  appliesTo: ({ security }) => scopeOf(security) !== null,
  create: ({ publicUrl }, { security }) => {
    const scope = scopeOf(security);
    return ({ viewer }) => (scope === null ? undefined : requireScopeOf(viewer, scope, publicUrl));
  },
};

const scopeOf = (security: RestOperationSecurity): PermissionScope | null =>
  security.kind === "anonymous" ? null : security.scope;
