/** Changes of promotions. Left out means that it stays as it is, null that there is none any more. */
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

const titlesDescription = `What buyers read, by locale, at least one; each 1 to ${bounds.titleMax} characters.`;

// eslint-disable-next-line typescript/explicit-module-boundary-types -- Pothos infers the refs.
const promotionInputFields = (t: PromotionInputFieldBuilder) => ({
  basisPoints: t.int({
    description: `The share taken off, in hundredths of a percent: 2000 is 20 %. Needed by percentage and buy X get Y, which alone have it. 1 to ${bounds.basisPointsMax}.`,
  }),
  amountMinor: t.field({
    type: "MinorUnits",
    description:
      "The amount taken off, off the entitled lines together. Needed by fixed amount, which alone has it. 1 or more.",
  }),
  currency: t.field({
    type: "CurrencyCode",
    description:
      "The currency of the amount and of the minimum subtotal; needed with either, one of the promotion's markets' own. It goes by itself when both go.",
  }),
  buyQuantity: t.int({
    description: `Units to buy, the X. Needed by buy X get Y, which alone has it. 1 to ${bounds.quantityMax}.`,
  }),
  getQuantity: t.int({
    description: `Units that are cheaper, the Y, or that are given. Needed by buy X get Y and gift, which alone have it. 1 to ${bounds.quantityMax}.`,
  }),
  minimumSubtotalMinor: t.field({
    type: "MinorUnits",
    description: "What the cart must come to at least, before discounts. 1 or more.",
  }),
  minimumQuantity: t.int({
    description: `Entitled units the cart must have at least. 1 to ${bounds.minimumQuantityMax}.`,
  }),
  entitledProductIds: t.idList({
    description: `The products that are made cheaper; with no categories either, all are. 0 to ${bounds.productsMax}.`,
  }),
  entitledCategoryIds: t.idList({
    description: `The categories whose products are made cheaper. 0 to ${bounds.categoriesMax}.`,
  }),
  buyProductIds: t.idList({
    description: `Of buy X get Y alone: the products that count as the X; with no categories either, the same as are made cheaper. 0 to ${bounds.productsMax}.`,
  }),
  buyCategoryIds: t.idList({
    description: `Of buy X get Y alone: the categories whose products count as the X. 0 to ${bounds.categoriesMax}.`,
  }),
  marketIds: t.idList({ description: `The markets it applies in; empty: all. 0 to ${bounds.marketsMax}.` }),
  requiresSignIn: t.boolean({ description: "Whether only buyers who are known have it; false unless told." }),
  buyerReferences: t.stringList({
    description: `The buyers it is for, in the storefront's words; empty: all. 0 to ${bounds.buyerReferencesMax}, each 1 to ${bounds.buyerReferenceLengthMax} characters.`,
  }),
  startsAt: t.field({
    type: "DateTime",
    description: "From when it applies; without it since ever. In a year from 2000 to 9999.",
  }),
  endsAt: t.field({
    type: "DateTime",
    description:
      "From when it applies no longer, after startsAt; without it for ever. In a year from 2000 to 9999.",
  }),
  usageLimit: t.int({
    description:
      "Orders that may have it, together; not below those that have it already. 1 or more; without it any number.",
  }),
  perBuyerLimit: t.int({
    description:
      "Orders of one buyer that may have it; it then needs buyers who are known. 1 or more; without it any number.",
  }),
  priority: t.int({
    description: `Which of several is taken first: the highest; 0 unless told. -${bounds.priorityMax} to ${bounds.priorityMax}.`,
  }),
  isExclusive: t.boolean({
    description:
      "Whether it stands alone; false unless told. Automatic: no other takes part beside it. By code: it does not stand beside automatic ones.",
  }),
});

const PromotionCreateInput = builder.inputType("PromotionCreateInput", {
  description: "A new promotion; it begins as a draft.",
  fields: (t) => ({
    trigger: t.field({
      type: PromotionTriggerEnum,
      required: true,
      description: "How it comes to a cart; fixed.",
    }),
    kind: t.field({ type: PromotionKindEnum, required: true, description: "What it takes off; fixed." }),
    titles: t.field({ type: [LocalizedTextInputType], required: true, description: titlesDescription }),
    ...promotionInputFields(t),
  }),
});

