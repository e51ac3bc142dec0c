/**
 * The GraphQL types and queries of the viewer, which is the caller of a request: its API key, installation,
 * app and merchant, and its rate limits.
 */
import {
  integratorRateLimitBuckets,
  isApiKeyOrOauthViewer,
  rateLimitQuotas,
  getPublicRateLimitBucketName,
  getScaledRateLimitQuota,
  type PermissionScope,
  scopeDescriptions,
} from "#access/viewer.ts";
import { buildApiKeySqlQuery, type ApiKeyRow } from "#access/keys/read-credentials.ts";
import { buildInstallationSqlQuery } from "#access/installations.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import {
  allCallers,
  integratorCallers,
  getCallerMerchantId,
  merchantReaders,
  staffCallers,
} from "#graph/context.ts";
import { ApiKeyRef, AppRef, InstallationRef, MerchantRef, OAuthGrantRef, ViewerRef } from "#graph/refs.ts";

export const ModeEnum = defineGraphqlEnum("Mode", {
  description: "Whether a merchant handles real payments.",
  values: {
    live: "Real buyers pay real money.",
    test: "A sandbox: the built-in payment provider simulates payments.",
  },
});

const CredentialEnum = defineGraphqlEnum("Credential", {
  description: "The kind of credential that a request was made with.",
  values: {
    api_key: "An API key of an app's installation.",
    oauth: "An OAuth access token of an app's installation.",
    internal_token: "An internal token, or a staff member's session at the console.",
  },
  graphOnlyValues: ["internal_token"],
});

const RateLimit = builder
  .objectRef<{ bucket: string; quota: number; windowSeconds: number }>("RateLimit")
  .implement({
    description: "A rate limit that the caller's requests can reach.",
    fields: (t) => ({
      bucket: t.exposeString("bucket", {
        description:
          "The name of the rate limit. `default` counts reads and `write` counts changes, each per " +
          "credential. `replay` counts replays of webhook deliveries per installation. `promo-fail` counts " +
          "refused promotion codes, and occurs twice: first with the limit per cart, then with the limit " +
          "per credential.",
      }),
      quota: t.exposeInt("quota", {
        description: "The number of requests that the limit allows in each window.",
      }),
      windowSeconds: t.exposeInt("windowSeconds", {
        description:
          "The length of the limit's window in seconds; a window starts with the first request in it.",
      }),
    }),
  });

function listRateLimits(scale: number): { bucket: string; quota: number; windowSeconds: number }[] {
  return integratorRateLimitBuckets.flatMap((name) => {
    const quota = getScaledRateLimitQuota(name, scale);
    const bucket = getPublicRateLimitBucketName(name);
    return quota === undefined ? [] : [{ bucket, quota, windowSeconds: rateLimitQuotas[name].windowSeconds }];
  });
}

const Api = builder.objectRef<{ serverTime: Date }>("ApiInfo").implement({
  description: "The version and the current time of the API that answered.",
  fields: (t) => ({
    version: t.string({
      description: "The version of the API, as in the path of its URLs: `v1`.",
      resolve: () => "v1",
    }),
    serverTime: t.expose("serverTime", {
      type: "DateTime",
      description: "The server's current time, against which the service checks the times in DPoP proofs.",
    }),
  }),
});

ViewerRef.implement({
  description: "The caller of this request.",
  fields: (t) => ({
    credential: t.field({
      type: CredentialEnum,
      description: "The kind of credential that the request was made with.",
      resolve: (viewer) =>
        viewer.kind === "internal" ? "internal_token" : viewer.kind === "oauth" ? "oauth" : "api_key",
    }),
    role: t.field({
      type: "String",
      nullable: true,
      description: "The role of the internal token or of the staff account; null for apps.",
      resolve: (viewer) => (viewer.kind === "internal" ? viewer.role : null),
    }),
    apiKey: t.field({
      type: ApiKeyRef,
      nullable: true,
      description:
        "The API key of the request; null if the request was made with another kind of credential.",
      resolve: (viewer, _args, { loaders }) =>
        viewer.kind === "api_key" ? loaders.apiKeys.load(viewer.apiKeyId) : null,
    }),
    oauthGrant: t.field({
      type: OAuthGrantRef,
      nullable: true,
      description:
        "The OAuth grant behind the request's access token; null if the request was made with another " +
        "kind of credential.",
      resolve: (viewer, _args, { loaders }) =>
        viewer.kind === "oauth" ? loaders.oauthGrants.load(viewer.grantId) : null,
    }),
    installation: t.field({
      type: InstallationRef,
      nullable: true,
      description: "The installation that the credential belongs to; null if the caller is not an app.",
      resolve: (viewer, _args, { loaders }) =>
        isApiKeyOrOauthViewer(viewer) ? loaders.installations.load(viewer.installationId) : null,
    }),
    app: t.field({
      type: AppRef,
      nullable: true,
      description: "The app that is calling; null if the caller is not an app.",
      resolve: (viewer, _args, { loaders }) =>
        isApiKeyOrOauthViewer(viewer) ? loaders.apps.load(viewer.appId) : null,
    }),
    merchant: t.field({
      type: MerchantRef,
      nullable: true,
      description: "The merchant whose data the credential can access; null for a token of the platform.",
      resolve: (viewer, _args, { loaders }) =>
        viewer.kind === "anonymous" || viewer.merchantId === null
          ? null
          : loaders.merchants.load(viewer.merchantId),
    }),
  }),
});

