/**
 * Promotions as their merchant keeps them, with their codes: secrets of the merchant, so nothing here is open
 * to storefronts.
 */
import type { DefaultConnectionArguments } from "@pothos/plugin-relay";
import { requireNoFaults, integerFaults } from "#foundation/faults.ts";
import type { PromotionKind, PromotionStatus } from "#commerce/promotions/promotion-rule.ts";
import { type PromotionCodeRow, selectPromotions } from "#commerce/promotions/read-promotions.ts";
import { money } from "#foundation/money.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { type GraphContext, ownerOf, readers, staff } from "#graph/context.ts";
import {
  connectionOf,
  type ConnectionOf,
  connectionPage,
  pageCost,
  pageSizeMax,
  listTypes,
} from "#graph/connections.ts";
import { MerchantRef, MoneyRef, PromotionCodeRef, PromotionRef } from "#graph/refs.ts";

export const PromotionKindEnum = defineEnum<PromotionKind>("PromotionKind", {
  description: "What a promotion takes off.",
  values: {
    percentage: "A share of the price of each entitled line.",
    fixed_amount: "An amount, off the entitled lines together.",
    free_shipping: "The price of the shipping.",
    buy_x_get_y: "A share of the price of some entitled units, for every so many that are bought.",
    gift: "The price of some entitled units, the cheapest.",
  },
});

export const PromotionTriggerEnum = defineEnum<"code" | "automatic">("PromotionTrigger", {
  description: "How a promotion comes to a cart.",
  values: { code: "The buyer enters a code.", automatic: "By itself, wherever its conditions are met." },
});

export const PromotionStatusEnum = defineEnum<PromotionStatus>("PromotionStatus", {
  description: "Where a promotion is in its life.",
  values: {
    draft: "Being prepared: it applies to no cart.",
    active: "It applies within its window and limits.",
    paused: "It applies to no cart until it is activated again.",
    ended: "It is over for good.",
  },
});

PromotionCodeRef.implement({
  description: "A code that buyers enter to have a promotion.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The code's id, `pcd_…`." }),
    code: t.exposeString("code", {
      description:
        "As the merchant writes it; buyers may write it in small or capital letters. 1 to 64 letters, digits, - or _.",
    }),
    usageLimit: t.exposeInt("usageLimit", {
      nullable: true,
      description: "Orders that may have it; null: as many as the promotion lets through.",
    }),
    used: t.exposeInt("used", { description: "Orders and submitted checkouts that have it." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
  }),
});

PromotionRef.implement({
  description: "Something that makes carts cheaper, by a code or by itself.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The promotion's id, `prm_…`." }),
    trigger: t.expose("trigger", { type: PromotionTriggerEnum, description: "How it comes to a cart." }),
    kind: t.expose("kind", { type: PromotionKindEnum, description: "What it takes off." }),
    status: t.expose("status", { type: PromotionStatusEnum, description: "Where it is in its life." }),
    titles: t.field({
      type: "StringMap",
      description: "What buyers read, by locale.",
      resolve: ({ titles }) => titles as Record<string, string>,
    }),
    basisPoints: t.exposeInt("basisPoints", {
      nullable: true,
      description:
        "The share taken off, in hundredths of a percent: 2000 is 20 %. Of percentage and buy X get Y; else null.",
    }),
    amount: t.field({
      type: MoneyRef,
      nullable: true,
      description: "The amount taken off. Of fixed amount; else null.",
      resolve: ({ amountMinor, currency }) =>
        amountMinor === null || currency === null ? null : money(amountMinor, currency),
    }),
    currency: t.expose("currency", {
      type: "CurrencyCode",
      nullable: true,
      description: "The currency of the amount and of the minimum subtotal; null where there is neither.",
    }),
    buyQuantity: t.exposeInt("buyQuantity", {
      nullable: true,
      description: "Units to buy, the X. Of buy X get Y; else null.",
    }),
    getQuantity: t.exposeInt("getQuantity", {
      nullable: true,
      description: "Units that are cheaper, the Y, or that are given. Of buy X get Y and gift; else null.",
    }),
    codes: t.connection(
      {
        type: PromotionCodeRef,
        description: "Its codes, oldest first. An automatic promotion has none.",
        complexity: pageCost,
        resolve: ({ id }, args, { loaders }) => resolveCodes(id, args, loaders),
      },
      ...listTypes("PromotionCode", "codes of a promotion"),
    ),
    merchant: t.field({
      type: MerchantRef,
      description: "The merchant.",
      resolve: ({ merchantId }, _args, { loaders }) => loaders.merchants.load(merchantId),
    }),
    version: t.exposeInt("version", {
      description: "Rises by one with every change, and when its last use is taken.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
  }),
});

