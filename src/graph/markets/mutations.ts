/**
 * The GraphQL mutations of markets, delivery methods, policies and stock. An upsert replaces the whole
 * record. A field that is left out keeps its value only if the field's description says so.
 */
import { adjustStock, type stockAdjustReasons } from "#commerce/inventory/adjust-stock.ts";
import { upsertDeliveryMethod } from "#commerce/markets/delivery-methods.ts";
import { upsertMarket } from "#commerce/markets/change-market.ts";
import { upsertMerchantPolicy } from "#commerce/markets/change-policy.ts";
import { createFailure } from "#foundation/failure.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { merchantMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation, reloadChangedRow } from "#graph/mutation.ts";
import { expectedVersionDescription, LocalizedTextInputType } from "#graph/catalog/inputs.ts";
import { MarketRef, VariantRef } from "#graph/refs.ts";
import { DeliveryMethodRef, PolicyRef } from "./markets.ts";
import { PolicyUpsertInputType } from "./policy-inputs.ts";
import { DeliveryTaxRuleEnum, TaxRoundingEnum } from "./taxes.ts";

const MarketUpsertInput = builder.inputType("MarketUpsertInput", {
  description: "A market to create or replace. An existing market is found by its ID or handle.",
  fields: (t) => ({
    marketId: t.id({
      description:
        "The market's ID. If left out, the market with the given handle is replaced, or a new market with " +
        "this handle is created.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    handle: t.string({
      required: true,
      description:
        "The stable handle of the market, unique within the merchant: lower-case letters, digits and " +
        "single hyphens, 1 to 96 characters.",
    }),
    name: t.string({ required: true, description: "The name of the market, 1 to 200 characters." }),
    currency: t.field({
      type: "CurrencyCode",
      required: true,
      description: "The currency of all prices in the market. It cannot change once the market has prices.",
    }),
    taxIncluded: t.boolean({ required: true, description: "Whether prices in the market include tax." }),
    taxRounding: t.field({
      type: TaxRoundingEnum,
      description:
        "How taxes in the market are rounded. If left out, a new market rounds each line, and an existing " +
        "market keeps its rule.",
    }),
    defaultLocale: t.field({
      type: "LocaleCode",
      required: true,
      description:
        "The locale whose texts are used in the market if a text is missing in the requested locale.",
    }),
    timeZone: t.string({
      required: true,
      description: "The IANA time zone in which the market's deadlines end, for example `Europe/Berlin`.",
    }),
    countries: t.field({
      type: ["CountryCode"],
      required: true,
      description:
        "The market's countries, the main country first. A country can belong to only one market of the " +
        "merchant.",
    }),
  }),
});

const DeliveryMethodUpsertInput = builder.inputType("DeliveryMethodUpsertInput", {
  description: "A delivery method of a market to create or replace. An existing method is found by its code.",
  fields: (t) => ({
    marketId: t.id({ required: true, description: "The market's ID." }),
    code: t.string({
      required: true,
      description: "The stable code of the delivery method, unique within its market, 1 to 96 characters.",
    }),
    names: t.field({
      type: [LocalizedTextInputType],
      required: true,
      description: "The names of the delivery method by locale, at least one.",
    }),
    carrier: t.string({ description: "The carrier that delivers the orders, 1 to 100 characters." }),
    pickup: t.boolean({
      required: true,
      description: "Whether the buyer picks the order up, in contrast to a delivery by a carrier.",
    }),
    priceMinor: t.field({
      type: "MinorUnits",
      required: true,
      description: "The price of one delivery with this method, in minor units of the market's currency.",
    }),
    freeFromMinor: t.field({
      type: "MinorUnits",
      description:
        "The cart subtotal from which delivery with this method is free, in minor units of the market's " +
        "currency. Null if delivery is never free.",
    }),
    currency: t.field({
      type: "CurrencyCode",
      description:
        "The currency of `priceMinor` and `freeFromMinor`. Optional; a currency that is not the market's " +
        "currency is refused.",
    }),
    minDays: t.int({ required: true, description: "The shortest delivery time in days, 0 to 365." }),
    maxDays: t.int({ required: true, description: "The longest delivery time in days, 0 to 365." }),
    active: t.boolean({ description: "Whether the delivery method is offered to buyers; true by default." }),
    position: t.int({
      description:
        "The delivery method's position in the display order of the market's methods, 0 to 100000.",
    }),
    taxRule: t.field({
      type: DeliveryTaxRuleEnum,
      description:
        "How the shipping price is taxed. If left out, a new method is taxed by its own class, and an existing " +
        "method keeps its rule.",
    }),
    taxClass: t.string({
      description:
        "The code of the delivery method's tax class. If left out, a new method belongs to the class " +
        "`standard`, and an existing method keeps its class.",
    }),
  }),
});

