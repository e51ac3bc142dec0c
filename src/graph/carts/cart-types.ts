/**
 * The enums of carts, and the input types of their mutations. Types named `Public…` are bodies of REST
 * operations.
 */
import { z } from "zod";
import { addressLengthMax as lengths } from "#commerce/addresses/postal-address.ts";
import { cartRevocationNoteMax } from "#commerce/carts/cart-aggregate.ts";
import { cartLinesMax } from "#commerce/carts/change-lines.ts";
import { cartLineQuantityMax } from "#commerce/carts/price-lines.ts";
import { promotionCodeLengthMax } from "#commerce/promotions/choose-promotions.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import type { CartStatus, CartRevocationReason, CartWarningCode } from "#commerce/carts/cart-aggregate.ts";
import type { PromotionRefusalReason } from "#commerce/promotions/promotion-rule.ts";

export const CartStatusEnum = defineEnum<CartStatus>("CartStatus", {
  description: "Status of a cart.",
  values: {
    active: "The cart can be changed.",
    locked: "A checkout session has locked the cart; only this session can change it.",
    completed: "An order was placed from the cart.",
    revoked: "A caller revoked the cart.",
    expired: "The cart was not changed for 30 days.",
    merged: "The lines of the cart were added to another cart.",
  },
});

export const CartWarningCodeEnum = defineEnum<CartWarningCode>("CartWarningCode", {
  description:
    "A difference in a cart that no caller requested. Each value names the fields of the " +
    "warning's `data`.",
  values: {
    price_changed: "The unit price of a line has changed. `data.before` and `data.now` are the two prices.",
    quantity_reduced:
      "The quantity of a line was reduced to the available stock. `data.wanted` is the requested " +
      "quantity, `data.quantity` the reduced quantity.",
    out_of_stock:
      "The variant of the line is out of stock. The line stays in the cart, but the cart cannot " +
      "be checked out with it.",
    line_unavailable:
      "The variant of the line is no longer sold in the cart's market. `data.isRemoved` says " +
      "whether the line was removed, `data.sku` names the variant.",
    promotion_suspended:
      "The promotion code does not apply at the moment. `data.reason` is a PromotionRefusalReason.",
    promotion_removed: "A promotion code was removed from the cart. `data.code` is the code.",
    address_expired: "The address of the cart has expired and must be set again.",
    currency_changed:
      "The currency of the cart has changed. `data.before` and `data.now` are the two currency codes.",
    market_changed:
      "The country of the cart has changed. `data.before` and `data.now` are the two country codes.",
  },
});

export const CartRevocationReasonEnum = defineEnum<CartRevocationReason>("CartTransitionReason", {
  description: "Reason for revoking a cart or removing its promotion code.",
  values: {
    buyer_request: "The buyer requested it.",
    merchant_request: "The merchant requested it.",
    security: "The cart or the promotion seemed to be misused.",
    duplicate: "The cart is a duplicate of another cart.",
    test: "The cart was created for a test.",
    other: "Any other reason.",
  },
});

export const PromotionRefusalReasonEnum = defineEnum<PromotionRefusalReason>("PromotionRefusalReason", {
  description: "Reason why a promotion does not apply to a cart.",
  values: {
    not_started: "The promotion has not started yet.",
    ended: "The promotion has ended.",
    paused: "The merchant has paused the promotion.",
    usage_limit_reached: "The promotion or its code has reached its usage limit.",
    customer_usage_limit_reached: "The buyer has reached the promotion's usage limit per buyer.",
    customer_not_eligible: "The buyer is not eligible for the promotion.",
    sign_in_required:
      "The promotion requires that the buyer has signed in: the cart must have a buyer reference.",
    minimum_subtotal_not_met: "The cart's subtotal is below the promotion's minimum.",
    minimum_quantity_not_met: "The cart has fewer items than the promotion requires.",
    no_entitled_lines: "The promotion does not apply to any line of the cart.",
    market_not_eligible: "The promotion is not available in the cart's market.",
    currency_mismatch: "The promotion's currency differs from the cart's currency.",
    combination_disallowed: "The promotion cannot be combined with another promotion of the cart.",
    superseded_by_better_deal: "Another promotion of the cart gives a larger discount.",
  },
});

