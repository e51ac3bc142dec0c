/** What the mutations of carts take. The first three types are the bodies of REST operations, by the names that the contract gives them. */
import { z } from "zod";
import { addressLengthMax as lengths } from "#commerce/addresses/postal-address.ts";
import { noteMax } from "#commerce/carts/end-carts.ts";
import { linesMax } from "#commerce/carts/change-lines.ts";
import { quantityMax } from "#commerce/carts/price-lines.ts";
import { codeLengthMax } from "#commerce/promotions/promotion-codes.ts";
import { builder } from "#graph/builder.ts";
import { AddressLevelEnum, OnExistingEnum, RevocationReasonEnum } from "./cart-enums.ts";

const seenVersion = "The version of the cart that the caller has seen; when it has another by now, nothing is changed (409 cart_version_conflict).";
const version = z.int32().min(1);
const text = (max: number, min = 1): z.ZodString => z.string().min(min).max(max);

export const PostalAddress = builder.inputType("PostalAddressInput", {
  description:
    "A postal address (https://schema.org/PostalAddress). Texts are normalised (NFC) and trimmed; control characters, HTML, web addresses and emoji are refused.",
  fields: (t) => ({
    recipientName: t.string({ required: true, description: "Who receives it.", validate: text(lengths.recipientName) }),
    company: t.string({ description: "Their company.", validate: text(lengths.company, 0) }),
    line1: t.string({ required: true, description: "Street and number (streetAddress).", validate: text(lengths.line1) }),
    line2: t.string({ description: "More of it: floor, door.", validate: text(lengths.line2, 0) }),
    line3: t.string({ description: "Still more of it.", validate: text(lengths.line3, 0) }),
    district: t.string({ description: "The part of the town, where that belongs to an address.", validate: text(lengths.district, 0) }),
    city: t.string({ description: "The town (addressLocality); required where the country has towns.", validate: text(lengths.city, 0) }),
    regionCode: t.string({ description: "The region (addressRegion), ISO 3166-2: `US-CA`, or `CA` alone.", validate: text(lengths.regionCode, 0) }),
    postalCode: t.string({
      description: "The postal code in its country's form; spaces, hyphens and case are put right.",
      validate: text(lengths.postalCode, 0),
    }),
    countryCode: t.string({ required: true, description: "The country, ISO 3166-1 alpha-2.", validate: text(2, 2) }),
    phone: t.string({ description: "E.164: `+` and 7 to 15 digits.", validate: text(lengths.phone, 0) }),
    email: t.string({ description: "An e-mail address.", validate: text(lengths.email, 0) }),
  }),
});

export const AddressSetInput = builder.inputType("PublicCartAddressSetRequest", {
  description: "Where a cart goes.",
  fields: (t) => ({
    address: t.field({ type: PostalAddress, required: true, description: "The address. It is stored encrypted and never answered with." }),
    validation: t.field({ type: AddressLevelEnum, description: "How thoroughly it is checked; `strict` unless told." }),
    saveForBuyer: t.boolean({ description: "Whether it is kept for the buyer's next carts; the cart must have a buyer. False unless told." }),
    expectedVersion: t.int({ description: seenVersion, validate: version }),
  }),
});

export const PromotionApplyInput = builder.inputType("PublicCartPromotionApplyRequest", {
  description: "A code for a cart.",
  fields: (t) => ({
    code: t.string({
      required: true,
      description: `What the buyer typed; case and space around it do not matter. 1 to ${codeLengthMax} letters, digits, _ and - after trimming.`,
      validate: text(4 * codeLengthMax),
    }),
    onExisting: t.field({ type: OnExistingEnum, description: "What to do with another code that is there; `replace` unless told." }),
    expectedVersion: t.int({ description: seenVersion, validate: version }),
  }),
});

export const TransitionInput = builder.inputType("PublicCartTransitionRequest", {
  description: "A change that takes something away: the caller says which version of the cart it has seen.",
  fields: (t) => ({
    expectedVersion: t.int({ required: true, description: seenVersion, validate: version }),
    reason: t.field({ type: RevocationReasonEnum, description: "Why it is done." }),
    note: t.string({ description: "For the merchant; nothing personal.", validate: z.string().max(noteMax) }),
  }),
});