const PromotionUpdateInput = builder.inputType("PromotionUpdateInput", {
  description: "What shall change about a promotion. Carts that have it follow at their next change.",
  fields: (t) => ({
    promotionId: t.id({ required: true, description: "The promotion." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    titles: t.field({ type: [LocalizedTextInputType], description: titlesDescription }),
    ...promotionInputFields(t),
  }),
});

const PromotionTransitionInput = builder.inputType("PromotionTransitionInput", {
  description: "A promotion that shall be in another state.",
  fields: (t) => ({
    promotionId: t.id({ required: true, description: "The promotion." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

const PromotionCodesGenerateInput = builder.inputType("PromotionCodesGenerateInput", {
  description: "Codes for a promotion: drawn at random, or given.",
  fields: (t) => ({
    promotionId: t.id({ required: true, description: "The promotion, one that comes by code." }),
    count: t.int({ description: `How many to draw; else \`codes\`. 1 to ${bounds.codesMax}.` }),
    prefix: t.string({
      description: `What stands before each of those drawn. 1 to ${bounds.prefixMax} letters, digits, - or _.`,
    }),
    length: t.int({
      description: `Signs to draw for each, without the prefix; ${bounds.drawnLengthDefault} unless told. ${bounds.drawnLengthMin} to ${bounds.drawnLengthMax}.`,
    }),
    codes: t.stringList({
      description: `The codes themselves; else \`count\`. 1 to ${bounds.codesMax}, each 1 to 64 letters, digits, - or _, and new to the merchant: case makes no difference.`,
    }),
    usageLimit: t.int({
      description:
        "Orders that may have each of them. 1 or more; without it as many as the promotion lets through.",
    }),
  }),
});

const PromotionCodesGenerated = builder
  .objectRef<{ promotion: PromotionRow; codes: readonly PromotionCodeRow[] }>("PromotionCodesGenerated")
  .implement({
    description: "New codes of a promotion.",
    fields: (t) => ({
      promotion: t.expose("promotion", { type: PromotionRef, description: "The promotion." }),
      codes: t.field({
        type: [PromotionCodeRef],
        description: "The new codes, given ones in their order.",
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
  description: "Makes a promotion as a draft.",
  input: PromotionCreateInput,
  type: PromotionRef,
  run: createPromotion,
  answer: loadChangedPromotion,
});

changeMutation({
  ...merchantChange,
  name: "promotionUpdate",
  description: "Changes what is said of a promotion, unless it has ended.",
  input: PromotionUpdateInput,
  type: PromotionRef,
  run: updatePromotion,
  answer: loadChangedPromotion,
});

changeMutation({
  ...merchantChange,
  name: "promotionActivate",
  description: "Lets a draft or a paused promotion apply, from its start on; not one whose window is over.",
  input: PromotionTransitionInput,
  type: PromotionRef,
  run: activatePromotion,
  answer: loadChangedPromotion,
});

changeMutation({
  ...merchantChange,
  name: "promotionPause",
  description: "Takes an active promotion out of use until it is activated again.",
  input: PromotionTransitionInput,
  type: PromotionRef,
  run: pausePromotion,
  answer: loadChangedPromotion,
});

changeMutation({
  ...merchantChange,
  name: "promotionEnd",
  description: "Ends a promotion for good. Orders keep what they had of it.",
  input: PromotionTransitionInput,
  type: PromotionRef,
  run: endPromotion,
  answer: loadChangedPromotion,
});

changeMutation({
  ...merchantChange,
  name: "promotionCodesGenerate",
  description: "Makes codes for a promotion, or takes given ones: all of them, or none.",
  input: PromotionCodesGenerateInput,
  type: PromotionCodesGenerated,
  run: generatePromotionCodes,
  answer: async (context, { promotionId, codes }) => {
    context.loaders.promotionCodes.clearAll();
    context.loaders.promotionCodeCounts.clearAll();
    return { promotion: await loadChangedPromotion(context, { promotionId }), codes };
  },
});
