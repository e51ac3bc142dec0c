/** Markets: the countries a merchant sells to alike, with their taxes, deliveries and policies. */
import type { DeliveryMethodRow, PolicyRow, TaxRateRow } from "#commerce/markets/read-markets.ts";
import { money } from "#foundation/money.ts";
import { builder } from "#graph/builder.ts";
import { readers, tenantOf } from "#graph/context.ts";
import { PolicyTypeEnum } from "#graph/catalog/product-detail.ts";
import { MarketRef, MerchantRef, MoneyRef } from "#graph/refs.ts";

export const TaxRate = builder.objectRef<TaxRateRow>("TaxRate").implement({
  description: "The tax of a country or of one of its regions.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The rate's id, `txr_…`." }),
    country: t.expose("country", { type: "CountryCode", description: "The country." }),
    regionCode: t.exposeString("regionCode", {
      nullable: true,
      description: "The region, ISO 3166-2; null: the whole country.",
    }),
    name: t.exposeString("name", { description: "What it is called." }),
    basisPoints: t.exposeInt("basisPoints", {
      description: "The rate in hundredths of a percent: 1900 is 19 %.",
    }),
    appliesToShipping: t.exposeBoolean("appliesToShipping", {
      description: "Whether shipping is taxed as well.",
    }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
  }),
});

export const DeliveryMethod = builder
  .objectRef<DeliveryMethodRow & { readonly currency: string }>("DeliveryMethod")
  .implement({
    description: "A way that orders of a market are delivered.",
    fields: (t) => ({
      id: t.exposeID("id", { description: "The method's id, `dlm_…`." }),
      code: t.exposeString("code", { description: "Its stable code, unique in the market." }),
      names: t.field({
        type: "StringMap",
        description: "Its name by locale.",
        resolve: ({ names }) => names as Record<string, string>,
      }),
      carrier: t.exposeString("carrier", { nullable: true, description: "Who carries it." }),
      pickup: t.exposeBoolean("pickup", { description: "Whether the buyer fetches it." }),
      price: t.field({
        type: MoneyRef,
        description: "What it costs.",
        resolve: ({ priceMinor, currency }) => money(priceMinor, currency),
      }),
      freeFrom: t.field({
        type: MoneyRef,
        nullable: true,
        description: "From this subtotal on it costs nothing; null: never.",
        resolve: ({ freeFromMinor, currency }) =>
          freeFromMinor === null ? null : money(freeFromMinor, currency),
      }),
      minDays: t.exposeInt("minDays", { description: "The shortest time in days." }),
      maxDays: t.exposeInt("maxDays", { description: "The longest time in days." }),
      active: t.exposeBoolean("active", { description: "Whether it is offered." }),
      position: t.exposeInt("position", { description: "Its place among the market's methods." }),
      updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
    }),
  });

export const Policy = builder.objectRef<PolicyRow>("Policy").implement({
  description: "A rule of a merchant, for one market or for all that have none of their own.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The policy's id, `pol_…`." }),
    type: t.expose("type", { type: PolicyTypeEnum, description: "What it is about." }),
    marketId: t.exposeID("marketId", {
      nullable: true,
      description: "The market it holds in; null: all that have none of their own.",
    }),
    summaries: t.field({
      type: "StringMap",
      description: "The rule in a sentence, by locale.",
      resolve: ({ summaries }) => summaries as Record<string, string>,
    }),
    url: t.expose("url", { type: "URL", nullable: true, description: "Where the whole text is." }),
    rules: t.expose("rules", {
      type: "JSON",
      description:
        "What eligibility is decided by, as far as the merchant has said it, in the fields of `policyUpsert`; the rest has its default.",
    }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
  }),
});

MarketRef.implement({
  description: "Countries that a merchant sells to alike: one currency, one way to show tax.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The market's id, `mkt_…`." }),
    handle: t.exposeString("handle", { description: "Its stable name, unique with the merchant." }),
    name: t.exposeString("name", { description: "Its name." }),
    countries: t.field({
      type: ["CountryCode"],
      description: "Its countries, its own first.",
      complexity: { multiplier: 1 },
      resolve: ({ countries }) => countries,
    }),
    currency: t.expose("currency", { type: "CurrencyCode", description: "The currency of its prices." }),
    taxIncluded: t.exposeBoolean("taxIncluded", { description: "Whether its prices include tax." }),
    defaultLocale: t.expose("defaultLocale", {
      type: "LocaleCode",
      description: "The locale that texts fall back to in it.",
    }),
    timeZone: t.exposeString("timeZone", { description: "The time zone that its deadlines end in, IANA." }),
    taxRates: t.field({
      type: [TaxRate],
      description: "Its taxes.",
      complexity: { multiplier: 5 },
      resolve: ({ id }, _args, { loaders }) => loaders.taxRates.load(id),
    }),
    deliveryMethods: t.field({
      type: [DeliveryMethod],
      description: "The ways its orders are delivered, in order.",
      complexity: { multiplier: 5 },
      resolve: async ({ id, currency }, _args, { loaders }) =>
        (await loaders.deliveryMethods.load(id)).map((method) => Object.assign({ currency }, method)),
    }),
    merchant: t.field({
      type: MerchantRef,
      description: "The merchant.",
      resolve: ({ merchantId }, _args, { loaders }) => loaders.merchants.load(merchantId),
    }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
  }),
});

builder.queryFields((t) => ({
  markets: t.field({
    type: [MarketRef],
    description: "The markets of a merchant, oldest first.",
    authScopes: { callers: [...readers, "storefront"] },
    complexity: { multiplier: 10 },
    args: { merchantId: t.arg.id({ description: "The merchant; needed with a token of the platform." }) },
    resolve: (_root, { merchantId }, context) => context.loaders.markets.load(tenantOf(context, merchantId)),
  }),
  policies: t.field({
    type: [Policy],
    description: "The policies of a merchant.",
    authScopes: { callers: [...readers, "storefront"] },
    complexity: { multiplier: 10 },
    args: { merchantId: t.arg.id({ description: "The merchant; needed with a token of the platform." }) },
    resolve: (_root, { merchantId }, context) => context.loaders.policies.load(tenantOf(context, merchantId)),
  }),
}));
