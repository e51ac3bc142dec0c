/**
 * The GraphQL types and queries of markets, with their tax rates, delivery methods and policies. A market is
 * a group of countries that share one currency and one default locale.
 */
import type { DeliveryMethodRow, MerchantPolicyRow } from "#commerce/markets/read-markets.ts";
import { createMoney } from "#foundation/money.ts";
import { builder } from "#graph/builder.ts";
import { merchantReaders, resolveMerchantIdOfRequest } from "#graph/context.ts";
import { PolicyTypeEnum } from "#graph/catalog/product-detail.ts";
import { MarketRef, MerchantRef, MoneyRef } from "#graph/refs.ts";
import { DeliveryTaxRuleEnum, TaxRateRef, TaxRoundingEnum } from "./taxes.ts";

export const DeliveryMethodRef = builder
  .objectRef<DeliveryMethodRow & { readonly currency: string }>("DeliveryMethod")
  .implement({
    description: "A way in which orders of a market are delivered.",
    fields: (t) => ({
      id: t.exposeID("id", { description: "The delivery method's ID, `dlm_…`." }),
      code: t.exposeString("code", {
        description: "The stable code of the delivery method, unique within its market.",
      }),
      names: t.field({
        type: "StringMap",
        description: "The names of the delivery method by locale.",
        resolve: ({ names }) => names as Record<string, string>,
      }),
      carrier: t.exposeString("carrier", {
        nullable: true,
        description: "The carrier that delivers the orders; null if the merchant has named none.",
      }),
      pickup: t.exposeBoolean("pickup", {
        description: "Whether the buyer picks the order up, in contrast to a delivery by a carrier.",
      }),
      price: t.field({
        type: MoneyRef,
        description: "The price of a delivery with this method.",
        resolve: ({ priceMinor, currency }) => createMoney(priceMinor, currency),
      }),
      freeFrom: t.field({
        type: MoneyRef,
        nullable: true,
        description:
          "The cart subtotal from which delivery with this method is free; null if delivery is never free.",
        resolve: ({ freeFromMinor, currency }) =>
          freeFromMinor === null ? null : createMoney(freeFromMinor, currency),
      }),
      minDays: t.exposeInt("minDays", { description: "The shortest delivery time in days." }),
      maxDays: t.exposeInt("maxDays", { description: "The longest delivery time in days." }),
      active: t.exposeBoolean("active", { description: "Whether the delivery method is offered to buyers." }),
      position: t.exposeInt("position", {
        description: "The delivery method's position in the display order of the market's methods.",
      }),
      taxRule: t.field({
        type: DeliveryTaxRuleEnum,
        description: "How the shipping price is taxed.",
        resolve: ({ taxRule }) => (taxRule === "goods" ? "goods" : "own_class"),
      }),
      taxClass: t.exposeString("taxClass", { description: "The code of the delivery method's tax class." }),
      updatedAt: t.expose("updatedAt", {
        type: "DateTime",
        description: "When the delivery method was last changed.",
      }),
    }),
  });

export const PolicyRef = builder.objectRef<MerchantPolicyRow>("Policy").implement({
  description:
    "A merchant's policy on cancellations, returns, withdrawals or warranty. A policy applies to one " +
    "market, or to all markets without a policy of their own.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The policy's ID, `pol_…`." }),
    type: t.expose("type", {
      type: PolicyTypeEnum,
      description: "What the policy regulates: cancellations, returns, withdrawals or the warranty.",
    }),
    marketId: t.exposeID("marketId", {
      nullable: true,
      description:
        "The ID of the market in which the policy applies; null if the policy applies to all markets " +
        "without a policy of their own.",
    }),
    summaries: t.field({
      type: "StringMap",
      description: "A short summary of the policy by locale.",
      resolve: ({ summaries }) => summaries as Record<string, string>,
    }),
    url: t.expose("url", {
      type: "URL",
      nullable: true,
      description: "The URL of the policy's full text; null if there is none.",
    }),
    rules: t.expose("rules", {
      type: "JSON",
      description:
        "The rules that the merchant has set, as a JSON object with the fields of the input of " +
        "`policyUpsert`. Rules that are missing have their default values.",
    }),
    version: t.exposeInt("version", {
      description: "The policy's version; increases by one with every change.",
    }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When the policy was last changed." }),
  }),
});

MarketRef.implement({
  description:
    "A group of countries to which a merchant sells in one currency, with prices either including or " +
    "excluding tax.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The market's ID, `mkt_…`." }),
    handle: t.exposeString("handle", {
      description: "The stable handle of the market, unique within the merchant.",
    }),
    name: t.exposeString("name", { description: "The name of the market." }),
    countries: t.field({
      type: ["CountryCode"],
      description: "The market's countries, the main country first.",
      complexity: { multiplier: 1 },
      resolve: ({ countries }) => countries,
    }),
    currency: t.expose("currency", {
      type: "CurrencyCode",
      description: "The currency of all prices in the market.",
    }),
    taxIncluded: t.exposeBoolean("taxIncluded", { description: "Whether prices in the market include tax." }),
    taxRounding: t.field({
      type: TaxRoundingEnum,
      description: "How taxes in the market are rounded.",
      resolve: ({ taxRounding }) => (taxRounding === "order" ? "order" : "line"),
    }),
    defaultLocale: t.expose("defaultLocale", {
      type: "LocaleCode",
      description:
        "The locale whose texts are used in the market if a text is missing in the requested locale.",
    }),
    timeZone: t.exposeString("timeZone", {
      description: "The IANA time zone in which the market's deadlines end.",
    }),
    taxRates: t.field({
      type: [TaxRateRef],
      description:
        "The tax rates of the market, also past and future ones, sorted by country, region, tax class and " +
        "first day.",
      complexity: { multiplier: 5 },
      resolve: ({ id }, _args, { loaders }) => loaders.taxRates.load(id),
    }),
    deliveryMethods: t.field({
      type: [DeliveryMethodRef],
      description: "The delivery methods of the market, in display order.",
      complexity: { multiplier: 5 },
      resolve: async ({ id, currency }, _args, { loaders }) =>
        (await loaders.deliveryMethods.load(id)).map((method) => Object.assign({ currency }, method)),
    }),
    merchant: t.field({
      type: MerchantRef,
      description: "The merchant to whom the market belongs.",
      resolve: ({ merchantId }, _args, { loaders }) => loaders.merchants.load(merchantId),
    }),
    version: t.exposeInt("version", {
      description: "The market's version; increases by one with every change.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the market was created." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When the market was last changed." }),
  }),
});

builder.queryFields((t) => ({
  markets: t.field({
    type: [MarketRef],
    description: "The markets of a merchant, oldest first.",
    authScopes: { callers: [...merchantReaders, "storefront"] },
    complexity: { multiplier: 10 },
    args: { merchantId: t.arg.id({ description: "The merchant's ID; required with a platform token." }) },
    resolve: (_root, { merchantId }, context) =>
      context.loaders.markets.load(resolveMerchantIdOfRequest(context, merchantId)),
  }),
  policies: t.field({
    type: [PolicyRef],
    description: "The policies of a merchant on cancellations, returns, withdrawals and warranty.",
    authScopes: { callers: [...merchantReaders, "storefront"] },
    complexity: { multiplier: 10 },
    args: { merchantId: t.arg.id({ description: "The merchant's ID; required with a platform token." }) },
    resolve: (_root, { merchantId }, context) =>
      context.loaders.policies.load(resolveMerchantIdOfRequest(context, merchantId)),
  }),
}));
