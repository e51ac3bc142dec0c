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
  description: "Where a cart is in its life.",
  values: {
    active: "It can be changed.",
    locked: "Its checkout is under way: only that changes it.",
    completed: "It has become an order.",
    revoked: "It was revoked.",
    expired: "Nobody changed it for 30 days.",
    merged: "What was in it is in another cart.",
  },
});

export const CartWarningCodeEnum = defineEnum<CartWarningCode>("CartWarningCode", {
  description: "What became different about a cart without anybody asking.",
  values: {
    price_changed: "The price of a line is another than before: `data.before`, `data.now`.",
    quantity_reduced: "There is less than was wanted: `data.wanted`, `data.quantity`.",
    out_of_stock: "The line is sold out; it stays, and cannot be checked out.",
    line_unavailable: "The line is no longer sold here: `data.isRemoved` says whether it left the cart.",
    promotion_suspended: "The code does not apply at the moment: `data.reason`.",
    promotion_removed: "A code left the cart: `data.code`.",
    address_expired: "The address is gone and must be given again.",
    currency_changed: "Prices are in another currency: `data.before`, `data.now`.",
    market_changed: "Prices are those of another country: `data.before`, `data.now`.",
  },
});

export const CartRevocationReasonEnum = defineEnum<CartRevocationReason>("CartTransitionReason", {
  description: "Why a cart or its promotion is taken back.",
  values: {
    buyer_request: "The buyer asked for it.",
    merchant_request: "The merchant asked for it.",
    security: "It seemed to be misused.",
    duplicate: "There is another one.",
    test: "It was a test.",
    other: "Something else.",
  },
});

export const PromotionRefusalReasonEnum = defineEnum<PromotionRefusalReason>("PromotionRefusalReason", {
  description: "Why a promotion does not apply to a cart.",
  values: {
    not_started: "It has not begun yet.",
    ended: "It has ended.",
    paused: "It is paused.",
    usage_limit_reached: "It was used as often as it may be.",
    customer_usage_limit_reached: "The buyer has used it as often as one may.",
    customer_not_eligible: "It is for other buyers.",
    sign_in_required: "It is for buyers who have signed in.",
    minimum_subtotal_not_met: "The cart is below its minimum amount.",
    minimum_quantity_not_met: "The cart has fewer items than it asks for.",
    no_entitled_lines: "Nothing in the cart is part of it.",
    market_not_eligible: "It is not for the cart's market.",
    currency_mismatch: "It is in another currency than the cart.",
    combination_disallowed: "It cannot be combined with one that the cart has.",
    superseded_by_better_deal: "The cart has a better deal already.",
  },
});

export const PromotionStateEnum = defineEnum<"none" | "applied" | "suspended">("PromotionStateStatus", {
  description: "What has become of a cart's code.",
  values: {
    none: "The cart has no code.",
    applied: "The code applies.",
    suspended: "The code is there, but does not apply at the moment; it comes back by itself when it does.",
  },
});

export const DiscountSourceEnum = defineEnum<"code" | "automatic">("DiscountSource", {
  description: "Where a discount comes from.",
  values: { code: "From the cart's code.", automatic: "From a promotion that applies by itself." },
});

export const DiscountTargetEnum = defineEnum<"line" | "shipping">("DiscountTarget", {
  description: "What a discount takes from.",
  values: { line: "From a line.", shipping: "From the shipping." },
});

export const CartCheckoutStatusEnum = defineEnum<"open" | "processing" | "completed">("CartCheckoutStatus", {
  description: "Where a cart's checkout is.",
  values: {
    open: "The buyer is at it.",
    processing: "The payment is under way.",
    completed: "There is an order.",
  },
});

export const AddressValidationEnum = defineEnum<"strict" | "basic">("AddressValidation", {
  description: "How thoroughly an address is checked.",
  values: {
    strict: "All that its country asks for: required fields, postal code, region, phone, e-mail.",
    basic: "Country, lengths and forbidden content; a checkout may refuse such an address.",
  },
});

export const ServiceabilityStatusEnum = defineEnum<
  "deliverable" | "partially_deliverable" | "no_delivery_options"
