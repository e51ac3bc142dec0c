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
  `The titles of the promotion that buyers see, one title of 1 to ${bounds.titleMax} characters for each ` +
  "locale; at least one.";

// eslint-disable-next-line typescript/explicit-module-boundary-types -- Pothos infers the refs.
const discountInputFields = (t: PromotionInputFieldBuilder) => ({
  basisPoints: t.int({
    description:
      `The discount in basis points (hundredths of a percent), 1 to ${bounds.basisPointsMax}: 2000 is 20 ` +
      "%. Required for the kinds percentage and buy_x_get_y, not allowed for other kinds.",
  }),
  amountMinor: t.field({
    type: "MinorUnits",
    description:
      "The total discount on all lines that the promotion can discount, in minor units; 1 or more. " +
      "Required for the kind fixed_amount, not allowed for other kinds.",
  }),
  currency: t.field({
    type: "CurrencyCode",
    description:
      "The currency of `amountMinor` and `minimumSubtotalMinor`, which must be a currency of one of the " +
      "promotion's markets. Required if one of the two amounts is set. The service removes the currency if " +
      "the promotion has neither amount any more.",
  }),
  buyQuantity: t.int({
    description:
      `The number of units to buy (the X) for one discount, 1 to ${bounds.quantityMax}. Required for the ` +
      "kind buy_x_get_y, not allowed for other kinds.",
  }),
  getQuantity: t.int({
    description:
      `The number of units that are discounted (the Y) or given as a gift, 1 to ${bounds.quantityMax}. ` +
      "Required for the kinds buy_x_get_y and gift, not allowed for other kinds.",
  }),
});

// eslint-disable-next-line typescript/explicit-module-boundary-types -- Pothos infers the refs.
const conditionInputFields = (t: PromotionInputFieldBuilder) => ({
  minimumSubtotalMinor: t.field({
    type: "MinorUnits",
    description:
      "The minimum subtotal of the cart lines that the promotion can discount, in minor units; 1 or more.",
  }),
  minimumQuantity: t.int({
    description:
      "The minimum number of units in the cart, of those that the promotion can discount; 1 to " +
      `${bounds.minimumQuantityMax}.`,
  }),
  entitledProductIds: t.idList({
    description:
      `Ids of the products that the promotion can discount, 0 to ${bounds.productsMax}. If no products and ` +
      "no categories are given, the promotion can discount all products.",
  }),
  entitledCategoryIds: t.idList({
    description: `Ids of the categories (0 to ${bounds.categoriesMax}) whose products the promotion can discount.`,
  }),
  buyProductIds: t.idList({
    description:
      "Only for the kind buy_x_get_y: ids of the products of which the buyer must buy X units, 0 to " +
      `${bounds.productsMax}. If no products and no categories are given, all products that the promotion ` +
      "can discount count as bought.",
  }),
  buyCategoryIds: t.idList({
    description:
      "Only for the kind buy_x_get_y: ids of the categories of whose products the buyer must buy X units, " +
      `0 to ${bounds.categoriesMax}.`,
  }),
  marketIds: t.idList({
    description:
      `Ids of the markets in which the promotion applies, 0 to ${bounds.marketsMax}; empty for all ` +
      "markets.",
  }),
  requiresSignIn: t.boolean({
    description: "Whether the promotion applies only to signed-in buyers; false by default.",
  }),
  buyerReferences: t.stringList({
    description:
      "The storefront's references of the buyers that the promotion is limited to: 0 to " +
      `${bounds.buyerReferencesMax} references of 1 to ${bounds.buyerReferenceLengthMax} characters; empty ` +
      "for all buyers.",
  }),
});

// eslint-disable-next-line typescript/explicit-module-boundary-types -- Pothos infers the refs.
const limitInputFields = (t: PromotionInputFieldBuilder) => ({
  startsAt: t.field({
    type: "DateTime",
    description:
      "The time from which the promotion applies, in the years 2000 to 9999. If left out, the promotion " +
      "applies from its activation.",
  }),
  endsAt: t.field({
    type: "DateTime",
    description:
      "The time at which the promotion stops applying, in the years 2000 to 9999; must be after " +
      "`startsAt`. If left out, the promotion has no end.",
  }),
  usageLimit: t.int({
    description:
      "The maximum number of orders that can use the promotion, 1 or more; must not be below the number of " +
      "uses so far. If left out, there is no limit.",
  }),
  perBuyerLimit: t.int({
    description:
      "The maximum number of orders of one buyer that can use the promotion, 1 or more. With this limit, " +
      "the promotion applies only to signed-in buyers. If left out, there is no limit.",
  }),
  priority: t.int({
    description:
      `The promotion's priority, -${bounds.priorityMax} to ${bounds.priorityMax}: promotions with a higher ` +
      "value are applied first. The default is 0.",
  }),
  isExclusive: t.boolean({
    description:
      "Whether the promotion is exclusive; false by default. An exclusive automatic promotion applies " +
      "alone; an exclusive code promotion does not combine with automatic promotions.",
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
