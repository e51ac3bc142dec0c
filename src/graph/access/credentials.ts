/** The GraphQL mutations that create, rotate and revoke API keys and internal tokens. */
import { z } from "zod";
import { createApiKey, revokeApiKey, keyOverlapHours, rotateApiKey } from "#access/keys/manage-keys.ts";
import { allowedOriginsMax, createInternalToken, revokeInternalToken } from "#access/keys/internal-tokens.ts";
import { type ApiKeyRow, findInternalTokens, type InternalTokenRow } from "#access/keys/read-credentials.ts";
import { isStaffViewer } from "#access/viewer.ts";
import { createFailure } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import { type GraphqlContext, staffCallers } from "#graph/context.ts";
import { accessMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation, reloadChangedRow } from "#graph/mutation.ts";
import { ApiKeyRef, InternalTokenRef } from "#graph/refs.ts";
import { ScopeEnum } from "./identity.ts";
import { RoleEnum, TokenDocumentsEnum } from "./merchants.ts";

const name = z.string().trim().min(1).max(200);

const ApiKeyCreateInput = builder.inputType("ApiKeyCreateInput", {
  description: "The API key to create.",
  fields: (t) => ({
    installationId: t.id({
      required: true,
      description: "The id of the installation that the API key is for, `ins_…`.",
    }),
    name: t.string({
      required: true,
      description: "A name that says what the API key is used for, 1 to 200 characters.",
      validate: name,
    }),
    scopes: t.field({
      type: [ScopeEnum],
      required: true,
      description: "The scopes of the API key; each must be a scope of its installation.",
    }),
    expiresAt: t.field({
      type: "DateTime",
      description: "The time at which the API key expires. If left out, the key never expires.",
    }),
  }),
});

const ApiKeyRevokeInput = builder.inputType("ApiKeyRevokeInput", {
  description: "The API key to revoke.",
  fields: (t) => ({ apiKeyId: t.id({ required: true, description: "The id of the API key, `key_…`." }) }),
});

const ApiKeyRotateInput = builder.inputType("ApiKeyRotateInput", {
  description: "The API key to replace by a new one.",
  fields: (t) => ({
    apiKeyId: t.id({ required: true, description: "The id of the API key to replace, `key_…`." }),
    overlapHours: t.int({
      defaultValue: keyOverlapHours.standard,
      description:
        "The number of hours for which the old API key still works beside the new one, 0 to " +
        `${keyOverlapHours.max}; ${keyOverlapHours.standard} by default. The old key never works longer ` +
        "than until its own expiry.",
      validate: z.int32().min(0).max(keyOverlapHours.max),
    }),
    expiresAt: t.field({
      type: "DateTime",
      description: "The time at which the new API key expires. If left out, the new key never expires.",
    }),
  }),
});

const InternalTokenCreateInput = builder.inputType("InternalTokenCreateInput", {
  description: "The internal token to create.",
  fields: (t) => ({
    name: t.string({
      required: true,
      description: "A name that says what the internal token is used for, 1 to 200 characters.",
      validate: name,
    }),
    role: t.field({
      type: RoleEnum,
      required: true,
      description: "The role that decides what the internal token may do.",
    }),
    merchantId: t.id({
      description:
        "The id of the token's merchant, `mer_…`. If left out, the new token gets the merchant of the " +
        "caller's token; if the caller's token belongs to the platform, so does the new token. Only the " +
        "platform can create tokens of the platform. Tokens of the role `OPERATOR` always belong to the " +
        "platform, and tokens of the role `ANALYST` may, to read the data of all merchants. For every " +
        "other role, a caller with a token of the platform must name a merchant.",
    }),
    documents: t.field({
      type: TokenDocumentsEnum,
      description:
        "Which documents the token may run; `ANY` by default. `TRUSTED_ONLY` needs a merchant: the token " +
        "then runs only documents that the merchant has registered with `trustedDocumentsRegister`.",
    }),
    expiresAt: t.field({
      type: "DateTime",
      description: "The time at which the internal token expires. If left out, the token never expires.",
    }),
    allowedOrigins: t.stringList({
      description:
        `The origins of web pages that may send the token, 1 to ${allowedOriginsMax}, for example ` +
        "`https://shop.example`. An origin is a scheme, a host, and a port if the port is not 443, without " +
        "a path. Only `localhost` and `127.0.0.1` may use http. Required for the role `BROWSER`, and not " +
        "allowed for every other role.",
    }),
  }),
});

const InternalTokenRevokeInput = builder.inputType("InternalTokenRevokeInput", {
  description: "The internal token to revoke.",
  fields: (t) => ({
    internalTokenId: t.id({ required: true, description: "The id of the internal token, `tok_…`." }),
  }),
});

const ApiKeyCreated = builder.objectRef<{ apiKey: ApiKeyRow; value: string }>("ApiKeyCreated").implement({
  description: "The result of creating an API key.",
  fields: (t) => ({
    apiKey: t.expose("apiKey", {
      type: ApiKeyRef,
      description: "The new API key, without its secret value.",
    }),
    value: t.exposeString("value", {
      description:
        "The secret value with which requests are sent. The value is returned only once, in this response.",
    }),
  }),
});

