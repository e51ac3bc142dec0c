/** The GraphQL types and lists of merchants, apps, installations, API keys and internal tokens. */
import { buildApiKeySqlQuery, buildInternalTokenSqlQuery } from "#access/keys/read-credentials.ts";
import { buildAppSqlQuery, buildInstallationSqlQuery } from "#access/installations.ts";
import { buildMerchantSqlQuery } from "#access/merchants.ts";
import { productListMax } from "#commerce/catalog/catalog-lists.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { getCallerMerchantId, merchantReaders, staffCallers } from "#graph/context.ts";
import {
  loadGraphqlConnection,
  computeConnectionCost,
  createGraphqlConnectionTypeOptions,
} from "#graph/connections.ts";
import { ModeEnum } from "./identity.ts";
import { CatalogList } from "./installation-catalog.ts";
import { ApiKeyRef, AppRef, InstallationRef, InternalTokenRef, MarketRef, MerchantRef } from "#graph/refs.ts";

export const MerchantStatusEnum = defineGraphqlEnum("MerchantStatus", {
  description: "Whether a merchant is open for business.",
  values: {
    active: "The merchant is active: its products are on sale, and its credentials work.",
    suspended: "All credentials of the merchant are refused and its products are hidden.",
  },
});

MerchantRef.implement({
  description: "A seller. Products, carts, orders and installations each belong to one merchant.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The merchant's id, `mer_…`." }),
    slug: t.expose("slug", {
      type: "Slug",
      description: "The merchant's name in URLs; unique among all merchants.",
    }),
    name: t.exposeString("name", { description: "The merchant's display name." }),
    mode: t.expose("mode", { type: ModeEnum, description: "Whether the merchant handles real payments." }),
    status: t.expose("status", {
      type: MerchantStatusEnum,
      description: "Whether the merchant is open for business.",
    }),
    defaultLocale: t.expose("defaultLocale", {
      type: "LocaleCode",
      description: "The locale whose texts the service uses if there are no texts in the requested locale.",
    }),
    defaultMarket: t.expose("defaultMarket", {
      type: "CountryCode",
      description: "The country whose prices are used if a request names no country.",
    }),
    currencies: t.field({
      type: ["CurrencyCode"],
      description: "The currencies of the merchant's markets, sorted.",
      complexity: { multiplier: 2 },
      resolve: async ({ id }, _args, { loaders }) =>
        [...new Set((await loaders.markets.load(id)).map(({ currency }) => currency))].toSorted(),
    }),
    markets: t.field({
      type: [MarketRef],
      description: "The merchant's markets, oldest first.",
      complexity: { multiplier: 10 },
      resolve: ({ id }, _args, { loaders }) => loaders.markets.load(id),
    }),
    catalogVersion: t.exposeInt("catalogVersion", {
      description: "The catalog's version; increases with every change of the merchant's catalog.",
    }),
    version: t.exposeInt("version", {
      description: "The merchant's version; increases by 1 with every change of the merchant.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the merchant was created." }),
    updatedAt: t.expose("updatedAt", {
      type: "DateTime",
      description: "When the merchant was last changed.",
    }),
  }),
});

AppRef.implement({
  description: "Software of a third party that integrates with merchants.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The app's id, `app_…`." }),
    name: t.exposeString("name", { description: "The app's name." }),
    publisher: t.exposeString("publisher", {
      nullable: true,
      description: "The company or person that publishes the app; null if unknown.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the app was registered." }),
  }),
});

const InstallationStatusEnum = defineGraphqlEnum("InstallationStatus", {
  description: "Whether the credentials of an installation work.",
  values: {
    active: "The installation's credentials work.",
    suspended: "The installation's credentials are refused until the installation is resumed.",
    uninstalled: "The app is uninstalled permanently and its credentials are revoked.",
  },
});

