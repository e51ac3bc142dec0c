/**
 * The GraphQL types of promotions and their codes, for merchants and their staff. Codes are secrets of the
 * merchant, so storefronts cannot read these types.
 */
import type { DefaultConnectionArguments } from "@pothos/plugin-relay";
import type { PromotionKind, PromotionStatus } from "#commerce/promotions/promotion-rule.ts";
import { type PromotionCodeRow, buildPromotionSqlQuery } from "#commerce/promotions/read-promotions.ts";
import { createMoney } from "#foundation/money.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { type GraphqlContext, getCallerMerchantId, merchantReaders, staffCallers } from "#graph/context.ts";
import {
  loadGraphqlConnection,
  type GraphqlConnectionPage,
  loadGraphqlConnectionPage,
  computeConnectionCost,
  createGraphqlConnectionTypeOptions,
} from "#graph/connections.ts";
import { MerchantRef, MoneyRef, PromotionCodeRef, PromotionRef } from "#graph/refs.ts";

export const PromotionKindEnum = defineGraphqlEnum<PromotionKind>("PromotionKind", {
  description: "The kind of discount of a promotion.",
  values: {
    percentage: "The discount is a percentage of the price of each line that the promotion can discount.",
    fixed_amount:
      "The discount is a fixed amount, taken off all lines together that the promotion can discount.",
    free_shipping: "The discount is the whole shipping price of the cart.",
    buy_x_get_y: "For every X units that the buyer buys, the buyer gets a percentage off Y further units.",
    gift: "Some units are free: the discount is their full price. The cheapest units are chosen first.",
  },
});

export const PromotionTriggerEnum = defineGraphqlEnum<"code" | "automatic">("PromotionTrigger", {
  description: "How a promotion is applied to a cart.",
  values: {
    code: "The promotion applies if the buyer enters one of its codes.",
    automatic: "The promotion applies automatically, whenever the cart meets its conditions.",
  },
});

export const PromotionStatusEnum = defineGraphqlEnum<PromotionStatus>("PromotionStatus", {
  description: "Whether a promotion is in preparation, active, paused or ended.",
  values: {
    draft: "The promotion is being prepared and applies to no cart.",
    active: "The promotion applies within its start and end time and up to its usage limits.",
    paused: "The promotion applies to no cart until it is activated again.",
    ended: "The promotion has ended permanently.",
  },
});

PromotionCodeRef.implement({
  description: "A code that buyers enter to use a promotion.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The promotion code's id, `pcd_…`." }),
    code: t.exposeString("code", {
      description:
        "The promotion code as the merchant wrote it: 1 to 64 letters, digits, - or _. Buyers may enter " +
        "the code in upper or lower case.",
    }),
    usageLimit: t.exposeInt("usageLimit", {
      nullable: true,
      description:
        "The maximum number of orders that can use the promotion code; null if only the promotion's own " +
        "limit applies.",
    }),
    used: t.exposeInt("used", {
      description: "The number of orders and submitted checkouts that use the promotion code.",
    }),
    createdAt: t.expose("createdAt", {
      type: "DateTime",
      description: "The time at which the code was created.",
    }),
  }),
});

PromotionRef.implement({
  description: "A promotion that reduces the price of carts, by a code or automatically.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The promotion's id, `prm_…`." }),
    trigger: t.expose("trigger", {
      type: PromotionTriggerEnum,
      description: "How the promotion is applied: by a code or automatically.",
    }),
    kind: t.expose("kind", {
      type: PromotionKindEnum,
      description: "The kind of discount that the promotion gives.",
    }),
    status: t.expose("status", { type: PromotionStatusEnum, description: "The status of the promotion." }),
    titles: t.field({
      type: "StringMap",
      description: "The titles shown to buyers, as a map of locales to texts.",
      resolve: ({ titles }) => titles as Record<string, string>,
    }),
    basisPoints: t.exposeInt("basisPoints", {
      nullable: true,
      description:
        "The discount in basis points (hundredths of a percent): 2000 is 20 %. Null unless the kind is " +
        "percentage or buy_x_get_y.",
    }),
    amount: t.field({
      type: MoneyRef,
      nullable: true,
      description:
        "The total discount on all lines that the promotion can discount. Null unless the kind is " +
        "fixed_amount.",
      resolve: ({ amountMinor, currency }) =>
        amountMinor === null || currency === null ? null : createMoney(amountMinor, currency),
    }),
    currency: t.expose("currency", {
      type: "CurrencyCode",
      nullable: true,
      description:
        "The currency of `amount` and `minimumSubtotal`; null if the promotion has neither amount.",
    }),
    buyQuantity: t.exposeInt("buyQuantity", {
      nullable: true,
      description:
        "The number of units to buy (the X) for one discount. Null unless the kind is buy_x_get_y.",
    }),
    getQuantity: t.exposeInt("getQuantity", {
      nullable: true,
      description:
        "The number of units that are discounted (the Y) or given as a gift. Null unless the kind is " +
        "buy_x_get_y or gift.",
    }),
  }),
});

