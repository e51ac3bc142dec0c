/**
 * The GraphQL mutations of promotions. In an update, a field that is left out stays unchanged, and null
 * removes the field's value.
 */
import { promotionFieldBounds as bounds } from "#commerce/promotions/promotion-fields.ts";
import { activatePromotion, endPromotion, pausePromotion } from "#commerce/promotions/promotion-status.ts";
import {
  type PromotionCodeRow,
  buildPromotionSqlQuery,
  type PromotionRow,
} from "#commerce/promotions/read-promotions.ts";
import { generatePromotionCodes } from "#commerce/promotions/generate-codes.ts";
import { createPromotion, updatePromotion } from "#commerce/promotions/change-promotion.ts";
import { createFailure } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import { merchantMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";
import { expectedVersionDescription, LocalizedTextInputType } from "#graph/catalog/inputs.ts";
import type { GraphqlContext } from "#graph/context.ts";
import { PromotionCodeRef, PromotionRef } from "#graph/refs.ts";
import { createPromotionInputFields, titlesDescription } from "./promotion-inputs.ts";
import { PromotionKindEnum, PromotionTriggerEnum } from "./promotions.ts";

const PromotionCreateInput = builder.inputType("PromotionCreateInput", {
  description: "The input to create a promotion. A new promotion is a draft.",
  fields: (t) => ({
    trigger: t.field({
      type: PromotionTriggerEnum,
      required: true,
      description:
        "How the promotion is applied: by a code or automatically. The trigger cannot be changed later.",
    }),
    kind: t.field({
      type: PromotionKindEnum,
      required: true,
      description: "The kind of discount that the promotion gives. The kind cannot be changed later.",
    }),
    titles: t.field({ type: [LocalizedTextInputType], required: true, description: titlesDescription }),
    ...createPromotionInputFields(t),
  }),
});

const PromotionUpdateInput = builder.inputType("PromotionUpdateInput", {
  description: "The input to change a promotion. Carts with the promotion are updated at their next change.",
  fields: (t) => ({
    promotionId: t.id({ required: true, description: "The id of the promotion, `prm_…`." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    titles: t.field({ type: [LocalizedTextInputType], description: titlesDescription }),
    ...createPromotionInputFields(t),
  }),
});

const PromotionTransitionInput = builder.inputType("PromotionTransitionInput", {
  description: "The promotion whose status is to change, with its expected version.",
  fields: (t) => ({
    promotionId: t.id({ required: true, description: "The id of the promotion, `prm_…`." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

const PromotionCodesGenerateInput = builder.inputType("PromotionCodesGenerateInput", {
  description:
    "The codes to add to a promotion: either a number of random codes (`count`) or a list of given codes " +
    "(`codes`).",
  fields: (t) => ({
    promotionId: t.id({
      required: true,
      description: "The id of the promotion, `prm_…`; its trigger must be code.",
    }),
    count: t.int({
      description:
        `The number of random codes to generate, 1 to ${bounds.codesMax}. Required unless \`codes\` is ` +
        "given.",
    }),
    prefix: t.string({
      description:
        `The beginning of each random code: 1 to ${bounds.prefixMax} letters, digits, - or _, starting ` +
        "with a letter or digit.",
    }),
    length: t.int({
      description:
        `The number of random characters of each code, without the prefix, ${bounds.drawnLengthMin} to ` +
        `${bounds.drawnLengthMax}. The default is ${bounds.drawnLengthDefault}.`,
    }),
    codes: t.stringList({
      description:
        `The codes to add, in place of random codes: 1 to ${bounds.codesMax} codes of 1 to 64 letters, ` +
        "digits, - or _. No code may exist at the merchant yet; upper and lower case are the same.",
    }),
    usageLimit: t.int({
      description:
        "The maximum number of orders that can use each code, 1 or more. If left out, only the promotion's " +
        "own limit applies.",
    }),
  }),
});

const PromotionCodesGenerated = builder
  .objectRef<{ promotion: PromotionRow; codes: readonly PromotionCodeRow[] }>("PromotionCodesGenerated")
  .implement({
    description: "The result of adding codes to a promotion.",
    fields: (t) => ({
      promotion: t.expose("promotion", {
        type: PromotionRef,
        description: "The promotion that the codes were added to.",
      }),
      codes: t.field({
        type: [PromotionCodeRef],
        description: "The new codes. Given codes are in the order of the input.",
        complexity: { multiplier: bounds.codesMax },
        resolve: ({ codes }) => codes,
      }),
    }),
  });

async function loadChangedPromotion(
  { db }: GraphqlContext,
  { promotionId }: { readonly promotionId: string },
): Promise<PromotionRow> {
  const promotion = await buildPromotionSqlQuery(db, {
    merchantId: null,
    id: promotionId,
  }).executeTakeFirst();
  if (promotion === undefined) throw createFailure("resource_not_found");
  return promotion;
}

defineMutation({
  ...merchantMutationKind,
  name: "promotionCreate",
  description: "Creates a promotion as a draft.",
  failures: ["invalid_locale", "resource_not_found"],
  input: PromotionCreateInput,
  type: PromotionRef,
  run: createPromotion,
  answer: loadChangedPromotion,
});

defineMutation({
  ...merchantMutationKind,
  name: "promotionUpdate",
  description: "Changes the fields of a promotion that has not ended.",
  failures: ["invalid_locale", "resource_not_found", "version_conflict", "invalid_state"],
  input: PromotionUpdateInput,
  type: PromotionRef,
  run: updatePromotion,
  answer: loadChangedPromotion,
});

defineMutation({
  ...merchantMutationKind,
  name: "promotionActivate",
  description:
    "Activates a draft or paused promotion, which then applies from its start time to its end time. " +
    "Refused if the end time is over.",
  failures: ["resource_not_found", "version_conflict", "invalid_state"],
  input: PromotionTransitionInput,
  type: PromotionRef,
  run: activatePromotion,
  answer: loadChangedPromotion,
});

defineMutation({
  ...merchantMutationKind,
  name: "promotionPause",
  description: "Pauses an active promotion, which then applies to no cart until it is activated again.",
  failures: ["resource_not_found", "version_conflict", "invalid_state"],
  input: PromotionTransitionInput,
  type: PromotionRef,
  run: pausePromotion,
  answer: loadChangedPromotion,
});

defineMutation({
  ...merchantMutationKind,
  name: "promotionEnd",
  description: "Ends a promotion permanently. Orders that were placed before keep their discounts.",
  failures: ["resource_not_found", "version_conflict"],
  input: PromotionTransitionInput,
  type: PromotionRef,
  run: endPromotion,
  answer: loadChangedPromotion,
});

defineMutation({
  ...merchantMutationKind,
  name: "promotionCodesGenerate",
  description: "Adds random or given codes to a promotion. Either all codes are added, or none.",
  failures: ["resource_not_found", "version_conflict", "already_exists", "invalid_state"],
  input: PromotionCodesGenerateInput,
  type: PromotionCodesGenerated,
  run: generatePromotionCodes,
  answer: async (context, { promotionId, codes }) => {
    context.loaders.promotionCodes.clearAll();
    context.loaders.promotionCodeCounts.clearAll();
    return { promotion: await loadChangedPromotion(context, { promotionId }), codes };
  },
});
