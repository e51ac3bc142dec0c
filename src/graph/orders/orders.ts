/** The GraphQL type of orders, with the complete address and e-mail address for the merchant's staff. */
import { toOrderView } from "#commerce/orders/render-order.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { type OrderPartViewsByKind, toOrderPartViews } from "#commerce/orders/render-parts.ts";
import { createFailure } from "#foundation/failure.ts";
import { createMoney } from "#foundation/money.ts";
import { builder } from "#graph/builder.ts";
import { type GraphqlContext, hideFromAnalysts } from "#graph/context.ts";
import {
  DeliveryOptionRef,
  FulfillmentRef,
  MaskedAddressRef,
  MerchantSummaryRef,
  OrderRef,
  type GraphqlOrder,
  PaymentRef,
  RefundRef,
  ReturnRef,
  WarrantyRef,
} from "#graph/refs.ts";
import { decryptPersonalData, type PersonalData } from "#commerce/addresses/personal-data.ts";
import type { PostalAddress } from "#commerce/addresses/postal-address.ts";
import {
  OrderFulfillmentStatusEnum,
  OrderPaymentStatusEnum,
  OrderReturnStatusEnum,
  OrderStatusEnum,
} from "./order-enums.ts";
import { getValueIfCallerIsMerchantStaff } from "./order-parts.ts";
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
    "A purchase from one merchant. Products, prices and policies are those of the time of purchase.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The id of the order, `ord_…`." }),
    number: t.exposeString("number", {
      description:
        "The order number for people, at most 20 characters. The number does not reveal how many orders " +
        "there are.",
    }),
    version: t.exposeInt("version", {
      description:
        "The version of the order, which rises by one with every change of the order or its parts.",
    }),
    status: t.expose("status", { type: OrderStatusEnum, description: "The status of the order." }),
    paymentStatus: t.expose("paymentStatus", {
      type: OrderPaymentStatusEnum,
      description: "The status of the order's payment.",
    }),
    fulfillmentStatus: t.expose("fulfillmentStatus", {
      type: OrderFulfillmentStatusEnum,
      description: "The status of the order's delivery.",
    }),
    returnStatus: t.expose("returnStatus", {
      type: OrderReturnStatusEnum,
      description: "The status of the order's returns.",
    }),
    merchant: t.expose("merchant", {
      type: MerchantSummaryRef,
      description: "The merchant that sold the items of the order.",
    }),
    market: t.expose("market", {
      type: "CountryCode",
      description: "The country whose prices apply to the order, ISO 3166-1 alpha-2.",
    }),
    currency: t.expose("currency", {
      type: "CurrencyCode",
      description: "The currency of all amounts of the order.",
    }),
    locale: t.expose("locale", { type: "LocaleCode", description: "The language of the order's texts." }),
  }),
});

builder.objectFields(OrderRef, (t) => ({
  lines: t.field({
    type: [OrderLineType],
    description: "The ordered lines, at most 200.",
    complexity: { multiplier: 10 },
    resolve: ({ lines }) => [...lines],
  }),
  totals: t.expose("totals", { type: OrderTotalsType, description: "The totals of the order." }),
  promotions: t.field({
    type: [OrderPromotionType],
    description: "The promotions that applied when the order was placed.",
    complexity: { multiplier: 2 },
    resolve: ({ promotions }) => [...promotions],
  }),
  fulfillments: t.field({
    type: [FulfillmentRef],
    description: "The fulfillments of the order, oldest first.",
    complexity: { multiplier: 5 },
    resolve: ({ fulfillments }) => [...fulfillments],
  }),
  payments: t.field({
    type: [PaymentRef],
    description: "The payments of the order.",
    complexity: { multiplier: 2 },
    resolve: ({ payments }) => [...payments],
  }),
  refunds: t.field({
    type: [RefundRef],
    description: "The refunds of the order, oldest first.",
    complexity: { multiplier: 3 },
    resolve: ({ refunds }) => [...refunds],
  }),
  returns: t.field({
    type: [ReturnRef],
    description: "The returns of the order, oldest first.",
    complexity: { multiplier: 3 },
    resolve: ({ returns }) => [...returns],
  }),
  warranties: t.field({
    type: [WarrantyRef],
    description: "The warranties that are registered for the order's lines.",
    complexity: { multiplier: 3 },
    resolve: ({ stored }) => [...toOrderPartViews(stored, "warranties")],
  }),
}));

builder.objectFields(OrderRef, (t) => ({
  buyer: t.expose("buyer", { type: OrderBuyer, description: "The buyer of the order." }),
  buyerReference: t.string({
    nullable: true,
    description:
      "The id that the frontend itself gives to the buyer and never changes; null for a guest. Analysts " +
      "always get null.",
    resolve: ({ stored }, _args, context) => hideFromAnalysts(stored.buyerReference, context),
  }),
  deliveryAddress: t.expose("deliveryAddress", {
    type: MaskedAddressRef,
    nullable: true,
    description: "The masked delivery address; null if nothing is shipped.",
  }),
  delivery: t.field({
    type: DeliveryOptionRef,
    nullable: true,
    description: "The chosen delivery method with its price; null if nothing is shipped.",
    resolve: ({ stored: { delivery, currency } }) =>
      delivery === null ? null : { ...delivery, price: createMoney(delivery.priceMinor, currency) },
  }),
  policies: t.field({
    type: [OrderPolicyType],
    description: "The merchant's policies that apply to the order, as of the time of purchase.",
    complexity: { multiplier: 4 },
    resolve: ({ policies }) => [...policies],
  }),
}));

