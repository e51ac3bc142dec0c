/** Merchants, apps, installations, keys and tokens: the types and the lists. */
import { selectApiKeys, selectInternalTokens } from "#access/keys/read-credentials.ts";
import { selectApps, selectInstallations } from "#access/installations.ts";
import { selectMerchants } from "#access/merchants.ts";
import { productListMax, type ProductList } from "#commerce/catalog/read-products.ts";
import { type ProductSummary, renderProductSummary } from "#commerce/catalog/render-product.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { type GraphContext, ownerOf, readers, staff } from "#graph/context.ts";
import { connectionOf, pageCost, listTypes } from "#graph/connections.ts";
import { ModeEnum } from "./identity.ts";
import {
  ApiKeyRef,
  AppRef,
  InstallationRef,
  InternalTokenRef,
  MarketRef,
  MerchantRef,
  ProductSummaryRef,
} from "#graph/refs.ts";

export const MerchantStatusEnum = defineEnum("MerchantStatus", {
  description: "Whether a merchant may do business.",
  values: { active: "Open.", suspended: "All of its credentials are cut and its products are not shown." },
});

MerchantRef.implement({
  description: "Who sells: the tenant that everything else belongs to.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The merchant's id, `mer_…`." }),
    slug: t.expose("slug", { type: "Slug", description: "Its name in addresses." }),
    name: t.exposeString("name", { description: "Its name." }),
    mode: t.expose("mode", { type: ModeEnum, description: "Whether real money moves." }),
    status: t.expose("status", { type: MerchantStatusEnum, description: "Whether it may do business." }),
    defaultLocale: t.expose("defaultLocale", {
      type: "LocaleCode",
      description: "The locale that texts fall back to.",
    }),
    defaultMarket: t.expose("defaultMarket", {
      type: "CountryCode",
      description: "The country whose prices are shown where none is asked for.",
    }),
    currencies: t.field({
      type: ["CurrencyCode"],
      description: "The currencies it sells in, sorted.",
      complexity: { multiplier: 2 },
      resolve: async ({ id }, _args, { loaders }) =>
        [...new Set((await loaders.markets.load(id)).map(({ currency }) => currency))].toSorted(),
    }),
    markets: t.field({
      type: [MarketRef],
      description: "The markets it sells in, oldest first.",
      complexity: { multiplier: 10 },
      resolve: ({ id }, _args, { loaders }) => loaders.markets.load(id),
    }),
    catalogVersion: t.exposeInt("catalogVersion", { description: "Rises with every change of the catalog." }),
    version: t.exposeInt("version", { description: "Rises by one with every change of the merchant." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
  }),
});

AppRef.implement({
  description: "Software that integrates with merchants.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The app's id, `app_…`." }),
    name: t.exposeString("name", { description: "Its name." }),
    publisher: t.exposeString("publisher", { nullable: true, description: "Who makes it." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was registered." }),
  }),
});

const InstallationStatusEnum = defineEnum("InstallationStatus", {
  description: "Whether an installation may call.",
  values: {
    active: "It may.",
    suspended: "Its credentials are cut until it is resumed.",
    uninstalled: "It is gone for good, its keys are revoked.",
  },
});

const CatalogList = builder.objectRef<ProductList>("CatalogProducts");

InstallationRef.implement({
  description: "An app let in by a merchant, with some scopes.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The installation's id, `ins_…`." }),
    status: t.expose("status", { type: InstallationStatusEnum, description: "Whether it may call." }),
    scopes: t.stringList({
      description: "What it may do, sorted.",
      resolve: ({ scopes }) => scopes.toSorted(),
    }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    installedAt: t.expose("installedAt", { type: "DateTime", description: "When it was installed." }),
    app: t.field({
      type: AppRef,
      description: "The app.",
      resolve: ({ appId }, _args, { loaders }) => loaders.apps.load(appId),
    }),
    merchant: t.field({
      type: MerchantRef,
      description: "The merchant.",
      resolve: ({ merchantId }, _args, { loaders }) => loaders.merchants.load(merchantId),
    }),
    catalogProducts: t.field({
      type: CatalogList,
      description: `The published products of its merchant in the merchant's default locale and market, newest first, ${productListMax} at most.`,
      resolve: ({ merchantId }, _args, { loaders }) => loaders.productLists.load(merchantId),
    }),
  }),
});

async function summaries(
  { ids, locale, market }: ProductList,
  { loaders, clock, publicUrl }: GraphContext,
): Promise<ProductSummary[]> {
  const view = { locales: [locale], country: market, now: clock.now(), publicUrl };
  return (await Promise.all(ids.map((id) => loaders.products.load(id)))).flatMap((product) =>
    product === null ? [] : [renderProductSummary(product, view)],
  );
}

const ListOrderEnum = defineEnum("CatalogListOrder", {
  description: "How the list is ordered.",
  values: { published_at_desc: "The newest first, then by id." },
});

