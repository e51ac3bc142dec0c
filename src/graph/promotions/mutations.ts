/** Mutations of promotions. In an update, a field that is left out stays unchanged and null removes its value. */
import type { InputFieldBuilder } from "@pothos/core";
import { promotionBounds as bounds } from "#commerce/promotions/promotion-fields.ts";
import { activatePromotion, endPromotion, pausePromotion } from "#commerce/promotions/promotion-status.ts";
import {
  type PromotionCodeRow,
  selectPromotions,
  type PromotionRow,
} from "#commerce/promotions/read-promotions.ts";
import { generatePromotionCodes } from "#commerce/promotions/generate-codes.ts";
import { createPromotion, updatePromotion } from "#commerce/promotions/change-promotion.ts";
import { fail } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import { merchantChange } from "#graph/change-kinds.ts";
import { changeMutation } from "#graph/mutation.ts";
import { expectedVersionDescription, LocalizedTextInputType } from "#graph/catalog/inputs.ts";
import type { GraphContext } from "#graph/context.ts";
import { PromotionCodeRef, PromotionRef } from "#graph/refs.ts";
import { PromotionKindEnum, PromotionTriggerEnum } from "./promotions.ts";

type PromotionInputFieldBuilder = InputFieldBuilder<(typeof builder)["$inferSchemaTypes"], "InputObject">;

const titlesDescription =
  "The promotion's titles shown to buyers, one per locale, at least one. Each title " +
  `has 1 to ${bounds.titleMax} characters.`;

// eslint-disable-next-line typescript/explicit-module-boundary-types -- Pothos infers the refs.
const promotionInputFields = (t: PromotionInputFieldBuilder) => ({
  basisPoints: t.int({
    description:
      "The discount in basis points (hundredths of a percent): 2000 is 20 %. Required for " +
      "the kinds percentage and buy_x_get_y, not allowed for others. 1 to " +
      `${bounds.basisPointsMax}.`,
  }),
  amountMinor: t.field({
    type: "MinorUnits",
    description:
      "The discount amount for all entitled lines together, in minor units. Required for " +
      "the kind fixed_amount, not allowed for others. 1 or more.",
  }),
  currency: t.field({
    type: "CurrencyCode",
    description:
      "The currency of `amountMinor` and `minimumSubtotalMinor`; required with either. " +
      "Must be a currency of one of the promotion's markets. Removed when neither amount " +
      "is left.",
  }),
  buyQuantity: t.int({
    description:
      "Units to buy (the X) for one discount. Required for the kind buy_x_get_y, not " +
      `allowed for others. 1 to ${bounds.quantityMax}.`,
  }),
  getQuantity: t.int({
    description:
      "Units that are discounted (the Y) or given as a gift. Required for the kinds " +
      `buy_x_get_y and gift, not allowed for others. 1 to ${bounds.quantityMax}.`,
  }),
  minimumSubtotalMinor: t.field({
    type: "MinorUnits",
    description:
      "The minimum subtotal of the entitled lines before discounts, in minor units. 1 or " + "more.",
  }),
  minimumQuantity: t.int({
    description: `The minimum number of entitled units in the cart. 1 to ${bounds.minimumQuantityMax}.`,
  }),
  entitledProductIds: t.idList({
    description:
      "Ids of the entitled products. If no products and no categories are given, all " +
      `products are entitled. 0 to ${bounds.productsMax} ids.`,
  }),
  entitledCategoryIds: t.idList({
    description: `Ids of the categories whose products are entitled. 0 to ${bounds.categoriesMax} ids.`,
  }),
  buyProductIds: t.idList({
    description:
      "Only for the kind buy_x_get_y: ids of the products that count as bought (the X). " +
      "If no products and no categories are given, the entitled products count. 0 to " +
      `${bounds.productsMax} ids.`,
  }),
  buyCategoryIds: t.idList({
    description:
      "Only for the kind buy_x_get_y: ids of the categories whose products count as " +
      `bought (the X). 0 to ${bounds.categoriesMax} ids.`,
  }),
  marketIds: t.idList({
    description:
      "Ids of the markets in which the promotion applies; empty for all markets. 0 to " +
      `${bounds.marketsMax} ids.`,
  }),
  requiresSignIn: t.boolean({
    description: "Whether the promotion only applies to signed-in buyers. Default false.",
  }),
  buyerReferences: t.stringList({
    description:
      "The storefront's references of the buyers that the promotion is limited to; empty " +
      `for all buyers. 0 to ${bounds.buyerReferencesMax} references of 1 to ` +
      `${bounds.buyerReferenceLengthMax} characters.`,
  }),
  startsAt: t.field({
    type: "DateTime",
    description:
      "The time from which the promotion applies. Without a value it applies from its " +
      "activation. The year must be from 2000 to 9999.",
  }),
  endsAt: t.field({
    type: "DateTime",
    description:
      "The time at which the promotion stops applying; must be after `startsAt`. Without " +
      "a value it has no end. The year must be from 2000 to 9999.",
  }),
  usageLimit: t.int({
    description:
      "The maximum number of orders that can use the promotion, 1 or more; must not be " +
      "below the number of uses so far. Without a value there is no limit.",
  }),
  perBuyerLimit: t.int({
    description:
      "The maximum number of orders of one buyer that can use the promotion, 1 or more. " +
      "The promotion then only applies to signed-in buyers. Without a value there is no " +
      "limit.",
  }),
  priority: t.int({
    description:
      "The promotion's priority: promotions with a higher value are applied first. " +
      `Default 0. -${bounds.priorityMax} to ${bounds.priorityMax}.`,
  }),
  isExclusive: t.boolean({
    description:
      "Whether the promotion is exclusive. An exclusive automatic promotion applies " +
      "alone; an exclusive code does not combine with automatic promotions. Default " +
      "false.",
  }),
});

