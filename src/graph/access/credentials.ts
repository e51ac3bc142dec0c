/** API keys, internal tokens and OAuth clients: creating, rotating, disabling and revoking them. */
import { z } from "zod";
import { createApiKey, revokeApiKey, keyOverlapHours, rotateApiKey } from "#access/keys/manage-keys.ts";
import { createInternalToken, revokeInternalToken } from "#access/keys/internal-tokens.ts";
import { type ApiKeyRow, findInternalTokens, type InternalTokenRow } from "#access/keys/read-credentials.ts";
import { isStaffViewer } from "#access/viewer.ts";
import { fail } from "#foundation/failure.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { type GraphContext, platform, readers, staff } from "#graph/context.ts";
import { accessChange } from "#graph/change-kinds.ts";
import { changeMutation, loadAnew } from "#graph/mutation.ts";
import { ApiKeyRef, AppRef, InternalTokenRef } from "#graph/refs.ts";
import {
  disableOauthClient,
  enableOauthClient,
  selectOauthClients,
  type OauthClientRow,
} from "#access/oauth/oauth-clients.ts";
import { connectionOf, pageCost, listTypes } from "#graph/connections.ts";
import { ScopeEnum } from "./identity.ts";
import { RoleEnum } from "./merchants.ts";

const name = z.string().trim().min(1).max(200);

const ApiKeyCreateInput = builder.inputType("ApiKeyCreateInput", {
  description: "A new API key.",
  fields: (t) => ({
    installationId: t.id({ required: true, description: "The installation it is for." }),
    name: t.string({ required: true, description: "What it is for.", validate: name }),
    scopes: t.field({
      type: [ScopeEnum],
      required: true,
      description: "What it may do: nothing that its installation may not.",
    }),
    expiresAt: t.field({ type: "DateTime", description: "When it ends; left out: never." }),
  }),
});

const ApiKeyRevokeInput = builder.inputType("ApiKeyRevokeInput", {
  description: "An API key to revoke.",
  fields: (t) => ({ apiKeyId: t.id({ required: true, description: "The key." }) }),
});

const ApiKeyRotateInput = builder.inputType("ApiKeyRotateInput", {
  description: "An API key that shall have a successor.",
  fields: (t) => ({
    apiKeyId: t.id({ required: true, description: "The key." }),
    overlapHours: t.int({
      defaultValue: keyOverlapHours.usual,
      description: `So long it goes on working beside its successor, 0 to ${keyOverlapHours.max} hours, but not longer than it would have; ${keyOverlapHours.usual} unless told.`,
      validate: z.int32().min(0).max(keyOverlapHours.max),
    }),
    expiresAt: t.field({ type: "DateTime", description: "When the successor ends; left out: never." }),
  }),
});

const InternalTokenCreateInput = builder.inputType("InternalTokenCreateInput", {
  description: "A new internal token.",
  fields: (t) => ({
    name: t.string({ required: true, description: "What it is for.", validate: name }),
    role: t.field({ type: RoleEnum, required: true, description: "What it may do." }),
    merchantId: t.id({
      description: "The merchant it is for. Tokens of the platform (operators, some analysts) have none.",
    }),
    expiresAt: t.field({ type: "DateTime", description: "When it ends; left out: never." }),
  }),
});

const InternalTokenRevokeInput = builder.inputType("InternalTokenRevokeInput", {
  description: "An internal token to revoke.",
  fields: (t) => ({ internalTokenId: t.id({ required: true, description: "The token." }) }),
});

const ApiKeyCreated = builder.objectRef<{ apiKey: ApiKeyRow; value: string }>("ApiKeyCreated").implement({
  description: "A new API key.",
  fields: (t) => ({
    apiKey: t.expose("apiKey", { type: ApiKeyRef, description: "What is known of it from now on." }),
    value: t.exposeString("value", { description: "The key itself. It is shown this once." }),
  }),
});

const ApiKeyRotated = builder
  .objectRef<{ apiKey: ApiKeyRow; value: string; rotated: ApiKeyRow }>("ApiKeyRotated")
  .implement({
    description: "An API key and its successor.",
    fields: (t) => ({
      apiKey: t.expose("apiKey", {
        type: ApiKeyRef,
        description: "The successor: it has the name and the scopes of the key before.",
      }),
      value: t.exposeString("value", { description: "The successor itself. It is shown this once." }),
      rotated: t.expose("rotated", {
        type: ApiKeyRef,
        description: "The key before, which ends with the overlap.",
      }),
    }),
  });

const InternalTokenCreated = builder
  .objectRef<{ internalToken: InternalTokenRow; value: string }>("InternalTokenCreated")
  .implement({
    description: "A new internal token.",
    fields: (t) => ({
      internalToken: t.expose("internalToken", {
        type: InternalTokenRef,
        description: "What is known of it from now on.",
      }),
      value: t.exposeString("value", { description: "The token itself. It is shown this once." }),
    }),
  });

const tokenOf = async ({ db }: GraphContext, id: string): Promise<InternalTokenRow> => {
  const [token] = await findInternalTokens(db, [id]);
  if (token === undefined) throw fail("resource_not_found");
  return token;
};

changeMutation({
  ...accessChange,
  name: "apiKeyCreate",
  description: "Makes an API key. The key itself is in this answer and nowhere else.",
  callers: staff,
  input: ApiKeyCreateInput,
  type: ApiKeyCreated,
  run: async (transaction, access, { expiresAt, ...input }) => {
    const { happened, ...made } = await createApiKey(transaction, access, {
      ...input,
      expiresAt: expiresAt ?? null,
    });
    access.publish(happened);
    return made;
  },
  answer: async ({ loaders }, { apiKeyId, value }) => ({
    value,
    apiKey: await loaders.apiKeys.load(apiKeyId),
  }),
});

