/** Letting in and shutting out: merchants, apps, installations, API keys and internal tokens. */
import { z } from "zod";
import { createApiKey, revokeApiKey } from "#access/keys/api-keys.ts";
import { createInternalToken, revokeInternalToken } from "#access/keys/internal-tokens.ts";
import { type ApiKeyRow, findInternalTokens, type InternalTokenRow } from "#access/tenants/read-tenants.ts";
import { changeInstallation, createApp, createInstallation, createMerchant, updateMerchant } from "#access/tenants/tenants.ts";
import { reindexMerchant } from "#commerce/search/reindex-merchant.ts";
import { fail } from "#foundation/failure.ts";
import { builder, platform, staff } from "#graph/builder.ts";
import { expectedVersion } from "#graph/catalog/inputs.ts";
import type { GraphContext } from "#graph/context.ts";
import { ModeEnum, ScopeEnum } from "./identity.ts";
import { accessMutation, type AccessWork, loadAnew } from "#graph/mutation.ts";
import { ApiKeyRef, AppRef, InstallationRef, InternalTokenRef, MerchantRef } from "#graph/refs.ts";
import { RoleEnum } from "./tenants.ts";

const name = z.string().trim().min(1).max(200);

const MerchantCreateInput = builder.inputType("MerchantCreateInput", {
  description: "A new merchant.",
  fields: (t) => ({
    slug: t.field({ type: "Slug", required: true, description: "Its name in addresses, unique." }),
    name: t.string({ required: true, description: "Its name.", validate: name }),
    mode: t.field({ type: ModeEnum, required: true, description: "Whether real money moves; fixed." }),
    defaultLocale: t.field({ type: "LocaleCode", required: true, description: "The locale that texts fall back to." }),
    defaultMarket: t.field({ type: "CountryCode", required: true, description: "The country whose prices are shown where none is asked for." }),
  }),
});

const MerchantUpdateInput = builder.inputType("MerchantUpdateInput", {
  description: "What shall change of a merchant; what is left out stays.",
  fields: (t) => ({
    merchantId: t.id({ required: true, description: "The merchant." }),
    expectedVersion: t.int({ description: expectedVersion }),
    name: t.string({ description: "Its name.", validate: name }),
    defaultLocale: t.field({ type: "LocaleCode", description: "The locale that texts fall back to." }),
    defaultMarket: t.field({ type: "CountryCode", description: "The country whose prices are shown where none is asked for." }),
  }),
});

const MerchantTransitionInput = builder.inputType("MerchantTransitionInput", {
  description: "A merchant and what the caller knows of it.",
  fields: (t) => ({
    merchantId: t.id({ required: true, description: "The merchant." }),
    expectedVersion: t.int({ description: expectedVersion }),
  }),
});

const AppCreateInput = builder.inputType("AppCreateInput", {
  description: "A new app.",
  fields: (t) => ({
    name: t.string({ required: true, description: "Its name.", validate: name }),
    publisher: t.string({ description: "Who makes it.", validate: name }),
  }),
});

const InstallationCreateInput = builder.inputType("InstallationCreateInput", {
  description: "An app that a merchant lets in.",
  fields: (t) => ({
    merchantId: t.id({ required: true, description: "The merchant." }),
    appId: t.id({ required: true, description: "The app; it can be installed once." }),
    scopes: t.field({ type: [ScopeEnum], required: true, description: "What it may do." }),
  }),
});

const InstallationScopesSetInput = builder.inputType("InstallationScopesSetInput", {
  description: "What an installation may do from now on. Its keys may do what is in both lists.",
  fields: (t) => ({
    installationId: t.id({ required: true, description: "The installation." }),
    scopes: t.field({ type: [ScopeEnum], required: true, description: "What it may do." }),
  }),
});

const InstallationTransitionInput = builder.inputType("InstallationTransitionInput", {
  description: "An installation.",
  fields: (t) => ({ installationId: t.id({ required: true, description: "The installation." }) }),
});

const ApiKeyCreateInput = builder.inputType("ApiKeyCreateInput", {
  description: "A new API key.",
  fields: (t) => ({
    installationId: t.id({ required: true, description: "The installation it is for." }),
    name: t.string({ required: true, description: "What it is for.", validate: name }),
    scopes: t.field({ type: [ScopeEnum], required: true, description: "What it may do: nothing that its installation may not." }),
    expiresAt: t.field({ type: "DateTime", description: "When it ends; left out: never." }),
  }),
});

const ApiKeyRevokeInput = builder.inputType("ApiKeyRevokeInput", {
  description: "An API key to revoke.",
  fields: (t) => ({ apiKeyId: t.id({ required: true, description: "The key." }) }),
});

