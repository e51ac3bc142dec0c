/** Changes of checkout sessions before they are submitted. Canceling is a REST operation; all of them are for frontends. */
import { cancelSession } from "#commerce/checkout/release-sessions.ts";
import type { LockedSession } from "#commerce/checkout/change-session.ts";
import { createSession } from "#commerce/checkout/create-session.ts";
import {
  applySessionPromotion,
  removeSessionPromotion,
  selectSessionDelivery,
  setSessionAddress,
  setSessionContact,
} from "#commerce/checkout/session-changes.ts";
import { builder } from "#graph/builder.ts";
import { everyClient, frontends } from "#graph/carts/cart-mutation.ts";
import type { GraphContext } from "#graph/context.ts";
import { idempotencyKeyArgument, idempotencyKeyDescription } from "#graph/mutation.ts";
import { CheckoutSessionRef, type SessionShown } from "#graph/refs.ts";
import {
  SessionAddressSetInput,
  SessionCancelInput,
  SessionContactSetInput,
  SessionCreateInput,
  SessionDeliverySelectInput,
  SessionPromotionApplyInput,
  SessionPromotionRemoveInput,
} from "./session-types.ts";
import { changeSessionOf, sessionMutation } from "./session-mutation.ts";
import { showSession } from "./sessions.ts";

const answerSession = (context: GraphContext, changed: LockedSession): SessionShown => showSession(changed, context);

builder.mutationField("hostedCheckoutSessionCreate", (t) =>
  t.field({
    type: CheckoutSessionRef,
    description: "Opens a checkout: the cart is priced anew and locked, and what is in it is kept back from the stock until the session ends.",
    authScopes: { callers: frontends },
    args: {
      merchantId: t.arg.id({ description: "The merchant; needed with a token of the platform." }),
      [idempotencyKeyArgument]: t.arg.string({ description: idempotencyKeyDescription }),
      input: t.arg({ type: SessionCreateInput, required: true, description: "The checkout." }),
    },
    resolve: async (_root, { merchantId, input }, context) =>
      answerSession(context, await changeSessionOf(context, merchantId, (transaction, tenant) => createSession(transaction, tenant, input))),
  }),
);

sessionMutation("hostedCheckoutSessionAddressSet", {
  description: "Says where a checkout goes. The cart stays locked.",
  input: SessionAddressSetInput,
  type: CheckoutSessionRef,
  change: setSessionAddress,
  answer: answerSession,
});

sessionMutation("hostedCheckoutSessionContactSet", {
  description: "Says how the buyer of a checkout is reached. The cart stays locked.",
  input: SessionContactSetInput,
  type: CheckoutSessionRef,
  change: setSessionContact,
  answer: answerSession,
});

sessionMutation("hostedCheckoutSessionDeliveryOptionSelect", {
  description: "Says how a checkout is delivered. The cart stays locked.",
  input: SessionDeliverySelectInput,
  type: CheckoutSessionRef,
  change: selectSessionDelivery,
  answer: answerSession,
});

sessionMutation("hostedCheckoutSessionPromotionApply", {
  description: "Gives a checkout a promotion code in place of the one it has. Refused, the old one stays. The cart stays locked.",
  input: SessionPromotionApplyInput,
  type: CheckoutSessionRef,
  change: applySessionPromotion,
  answer: answerSession,
});

sessionMutation("hostedCheckoutSessionPromotionRemove", {
  description: "Takes a checkout's promotion code away. The cart stays locked.",
  input: SessionPromotionRemoveInput,
  type: CheckoutSessionRef,
  change: removeSessionPromotion,
  answer: answerSession,
});

sessionMutation("hostedCheckoutSessionCancel", {
  description: "Gives up a checkout that was not submitted yet: what it kept back is free, and the cart can be changed again.",
  callers: ["buyer", ...everyClient],
  input: SessionCancelInput,
  type: CheckoutSessionRef,
  change: cancelSession,
  answer: answerSession,
});
