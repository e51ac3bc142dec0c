/** What an order is made of: its lines, sums, policies and story. */
import type { Cancellation, CancellationRequest } from "#commerce/orders/order-aggregate.ts";
import type { OrderLineView, OrderTotals, OrderView } from "#commerce/orders/render-order.ts";
import { builder } from "#graph/builder.ts";
import { hideFromAnalysts } from "#graph/context.ts";
import { PolicyTypeEnum } from "#graph/catalog/product-detail.ts";
import { type Restriction, RestrictionEnum } from "#graph/catalog/products.ts";
import { ImageRef, MoneyRef } from "#graph/refs.ts";
import { OrderActorEnum } from "./order-enums.ts";
import { forStaff, OrderLineQuantity } from "./order-parts.ts";

export const OrderQuantities = builder
  .objectRef<OrderLineView["quantities"]>("OrderLineQuantities")
  .implement({
    description:
      "What has become of the units of a line. Canceled and shipped are never more than ordered, what arrived never more than what was shipped.",
    fields: (t) => ({
      ordered: t.exposeInt("ordered", { description: "How many were ordered." }),
      canceled: t.exposeInt("canceled", { description: "How many of them were canceled." }),
      allocated: t.exposeInt("allocated", {
        description: "How many were taken from the stock for it; the others wait.",
      }),
      shipped: t.exposeInt("shipped", { description: "How many were sent." }),
      delivered: t.exposeInt("delivered", { description: "How many have arrived." }),
      returnRequested: t.exposeInt("returnRequested", {
        description: "How many of those are being returned.",
      }),
      returned: t.exposeInt("returned", { description: "How many came back." }),
      refunded: t.exposeInt("refunded", {
        description: "For how many the buyer got the money back after they were sent.",
      }),
    }),
  });

const OrderLineWarranty = builder
  .objectRef<NonNullable<OrderLineView["warranty"]>>("OrderLineWarranty")
  .implement({
    description: "The warranty registered for a line.",
    fields: (t) => ({
      id: t.exposeID("id", { description: "The registration, `wty_…`." }),
      endsAt: t.expose("endsAt", { type: "DateTime", description: "When it ends." }),
    }),
  });

export const OrderLineType = builder.objectRef<OrderLineView>("OrderLine").implement({
  description: "So many of one variant, as it was when it was sold.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The line's id, `oln_…`." }),
    productId: t.exposeID("productId", {
      nullable: true,
      description: "The product, `prd_…`; it may be gone by now.",
    }),
    variantId: t.exposeID("variantId", {
      nullable: true,
      description: "The variant, `var_…`; it may be gone by now.",
    }),
    productSlug: t.expose("productSlug", {
      type: "Slug",
      nullable: true,
      description: "The product's name in addresses at the time.",
    }),
    sku: t.exposeString("sku", { description: "The merchant's own number for the variant." }),
    title: t.exposeString("title", { description: "The product's title in the order's locale." }),
    variantTitle: t.exposeString("variantTitle", {
      nullable: true,
      description: "The variant's choices, for example `Blue / M`; null when there are none.",
    }),
    image: t.expose("image", { type: ImageRef, nullable: true, description: "A picture of it." }),
    unitPrice: t.expose("unitPrice", { type: MoneyRef, description: "The price of one." }),
    quantities: t.expose("quantities", {
      type: OrderQuantities,
      description: "What has become of its units.",
    }),
    subtotal: t.expose("subtotal", { type: MoneyRef, description: "Price × ordered." }),
    discount: t.expose("discount", { type: MoneyRef, description: "What promotions took off." }),
    tax: t.expose("tax", { type: MoneyRef, description: "The tax." }),
    total: t.expose("total", {
      type: MoneyRef,
      description: "Subtotal − discount, and tax where prices do not include it.",
    }),
    refundable: t.expose("refundable", {
      type: MoneyRef,
      description: "What could still be given back for it; 0 while nothing was taken.",
    }),
    restrictions: t.field({
      type: [RestrictionEnum],
      description: "What limits how it may be sold, shipped or returned.",
      complexity: { multiplier: 1 },
      resolve: ({ restrictions }) => restrictions as Restriction[],
    }),
    warranty: t.expose("warranty", {
      type: OrderLineWarranty,
      nullable: true,
      description: "Its warranty, where one was registered.",
    }),
  }),
});