const stockReasonDescriptions: Readonly<Record<(typeof stockAdjustReasons)[number], string>> = {
  received: "New goods arrived.",
  correction: "A stock count found a different number of units than the recorded one.",
  damaged: "Goods were damaged.",
  lost: "Goods were lost.",
  returned: "A buyer returned goods.",
};
const StockReasonEnum = defineGraphqlEnum("StockAdjustReason", {
  description: "The reason for a change of stock.",
  values: stockReasonDescriptions,
});

const StockAdjustInput = builder.inputType("StockAdjustInput", {
  description: "A change of a variant's stock on hand.",
  fields: (t) => ({
    variantId: t.id({ required: true, description: "The variant's ID." }),
    delta: t.int({
      required: true,
      description:
        "The number of units to add (positive) or remove (negative); not 0. Reserved units cannot be " +
        "removed.",
    }),
    reason: t.field({
      type: StockReasonEnum,
      required: true,
      description: "The reason for the change of the stock.",
    }),
    note: t.string({
      description: "A note that is stored with the change of the stock, 1 to 500 characters.",
    }),
  }),
});

defineMutation({
  ...merchantMutationKind,
  name: "marketUpsert",
  description: "Creates or replaces a market.",
  failures: ["invalid_locale", "resource_not_found", "version_conflict", "already_exists", "invalid_state"],
  input: MarketUpsertInput,
  type: MarketRef,
  run: async (transaction, context, input) => ({
    merchantId: context.merchantId,
    ...(await upsertMarket(transaction, context, input)),
  }),
  answer: async ({ loaders }, { merchantId, marketId }) =>
    found(await reloadChangedRow(loaders.markets, merchantId), marketId),
});

defineMutation({
  ...merchantMutationKind,
  name: "deliveryMethodUpsert",
  description: "Creates or replaces a delivery method of a market.",
  failures: ["invalid_locale", "resource_not_found"],
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
      found(await reloadChangedRow(loaders.deliveryMethods, marketId), deliveryMethodId),
    );
  },
});

defineMutation({
  ...merchantMutationKind,
  name: "policyUpsert",
  description: "Creates or replaces a policy of the merchant.",
  failures: ["invalid_locale", "resource_not_found", "version_conflict"],
  input: PolicyUpsertInputType,
  type: PolicyRef,
  run: async (transaction, context, input) => ({
    merchantId: context.merchantId,
    ...(await upsertMerchantPolicy(transaction, context, input)),
  }),
  answer: async ({ loaders }, { merchantId, policyId }) =>
    found(await reloadChangedRow(loaders.policies, merchantId), policyId),
});

defineMutation({
  ...merchantMutationKind,
  name: "stockAdjust",
  description: "Changes the stock on hand of a variant and records the reason.",
  failures: ["resource_not_found", "invalid_state"],
  input: StockAdjustInput,
  type: VariantRef,
  run: adjustStock,
  idempotency: "required",
  answer: async ({ loaders }, { productId, variantId }) => {
    const product = await reloadChangedRow(loaders.products, productId);
    if (product === null) throw createFailure("product_not_found");
    return Object.assign({ product }, found(product.variants, variantId));
  },
});

function found<Row extends { readonly id: string }>(rows: readonly Row[], id: string): Row {
  const row = rows.find((candidate) => candidate.id === id);
  if (row === undefined) throw createFailure("resource_not_found");
  return row;
}
