/** OAuth as its clients see it: how they get tokens, and what a merchant granted to them. */
import {
  accessTokenLifetimeSeconds,
  clientAuthMethods,
  oauthPaths,
  tokenSigningAlgorithms,
} from "#access/authorization.ts";
import { scopeDescriptions } from "#access/viewer.ts";
import { builder } from "#graph/builder.ts";
import { readers } from "#graph/context.ts";
import { InstallationRef, OAuthGrantRef } from "#graph/refs.ts";

OAuthGrantRef.implement({
  description:
    "What a merchant granted to an OAuth client: a credential of an installation, as an API key is.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The grant's id, `grt_…`." }),
    clientId: t.exposeID("clientId", { description: "The client it was granted to, `oac_…`." }),
    scopes: t.stringList({
      description: "What the client may do, sorted: what was granted, as far as its installation may.",
      resolve: async ({ scopes, installationId }, _args, { loaders }) => {
        const installation = await loaders.installations.load(installationId);
        return scopes.filter((scope) => installation.scopes.includes(scope)).toSorted();
      },
    }),
    issuedAt: t.expose("issuedAt", { type: "DateTime", description: "When it was granted." }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", description: "When it ends." }),
    revokedAt: t.expose("revokedAt", {
      type: "DateTime",
      nullable: true,
      description: "When it was revoked.",
    }),
    lastUsedAt: t.expose("lastUsedAt", {
      type: "DateTime",
      nullable: true,
      description: "When a token of it was last used, to the minute.",
    }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    installation: t.field({
      type: InstallationRef,
      description: "The installation it belongs to.",
      resolve: ({ installationId }, _args, { loaders }) => loaders.installations.load(installationId),
    }),
  }),
});

const OAuthScope = builder.objectRef<{ name: string; description: string }>("OAuthScope").implement({
  description: "Something that a client may be allowed.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "As it stands in `scope`." }),
    description: t.exposeString("description", { description: "What it allows." }),
  }),
});

const OAuthAuthorization = builder.objectRef<{ readonly publicUrl: string }>("OAuthAuthorization").implement({
  description:
    "How clients get access tokens: the authorization server's metadata (RFC 8414) with what DPoP (RFC 9449) adds.",
  fields: (t) => {
    const address = (description: string, path: string) =>
      t.field({ type: "URL", description, resolve: ({ publicUrl }) => publicUrl + path });
    const words = (description: string, list: readonly string[]) =>
      t.stringList({ description, resolve: () => [...list] });
    return {
      issuer: address("The authorization server: `iss` of its answers and tokens.", ""),
      authorizationEndpoint: address("Where the browser is sent.", oauthPaths.authorization),
      tokenEndpoint: address("Where codes and refresh tokens become access tokens.", oauthPaths.token),
      revocationEndpoint: address("Where tokens are given back (RFC 7009).", oauthPaths.revocation),
      introspectionEndpoint: t.field({
        type: "URL",
        nullable: true,
        description: "Null: access tokens are JWTs.",
        resolve: () => null,
      }),
      pushedAuthorizationRequestEndpoint: address(
        "Where requests may be left before the browser is sent (RFC 9126).",
        oauthPaths.pushedAuthorizationRequest,
      ),
      jwksUri: address("The public keys that access tokens are signed with.", oauthPaths.jwks),
      responseTypesSupported: words("What `response_type` may be.", ["code"]),
      grantTypesSupported: words("What `grant_type` may be.", ["authorization_code", "refresh_token"]),
      codeChallengeMethodsSupported: words("What `code_challenge_method` may be (RFC 7636).", ["S256"]),
      dpopSigningAlgValuesSupported: words(
        "The algorithms that proofs may be signed with.",
        tokenSigningAlgorithms,
      ),
      dpopNonceRequired: t.boolean({
        description: "Whether a proof needs a nonce of the server's.",
        resolve: () => false,
      }),
      scopesSupported: t.field({
        type: [OAuthScope],
        description: "What may be asked for.",
        complexity: { multiplier: 4 },
        resolve: () =>
          Object.entries(scopeDescriptions).map(([name, description]) => ({ name, description })),
      }),
      tokenEndpointAuthMethodsSupported: words("How a client may authenticate.", clientAuthMethods),
      authorizationResponseIssParameterSupported: t.boolean({
        description: "Whether the answer to the browser names the issuer (RFC 9207).",
        resolve: () => true,
      }),
      requiredParameters: words("What an authorization request must have.", requiredParameters),
      accessTokenLifetimeSeconds: t.int({
        description: "How long an access token lasts.",
        resolve: () => accessTokenLifetimeSeconds,
      }),
      refreshTokenRotation: t.boolean({
        description: "Whether each refresh token is good for one use; a second one ends the grant.",
        resolve: () => true,
      }),
      documentationUrl: address("For people.", "/docs"),
    };
  },
});

const requiredParameters = [
  "response_type",
  "client_id",
  "redirect_uri",
  "code_challenge",
  "code_challenge_method",
  "state",
];

builder.queryField("oauthAuthorization", (t) =>
  t.field({
    type: OAuthAuthorization,
    description: "How clients get access tokens.",
    authScopes: { callers: ["oauth", ...readers] },
    resolve: (_root, _args, { publicUrl }) => ({ publicUrl }),
  }),
);
