/**
 * The enums of checkout sessions, and the input types of their mutations. `HostedCheckoutCancelRequest` is
 * the body of a REST operation.
 */
import { z } from "zod";
import { sessionCancelNoteMax } from "#commerce/checkout/release-sessions.ts";
import { sessionLifetimeMinutes } from "#commerce/checkout/create-session.ts";
import { promotionCodeLengthMax } from "#commerce/promotions/choose-promotions.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import {
  AddressValidationEnum,
  OnExistingPromotionEnum,
  PostalAddressInputType,
} from "#graph/carts/cart-types.ts";
import type { SessionCancelActor, SessionCancelReason } from "#commerce/checkout/end-session.ts";
import type { SessionPaymentStatus } from "#commerce/checkout/render-session.ts";
import type { SessionStatus } from "#commerce/checkout/session-aggregate.ts";

export const SessionStatusEnum = defineEnum<SessionStatus>("HostedCheckoutSessionStatus", {
  description: "Where a checkout session is in its life.",
  values: {
    open: "The buyer is at it.",
    processing: "It was submitted; the payment is under way.",
    completed: "There is an order.",
    canceled: "It was given up.",
    expired: "Its time ran out.",
  },
});

export const SessionPaymentStatusEnum = defineEnum<SessionPaymentStatus>("HostedCheckoutPaymentStatus", {
  description: "Whether a checkout session is paid.",
  values: {
    unpaid: "Nothing was paid.",
    processing: "The payment is under way.",
    paid: "The payment was authorised; the order tells what becomes of it.",
    not_required: "There was nothing to be paid.",
  },
});

export const SessionCancelReasonEnum = defineEnum<SessionCancelReason>("HostedCheckoutCancelReason", {
  description: "Why a checkout session is canceled.",
  values: {
    buyer_abandoned: "The buyer went away.",
    buyer_changed_mind: "The buyer does not want it any more.",
    merchant_request: "The merchant asked for it.",
    price_changed: "A price is another than the buyer saw.",
    out_of_stock: "Something is sold out.",
    fraud_suspected: "It seemed to be fraud.",
    duplicate: "There is another one.",
    test: "It was a test.",
    other: "Something else.",
  },
});

export const SessionCancelActorEnum = defineEnum<SessionCancelActor>("HostedCheckoutCancelActor", {
  description: "Who canceled a checkout session.",
  values: {
    api_key: "An integrator, by an API key.",
    oauth_client: "An integrator, by an access token.",
    buyer: "The buyer, by a storefront.",
    staff: "Somebody who works for the merchant or the platform.",
    system: "The service itself.",
  },
});

const expectedVersionDescription =
  "The version of the session that the caller has seen; when it has another by now, nothing is changed (409 checkout_session_version_conflict).";
const versionSchema = z.int32().min(1);

export const SessionCancelInputType = builder.inputType("HostedCheckoutCancelRequest", {
  description: "A checkout session that is given up, and what made somebody do so.",
  fields: (t) => ({
    reason: t.field({
      type: SessionCancelReasonEnum,
      required: true,
      description:
        "What made somebody give it up, by one of these words. It stands in the session's `cancellation`, for whoever may read the session, and in its event.",
    }),
    note: t.string({
      description: `The same in words: at most ${sessionCancelNoteMax} characters, nothing personal. It is read by whoever reads the reason.`,
      validate: z.string().max(sessionCancelNoteMax),
    }),
    expectedVersion: t.int({ description: expectedVersionDescription, validate: versionSchema }),
  }),
});

export const SessionCreateInputType = builder.inputType("HostedCheckoutSessionCreateInput", {
  description: "A new checkout.",
  fields: (t) => ({
    cartId: t.id({ required: true, description: "The cart, `cart_…`: it is locked until the session ends." }),
    addressToken: t.id({
      description:
        "Where it goes: the token that setting the cart's address answered with. Without it the cart's address is taken, if it has one.",
    }),
    successUrl: t.string({
      required: true,
      description: "Where the buyer goes when there is an order: https, 2048 characters at most.",
    }),
    cancelUrl: t.string({
      required: true,
      description: "Where the buyer goes who gives up: https, 2048 characters at most.",
    }),
    lifetimeMinutes: t.int({
      description: `How long it lives, ${sessionLifetimeMinutes.min} to ${sessionLifetimeMinutes.max} minutes; ${sessionLifetimeMinutes.default} unless told.`,
    }),
    expectedVersion: t.int({
      description:
        "The version of the cart that the caller has seen; when it has another by now, nothing is changed (409 cart_version_conflict).",
    }),
  }),
});

export const SessionAddressSetInputType = builder.inputType("HostedCheckoutSessionAddressSetInput", {
  description: "Where a checkout goes.",
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
    contactEmail: t.string({
      description:
        "The buyer's e-mail, 254 characters at most, in place of the one that the cart has; left out, that one stays. Stored encrypted.",
    }),
    saveForBuyer: t.boolean({
      description:
        "Whether it is kept for the buyer's next carts; the cart must have a buyer. False unless told.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const SessionContactSetInputType = builder.inputType("HostedCheckoutSessionContactSetInput", {
  description: "How the buyer of a checkout is reached.",
  fields: (t) => ({
    email: t.string({
      required: true,
      description:
        "The buyer's e-mail, 254 characters at most, in place of the one that the cart has. It is stored encrypted and answered with masked.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const SessionDeliverySelectInputType = builder.inputType(
  "HostedCheckoutSessionDeliveryOptionSelectInput",
  {
    description: "How a checkout is delivered.",
    fields: (t) => ({
      optionId: t.id({ description: "One of the cart's delivery options; null: none." }),
      expectedVersion: t.int({ description: expectedVersionDescription }),
    }),
  },
);

export const SessionPromotionApplyInputType = builder.inputType("HostedCheckoutSessionPromotionApplyInput", {
  description: "A code for a checkout.",
  fields: (t) => ({
    code: t.string({
      required: true,
      description: `What the buyer typed; case and space around it do not matter. 1 to ${promotionCodeLengthMax} letters, digits, _ and - after trimming.`,
    }),
    onExisting: t.field({
      type: OnExistingPromotionEnum,
      description: "What to do with another code that is there; `replace` unless told.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

export const SessionPromotionRemoveInputType = builder.inputType(
  "HostedCheckoutSessionPromotionRemoveInput",
  {
    description: "Takes the code of a checkout away.",
    fields: (t) => ({ expectedVersion: t.int({ description: expectedVersionDescription }) }),
  },
);
