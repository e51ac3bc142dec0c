/** Orders as REST integrators, storefronts and back offices see them, and their recipient in full for staff. */
import { toOrder } from "#commerce/orders/render-order.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { type OrderPartViews, toParts } from "#commerce/orders/render-parts.ts";
import { fail } from "#foundation/failure.ts";
import { money } from "#foundation/money.ts";
import { builder } from "#graph/builder.ts";
import { type GraphContext, hideFromAnalysts } from "#graph/context.ts";
import {
  DeliveryOptionRef,
  FulfillmentRef,
  MaskedAddressRef,
  MerchantSummaryRef,
  OrderRef,
  type GraphOrder,
  PaymentRef,
  RefundRef,
  ReturnRef,
  WarrantyRef,
} from "#graph/refs.ts";
import { openPersonalData, type PersonalData } from "#commerce/addresses/personal-data.ts";
import type { PostalAddress } from "#commerce/addresses/postal-address.ts";
import {
  OrderFulfillmentStatusEnum,
  OrderPaymentStatusEnum,
  OrderReturnStatusEnum,
  OrderStatusEnum,
} from "./order-enums.ts";
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
  description:
    "What somebody has bought from one merchant. Everything it sold is as it was when it was placed.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The order's id, `ord_…`." }),
    number: t.exposeString("number", {
      description: "What people call it by; at most 20 characters, and counts nothing.",
    }),
    version: t.exposeInt("version", {
      description: "Rises by one with every change of it or of what belongs to it.",
    }),
    status: t.expose("status", { type: OrderStatusEnum, description: "Where it is in its life." }),
    paymentStatus: t.expose("paymentStatus", {
      type: OrderPaymentStatusEnum,
      description: "What has become of its money.",
    }),
    fulfillmentStatus: t.expose("fulfillmentStatus", {
      type: OrderFulfillmentStatusEnum,
      description: "How far it has come to its buyer.",
    }),
    returnStatus: t.expose("returnStatus", {
      type: OrderReturnStatusEnum,
      description: "What comes back of it.",
    }),
    merchant: t.expose("merchant", { type: MerchantSummaryRef, description: "Who sold." }),
    market: t.expose("market", {
      type: "CountryCode",
      description: "The country its prices were taken for.",
    }),
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
    resolve: ({ stored }, _args, context) => hideFromAnalysts(stored.buyerReference, context),
  }),
  deliveryAddress: t.expose("deliveryAddress", {
    type: MaskedAddressRef,
    nullable: true,
    description: "Where it goes, masked.",
  }),
  delivery: t.field({
    type: DeliveryOptionRef,
    nullable: true,
    description: "How it goes there; null where nothing is sent.",
    resolve: ({ stored: { delivery, currency } }) =>
      delivery === null ? null : { ...delivery, price: money(delivery.priceMinor, currency) },
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
  checkoutSessionId: t.exposeID("checkoutSessionId", {
    nullable: true,
    description: "The checkout session it was placed in, `chs_…`.",
  }),
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

export function showOrder(order: OrderAggregate, { publicUrl }: Pick<GraphContext, "publicUrl">): GraphOrder {
  return { ...toOrder(order, { publicUrl }), stored: order };
}

/** One part of an order that has just been read. */
export function showPart<Part extends keyof OrderPartViews>(
  order: OrderAggregate,
  part: Part,
  id: string,
): OrderPartViews[Part] {
  const shown = toParts(order, part).find((view) => view.id === id);
  if (shown === undefined) throw fail("resource_not_found");
  return shown;
}

/**
 * To whom an order goes, opened for who sends it: an admin of the merchant or an operator. To everybody else
 * there is nothing.
 */
const PostalAddressType = builder.objectRef<PostalAddress>("PostalAddress").implement({
  description: "A postal address in full (https://schema.org/PostalAddress), for who sends something there.",
  fields: (t) => ({
    recipientName: t.exposeString("recipientName", { description: "Who receives it." }),
    company: t.exposeString("company", { nullable: true, description: "Their company." }),
    line1: t.exposeString("line1", { description: "Street and number (streetAddress)." }),
    line2: t.exposeString("line2", { nullable: true, description: "More of it: floor, door." }),
    line3: t.exposeString("line3", { nullable: true, description: "Still more of it." }),
    district: t.exposeString("district", {
      nullable: true,
      description: "The part of the town, where that belongs to an address.",
    }),
    city: t.exposeString("city", { nullable: true, description: "The town (addressLocality)." }),
    regionCode: t.exposeString("regionCode", {
      nullable: true,
      description: "The region (addressRegion), ISO 3166-2.",
    }),
    postalCode: t.exposeString("postalCode", { nullable: true, description: "The postal code." }),
    countryCode: t.expose("countryCode", {
      type: "CountryCode",
      description: "The country, ISO 3166-1 alpha-2.",
    }),
    phone: t.exposeString("phone", {
      nullable: true,
      description: "The recipient's telephone number, E.164.",
    }),
    email: t.exposeString("email", { nullable: true, description: "The recipient's e-mail address." }),
  }),
});

builder.objectFields(OrderRef, (t) => ({
  shippingAddress: t.field({
    type: PostalAddressType,
    nullable: true,
    description:
      "Where it goes, in full. Only who runs the merchant is told; null as well where nothing is known, or no longer.",
    resolve: async ({ stored: { address } }, _args, context) => {
      const opened = await openFor(context, address?.id);
      return opened?.kind === "address" ? opened.address : null;
    },
  }),
  buyerEmail: t.string({
    nullable: true,
    description:
      "The buyer's e-mail address. Only who runs the merchant is told; null as well where none is known, or no longer.",
    resolve: async ({ stored: { buyerEmail } }, _args, context) => {
      const opened = await openFor(context, buyerEmail?.id);
      return opened?.kind === "buyer_email" ? opened.email : null;
    },
  }),
}));

/** Nothing is even read for who may not know it. */
async function openFor(context: GraphContext, id: string | undefined): Promise<PersonalData | null> {
  const allowed = forStaff(id, context);
  const row = typeof allowed === "string" ? await context.loaders.personalData.load(allowed) : null;
  return row === null ? null : (openPersonalData(context.services.keyring, row) ?? null);
}