export const PromotionStateEnum = defineEnum<"none" | "applied" | "suspended">("PromotionStateStatus", {
  description: "Whether a cart has a promotion code and whether the code applies.",
  values: {
    none: "The cart has no promotion code.",
    applied: "The promotion code applies to the cart.",
    suspended:
      "The cart has a promotion code that does not apply at the moment. The code applies again " +
      "automatically as soon as its conditions are met.",
  },
});

export const DiscountSourceEnum = defineEnum<"code" | "automatic">("DiscountSource", {
  description: "Origin of a discount.",
  values: { code: "The cart's promotion code.", automatic: "A promotion that applies automatically." },
});

export const DiscountTargetEnum = defineEnum<"line" | "shipping">("DiscountTarget", {
  description: "The price that a discount reduces.",
  values: { line: "The price of a cart line.", shipping: "The shipping price." },
});

export const CartCheckoutStatusEnum = defineEnum<"open" | "processing" | "completed">("CartCheckoutStatus", {
  description: "Status of a cart's checkout session.",
  values: {
    open: "The session is open: the buyer is checking out.",
    processing: "The session was submitted and its payment is being processed.",
    completed: "The session is completed: the order is placed.",
  },
});

export const AddressValidationEnum = defineEnum<"strict" | "basic">("AddressValidation", {
  description: "How strictly an address is checked.",
  values: {
    strict:
      "Checks the country, lengths and forbidden content, and also required fields, postal code, " +
      "region, phone number and e-mail by the rules of the country.",
    basic: "Checks only the country, lengths and forbidden content; a checkout may refuse such an address.",
  },
});

export const ServiceabilityStatusEnum = defineEnum<
  "deliverable" | "partially_deliverable" | "no_delivery_options"
>("ServiceabilityStatus", {
  description: "Whether the lines of a cart can be delivered to its address.",
  values: {
    deliverable: "All lines of the cart can be delivered.",
    partially_deliverable: "Some lines cannot be delivered, because they are out of stock or no longer sold.",
    no_delivery_options: "The merchant has no delivery option for the address.",
  },
});

export const OnExistingPromotionEnum = defineEnum<"replace" | "reject">("OnExistingPromotion", {
  description: "What happens if the cart already has another promotion code.",
  values: {
    replace: "The new code replaces the present code.",
    reject: "The new code is refused (409 promotion_already_applied).",
  },
});

const expectedVersionDescription =
  "The version of the cart that the caller has seen. If the cart has another version now, " +
  "nothing is changed (409 cart_version_conflict).";
const versionSchema = z.int32().min(1);
const textSchema = (max: number, min = 1): z.ZodString => z.string().min(min).max(max);