builder.objectFields(ViewerRef, (t) => ({
  limits: t.field({
    type: [RateLimit],
    description: "The rate limits of the app's requests; empty if rate limits are switched off.",
    complexity: { multiplier: integratorRateLimitBuckets.length },
    resolve: (viewer, _args, { rateLimitScale }) =>
      isApiKeyOrOauthViewer(viewer) ? listRateLimits(rateLimitScale) : [],
  }),
  api: t.field({
    type: Api,
    description: "The version and the current time of the API that answered.",
    resolve: (_viewer, _args, { clock }) => ({ serverTime: clock.now() }),
  }),
}));

export const ScopeEnum = defineGraphqlEnum<PermissionScope>("Scope", {
  description:
    "A permission of an app's installation, API key or OAuth grant. The REST API and fields of the name " +
    "`scopes` write a permission in another form, for example `catalog:read` for `CATALOG_READ`.",
  values: scopeDescriptions,
});

const prefixOf = ({ mode, keyId }: ApiKeyRow): string => `cpk_${mode}_${keyId}`;

ApiKeyRef.implement({
  description:
    "An API key of an app's installation. Its secret value was returned once, when the key was created.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The API key's id, `key_…`." }),
    name: t.exposeString("name", { description: "The name that says what the API key is used for." }),
    prefix: t.string({
      description:
        "The part of the key before its secret, `cpk_{mode}_{id}`; identifies the key in a configuration.",
      resolve: prefixOf,
    }),
    lastFour: t.exposeString("lastFour", { description: "The last four characters of the key." }),
    mode: t.expose("mode", {
      type: ModeEnum,
      description: "The mode of the API key's merchant: `live` or `test`.",
    }),
    scopes: t.stringList({
      description:
        "The scopes that the API key can use, sorted: those of its own scopes that its installation has too.",
      resolve: async ({ scopes, installationId }, _args, { loaders }) => {
        const installation = await loaders.installations.load(installationId);
        return scopes.filter((scope) => installation.scopes.includes(scope)).toSorted();
      },
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the API key was created." }),
    expiresAt: t.expose("expiresAt", {
      type: "DateTime",
      nullable: true,
      description: "When the API key expires; null if the key never expires.",
    }),
    revokedAt: t.expose("revokedAt", {
      type: "DateTime",
      nullable: true,
      description: "When the API key was revoked; null if the key is not revoked.",
    }),
    lastUsedAt: t.expose("lastUsedAt", {
      type: "DateTime",
      nullable: true,
      description: "When the API key was last used, accurate to one minute; null if the key was never used.",
    }),
    rotatesTo: t.exposeID("rotatesTo", {
      nullable: true,
      description: "The id of the API key that replaces this key, `key_…`; null if this key was not rotated.",
    }),
    version: t.exposeInt("version", {
      description: "The API key's version; increases by 1 with every change.",
    }),
    installationId: t.exposeID("installationId", {
      description: "The id of the installation that the API key belongs to, `ins_…`.",
    }),
    installation: t.field({
      type: InstallationRef,
      description: "The installation that the API key belongs to.",
      resolve: ({ installationId }, _args, { loaders }) => loaders.installations.load(installationId),
    }),
  }),
});

builder.queryField("viewer", (t) =>
  t.field({
    type: ViewerRef,
    description: "The caller of this request.",
    authScopes: { callers: allCallers.filter((caller) => caller !== "anonymous") },
    resolve: (_root, _args, { viewer }) => viewer,
  }),
);

builder.queryField("installation", (t) =>
  t.field({
    type: InstallationRef,
    nullable: true,
    description:
      "The installation of the caller's credential. If the caller is an internal one, the installation " +
      "with the given `id`. Null if there is no such installation.",
    authScopes: { callers: [...integratorCallers, ...merchantReaders, "system"] },
    args: {
      id: t.arg.id({ description: "The installation's id, `ins_…`; ignored if the caller is an app." }),
    },
    resolve: async (_root, { id }, { viewer, loaders, db }) => {
      if (isApiKeyOrOauthViewer(viewer)) return loaders.installations.load(viewer.installationId);
      if (viewer.kind === "anonymous" || id === null || id === undefined) return null;
      const found = await buildInstallationSqlQuery(db, viewer.merchantId)
        .where("id", "=", id)
        .executeTakeFirst();
      return found ?? null;
    },
  }),
);

builder.queryField("apiKey", (t) =>
  t.field({
    type: ApiKeyRef,
    nullable: true,
    description: "The API key with this id, even if the key is revoked; null if there is no such key.",
    authScopes: { callers: [...staffCallers, "system"] },
    args: { id: t.arg.id({ required: true, description: "The API key's id, `key_…`." }) },
    resolve: async (_root, { id }, context) => {
      // For the service itself, a data loader reads the API key. The loader reads several keys with one SQL
      // statement, for example when several events are rendered at once.
      if (context.viewer.kind === "system") return context.loaders.apiKeys.load(id);
      return (
        (await buildApiKeySqlQuery(context.db, getCallerMerchantId(context))
          .where("id", "=", id)
          .executeTakeFirst()) ?? null
      );
    },
  }),
);