/** What it asks of a cart and its buyer, and how often it may be had. */
builder.objectFields(PromotionRef, (t) => ({
  minimumSubtotal: t.field({
    type: MoneyRef,
    nullable: true,
    description: "What the cart must come to at least, before discounts; null: anything.",
    resolve: ({ minimumSubtotalMinor, currency }) =>
      minimumSubtotalMinor === null || currency === null ? null : money(minimumSubtotalMinor, currency),
  }),
  minimumQuantity: t.exposeInt("minimumQuantity", {
    nullable: true,
    description: "Entitled units the cart must have at least; null: any number.",
  }),
  entitledProductIds: t.field({
    type: ["ID"],
    description: "The products that are made cheaper; with no categories either, all are.",
    complexity: { multiplier: 1 },
    resolve: ({ entitledProductIds }) => entitledProductIds,
  }),
  entitledCategoryIds: t.field({
    type: ["ID"],
    description: "The categories whose products are made cheaper.",
    complexity: { multiplier: 1 },
    resolve: ({ entitledCategoryIds }) => entitledCategoryIds,
  }),
  buyProductIds: t.field({
    type: ["ID"],
    description:
      "Of buy X get Y: the products that count as the X; with no categories either, the same as are made cheaper.",
    complexity: { multiplier: 1 },
    resolve: ({ buyProductIds }) => buyProductIds,
  }),
  buyCategoryIds: t.field({
    type: ["ID"],
    description: "Of buy X get Y: the categories whose products count as the X.",
    complexity: { multiplier: 1 },
    resolve: ({ buyCategoryIds }) => buyCategoryIds,
  }),
  marketIds: t.field({
    type: ["ID"],
    description: "The markets it applies in; empty: all.",
    complexity: { multiplier: 1 },
    resolve: ({ marketIds }) => marketIds,
  }),
  requiresSignIn: t.exposeBoolean("requiresSignIn", {
    description: "Whether only buyers who are known have it.",
  }),
  buyerReferences: t.field({
    type: ["String"],
    nullable: true,
    description:
      "The buyers it is for, in the storefront's words; empty: all. For those who run the merchant.",
    authScopes: { callers: staff },
    complexity: { multiplier: 1 },
    resolve: ({ buyerReferences }) => buyerReferences,
  }),
  startsAt: t.expose("startsAt", {
    type: "DateTime",
    nullable: true,
    description: "From when it applies; null: since ever.",
  }),
  endsAt: t.expose("endsAt", {
    type: "DateTime",
    nullable: true,
    description: "From when it applies no longer; null: for ever.",
  }),
  usageLimit: t.exposeInt("usageLimit", {
    nullable: true,
    description: "Orders that may have it, together; null: any number.",
  }),
  perBuyerLimit: t.exposeInt("perBuyerLimit", {
    nullable: true,
    description: "Orders of one buyer that may have it; null: any number.",
  }),
  used: t.exposeInt("used", { description: "Orders and submitted checkouts that have it." }),
  priority: t.exposeInt("priority", {
    description: "Which of several is taken first: the highest. -1000 to 1000.",
  }),
  isExclusive: t.exposeBoolean("isExclusive", {
    description:
      "Whether it stands alone. Automatic: no other takes part beside it. By code: it does not stand beside automatic ones.",
  }),
}));

/** Through loaders: the codes of a whole page of promotions are one statement. */
async function resolveCodes(
  promotionId: string,
  args: DefaultConnectionArguments,
  loaders: GraphContext["loaders"],
): Promise<ConnectionOf<PromotionCodeRow>> {
  const bounds = { min: 0, max: pageSizeMax };
  requireNoFaults([
    ...integerFaults("/first", args.first, bounds),
    ...integerFaults("/last", args.last, bounds),
  ]);
  const found = await connectionPage(args, (page) => loaders.promotionCodes.load({ ...page, promotionId }));
  return { ...found, totalCount: () => loaders.promotionCodeCounts.load(promotionId) };
}

builder.queryFields((t) => ({
  promotion: t.field({
    type: PromotionRef,
    nullable: true,
    description: "A promotion by id.",
    authScopes: { callers: [...readers, "system"] },
    args: { id: t.arg.id({ required: true, description: "The promotion's id." }) },
    resolve: async (_root, { id }, context) =>
      (await selectPromotions(context.db, { merchantId: ownerOf(context), id }).executeTakeFirst()) ?? null,
  }),
  promotions: t.connection(
    {
      type: PromotionRef,
      description: "The promotions of the merchants that the token sees, oldest first.",
      complexity: pageCost,
      authScopes: { callers: readers },
      args: {
        status: t.arg({ type: PromotionStatusEnum, description: "Only those with this status." }),
        trigger: t.arg({
          type: PromotionTriggerEnum,
          description: "Only those that come to a cart this way.",
        }),
      },
      resolve: (_root, { status, trigger, ...args }, context) =>
        connectionOf(args, {
          db: context.db,
          query: selectPromotions(context.db, { merchantId: ownerOf(context), status, trigger }),
          column: "promotion.id",
        }),
    },
    ...listTypes("Promotion", "promotions"),
  ),
}));
