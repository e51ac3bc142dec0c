/** Orders as REST integrators, storefronts and back offices see them. */
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { toOrder } from "#commerce/orders/render-order.ts";
import { type OrderPartViews, toParts } from "#commerce/orders/render-parts.ts";
import { fail } from "#foundation/failure.ts";
import { money } from "#foundation/money.ts";
import { builder } from "#graph/builder.ts";
import type { GraphContext } from "#graph/context.ts";
import {
  DeliveryOptionRef,
  FulfillmentRef,
  MaskedAddressRef,
  MerchantSummaryRef,
  OrderRef,
  type OrderShown,
  PaymentRef,
  RefundRef,
  ReturnRef,
  WarrantyRef,
} from "#graph/refs.ts";
import { unlessAnalyst } from "#graph/untold.ts";
import { OrderFulfillmentStatusEnum, OrderPaymentStatusEnum, OrderReturnStatusEnum, OrderStatusEnum } from "./order-enums.ts";
import { forStaff } from "./order-parts.ts";
import {
  OrderBuyer,
  OrderCancellation,
  OrderCancellationRequest,
  OrderLineType,
  OrderLinks,
  OrderPolicyType,
  OrderPromotionType,
  OrderTimelineEntry,
  OrderTotalsType,
} from "./order-pieces.ts";

OrderRef.implement({
  description: "What somebody has bought from one merchant. Everything it sold is as it was when it was placed.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The order's id, `ord_…`." }),
    number: t.exposeString("number", { description: "What people call it by; at most 20 characters, and counts nothing." }),
    version: t.exposeInt("version", { description: "Rises by one with every change of it or of what belongs to it." }),
    status: t.expose("status", { type: OrderStatusEnum, description: "Where it is in its life." }),
    paymentStatus: t.expose("paymentStatus", { type: OrderPaymentStatusEnum, description: "What has become of its money." }),
    fulfillmentStatus: t.expose("fulfillmentStatus", { type: OrderFulfillmentStatusEnum, description: "How far it has come to its buyer." }),
    returnStatus: t.expose("returnStatus", { type: OrderReturnStatusEnum, description: "What comes back of it." }),
    merchant: t.expose("merchant", { type: MerchantSummaryRef, description: "Who sold." }),
    market: t.expose("market", { type: "CountryCode", description: "The country its prices were taken for." }),
    currency: t.expose("currency", { type: "CurrencyCode", description: "The currency of all its amounts." }),
    locale: t.expose("locale", { type: "LocaleCode", description: "The language of its texts." }),
  }),
});

builder.objectFields(OrderRef, (t) => ({
  lines: t.field({
    type: [OrderLineType],
    description: "What was bought, 200 lines at most.",
    complexity: { multiplier: 10 },
    resolve: ({ lines }) => [...lines],
  }),
  totals: t.expose("totals", { type: OrderTotalsType, description: "Its sums." }),
  promotions: t.field({
    type: [OrderPromotionType],
    description: "The promotions it was placed with.",
    complexity: { multiplier: 2 },
    resolve: ({ promotions }) => [...promotions],
  }),
  fulfillments: t.field({
    type: [FulfillmentRef],
    description: "How it goes to its buyer, the oldest first.",
    complexity: { multiplier: 5 },
    resolve: ({ fulfillments }) => [...fulfillments],
  }),
  payments: t.field({
    type: [PaymentRef],
    description: "How it was paid.",
    complexity: { multiplier: 2 },
    resolve: ({ payments }) => [...payments],
  }),
  refunds: t.field({
    type: [RefundRef],
    description: "What goes back to its buyer, the oldest first.",
    complexity: { multiplier: 3 },
    resolve: ({ refunds }) => [...refunds],
  }),
  returns: t.field({
    type: [ReturnRef],
    description: "What comes back of it, the oldest first.",
    complexity: { multiplier: 3 },
    resolve: ({ returns }) => [...returns],
  }),
  warranties: t.field({
    type: [WarrantyRef],
    description: "The warranties registered for its lines.",
    complexity: { multiplier: 3 },
    resolve: ({ stored }) => [...toParts(stored, "warranties")],
  }),
}));

builder.objectFields(OrderRef, (t) => ({
  buyer: t.expose("buyer", { type: OrderBuyer, description: "Who ordered." }),
  buyerReference: t.string({
    nullable: true,
    description: "The frontend's own name for the buyer; null: nobody known. Analysts are not told.",
    resolve: ({ stored }, _args, context) => unlessAnalyst(stored.buyerReference, context),
  }),
  deliveryAddress: t.expose("deliveryAddress", { type: MaskedAddressRef, nullable: true, description: "Where it goes, masked." }),
  delivery: t.field({
    type: DeliveryOptionRef,
    nullable: true,
    description: "How it goes there; null where nothing is sent.",
    resolve: ({ stored: { delivery, currency } }) => (delivery === null ? null : { ...delivery, price: money(delivery.priceMinor, currency) }),
  }),
  policies: t.field({
    type: [OrderPolicyType],
    description: "The policies it was placed under.",
    complexity: { multiplier: 4 },
    resolve: ({ policies }) => [...policies],
  }),
}));

builder.objectFields(OrderRef, (t) => ({
  cartId: t.exposeID("cartId", { nullable: true, description: "The cart it was, `cart_…`." }),
  checkoutSessionId: t.exposeID("checkoutSessionId", { nullable: true, description: "The checkout session it was placed in, `chs_…`." }),
  cancellation: t.field({
    type: OrderCancellation,
    nullable: true,
    description: "Why the whole of it was canceled.",
    resolve: ({ stored }) => stored.cancellation,
  }),
  cancellationRequest: t.field({
    type: OrderCancellationRequest,
    nullable: true,
    description: "The cancellation that waits for the merchant's decision.",
    resolve: ({ stored }) => stored.cancellationRequest,
  }),
  holdReason: t.string({
    nullable: true,
    description: "Why it is on hold. Only who runs the merchant is told.",
    resolve: ({ stored }, _args, context) => forStaff(stored.holdReason, context),
  }),
  timeline: t.field({
    type: [OrderTimelineEntry],
    description: "What happened to it: the newest 50, the oldest first.",
    complexity: { multiplier: 10 },
    resolve: ({ timeline }) => [...timeline],
  }),
  links: t.expose("links", { type: OrderLinks, description: "What REST can be asked next." }),
  placedAt: t.expose("placedAt", { type: "DateTime", description: "When it was placed." }),
  updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
}));

export function showOrder(order: OrderAggregate, { publicUrl }: Pick<GraphContext, "publicUrl">): OrderShown {
  return { ...toOrder(order, { publicUrl }), stored: order };
}

/** One part of an order that has just been read. */
export function showPart<Part extends keyof OrderPartViews>(order: OrderAggregate, part: Part, id: string): OrderPartViews[Part] {
  const shown = toParts(order, part).find((view) => view.id === id);
  if (shown === undefined) throw fail("resource_not_found");
  return shown;
}