builder.objectFields(OrderRef, (t) => ({
  cartId: t.exposeID("cartId", {
    description: "The id of the cart that became the order, `cart_…`.",
  }),
  checkoutSessionId: t.exposeID("checkoutSessionId", {
    description: "The id of the order's checkout session, `chs_…`.",
  }),
  cancellation: t.field({
    type: OrderCancellation,
    nullable: true,
    description: "The cancellation of the whole order; null if the order was not canceled as a whole.",
    resolve: ({ stored }) => stored.cancellation,
  }),
  cancellationRequest: t.field({
    type: OrderCancellationRequest,
    nullable: true,
    description: "The cancellation request that waits for the merchant's decision; null if no request waits.",
    resolve: ({ stored }) => stored.cancellationRequest,
  }),
  holdReason: t.string({
    nullable: true,
    description:
      "The reason for which the order is on hold; null if the order is not on hold. Only the merchant's " +
      "staff can read the reason; null for other callers.",
    resolve: ({ stored }, _args, context) => getValueIfCallerIsMerchantStaff(stored.holdReason, context),
  }),
  timeline: t.field({
    type: [OrderTimelineEntry],
    description: "The history of the order: the newest 50 events, oldest first.",
    complexity: { multiplier: 10 },
    resolve: ({ timeline }) => [...timeline],
  }),
  links: t.expose("links", {
    type: OrderLinks,
    description: "The URLs of further REST operations for the order.",
  }),
  placedAt: t.expose("placedAt", { type: "DateTime", description: "When the order was placed." }),
  updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When the order last changed." }),
}));

export function toGraphqlOrder(
  order: OrderAggregate,
  { publicUrl }: Pick<GraphqlContext, "publicUrl">,
): GraphqlOrder {
  return { ...toOrderView(order, { publicUrl }), stored: order };
}

/**
 * Returns one part of an order, for example a payment; throws `resource_not_found` if the order has no part
 * with this id.
 */
export function requireOrderPart<Part extends keyof OrderPartViewsByKind>(
  order: OrderAggregate,
  part: Part,
  id: string,
): OrderPartViewsByKind[Part] {
  const view = toOrderPartViews(order, part).find((candidate) => candidate.id === id);
  if (view === undefined) throw createFailure("resource_not_found");
  return view;
}

/**
 * The decrypted delivery address of the order. Only admins of the merchant and operators of the platform may
 * see it.
 */
const PostalAddressType = builder.objectRef<PostalAddress>("PostalAddress").implement({
  description:
    "A complete postal address (https://schema.org/PostalAddress), for the merchant's staff who ship the " +
    "order.",
  fields: (t) => ({
    recipientName: t.exposeString("recipientName", { description: "The recipient's name." }),
    company: t.exposeString("company", {
      nullable: true,
      description: "The recipient's company; null if there is none.",
    }),
    line1: t.exposeString("line1", { description: "The street and house number (streetAddress)." }),
    line2: t.exposeString("line2", {
      nullable: true,
      description: "The second address line, for example the floor or apartment; null if there is none.",
    }),
    line3: t.exposeString("line3", {
      nullable: true,
      description: "The third address line; null if there is none.",
    }),
    district: t.exposeString("district", {
      nullable: true,
      description: "The district, in countries whose addresses have one; null otherwise.",
    }),
    city: t.exposeString("city", {
      nullable: true,
      description: "The town or city (addressLocality); null if the address has none.",
    }),
    regionCode: t.exposeString("regionCode", {
      nullable: true,
      description: "The region (addressRegion), ISO 3166-2; null if the address has none.",
    }),
    postalCode: t.exposeString("postalCode", {
      nullable: true,
      description: "The postal code; null if the address has none.",
    }),
    countryCode: t.expose("countryCode", {
      type: "CountryCode",
      description: "The country, ISO 3166-1 alpha-2.",
    }),
    phone: t.expose("phone", {
      type: "PhoneNumber",
      nullable: true,
      description: "The recipient's telephone number, E.164; null if there is none.",
    }),
    email: t.expose("email", {
      type: "EmailAddress",
      nullable: true,
      description: "The recipient's e-mail address; null if there is none.",
    }),
  }),
});

builder.objectFields(OrderRef, (t) => ({
  shippingAddress: t.field({
    type: PostalAddressType,
    nullable: true,
    description:
      "The complete delivery address; null if the order has none or the address was erased. Only the " +
      "merchant's staff can read the address; null for other callers.",
    resolve: async ({ stored: { address } }, _args, context) => {
      const opened = await openForStaff(context, address?.id);
      return opened?.kind === "address" ? opened.address : null;
    },
  }),
  buyerEmail: t.field({
    type: "EmailAddress",
    nullable: true,
    description:
      "The buyer's e-mail address; null if the order has none or the address was erased. Only the " +
      "merchant's staff can read the address; null for other callers.",
    resolve: async ({ stored: { buyerEmail } }, _args, context) => {
      const opened = await openForStaff(context, buyerEmail?.id);
      return opened?.kind === "buyer_email" ? opened.email : null;
    },
  }),
}));

/**
 * Loads and decrypts the personal data of an order. Returns null without loading a row for a caller that may
 * not see personal data.
 */
async function openForStaff(context: GraphqlContext, id: string | undefined): Promise<PersonalData | null> {
  const allowed = getValueIfCallerIsMerchantStaff(id, context);
  const row = typeof allowed === "string" ? await context.loaders.personalData.load(allowed) : null;
  return row === null ? null : (decryptPersonalData(context.services.keyring, row) ?? null);
}