changeMutation({
  ...accessChange,
  name: "apiKeyRotate",
  description:
    "Makes the successor of an API key. Both work for the overlap, then the old one has expired. A key is rotated once.",
  callers: staff,
  input: ApiKeyRotateInput,
  type: ApiKeyRotated,
  run: async (transaction, access, input) => {
    const { happened, ...made } = await rotateApiKey(transaction, access, {
      ...input,
      expiresAt: input.expiresAt ?? null,
    });
    access.publish(happened);
    return { ...made, rotatedId: input.apiKeyId };
  },
  answer: async ({ loaders }, { apiKeyId, value, rotatedId }) => {
    const [apiKey, rotated] = await Promise.all([
      loaders.apiKeys.load(apiKeyId),
      loadAnew(loaders.apiKeys, rotatedId),
    ]);
    return { apiKey, value, rotated };
  },
});

changeMutation({
  ...accessChange,
  name: "apiKeyRevoke",
  description: "Revokes an API key: it is refused from now on.",
  callers: staff,
  input: ApiKeyRevokeInput,
  type: ApiKeyRef,
  run: async (transaction, access, { apiKeyId }) => {
    access.publish(await revokeApiKey(transaction, access, apiKeyId));
    return apiKeyId;
  },
  answer: ({ loaders }, id) => loadAnew(loaders.apiKeys, id),
});

changeMutation({
  ...accessChange,
  name: "internalTokenCreate",
  description:
    "Makes an internal token. The token itself is in this answer and nowhere else. It is for holders of a token: one that a person made would outlive their account.",
  callers: staff,
  input: InternalTokenCreateInput,
  type: InternalTokenCreated,
  check: ({ viewer }) => {
    if (isStaffViewer(viewer))
      throw fail("role_not_allowed", {
        message: "Who is signed in makes no internal tokens: they would outlive the account.",
      });
  },
  run: (transaction, access, { expiresAt, merchantId, ...input }) =>
    createInternalToken(transaction, access, {
      ...input,
      merchantId: merchantId ?? access.merchantId,
      expiresAt: expiresAt ?? null,
    }),
  answer: async (context, { internalTokenId, value }) => ({
    value,
    internalToken: await tokenOf(context, internalTokenId),
  }),
});

changeMutation({
  ...accessChange,
  name: "internalTokenRevoke",
  description: "Revokes an internal token: it is refused from now on.",
  callers: staff,
  input: InternalTokenRevokeInput,
  type: InternalTokenRef,
  run: async (transaction, access, { internalTokenId }) => {
    await revokeInternalToken(transaction, access, internalTokenId);
    return internalTokenId;
  },
  answer: tokenOf,
});

/** Apps as OAuth clients: which there are, and switching them off for everybody. */
const OAuthClientAuthMethodEnum = defineEnum("OAuthClientAuthMethod", {
  description: "How an OAuth client proves who it is.",
  values: {
    none: "Not at all: its tokens are bound to a key all the same.",
    private_key_jwt: "With a key of its own (RFC 7523).",
  },
});

const OAuthClient = builder.objectRef<OauthClientRow>("OAuthClient").implement({
  description: "An app as an OAuth client: what merchants' people may let in.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The client's id, `oac_…`." }),
    app: t.field({
      type: AppRef,
      description: "The app.",
      resolve: ({ appId }, _args, { loaders }) => loaders.apps.load(appId),
    }),
    redirectUris: t.exposeStringList("redirectUris", {
      description: "Where its users may be sent back to, compared character by character.",
    }),
    authMethod: t.expose("authMethod", {
      type: OAuthClientAuthMethodEnum,
      description: "How it proves who it is.",
    }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    disabledAt: t.expose("disabledAt", {
      type: "DateTime",
      nullable: true,
      description: "Since when it is refused everywhere; null: it may ask.",
    }),
  }),
});

const OAuthClientTransitionInput = builder.inputType("OAuthClientTransitionInput", {
  description: "An OAuth client.",
  fields: (t) => ({ clientId: t.id({ required: true, description: "The client, `oac_…`." }) }),
});

async function clientOf({ db }: GraphContext, id: string): Promise<OauthClientRow> {
  const client = await selectOauthClients(db).where("id", "=", id).executeTakeFirst();
  if (client === undefined) throw fail("resource_not_found");
  return client;
}

changeMutation({
  ...accessChange,
  name: "oauthClientDisable",
  description:
    "Switches an OAuth client off for all merchants: nobody is sent to it, and whatever it was granted is revoked, for good.",
  callers: platform,
  input: OAuthClientTransitionInput,
  type: OAuthClient,
  run: async (transaction, access, { clientId }) => {
    await disableOauthClient(transaction, access, clientId);
    return clientId;
  },
  answer: clientOf,
});

changeMutation({
  ...accessChange,
  name: "oauthClientEnable",
  description: "Lets an OAuth client ask again. What it was granted before stays revoked.",
  callers: platform,
  input: OAuthClientTransitionInput,
  type: OAuthClient,
  run: async (transaction, _access, { clientId }) => {
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
      resolve: (_root, args, { db }) =>
        connectionOf(args, { db, query: selectOauthClients(db), column: "oauth_client.id" }),
    },
    ...listTypes("OAuthClient", "clients"),
  ),
);
