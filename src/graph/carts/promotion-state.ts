/** A cart's promotions and sums, as part of the cart and as the answer of what changes them. */
import { PromotionKindEnum } from "#graph/promotions/promotions.ts";
import { builder } from "#graph/builder.ts";
import { CartTotalsRef, MoneyRef, PromotionStateRef } from "#graph/refs.ts";
import type { PromotionStateView, CartPromotionView } from "#commerce/carts/render-promotion-state.ts";
import { DiscountTargetEnum, PromotionStateEnum, PromotionRefusalReasonEnum } from "./cart-types.ts";

CartTotalsRef.implement({
  description:
    "A cart's sums: total = subtotal − discount + shipping + tax, the last one only where prices do not include it.",
  fields: (t) => ({
    subtotal: t.expose("subtotal", { type: MoneyRef, description: "All lines before discount." }),
    discount: t.expose("discount", {
      type: MoneyRef,
      description: "What all promotions take off, off the shipping as well.",
    }),
    shipping: t.expose("shipping", {
      type: MoneyRef,
      nullable: true,
      description: "Before discount; null while no delivery option is chosen.",
    }),
    tax: t.expose("tax", {
      type: MoneyRef,
      nullable: true,
      description: "The tax; null without an address.",
    }),
    taxIncluded: t.exposeBoolean("taxIncluded", { description: "Whether the prices include the tax." }),
    total: t.expose("total", { type: MoneyRef, description: "What is to be paid." }),
    estimated: t.exposeBoolean("estimated", { description: "Whether shipping or tax is not known yet." }),
  }),
});

const PromotionValue = builder.objectRef<CartPromotionView["value"]>("PromotionValue").implement({
  description: "How much a promotion takes off, where that is one figure.",
  fields: (t) => ({
    basisPoints: t.exposeInt("basisPoints", {
      nullable: true,
      description: "In hundredths of a percent: 1500 is 15 %.",
    }),
    amount: t.expose("amount", { type: MoneyRef, nullable: true, description: "The amount." }),
  }),
});

const AppliedPromotion = builder.objectRef<CartPromotionView>("CartPromotion").implement({
  description: "The promotion of a cart's code.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The promotion's id, `prm_…`." }),
    code: t.exposeString("code", { description: "The code, as the merchant writes it." }),
    title: t.exposeString("title", { description: "What buyers read, in the cart's locale." }),
    kind: t.expose("kind", { type: PromotionKindEnum, description: "What it takes off." }),
    value: t.expose("value", { type: PromotionValue, description: "How much it takes off." }),
    startsAt: t.expose("startsAt", {
      type: "DateTime",
      nullable: true,
      description: "When it begins; null: it has begun.",
    }),
    endsAt: t.expose("endsAt", {
      type: "DateTime",
      nullable: true,
      description: "When it ends; null: not by itself.",
    }),
    combinesWithAutomatic: t.exposeBoolean("combinesWithAutomatic", {
      description: "Whether it stands beside promotions that apply by themselves.",
    }),
  }),
});

const AutomaticPromotion = builder
  .objectRef<PromotionStateView["automatic"][number]>("AutomaticPromotion")
  .implement({
    description: "A promotion that applies by itself.",
    fields: (t) => ({
      id: t.exposeID("id", { description: "The promotion's id, `prm_…`." }),
      title: t.exposeString("title", { description: "What buyers read, in the cart's locale." }),
      discount: t.expose("discount", { type: MoneyRef, description: "What it takes off." }),
    }),
  });

const Allocation = builder
  .objectRef<PromotionStateView["allocations"][number]>("PromotionAllocation")
  .implement({
    description: "The part of the code's discount that is taken from one place.",
    fields: (t) => ({
      target: t.expose("target", { type: DiscountTargetEnum, description: "What it is taken from." }),
      lineId: t.exposeID("lineId", { nullable: true, description: "The line, `cln_…`; null: the shipping." }),
      promotionId: t.exposeID("promotionId", { description: "The promotion, `prm_…`." }),
      amount: t.expose("amount", { type: MoneyRef, description: "How much." }),
    }),
  });

const Replaced = builder
  .objectRef<NonNullable<PromotionStateView["replaced"]>>("ReplacedPromotion")
  .implement({
    description: "The code that was there before.",
    fields: (t) => ({ code: t.exposeString("code", { description: "The code." }) }),
  });

PromotionStateRef.implement({
  description: "What promotions do to a cart: its one code, and those that apply by themselves.",
  fields: (t) => ({
    cartId: t.exposeID("cartId", { description: "The cart, `cart_…`." }),
    cartVersion: t.exposeInt("cartVersion", { description: "The cart's version." }),
    state: t.expose("state", { type: PromotionStateEnum, description: "What has become of the code." }),
    suspendedReason: t.expose("suspendedReason", {
      type: PromotionRefusalReasonEnum,
      nullable: true,
      description: "Why the code does not apply; null unless suspended.",
    }),
    promotion: t.expose("promotion", {
      type: AppliedPromotion,
      nullable: true,
      description: "The code's promotion; null without a code.",
    }),
    automatic: t.field({
      type: [AutomaticPromotion],
      description: "Those that apply by themselves, in the order in which they do.",
      complexity: { multiplier: 3 },
      resolve: ({ automatic }) => [...automatic],
    }),
    discount: t.expose("discount", { type: MoneyRef, description: "What the code takes off." }),
    allocations: t.field({
      type: [Allocation],
      description: "Where the code's discount is taken from; adds up to `discount`.",
      complexity: { multiplier: 5 },
      resolve: ({ allocations }) => [...allocations],
    }),
    replaced: t.expose("replaced", {
      type: Replaced,
      nullable: true,
      description: "The code whose place this change took; null in every other answer.",
    }),
    totals: t.expose("totals", { type: CartTotalsRef, description: "The cart's sums." }),
  }),
});