const PromotionCreateInput = builder.inputType("PromotionCreateInput", {
  description: "The input to create a promotion. A new promotion is a draft.",
  fields: (t) => ({
    trigger: t.field({
      type: PromotionTriggerEnum,
      required: true,
      description:
        "How the promotion is applied: by a code or automatically. It cannot be changed " + "later.",
    }),
    kind: t.field({
      type: PromotionKindEnum,
      required: true,
      description: "The kind of discount. It cannot be changed later.",
    }),
    titles: t.field({ type: [LocalizedTextInputType], required: true, description: titlesDescription }),
    ...promotionInputFields(t),
  }),
});

const PromotionUpdateInput = builder.inputType("PromotionUpdateInput", {
  description:
    "The input to change a promotion. Carts with the promotion are updated at their " + "next change.",
  fields: (t) => ({
    promotionId: t.id({ required: true, description: "The promotion." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    titles: t.field({ type: [LocalizedTextInputType], description: titlesDescription }),
    ...promotionInputFields(t),
  }),
});

const PromotionTransitionInput = builder.inputType("PromotionTransitionInput", {
  description: "The input of a change of a promotion's status.",
  fields: (t) => ({
    promotionId: t.id({ required: true, description: "The promotion." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

const PromotionCodesGenerateInput = builder.inputType("PromotionCodesGenerateInput", {
  description:
    "The input to add codes to a promotion: either random codes (`count`) or given " + "codes (`codes`).",
  fields: (t) => ({
    promotionId: t.id({
      required: true,
      description: "The id of the promotion, `prm_…`; its trigger must be code.",
    }),
    count: t.int({
      description:
        "The number of random codes to generate. Required unless `codes` is given. 1 to " +
        `${bounds.codesMax}.`,
    }),
    prefix: t.string({
      description:
        `A prefix for the random codes. 1 to ${bounds.prefixMax} letters, digits, - or _, ` +
        "starting with a letter or digit.",
    }),
    length: t.int({
      description:
        "The number of random characters of each code, without the prefix. Default " +
        `${bounds.drawnLengthDefault}. ${bounds.drawnLengthMin} to ` +
        `${bounds.drawnLengthMax}.`,
    }),
    codes: t.stringList({
      description:
        `The codes to add, instead of \`count\`: 1 to ${bounds.codesMax} codes of 1 to 64 ` +
        "letters, digits, - or _. Each must be new to the merchant; upper and lower case " +
        "are the same.",
    }),
    usageLimit: t.int({
      description:
        "The maximum number of orders that can use each code, 1 or more. Without a value " +
        "only the promotion's limit applies.",
    }),
  }),
});

const PromotionCodesGenerated = builder
  .objectRef<{ promotion: PromotionRow; codes: readonly PromotionCodeRow[] }>("PromotionCodesGenerated")
  .implement({
    description: "The result of adding codes to a promotion.",
    fields: (t) => ({
      promotion: t.expose("promotion", { type: PromotionRef, description: "The promotion." }),
      codes: t.field({
        type: [PromotionCodeRef],
        description: "The new codes. Given codes are in the order of the input.",
        complexity: { multiplier: bounds.codesMax },
        resolve: ({ codes }) => codes,
      }),
    }),
  });

async function loadChangedPromotion(
  { db }: GraphContext,
  { promotionId }: { readonly promotionId: string },
): Promise<PromotionRow> {
  const promotion = await selectPromotions(db, { merchantId: null, id: promotionId }).executeTakeFirst();
  if (promotion === undefined) throw fail("resource_not_found");
  return promotion;
}

changeMutation({
  ...merchantChange,
  name: "promotionCreate",
  description: "Creates a promotion as a draft.",
  input: PromotionCreateInput,
  type: PromotionRef,
  run: createPromotion,
  answer: loadChangedPromotion,
});

changeMutation({
  ...merchantChange,
  name: "promotionUpdate",
  description: "Changes the fields of a promotion that has not ended.",
  input: PromotionUpdateInput,
  type: PromotionRef,
  run: updatePromotion,
  answer: loadChangedPromotion,
});

changeMutation({
  ...merchantChange,
  name: "promotionActivate",
  description:
    "Activates a draft or paused promotion. It applies within its time window. Refused " +
    "if the window is over.",
  input: PromotionTransitionInput,
  type: PromotionRef,
  run: activatePromotion,
  answer: loadChangedPromotion,
});

changeMutation({
  ...merchantChange,
  name: "promotionPause",
  description: "Pauses an active promotion until it is activated again.",
  input: PromotionTransitionInput,
  type: PromotionRef,
  run: pausePromotion,
  answer: loadChangedPromotion,
});

changeMutation({
  ...merchantChange,
  name: "promotionEnd",
  description: "Ends a promotion permanently. Orders keep the discounts that they had.",
  input: PromotionTransitionInput,
  type: PromotionRef,
  run: endPromotion,
  answer: loadChangedPromotion,
});

changeMutation({
  ...merchantChange,
  name: "promotionCodesGenerate",
  description: "Adds random or given codes to a promotion. Either all codes are added, or none.",
  input: PromotionCodesGenerateInput,
  type: PromotionCodesGenerated,
  run: generatePromotionCodes,
  answer: async (context, { promotionId, codes }) => {
    context.loaders.promotionCodes.clearAll();
    context.loaders.promotionCodeCounts.clearAll();
    return { promotion: await loadChangedPromotion(context, { promotionId }), codes };
  },
});