const InternalTokenCreateInput = builder.inputType("InternalTokenCreateInput", {
  description: "A new internal token.",
  fields: (t) => ({
    name: t.string({ required: true, description: "What it is for.", validate: name }),
    role: t.field({ type: RoleEnum, required: true, description: "What it may do." }),
    merchantId: t.id({ description: "The merchant it is for. Tokens of the platform (operators, some analysts) have none." }),
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

const InternalTokenCreated = builder.objectRef<{ internalToken: InternalTokenRow; value: string }>("InternalTokenCreated").implement({
  description: "A new internal token.",
  fields: (t) => ({
    internalToken: t.expose("internalToken", { type: InternalTokenRef, description: "What is known of it from now on." }),
    value: t.exposeString("value", { description: "The token itself. It is shown this once." }),
  }),
});

const merchantOf = ({ loaders }: GraphContext, id: string) => loadAnew(loaders.merchants, id);
const installationOf = ({ loaders }: GraphContext, id: string) => loadAnew(loaders.installations, id);
const tokenOf = async ({ db }: GraphContext, id: string): Promise<InternalTokenRow> => {
  const [token] = await findInternalTokens(db, [id]);
  if (token === undefined) throw fail("resource_not_found");
  return token;
};

accessMutation("merchantCreate", {
  description: "Makes a merchant.",
  callers: platform,
  input: MerchantCreateInput,
  type: MerchantRef,
  change: createMerchant,
  answer: merchantOf,
});

accessMutation("merchantUpdate", {
  description: "Changes a merchant.",
  callers: staff,
  input: MerchantUpdateInput,
  type: MerchantRef,
  change: async (transaction, access, input) => {
    await updateMerchant(transaction, access, input);
    // The locale that products fall back to stands in the index.
    if (typeof input.defaultLocale === "string")
      await reindexMerchant(transaction, { merchantId: input.merchantId, onlyMissing: false, now: access.now });
    return input.merchantId;
  },
  answer: merchantOf,
});

type MerchantTransition = (typeof MerchantTransitionInput)["$inferInput"];

const setMerchantStatus =
  (status: "active" | "suspended"): AccessWork<MerchantTransition, string> =>
  async (transaction, access, input) => {
    await updateMerchant(transaction, access, { ...input, status });
    if (status === "active") await reindexMerchant(transaction, { merchantId: input.merchantId, onlyMissing: true, now: access.now });
    return input.merchantId;
  };

accessMutation("merchantSuspend", {
  description: "Cuts all credentials of a merchant at once and hides its products.",
  callers: platform,
  input: MerchantTransitionInput,
  type: MerchantRef,
  change: setMerchantStatus("suspended"),
  answer: merchantOf,
});
accessMutation("merchantResume", {
  description: "Opens a suspended merchant again.",
  callers: platform,
  input: MerchantTransitionInput,
  type: MerchantRef,
  change: setMerchantStatus("active"),
  answer: merchantOf,
});

accessMutation("appCreate", {
  description: "Registers an app.",
  callers: platform,
  input: AppCreateInput,
  type: AppRef,
  change: (transaction, access, { name: appName, publisher }) => createApp(transaction, access, { name: appName, publisher: publisher ?? null }),
  answer: ({ loaders }, id) => loadAnew(loaders.apps, id),
});

accessMutation("installationCreate", {
  description: "Lets an app in.",
  callers: staff,
  input: InstallationCreateInput,
  type: InstallationRef,
  change: createInstallation,
  answer: installationOf,
});

accessMutation("installationScopesSet", {
  description: "Sets what an installation may do; felt by its keys at once.",
  callers: staff,
  input: InstallationScopesSetInput,
  type: InstallationRef,
  change: async (transaction, access, input) => {
    access.tell(await changeInstallation(transaction, access, input));
    return input.installationId;
  },
  answer: installationOf,
});

type InstallationTransition = (typeof InstallationTransitionInput)["$inferInput"];

const setInstallationStatus =
  (status: "active" | "suspended" | "uninstalled"): AccessWork<InstallationTransition, string> =>
  async (transaction, access, { installationId }) => {
    access.tell(await changeInstallation(transaction, access, { installationId, status }));
    return installationId;
  };

const transitions = [
  ["installationSuspend", "Cuts an installation's credentials until it is resumed.", "suspended"],
  ["installationResume", "Lets a suspended installation call again.", "active"],
  ["installationUninstall", "Ends an installation for good and revokes its keys.", "uninstalled"],
] as const;

for (const [field, description, status] of transitions) {
  accessMutation(field, {
    description,
    callers: staff,
    input: InstallationTransitionInput,
    type: InstallationRef,
    change: setInstallationStatus(status),
    answer: installationOf,
  });
}

accessMutation("apiKeyCreate", {
  description: "Makes an API key. The key itself is in this answer and nowhere else.",
  callers: staff,
  input: ApiKeyCreateInput,
  type: ApiKeyCreated,
  change: async (transaction, access, { expiresAt, ...input }) => {
    const { happened, ...made } = await createApiKey(transaction, access, { ...input, expiresAt: expiresAt ?? null });
    access.tell(happened);
    return made;
  },
  answer: async ({ loaders }, { apiKeyId, value }) => ({ value, apiKey: await loaders.apiKeys.load(apiKeyId) }),
});

accessMutation("apiKeyRevoke", {
  description: "Revokes an API key: it is refused from now on.",
  callers: staff,
  input: ApiKeyRevokeInput,
  type: ApiKeyRef,
  change: async (transaction, access, { apiKeyId }) => {
    access.tell(await revokeApiKey(transaction, access, apiKeyId));
    return apiKeyId;
  },
  answer: ({ loaders }, id) => loadAnew(loaders.apiKeys, id),
});

accessMutation("internalTokenCreate", {
  description: "Makes an internal token. The token itself is in this answer and nowhere else.",
  callers: staff,
  input: InternalTokenCreateInput,
  type: InternalTokenCreated,
  change: (transaction, access, { expiresAt, merchantId, ...input }) =>
    createInternalToken(transaction, access, { ...input, merchantId: merchantId ?? access.merchantId, expiresAt: expiresAt ?? null }),
  answer: async (context, { internalTokenId, value }) => ({ value, internalToken: await tokenOf(context, internalTokenId) }),
});

accessMutation("internalTokenRevoke", {
  description: "Revokes an internal token: it is refused from now on.",
  callers: staff,
  input: InternalTokenRevokeInput,
  type: InternalTokenRef,
  change: async (transaction, access, { internalTokenId }) => {
    await revokeInternalToken(transaction, access, internalTokenId);
    return internalTokenId;
  },
  answer: tokenOf,
});
