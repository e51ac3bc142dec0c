/**
 * Authorization over HTTP: the challenges of refusals, and the paths, algorithms and audience on which the
 * authorization server and the resource server must agree.
 */
import { fail, type Failure, type FailureCode } from "#foundation/failure.ts";

/** The schemes of credentials, in lower case. */
export const authSchemes = ["bearer", "dpop"] as const;
export type AuthScheme = (typeof authSchemes)[number];

/** The schemes that a surface accepts. */
export interface ChallengeOptions {
  readonly publicUrl: string;
  /** The first one is the default of the challenge. */
  readonly schemes: readonly [AuthScheme, ...AuthScheme[]];
  /** A sentence that says where to get credentials. */
  readonly hint?: string;
}

/**
 * Adds WWW-Authenticate to a refusal, one challenge for each scheme. RFC 6750 section 3: a request without
 * credentials gets no error code.
 */
export function addAuthenticateChallenge(
  failure: Failure,
  { publicUrl, schemes, hint }: ChallengeOptions,
  used: AuthScheme = schemes[0],
): Failure {
  const meant = isOfTokens(failure.code) ? "dpop" : used;
  const scheme = schemes.includes(meant) ? meant : schemes[0];
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

const isOfTokens = (code: FailureCode): boolean =>
  code.startsWith("oauth_token_") || code.startsWith("dpop_proof_");

/**
 * `Bearer` for API keys (RFC 6750), `DPoP` for access tokens (RFC 9449 section 7.1, with RFC 9728 section
 * 5.1).
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

/** JWS algorithms of access tokens and of proofs, as metadata names them. */
export const tokenSigningAlgorithms = ["ES256", "EdDSA"] as const;

/**
 * What proofs are taken with: RFC 9864 has a name of its own for EdDSA on Ed25519, and client libraries sign
 * their proofs under it.
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

/** RFC 8414. */
export const authorizationServerMetadataPath = "/.well-known/oauth-authorization-server";
/** RFC 9728. */
export const protectedResourceMetadataPath = "/.well-known/oauth-protected-resource";

/** What access tokens are for: the `aud` of each, and the resource that metadata describes. */
export const accessTokenAudience = (publicUrl: string): string => `${publicUrl}/api`;
