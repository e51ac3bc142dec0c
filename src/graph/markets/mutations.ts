/**
 * Graph mutations of markets, tax rates, delivery methods, policies and stock. Every upsert replaces the
 * whole record.
 */
import { adjustStock, type stockAdjustReasons } from "#commerce/inventory/adjust-stock.ts";
import { upsertDeliveryMethod, upsertTaxRate } from "#commerce/markets/delivery-and-tax.ts";
import { upsertMarket } from "#commerce/markets/change-market.ts";
import { upsertPolicy } from "#commerce/markets/change-policy.ts";
import { fail } from "#foundation/failure.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { merchantChange } from "#graph/change-kinds.ts";
import { changeMutation, loadAnew } from "#graph/mutation.ts";
import { expectedVersionDescription, LocalizedTextInputType } from "#graph/catalog/inputs.ts";
import { PolicyTypeEnum } from "#graph/catalog/product-detail.ts";
import { MarketRef, VariantRef } from "#graph/refs.ts";
import type { PolicyMode } from "#commerce/markets/policy-rules.ts";
import { ReturnMethodEnum } from "#graph/orders/order-enums.ts";
import { DeliveryMethodRef, PolicyRef, TaxRateRef } from "./markets.ts";

/** The input types of a policy's rules. */
const SelfServiceEnum = defineEnum<PolicyMode>("PolicyMode", {
  description: "How a buyer's request to cancel or return is handled.",
  values: {
    immediate: "The request is granted at once if the rules allow it.",
    request: "The merchant decides about the request.",
    none: "Buyers cannot make requests; only the merchant can start a cancellation or return.",
  },
});

const AfterWindowEnum = defineEnum<"request" | "deny">("PolicyAfterWindow", {
  description: "What a buyer may do after the time limit has passed.",
  values: {
    request: "The buyer may ask, and the merchant decides.",
    deny: "The buyer cannot cancel any more.",
  },
});

const CancellationRulesInput = builder.inputType("CancellationRulesInput", {
  description: "The rules for cancellations by buyers.",
  fields: (t) => ({
    mode: t.field({
      type: SelfServiceEnum,
      description: "How a buyer's cancellation is handled; IMMEDIATE by default.",
    }),
    windowMinutes: t.int({
      description:
        "The time limit after the order was placed, in minutes, 1 to 43 200. Null: until packing begins. 60 by default.",
    }),
    afterWindow: t.field({
      type: AfterWindowEnum,
      description: "What the buyer may do after the time limit; REQUEST by default.",
    }),
  }),
});

const ReturnRulesInput = builder.inputType("ReturnRulesInput", {
  description: "The rules for returns by buyers: what may be returned, until when and for what fee.",
  fields: (t) => ({
    mode: t.field({
      type: SelfServiceEnum,
      description: "How a buyer's return is handled; IMMEDIATE by default.",
    }),
    windowDays: t.int({
      description:
        "The time limit for returns, in days after delivery, 1 to 3650. Null: no limit. 30 by default.",
    }),
    exchangeWindowDays: t.int({
      description:
        "The time limit for exchanges, in days after delivery, 1 to 3650. Null: no exchanges. 30 by default.",
    }),
    methods: t.field({
      type: [ReturnMethodEnum],
      description: "The ways in which goods may be returned, 1 to 4; only MAIL by default.",
    }),
    restockingBasisPoints: t.int({
      description:
        "The restocking fee in basis points (hundredths of a percent) of the value of the returned goods, 0 to 10 000; 0 by default.",
    }),
    returnShippingMinor: t.field({
      type: "MinorUnits",
      description:
        "The return shipping fee paid by the buyer, in minor units of the market's currency; 0 by default. A fee above 0 requires `marketId`.",
    }),
    keepItemMinor: t.field({
      type: "MinorUnits",
      description:
        "Goods worth up to this amount are refunded without being sent back, in minor units of the market's currency. Null: goods are always sent back. An amount above 0 requires `marketId`.",
    }),
    extendUntil: t.string({
      description:
        "A date, `YYYY-MM-DD`. A return limit that would end earlier is extended to the end of this day in the market's time zone.",
    }),
    excludedCategoryIds: t.idList({
      description:
        "The IDs of categories whose products cannot be returned, including all categories below them; at most 100.",
    }),
    excludedCountries: t.field({
      type: ["CountryCode"],
      description: "The countries from which nothing can be returned.",
    }),
    returnsPerBuyerMax: t.int({
      description: "The maximum number of returns per buyer in 365 days, 1 to 1000. Null: no maximum.",
    }),
    storeCredit: t.boolean({
      description: "Whether the buyer may choose store credit instead of a refund; false by default.",
    }),
    photoRequired: t.boolean({
      description: "Whether the buyer has to send a photo with the return request; false by default.",
    }),
  }),
});

