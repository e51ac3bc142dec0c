/**
 * The GraphQL types, queries and mutations of OAuth clients: listing and creating clients, and disabling or
 * enabling them for all merchants.
 */
import {
  createOauthClient,
  disableOauthClient,
  enableOauthClient,
  isJsonWebKeySet,
  type JsonWebKeySet,
  buildOauthClientSqlQuery,
  type OauthClientRow,
} from "#access/oauth/oauth-clients.ts";
import { createFailure, createFailureWithDetail } from "#foundation/failure.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { accessMutationKind } from "#graph/mutation-kinds.ts";
import {
  loadGraphqlConnection,
  computeConnectionCost,
  createGraphqlConnectionTypeOptions,
} from "#graph/connections.ts";
import { type GraphqlContext, platformOperators, merchantReaders } from "#graph/context.ts";
import { defineMutation } from "#graph/mutation.ts";
import { AppRef } from "#graph/refs.ts";

const OAuthClientAuthMethodEnum = defineGraphqlEnum("OAuthClientAuthMethod", {
  description: "How an OAuth client authenticates at the token endpoint.",
  values: {
    none: "The client does not authenticate. Its tokens are still bound to a key of the client (DPoP).",
    private_key_jwt: "The client signs a JWT with its private key (RFC 7523).",
  },
});

const OAuthClientRegistrationEnum = defineGraphqlEnum("OAuthClientRegistration", {
  description: "How an OAuth client became known to the service.",
  values: {
    operator: "An operator of the platform created the client, for an app.",
    dynamic: "An AI agent registered itself (RFC 7591). The service has not verified its name.",
    metadata_document: "An AI agent whose client id is the URL of a document with its metadata.",
  },
});

const OAuthClient = builder.objectRef<OauthClientRow>("OAuthClient").implement({
  description: "An app as an OAuth client, to which staff members of merchants can grant access.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The OAuth client's id, `oac_…`." }),
    app: t.field({
      type: AppRef,
      description: "The app that this OAuth client belongs to.",
      resolve: ({ appId }, _args, { loaders }) => loaders.apps.load(appId),
    }),
    redirectUris: t.exposeStringList("redirectUris", {
      description:
        "The URIs to which the browser may be sent back after the authorization, compared character by " +
        "character.",
    }),
    authMethod: t.expose("authMethod", {
      type: OAuthClientAuthMethodEnum,
      description: "How the client authenticates at the token endpoint.",
    }),
    registration: t.expose("registration", {
      type: OAuthClientRegistrationEnum,
      description:
        "How the OAuth client became known to the service. Access tokens of AI agents are valid only at " +
        "the MCP server.",
    }),
    metadataUrl: t.expose("metadataUrl", {
      type: "URL",
      nullable: true,
      description:
        "The URL of the client's metadata document, which the client sends as its id; null if the client has " +
        "no such document.",
    }),
    version: t.exposeInt("version", {
      description: "The OAuth client's version; increases by 1 with every change.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the OAuth client was created." }),
    disabledAt: t.expose("disabledAt", {
      type: "DateTime",
      nullable: true,
      description: "When the OAuth client was disabled for all merchants; null if the client is enabled.",
    }),
  }),
});

const OAuthClientCreateInput = builder.inputType("OAuthClientCreateInput", {
  description: "The OAuth client to create.",
  fields: (t) => ({
    appId: t.id({
      required: true,
      description: "The id of the app that the OAuth client belongs to, `app_…`. Staff see the app's name.",
    }),
    redirectUris: t.stringList({
      required: true,
      description:
        "The URIs to which the browser may be sent back after the authorization: 1 to 20 different URIs of " +
        "at most 2048 characters, compared character by character. Allowed are https, http for 127.0.0.1, " +
        "[::1] and localhost, and a scheme that is a reversed domain name, such as " +
        "`com.example.app:/callback`.",
    }),
    authMethod: t.field({
      type: OAuthClientAuthMethodEnum,
      defaultValue: "none",
      description: "How the client authenticates at the token endpoint; `NONE` by default.",
    }),
    jwks: t.field({
      type: "JSON",
      description:
        'The client\'s public keys as a JSON Web Key Set (RFC 7517), `{"keys": […]}`: 1 to 10 keys on P-256 ' +
        "or Ed25519, without private parts. Required with `PRIVATE_KEY_JWT`, and not allowed with `NONE`.",
    }),
  }),
});

