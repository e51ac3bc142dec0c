/** Changes of markets, taxes, deliveries, policies and stock. Each upsert replaces the whole of what it names. */
import { adjustStock, type stockAdjustReasons } from "#commerce/inventory/stock.ts";
import { upsertDeliveryMethod, upsertTaxRate } from "#commerce/markets/delivery-and-tax.ts";
import { upsertMarket } from "#commerce/markets/change-market.ts";
import { upsertPolicy } from "#commerce/markets/change-policy.ts";
import { fail } from "#foundation/failure.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { merchantChange } from "#graph/change-kinds.ts";
import { changeMutation, loadAnew } from "#graph/mutation.ts";
import { expectedVersion, LocalizedText } from "#graph/catalog/inputs.ts";
import { PolicyTypeEnum } from "#graph/catalog/product-detail.ts";
import { MarketRef, VariantRef } from "#graph/refs.ts";
import type { SelfService } from "#commerce/markets/policy-rules.ts";
import { ReturnMethodEnum } from "#graph/orders/order-enums.ts";
import { DeliveryMethod, Policy, TaxRate } from "./markets.ts";

/** The rules of a policy as a merchant states them. */
const SelfServiceEnum = defineEnum<SelfService>("PolicyMode", {
  description: "How a buyer who asks is answered.",
  values: {
    immediate: "At once.",
    request: "By the merchant.",
    none: "Never: buyers do not ask by themselves.",
  },
});

const AfterWindowEnum = defineEnum<"request" | "deny">("PolicyAfterWindow", {
  description: "What a buyer may do when the time is over.",
  values: { request: "Ask the merchant.", deny: "Nothing." },
});

const CancellationRulesInput = builder.inputType("CancellationRulesInput", {
  description: "When buyers cancel.",
  fields: (t) => ({
    mode: t.field({ type: SelfServiceEnum, description: "How they are answered; at once unless told." }),
    windowMinutes: t.int({
      description: "How long after the order, 1 to 43 200; null: until the packing begins. 60 unless told.",
    }),
    afterWindow: t.field({
      type: AfterWindowEnum,
      description: "What they may do after that; ask unless told.",
    }),
  }),
});

const ReturnRulesInput = builder.inputType("ReturnRulesInput", {
  description: "What comes back, until when, and what it costs.",
  fields: (t) => ({
    mode: t.field({ type: SelfServiceEnum, description: "How buyers are answered; at once unless told." }),
    windowDays: t.int({
      description: "Days from the delivery on, 1 to 3650; null: for ever. 30 unless told.",
    }),
    exchangeWindowDays: t.int({
      description: "The same for exchanges; null: there are none. 30 unless told.",
    }),
    methods: t.field({
      type: [ReturnMethodEnum],
      description: "How it may come back, 1 to 4; by mail unless told.",
    }),
    restockingBasisPoints: t.int({
      description:
        "The fee for taking it back, in hundredths of a percent of what is returned, 0 to 10 000; 0 unless told.",
    }),
    returnShippingMinor: t.field({
      type: "MinorUnits",
      description:
        "What the buyer pays for the way back, in the market's currency, so that the policy needs a market; 0 unless told.",
    }),
    keepItemMinor: t.field({
      type: "MinorUnits",
      description:
        "Up to this much is refunded without the thing coming back, in the market's currency, so that the policy needs a market; null: never.",
    }),
    extendUntil: t.string({ description: "No time ends before the end of this day, `YYYY-MM-DD`." }),
    excludedCategoryIds: t.idList({
      description: "Categories that nothing is taken back of, nor of those below them; 100 at most.",
    }),
    excludedCountries: t.field({
      type: ["CountryCode"],
      description: "Countries that nothing is taken back from.",
    }),
    returnsPerBuyerMax: t.int({
      description: "How many returns a buyer may ask for in 365 days, 1 to 1000; null: any number.",
    }),
    storeCredit: t.boolean({
      description: "Whether the buyer may have store credit instead; no unless told.",
    }),
    photoRequired: t.boolean({ description: "Whether the buyer has to send a picture; no unless told." }),
  }),
});