>("ServiceabilityStatus", {
  description: "Whether an address can be delivered to.",
  values: {
    deliverable: "Everything in the cart can be.",
    partially_deliverable: "Some lines cannot be: they are sold out or no longer sold.",
    no_delivery_options: "The merchant offers no way to.",
  },
});

export const OnExistingPromotionEnum = defineEnum<"replace" | "reject">("OnExistingPromotion", {
  description: "What to do with another code that the cart has.",
  values: {
    replace: "The new one takes its place.",
    reject: "The new one is refused (409 promotion_already_applied).",
  },
});

const expectedVersionDescription =
  "The version of the cart that the caller has seen; when it has another by now, nothing is changed (409 cart_version_conflict).";
const versionSchema = z.int32().min(1);
const textSchema = (max: number, min = 1): z.ZodString => z.string().min(min).max(max);

export const PostalAddressInputType = builder.inputType("PostalAddressInput", {
  description:
    "A postal address (https://schema.org/PostalAddress). Texts are normalised (NFC) and trimmed; control characters, HTML, web addresses and emoji are refused.",
  fields: (t) => ({
    recipientName: t.string({
      required: true,
      description: "Who receives it.",
      validate: textSchema(lengths.recipientName),
    }),
    company: t.string({ description: "Their company.", validate: textSchema(lengths.company, 0) }),
    line1: t.string({
      required: true,
      description: "Street and number (streetAddress).",
      validate: textSchema(lengths.line1),
    }),
    line2: t.string({ description: "More of it: floor, door.", validate: textSchema(lengths.line2, 0) }),
    line3: t.string({ description: "Still more of it.", validate: textSchema(lengths.line3, 0) }),
    district: t.string({
      description: "The part of the town, where that belongs to an address.",
      validate: textSchema(lengths.district, 0),
    }),
    city: t.string({
      description: "The town (addressLocality); required where the country has towns.",
      validate: textSchema(lengths.city, 0),
    }),
    regionCode: t.string({
      description: "The region (addressRegion), ISO 3166-2: `US-CA`, or `CA` alone.",
      validate: textSchema(lengths.regionCode, 0),
    }),
    postalCode: t.string({
      description: "The postal code in its country's form; spaces, hyphens and case are put right.",
      validate: textSchema(lengths.postalCode, 0),
    }),
    countryCode: t.string({
      required: true,
      description: "The country, ISO 3166-1 alpha-2.",
      validate: textSchema(2, 2),
    }),
    phone: t.string({
      description: "E.164: `+` and 7 to 15 digits.",
      validate: textSchema(lengths.phone, 0),
    }),
    email: t.string({ description: "An e-mail address.", validate: textSchema(lengths.email, 0) }),
  }),
});

