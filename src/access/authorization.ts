/**
 * HTTP authorization: the WWW-Authenticate challenges of refused requests, and the paths, algorithms and
 * audience that the OAuth authorization server and the API have in common.
 */
import { createFailure, type Failure, type FailureCode } from "#foundation/failure.ts";

/** The schemes of the Authorization header that the service accepts, in lower case. */
export const authSchemes = ["bearer", "dpop"] as const;
export type BearerOrDpopScheme = (typeof authSchemes)[number];

/**
 * Options of the WWW-Authenticate challenges with which a group of HTTP routes (for example all routes of the
 * REST API) refuses requests.
 */
export interface WwwAuthenticateChallengeOptions {
  readonly publicUrl: string;
  /**
   * The authorization schemes that the HTTP routes accept. The challenge for a refused credential names the
   * scheme of the request if the routes accept it, otherwise the first scheme.
   */
  readonly schemes: readonly [BearerOrDpopScheme, ...BearerOrDpopScheme[]];
  /**
   * A sentence that says where callers get credentials. It is added to the error message of a refused
   * request.
   */
  readonly hint?: string;
  /** The protected resource to which the HTTP routes belong; the REST API by default. */
  readonly resource?: OauthProtectedResourceName;
}

/**
 * The protected resources of the service: the REST API at `/api`, and the MCP server at `/mcp`. An access
 * token is valid for only one of them, which is its audience.
 */
export const protectedResources = ["api", "mcp"] as const;
export type OauthProtectedResourceName = (typeof protectedResources)[number];

/**
 * Adds the WWW-Authenticate header, and the hint that says where to get credentials, to an authentication
 * failure. Returns the changed failure. A request without credentials gets a challenge for each accepted
 * scheme and, by RFC 6750 section 3, no error code.
 */
export function addWwwAuthenticateChallenges(
  failure: Failure,
  { publicUrl, schemes, hint, resource = "api" }: WwwAuthenticateChallengeOptions,
  used: BearerOrDpopScheme = schemes[0],
): Failure {
  // The challenge for a refused access token has the scheme DPoP at the REST API, even if the token was sent
  // as a bearer token: the REST API accepts access tokens only with DPoP. The MCP server accepts both
  // schemes.
  const preferred = resource === "api" && isTokenFailure(failure.code) ? "dpop" : used;
  const scheme = schemes.includes(preferred) ? preferred : schemes[0];
  const place = { publicUrl, resource };
  const value =
    failure.code === "credentials_missing"
      ? schemes.map((open) => formatWwwAuthenticateChallenge(open, place)).join(", ")
      : formatWwwAuthenticateChallenge(scheme, place, {
          error: failure.code.startsWith("dpop_proof_") ? "invalid_dpop_proof" : "invalid_token",
        });
  const message = hint === undefined ? failure.message : `${failure.message} ${hint}`;
  return createFailure(failure.code, {
    ...failure.parts,
    message,
    headers: { ...failure.parts.headers, "www-authenticate": value },
  });
}

const isTokenFailure = (code: FailureCode): boolean =>
  code.startsWith("oauth_token_") || code.startsWith("dpop_proof_");

/**
 * Formats one WWW-Authenticate challenge: `Bearer` (RFC 6750) for API keys and for access tokens of agents,
 * and `DPoP` for the other access tokens (RFC 9449 section 7.1). The parameter `resource_metadata` (RFC 9728
 * section 5.1) names the document from which clients find the authorization server.
 */
export function formatWwwAuthenticateChallenge(
  scheme: BearerOrDpopScheme,
  { publicUrl, resource = "api" }: Pick<WwwAuthenticateChallengeOptions, "publicUrl" | "resource">,
  parameters: Readonly<Record<string, string>> = {},
): string {
  const before = scheme === "bearer" ? { realm: publicUrl } : { algs: tokenSigningAlgorithms.join(" ") };
  const after =
    scheme === "bearer" && resource === "api"
      ? {}
      : { resource_metadata: publicUrl + getResourceMetadataPath(resource) };
  const pairs = Object.entries({ ...before, ...parameters, ...after }).map(
    ([name, value]) => `${name}="${value}"`,
  );
  return `${scheme === "bearer" ? "Bearer" : "DPoP"} ${pairs.join(", ")}`;
}

/** The JWS algorithms of access tokens and DPoP proofs, as the authorization server's metadata lists them. */
export const tokenSigningAlgorithms = ["ES256", "EdDSA"] as const;

/**
 * JWS algorithms accepted for DPoP proofs. RFC 9864 gives EdDSA on Ed25519 the additional name `Ed25519`,
 * which some client libraries use.
 */
export const dpopProofAlgorithms = [...tokenSigningAlgorithms, "Ed25519"] as const;

export const accessTokenLifetimeSeconds = 600;
/**
 * Lifetime in seconds of access tokens for the MCP server, shorter than that of other access tokens. Most
 * tokens for the MCP server are bearer tokens, which a thief can use without any further proof.
 */
export const mcpTokenLifetimeSeconds = 300;

export const oauthPaths = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  revocation: "/oauth/revoke",
  pushedAuthorizationRequest: "/oauth/par",
  jwks: "/oauth/jwks",
  registration: "/oauth/register",
} as const;

export const clientAuthMethods = ["none", "private_key_jwt"] as const;

/** Path of the authorization server's metadata document (RFC 8414). */
export const authorizationServerMetadataPath = "/.well-known/oauth-authorization-server";
/** Path of the REST API's metadata document for OAuth clients (RFC 9728). */
export const protectedResourceMetadataPath = "/.well-known/oauth-protected-resource";

/**
 * Returns the path of a protected resource's metadata document. RFC 9728 section 3.1 appends the path of the
 * resource to the well-known path. The document of the REST API is also available at the well-known path
 * without an appended path.
 */
const getResourceMetadataPath = (resource: OauthProtectedResourceName): string =>
  resource === "api" ? protectedResourceMetadataPath : `${protectedResourceMetadataPath}/${resource}`;

/**
 * Returns the `aud` claim of access tokens for a protected resource. The metadata document of the resource
 * has the same value in its field `resource`.
 */
export const getAccessTokenAudience = (publicUrl: string, resource: OauthProtectedResourceName): string =>
  `${publicUrl}/${resource}`;
