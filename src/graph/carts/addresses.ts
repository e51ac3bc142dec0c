/**
 * The GraphQL types and mutations of cart addresses: address tokens, the mutations that set an address, and
 * the saved addresses of buyers.
 */
import {
  findSavedAddresses,
  removeSavedAddress,
  type SavedAddress,
  savedAddressesMax,
} from "#commerce/addresses/saved-addresses.ts";
import {
  type CartAddressToken,
  setCartAddress,
  setCartAddressFromSavedAddress,
} from "#commerce/carts/set-cart-address.ts";
import { createFailureWithDetail } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import {
  getCallerKindOfViewer,
  cartCallers,
  frontendCallers,
  type GraphqlContext,
  resolveMerchantIdOfRequest,
} from "#graph/context.ts";
import { cartMutationKind, existingCartMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";
import { CartTotalsRef, DeliveryOptionRef, MaskedAddressRef } from "#graph/refs.ts";
import {
  CartAddressSetInputType,
  SavedAddressRemoveInputType,
  CartSavedAddressSetInputType,
} from "./cart-inputs.ts";
import { AddressValidationEnum, ServiceabilityStatusEnum } from "./cart-enums.ts";

const AddressCheck = builder.objectRef<CartAddressToken["validation"]>("AddressCheck").implement({
  description: "The result of checking an address.",
  fields: (t) => ({
    level: t.expose("level", {
      type: AddressValidationEnum,
      description: "How strictly the address was checked.",
    }),
    corrected: t.stringList({
      description:
        "The fields that the service normalized, as JSON Pointers into the request; empty if the service " +
        "stored the address unchanged.",
      complexity: { multiplier: 1 },
      resolve: ({ corrected }) => [...corrected],
    }),
  }),
});

const Serviceability = builder.objectRef<CartAddressToken["serviceability"]>("Serviceability").implement({
  description: "Whether the lines of a cart can be delivered to its address.",
  fields: (t) => ({
    status: t.expose("status", {
      type: ServiceabilityStatusEnum,
      description: "Whether all lines of the cart, some lines or no lines can be delivered.",
    }),
    undeliverableLineIds: t.idList({
      description:
        "The ids of the lines that cannot be delivered, `cln_…`; empty if all lines can be delivered.",
      complexity: { multiplier: 1 },
      resolve: ({ undeliverableLineIds }) => [...undeliverableLineIds],
    }),
  }),
});

const Quote = builder.objectRef<NonNullable<CartAddressToken["quote"]>>("CartQuote").implement({
  description: "The totals and delivery options of a cart for its address.",
  fields: (t) => ({
    totals: t.expose("totals", {
      type: CartTotalsRef,
      description: "Totals of the cart, with the taxes at the cart's new address.",
    }),
    deliveryOptions: t.field({
      type: [DeliveryOptionRef],
      description: "The delivery options that are offered for the address.",
      complexity: { multiplier: 5 },
      resolve: ({ deliveryOptions }) => [...deliveryOptions],
    }),
    quotedAt: t.expose("quotedAt", {
      type: "DateTime",
      description: "The time at which the totals and delivery options were computed.",
    }),
    validUntil: t.expose("validUntil", {
      type: "DateTime",
      description: "The time at which the address and this quote expire, unless the cart changes earlier.",
    }),
  }),
});

const AddressToken = builder.objectRef<CartAddressToken>("CartAddressToken").implement({
  description: "A token that represents the address of a cart. The full address is never returned.",
  fields: (t) => ({
    addressToken: t.exposeID("addressToken", {
      description:
        "The address token, `adt_…`. It is valid until the cart ends, the cart gets another " +
        "address, or `expiresAt` is reached.",
    }),
    cartId: t.exposeID("cartId", { description: "Id of the cart, `cart_…`." }),
    cartVersion: t.exposeInt("cartVersion", {
      description: "Version of the cart after the address was set.",
    }),
    expiresAt: t.expose("expiresAt", {
      type: "DateTime",
      description:
        "Time when the address and its token expire: 30 minutes after the cart's last change, and " +
        "at most 24 hours after the address was set.",
    }),
    address: t.expose("address", {
      type: MaskedAddressRef,
      description: "The masked delivery address of the cart.",
    }),
    validation: t.expose("validation", {
      type: AddressCheck,
      description: "The result of checking the address.",
    }),
    serviceability: t.expose("serviceability", {
      type: Serviceability,
      description: "Whether the cart can be delivered to the address.",
    }),
    quote: t.expose("quote", {
      type: Quote,
      nullable: true,
      description: "Totals and delivery options for the address; null if the cart is empty.",
    }),
  }),
});

defineMutation({
  ...existingCartMutationKind,
  name: "cartAddressSet",
  description:
    "Sets the address of a cart, computes the cart's prices with the taxes of the address, and returns a " +
    "token that represents the address. An invalid address is refused (400 address_invalid).",
  failures: [...existingCartMutationKind.failures, "address_invalid", "address_market_mismatch"],
  callers: cartCallers,
  input: CartAddressSetInputType,
  type: AddressToken,
  run: setCartAddress,
});

defineMutation({
  ...existingCartMutationKind,
  name: "cartSavedAddressSet",
  description:
    "Sets a saved address of the cart's buyer as the address of the cart. Returns a token, as " +
    "cartAddressSet does.",
  failures: [...existingCartMutationKind.failures, "resource_not_found", "address_market_mismatch"],
  callers: frontendCallers,
  input: CartSavedAddressSetInputType,
  type: AddressToken,
  run: setCartAddressFromSavedAddress,
});

const SavedAddressType = builder.objectRef<SavedAddress>("SavedAddress").implement({
  description: "An address that a buyer has saved for later carts.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Id of the saved address, `psd_…`." }),
    address: t.expose("address", {
      type: MaskedAddressRef,
      description: "The masked form of the saved address.",
    }),
    level: t.expose("level", {
      type: AddressValidationEnum,
      description: "How strictly the address was checked when it was saved.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "Time when the address was saved." }),
  }),
});

