/**
 * The GraphQL enums of checkout sessions, and the input types of their mutations.
 * `HostedCheckoutCancelRequest` is the body of a REST operation.
 */
import { z } from "zod";
import { sessionCancelNoteLengthMax } from "#commerce/checkout/release-sessions.ts";
import { sessionLifetimeMinutes } from "#commerce/checkout/create-session.ts";
import { promotionCodeLengthMax } from "#commerce/promotions/choose-promotions.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { PostalAddressInputType } from "#graph/carts/cart-inputs.ts";
import { AddressValidationEnum, OnExistingPromotionEnum } from "#graph/carts/cart-enums.ts";
import type {
  CheckoutSessionCancelActor,
  CheckoutSessionCancelReason,
} from "#commerce/checkout/end-session.ts";
import type { CheckoutSessionPaymentStatus } from "#commerce/checkout/render-session.ts";
import type { CheckoutSessionStatus } from "#commerce/checkout/session-aggregate.ts";

export const SessionStatusEnum = defineGraphqlEnum<CheckoutSessionStatus>("HostedCheckoutSessionStatus", {
  description: "Whether a checkout session is open, waits for its payment, or has ended and how.",
  values: {
    open: "The buyer is checking out.",
    processing: "The session was submitted and its payment is being processed.",
    completed: "The order is placed.",
    canceled: "The session was canceled before it was submitted.",
    expired: "The session ran out of time without an order.",
  },
});

export const SessionPaymentStatusEnum = defineGraphqlEnum<CheckoutSessionPaymentStatus>(
  "HostedCheckoutPaymentStatus",
  {
    description: "Whether the payment of a checkout session is missing, in progress, made or not needed.",
    values: {
      unpaid: "No payment for the checkout session was made or is in progress.",
      processing: "The payment is being processed.",
      paid: "The payment is authorized. Whether the amount was captured later is shown in the order.",
      not_required: "The total is 0, so no payment is needed.",
    },
  },
);

export const SessionCancelReasonEnum = defineGraphqlEnum<CheckoutSessionCancelReason>(
  "HostedCheckoutCancelReason",
  {
    description: "Reason for canceling a checkout session.",
    values: {
      buyer_abandoned: "The buyer left the checkout.",
      buyer_changed_mind: "The buyer decided not to buy.",
      merchant_request: "The merchant requested the cancellation.",
      price_changed: "A price differs from the price that the buyer saw.",
      out_of_stock: "An item is out of stock.",
      fraud_suspected: "The caller suspects fraud.",
      duplicate: "The session is a duplicate of another session.",
      test: "The session was created for a test.",
      other: "A reason that no other value of this enum names.",
    },
  },
);

export const SessionCancelActorEnum = defineGraphqlEnum<CheckoutSessionCancelActor>(
  "HostedCheckoutCancelActor",
  {
    description: "The kind of caller that canceled a checkout session.",
    values: {
      api_key: "An integrator with an API key.",
      oauth_client: "An integrator with an OAuth access token.",
      buyer: "The buyer, through a storefront or the checkout page.",
      staff: "A staff member of the merchant or the platform.",
      system: "The service itself, without a caller.",
    },
  },
);

const expectedVersionDescription =
  "The version of the checkout session that the caller last read. If the session has another version now, " +
  "nothing is changed and the error is checkout_session_version_conflict (409).";
const versionSchema = z.int32().min(1);

export const SessionCancelInputType = builder.inputType("HostedCheckoutCancelRequest", {
  description: "The reason for canceling a checkout session.",
  fields: (t) => ({
    reason: t.field({
      type: SessionCancelReasonEnum,
      required: true,
      description:
        "The reason for canceling the checkout session. Every caller that may read the session can read " +
        "the reason; the event of the cancellation contains the reason too.",
    }),
    note: t.string({
      description:
        `An explanation of the reason for the cancellation, at most ${sessionCancelNoteLengthMax} ` +
        "characters, without personal data. Every caller that may read the session can read the " +
        "explanation, except for analysts.",
      validate: z.string().max(sessionCancelNoteLengthMax),
    }),
    expectedVersion: t.int({ description: expectedVersionDescription, validate: versionSchema }),
  }),
});

