/** The words of hosted checkout sessions. */
import type { CancelActor, CancelReason } from "#commerce/carts/session-end.ts";
import type { SessionPaymentStatus } from "#commerce/checkout/render-session.ts";
import type { SessionStatus } from "#commerce/checkout/session-aggregate.ts";
import { defineEnum } from "#graph/enums.ts";

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

export const CancelReasonEnum = defineEnum<CancelReason>("HostedCheckoutCancelReason", {
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

export const CancelActorEnum = defineEnum<CancelActor>("HostedCheckoutCancelActor", {
  description: "Who canceled a checkout session.",
  values: {
    api_key: "An integrator, by an API key.",
    oauth_client: "An integrator, by an access token.",
    buyer: "The buyer, by a storefront.",
    staff: "Somebody who works for the merchant or the platform.",
    system: "The service itself.",
  },
});