const CatalogListMeta = builder.objectRef<ProductList>("CatalogProductsMeta").implement({
  description: "What to know about a list of products.",
  fields: (t) => ({
    returned: t.int({ description: "How many products the list has.", resolve: ({ ids }) => ids.length }),
    total: t.exposeInt("total", { description: "How many published products the merchant has." }),
    truncated: t.boolean({
      description: "Whether there are more than the list has.",
      resolve: ({ ids, total }) => total > ids.length,
    }),
    limit: t.int({ description: "How many the list has at most.", resolve: () => productListMax }),
    order: t.field({
      type: ListOrderEnum,
      description: "How it is ordered.",
      resolve: () => "published_at_desc" as const,
    }),
    locale: t.expose("locale", {
      type: "LocaleCode",
      description: "The locale that was asked for: the merchant's default.",
    }),
    market: t.expose("market", {
      type: "CountryCode",
      description: "The country of the prices: the merchant's default.",
    }),
    currency: t.expose("currency", {
      type: "CurrencyCode",
      nullable: true,
      description: "The currency of the prices; null when the merchant does not sell there.",
    }),
    catalogVersion: t.exposeInt("catalogVersion", { description: "Rises with every change of the catalog." }),
    notice: t.string({
      nullable: true,
      description: "What to do about a truncated list.",
      resolve: ({ ids, total }) =>
        total > ids.length
          ? `The list ends after ${productListMax} of ${total} products. Read the others through search with the parameter merchant.`
          : null,
    }),
    generatedAt: t.field({
      type: "DateTime",
      description: "When the list was made.",
      resolve: (_list, _args, { clock }) => clock.now(),
    }),
  }),
});

CatalogList.implement({
  description: "The published products of a merchant.",
  fields: (t) => ({
    items: t.field({
      type: [ProductSummaryRef],
      description: "The products.",
      complexity: { multiplier: 100 },
      resolve: (list, _args, context) => summaries(list, context),
    }),
    meta: t.field({
      type: CatalogListMeta,
      description: "What to know about the list.",
      resolve: (list) => list,
    }),
  }),
});

const RoleEnum = defineEnum("Role", {
  description: "What an internal token may do.",
  values: {
    storefront: "Act for the buyers of one merchant.",
    admin: "Everything of one merchant.",
    analyst: "Read everything of one merchant or of all, without personal data.",
    operator: "Everything of all merchants.",
  },
});
export { RoleEnum };

InternalTokenRef.implement({
  description:
    "A token for internal frontends and people. The token itself was shown once, when it was made.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The token's id, `tok_…`." }),
    name: t.exposeString("name", { description: "What it is for." }),
    role: t.expose("role", { type: RoleEnum, description: "What it may do." }),
    merchantId: t.exposeID("merchantId", {
      nullable: true,
      description: "The merchant it is for; null: the platform.",
    }),
    lastFour: t.exposeString("lastFour", { description: "The token's last four characters." }),
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
  }),
});

builder.queryField("merchant", (t) =>
  t.field({
    type: MerchantRef,
    nullable: true,
    description: "A merchant by id; without `id` the token's own.",
    authScopes: { callers: readers },
    args: { id: t.arg.id({ description: "The merchant's id." }) },
    resolve: async (_root, { id }, context) => {
      const owner = ownerOf(context);
      const wanted = id ?? owner;
      if (wanted === null || (owner !== null && wanted !== owner)) return null;
      const [found] = await selectMerchants(context.db, wanted).execute();
      return found ?? null;
    },
  }),
);

builder.queryFields((t) => ({
  merchants: t.connection(
    {
      type: MerchantRef,
      description: "The merchants that the token sees, oldest first.",
      complexity: pageCost,
      authScopes: { callers: readers },
      resolve: (_root, args, context) =>
        connectionOf(args, {
          db: context.db,
          query: selectMerchants(context.db, ownerOf(context)),
          column: "merchant.id",
        }),
    },
    ...listTypes("Merchant", "merchants"),
  ),
  apps: t.connection(
    {
      type: AppRef,
      description: "The apps that can be installed, oldest first.",
      complexity: pageCost,
      authScopes: { callers: readers },
      resolve: (_root, args, { db }) => connectionOf(args, { db, query: selectApps(db), column: "app.id" }),
    },
    ...listTypes("App", "apps"),
  ),
  installations: t.connection(
    {
      type: InstallationRef,
      description: "The installations of the merchants that the token sees, oldest first.",
      complexity: pageCost,
      authScopes: { callers: readers },
      resolve: (_root, args, context) =>
        connectionOf(args, {
          db: context.db,
          query: selectInstallations(context.db, ownerOf(context)),
          column: "installation.id",
        }),
    },
    ...listTypes("Installation", "installations"),
  ),
  apiKeys: t.connection(
    {
      type: ApiKeyRef,
      description: "The API keys of the merchants that the token sees, oldest first, revoked ones included.",
      complexity: pageCost,
      authScopes: { callers: staff },
      args: {
        installationId: t.arg.id({
          description: "Only those of this installation, `ins_…`; one that there is not has none.",
        }),
      },
      resolve: (_root, { installationId, ...args }, context) => {
        const all = selectApiKeys(context.db, ownerOf(context));
        const query =
          typeof installationId === "string" ? all.where("installationId", "=", installationId) : all;
        return connectionOf(args, { db: context.db, query, column: "api_key.id" });
      },
    },
    ...listTypes("ApiKey", "API keys"),
  ),
  internalTokens: t.connection(
    {
      type: InternalTokenRef,
      description:
        "The internal tokens of the merchants that the token sees, oldest first, revoked ones included.",
      complexity: pageCost,
      authScopes: { callers: staff },
      resolve: (_root, args, context) =>
        connectionOf(args, {
          db: context.db,
          query: selectInternalTokens(context.db, ownerOf(context)),
          column: "internal_token.id",
        }),
    },
    ...listTypes("InternalToken", "internal tokens"),
  ),
}));
