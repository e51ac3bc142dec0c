/**
 * The GraphQL types of the parts of an order that have no status: lines, totals, policies, cancellation and
 * timeline.
 */
import type { OrderCancellationRecord, CancellationRequest } from "#commerce/orders/order-aggregate.ts";
import type { OrderLineView, OrderTotals, OrderView } from "#commerce/orders/render-order.ts";
import { builder } from "#graph/builder.ts";
import { hideFromAnalysts } from "#graph/context.ts";
import { PolicyTypeEnum } from "#graph/catalog/product-detail.ts";
import { type VariantSaleOrReturnRestriction, RestrictionEnum } from "#graph/catalog/products.ts";
import { ImageRef, MoneyRef } from "#graph/refs.ts";
import { OrderActorEnum } from "./order-enums.ts";
import { CancellationReasonEnum } from "./order-inputs.ts";
import { getValueIfCallerIsMerchantStaff, OrderLineQuantity } from "./order-parts.ts";

export const OrderQuantities = builder
  .objectRef<OrderLineView["quantities"]>("OrderLineQuantities")
  .implement({
    description:
      "The numbers of units of an order line by their state. `canceled` + `shipped` is never more than " +
      "`ordered`, and `delivered` is never more than `shipped`.",
    fields: (t) => ({
      ordered: t.exposeInt("ordered", { description: "The number of units that were ordered." }),
      canceled: t.exposeInt("canceled", { description: "The number of units that were canceled." }),
      allocated: t.exposeInt("allocated", {
        description:
          "The number of units that were taken from the stock for the line; all other units of the line " +
          "wait for stock.",
      }),
      shipped: t.exposeInt("shipped", { description: "The number of units that were shipped." }),
      delivered: t.exposeInt("delivered", { description: "The number of units that were delivered." }),
      returnRequested: t.exposeInt("returnRequested", {
        description: "The number of delivered units for which a return is in progress.",
      }),
      returned: t.exposeInt("returned", {
        description: "The number of units that were returned and accepted.",
      }),
      refunded: t.exposeInt("refunded", {
        description: "The number of units that were refunded after they were shipped.",
      }),
    }),
  });

const OrderLineWarranty = builder
  .objectRef<NonNullable<OrderLineView["warranty"]>>("OrderLineWarranty")
  .implement({
    description: "The warranty that was registered for an order line.",
    fields: (t) => ({
      id: t.exposeID("id", { description: "The id of the registration, `wty_…`." }),
      endsAt: t.expose("endsAt", { type: "DateTime", description: "When the warranty ends." }),
    }),
  });

export const OrderLineType = builder.objectRef<OrderLineView>("OrderLine").implement({
  description: "An ordered variant with its quantity and prices, as of the time of purchase.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The id of the order line, `oln_…`." }),
    productId: t.exposeID("productId", {
      description: "The id of the product, `prd_…`. The product may have been deleted since.",
    }),
    variantId: t.exposeID("variantId", {
      description: "The id of the variant, `var_…`. The variant may have been deleted since.",
    }),
    productSlug: t.expose("productSlug", {
      type: "Slug",
      description: "The slug of the product at the time of purchase.",
    }),
    sku: t.exposeString("sku", { description: "The merchant's article number of the variant (SKU)." }),
    title: t.exposeString("title", { description: "The title of the product in the order's locale." }),
    variantTitle: t.exposeString("variantTitle", {
      nullable: true,
      description:
        "The variant's option choices, for example `Blue / M`; null if the product has no options.",
    }),
    image: t.expose("image", {
      type: ImageRef,
      nullable: true,
      description: "A picture of the variant or product; null if there is none.",
    }),
    unitPrice: t.expose("unitPrice", { type: MoneyRef, description: "The price of one unit." }),
    quantities: t.expose("quantities", {
      type: OrderQuantities,
      description: "The numbers of units of the line by their state, for example ordered or shipped.",
    }),
  }),
});

builder.objectFields(OrderLineType, (t) => ({
  subtotal: t.expose("subtotal", {
    type: MoneyRef,
    description: "The unit price times the ordered quantity.",
  }),
  discount: t.expose("discount", {
    type: MoneyRef,
    description: "The sum of all discounts of promotions on the line.",
  }),
  tax: t.expose("tax", { type: MoneyRef, description: "The tax of the line." }),
  total: t.expose("total", {
    type: MoneyRef,
    description: "The line's `subtotal` less `discount`, plus `tax` if the prices do not include tax.",
  }),
  refundable: t.expose("refundable", {
    type: MoneyRef,
    description: "The amount that can still be refunded for the line; 0 before anything was captured.",
  }),
  restrictions: t.field({
    type: [RestrictionEnum],
    description: "Restrictions on selling, shipping or returning the product.",
    complexity: { multiplier: 1 },
    resolve: ({ restrictions }) => restrictions as VariantSaleOrReturnRestriction[],
  }),
  warranty: t.expose("warranty", {
    type: OrderLineWarranty,
    nullable: true,
    description: "The warranty registered for the line; null if there is none.",
  }),
}));