export const PostalAddressInputType = builder.inputType("PostalAddressInput", {
  description:
    "A postal address (https://schema.org/PostalAddress). Texts are normalized to Unicode NFC " +
    "and trimmed. Control characters, HTML, URLs and emoji are refused.",
  fields: (t) => ({
    recipientName: t.string({
      required: true,
      description: `Full name of the recipient, 1 to ${lengths.recipientName} characters.`,
      validate: textSchema(lengths.recipientName),
    }),
    company: t.string({
      description: `Company of the recipient, at most ${lengths.company} characters.`,
      validate: textSchema(lengths.company, 0),
    }),
    line1: t.string({
      required: true,
      description: `Street and house number (streetAddress), 1 to ${lengths.line1} characters.`,
      validate: textSchema(lengths.line1),
    }),
    line2: t.string({
      description: `Second address line, for example floor and apartment, at most ${lengths.line2} characters.`,
      validate: textSchema(lengths.line2, 0),
    }),
    line3: t.string({
      description: `Third address line, at most ${lengths.line3} characters.`,
      validate: textSchema(lengths.line3, 0),
    }),
    district: t.string({
      description:
        "District of the city, in countries whose addresses contain it, at most " +
        `${lengths.district} characters.`,
      validate: textSchema(lengths.district, 0),
    }),
    city: t.string({
      description:
        `City (addressLocality), at most ${lengths.city} characters; required in countries whose ` +
        "addresses contain a city.",
      validate: textSchema(lengths.city, 0),
    }),
    regionCode: t.string({
      description:
        "Region (addressRegion) as an ISO 3166-2 code, with or without the country prefix: `US-CA` " +
        "or `CA`.",
      validate: textSchema(lengths.regionCode, 0),
    }),
    postalCode: t.string({
      description:
        `Postal code in the form of the country, at most ${lengths.postalCode} characters. Spaces, ` +
        "hyphens and upper or lower case are corrected.",
      validate: textSchema(lengths.postalCode, 0),
    }),
    countryCode: t.string({
      required: true,
      description: "Country, ISO 3166-1 alpha-2.",
      validate: textSchema(2, 2),
    }),
    phone: t.string({
      description: "Phone number in E.164 form: `+` and 7 to 15 digits.",
      validate: textSchema(lengths.phone, 0),
    }),
    email: t.string({
      description: `E-mail address of the recipient, at most ${lengths.email} characters.`,
      validate: textSchema(lengths.email, 0),
    }),
  }),
});

