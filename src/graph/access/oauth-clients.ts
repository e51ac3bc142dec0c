/** Apps as OAuth clients: which there are, and switching them off for everybody. */
import { disableOauthClient, enableOauthClient, oauthClientList, type OauthClientRow } from "#access/oauth/oauth-clients.ts";
import { fail } from "#foundation/failure.ts";
import { builder, platform, readers } from "#graph/builder.ts";
import { connectionOf, listTypes, pageCost } from "#graph/connections.ts";
import type { GraphContext } from "#graph/context.ts";
import { defineEnum } from "#graph/enums.ts";
import { accessMutation } from "#graph/mutation.ts";
import { AppRef } from "#graph/refs.ts";

const OAuthClientAuthMethodEnum = defineEnum("OAuthClientAuthMethod", {
  description: "How an OAuth client proves who it is.",
  values: { none: "Not at all: its tokens are bound to a key all the same.", private_key_jwt: "With a key of its own (RFC 7523)." },
});

const OAuthClient = builder.objectRef<OauthClientRow>("OAuthClient").implement({
  description: "An app as an OAuth client: what merchants' people may let in.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The client's id, `oac_…`." }),
    app: t.field({ type: AppRef, description: "The app.", resolve: ({ appId }, _args, { loaders }) => loaders.apps.load(appId) }),
    redirectUris: t.exposeStringList("redirectUris", { description: "Where its users may be sent back to, compared character by character." }),
    authMethod: t.expose("authMethod", { type: OAuthClientAuthMethodEnum, description: "How it proves who it is." }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    disabledAt: t.expose("disabledAt", { type: "DateTime", nullable: true, description: "Since when it is refused everywhere; null: it may ask." }),
  }),
});

const OAuthClientTransitionInput = builder.inputType("OAuthClientTransitionInput", {
  description: "An OAuth client.",
  fields: (t) => ({ clientId: t.id({ required: true, description: "The client, `oac_…`." }) }),
});

async function clientOf({ db }: GraphContext, id: string): Promise<OauthClientRow> {
  const client = await oauthClientList(db).where("id", "=", id).executeTakeFirst();
  if (client === undefined) throw fail("resource_not_found");
  return client;
}

accessMutation("oauthClientDisable", {
  description: "Switches an OAuth client off for all merchants: nobody is sent to it, and whatever it was granted is revoked, for good.",
  callers: platform,
  input: OAuthClientTransitionInput,
  type: OAuthClient,
  change: async (transaction, access, { clientId }) => {
    await disableOauthClient(transaction, access, clientId);
    return clientId;
  },
  answer: clientOf,
});

accessMutation("oauthClientEnable", {
  description: "Lets an OAuth client ask again. What it was granted before stays revoked.",
  callers: platform,
  input: OAuthClientTransitionInput,
  type: OAuthClient,
  change: async (transaction, _access, { clientId }) => {
    await enableOauthClient(transaction, clientId);
    return clientId;
  },
  answer: clientOf,
});

builder.queryField("oauthClients", (t) =>
  t.connection(
    {
      type: OAuthClient,
      description: "The OAuth clients of all apps, oldest first, disabled ones included.",
      complexity: pageCost,
      authScopes: { callers: readers },
      resolve: (_root, args, { db }) => connectionOf(args, { db, query: oauthClientList(db), column: "oauth_client.id" }),
    },
    ...listTypes("OAuthClient", "clients"),
  ),
);
