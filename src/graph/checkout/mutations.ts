/** The GraphQL mutations that create, change and cancel checkout sessions. Canceling is also a REST operation. */
import { cancelCheckoutSession } from "#commerce/checkout/release-sessions.ts";
import type { LockedCartAndCheckoutSession } from "#commerce/checkout/session-aggregate.ts";
import { createCheckoutSession } from "#commerce/checkout/create-session.ts";
import {
  applyCheckoutSessionPromotion,
  removeCheckoutSessionPromotion,
  selectCheckoutSessionDeliveryOption,
  setCheckoutSessionAddress,
  setCheckoutSessionContact,
} from "#commerce/checkout/session-changes.ts";
import { cartCallers, frontendCallers, type GraphqlContext } from "#graph/context.ts";
import { sessionMutationKind, existingSessionMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";
import { CheckoutSessionRef, type GraphqlCheckoutSession } from "#graph/refs.ts";
import {
  SessionAddressSetInputType,
  SessionCancelInputType,
  SessionContactSetInputType,
  SessionCreateInputType,
  SessionDeliverySelectInputType,
  SessionPromotionApplyInputType,
  SessionPromotionRemoveInputType,
} from "./session-types.ts";
import { toGraphqlCheckoutSession } from "./sessions.ts";

const answerSession = (
  context: GraphqlContext,
  changed: LockedCartAndCheckoutSession,
): GraphqlCheckoutSession => toGraphqlCheckoutSession(changed, context);

defineMutation({
  ...sessionMutationKind,
  name: "hostedCheckoutSessionCreate",
  description:
    "Creates a checkout session: computes the cart's prices again, locks the cart, and reserves its units " +
    "in the stock until the session ends. Refused if the cart is empty, is locked or has lines that cannot " +
    "be sold.",
  failures: [
    "cart_not_found",
    "cart_version_conflict",
    "cart_locked",
    "cart_completed",
    "cart_revoked",
    "cart_expired",
    "cart_merged",
    "cart_empty",
    "invalid_state",
  ],
  callers: frontendCallers,
  input: SessionCreateInputType,
  inputDescription: "The checkout session to create.",
  type: CheckoutSessionRef,
  run: createCheckoutSession,
  answer: answerSession,
});

defineMutation({
  ...existingSessionMutationKind,
  name: "hostedCheckoutSessionAddressSet",
  description:
    "Sets the delivery address of a checkout, and optionally the buyer's e-mail. The cart stays locked.",
  failures: [
    ...existingSessionMutationKind.failures,
    "address_invalid",
    "address_market_mismatch",
    "invalid_state",
  ],
  input: SessionAddressSetInputType,
  type: CheckoutSessionRef,
  run: setCheckoutSessionAddress,
  answer: answerSession,
});

defineMutation({
  ...existingSessionMutationKind,
  name: "hostedCheckoutSessionContactSet",
  description: "Sets the buyer's e-mail of a checkout. The cart stays locked.",
  failures: [...existingSessionMutationKind.failures, "invalid_state"],
  input: SessionContactSetInputType,
  type: CheckoutSessionRef,
  run: setCheckoutSessionContact,
  answer: answerSession,
});

defineMutation({
  ...existingSessionMutationKind,
  name: "hostedCheckoutSessionDeliveryOptionSelect",
  description: "Selects a delivery option for a checkout, or clears the selection. The cart stays locked.",
  failures: [...existingSessionMutationKind.failures, "invalid_state"],
  input: SessionDeliverySelectInputType,
  type: CheckoutSessionRef,
  run: selectCheckoutSessionDeliveryOption,
  answer: answerSession,
});

defineMutation({
  ...existingSessionMutationKind,
  name: "hostedCheckoutSessionPromotionApply",
  description:
    "Applies a promotion code to a checkout. By default the new code replaces the present code. " +
    "If the new code is refused, the present code stays. The cart stays locked.",
  failures: [
    ...existingSessionMutationKind.failures,
    "promotion_code_not_found",
    "cart_empty",
    "promotion_not_applicable",
    "promotion_already_applied",
    "invalid_state",
  ],
  input: SessionPromotionApplyInputType,
  type: CheckoutSessionRef,
  run: applyCheckoutSessionPromotion,
  answer: answerSession,
});

defineMutation({
  ...existingSessionMutationKind,
  name: "hostedCheckoutSessionPromotionRemove",
  description: "Removes the promotion code of a checkout. The cart stays locked.",
  failures: [...existingSessionMutationKind.failures, "promotion_not_present", "invalid_state"],
  input: SessionPromotionRemoveInputType,
  type: CheckoutSessionRef,
  run: removeCheckoutSessionPromotion,
  answer: answerSession,
});

defineMutation({
  ...existingSessionMutationKind,
  name: "hostedCheckoutSessionCancel",
  description:
    "Cancels a checkout session that was not submitted yet, releases the reserved stock and unlocks the " +
    "cart.",
  callers: ["buyer", ...cartCallers],
  input: SessionCancelInputType,
  type: CheckoutSessionRef,
  run: cancelCheckoutSession,
  answer: answerSession,
});
