/** The object types of carts, and the check that a caller may see a cart. */

import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { belongsToOtherBuyer, isCartPastRetention } from "#commerce/carts/cart-status.ts";
import { type CartView, toCartView, type CartWarningView } from "#commerce/carts/render-cart.ts";
import { builder } from "#graph/builder.ts";
import {
  type CallerKind,
  getCallerKind,
  type GraphContext,
  getCallerMerchantId,
  hideFromAnalysts,
} from "#graph/context.ts";
import {
  CartRef,
  type GraphCart,
  CartTotalsRef,
  DeliveryOptionRef,
  MaskedAddressRef,
  MerchantSummaryRef,
  MoneyRef,
  PromotionStateRef,
} from "#graph/refs.ts";
import {
  CartStatusEnum,
  CartCheckoutStatusEnum,
  CartRevocationReasonEnum,
  CartWarningCodeEnum,
} from "./cart-enums.ts";
import { CartLine } from "./cart-lines.ts";

MaskedAddressRef.implement({
  description:
    "The part of an address that may be shown, without name, street and full postal code. All " +
    "fields except `countryCode` and `complete` are null after the address is erased.",
  fields: (t) => ({
    countryCode: t.expose("countryCode", {
      type: "CountryCode",
      description: "Country of the address, ISO 3166-1 alpha-2.",
    }),
    regionCode: t.exposeString("regionCode", {
      nullable: true,
      description: "Region of the address, ISO 3166-2; null if the address has none.",
    }),
    city: t.exposeString("city", {
      nullable: true,
      description: "City of the address; null if the address has none.",
    }),
    postalCodePrefix: t.exposeString("postalCodePrefix", {
      nullable: true,
      description: "First half of the postal code; null if the address has none.",
    }),
    recipientInitials: t.exposeString("recipientInitials", {
      nullable: true,
      description: "Initials of the recipient's first and last name; null if the name has no initials.",
    }),
    complete: t.exposeBoolean("complete", {
      description: "Whether the address has all fields that its country requires.",
    }),
  }),
});

DeliveryOptionRef.implement({
  description: "A delivery option that is offered for a cart and its address.",
  fields: (t) => ({
    id: t.exposeID("id", {
      description: "Id of the delivery option, `dlm_…`. Pass it as `optionId` to select the option.",
    }),
    name: t.exposeString("name", { description: "Name of the delivery option in the cart's locale." }),
    carrier: t.exposeString("carrier", {
      nullable: true,
      description: "Name of the carrier; null if the merchant has not set one.",
    }),
    price: t.expose("price", {
      type: MoneyRef,
      description:
        "Price of the delivery option for this cart; 0 if the cart's subtotal reaches the limit " +
        "for free delivery.",
    }),
    minDays: t.exposeInt("minDays", { description: "Shortest delivery time in days." }),
    maxDays: t.exposeInt("maxDays", { description: "Longest delivery time in days." }),
    pickup: t.exposeBoolean("pickup", {
      description: "Whether the buyer picks the order up instead of having it delivered.",
    }),
  }),
});

const CartDelivery = builder.objectRef<NonNullable<CartView["delivery"]>>("CartDelivery").implement({
  description: "The delivery options of a cart and the selected option.",
  fields: (t) => ({
    selectedOptionId: t.exposeID("selectedOptionId", {
      nullable: true,
      description: "Id of the selected delivery option, `dlm_…`; null if none is selected.",
    }),
    options: t.field({
      type: [DeliveryOptionRef],
      description:
        "The delivery options that are offered for the cart's address; empty if no line requires " +
        "shipping or the merchant does not deliver there.",
      complexity: { multiplier: 5 },
      resolve: ({ options }) => [...options],
    }),
  }),
});

const CartCheckout = builder.objectRef<NonNullable<CartView["checkout"]>>("CartCheckout").implement({
  description: "The checkout session of a cart.",
  fields: (t) => ({
    sessionId: t.exposeID("sessionId", { description: "Id of the checkout session, `chs_…`." }),
    status: t.expose("status", {
      type: CartCheckoutStatusEnum,
      description: "Status of the checkout session.",
    }),
  }),
});

const CartWarning = builder.objectRef<CartWarningView>("CartWarning").implement({
  description:
    "A difference in a cart that no caller requested, found at the cart's last change or " +
    "caused by time, for example a changed price.",
  fields: (t) => ({
    code: t.expose("code", { type: CartWarningCodeEnum, description: "Kind of the warning." }),
    lineId: t.exposeID("lineId", {
      nullable: true,
      description:
        "Id of the line that the warning is about, `cln_…`; null if the warning is about the whole " +
        "cart.",
    }),
    message: t.exposeString("message", {
      description: "Explanation in English, for developers. Programs should use `code`.",
    }),
    data: t.field({
      type: "JSON",
      description: "Details of the warning. Each value of `CartWarningCode` describes its fields.",
      resolve: ({ data }) => data,
    }),
  }),
});

const CartRevocation = builder.objectRef<NonNullable<CartView["revocation"]>>("CartRevocation").implement({
  description: "The reason and the time of a cart's revocation.",
  fields: (t) => ({
    reason: t.expose("reason", {
      type: CartRevocationReasonEnum,
      description: "The reason that the caller gave; `other` if none was given.",
    }),
    note: t.string({
      nullable: true,
      description: "Note of the caller, at most 280 characters; null if there is none. Hidden from analysts.",
      resolve: ({ note }, _args, context) => hideFromAnalysts(note, context),
    }),
    at: t.expose("at", { type: "DateTime", description: "Time of the revocation." }),
  }),
});