InstallationRef.implement({
  description: "An app that is installed with a merchant, with the scopes that the merchant gave to the app.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The installation's id, `ins_…`." }),
    status: t.expose("status", {
      type: InstallationStatusEnum,
      description: "Whether the installation's credentials work.",
    }),
    scopes: t.stringList({
      description: "The installation's scopes, sorted.",
      resolve: ({ scopes }) => scopes.toSorted(),
    }),
    version: t.exposeInt("version", {
      description: "The installation's version; increases by 1 with every change.",
    }),
    installedAt: t.expose("installedAt", { type: "DateTime", description: "When the app was installed." }),
    app: t.field({
      type: AppRef,
      description: "The installed app.",
      resolve: ({ appId }, _args, { loaders }) => loaders.apps.load(appId),
    }),
    merchant: t.field({
      type: MerchantRef,
      description: "The merchant that the app is installed with.",
      resolve: ({ merchantId }, _args, { loaders }) => loaders.merchants.load(merchantId),
    }),
    catalogProducts: t.field({
      type: CatalogList,
      description:
        "The published products of the merchant in the merchant's default locale and market, " +
        `newest first, at most ${productListMax}.`,
      resolve: ({ merchantId }, _args, { loaders }) => loaders.productLists.load(merchantId),
    }),
  }),
});

const RoleEnum = defineGraphqlEnum("Role", {
  description: "The role of an internal token, which decides what the token may read and change.",
  values: {
    storefront:
      "A token of this role acts for the buyers of one merchant and is a secret of a frontend's server. A " +
      "buyer session has the same role, but only for its own buyer.",
    browser:
      "A token of this role is part of the code of a merchant's web pages, so everyone can read the token. " +
      "The token searches published products and creates buyer sessions for guests.",
    admin: "A token of this role reads and changes all data of one merchant.",
    analyst:
      "A token of this role reads all data of one merchant or of all merchants, without personal data.",
    operator: "A token of this role reads and changes all data of all merchants.",
  },
});
export { RoleEnum };

export const TokenDocumentsEnum = defineGraphqlEnum("InternalTokenDocuments", {
  description: "Which GraphQL documents an internal token may run.",
  values: {
    any: "The token may run every document that its role allows.",
    trusted_only: "The token may run only the trusted documents of its merchant.",
  },
});

InternalTokenRef.implement({
  description:
    "A token with which internal frontends and people call the internal GraphQL API. Its secret value " +
    "was returned once, when the token was created.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The internal token's id, `tok_…`." }),
    name: t.exposeString("name", { description: "The name that says what the token is used for." }),
    role: t.expose("role", { type: RoleEnum, description: "The role of the internal token." }),
    merchantId: t.exposeID("merchantId", {
      nullable: true,
      description: "The id of the token's merchant, `mer_…`; null if the token belongs to the platform.",
    }),
    documents: t.expose("documents", {
      type: TokenDocumentsEnum,
      description: "Which documents the token may run.",
    }),
    lastFour: t.exposeString("lastFour", { description: "The last four characters of the token." }),
    createdAt: t.expose("createdAt", {
      type: "DateTime",
      description: "When the internal token was created.",
    }),
    expiresAt: t.expose("expiresAt", {
      type: "DateTime",
      nullable: true,
      description: "When the internal token expires; null if the token never expires.",
    }),
    revokedAt: t.expose("revokedAt", {
      type: "DateTime",
      nullable: true,
      description: "When the internal token was revoked; null if the token is not revoked.",
    }),
    lastUsedAt: t.expose("lastUsedAt", {
      type: "DateTime",
      nullable: true,
      description:
        "When the internal token was last used, accurate to one minute; null if the token was never used.",
    }),
    allowedOrigins: t.expose("allowedOrigins", {
      type: ["String"],
      nullable: true,
      description:
        "The origins of web pages that may send the token and the buyer sessions which the token has " +
        "created; null unless the role is `BROWSER`.",
    }),
  }),
});