const WithdrawalRulesInput = builder.inputType("WithdrawalRulesInput", {
  description:
    "The right of withdrawal of consumers. In the European Economic Area it is at least 14 days, as the law requires.",
  fields: (t) => ({
    windowDays: t.int({
      description:
        "The time limit in days after the delivery of the last line, 0 to 365. 0: no right of withdrawal beyond the law. 0 by default.",
    }),
  }),
});

const WarrantyRulesInput = builder.inputType("WarrantyRulesInput", {
  description:
    "The merchant's warranty. In the European Union it is at least 24 months, as the legal guarantee requires.",
  fields: (t) => ({
    months: t.int({ description: "The duration in months after delivery, 0 to 240; 0 by default." }),
    repairs: t.int({ description: "The number of repairs per registered product, 0 to 1000; 1 by default." }),
    replacements: t.int({
      description: "The number of replacements per registered product, 0 to 1000; 1 by default.",
    }),
  }),
});

const PolicyRulesInputType = builder.inputType("PolicyRulesInput", {
  description:
    "The rules by which eligibility is decided. Only the group of the policy's own type may be set. Rules that are left out have their defaults.",
  fields: (t) => ({
    cancellation: t.field({
      type: CancellationRulesInput,
      description: "The rules of a policy of type CANCELLATION.",
    }),
    return: t.field({ type: ReturnRulesInput, description: "The rules of a policy of type RETURN." }),
    withdrawal: t.field({
      type: WithdrawalRulesInput,
      description: "The rules of a policy of type WITHDRAWAL.",
    }),
    warranty: t.field({ type: WarrantyRulesInput, description: "The rules of a policy of type WARRANTY." }),
  }),
});

const MarketUpsertInput = builder.inputType("MarketUpsertInput", {
  description: "A market to create or replace. An existing market is found by its ID or handle.",
  fields: (t) => ({
    marketId: t.id({
      description:
        "The market's ID; if left out, the market with this handle is replaced, or a new one is created.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    handle: t.string({
      required: true,
      description:
        "The stable handle of the market, unique within the merchant: lower-case letters, digits and single hyphens. 1 to 96 characters.",
    }),
    name: t.string({ required: true, description: "The name of the market. 1 to 200 characters." }),
    currency: t.field({
      type: "CurrencyCode",
      required: true,
      description: "The currency of all prices in the market. It cannot change once the market has prices.",
    }),
    taxIncluded: t.boolean({ required: true, description: "Whether prices in the market include tax." }),
    defaultLocale: t.field({
      type: "LocaleCode",
      required: true,
      description: "The locale used if a text is missing in the requested locale.",
    }),
    timeZone: t.string({
      required: true,
      description: "The IANA time zone in which the market's deadlines end, for example `Europe/Berlin`.",
    }),
    countries: t.field({
      type: ["CountryCode"],
      required: true,
      description:
        "The market's countries, the main country first. A country can belong to only one market of the merchant.",
    }),
  }),
});

const TaxRateUpsertInput = builder.inputType("TaxRateUpsertInput", {
  description: "The tax rate of a country or of one of its regions.",
  fields: (t) => ({
    marketId: t.id({ required: true, description: "The market's ID." }),
    country: t.field({
      type: "CountryCode",
      required: true,
      description: "The country in which the tax rate applies; must be one of the market's countries.",
    }),
    regionCode: t.string({
      description:
        "The ISO 3166-2 code of the region in which the tax rate applies; if left out, the rate applies to the whole country.",
    }),
    name: t.string({
      required: true,
      description: "The name of the tax, for example `VAT`. 1 to 200 characters.",
    }),
    basisPoints: t.int({
      required: true,
      description: "The tax rate in basis points (hundredths of a percent): 1900 means 19 %. 0 to 10 000.",
    }),
    appliesToShipping: t.boolean({
      required: true,
      description: "Whether the tax also applies to shipping.",
    }),
  }),
});

const DeliveryMethodUpsertInput = builder.inputType("DeliveryMethodUpsertInput", {
  description: "A delivery method of a market to create or replace. An existing method is found by its code.",
  fields: (t) => ({
    marketId: t.id({ required: true, description: "The market's ID." }),
    code: t.string({
      required: true,
      description: "The stable code of the delivery method, unique within its market. 1 to 96 characters.",
    }),
    names: t.field({
      type: [LocalizedTextInputType],
      required: true,
      description: "The names of the delivery method by locale, at least one.",
    }),
    carrier: t.string({ description: "The carrier that delivers the orders. 1 to 100 characters." }),
    pickup: t.boolean({
      required: true,
      description: "Whether the buyer picks the order up instead of having it delivered.",
    }),
    priceMinor: t.field({
      type: "MinorUnits",
      required: true,
      description: "The price of a delivery, in minor units of the market's currency.",
    }),
    freeFromMinor: t.field({
      type: "MinorUnits",
      description:
        "Delivery is free if the cart's subtotal is at least this amount, in minor units. Null: delivery is never free.",
    }),
    currency: t.field({
      type: "CurrencyCode",
      description: "The currency of the amounts. Optional; if present, it must be the market's currency.",
    }),
    minDays: t.int({ required: true, description: "The shortest delivery time in days. 0 to 365." }),
    maxDays: t.int({ required: true, description: "The longest delivery time in days. 0 to 365." }),
    active: t.boolean({ description: "Whether the delivery method is offered to buyers; true by default." }),
    position: t.int({ description: "The position among the market's delivery methods. 0 or more." }),
  }),
});