export const SavedAddressSetInput = builder.inputType("CartSavedAddressSetInput", {
  description: "Where a cart goes, without the address being typed again.",
  fields: (t) => ({
    savedAddressId: t.id({ required: true, description: "One of the addresses that the cart's buyer keeps, `psd_…`." }),
    expectedVersion: t.int({ description: seenVersion }),
  }),
});

export const SavedAddressRemoveInput = builder.inputType("SavedAddressRemoveInput", {
  description: "An address that a buyer no longer keeps.",
  fields: (t) => ({
    savedAddressId: t.id({ required: true, description: "The address, `psd_…`." }),
    buyerReference: t.string({ required: true, description: "Whose it is. 1 to 128 characters." }),
  }),
});

const LineToAdd = builder.inputType("CartLineInput", {
  description: "So many of one variant.",
  fields: (t) => ({
    variantId: t.id({ required: true, description: "The variant, `var_…`." }),
    quantity: t.int({ required: true, description: `How many, 1 to ${quantityMax}.` }),
  }),
});

export const CreateInput = builder.inputType("CartCreateInput", {
  description: "A new cart.",
  fields: (t) => ({
    market: t.field({ type: "CountryCode", required: true, description: "The country that prices are taken for." }),
    locale: t.field({ type: "LocaleCode", description: "The language of its texts; without it the market's own." }),
    buyerReference: t.string({
      description: "The frontend's own stable name for the buyer, never an e-mail; without it the one of X-Buyer-Reference. 1 to 128 characters.",
    }),
    lines: t.field({ type: [LineToAdd], description: `What goes into it at once, ${linesMax} lines at most.` }),
  }),
});

export const LinesAddInput = builder.inputType("CartLinesAddInput", {
  description: "Things for a cart.",
  fields: (t) => ({
    lines: t.field({ type: [LineToAdd], required: true, description: "What is added, 1 to 100; what is there already becomes more." }),
    expectedVersion: t.int({ description: seenVersion }),
  }),
});

const LineQuantity = builder.inputType("CartLineQuantityInput", {
  description: "How many of a line there shall be.",
  fields: (t) => ({
    lineId: t.id({ required: true, description: "The line, `cln_…`." }),
    quantity: t.int({ required: true, description: `How many, 1 to ${quantityMax}.` }),
  }),
});

export const LinesUpdateInput = builder.inputType("CartLinesUpdateInput", {
  description: "Other quantities.",
  fields: (t) => ({
    lines: t.field({ type: [LineQuantity], required: true, description: "The lines, 1 to 100; all others stay." }),
    expectedVersion: t.int({ description: seenVersion }),
  }),
});

export const LinesRemoveInput = builder.inputType("CartLinesRemoveInput", {
  description: "What leaves a cart.",
  fields: (t) => ({
    lineIds: t.idList({ required: true, description: `The lines, \`cln_…\`, 1 to ${linesMax}.` }),
    expectedVersion: t.int({ description: seenVersion }),
  }),
});

export const BuyerSetInput = builder.inputType("CartBuyerSetInput", {
  description: "Whose a cart is: what stands here replaces what was.",
  fields: (t) => ({
    buyerReference: t.string({
      description: "The frontend's own stable name for the buyer, never an e-mail; null: nobody known. 1 to 128 characters.",
    }),
    email: t.string({ description: "Where to write to. Stored encrypted; answered with masked. At most 254 characters." }),
    expectedVersion: t.int({ description: seenVersion }),
  }),
});

export const MarketChangeInput = builder.inputType("CartMarketChangeInput", {
  description: "Another country.",
  fields: (t) => ({
    market: t.field({ type: "CountryCode", required: true, description: "The country that prices are taken for; the merchant must sell there." }),
    expectedVersion: t.int({ description: seenVersion }),
  }),
});

export const DeliverySelectInput = builder.inputType("CartDeliveryOptionSelectInput", {
  description: "How a cart is delivered.",
  fields: (t) => ({
    optionId: t.id({ description: "One of the cart's delivery options; null: none." }),
    expectedVersion: t.int({ description: seenVersion }),
  }),
});

export const MergeInput = builder.inputType("CartMergeInput", {
  description: "What goes into a cart from another.",
  fields: (t) => ({
    sourceCartId: t.id({ required: true, description: "The cart that ends as merged." }),
    expectedVersion: t.int({ description: seenVersion }),
  }),
});