/** Adds the fields about codes, merchant, version and times to the GraphQL type of promotions. */
builder.objectFields(PromotionRef, (t) => ({
  codes: t.connection(
    {
      type: PromotionCodeRef,
      description: "The promotion's codes, oldest first. An automatic promotion has none.",
      complexity: computeConnectionCost,
      resolve: ({ id }, args, { loaders }) => resolveCodes(id, args, loaders),
    },
    ...createGraphqlConnectionTypeOptions("PromotionCode", "codes of a promotion"),
  ),
  merchant: t.field({
    type: MerchantRef,
    description: "The merchant that owns the promotion.",
    resolve: ({ merchantId }, _args, { loaders }) => loaders.merchants.load(merchantId),
  }),
  version: t.exposeInt("version", {
    description:
      "The promotion's version. The version increases by one with every change of the promotion, and with " +
      "the use by which the promotion reaches its usage limit.",
  }),
  createdAt: t.expose("createdAt", {
    type: "DateTime",
    description: "The time at which the promotion was created.",
  }),
  updatedAt: t.expose("updatedAt", {
    type: "DateTime",
    description: "The time at which the promotion was last changed.",
  }),
}));

/**
 * Adds the fields about conditions, for example the minimum subtotal of a cart, to the GraphQL type of
 * promotions.
 */
builder.objectFields(PromotionRef, (t) => ({
  minimumSubtotal: t.field({
    type: MoneyRef,
    nullable: true,
    description:
      "The minimum subtotal, before discounts, of the cart lines that the promotion can discount; null if " +
      "there is no minimum.",
    resolve: ({ minimumSubtotalMinor, currency }) =>
      minimumSubtotalMinor === null || currency === null ? null : createMoney(minimumSubtotalMinor, currency),
  }),
  minimumQuantity: t.exposeInt("minimumQuantity", {
    nullable: true,
    description:
      "The minimum number of units in the cart, of those that the promotion can discount; null if there is " +
      "no minimum.",
  }),
  entitledProductIds: t.field({
    type: ["ID"],
    description:
      "Ids of the products that the promotion can discount. If both products and categories are empty, " +
      "the promotion can discount all products.",
    complexity: { multiplier: 1 },
    resolve: ({ entitledProductIds }) => entitledProductIds,
  }),
  entitledCategoryIds: t.field({
    type: ["ID"],
    description: "Ids of the categories whose products the promotion can discount.",
    complexity: { multiplier: 1 },
    resolve: ({ entitledCategoryIds }) => entitledCategoryIds,
  }),
  buyProductIds: t.field({
    type: ["ID"],
    description:
      "Only for the kind buy_x_get_y: ids of the products of which the buyer must buy X units. If both " +
      "products and categories are empty, all products that the promotion can discount count as bought.",
    complexity: { multiplier: 1 },
    resolve: ({ buyProductIds }) => buyProductIds,
  }),
  buyCategoryIds: t.field({
    type: ["ID"],
    description:
      "Only for the kind buy_x_get_y: ids of the categories of whose products the buyer must buy X units.",
    complexity: { multiplier: 1 },
    resolve: ({ buyCategoryIds }) => buyCategoryIds,
  }),
  marketIds: t.field({
    type: ["ID"],
    description: "Ids of the markets in which the promotion applies; empty for all markets.",
    complexity: { multiplier: 1 },
    resolve: ({ marketIds }) => marketIds,
  }),
}));

