/** What the authorization server and the resource server have to agree on. Addresses are below the service's own; each is written once, here. */

/** JWS algorithms of access tokens and of proofs, as metadata names them. */
export const signingAlgorithms = ["ES256", "EdDSA"] as const;

/** What proofs are taken with: RFC 9864 has a name of its own for EdDSA on Ed25519, and client libraries sign their proofs under it. */
export const proofAlgorithms = [...signingAlgorithms, "Ed25519"] as const;

export const accessTokenSeconds = 600;

export const oauthPaths = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  revocation: "/oauth/revoke",
  pushedAuthorizationRequest: "/oauth/par",
  jwks: "/oauth/jwks",
} as const;

export const authMethods = ["none", "private_key_jwt"] as const;

/** RFC 8414. */
export const serverMetadataPath = "/.well-known/oauth-authorization-server";
/** RFC 9728. */
export const resourceMetadataPath = "/.well-known/oauth-protected-resource";

/** What access tokens are for: the `aud` of each, and the resource that metadata describes. */
export const audienceOf = (publicUrl: string): string => `${publicUrl}/api`;