export const CartAddressSetInputType = builder.inputType("PublicCartAddressSetRequest", {
  description: "The address to set on a cart.",
  fields: (t) => ({
    address: t.field({
      type: PostalAddressInputType,
      required: true,
      description: "The address. It is stored encrypted and never returned in full.",
    }),
    validation: t.field({
      type: AddressValidationEnum,
      description: "How strictly the address is checked; `strict` if left out.",
    }),
    saveForBuyer: t.boolean({
      description:
        "Whether the address is also saved for later carts of the buyer; false if left out. The " +
        "cart must have a buyer.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription, validate: versionSchema }),
  }),
});

export const CartPromotionApplyInputType = builder.inputType("PublicCartPromotionApplyRequest", {
  description: "The promotion code to apply to a cart.",
  fields: (t) => ({
    code: t.string({
      required: true,
      description:
        "The promotion code as the buyer entered it; case and surrounding spaces are ignored. It " +
        `has 1 to ${promotionCodeLengthMax} letters, digits, _ and - after trimming.`,
      validate: textSchema(4 * promotionCodeLengthMax),
    }),
    onExisting: t.field({
      type: OnExistingPromotionEnum,
      description: "What happens if the cart already has another promotion code; `replace` if left out.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription, validate: versionSchema }),
  }),
});

export const CartTransitionInputType = builder.inputType("PublicCartTransitionRequest", {
  description:
    "A change that revokes a cart or removes its promotion code. The version of the cart is " +
    "required, so that no change of another caller is lost.",
  fields: (t) => ({
    expectedVersion: t.int({
      required: true,
      description: expectedVersionDescription,
      validate: versionSchema,
    }),
    reason: t.field({
      type: CartRevocationReasonEnum,
      description: "Reason for the change; `other` if left out.",
    }),
    note: t.string({
      description:
        `Note for the merchant, at most ${cartRevocationNoteMax} characters. It must not contain ` +
        "personal data.",
      validate: z.string().max(cartRevocationNoteMax),
    }),
  }),
});

export const CartSavedAddressSetInputType = builder.inputType("CartSavedAddressSetInput", {
  description: "The saved address to set on a cart.",
  fields: (t) => ({
    savedAddressId: t.id({
      required: true,
      description: "Id of a saved address of the cart's buyer, `psd_…`.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const SavedAddressRemoveInputType = builder.inputType("SavedAddressRemoveInput", {
  description: "The saved address to erase.",
  fields: (t) => ({
    savedAddressId: t.id({ required: true, description: "Id of the saved address, `psd_…`." }),
    buyerReference: t.string({
      required: true,
      description: "Reference of the buyer that the address belongs to, 1 to 128 characters.",
    }),
  }),
});

const CartLineInputType = builder.inputType("CartLineInput", {
  description: "A quantity of one product variant.",
  fields: (t) => ({
    variantId: t.id({ required: true, description: "Id of the product variant, `var_…`." }),
    quantity: t.int({ required: true, description: `Quantity of the line, 1 to ${cartLineQuantityMax}.` }),
  }),
});

export const CartCreateInputType = builder.inputType("CartCreateInput", {
  description: "The cart to create.",
  fields: (t) => ({
    market: t.field({
      type: "CountryCode",
      required: true,
      description: "Country whose prices the cart gets, ISO 3166-1 alpha-2.",
    }),
    locale: t.field({
      type: "LocaleCode",
      description: "Language of the cart's texts; the default language of the market if left out.",
    }),
    buyerReference: t.string({
      description:
        "The frontend's own stable id of the buyer, 1 to 128 characters; not an e-mail. If left " +
        "out, the X-Buyer-Reference header is used.",
    }),
    lines: t.field({
      type: [CartLineInputType],
      description: `The first lines of the cart, at most ${cartLinesMax}.`,
    }),
  }),
});

export const CartLinesAddInputType = builder.inputType("CartLinesAddInput", {
  description: "The lines to add to a cart.",
  fields: (t) => ({
    lines: t.field({
      type: [CartLineInputType],
      required: true,
      description:
        "The lines to add, 1 to 100. If the cart already has a line of the variant, its quantity grows.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

const CartLineQuantityInputType = builder.inputType("CartLineQuantityInput", {
  description: "The new quantity of a cart line.",
  fields: (t) => ({
    lineId: t.id({ required: true, description: "Id of the cart line, `cln_…`." }),
    quantity: t.int({ required: true, description: `Quantity of the line, 1 to ${cartLineQuantityMax}.` }),
  }),
});

export const CartLinesUpdateInputType = builder.inputType("CartLinesUpdateInput", {
  description: "The quantities to set on cart lines.",
  fields: (t) => ({
    lines: t.field({
      type: [CartLineQuantityInputType],
      required: true,
      description: "The lines to change, 1 to 100; all other lines stay.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const CartLinesRemoveInputType = builder.inputType("CartLinesRemoveInput", {
  description: "The lines to remove from a cart.",
  fields: (t) => ({
    lineIds: t.idList({
      required: true,
      description: `Ids of the lines to remove, \`cln_…\`, 1 to ${cartLinesMax}.`,
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const CartBuyerSetInputType = builder.inputType("CartBuyerSetInput", {
  description: "The buyer of a cart. Both fields are replaced; a field that is left out is cleared.",
  fields: (t) => ({
    buyerReference: t.string({
      description:
        "The frontend's own stable id of the buyer, 1 to 128 characters; not an e-mail. Null if " +
        "the buyer is not known.",
    }),
    email: t.string({
      description: "The buyer's e-mail, at most 254 characters. It is stored encrypted and returned masked.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const CartMarketChangeInputType = builder.inputType("CartMarketChangeInput", {
  description: "The country to move a cart to.",
  fields: (t) => ({
    market: t.field({
      type: "CountryCode",
      required: true,
      description: "Country whose prices the cart gets, ISO 3166-1 alpha-2; the merchant must sell there.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const CartDeliverySelectInputType = builder.inputType("CartDeliveryOptionSelectInput", {
  description: "The delivery option to select for a cart.",
  fields: (t) => ({
    optionId: t.id({
      description: "Id of one of the cart's delivery options, `dlm_…`; null to clear the selection.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const CartMergeInputType = builder.inputType("CartMergeInput", {
  description: "The cart whose lines are added to another cart.",
  fields: (t) => ({
    sourceCartId: t.id({
      required: true,
      description: "Id of the source cart, `cart_…`; it ends as merged.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});
