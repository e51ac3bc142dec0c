/** The GraphQL input fields of promotions: discount, conditions, time window and limits. */
import type { InputFieldBuilder } from "@pothos/core";
import { promotionFieldBounds as bounds } from "#commerce/promotions/promotion-fields.ts";
import type { builder } from "#graph/builder.ts";

type PromotionInputFieldBuilder = InputFieldBuilder<(typeof builder)["$inferSchemaTypes"], "InputObject">;

/**
 * The description of the field `titles` in the inputs of the two mutations that create and update a
 * promotion.
 */
export const titlesDescription =
  "The promotion's titles shown to buyers, one per locale, at least one. Each title " +
  `has 1 to ${bounds.titleMax} characters.`;

// eslint-disable-next-line typescript/explicit-module-boundary-types -- Pothos infers the refs.
const discountInputFields = (t: PromotionInputFieldBuilder) => ({
  basisPoints: t.int({
    description:
      "The discount in basis points (hundredths of a percent): 2000 is 20 %. Required for " +
      "the kinds percentage and buy_x_get_y, not allowed for other kinds. The value is 1 to " +
      `${bounds.basisPointsMax}.`,
  }),
  amountMinor: t.field({
    type: "MinorUnits",
    description:
      "The discount on all discounted lines together, in minor units. Required for " +
      "the kind fixed_amount, not allowed for other kinds. The minimum is 1.",
  }),
  currency: t.field({
    type: "CurrencyCode",
    description:
      "The currency of `amountMinor` and `minimumSubtotalMinor`; required if one of these amounts " +
      "is set. Must be a currency of one of the promotion's markets. The service removes the " +
      "currency if the promotion has neither amount any more.",
  }),
  buyQuantity: t.int({
    description:
      "Units to buy (the X) for one discount. Required for the kind buy_x_get_y, not " +
      `allowed for other kinds. The value is 1 to ${bounds.quantityMax}.`,
  }),
  getQuantity: t.int({
    description:
      "Units that are discounted (the Y) or given as a gift. Required for the kinds " +
      `buy_x_get_y and gift, not allowed for other kinds. The value is 1 to ${bounds.quantityMax}.`,
  }),
});

// eslint-disable-next-line typescript/explicit-module-boundary-types -- Pothos infers the refs.
const conditionInputFields = (t: PromotionInputFieldBuilder) => ({
  minimumSubtotalMinor: t.field({
    type: "MinorUnits",
    description:
      "The minimum subtotal, in minor units, of the lines that the promotion can discount. The minimum is 1.",
  }),
  minimumQuantity: t.int({
    description:
      "The minimum number of units in the cart that the promotion can discount. " +
      `1 to ${bounds.minimumQuantityMax}.`,
  }),
  entitledProductIds: t.idList({
    description:
      "Ids of the products that the promotion can discount. If no products and no categories are given, " +
      `the promotion can discount all products. The list has 0 to ${bounds.productsMax} ids.`,
  }),
  entitledCategoryIds: t.idList({
    description:
      "Ids of the categories whose products the promotion can discount. " +
      `0 to ${bounds.categoriesMax} ids.`,
  }),
  buyProductIds: t.idList({
    description:
      "Only for the kind buy_x_get_y: ids of the products that count as bought (the X). " +
      "If no products and no categories are given, all products that the promotion can discount " +
      `count as bought. The list has 0 to ${bounds.productsMax} ids.`,
  }),
  buyCategoryIds: t.idList({
    description:
      "Only for the kind buy_x_get_y: ids of the categories whose products count as " +
      `bought (the X), 0 to ${bounds.categoriesMax} ids.`,
  }),
  marketIds: t.idList({
    description:
      "Ids of the markets in which the promotion applies; empty for all markets. The list has 0 to " +
      `${bounds.marketsMax} ids.`,
  }),
  requiresSignIn: t.boolean({
    description: "Whether the promotion only applies to signed-in buyers. False by default.",
  }),
  buyerReferences: t.stringList({
    description:
      "The storefront's references of the buyers that the promotion is limited to; empty " +
      `for all buyers. 0 to ${bounds.buyerReferencesMax} references of 1 to ` +
      `${bounds.buyerReferenceLengthMax} characters.`,
  }),
});

// eslint-disable-next-line typescript/explicit-module-boundary-types -- Pothos infers the refs.
const limitInputFields = (t: PromotionInputFieldBuilder) => ({
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

/**
 * The input fields that the mutations for creating and updating a promotion have in common; the field for
 * titles is defined separately.
 */
// eslint-disable-next-line typescript/explicit-module-boundary-types -- Pothos infers the refs.
export const createPromotionInputFields = (t: PromotionInputFieldBuilder) => ({
  ...discountInputFields(t),
  ...conditionInputFields(t),
  ...limitInputFields(t),
});