export const SessionCreateInputType = builder.inputType("HostedCheckoutSessionCreateInput", {
  description: "The checkout session to create.",
  fields: (t) => ({
    cartId: t.id({
      required: true,
      description: "The id of the cart to check out, `cart_…`. The cart is locked until the session ends.",
    }),
    addressToken: t.id({
      description:
        "The token of the cart's address, `adt_…`. If left out, the session uses the cart's address, if " +
        "the cart has one.",
    }),
    successUrl: t.string({
      required: true,
      description:
        "The URL of the page to which the buyer returns after the order is placed; https, at most 2048 " +
        "characters.",
    }),
    cancelUrl: t.string({
      required: true,
      description:
        "The URL of the page to which the buyer returns after giving up the checkout; https, at most 2048 " +
        "characters.",
    }),
    lifetimeMinutes: t.int({
      description:
        `The lifetime of the checkout session in minutes, ${sessionLifetimeMinutes.min} to ` +
        `${sessionLifetimeMinutes.max}; ${sessionLifetimeMinutes.default} if left out.`,
    }),
    expectedVersion: t.int({
      description:
        "The version of the cart that the caller last read. If the cart has another version now, nothing " +
        "is changed and the error is cart_version_conflict (409).",
    }),
  }),
});

export const SessionAddressSetInputType = builder.inputType("HostedCheckoutSessionAddressSetInput", {
  description: "The delivery address of a checkout.",
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
    contactEmail: t.field({
      type: "EmailAddress",
      description:
        "The buyer's e-mail address, at most 254 characters, which replaces the cart's e-mail. If left " +
        "out, the cart keeps its e-mail; a cart without an e-mail gets the e-mail of the delivery address. " +
        "The service stores the address encrypted.",
    }),
    saveForBuyer: t.boolean({
      description:
        "Whether the address is also saved for later carts of the buyer; false if left out. The " +
        "cart must have a buyer.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const SessionContactSetInputType = builder.inputType("HostedCheckoutSessionContactSetInput", {
  description: "The e-mail address of the buyer of a checkout.",
  fields: (t) => ({
    email: t.field({
      type: "EmailAddress",
      required: true,
      description:
        "The buyer's e-mail address, at most 254 characters, which replaces the cart's e-mail. The service " +
        "stores the address encrypted and returns it masked.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const SessionDeliverySelectInputType = builder.inputType(
  "HostedCheckoutSessionDeliveryOptionSelectInput",
  {
    description: "The delivery option to select for a checkout.",
    fields: (t) => ({
      optionId: t.id({
        description:
          "The id of the delivery option to select, `dlm_…`. The option must be one that the cart offers; " +
          "null clears the selection.",
      }),
      expectedVersion: t.int({ description: expectedVersionDescription }),
    }),
  },
);

export const SessionPromotionApplyInputType = builder.inputType("HostedCheckoutSessionPromotionApplyInput", {
  description: "The promotion code to apply to a checkout.",
  fields: (t) => ({
    code: t.string({
      required: true,
      description:
        `The promotion code as the buyer entered it: 1 to ${promotionCodeLengthMax} letters, digits, _ and ` +
        "- after trimming. The service ignores upper and lower case and surrounding spaces.",
    }),
    onExisting: t.field({
      type: OnExistingPromotionEnum,
      description: "What happens if the cart already has another promotion code; `replace` if left out.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const SessionPromotionRemoveInputType = builder.inputType(
  "HostedCheckoutSessionPromotionRemoveInput",
  {
    description: "The expected version of the checkout session whose promotion code is removed.",
    fields: (t) => ({ expectedVersion: t.int({ description: expectedVersionDescription }) }),
  },
);