/** Adds the fields about buyers, time window, limits and priority to the GraphQL type of promotions. */
builder.objectFields(PromotionRef, (t) => ({
  requiresSignIn: t.exposeBoolean("requiresSignIn", {
    description: "Whether the promotion applies only to signed-in buyers.",
  }),
  buyerReferences: t.field({
    type: ["String"],
    nullable: true,
    description:
      "The storefront's references of the buyers that the promotion is limited to; empty " +
      "for all buyers. Only visible to the merchant's staff; null for other callers.",
    authScopes: { callers: staffCallers },
    complexity: { multiplier: 1 },
    resolve: ({ buyerReferences }) => buyerReferences,
  }),
  startsAt: t.expose("startsAt", {
    type: "DateTime",
    nullable: true,
    description:
      "The time from which the promotion applies; null if the promotion applies from its activation.",
  }),
  endsAt: t.expose("endsAt", {
    type: "DateTime",
    nullable: true,
    description: "The time at which the promotion stops applying; null if the promotion has no end.",
  }),
  usageLimit: t.exposeInt("usageLimit", {
    nullable: true,
    description: "The maximum number of orders that can use the promotion; null if there is no limit.",
  }),
  perBuyerLimit: t.exposeInt("perBuyerLimit", {
    nullable: true,
    description:
      "The maximum number of orders of one buyer that can use the promotion; null if there is no limit.",
  }),
  used: t.exposeInt("used", {
    description: "The number of orders and submitted checkouts that use the promotion.",
  }),
  priority: t.exposeInt("priority", {
    description: "The promotion's priority, -1000 to 1000: promotions with a higher value are applied first.",
  }),
  isExclusive: t.exposeBoolean("isExclusive", {
    description:
      "Whether the promotion is exclusive. An exclusive automatic promotion applies alone; an exclusive " +
      "code promotion does not combine with automatic promotions.",
  }),
}));

/**
 * Loads one page of the codes of a promotion. A data loader combines the loads for all promotions of a page
 * in one SQL statement.
 */
async function resolveCodes(
  promotionId: string,
  args: DefaultConnectionArguments,
  loaders: GraphqlContext["loaders"],
): Promise<GraphqlConnectionPage<PromotionCodeRow>> {
  const found = await loadGraphqlConnectionPage(args, "promotionCode", (page) =>
    loaders.promotionCodes.load({ ...page, promotionId }),
  );
  return { ...found, totalCount: () => loaders.promotionCodeCounts.load(promotionId) };
}

builder.queryFields((t) => ({
  promotion: t.field({
    type: PromotionRef,
    nullable: true,
    description: "Reads a promotion by id; null if no promotion with this id is visible to the caller.",
    authScopes: { callers: [...merchantReaders, "system"] },
    args: { id: t.arg.id({ required: true, description: "The promotion's id, `prm_…`." }) },
    resolve: async (_root, { id }, context) =>
      (await buildPromotionSqlQuery(context.db, {
        merchantId: getCallerMerchantId(context),
        id,
      }).executeTakeFirst()) ?? null,
  }),
  promotions: t.connection(
    {
      type: PromotionRef,
      description: "Lists the promotions of the merchants that the caller's token can read, oldest first.",
      complexity: computeConnectionCost,
      authScopes: { callers: merchantReaders },
      args: {
        status: t.arg({ type: PromotionStatusEnum, description: "Lists only promotions with this status." }),
        trigger: t.arg({
          type: PromotionTriggerEnum,
          description: "Lists only promotions with this trigger.",
        }),
      },
      resolve: (_root, { status, trigger, ...args }, context) =>
        loadGraphqlConnection(args, {
          db: context.db,
          query: buildPromotionSqlQuery(context.db, {
            merchantId: getCallerMerchantId(context),
            status,
            trigger,
          }),
          column: "promotion.id",
          cursor: "promotion",
        }),
    },
    ...createGraphqlConnectionTypeOptions("Promotion", "promotions"),
  ),
}));