builder.queryField("merchant", (t) =>
  t.field({
    type: MerchantRef,
    nullable: true,
    description:
      "The merchant with this id; without `id`, the merchant of the caller's token. Null if there is no " +
      "such merchant.",
    authScopes: { callers: merchantReaders },
    args: { id: t.arg.id({ description: "The merchant's id, `mer_…`." }) },
    resolve: async (_root, { id }, context) => {
      const owner = getCallerMerchantId(context);
      const wanted = id ?? owner;
      if (wanted === null || (owner !== null && wanted !== owner)) return null;
      const [found] = await buildMerchantSqlQuery(context.db, wanted).execute();
      return found ?? null;
    },
  }),
);

builder.queryFields((t) => ({
  merchants: t.connection(
    {
      type: MerchantRef,
      description: "The merchants that the caller may read, oldest first.",
      complexity: computeConnectionCost,
      authScopes: { callers: merchantReaders },
      resolve: (_root, args, context) =>
        loadGraphqlConnection(args, {
          db: context.db,
          query: buildMerchantSqlQuery(context.db, getCallerMerchantId(context)),
          column: "merchant.id",
          cursor: "merchant",
        }),
    },
    ...createGraphqlConnectionTypeOptions("Merchant", "merchants"),
  ),
  apps: t.connection(
    {
      type: AppRef,
      description: "The apps that can be installed, oldest first.",
      complexity: computeConnectionCost,
      authScopes: { callers: merchantReaders },
      resolve: (_root, args, { db }) =>
        loadGraphqlConnection(args, { db, query: buildAppSqlQuery(db), column: "app.id", cursor: "app" }),
    },
    ...createGraphqlConnectionTypeOptions("App", "apps"),
  ),
  installations: t.connection(
    {
      type: InstallationRef,
      description: "The installations of the merchants that the caller may read, oldest first.",
      complexity: computeConnectionCost,
      authScopes: { callers: merchantReaders },
      resolve: (_root, args, context) =>
        loadGraphqlConnection(args, {
          db: context.db,
          query: buildInstallationSqlQuery(context.db, getCallerMerchantId(context)),
          column: "installation.id",
          cursor: "installation",
        }),
    },
    ...createGraphqlConnectionTypeOptions("Installation", "installations"),
  ),
}));

builder.queryFields((t) => ({
  apiKeys: t.connection(
    {
      type: ApiKeyRef,
      description:
        "The API keys of the merchants that the caller may read, oldest first, including revoked keys.",
      complexity: computeConnectionCost,
      authScopes: { callers: staffCallers },
      args: {
        installationId: t.arg.id({
          description:
            "Returns only API keys of the installation with this id, `ins_…`; the list is empty if the " +
            "installation does not exist.",
        }),
      },
      resolve: (_root, { installationId, ...args }, context) => {
        const all = buildApiKeySqlQuery(context.db, getCallerMerchantId(context));
        const query =
          typeof installationId === "string" ? all.where("installationId", "=", installationId) : all;
        return loadGraphqlConnection(args, { db: context.db, query, column: "api_key.id", cursor: "apiKey" });
      },
    },
    ...createGraphqlConnectionTypeOptions("ApiKey", "API keys"),
  ),
  internalTokens: t.connection(
    {
      type: InternalTokenRef,
      description:
        "The internal tokens of the caller's merchant, oldest first, including revoked tokens. A token of " +
        "the platform gets the internal tokens of all merchants and of the platform.",
      complexity: computeConnectionCost,
      authScopes: { callers: staffCallers },
      resolve: (_root, args, context) =>
        loadGraphqlConnection(args, {
          db: context.db,
          query: buildInternalTokenSqlQuery(context.db, getCallerMerchantId(context)),
          column: "internal_token.id",
          cursor: "internalToken",
        }),
    },
    ...createGraphqlConnectionTypeOptions("InternalToken", "internal tokens"),
  ),
}));