const PolicyUpsertInput = builder.inputType("PolicyUpsertInput", {
  description:
    "A policy to create or replace: for one market, or for all markets without a policy of their own.",
  fields: (t) => ({
    marketId: t.id({
      description:
        "The ID of the market in which the policy applies; if left out, it applies to all markets without a policy of their own.",
    }),
    type: t.field({ type: PolicyTypeEnum, required: true, description: "The subject of the policy." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    summaries: t.field({
      type: [LocalizedTextInputType],
      required: true,
      description: "A short summary of the policy by locale, at least one.",
    }),
    url: t.field({ type: "URL", description: "The https URL of the policy's full text." }),
    rules: t.field({
      type: PolicyRulesInputType,
      description: "The rules by which eligibility is decided; the defaults if left out.",
    }),
  }),
});

const reasons: Readonly<Record<(typeof stockAdjustReasons)[number], string>> = {
  received: "New goods arrived.",
  correction: "A stock count found a different number.",
  damaged: "Goods were damaged.",
  lost: "Goods were lost.",
  returned: "A buyer returned goods.",
};
const StockReasonEnum = defineEnum("StockAdjustReason", {
  description: "The reason for a change of stock.",
  values: reasons,
});

const StockAdjustInput = builder.inputType("StockAdjustInput", {
  description: "A change of a variant's stock on hand.",
  fields: (t) => ({
    variantId: t.id({ required: true, description: "The variant's ID." }),
    delta: t.int({
      required: true,
      description:
        "The number of units to add (positive) or remove (negative); not 0. Reserved units cannot be removed.",
    }),
    reason: t.field({ type: StockReasonEnum, required: true, description: "The reason for the change." }),
    note: t.string({ description: "A note kept with the change. 1 to 500 characters." }),
  }),
});

changeMutation({
  ...merchantChange,
  name: "marketUpsert",
  description: "Creates or replaces a market.",
  input: MarketUpsertInput,
  type: MarketRef,
  run: async (transaction, context, input) => ({
    merchantId: context.merchantId,
    ...(await upsertMarket(transaction, context, input)),
  }),
  answer: async ({ loaders }, { merchantId, marketId }) =>
    found(await loadAnew(loaders.markets, merchantId), marketId),
});

changeMutation({
  ...merchantChange,
  name: "taxRateUpsert",
  description: "Creates or replaces the tax rate of a country or region.",
  input: TaxRateUpsertInput,
  type: TaxRateRef,
  run: async (transaction, context, input) => ({
    marketId: input.marketId,
    ...(await upsertTaxRate(transaction, context, input)),
  }),
  answer: async ({ loaders }, { marketId, taxRateId }) =>
    found(await loadAnew(loaders.taxRates, marketId), taxRateId),
});

changeMutation({
  ...merchantChange,
  name: "deliveryMethodUpsert",
  description: "Creates or replaces a delivery method of a market.",
  input: DeliveryMethodUpsertInput,
  type: DeliveryMethodRef,
  run: async (transaction, context, input) => ({
    marketId: input.marketId,
    merchantId: context.merchantId,
    ...(await upsertDeliveryMethod(transaction, context, input)),
  }),
  answer: async ({ loaders }, { marketId, merchantId, deliveryMethodId }) => {
    const market = found(await loaders.markets.load(merchantId), marketId);
    return Object.assign(
      { currency: market.currency },
      found(await loadAnew(loaders.deliveryMethods, marketId), deliveryMethodId),
    );
  },
});

changeMutation({
  ...merchantChange,
  name: "policyUpsert",
  description: "Creates or replaces a policy of the merchant.",
  input: PolicyUpsertInput,
  type: PolicyRef,
  run: async (transaction, context, input) => ({
    merchantId: context.merchantId,
    ...(await upsertPolicy(transaction, context, input)),
  }),
  answer: async ({ loaders }, { merchantId, policyId }) =>
    found(await loadAnew(loaders.policies, merchantId), policyId),
});

changeMutation({
  ...merchantChange,
  name: "stockAdjust",
  description: "Changes the stock on hand of a variant and records the reason.",
  input: StockAdjustInput,
  type: VariantRef,
  run: adjustStock,
  idempotency: "required",
  answer: async ({ loaders }, { productId, variantId }) => {
    const product = await loadAnew(loaders.products, productId);
    if (product === null) throw fail("product_not_found");
    return Object.assign({ product }, found(product.variants, variantId));
  },
});

function found<Row extends { readonly id: string }>(rows: readonly Row[], id: string): Row {
  const row = rows.find((candidate) => candidate.id === id);
  if (row === undefined) throw fail("resource_not_found");
  return row;
}