const WithdrawalRulesInput = builder.inputType("WithdrawalRulesInput", {
  description:
    "How long consumers may withdraw. In the European Economic Area never less than the law gives, 14 days.",
  fields: (t) => ({
    windowDays: t.int({
      description: "Days from the delivery of the last line on, 0 to 365; 0: none. 0 unless told.",
    }),
  }),
});

const WarrantyRulesInput = builder.inputType("WarrantyRulesInput", {
  description:
    "What the merchant warrants. In the European Union never shorter than the law's guarantee, 24 months.",
  fields: (t) => ({
    months: t.int({ description: "Months from the delivery on, 0 to 240; 0 unless told." }),
    repairs: t.int({ description: "How many repairs a registration has, 0 to 1000; 1 unless told." }),
    replacements: t.int({
      description: "How many replacements a registration has, 0 to 1000; 1 unless told.",
    }),
  }),
});

const PolicyRulesInputType = builder.inputType("PolicyRulesInput", {
  description:
    "What eligibility is decided by: one group, that of the policy's type. What is left out has its default.",
  fields: (t) => ({
    cancellation: t.field({ type: CancellationRulesInput, description: "For a policy of cancellation." }),
    return: t.field({ type: ReturnRulesInput, description: "For a policy of returns." }),
    withdrawal: t.field({ type: WithdrawalRulesInput, description: "For a policy of withdrawal." }),
    warranty: t.field({ type: WarrantyRulesInput, description: "For a policy of warranty." }),
  }),
});

const MarketUpsertInput = builder.inputType("MarketUpsertInput", {
  description: "A market, found by id or handle, or made.",
  fields: (t) => ({
    marketId: t.id({ description: "The market; without it the one with this handle, or a new one." }),
    expectedVersion: t.int({ description: expectedVersion }),
    handle: t.string({
      required: true,
      description: "Its stable name: lower-case letters, digits and single hyphens. 1 to 96 characters.",
    }),
    name: t.string({ required: true, description: "Its name. 1 to 200 characters." }),
    currency: t.field({
      type: "CurrencyCode",
      required: true,
      description: "The currency of its prices; fixed once there are some.",
    }),
    taxIncluded: t.boolean({ required: true, description: "Whether its prices include tax." }),
    defaultLocale: t.field({
      type: "LocaleCode",
      required: true,
      description: "The locale that texts fall back to in it.",
    }),
    timeZone: t.string({ required: true, description: "The time zone that its deadlines end in, IANA." }),
    countries: t.field({
      type: ["CountryCode"],
      required: true,
      description: "Its countries, its own first; each in one market of the merchant at most.",
    }),
  }),
});

const TaxRateUpsertInput = builder.inputType("TaxRateUpsertInput", {
  description: "The tax of a country or of one of its regions.",
  fields: (t) => ({
    marketId: t.id({ required: true, description: "The market." }),
    country: t.field({ type: "CountryCode", required: true, description: "One of the market's countries." }),
    regionCode: t.string({ description: "The region, ISO 3166-2; without it the whole country." }),
    name: t.string({ required: true, description: "What it is called. 1 to 200 characters." }),
    basisPoints: t.int({
      required: true,
      description: "The rate in hundredths of a percent: 1900 is 19 %. 0 to 10_000.",
    }),
    appliesToShipping: t.boolean({ required: true, description: "Whether shipping is taxed as well." }),
  }),
});

const DeliveryMethodUpsertInput = builder.inputType("DeliveryMethodUpsertInput", {
  description: "A way that orders of a market are delivered, found by its code or made.",
  fields: (t) => ({
    marketId: t.id({ required: true, description: "The market." }),
    code: t.string({
      required: true,
      description: "Its stable code, unique in the market. 1 to 96 characters.",
    }),
    names: t.field({
      type: [LocalizedText],
      required: true,
      description: "Its name by locale, at least one.",
    }),
    carrier: t.string({ description: "Who carries it. 1 to 100 characters." }),
    pickup: t.boolean({ required: true, description: "Whether the buyer fetches it." }),
    priceMinor: t.field({
      type: "MinorUnits",
      required: true,
      description: "What it costs in the market's currency.",
    }),
    freeFromMinor: t.field({
      type: "MinorUnits",
      description: "From this subtotal on it costs nothing; null: never.",
    }),
    currency: t.field({ type: "CurrencyCode", description: "The market's; sent along it is checked." }),
    minDays: t.int({ required: true, description: "The shortest time in days. 0 to 365." }),
    maxDays: t.int({ required: true, description: "The longest time in days. 0 to 365." }),
    active: t.boolean({ description: "Whether it is offered; true unless told." }),
    position: t.int({ description: "Its place among the market's methods. 0 or more." }),
  }),
});