export const OrderTotalsType = builder.objectRef<OrderTotals>("OrderTotals").implement({
  description: "The totals of an order at the time of purchase, and its refunded and outstanding amounts.",
  fields: (t) => ({
    subtotal: t.expose("subtotal", {
      type: MoneyRef,
      description: "The sum of the subtotals of all order lines.",
    }),
    discount: t.expose("discount", {
      type: MoneyRef,
      description: "The sum of all discounts of the order, including discounts on shipping.",
    }),
    shipping: t.expose("shipping", {
      type: MoneyRef,
      nullable: true,
      description: "The shipping price before discounts; null if nothing is shipped.",
    }),
    tax: t.expose("tax", {
      type: MoneyRef,
      nullable: true,
      description: "The tax of the order; null if no tax was computed for the order.",
    }),
    taxIncluded: t.exposeBoolean("taxIncluded", {
      description: "Whether the prices of the order include tax.",
    }),
    total: t.expose("total", {
      type: MoneyRef,
      description:
        "The order's `subtotal` less `discount`, plus `shipping`, plus `tax` if the prices do not include " +
        "tax.",
    }),
    estimated: t.exposeBoolean("estimated", {
      description:
        "Whether the total may still change. Always false, because the amounts of an order are final.",
    }),
    refunded: t.expose("refunded", {
      type: MoneyRef,
      description: "The sum of all amounts of the order that were refunded.",
    }),
    outstanding: t.expose("outstanding", {
      type: MoneyRef,
      description:
        "The amount that the buyer still owes for the order; negative if the merchant owes the buyer a " +
        "refund.",
    }),
  }),
});

export const OrderPromotionType = builder
  .objectRef<OrderView["promotions"][number]>("OrderPromotion")
  .implement({
    description: "A promotion that applied to an order when it was placed.",
    fields: (t) => ({
      code: t.exposeString("code", {
        nullable: true,
        description: "The promotion code; null if the promotion applied automatically.",
      }),
      title: t.exposeString("title", { description: "The title of the promotion in the order's locale." }),
      discount: t.expose("discount", { type: MoneyRef, description: "The discount by this promotion." }),
    }),
  });

export const OrderBuyer = builder.objectRef<OrderView["buyer"]>("OrderBuyer").implement({
  description: "The buyer of an order.",
  fields: (t) => ({
    reference: t.exposeString("reference", {
      description:
        "An opaque id of the buyer, `byr_…`, which is the same for all orders of the buyer at this " +
        "merchant. A guest has a different id for each order.",
    }),
    guest: t.exposeBoolean("guest", {
      description: "Whether the buyer was a guest, without a buyer reference.",
    }),
    emailHint: t.exposeString("emailHint", {
      nullable: true,
      description:
        "The buyer's masked e-mail address, for example `a•••@e•••.com`; null if the order has none.",
    }),
  }),
});

export const OrderPolicyType = builder.objectRef<OrderView["policies"][number]>("OrderPolicy").implement({
  description:
    "A policy of the merchant as of the time of purchase. Later changes of the policy do not apply to " +
    "the order.",
  fields: (t) => ({
    id: t.exposeID("id", {
      description: "The id of the copy of the policy, `pol_…`. The copy never changes.",
    }),
    type: t.expose("type", {
      type: PolicyTypeEnum,
      description: "What the policy regulates: cancellations, returns, withdrawals or the warranty.",
    }),
    summary: t.exposeString("summary", { description: "The summary of the policy in the order's locale." }),
    capturedAt: t.expose("capturedAt", {
      type: "DateTime",
      description: "When the copy of the policy was made.",
    }),
  }),
});

export const OrderCancellation = builder.objectRef<OrderCancellationRecord>("OrderCancellation").implement({
  description: "The cancellation of a whole order.",
  fields: (t) => ({
    reason: t.expose("reason", {
      type: CancellationReasonEnum,
      description: "The reason for the cancellation.",
    }),
    note: t.string({
      nullable: true,
      description:
        "The reason for the cancellation in words; null if none was given. Only the merchant's staff can " +
        "read the note; null for other callers.",
      resolve: ({ note }, _args, context) => getValueIfCallerIsMerchantStaff(note, context),
    }),
    actor: t.expose("actor", {
      type: OrderActorEnum,
      description: "The party that canceled the order: the buyer, the merchant's staff or the service.",
    }),
    at: t.expose("at", { type: "DateTime", description: "When the order was canceled." }),
  }),
});

export const OrderCancellationRequest = builder
  .objectRef<CancellationRequest>("OrderCancellationRequest")
  .implement({
    description: "A cancellation request that waits for the merchant's decision.",
    fields: (t) => ({
      lines: t.field({
        type: [OrderLineQuantity],
        description: "The order lines to cancel, with the number of units of each.",
        complexity: { multiplier: 5 },
        resolve: ({ lines }) => [...lines],
      }),
      reason: t.expose("reason", {
        type: CancellationReasonEnum,
        description: "The reason for the cancellation.",
      }),
      note: t.string({
        nullable: true,
        description:
          "The reason for the cancellation in words; null if none was given. Analysts always get null.",
        resolve: ({ note }, _args, context) => hideFromAnalysts(note, context),
      }),
      actor: t.expose("actor", { type: OrderActorEnum, description: "Who requested the cancellation." }),
      at: t.expose("at", { type: "DateTime", description: "When the cancellation was requested." }),
    }),
  });

export const OrderTimelineEntry = builder
  .objectRef<OrderView["timeline"][number]>("OrderTimelineEntry")
  .implement({
    description: "One event in the history of an order.",
    fields: (t) => ({
      at: t.expose("at", { type: "DateTime", description: "When the event occurred." }),
      type: t.exposeString("type", {
        description: "The type of the event, for example `fulfillment_shipped`.",
      }),
      actor: t.expose("actor", {
        type: OrderActorEnum,
        description: "The party that caused the event: the buyer, the merchant's staff or the service.",
      }),
    }),
  });

export const OrderLinks = builder.objectRef<OrderView["links"]>("OrderLinks").implement({
  description: "The URLs of further REST operations for the order.",
  fields: (t) => ({
    cancellationEligibility: t.expose("cancellationEligibility", {
      type: "URL",
      description: "The URL of the REST operation that returns whether the order can be canceled.",
    }),
    afterSalesEligibility: t.expose("afterSalesEligibility", {
      type: "URL",
      description: "The URL of the REST operation that returns the after-sales options of the order.",
    }),
  }),
});