export const OrderTotalsType = builder.objectRef<OrderTotals>("OrderTotals").implement({
  description: "An order's sums, as it was placed, and what has become of them.",
  fields: (t) => ({
    subtotal: t.expose("subtotal", { type: MoneyRef, description: "The lines' subtotals." }),
    discount: t.expose("discount", {
      type: MoneyRef,
      description: "All discounts, those off shipping included.",
    }),
    shipping: t.expose("shipping", {
      type: MoneyRef,
      nullable: true,
      description: "Shipping before discount; null where nothing is sent.",
    }),
    tax: t.expose("tax", {
      type: MoneyRef,
      nullable: true,
      description: "The tax; null where there is none.",
    }),
    taxIncluded: t.exposeBoolean("taxIncluded", { description: "Whether prices include the tax." }),
    total: t.expose("total", {
      type: MoneyRef,
      description: "Subtotal − discount + shipping, and tax where prices do not include it.",
    }),
    estimated: t.exposeBoolean("estimated", { description: "Always false: an order's sums are known." }),
    refunded: t.expose("refunded", { type: MoneyRef, description: "What was given back." }),
    outstanding: t.expose("outstanding", {
      type: MoneyRef,
      description: "What is still to be paid; below zero: what is still to be given back.",
    }),
  }),
});

export const OrderPromotionType = builder
  .objectRef<OrderView["promotions"][number]>("OrderPromotion")
  .implement({
    description: "A promotion that an order was placed with.",
    fields: (t) => ({
      code: t.exposeString("code", { nullable: true, description: "The code; null: it applied by itself." }),
      title: t.exposeString("title", { description: "Its title in the order's locale." }),
      discount: t.expose("discount", { type: MoneyRef, description: "What it took off." }),
    }),
  });

export const OrderBuyer = builder.objectRef<OrderView["buyer"]>("OrderBuyer").implement({
  description: "Who ordered.",
  fields: (t) => ({
    reference: t.exposeString("reference", {
      description:
        "The same for all orders of a buyer at this merchant, `byr_…`; a guest has another with each order.",
    }),
    guest: t.exposeBoolean("guest", { description: "Whether nobody is known." }),
    emailHint: t.exposeString("emailHint", {
      nullable: true,
      description: "The e-mail, masked: `a•••@e•••.com`.",
    }),
  }),
});

export const OrderPolicyType = builder.objectRef<OrderView["policies"][number]>("OrderPolicy").implement({
  description:
    "A policy as it was when the order was placed: what the merchant changes later takes nothing from its buyer.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The snapshot's id, `pol_…`." }),
    type: t.expose("type", { type: PolicyTypeEnum, description: "What it is about." }),
    summary: t.exposeString("summary", { description: "What it says, in the order's locale." }),
    capturedAt: t.expose("capturedAt", { type: "DateTime", description: "When it was taken down." }),
  }),
});

export const OrderCancellation = builder.objectRef<Cancellation>("OrderCancellation").implement({
  description: "Why the whole of an order was canceled.",
  fields: (t) => ({
    reason: t.exposeString("reason", { description: "The reason, as a code." }),
    note: t.string({
      nullable: true,
      description: "The reason in words. Only who runs the merchant is told.",
      resolve: ({ note }, _args, context) => forStaff(note, context),
    }),
    actor: t.expose("actor", { type: OrderActorEnum, description: "Who canceled it." }),
    at: t.expose("at", { type: "DateTime", description: "When." }),
  }),
});

export const OrderCancellationRequest = builder
  .objectRef<CancellationRequest>("OrderCancellationRequest")
  .implement({
    description: "A cancellation that waits for the merchant's decision.",
    fields: (t) => ({
      lines: t.field({
        type: [OrderLineQuantity],
        description: "What shall be canceled.",
        complexity: { multiplier: 5 },
        resolve: ({ lines }) => [...lines],
      }),
      reason: t.exposeString("reason", { description: "The reason, as a code." }),
      note: t.string({
        nullable: true,
        description: "The reason in words. Analysts are not told.",
        resolve: ({ note }, _args, context) => hideFromAnalysts(note, context),
      }),
      actor: t.expose("actor", { type: OrderActorEnum, description: "Who asks for it." }),
      at: t.expose("at", { type: "DateTime", description: "When it was asked for." }),
    }),
  });

export const OrderTimelineEntry = builder
  .objectRef<OrderView["timeline"][number]>("OrderTimelineEntry")
  .implement({
    description: "Something that happened to an order.",
    fields: (t) => ({
      at: t.expose("at", { type: "DateTime", description: "When." }),
      type: t.exposeString("type", {
        description: "What: the type of the event that told of it, for example `fulfillment_shipped`.",
      }),
      actor: t.expose("actor", { type: OrderActorEnum, description: "Who did it." }),
    }),
  });

export const OrderLinks = builder.objectRef<OrderView["links"]>("OrderLinks").implement({
  description: "What REST can be asked next.",
  fields: (t) => ({
    cancellationEligibility: t.expose("cancellationEligibility", {
      type: "URL",
      description: "Whether it can be canceled.",
    }),
    afterSalesEligibility: t.expose("afterSalesEligibility", {
      type: "URL",
      description: "What can be returned, exchanged or repaired of it.",
    }),
  }),
});