export const CartAddressSetInputType = builder.inputType("PublicCartAddressSetRequest", {
  description: "Where a cart goes.",
  fields: (t) => ({
    address: t.field({
      type: PostalAddressInputType,
      required: true,
      description: "The address. It is stored encrypted and never answered with.",
    }),
    validation: t.field({
      type: AddressValidationEnum,
      description: "How thoroughly it is checked; `strict` unless told.",
    }),
    saveForBuyer: t.boolean({
      description:
        "Whether it is kept for the buyer's next carts; the cart must have a buyer. False unless told.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription, validate: versionSchema }),
  }),
});

export const CartPromotionApplyInputType = builder.inputType("PublicCartPromotionApplyRequest", {
  description: "A code for a cart.",
  fields: (t) => ({
    code: t.string({
      required: true,
      description: `What the buyer typed; case and space around it do not matter. 1 to ${promotionCodeLengthMax} letters, digits, _ and - after trimming.`,
      validate: textSchema(4 * promotionCodeLengthMax),
    }),
    onExisting: t.field({
      type: OnExistingPromotionEnum,
      description: "What to do with another code that is there; `replace` unless told.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription, validate: versionSchema }),
  }),
});

export const CartTransitionInputType = builder.inputType("PublicCartTransitionRequest", {
  description: "A change that takes something away: the caller says which version of the cart it has seen.",
  fields: (t) => ({
    expectedVersion: t.int({
      required: true,
      description: expectedVersionDescription,
      validate: versionSchema,
    }),
    reason: t.field({ type: CartRevocationReasonEnum, description: "Why it is done." }),
    note: t.string({
      description: "For the merchant; nothing personal.",
      validate: z.string().max(cartRevocationNoteMax),
    }),
  }),
});

export const CartSavedAddressSetInputType = builder.inputType("CartSavedAddressSetInput", {
  description: "Where a cart goes, without the address being typed again.",
  fields: (t) => ({
    savedAddressId: t.id({
      required: true,
      description: "One of the addresses that the cart's buyer keeps, `psd_…`.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const SavedAddressRemoveInputType = builder.inputType("SavedAddressRemoveInput", {
  description: "An address that a buyer no longer keeps.",
  fields: (t) => ({
    savedAddressId: t.id({ required: true, description: "The address, `psd_…`." }),
    buyerReference: t.string({ required: true, description: "Whose it is. 1 to 128 characters." }),
  }),
});

const CartLineInputType = builder.inputType("CartLineInput", {
  description: "So many of one variant.",
  fields: (t) => ({
    variantId: t.id({ required: true, description: "The variant, `var_…`." }),
    quantity: t.int({ required: true, description: `How many, 1 to ${cartLineQuantityMax}.` }),
  }),
});

export const CartCreateInputType = builder.inputType("CartCreateInput", {
  description: "A new cart.",
  fields: (t) => ({
    market: t.field({
      type: "CountryCode",
      required: true,
      description: "The country that prices are taken for.",
    }),
    locale: t.field({
      type: "LocaleCode",
      description: "The language of its texts; without it the market's own.",
    }),
    buyerReference: t.string({
      description:
        "The frontend's own stable name for the buyer, never an e-mail; without it the one of X-Buyer-Reference. 1 to 128 characters.",
    }),
    lines: t.field({
      type: [CartLineInputType],
      description: `What goes into it at once, ${cartLinesMax} lines at most.`,
    }),
  }),
});

export const CartLinesAddInputType = builder.inputType("CartLinesAddInput", {
  description: "Things for a cart.",
  fields: (t) => ({
    lines: t.field({
      type: [CartLineInputType],
      required: true,
      description: "What is added, 1 to 100; what is there already becomes more.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

const CartLineQuantityInputType = builder.inputType("CartLineQuantityInput", {
  description: "How many of a line there shall be.",
  fields: (t) => ({
    lineId: t.id({ required: true, description: "The line, `cln_…`." }),
    quantity: t.int({ required: true, description: `How many, 1 to ${cartLineQuantityMax}.` }),
  }),
});

export const CartLinesUpdateInputType = builder.inputType("CartLinesUpdateInput", {
  description: "Other quantities.",
  fields: (t) => ({
    lines: t.field({
      type: [CartLineQuantityInputType],
      required: true,
      description: "The lines, 1 to 100; all others stay.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const CartLinesRemoveInputType = builder.inputType("CartLinesRemoveInput", {
  description: "What leaves a cart.",
  fields: (t) => ({
    lineIds: t.idList({ required: true, description: `The lines, \`cln_…\`, 1 to ${cartLinesMax}.` }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const CartBuyerSetInputType = builder.inputType("CartBuyerSetInput", {
  description: "Whose a cart is: what stands here replaces what was.",
  fields: (t) => ({
    buyerReference: t.string({
      description:
        "The frontend's own stable name for the buyer, never an e-mail; null: nobody known. 1 to 128 characters.",
    }),
    email: t.string({
      description: "Where to write to. Stored encrypted; answered with masked. At most 254 characters.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const CartMarketChangeInputType = builder.inputType("CartMarketChangeInput", {
  description: "Another country.",
  fields: (t) => ({
    market: t.field({
      type: "CountryCode",
      required: true,
      description: "The country that prices are taken for; the merchant must sell there.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const CartDeliverySelectInputType = builder.inputType("CartDeliveryOptionSelectInput", {
  description: "How a cart is delivered.",
  fields: (t) => ({
    optionId: t.id({ description: "One of the cart's delivery options; null: none." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const CartMergeInputType = builder.inputType("CartMergeInput", {
  description: "What goes into a cart from another.",
  fields: (t) => ({
    sourceCartId: t.id({ required: true, description: "The cart that ends as merged." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});