/**
 * The kinds of callers that must not see a cart's buyer reference: analysts, because it identifies a person,
 * and the checkout page, because everyone who knows the page's URL can read it.
 */
const callersWithoutBuyer: ReadonlySet<CallerKind> = new Set(["analyst", "buyer"]);

const CartBuyer = builder.objectRef<GraphCart>("CartBuyer").implement({
  description: "The buyer of a cart.",
  fields: (t) => ({
    reference: t.string({
      nullable: true,
      description:
        "The frontend's own stable id of the buyer; null if the buyer is not known. Hidden from " +
        "analysts and from the checkout page.",
      resolve: ({ stored }, _args, { viewer }) =>
        callersWithoutBuyer.has(getCallerKind(viewer)) ? null : stored.buyerReference,
    }),
    guest: t.boolean({
      description: "Whether the buyer is a guest: the cart has no buyer reference.",
      resolve: ({ stored }) => stored.buyerReference === null,
    }),
    emailHint: t.string({
      nullable: true,
      description: "The buyer's e-mail, masked, for example `a•••@e•••.com`; null if the cart has no e-mail.",
      resolve: ({ stored }) => stored.buyerEmail?.hint ?? null,
    }),
  }),
});

CartRef.implement({
  description: "A shopping cart at one merchant, with the prices of one country.",
  fields: (t) => ({
    id: t.exposeID("id", {
      description:
        "Id of the cart, `cart_…`. Keep it secret: a caller that knows the id can read the cart, " +
        "with masked personal data.",
    }),
    version: t.exposeInt("version", {
      description: "Version of the cart, starting at 1 and raised by one with every change.",
    }),
    status: t.expose("status", {
      type: CartStatusEnum,
      description:
        "Current status of the cart. The status takes effect at its time, for example at `expiresAt`.",
    }),
    merchant: t.expose("merchant", { type: MerchantSummaryRef, description: "The merchant of the cart." }),
    market: t.expose("market", {
      type: "CountryCode",
      description: "Country whose prices the cart has, ISO 3166-1 alpha-2.",
    }),
    currency: t.expose("currency", {
      type: "CurrencyCode",
      description: "Currency of all amounts of the cart, ISO 4217.",
    }),
    locale: t.expose("locale", {
      type: "LocaleCode",
      description: "Language of the texts of the cart, for example of titles.",
    }),
    lines: t.field({
      type: [CartLine],
      description: "The lines of the cart, ordered by position, at most 200.",
      complexity: { multiplier: 10 },
      resolve: ({ lines }) => [...lines],
    }),
    totalQuantity: t.exposeInt("totalQuantity", { description: "Sum of the quantities of all lines." }),
    totals: t.expose("totals", { type: CartTotalsRef, description: "Totals of the cart." }),
    promotion: t.expose("promotion", {
      type: PromotionStateRef,
      description: "Promotions of the cart: its promotion code and the automatic promotions.",
    }),
  }),
});

builder.objectFields(CartRef, (t) => ({
  address: t.expose("address", {
    type: MaskedAddressRef,
    nullable: true,
    description: "Delivery address, masked; null if the cart has no address or the address has expired.",
  }),
  addressTokenExpiresAt: t.expose("addressTokenExpiresAt", {
    type: "DateTime",
    nullable: true,
    description: "Time when the address and its token expire; null if the cart has no address.",
  }),
  delivery: t.expose("delivery", {
    type: CartDelivery,
    nullable: true,
    description: "Delivery options of the cart; null if the cart has no address.",
  }),
  checkout: t.expose("checkout", {
    type: CartCheckout,
    nullable: true,
    description: "The checkout session of the cart; null if no session is running or completed.",
  }),
  orderId: t.exposeID("orderId", {
    nullable: true,
    description: "Id of the order, `ord_…`; null unless the cart is completed.",
  }),
  warnings: t.field({
    type: [CartWarning],
    description: "Differences that no caller requested, for example changed prices; empty if there are none.",
    complexity: { multiplier: 5 },
    resolve: ({ warnings }) => [...warnings],
  }),
  revocation: t.expose("revocation", {
    type: CartRevocation,
    nullable: true,
    description: "Reason and time of the revocation; null unless the cart is revoked.",
  }),
  buyer: t.field({ type: CartBuyer, description: "The buyer of the cart.", resolve: (cart) => cart }),
  mergedIntoCartId: t.id({
    nullable: true,
    description:
      "Id of the cart that took over the lines of this cart, `cart_…`; null unless this cart is merged.",
    resolve: ({ stored }) => stored.mergedIntoCartId,
  }),
  createdAt: t.expose("createdAt", { type: "DateTime", description: "Time when the cart was created." }),
  updatedAt: t.expose("updatedAt", { type: "DateTime", description: "Time of the cart's last change." }),
  expiresAt: t.expose("expiresAt", {
    type: "DateTime",
    description: "Time when the cart expires, 30 days after its last change.",
  }),
}));

export function toCartNode(cart: CartAggregate, { clock, publicUrl }: GraphContext): GraphCart {
  return { ...toCartView(cart, { now: clock.now(), publicUrl }), stored: cart };
}

/**
 * Whether the caller may see the cart. Carts whose retention period is over are visible only to the service
 * itself.
 */
export function isCartVisible(cart: CartAggregate, context: GraphContext): boolean {
  if (context.viewer.kind === "buyer" && context.viewer.cartId !== cart.id) return false;
  const owner = getCallerMerchantId(context);
  const isOfOwner = owner === null || owner === cart.merchant.id;
  const isRetained = context.viewer.kind === "system" || !isCartPastRetention(cart, context.clock.now());
  return isOfOwner && isRetained && !belongsToOtherBuyer(cart, context.buyerReference);
}
