/** The GraphQL types, queries and mutations of OAuth grants and of the authorization server's metadata. */
import {
  accessTokenLifetimeSeconds,
  clientAuthMethods,
  oauthPaths,
  tokenSigningAlgorithms,
} from "#access/authorization.ts";
import { revokeOauthGrant, buildOauthGrantSqlQuery } from "#access/oauth/grants.ts";
import { scopeDescriptions } from "#access/viewer.ts";
import { builder } from "#graph/builder.ts";
import {
  computeConnectionCost,
  createGraphqlConnectionTypeOptions,
  loadGraphqlConnection,
} from "#graph/connections.ts";
import { getCallerMerchantId, merchantReaders, staffCallers } from "#graph/context.ts";
import { accessMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation, reloadChangedRow } from "#graph/mutation.ts";
import { InstallationRef, OAuthGrantRef, StaffAccountRef } from "#graph/refs.ts";

OAuthGrantRef.implement({
  description:
    "Access that a staff member of a merchant granted to an OAuth client. A grant is a credential of an " +
    "installation, like an API key.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The OAuth grant's id, `grt_…`." }),
    clientId: t.exposeID("clientId", {
      description: "The id of the OAuth client that has the grant, `oac_…`.",
    }),
    scopes: t.stringList({
      description:
        "The scopes that the grant can use, sorted: those of the granted scopes that the installation has " +
        "too.",
      resolve: async ({ scopes, installationId }, _args, { loaders }) => {
        const installation = await loaders.installations.load(installationId);
        return scopes.filter((scope) => installation.scopes.includes(scope)).toSorted();
      },
    }),
    issuedAt: t.expose("issuedAt", {
      type: "DateTime",
      description: "When a staff member granted the access.",
    }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", description: "When the OAuth grant expires." }),
    revokedAt: t.expose("revokedAt", {
      type: "DateTime",
      nullable: true,
      description: "When the OAuth grant was revoked; null if the grant is not revoked.",
    }),
    lastUsedAt: t.expose("lastUsedAt", {
      type: "DateTime",
      nullable: true,
      description:
        "When an access token of the grant was last used, accurate to one minute; null if no access token " +
        "was used.",
    }),
    version: t.exposeInt("version", {
      description: "The grant's version; increases by 1 with every change.",
    }),
    installation: t.field({
      type: InstallationRef,
      description: "The installation that the grant belongs to.",
      resolve: ({ installationId }, _args, { loaders }) => loaders.installations.load(installationId),
    }),
    staff: t.field({
      type: StaffAccountRef,
      nullable: true,
      description: "The staff member who granted the access; null if the account does not exist.",
      authScopes: { callers: staffCallers },
      resolve: ({ staffId }, _args, { loaders }) => loaders.staffAccounts.load(staffId),
    }),
  }),
});

const OAuthScope = builder.objectRef<{ name: string; description: string }>("OAuthScope").implement({
  description: "A scope that OAuth clients can request.",
  fields: (t) => ({
    name: t.exposeString("name", {
      description: "The scope's name, as in the `scope` parameter of an authorization request.",
    }),
    description: t.exposeString("description", { description: "What the scope allows a caller to do." }),
  }),
});

interface AuthorizationServer {
  readonly publicUrl: string;
}

const urlOptions = (description: string, path: string) => ({
  type: "URL" as const,
  description,
  resolve: ({ publicUrl }: AuthorizationServer) => publicUrl + path,
});

const listOptions = (description: string, list: readonly string[]) => ({
  description,
  resolve: () => [...list],
});