/**
 * Returns the JSON Web Key Set (the client's public keys) that the mutation's input contains; null if the
 * input contains none.
 */
function toKeySet(jwks: unknown): JsonWebKeySet | null {
  if (jwks === undefined || jwks === null) return null;
  if (isJsonWebKeySet(jwks)) return jwks;
  const message = '"jwks" must be a JSON Web Key Set: an object {"keys": […]} whose keys are objects.';
  throw createFailureWithDetail("invalid_field", { in: "body", field: "/jwks", code: "jwks", message });
}

const OAuthClientTransitionInput = builder.inputType("OAuthClientTransitionInput", {
  description: "The OAuth client to disable or enable.",
  fields: (t) => ({
    clientId: t.id({ required: true, description: "The id of the OAuth client, `oac_…`." }),
  }),
});

async function loadOauthClient({ db }: GraphqlContext, id: string): Promise<OauthClientRow> {
  const client = await buildOauthClientSqlQuery(db).where("id", "=", id).executeTakeFirst();
  if (client === undefined) throw createFailure("resource_not_found");
  return client;
}

defineMutation({
  ...accessMutationKind,
  name: "oauthClientCreate",
  description:
    "Creates an OAuth client for an app. Staff members of every merchant can then grant access to the " +
    "client. An OAuth client has no secret: the client either does not authenticate, or signs with its own " +
    "private key (`private_key_jwt`), of which the service stores only the public part.",
  failures: ["resource_not_found"],
  callers: platformOperators,
  input: OAuthClientCreateInput,
  type: OAuthClient,
  run: (transaction, access, { appId, redirectUris, authMethod, jwks }) =>
    createOauthClient(transaction, access, {
      appId,
      redirectUris,
      authMethod: authMethod ?? "none",
      jwks: toKeySet(jwks),
    }),
  answer: loadOauthClient,
});

defineMutation({
  ...accessMutationKind,
  name: "oauthClientDisable",
  description:
    "Disables an OAuth client for all merchants: the client cannot start new authorizations, and all its " +
    "grants are revoked permanently.",
  failures: ["resource_not_found"],
  callers: platformOperators,
  input: OAuthClientTransitionInput,
  type: OAuthClient,
  run: async (transaction, access, { clientId }) => {
    await disableOauthClient(transaction, access, clientId);
    return clientId;
  },
  answer: loadOauthClient,
});

defineMutation({
  ...accessMutationKind,
  name: "oauthClientEnable",
  description:
    "Enables a disabled OAuth client, which can then request access again. OAuth grants that were revoked " +
    "stay revoked.",
  failures: ["resource_not_found"],
  callers: platformOperators,
  input: OAuthClientTransitionInput,
  type: OAuthClient,
  run: async (transaction, _access, { clientId }) => {
    await enableOauthClient(transaction, clientId);
    return clientId;
  },
  answer: loadOauthClient,
});

builder.queryField("oauthClients", (t) =>
  t.connection(
    {
      type: OAuthClient,
      description: "The OAuth clients of all apps, oldest first, including disabled ones.",
      complexity: computeConnectionCost,
      authScopes: { callers: merchantReaders },
      resolve: (_root, args, { db }) =>
        loadGraphqlConnection(args, {
          db,
          query: buildOauthClientSqlQuery(db),
          column: "oauth_client.id",
          cursor: "oauthClient",
        }),
    },
    ...createGraphqlConnectionTypeOptions("OAuthClient", "OAuth clients"),
  ),
);