const ApiKeyRotated = builder
  .objectRef<{ apiKey: ApiKeyRow; value: string; rotated: ApiKeyRow }>("ApiKeyRotated")
  .implement({
    description: "The result of rotating an API key.",
    fields: (t) => ({
      apiKey: t.expose("apiKey", {
        type: ApiKeyRef,
        description: "The new API key, with the name and the scopes of the old key.",
      }),
      value: t.exposeString("value", {
        description:
          "The secret value of the new API key. The value is returned only once, in this response.",
      }),
      rotated: t.expose("rotated", {
        type: ApiKeyRef,
        description: "The old API key, which expires at the end of the overlap.",
      }),
    }),
  });

const InternalTokenCreated = builder
  .objectRef<{ internalToken: InternalTokenRow; value: string }>("InternalTokenCreated")
  .implement({
    description: "The result of creating an internal token.",
    fields: (t) => ({
      internalToken: t.expose("internalToken", {
        type: InternalTokenRef,
        description: "The new internal token, without its secret value.",
      }),
      value: t.exposeString("value", {
        description:
          "The secret value with which requests are sent. The value is returned only once, in this response.",
      }),
    }),
  });

const loadInternalToken = async ({ db }: GraphqlContext, id: string): Promise<InternalTokenRow> => {
  const [token] = await findInternalTokens(db, [id]);
  if (token === undefined) throw createFailure("resource_not_found");
  return token;
};

defineMutation({
  ...accessMutationKind,
  name: "apiKeyCreate",
  description: "Creates an API key for an installation. Only this response contains the key's secret value.",
  failures: ["resource_not_found", "invalid_state"],
  callers: staffCallers,
  input: ApiKeyCreateInput,
  type: ApiKeyCreated,
  run: async (transaction, access, { expiresAt, ...input }) => {
    const { events, ...created } = await createApiKey(transaction, access, {
      ...input,
      expiresAt: expiresAt ?? null,
    });
    access.publish(events);
    return created;
  },
  answer: async ({ loaders }, { apiKeyId, value }) => ({
    value,
    apiKey: await loaders.apiKeys.load(apiKeyId),
  }),
});

defineMutation({
  ...accessMutationKind,
  name: "apiKeyRotate",
  description:
    "Creates a new API key that replaces an old one. Both keys work until the overlap ends, when the old " +
    "key expires. A key can be rotated only once.",
  failures: ["resource_not_found", "invalid_state"],
  callers: staffCallers,
  input: ApiKeyRotateInput,
  type: ApiKeyRotated,
  run: async (transaction, access, input) => {
    const { events, ...created } = await rotateApiKey(transaction, access, {
      ...input,
      expiresAt: input.expiresAt ?? null,
    });
    access.publish(events);
    return { ...created, rotatedId: input.apiKeyId };
  },
  answer: async ({ loaders }, { apiKeyId, value, rotatedId }) => {
    const [apiKey, rotated] = await Promise.all([
      loaders.apiKeys.load(apiKeyId),
      reloadChangedRow(loaders.apiKeys, rotatedId),
    ]);
    return { apiKey, value, rotated };
  },
});

defineMutation({
  ...accessMutationKind,
  name: "apiKeyRevoke",
  description: "Revokes an API key: the service refuses requests with the key at once.",
  failures: ["resource_not_found"],
  callers: staffCallers,
  input: ApiKeyRevokeInput,
  type: ApiKeyRef,
  run: async (transaction, access, { apiKeyId }) => {
    access.publish(await revokeApiKey(transaction, access, apiKeyId));
    return apiKeyId;
  },
  answer: ({ loaders }, id) => reloadChangedRow(loaders.apiKeys, id),
});

defineMutation({
  ...accessMutationKind,
  name: "internalTokenCreate",
  description:
    "Creates an internal token. Only this response contains the token's secret value. Staff members who " +
    "are signed in cannot use this mutation, because the token would still work after their account is " +
    "disabled.",
  failures: ["merchant_not_found"],
  callers: staffCallers,
  input: InternalTokenCreateInput,
  type: InternalTokenCreated,
  check: ({ viewer }) => {
    if (isStaffViewer(viewer))
      throw createFailure("role_not_allowed", {
        message:
          "A signed-in staff member cannot create internal tokens, because they would outlive the " +
          "account. Use an internal token of the role admin.",
      });
  },
  run: (transaction, access, { expiresAt, merchantId, allowedOrigins, documents, ...input }) =>
    createInternalToken(transaction, access, {
      ...input,
      documents: documents ?? "any",
      merchantId: merchantId ?? access.merchantId,
      allowedOrigins: allowedOrigins ?? null,
      expiresAt: expiresAt ?? null,
    }),
  answer: async (context, { internalTokenId, value }) => ({
    value,
    internalToken: await loadInternalToken(context, internalTokenId),
  }),
});

defineMutation({
  ...accessMutationKind,
  name: "internalTokenRevoke",
  description: "Revokes an internal token: the service refuses requests with the token at once.",
  failures: ["resource_not_found"],
  callers: staffCallers,
  input: InternalTokenRevokeInput,
  type: InternalTokenRef,
  run: async (transaction, access, { internalTokenId }) => {
    await revokeInternalToken(transaction, access, internalTokenId);
    return internalTokenId;
  },
  answer: loadInternalToken,
});
