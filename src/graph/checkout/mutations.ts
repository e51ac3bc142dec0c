/**
 * Changes of checkout sessions before they are submitted. Canceling is a REST operation; all of them are for
 * frontends.
 */
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
import { everyClient, frontends, type GraphContext } from "#graph/context.ts";
import { anySessionChange, sessionChange } from "#graph/change-kinds.ts";
import { changeMutation } from "#graph/mutation.ts";
import { CheckoutSessionRef, type SessionShown } from "#graph/refs.ts";
import {
  SessionAddressSetInputType,
  SessionCancelInputType,
  SessionContactSetInputType,
  SessionCreateInputType,
  SessionDeliverySelectInputType,
  SessionPromotionApplyInputType,
  SessionPromotionRemoveInputType,
} from "./session-types.ts";
import { toSessionNode } from "./sessions.ts";

const answerSession = (context: GraphContext, changed: LockedSession): SessionShown =>
  toSessionNode(changed, context);

changeMutation({
  ...anySessionChange,
  name: "hostedCheckoutSessionCreate",
  description:
    "Opens a checkout: the cart is priced anew and locked, and what is in it is kept back from the stock until the session ends.",
  callers: frontends,
  input: SessionCreateInputType,
  inputDescription: "The checkout.",
  type: CheckoutSessionRef,
  run: createSession,
  answer: answerSession,
});

changeMutation({
  ...sessionChange,
  name: "hostedCheckoutSessionAddressSet",
  description: "Says where a checkout goes. The cart stays locked.",
  input: SessionAddressSetInputType,
  type: CheckoutSessionRef,
  run: setSessionAddress,
  answer: answerSession,
});

changeMutation({
  ...sessionChange,
  name: "hostedCheckoutSessionContactSet",
  description: "Says how the buyer of a checkout is reached. The cart stays locked.",
  input: SessionContactSetInputType,
  type: CheckoutSessionRef,
  run: setSessionContact,
  answer: answerSession,
});

changeMutation({
  ...sessionChange,
  name: "hostedCheckoutSessionDeliveryOptionSelect",
  description: "Says how a checkout is delivered. The cart stays locked.",
  input: SessionDeliverySelectInputType,
  type: CheckoutSessionRef,
  run: selectSessionDelivery,
  answer: answerSession,
});

changeMutation({
  ...sessionChange,
  name: "hostedCheckoutSessionPromotionApply",
  description:
    "Gives a checkout a promotion code in place of the one it has. Refused, the old one stays. The cart stays locked.",
  input: SessionPromotionApplyInputType,
  type: CheckoutSessionRef,
  run: applySessionPromotion,
  answer: answerSession,
});

changeMutation({
  ...sessionChange,
  name: "hostedCheckoutSessionPromotionRemove",
  description: "Takes a checkout's promotion code away. The cart stays locked.",
  input: SessionPromotionRemoveInputType,
  type: CheckoutSessionRef,
  run: removeSessionPromotion,
  answer: answerSession,
});

changeMutation({
  ...sessionChange,
  name: "hostedCheckoutSessionCancel",
  description:
    "Gives up a checkout that was not submitted yet: what it kept back is free, and the cart can be changed again.",
  callers: ["buyer", ...everyClient],
  input: SessionCancelInputType,
  type: CheckoutSessionRef,
  run: cancelSession,
  answer: answerSession,
});
