/** Who the caller is: the viewer with its key, installation, app and merchant, and the limits it is held to. */
import {
  credentialRateBuckets,
  isIntegrator,
  rateQuotas,
  scaledQuota,
  type Scope,
  scopeDescriptions,
} from "#access/viewer.ts";
import { selectApiKeys, type ApiKeyRow } from "#access/keys/read-credentials.ts";
import { selectInstallations } from "#access/installations.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { everybody, integrators, ownerOf, readers, staff } from "#graph/context.ts";
import { ApiKeyRef, AppRef, InstallationRef, MerchantRef, OAuthGrantRef, ViewerRef } from "#graph/refs.ts";

export const ModeEnum = defineEnum("Mode", {
  description: "Whether real money moves.",
  values: { live: "Real buyers, real money.", test: "A sandbox with a built-in payment provider." },
});

const CredentialEnum = defineEnum("Credential", {
  description: "What a caller showed.",
  values: {
    api_key: "An API key of an installation.",
    oauth: "An OAuth access token of an installation.",
    internal_token: "An internal token, or a person's session at the console.",
  },
});

const RateLimit = builder
  .objectRef<{ bucket: string; quota: number; windowSeconds: number }>("RateLimit")
  .implement({
    description: "How many requests a credential may send.",
    fields: (t) => ({
      bucket: t.exposeString("bucket", {
        description: "What is counted together: `default` reads, `write` changes.",
      }),
      quota: t.exposeInt("quota", { description: "Requests in a window." }),
      windowSeconds: t.exposeInt("windowSeconds", {
        description: "The window's length in seconds; it starts with the first request.",
      }),
    }),
  });

const Api = builder.objectRef<{ serverTime: Date }>("ApiInfo").implement({
  description: "The API that answered.",
  fields: (t) => ({
    version: t.string({ description: "The contract's version, as in the path.", resolve: () => "v1" }),
    serverTime: t.expose("serverTime", {
      type: "DateTime",
      description: "The server's clock; signatures with a time are checked against it.",
    }),
  }),
});

ViewerRef.implement({
  description: "The caller.",
  fields: (t) => ({
    credential: t.field({
      type: CredentialEnum,
      description: "What the caller showed.",
      resolve: (viewer) =>
        viewer.kind === "internal" ? "internal_token" : viewer.kind === "oauth" ? "oauth" : "api_key",
    }),
    role: t.field({
      type: "String",
      nullable: true,
      description:
        "The role of the internal token, `admin` for a person at the console; null for anyone else.",
      resolve: (viewer) => (viewer.kind === "internal" ? viewer.role : null),
    }),
    apiKey: t.field({
      type: ApiKeyRef,
      nullable: true,
      description: "The API key of the call; null when it came with something else.",
      resolve: (viewer, _args, { loaders }) =>
        viewer.kind === "api_key" ? loaders.apiKeys.load(viewer.apiKeyId) : null,
    }),
    oauthGrant: t.field({
      type: OAuthGrantRef,
      nullable: true,
      description: "The grant behind the OAuth token of the call; null when it came with something else.",
      resolve: (viewer, _args, { loaders }) =>
        viewer.kind === "oauth" ? loaders.oauthGrants.load(viewer.grantId) : null,
    }),
    installation: t.field({
      type: InstallationRef,
      nullable: true,
      description: "The installation that the credential belongs to.",
      resolve: (viewer, _args, { loaders }) =>
        isIntegrator(viewer) ? loaders.installations.load(viewer.installationId) : null,
    }),
    app: t.field({
      type: AppRef,
      nullable: true,
      description: "The app that is installed.",
      resolve: (viewer, _args, { loaders }) =>
        isIntegrator(viewer) ? loaders.apps.load(viewer.appId) : null,
    }),
    merchant: t.field({
      type: MerchantRef,
      nullable: true,
      description: "The merchant whose data the credential sees; null for a token of the platform.",
      resolve: (viewer, _args, { loaders }) =>
        viewer.kind === "anonymous" || viewer.merchantId === null
          ? null
          : loaders.merchants.load(viewer.merchantId),
    }),
    limits: t.field({
      type: [RateLimit],
      description: "The limits in force for the credential; empty when they are switched off.",
      complexity: { multiplier: 2 },
      resolve: (_viewer, _args, { rateLimitScale }) =>
        credentialRateBuckets.flatMap((bucket) => {
          const quota = scaledQuota(bucket, rateLimitScale);
          return quota === undefined
            ? []
            : [{ bucket, quota, windowSeconds: rateQuotas[bucket].windowSeconds }];
        }),
    }),
    api: t.field({
      type: Api,
      description: "The API that answered.",
      resolve: (_viewer, _args, { clock }) => ({ serverTime: clock.now() }),
    }),
  }),
});

