/**
 * The GraphQL types of a cart's totals and promotions. The mutations that apply or remove a promotion code
 * return them too.
 */
import { PromotionKindEnum } from "#graph/promotions/promotions.ts";
import { builder } from "#graph/builder.ts";
import { CartTotalsRef, MoneyRef, PromotionStateRef } from "#graph/refs.ts";
import type {
  CartPromotionsAndDiscountsView,
  CartCodePromotionView,
} from "#commerce/carts/render-promotion-state.ts";
import { DiscountTargetEnum, PromotionStateEnum, PromotionRefusalReasonEnum } from "./cart-enums.ts";

CartTotalsRef.implement({
  description:
    "The totals of a cart: total = subtotal − discount + shipping + tax. The tax is added only if the " +
    "prices do not include tax.",
  fields: (t) => ({
    subtotal: t.expose("subtotal", {
      type: MoneyRef,
      description: "The sum of the prices of all cart lines, before discounts.",
    }),
    discount: t.expose("discount", {
      type: MoneyRef,
      description: "The sum of all discounts of the cart, including discounts on shipping.",
    }),
    shipping: t.expose("shipping", {
      type: MoneyRef,
      nullable: true,
      description:
        "The shipping price before discounts; null while no delivery option is selected, and 0 if no line " +
        "requires shipping.",
    }),
    tax: t.expose("tax", {
      type: MoneyRef,
      nullable: true,
      description: "The sum of all taxes of the cart; null if the cart has no address.",
    }),
    taxIncluded: t.exposeBoolean("taxIncluded", {
      description: "Whether the prices of the cart include the tax.",
    }),
    total: t.expose("total", {
      type: MoneyRef,
      description: "The total amount that the buyer has to pay for the cart.",
    }),
    estimated: t.exposeBoolean("estimated", {
      description: "Whether the total may still change, because shipping or tax is not known yet.",
    }),
  }),
});

const PromotionValue = builder.objectRef<CartCodePromotionView["value"]>("PromotionValue").implement({
  description:
    "The value of a promotion: a percentage or a fixed amount. Both fields are null if the promotion has " +
    "no such value, for example for free shipping.",
  fields: (t) => ({
    basisPoints: t.exposeInt("basisPoints", {
      nullable: true,
      description:
        "The percentage in hundredths of a percent: 1500 means 15 %; null if the promotion has no " +
        "percentage.",
    }),
    amount: t.expose("amount", {
      type: MoneyRef,
      nullable: true,
      description: "Fixed discount; null if the promotion has no fixed amount.",
    }),
  }),
});

const AppliedPromotion = builder.objectRef<CartCodePromotionView>("CartPromotion").implement({
  description: "The promotion to which the promotion code of a cart belongs.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Id of the promotion, `prm_…`." }),
    code: t.exposeString("code", { description: "The promotion code, as the merchant has spelled it." }),
    title: t.exposeString("title", {
      description: "Title of the promotion for buyers, in the cart's locale.",
    }),
    kind: t.expose("kind", {
      type: PromotionKindEnum,
      description: "The kind of discount that the promotion gives.",
    }),
    value: t.expose("value", {
      type: PromotionValue,
      description: "The percentage or amount of the discount.",
    }),
    startsAt: t.expose("startsAt", {
      type: "DateTime",
      nullable: true,
      description: "Time when the promotion starts; null if it has no start time.",
    }),
    endsAt: t.expose("endsAt", {
      type: "DateTime",
      nullable: true,
      description: "Time when the promotion ends; null if it has no end time.",
    }),
    combinesWithAutomatic: t.exposeBoolean("combinesWithAutomatic", {
      description: "Whether the promotion can be combined with automatic promotions.",
    }),
  }),
});

const AutomaticPromotion = builder
  .objectRef<CartPromotionsAndDiscountsView["automatic"][number]>("AutomaticPromotion")
  .implement({
    description: "A promotion that applies to a cart automatically, without a code.",
    fields: (t) => ({
      id: t.exposeID("id", { description: "Id of the promotion, `prm_…`." }),
      title: t.exposeString("title", {
        description: "Title of the promotion for buyers, in the cart's locale.",
      }),
      discount: t.expose("discount", {
        type: MoneyRef,
        description:
          "The amount that the promotion deducts from the cart: the sum over all lines and the shipping price.",
      }),
    }),
  });

const Allocation = builder
  .objectRef<CartPromotionsAndDiscountsView["allocations"][number]>("PromotionAllocation")
  .implement({
    description: "The part of a promotion code's discount that falls on one line or on the shipping price.",
    fields: (t) => ({
      target: t.expose("target", {
        type: DiscountTargetEnum,
        description: "Whether the discount reduces a line or the shipping price.",
      }),
      lineId: t.exposeID("lineId", {
        nullable: true,
        description: "Id of the line, `cln_…`; null if the discount reduces the shipping price.",
      }),
      promotionId: t.exposeID("promotionId", { description: "Id of the promotion, `prm_…`." }),
      amount: t.expose("amount", { type: MoneyRef, description: "The amount of this part of the discount." }),
    }),
  });

const Replaced = builder
  .objectRef<NonNullable<CartPromotionsAndDiscountsView["replaced"]>>("ReplacedPromotion")
  .implement({
    description: "The promotion code that a change has replaced.",
    fields: (t) => ({
      code: t.exposeString("code", { description: "The promotion code that was replaced." }),
    }),
  });

PromotionStateRef.implement({
  description: "The promotions of a cart: at most one promotion code, and the automatic promotions.",
  fields: (t) => ({
    cartId: t.exposeID("cartId", { description: "Id of the cart, `cart_…`." }),
    cartVersion: t.exposeInt("cartVersion", { description: "Version of the cart." }),
    state: t.expose("state", {
      type: PromotionStateEnum,
      description: "Whether the cart has a promotion code and whether the code applies.",
    }),
    suspendedReason: t.expose("suspendedReason", {
      type: PromotionRefusalReasonEnum,
      nullable: true,
      description: "Why the promotion code does not apply; null unless `state` is suspended.",
    }),
    promotion: t.expose("promotion", {
      type: AppliedPromotion,
      nullable: true,
      description: "The promotion to which the cart's promotion code belongs; null if the cart has no code.",
    }),
    automatic: t.field({
      type: [AutomaticPromotion],
      description: "The automatic promotions that apply to the cart, in the order of their application.",
      complexity: { multiplier: 3 },
      resolve: ({ automatic }) => [...automatic],
    }),
    discount: t.expose("discount", {
      type: MoneyRef,
      description:
        "The discount of the cart's promotion code; 0 if the cart has no code or the code is suspended.",
    }),
    allocations: t.field({
      type: [Allocation],
      description:
        "How the discount of the promotion code is divided among lines and shipping; the amounts " +
        "add up to `discount`.",
      complexity: { multiplier: 5 },
      resolve: ({ allocations }) => [...allocations],
    }),
    replaced: t.expose("replaced", {
      type: Replaced,
      nullable: true,
      description:
        "The promotion code that was replaced by the change which this response answers; null in all other " +
        "responses.",
    }),
    totals: t.expose("totals", { type: CartTotalsRef, description: "Totals of the cart." }),
  }),
});
