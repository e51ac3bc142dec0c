/**
 * The GraphQL input types of cart mutations. Types whose name starts with `Public` are bodies of REST
 * operations.
 */

import { z } from "zod";
import { addressLengthMax as lengths } from "#commerce/addresses/postal-address.ts";
import { cartRevocationNoteLengthMax } from "#commerce/carts/cart-aggregate.ts";
import { cartLinesMax } from "#commerce/carts/change-lines.ts";
import { cartLineQuantityMax } from "#commerce/carts/price-lines.ts";
import { promotionCodeLengthMax } from "#commerce/promotions/choose-promotions.ts";
import { builder } from "#graph/builder.ts";
import { CartRevocationReasonEnum, AddressValidationEnum, OnExistingPromotionEnum } from "./cart-enums.ts";

const expectedVersionDescription =
  "The version of the cart that the caller last read. If the cart has another version now, nothing is " +
  "changed and the error is cart_version_conflict (409).";

const versionSchema = z.int32().min(1);

const textSchema = (max: number, min = 1): z.ZodString => z.string().min(min).max(max);

/**
 * The maximum length of the text for a country or region. The limit is longer than any code, because a name
 * instead of a code is refused with an error that suggests the code.
 */
const codedFieldLengthMax = 80;

export const PostalAddressInputType = builder.inputType("PostalAddressInput", {
  description:
    "A postal address (https://schema.org/PostalAddress). Texts are normalized to Unicode NFC " +
    "and trimmed. Control characters, HTML, URLs and emoji are refused.",
  fields: (t) => ({
    recipientName: t.string({
      required: true,
      description: `The full name of the recipient, 1 to ${lengths.recipientName} characters.`,
      validate: textSchema(lengths.recipientName),
    }),
    company: t.string({
      description: `The company of the recipient, at most ${lengths.company} characters.`,
      validate: textSchema(lengths.company, 0),
    }),
    line1: t.string({
      required: true,
      description: `The street and house number (streetAddress), 1 to ${lengths.line1} characters.`,
      validate: textSchema(lengths.line1),
    }),
    line2: t.string({
      description:
        `The second line of the street address, for example floor and apartment, at most ${lengths.line2} ` +
        "characters.",
      validate: textSchema(lengths.line2, 0),
    }),
    line3: t.string({
      description: `The third line of the street address, at most ${lengths.line3} characters.`,
      validate: textSchema(lengths.line3, 0),
    }),
    district: t.string({
      description:
        `The district of the city, in countries whose addresses have one; at most ${lengths.district} ` +
        "characters.",
      validate: textSchema(lengths.district, 0),
    }),
    city: t.string({
      description:
        `The city (addressLocality), at most ${lengths.city} characters; required in countries whose ` +
        "addresses contain a city.",
      validate: textSchema(lengths.city, 0),
    }),
    regionCode: t.string({
      description:
        "The region (addressRegion), a code of ISO 3166-2 with or without the country prefix: `US-CA` or " +
        "`CA`.",
      validate: textSchema(codedFieldLengthMax, 0).meta({ examples: ["US-CA"] }),
    }),
    postalCode: t.string({
      description:
        `The postal code in the form of the country, at most ${lengths.postalCode} characters. The service ` +
        "corrects spaces, hyphens and upper or lower case.",
      validate: textSchema(lengths.postalCode, 0),
    }),
    countryCode: t.string({
      required: true,
      description: "The country of the address, a code of ISO 3166-1 alpha-2, for example `DE`.",
      validate: textSchema(codedFieldLengthMax, 2).meta({ examples: ["DE"] }),
    }),
    phone: t.field({
      type: "PhoneNumber",
      description: "The recipient's phone number in E.164 form: `+` and 7 to 15 digits.",
      validate: textSchema(lengths.phone, 0),
    }),
    email: t.field({
      type: "EmailAddress",
      description:
        `The e-mail address of the recipient, at most ${lengths.email} characters. A checkout also uses ` +
        "this address as the buyer's contact e-mail if the cart has no e-mail.",
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
      description:
        "The postal address to set. The service encrypts the address and never returns it in full.",
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
        `The promotion code as the buyer entered it: 1 to ${promotionCodeLengthMax} letters, digits, _ and ` +
        "- after trimming. The service ignores upper and lower case and surrounding spaces.",
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
    "The reason for revoking a cart or removing its promotion code, and the version of the cart. The " +
    "version is required, so that no change of another caller is lost.",
  fields: (t) => ({
    expectedVersion: t.int({
      required: true,
      description: expectedVersionDescription,
      validate: versionSchema,
    }),
    reason: t.field({
      type: CartRevocationReasonEnum,
      description: "The reason for revoking the cart or removing its promotion code; `other` if left out.",
    }),
    note: t.string({
      description:
        `A note for the merchant about the reason, at most ${cartRevocationNoteLengthMax} characters. The ` +
        "note must not contain personal data.",
      validate: z.string().max(cartRevocationNoteLengthMax),
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
      description: "The country whose prices the cart gets, a code of ISO 3166-1 alpha-2.",
    }),
    locale: t.field({
      type: "LocaleCode",
      description: "The language of the cart's texts; the default language of the market if left out.",
    }),
    buyerReference: t.string({
      description:
        "The id that the frontend itself gives to the buyer and never changes, 1 to 128 characters; not an " +
        "e-mail address. If left out, the buyer is the one in the X-Buyer-Reference header.",
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
        "The lines to add, 1 to 100. If the cart already has a line of the same variant, the quantity of " +
        "this line grows.",
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
      description: "The lines to change, 1 to 100. All other lines of the cart stay unchanged.",
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
  description:
    "The buyer of a cart. The cart's buyer reference and e-mail are both replaced; a field that " +
    "is left out is cleared.",
  fields: (t) => ({
    buyerReference: t.string({
      description:
        "The id that the frontend itself gives to the buyer and never changes, 1 to 128 characters; not an " +
        "e-mail address. Null if the buyer is not known.",
    }),
    email: t.field({
      type: "EmailAddress",
      description:
        "The buyer's e-mail address, at most 254 characters. The service stores the address encrypted and " +
        "returns it masked.",
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
      description:
        "The country whose prices the cart gets, a code of ISO 3166-1 alpha-2; the merchant must sell there.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const CartDeliverySelectInputType = builder.inputType("CartDeliveryOptionSelectInput", {
  description: "The delivery option to select for a cart.",
  fields: (t) => ({
    optionId: t.id({
      description:
        "The id of the delivery option to select, `dlm_…`. The option must be one that the cart offers; " +
        "null clears the selection.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const CartMergeInputType = builder.inputType("CartMergeInput", {
  description: "The cart whose lines are added to another cart.",
  fields: (t) => ({
    sourceCartId: t.id({
      required: true,
      description:
        "The id of the source cart, `cart_…`, whose lines are added. The source cart ends with the status " +
        "`merged`.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});
