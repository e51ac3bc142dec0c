/** The GraphQL types of the parts of a cart: lines, address, delivery, checkout, warnings and revocation. */
import type { CartLineView, CartView, RenderedCartWarning } from "#commerce/carts/render-cart.ts";
import { builder } from "#graph/builder.ts";
import {
  AvailabilityEnum,
  type VariantSaleOrReturnRestriction,
  RestrictionEnum,
} from "#graph/catalog/products.ts";
import { hideFromAnalysts } from "#graph/context.ts";
import { resolveFromObjectAndViewer } from "#graph/kept-results.ts";
import { DeliveryOptionRef, ImageRef, MaskedAddressRef, MoneyRef } from "#graph/refs.ts";
import {
  CartCheckoutStatusEnum,
  CartRevocationReasonEnum,
  CartWarningCodeEnum,
  DiscountSourceEnum,
} from "./cart-enums.ts";

const DiscountAllocation = builder
  .objectRef<CartLineView["discountAllocations"][number]>("DiscountAllocation")
  .implement({
    description: "The discount of one promotion on a cart line.",
    fields: (t) => ({
      source: t.expose("source", {
        type: DiscountSourceEnum,
        description: "Whether the promotion was added by a code or applies automatically.",
      }),
      promotionId: t.exposeID("promotionId", { description: "Id of the promotion, `prm_…`." }),
      amount: t.expose("amount", { type: MoneyRef, description: "The discount on the whole line." }),
    }),
  });

export const CartLine = builder.objectRef<CartLineView>("CartLine").implement({
  description:
    "A quantity of one product variant in a cart. Prices and texts are those of the cart's " +
    "last change; the stock is current.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Id of the cart line, `cln_…`." }),
    position: t.exposeInt("position", { description: "Position of the line in the cart, starting at 0." }),
    productId: t.exposeID("productId", { description: "Id of the product, `prd_…`." }),
    variantId: t.exposeID("variantId", { description: "Id of the product variant, `var_…`." }),
    productSlug: t.expose("productSlug", {
      type: "Slug",
      description: "Slug of the product: its name in URLs.",
    }),
    sku: t.exposeString("sku", {
      description: "The merchant's own number of the variant (stock keeping unit).",
    }),
    title: t.exposeString("title", { description: "Title of the product in the cart's locale." }),
    variantTitle: t.exposeString("variantTitle", {
      nullable: true,
      description:
        "The option values of the variant, for example `Blue / M`; null if the product has no options.",
    }),
    image: t.expose("image", {
      type: ImageRef,
      nullable: true,
      description:
        "The picture of the variant, or of the product if the variant has none; null if neither has a " +
        "picture.",
    }),
    quantity: t.exposeInt("quantity", { description: "The number of units of the variant, 1 to 9999." }),
    unitPrice: t.expose("unitPrice", {
      type: MoneyRef,
      description: "The price of one unit of the variant.",
    }),
    compareAtUnitPrice: t.expose("compareAtUnitPrice", {
      type: MoneyRef,
      nullable: true,
      description:
        "The earlier, higher price of one unit, shown for comparison; null if the price is not reduced.",
    }),
  }),
});

builder.objectFields(CartLine, (t) => ({
  subtotal: t.expose("subtotal", {
    type: MoneyRef,
    description: "The unit price times the quantity, before discounts.",
  }),
  discount: t.expose("discount", { type: MoneyRef, description: "Sum of all discounts on the line." }),
  tax: t.expose("tax", {
    type: MoneyRef,
    nullable: true,
    description: "Tax of the line; null if the cart has no address.",
  }),
  total: t.expose("total", {
    type: MoneyRef,
    description: "The line's `subtotal` less `discount`, plus `tax` if the prices do not include tax.",
  }),
  discountAllocations: t.field({
    type: [DiscountAllocation],
    description: "The discount of each promotion on the line; the amounts add up to `discount`.",
    complexity: { multiplier: 2 },
    resolve: ({ discountAllocations }) => [...discountAllocations],
  }),
  availability: t.expose("availability", {
    type: AvailabilityEnum,
    description: "Current availability of the variant; `discontinued` if the product is no longer published.",
  }),
  availableQuantity: t.exposeInt("availableQuantity", {
    nullable: true,
    description:
      "The highest quantity that the line can have now. The number is at most 100 (or the line's quantity, " +
      "if that is higher), even if more units are in stock, and 0 if the variant is no longer sold. Units " +
      "that the cart's own checkout has reserved count as available.",
  }),
  requiresShipping: t.exposeBoolean("requiresShipping", {
    description: "Whether the variant must be shipped.",
  }),
  restrictions: t.field({
    type: [RestrictionEnum],
    description:
      "Restrictions on the sale, shipping or return of the variant; empty if the variant has no restriction.",
    complexity: { multiplier: 1 },
    resolve: ({ restrictions }) => restrictions as VariantSaleOrReturnRestriction[],
  }),
}));

