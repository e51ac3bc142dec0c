/**
 * How a hosted checkout session is paid: submitted with what it is paid with, and then placed as an order, or
 * failed.
 */
import { frontends, type GraphContext } from "#graph/context.ts";
import { z } from "zod";
import type { LockedSession } from "#commerce/checkout/change-session.ts";
import { failSession, type SessionFailReason } from "#commerce/checkout/fail-session.ts";
import { completeSession, submitCheckout } from "#commerce/orders/complete-session.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { sessionPaymentChange } from "#graph/change-kinds.ts";
import { changeMutation } from "#graph/mutation.ts";
import { CheckoutSessionRef, type SessionShown } from "#graph/refs.ts";
import { toSessionNode } from "./sessions.ts";

const expectedVersionDescription =
  "The version of the session that the caller has seen; when it has another by now, nothing is changed (409 checkout_session_version_conflict).";
const versionSchema = z.int32().min(1);

const ExpectedAmount = builder.inputType("ExpectedAmountInput", {
  description: "An amount as the buyer has seen it.",
  fields: (t) => ({
    amountMinor: t.field({ type: "MinorUnits", required: true, description: "In minor units." }),
    currency: t.string({ required: true, description: "ISO 4217." }),
  }),
});

const SubmitInput = builder.inputType("HostedCheckoutSessionSubmitInput", {
  description: "What the buyer confirms, and what to pay it with.",
  fields: (t) => ({
    expectedAmount: t.field({
      type: ExpectedAmount,
      required: true,
      description:
        "The total that the buyer has agreed to; where it is another by now, nothing is changed (409 checkout_amount_changed).",
    }),
    paymentToken: t.string({
      description:
        "What the payment provider's form gave for the buyer's means of payment, 1 to 255 printable ASCII characters; not needed where nothing is to be paid. The built-in provider takes tok_success, tok_decline, tok_decline_insufficient_funds, tok_slow and tok_late_success.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription, validate: versionSchema }),
  }),
});

const CompleteInput = builder.inputType("HostedCheckoutSessionCompleteInput", {
  description: "Which checkout becomes an order.",
  fields: (t) => ({
    expectedVersion: t.int({ description: expectedVersionDescription, validate: versionSchema }),
  }),
});

const FailReasonEnum = defineEnum<SessionFailReason>("CheckoutFailReason", {
  description: "Why nobody waits for a payment any more.",
  values: {
    buyer_gave_up: "The buyer does not want to wait for it.",
    provider_error: "The payment provider's page has failed.",
    other: "Another reason.",
  },
});

const FailInput = builder.inputType("HostedCheckoutSessionFailInput", {
  description: "Gives up a payment whose outcome is not known yet.",
  fields: (t) => ({
    reason: t.field({
      type: FailReasonEnum,
      required: true,
      description:
        "What made the caller give it up, by one of these words. It becomes the payment's `failureCode`, for whoever may read the payment, and stands in its event.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription, validate: versionSchema }),
  }),
});

const answer = (request: GraphContext, locked: LockedSession): SessionShown => toSessionNode(locked, request);

changeMutation({
  ...sessionPaymentChange,
  name: "hostedCheckoutSessionSubmit",
  description:
    "The buyer pays. The checkout is frozen and `processing` until the payment provider has answered: then its order is placed by itself, or it is open again. Where nothing is to be paid the order is placed at once.",
  input: SubmitInput,
  type: CheckoutSessionRef,
  run: submitCheckout,
  answer,
});

changeMutation({
  ...sessionPaymentChange,
  name: "hostedCheckoutSessionComplete",
  description:
    "Places the order of a checkout whose payment is authorized, as happens by itself; while that is not known yet, 409 checkout_session_processing says to ask again.",
  callers: frontends,
  input: CompleteInput,
  type: CheckoutSessionRef,
  run: completeSession,
  answer,
});

changeMutation({
  ...sessionPaymentChange,
  name: "hostedCheckoutSessionFail",
  description:
    "Gives up a payment whose outcome is not known yet: the checkout is open again, or expired where its time is over. Should the payment succeed later, the money goes back.",
  input: FailInput,
  type: CheckoutSessionRef,
  run: failSession,
  answer,
});