const OAuthAuthorization = builder.objectRef<AuthorizationServer>("OAuthAuthorization").implement({
  description:
    "How OAuth clients get access tokens: the authorization server's metadata (RFC 8414), with fields " +
    "for DPoP (RFC 9449).",
  fields: (t) => ({
    issuer: t.field(
      urlOptions("The authorization server's identifier: the `iss` of its responses and tokens.", ""),
    ),
    authorizationEndpoint: t.field(
      urlOptions("The URL that the client opens in the browser to request access.", oauthPaths.authorization),
    ),
    tokenEndpoint: t.field(
      urlOptions(
        "The URL at which a client exchanges authorization codes and refresh tokens for access tokens.",
        oauthPaths.token,
      ),
    ),
    revocationEndpoint: t.field(
      urlOptions("The URL at which clients revoke tokens (RFC 7009).", oauthPaths.revocation),
    ),
    introspectionEndpoint: t.field({
      type: "URL",
      nullable: true,
      description: "Always null: the server has no introspection endpoint, because access tokens are JWTs.",
      resolve: () => null,
    }),
    pushedAuthorizationRequestEndpoint: t.field(
      urlOptions(
        "The URL to which a client can send its authorization request before the client opens the browser " +
          "(RFC 9126).",
        oauthPaths.pushedAuthorizationRequest,
      ),
    ),
    jwksUri: t.field(urlOptions("The URL of the public keys that verify access tokens.", oauthPaths.jwks)),
    responseTypesSupported: t.stringList(
      listOptions("The values of the parameter `response_type` that the authorization server supports.", [
        "code",
      ]),
    ),
    grantTypesSupported: t.stringList(
      listOptions("The values of the parameter `grant_type` that the authorization server supports.", [
        "authorization_code",
        "refresh_token",
      ]),
    ),
    codeChallengeMethodsSupported: t.stringList(
      listOptions(
        "The values of the parameter `code_challenge_method` (RFC 7636) that the authorization server " +
          "supports.",
        ["S256"],
      ),
    ),
    dpopSigningAlgValuesSupported: t.stringList(
      listOptions("The JWS algorithms with which a client may sign DPoP proofs.", tokenSigningAlgorithms),
    ),
    dpopNonceRequired: t.boolean({
      description:
        "Whether a DPoP proof must contain a nonce from the server. Always false: the service accepts a " +
        "proof only once and only if its time differs from the server's time by at most 60 seconds, so the " +
        "service needs no nonces.",
      resolve: () => false,
    }),
  }),
});

builder.objectFields(OAuthAuthorization, (t) => ({
  scopesSupported: t.field({
    type: [OAuthScope],
    description: "The scopes that clients can request.",
    complexity: { multiplier: 4 },
    resolve: () => Object.entries(scopeDescriptions).map(([name, description]) => ({ name, description })),
  }),
  tokenEndpointAuthMethodsSupported: t.stringList(
    listOptions("The methods by which clients can authenticate at the token endpoint.", clientAuthMethods),
  ),
  authorizationResponseIssParameterSupported: t.boolean({
    description: "Whether the authorization response contains the `iss` parameter (RFC 9207).",
    resolve: () => true,
  }),
  requiredParameters: t.stringList(
    listOptions("The parameters that every authorization request must contain.", requiredParameters),
  ),
  accessTokenLifetimeSeconds: t.int({
    description: "The lifetime of an access token in seconds.",
    resolve: () => accessTokenLifetimeSeconds,
  }),
  refreshTokenRotation: t.boolean({
    description:
      "Whether every refresh token can be used only once. Using a refresh token twice revokes the grant.",
    resolve: () => true,
  }),
  documentationUrl: t.field(urlOptions("The URL of the documentation for developers.", "/docs")),
}));

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
    description: "How OAuth clients get access tokens.",
    authScopes: { callers: ["oauth", ...merchantReaders] },
    resolve: (_root, _args, { publicUrl }) => ({ publicUrl }),
  }),
);

const OAuthGrantRevokeInput = builder.inputType("OAuthGrantRevokeInput", {
  description: "The OAuth grant to revoke.",
  fields: (t) => ({ grantId: t.id({ required: true, description: "The id of the OAuth grant, `grt_…`." }) }),
});

defineMutation({
  ...accessMutationKind,
  name: "oauthGrantRevoke",
  description: "Revokes an OAuth grant: the service refuses the grant's access tokens at once.",
  failures: ["resource_not_found"],
  callers: staffCallers,
  input: OAuthGrantRevokeInput,
  type: OAuthGrantRef,
  run: async (transaction, access, { grantId }) => {
    access.publish(await revokeOauthGrant(transaction, access, grantId));
    return grantId;
  },
  answer: ({ loaders }, id) => reloadChangedRow(loaders.oauthGrants, id),
});

builder.queryFields((t) => ({
  oauthGrants: t.connection(
    {
      type: OAuthGrantRef,
      description:
        "The OAuth grants of the merchants that the caller may read, oldest first, including revoked grants.",
      complexity: computeConnectionCost,
      authScopes: { callers: staffCallers },
      args: {
        installationId: t.arg.id({
          description:
            "Returns only grants of the installation with this id, `ins_…`; the list is empty if the " +
            "installation does not exist.",
        }),
      },
      resolve: (_root, { installationId, ...args }, context) => {
        const all = buildOauthGrantSqlQuery(context.db, getCallerMerchantId(context));
        const query =
          typeof installationId === "string" ? all.where("installationId", "=", installationId) : all;
        return loadGraphqlConnection(args, {
          db: context.db,
          query,
          column: "oauth_grant.id",
          cursor: "oauthGrant",
        });
      },
    },
    ...createGraphqlConnectionTypeOptions("OAuthGrant", "OAuth grants"),
  ),
}));
