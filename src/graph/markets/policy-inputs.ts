/**
 * The GraphQL input types of a merchant's policies, for example the return policy. The rules of a policy
 * decide whether an order can be canceled or returned.
 */
import type { BuyerRequestApprovalMode } from "#commerce/markets/policy-rules.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { expectedVersionDescription, LocalizedTextInputType } from "#graph/catalog/inputs.ts";
import { PolicyTypeEnum } from "#graph/catalog/product-detail.ts";
import { ReturnMethodEnum } from "#graph/orders/order-enums.ts";

const PolicyModeEnum = defineGraphqlEnum<BuyerRequestApprovalMode>("PolicyMode", {
  description: "How a buyer's request to cancel or return is handled.",
  values: {
    immediate: "The buyer's request is granted at once if the rules of the policy allow it.",
    request: "The merchant decides about each request of a buyer.",
    none: "Buyers cannot make requests; only the merchant can start a cancellation or return.",
  },
});

const AfterWindowEnum = defineGraphqlEnum<"request" | "deny">("PolicyAfterWindow", {
  description: "What a buyer may do after the time limit for cancellations has passed.",
  values: {
    request: "The buyer may still request a cancellation, and the merchant decides.",
    deny: "The buyer can no longer cancel or request a cancellation.",
  },
});

const CancellationRulesInput = builder.inputType("CancellationRulesInput", {
  description: "The rules for cancellations by buyers.",
  fields: (t) => ({
    mode: t.field({
      type: PolicyModeEnum,
      description: "How a buyer's cancellation is handled; IMMEDIATE by default.",
    }),
    windowMinutes: t.int({
      description:
        "The time limit for cancellations by buyers, in minutes after the order was placed, 1 to 43 200; " +
        "60 by default. Null if buyers can cancel until packing begins.",
    }),
    afterWindow: t.field({
      type: AfterWindowEnum,
      description: "What the buyer may do after the time limit for cancellations; REQUEST by default.",
    }),
  }),
});

const ReturnRulesInput = builder.inputType("ReturnRulesInput", {
  description: "The rules for returns by buyers: what may be returned, until when and for what fee.",
  fields: (t) => ({
    mode: t.field({
      type: PolicyModeEnum,
      description: "How a buyer's return is handled; IMMEDIATE by default.",
    }),
    windowDays: t.int({
      description:
        "The time limit for returns, in days after delivery, 1 to 3650; 30 by default. Null if returns " +
        "have no time limit.",
    }),
    exchangeWindowDays: t.int({
      description:
        "The time limit for exchanges, in days after delivery, 1 to 3650; 30 by default. Null if the " +
        "merchant offers no exchanges.",
    }),
    methods: t.field({
      type: [ReturnMethodEnum],
      description: "The ways in which goods may be returned, 1 to 4; only MAIL by default.",
    }),
    restockingBasisPoints: t.int({
      description:
        "The restocking fee in basis points (hundredths of a percent) of the value of the returned " +
        "goods, 0 to 10 000; 0 by default.",
    }),
    returnShippingMinor: t.field({
      type: "MinorUnits",
      description:
        "The return shipping fee paid by the buyer, in minor units of the market's currency; 0 by " +
        "default. A fee above 0 requires `marketId`.",
    }),
    keepItemMinor: t.field({
      type: "MinorUnits",
      description:
        "The amount, in minor units of the market's currency, up to which goods are refunded without being " +
        "sent back. Null if goods must always be sent back. An amount above 0 requires `marketId`.",
    }),
    extendUntil: t.string({
      description:
        "The earliest date, `YYYY-MM-DD`, on which the time to return goods may end. A time limit for " +
        "returns that would end before is extended to the end of this day in the market's time zone.",
    }),
    excludedCategoryIds: t.idList({
      description:
        "The IDs of categories whose products cannot be returned, at most 100. The categories below these " +
        "categories are excluded too.",
    }),
    excludedCountries: t.field({
      type: ["CountryCode"],
      description: "The countries from which nothing can be returned.",
    }),
    returnsPerBuyerMax: t.int({
      description:
        "The maximum number of returns per buyer in 365 days, 1 to 1000. Null if the number is not " +
        "limited.",
    }),
    photoRequired: t.boolean({
      description: "Whether the buyer has to send a photo with the return request; false by default.",
    }),
  }),
});

const WithdrawalRulesInput = builder.inputType("WithdrawalRulesInput", {
  description:
    "The rules for the right of withdrawal of consumers. In the European Economic Area, the law requires " +
    "at least 14 days.",
  fields: (t) => ({
    windowDays: t.int({
      description:
        "The time limit for withdrawals in days after the delivery of the order's last line, 0 to 365; 0 " +
        "by default. With 0, buyers have only the right of withdrawal that the law gives them.",
    }),
  }),
});

const WarrantyRulesInput = builder.inputType("WarrantyRulesInput", {
  description:
    "The rules of the merchant's warranty. In the European Union, the warranty lasts at least 24 months, " +
    "like the statutory guarantee.",
  fields: (t) => ({
    months: t.int({
      description: "The duration of the warranty in months after delivery, 0 to 240; 0 by default.",
    }),
    repairs: t.int({
      description:
        "The number of repairs that the warranty covers for each registered product, 0 to 1000; 1 by " +
        "default.",
    }),
    replacements: t.int({
      description:
        "The number of replacements that the warranty covers for each registered product, 0 to 1000; " +
        "1 by default.",
    }),
  }),
});

const PolicyRulesInputType = builder.inputType("PolicyRulesInput", {
  description:
    "The rules by which the service decides what buyers may cancel, return or claim. Only the " +
    "field of the policy's own type may be set, for example `return` for the type RETURN. Rules " +
    "that are left out have their default values.",
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

export const PolicyUpsertInputType = builder.inputType("PolicyUpsertInput", {
  description:
    "A policy to create or replace: for one market, or for all markets without a policy of their own.",
  fields: (t) => ({
    marketId: t.id({
      description:
        "The ID of the market in which the policy applies. If left out, the policy applies to all markets " +
        "without a policy of their own.",
    }),
    type: t.field({
      type: PolicyTypeEnum,
      required: true,
      description: "What the policy regulates: cancellations, returns, withdrawals or the warranty.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    summaries: t.field({
      type: [LocalizedTextInputType],
      required: true,
      description: "A short summary of the policy by locale, at least one.",
    }),
    url: t.field({ type: "URL", description: "The https URL of the policy's full text." }),
    rules: t.field({
      type: PolicyRulesInputType,
      description:
        "The rules by which the service decides what buyers may cancel, return or claim; the default " +
        "rules if left out.",
    }),
  }),
});