MaskedAddressRef.implement({
  description:
    "The part of an address that may be shown, without name, street and full postal code. After the " +
    "address is erased, all fields except `countryCode` and `complete` are null.",
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
      description: "The first half of the postal code; null if the address has no postal code.",
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
      description: "The id of the delivery option, `dlm_…`. Pass the id as `optionId` to select the option.",
    }),
    name: t.exposeString("name", { description: "Name of the delivery option in the cart's locale." }),
    names: t.field({
      type: "StringMap",
      description:
        "Current names of the delivery option by locale; empty if the merchant no longer has this delivery method.",
      resolve: async ({ id }, _args, { loaders }) => (await loaders.deliveryNames.load(id)) ?? {},
    }),
    carrier: t.exposeString("carrier", {
      nullable: true,
      description: "The name of the carrier; null if the merchant has set no carrier.",
    }),
    price: t.expose("price", {
      type: MoneyRef,
      description:
        "The price of the delivery option for this cart; 0 if the cart's subtotal is high enough for free " +
        "delivery.",
    }),
    minDays: t.exposeInt("minDays", { description: "Shortest delivery time in days." }),
    maxDays: t.exposeInt("maxDays", { description: "Longest delivery time in days." }),
    pickup: t.exposeBoolean("pickup", {
      description: "Whether the buyer picks the order up, in contrast to a delivery by a carrier.",
    }),
  }),
});

export const CartDelivery = builder.objectRef<NonNullable<CartView["delivery"]>>("CartDelivery").implement({
  description: "The delivery options of a cart and the selected option.",
  fields: (t) => ({
    selectedOptionId: t.exposeID("selectedOptionId", {
      nullable: true,
      description: "Id of the selected delivery option, `dlm_…`; null if none is selected.",
    }),
    options: t.field({
      type: [DeliveryOptionRef],
      description:
        "The delivery options that are offered for the cart's address; empty if no line requires shipping, " +
        "or if the merchant does not deliver to the address.",
      complexity: { multiplier: 5 },
      resolve: ({ options }) => [...options],
    }),
  }),
});

export const CartCheckout = builder.objectRef<NonNullable<CartView["checkout"]>>("CartCheckout").implement({
  description: "The checkout session of a cart.",
  fields: (t) => ({
    sessionId: t.exposeID("sessionId", { description: "Id of the checkout session, `chs_…`." }),
    status: t.expose("status", {
      type: CartCheckoutStatusEnum,
      description: "Status of the checkout session.",
    }),
  }),
});

export const CartWarning = builder.objectRef<RenderedCartWarning>("CartWarning").implement({
  description:
    "A change in a cart that no caller requested, for example a changed price. The service found the " +
    "change when a caller changed the cart, or time caused the change, for example when an address expired.",
  fields: (t) => ({
    code: t.expose("code", {
      type: CartWarningCodeEnum,
      description: "The kind of the warning, for example a changed price.",
    }),
    lineId: t.exposeID("lineId", {
      nullable: true,
      description:
        "Id of the line that the warning is about, `cln_…`; null if the warning is about the whole " +
        "cart.",
    }),
    message: t.exposeString("message", {
      description: "An explanation of the warning in English, for developers. Programs should use `code`.",
    }),
    data: t.field({
      type: "JSON",
      description:
        "The details of the warning as a JSON object. The description of each value of `CartWarningCode` " +
        "names the object's fields.",
      resolve: ({ data }) => data,
    }),
  }),
});

export const CartRevocation = builder
  .objectRef<NonNullable<CartView["revocation"]>>("CartRevocation")
  .implement({
    description: "The reason and the time of a cart's revocation.",
    fields: (t) => ({
      reason: t.expose("reason", {
        type: CartRevocationReasonEnum,
        description:
          "The reason that the caller gave for revoking the cart; `other` if the caller gave none.",
      }),
      note: t.string({
        nullable: true,
        description:
          "A note of the caller about the revocation, at most 280 characters; null if there is none. " +
          "Hidden from analysts.",
        resolve: resolveFromObjectAndViewer(({ note }, caller) => hideFromAnalysts(note, caller)),
      }),
      at: t.expose("at", { type: "DateTime", description: "The time at which the cart was revoked." }),
    }),
  });
