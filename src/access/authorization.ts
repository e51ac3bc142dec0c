/**
 * HTTP authorization: the WWW-Authenticate challenges of refused requests, and the paths, algorithms and
 * audience that the OAuth authorization server and the API have in common.
 */
import { fail, type Failure, type FailureCode } from "#foundation/failure.ts";

/** Schemes of the Authorization header, in lower case. */
export const authSchemes = ["bearer", "dpop"] as const;
export type AuthScheme = (typeof authSchemes)[number];

/**
 * Options of the WWW-Authenticate challenges that a group of HTTP routes sends, for example all routes of the
 * REST API.
 */
export interface AuthenticateChallengeOptions {
  readonly publicUrl: string;
  /**
   * The authorization schemes that the HTTP routes accept. The challenge for a refused credential names the
   * scheme of the request if the routes accept it, otherwise the first scheme.
   */
  readonly schemes: readonly [AuthScheme, ...AuthScheme[]];
  /**
   * A sentence that says where callers get credentials. It is added to the error message of a refused
   * request.
   */
  readonly hint?: string;
}

/**
 * Returns an authentication failure with the WWW-Authenticate header and the hint added. A request without
 * credentials gets a challenge for each accepted scheme and, by RFC 6750 section 3, no error code.
 */
export function addAuthenticateChallenge(
  failure: Failure,
  { publicUrl, schemes, hint }: AuthenticateChallengeOptions,
  used: AuthScheme = schemes[0],
): Failure {
  const preferred = isTokenFailure(failure.code) ? "dpop" : used;
  const scheme = schemes.includes(preferred) ? preferred : schemes[0];
  const value =
    failure.code === "credentials_missing"
      ? schemes.map((open) => formatAuthenticateChallenge(open, publicUrl)).join(", ")
      : formatAuthenticateChallenge(scheme, publicUrl, {
          error: failure.code.startsWith("dpop_proof_") ? "invalid_dpop_proof" : "invalid_token",
        });
  const message = hint === undefined ? failure.message : `${failure.message} ${hint}`;
  return fail(failure.code, {
    ...failure.parts,
    message,
    headers: { ...failure.parts.headers, "www-authenticate": value },
  });
}

const isTokenFailure = (code: FailureCode): boolean =>
  code.startsWith("oauth_token_") || code.startsWith("dpop_proof_");

/**
 * Formats one WWW-Authenticate challenge: `Bearer` for API keys (RFC 6750), `DPoP` for access tokens (RFC
 * 9449 section 7.1, with `resource_metadata` of RFC 9728 section 5.1).
 */
export function formatAuthenticateChallenge(
  scheme: AuthScheme,
  publicUrl: string,
  parameters: Readonly<Record<string, string>> = {},
): string {
  const before = scheme === "bearer" ? { realm: publicUrl } : { algs: tokenSigningAlgorithms.join(" ") };
  const after =
    scheme === "bearer" ? {} : { resource_metadata: `${publicUrl}${protectedResourceMetadataPath}` };
  const pairs = Object.entries({ ...before, ...parameters, ...after }).map(
    ([name, value]) => `${name}="${value}"`,
  );
  return `${scheme === "bearer" ? "Bearer" : "DPoP"} ${pairs.join(", ")}`;
}

/** JWS algorithms of access tokens and DPoP proofs, as the server's metadata lists them. */
export const tokenSigningAlgorithms = ["ES256", "EdDSA"] as const;

/**
 * JWS algorithms accepted for DPoP proofs. RFC 9864 gives EdDSA on Ed25519 the additional name `Ed25519`,
 * which some client libraries use.
 */
export const dpopProofAlgorithms = [...tokenSigningAlgorithms, "Ed25519"] as const;

export const accessTokenLifetimeSeconds = 600;

export const oauthPaths = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  revocation: "/oauth/revoke",
  pushedAuthorizationRequest: "/oauth/par",
  jwks: "/oauth/jwks",
} as const;

export const clientAuthMethods = ["none", "private_key_jwt"] as const;

/** Path of the authorization server's metadata document (RFC 8414). */
export const authorizationServerMetadataPath = "/.well-known/oauth-authorization-server";
/** Path of the API's metadata document for OAuth clients (RFC 9728). */
export const protectedResourceMetadataPath = "/.well-known/oauth-protected-resource";

/** Returns the `aud` claim of access tokens, which is also the `resource` of the API's metadata document. */
export const getAccessTokenAudience = (publicUrl: string): string => `${publicUrl}/api`;