builder.queryField("savedAddresses", (t) =>
  t.field({
    type: [SavedAddressType],
    description:
      `Lists the saved addresses of a buyer, at most ${savedAddressesMax}. The address that was saved last ` +
      "comes first.",
    authScopes: { callers: frontendCallers },
    complexity: { multiplier: 10 },
    args: {
      merchantId: t.arg.id({ description: "Id of the merchant; required with a token of the platform." }),
      buyerReference: t.arg.string({
        description:
          "The reference of the buyer. If left out, the buyer is the one in the X-Buyer-Reference header. " +
          "A storefront must not name another buyer.",
      }),
    },
    resolve: (_root, { merchantId, buyerReference }, context) =>
      findSavedAddresses(context.db, {
        merchantId: resolveMerchantIdOfRequest(context, merchantId),
        buyerReference: requireBuyerReference(context, buyerReference),
      }),
  }),
);

defineMutation({
  ...cartMutationKind,
  name: "savedAddressRemove",
  description:
    "Erases a saved address of a buyer and returns its id. Carts with this address keep their own copy of " +
    "the address until the carts end.",
  failures: ["resource_not_found"],
  callers: frontendCallers,
  input: SavedAddressRemoveInputType,
  inputDescription: "The saved address to erase.",
  type: "ID",
  check: (request, { buyerReference }) => void requireBuyerReference(request, buyerReference),
  // TypeScript requires the fallback `""`. It is never used, because `check` has already refused requests
  // without a buyer reference.
  run: (transaction, context, input) =>
    removeSavedAddress(transaction, context, {
      ...input,
      buyerReference: input.buyerReference ?? context.buyerReference ?? "",
    }),
  answer: (_request, { savedAddressId }) => savedAddressId,
});

/**
 * Returns the buyer reference whose saved addresses the caller may use. A storefront may only use the
 * addresses of one buyer: that of its buyer session, or that in the header X-Buyer-Reference.
 */
function requireBuyerReference(context: GraphqlContext, requested: string | null | undefined): string {
  const isStorefront = getCallerKindOfViewer(context.viewer) === "storefront";
  const buyerReference = isStorefront ? context.buyerReference : (requested ?? context.buyerReference);
  const isOtherBuyer =
    isStorefront && requested !== null && requested !== undefined && requested !== buyerReference;
  if (buyerReference !== null && !isOtherBuyer) return buyerReference;
  const message = isOtherBuyer
    ? '"buyerReference" must be equal to the X-Buyer-Reference header.'
    : '"buyerReference" or the X-Buyer-Reference header is required.';
  throw createFailureWithDetail("invalid_field", {
    in: "body",
    field: "/buyerReference",
    code: isOtherBuyer ? "not_allowed" : "required",
    message,
  });
}