export const ScopeEnum = defineEnum<Scope>("Scope", {
  description: "What an installation or key may do. Spelled `catalog:read` in answers.",
  values: scopeDescriptions,
});

const prefixOf = ({ mode, keyId }: ApiKeyRow): string => `cpk_${mode}_${keyId}`;

ApiKeyRef.implement({
  description: "An API key of an installation. The key itself was shown once, when it was made.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The key's id, `key_…`." }),
    name: t.exposeString("name", { description: "What it is for." }),
    prefix: t.string({
      description: "Everything before the secret: enough to find the key in a configuration.",
      resolve: prefixOf,
    }),
    lastFour: t.exposeString("lastFour", { description: "The key's last four characters." }),
    mode: t.expose("mode", { type: ModeEnum, description: "The mode of its merchant." }),
    scopes: t.stringList({
      description: "What it may do, sorted: what it was made for, as far as its installation may.",
      resolve: async ({ scopes, installationId }, _args, { loaders }) => {
        const installation = await loaders.installations.load(installationId);
        return scopes.filter((scope) => installation.scopes.includes(scope)).toSorted();
      },
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    expiresAt: t.expose("expiresAt", {
      type: "DateTime",
      nullable: true,
      description: "When it ends; null: never.",
    }),
    revokedAt: t.expose("revokedAt", {
      type: "DateTime",
      nullable: true,
      description: "When it was revoked.",
    }),
    lastUsedAt: t.expose("lastUsedAt", {
      type: "DateTime",
      nullable: true,
      description: "When it was last used, to the minute.",
    }),
    rotatesTo: t.exposeID("rotatesTo", { nullable: true, description: "The key that takes its place." }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    installationId: t.exposeID("installationId", { description: "The installation it belongs to." }),
    installation: t.field({
      type: InstallationRef,
      description: "The installation it belongs to.",
      resolve: ({ installationId }, _args, { loaders }) => loaders.installations.load(installationId),
    }),
  }),
});

builder.queryField("viewer", (t) =>
  t.field({
    type: ViewerRef,
    description: "Who is calling.",
    authScopes: { callers: everybody.filter((caller) => caller !== "anonymous") },
    resolve: (_root, _args, { viewer }) => viewer,
  }),
);

builder.queryField("installation", (t) =>
  t.field({
    type: InstallationRef,
    nullable: true,
    description:
      "The installation that the credential of the call belongs to; with an internal token the one named by `id`.",
    authScopes: { callers: [...integrators, ...readers, "system"] },
    args: {
      id: t.arg.id({ description: "The installation's id; ignored with a credential of an installation." }),
    },
    resolve: async (_root, { id }, { viewer, loaders, db }) => {
      if (isIntegrator(viewer)) return loaders.installations.load(viewer.installationId);
      if (viewer.kind === "anonymous" || id === null || id === undefined) return null;
      const found = await selectInstallations(db, viewer.merchantId).where("id", "=", id).executeTakeFirst();
      return found ?? null;
    },
  }),
);

builder.queryField("apiKey", (t) =>
  t.field({
    type: ApiKeyRef,
    nullable: true,
    description: "An API key by its id, a revoked one included.",
    authScopes: { callers: [...staff, "system"] },
    args: { id: t.arg.id({ required: true, description: "The key's id, `key_…`." }) },
    resolve: async (_root, { id }, context) => {
      // Events of several keys are rendered together.
      if (context.viewer.kind === "system") return context.loaders.apiKeys.load(id);
      return (
        (await selectApiKeys(context.db, ownerOf(context)).where("id", "=", id).executeTakeFirst()) ?? null
      );
    },
  }),
);
