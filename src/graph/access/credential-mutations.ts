/** Making and ending what callers show: API keys and internal tokens. */
import { z } from "zod";
import { createApiKey, revokeApiKey } from "#access/keys/api-keys.ts";
import { createInternalToken, revokeInternalToken } from "#access/keys/internal-tokens.ts";
import { type ApiKeyRow, findInternalTokens, type InternalTokenRow } from "#access/tenants/read-tenants.ts";
import { overlapHours, rotateApiKey } from "#access/keys/rotate-key.ts";
import { isPerson } from "#access/viewer.ts";
import { fail } from "#foundation/failure.ts";
import { builder, staff } from "#graph/builder.ts";
import type { GraphContext } from "#graph/context.ts";
import { accessMutation, loadAnew } from "#graph/mutation.ts";
import { ApiKeyRef, InternalTokenRef } from "#graph/refs.ts";
import { ScopeEnum } from "./identity.ts";
import { RoleEnum } from "./tenants.ts";

const name = z.string().trim().min(1).max(200);

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

const ApiKeyRotateInput = builder.inputType("ApiKeyRotateInput", {
  description: "An API key that shall have a successor.",
  fields: (t) => ({
    apiKeyId: t.id({ required: true, description: "The key." }),
    overlapHours: t.int({
      defaultValue: overlapHours.usual,
      description: `So long it goes on working beside its successor, 0 to ${overlapHours.max} hours, but not longer than it would have; ${overlapHours.usual} unless told.`,
      validate: z.int32().min(0).max(overlapHours.max),
    }),
    expiresAt: t.field({ type: "DateTime", description: "When the successor ends; left out: never." }),
  }),
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

const ApiKeyRotated = builder.objectRef<{ apiKey: ApiKeyRow; value: string; rotated: ApiKeyRow }>("ApiKeyRotated").implement({
  description: "An API key and its successor.",
  fields: (t) => ({
    apiKey: t.expose("apiKey", { type: ApiKeyRef, description: "The successor: it has the name and the scopes of the key before." }),
    value: t.exposeString("value", { description: "The successor itself. It is shown this once." }),
    rotated: t.expose("rotated", { type: ApiKeyRef, description: "The key before, which ends with the overlap." }),
  }),
});

const InternalTokenCreated = builder.objectRef<{ internalToken: InternalTokenRow; value: string }>("InternalTokenCreated").implement({
  description: "A new internal token.",
  fields: (t) => ({
    internalToken: t.expose("internalToken", { type: InternalTokenRef, description: "What is known of it from now on." }),
    value: t.exposeString("value", { description: "The token itself. It is shown this once." }),
  }),
});

const tokenOf = async ({ db }: GraphContext, id: string): Promise<InternalTokenRow> => {
  const [token] = await findInternalTokens(db, [id]);
  if (token === undefined) throw fail("resource_not_found");
  return token;
};

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

accessMutation("apiKeyRotate", {
  description: "Makes the successor of an API key. Both work for the overlap, then the old one has expired. A key is rotated once.",
  callers: staff,
  input: ApiKeyRotateInput,
  type: ApiKeyRotated,
  change: async (transaction, access, input) => {
    const { happened, ...made } = await rotateApiKey(transaction, access, { ...input, expiresAt: input.expiresAt ?? null });
    access.tell(happened);
    return { ...made, rotatedId: input.apiKeyId };
  },
  answer: async ({ loaders }, { apiKeyId, value, rotatedId }) => {
    const [apiKey, rotated] = await Promise.all([loaders.apiKeys.load(apiKeyId), loadAnew(loaders.apiKeys, rotatedId)]);
    return { apiKey, value, rotated };
  },
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
  description:
    "Makes an internal token. The token itself is in this answer and nowhere else. It is for holders of a token: one that a person made would outlive their account.",
  callers: staff,
  input: InternalTokenCreateInput,
  type: InternalTokenCreated,
  refuse: (viewer) =>
    isPerson(viewer)
      ? fail("role_not_allowed", { message: "Who is signed in makes no internal tokens: they would outlive the account." })
      : undefined,
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