const PolicyUpsertInput = builder.inputType("PolicyUpsertInput", {
  description: "A rule of the merchant for one market, or for all that have none of their own.",
  fields: (t) => ({
    marketId: t.id({ description: "The market; left out: all that have none of their own." }),
    type: t.field({ type: PolicyTypeEnum, required: true, description: "What it is about." }),
    expectedVersion: t.int({ description: expectedVersion }),
    summaries: t.field({
      type: [LocalizedText],
      required: true,
      description: "The rule in a sentence, by locale, at least one.",
    }),
    url: t.field({ type: "URL", description: "Where the whole text is: https." }),
    rules: t.field({
      type: PolicyRulesInputType,
      description: "What eligibility is decided by; left out: the defaults.",
    }),
  }),
});

const reasons: Readonly<Record<(typeof stockAdjustReasons)[number], string>> = {
  received: "Goods came in.",
  correction: "A count found another number.",
  damaged: "Goods broke.",
  lost: "Goods are gone.",
  returned: "A buyer sent goods back.",
};
const StockReasonEnum = defineEnum("StockAdjustReason", {
  description: "Why stock changes.",
  values: reasons,
});

const StockAdjustInput = builder.inputType("StockAdjustInput", {
  description: "A change of the stock on hand.",
  fields: (t) => ({
    variantId: t.id({ required: true, description: "The variant." }),
    delta: t.int({
      required: true,
      description: "Units, not zero: positive arrives, negative leaves. What is reserved cannot leave.",
    }),
    reason: t.field({ type: StockReasonEnum, required: true, description: "Why it changes." }),
    note: t.string({ description: "For the record. 1 to 500 characters." }),
  }),
});

changeMutation({
  ...merchantChange,
  name: "marketUpsert",
  description: "Makes a market, or changes one.",
  input: MarketUpsertInput,
  type: MarketRef,
  run: async (transaction, tenant, input) => ({
    merchantId: tenant.merchantId,
    ...(await upsertMarket(transaction, tenant, input)),
  }),
  answer: async ({ loaders }, { merchantId, marketId }) =>
    found(await loadAnew(loaders.markets, merchantId), marketId),
});

changeMutation({
  ...merchantChange,
  name: "taxRateUpsert",
  description: "Sets the tax of a country or region.",
  input: TaxRateUpsertInput,
  type: TaxRate,
  run: async (transaction, tenant, input) => ({
    marketId: input.marketId,
    ...(await upsertTaxRate(transaction, tenant, input)),
  }),
  answer: async ({ loaders }, { marketId, taxRateId }) =>
    found(await loadAnew(loaders.taxRates, marketId), taxRateId),
});

changeMutation({
  ...merchantChange,
  name: "deliveryMethodUpsert",
  description: "Makes a delivery method of a market, or changes one.",
  input: DeliveryMethodUpsertInput,
  type: DeliveryMethod,
  run: async (transaction, tenant, input) => ({
    marketId: input.marketId,
    merchantId: tenant.merchantId,
    ...(await upsertDeliveryMethod(transaction, tenant, input)),
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
  description: "Sets a policy of the merchant.",
  input: PolicyUpsertInput,
  type: Policy,
  run: async (transaction, tenant, input) => ({
    merchantId: tenant.merchantId,
    ...(await upsertPolicy(transaction, tenant, input)),
  }),
  answer: async ({ loaders }, { merchantId, policyId }) =>
    found(await loadAnew(loaders.policies, merchantId), policyId),
});

changeMutation({
  ...merchantChange,
  name: "stockAdjust",
  description: "Changes the stock on hand of a variant, and records why.",
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
