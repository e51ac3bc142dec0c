/** Where carts go: the token that stands for an address, and the addresses that buyers keep. */
import {
  findSavedAddresses,
  removeSavedAddress,
  type SavedAddress,
  savedAddressesMax,
} from "#commerce/addresses/saved-addresses.ts";
import { type CartAddressToken, setCartAddress, setCartSavedAddress } from "#commerce/carts/set-delivery.ts";
import { failAt } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import { callerOf, everyClient, frontends, type GraphContext, tenantOf } from "#graph/context.ts";
import { anyCartChange, cartChange } from "#graph/change-kinds.ts";
import { changeMutation } from "#graph/mutation.ts";
import { CartTotalsRef, DeliveryOptionRef, MaskedAddressRef } from "#graph/refs.ts";
import {
  AddressValidationEnum,
  CartAddressSetInputType,
  SavedAddressRemoveInputType,
  CartSavedAddressSetInputType,
  ServiceabilityStatusEnum,
} from "./cart-types.ts";

const AddressCheck = builder.objectRef<CartAddressToken["validation"]>("AddressCheck").implement({
  description: "How an address was checked.",
  fields: (t) => ({
    level: t.expose("level", { type: AddressValidationEnum, description: "How thoroughly." }),
    corrected: t.stringList({
      description: "What was put right: JSON Pointers into the request.",
      complexity: { multiplier: 1 },
      resolve: ({ corrected }) => [...corrected],
    }),
  }),
});

const Serviceability = builder.objectRef<CartAddressToken["serviceability"]>("Serviceability").implement({
  description: "Whether an address can be delivered to.",
  fields: (t) => ({
    status: t.expose("status", {
      type: ServiceabilityStatusEnum,
      description: "All, some or none of the cart.",
    }),
    undeliverableLineIds: t.idList({
      description: "The lines that cannot be delivered.",
      complexity: { multiplier: 1 },
      resolve: ({ undeliverableLineIds }) => [...undeliverableLineIds],
    }),
  }),
});

const Quote = builder.objectRef<NonNullable<CartAddressToken["quote"]>>("CartQuote").implement({
  description: "What a cart costs at an address, and how it can be delivered.",
  fields: (t) => ({
    totals: t.expose("totals", { type: CartTotalsRef, description: "The cart's sums." }),
    deliveryOptions: t.field({
      type: [DeliveryOptionRef],
      description: "How it can be delivered.",
      complexity: { multiplier: 5 },
      resolve: ({ deliveryOptions }) => [...deliveryOptions],
    }),
    quotedAt: t.expose("quotedAt", { type: "DateTime", description: "When this was found." }),
    validUntil: t.expose("validUntil", {
      type: "DateTime",
      description: "When the address ends, and this with it.",
    }),
  }),
});

const AddressToken = builder.objectRef<CartAddressToken>("CartAddressToken").implement({
  description: "A token that stands for an address of a cart; the address itself is not shown again.",
  fields: (t) => ({
    addressToken: t.exposeID("addressToken", {
      description: "The token, `adt_…`: it ends with the cart, the next address, or `expiresAt`.",
    }),
    cartId: t.exposeID("cartId", { description: "The cart, `cart_…`." }),
    cartVersion: t.exposeInt("cartVersion", { description: "The cart's version." }),
    expiresAt: t.expose("expiresAt", {
      type: "DateTime",
      description: "30 minutes after the cart's last change, 24 hours after it was set at most.",
    }),
    address: t.expose("address", { type: MaskedAddressRef, description: "As much of it as may be shown." }),
    validation: t.expose("validation", { type: AddressCheck, description: "How it was checked." }),
    serviceability: t.expose("serviceability", {
      type: Serviceability,
      description: "Whether it can be delivered to.",
    }),
    quote: t.expose("quote", {
      type: Quote,
      nullable: true,
      description: "What the cart costs there; null for an empty cart.",
    }),
  }),
});

changeMutation({
  ...cartChange,
  name: "cartAddressSet",
  description: "Says where a cart goes, and answers with a token that stands for the address.",
  callers: everyClient,
  input: CartAddressSetInputType,
  type: AddressToken,
  run: setCartAddress,
});

changeMutation({
  ...cartChange,
  name: "cartSavedAddressSet",
  description: "Says where a cart goes, by an address that its buyer keeps; answers as cartAddressSet does.",
  callers: frontends,
  input: CartSavedAddressSetInputType,
  type: AddressToken,
  run: setCartSavedAddress,
});

const SavedAddressType = builder.objectRef<SavedAddress>("SavedAddress").implement({
  description: "An address that a buyer keeps for the next carts.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "What it is used and removed by, `psd_…`." }),
    address: t.expose("address", { type: MaskedAddressRef, description: "As much of it as may be shown." }),
    level: t.expose("level", { type: AddressValidationEnum, description: "How thoroughly it was checked." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was kept." }),
  }),
});

builder.queryField("savedAddresses", (t) =>
  t.field({
    type: [SavedAddressType],
    description: `The addresses that a buyer keeps, the latest first, ${savedAddressesMax} at most.`,
    authScopes: { callers: frontends },
    complexity: { multiplier: 10 },
    args: {
      merchantId: t.arg.id({ description: "The merchant; needed with a token of the platform." }),
      buyerReference: t.arg.string({
        description: "Whose; without it the buyer that X-Buyer-Reference names.",
      }),
    },
    resolve: (_root, { merchantId, buyerReference }, context) =>
      findSavedAddresses(context.db, {
        merchantId: tenantOf(context, merchantId),
        buyerReference: requireBuyerReference(context, buyerReference),
      }),
  }),
);

changeMutation({
  ...anyCartChange,
  name: "savedAddressRemove",
  description:
    "Erases an address that a buyer keeps; the carts that were given it keep their copy until they end. Answers with its id.",
  callers: frontends,
  input: SavedAddressRemoveInputType,
  inputDescription: "The address.",
  type: "ID",
  check: (request, { buyerReference }) => void requireBuyerReference(request, buyerReference),
  // The check has made sure of one of the two.
  run: (transaction, context, input) =>
    removeSavedAddress(transaction, context, {
      ...input,
      buyerReference: input.buyerReference ?? context.buyerReference ?? "",
    }),
  answer: (_request, { savedAddressId }) => savedAddressId,
});

/** Gives the buyer whose addresses are meant: a storefront acts for the buyer it serves and for no other. */
function requireBuyerReference(context: GraphContext, asked: string | null | undefined): string {
  const isStorefront = callerOf(context.viewer) === "storefront";
  const buyerReference = isStorefront ? context.buyerReference : (asked ?? context.buyerReference);
  const isOther = isStorefront && asked !== null && asked !== undefined && asked !== buyerReference;
  if (buyerReference !== null && !isOther) return buyerReference;
  const message = isOther
    ? "It is another buyer than X-Buyer-Reference names."
    : "X-Buyer-Reference or buyerReference must say whose.";
  throw failAt("invalid_field", {
    in: "body",
    field: "/buyerReference",
    code: isOther ? "not_allowed" : "required",
    message,
  });
}
