/**
 * The GraphQL mutations that pay for a hosted checkout session: they submit the payment, create the order
 * after the payment, or abandon a pending payment.
 */
import { frontendCallers, type GraphqlContext } from "#graph/context.ts";
import { z } from "zod";
import type { LockedCartAndCheckoutSession } from "#commerce/checkout/change-session.ts";
import { failCheckoutSession, type CheckoutSessionFailReason } from "#commerce/checkout/fail-session.ts";
import {
  completeCheckoutSession,
  submitCheckoutSessionAndPlaceFreeOrder,
} from "#commerce/orders/complete-session.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { sessionPaymentMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";
import { CheckoutSessionRef, type GraphqlCheckoutSession } from "#graph/refs.ts";
import { toGraphqlCheckoutSession } from "./sessions.ts";

const expectedVersionDescription =
  "The version of the session that the caller has seen. If the session has another version " +
  "now, nothing is changed (409 checkout_session_version_conflict).";
const versionSchema = z.int32().min(1);

const ExpectedAmount = builder.inputType("ExpectedAmountInput", {
  description: "The total amount that the checkout has shown to the buyer.",
  fields: (t) => ({
    amountMinor: t.field({
      type: "MinorUnits",
      required: true,
      description: "Amount in minor units of the currency, for example cents.",
    }),
    currency: t.string({ required: true, description: "Currency code, ISO 4217." }),
  }),
});

const SubmitInput = builder.inputType("HostedCheckoutSessionSubmitInput", {
  description: "The amount that the buyer confirms, and the payment token.",
  fields: (t) => ({
    expectedAmount: t.field({
      type: ExpectedAmount,
      required: true,
      description:
        "The total of the checkout that the buyer has confirmed. If the checkout's total differs now, " +
        "nothing is changed (409 checkout_amount_changed).",
    }),
    paymentToken: t.string({
      description:
        "The token that the payment provider's form returned for the buyer's payment method, 1 to " +
        "255 printable ASCII characters; not needed if the total is 0, and ignored if the buyer pays on " +
        "a page of the provider, to which the checkout page leads. The built-in provider " +
        "accepts tok_success, tok_decline, tok_decline_insufficient_funds, " +
        "tok_decline_expired_card, tok_decline_incorrect_cvc, tok_slow, tok_late_success, and " +
        "tok_challenge and tok_challenge_decline, which the buyer must confirm on the checkout page.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription, validate: versionSchema }),
  }),
});

const CompleteInput = builder.inputType("HostedCheckoutSessionCompleteInput", {
  description: "The checkout session to complete.",
  fields: (t) => ({
    expectedVersion: t.int({ description: expectedVersionDescription, validate: versionSchema }),
  }),
});

const FailReasonEnum = defineGraphqlEnum<CheckoutSessionFailReason>("CheckoutFailReason", {
  description: "Reason for giving up a pending payment.",
  values: {
    buyer_gave_up: "The buyer does not want to wait for the payment.",
    provider_error: "The payment provider's page has failed.",
    other: "Any other reason.",
  },
});

const FailInput = builder.inputType("HostedCheckoutSessionFailInput", {
  description: "The reason for giving up a pending payment.",
  fields: (t) => ({
    reason: t.field({
      type: FailReasonEnum,
      required: true,
      description:
        "Reason for giving up the payment. It becomes the `failureCode` of the payment and of its " +
        "event; every caller that may read the payment can read it.",
    }),
    expectedVersion: t.int({ description: expectedVersionDescription, validate: versionSchema }),
  }),
});

const answer = (request: GraphqlContext, locked: LockedCartAndCheckoutSession): GraphqlCheckoutSession =>
  toGraphqlCheckoutSession(locked, request);

defineMutation({
  ...sessionPaymentMutationKind,
  name: "hostedCheckoutSessionSubmit",
  description:
    "Submits the payment of a checkout. The session is `processing` and cannot be changed " +
    "until the payment provider has answered. The order is then placed automatically; if the " +
    "payment fails, the session is open again. If the total is 0, the order is placed at once.",
  failures: [
    ...sessionPaymentMutationKind.failures,
    "cart_empty",
    "promotion_not_applicable",
    "checkout_session_processing",
    "checkout_amount_changed",
  ],
  input: SubmitInput,
  type: CheckoutSessionRef,
  run: submitCheckoutSessionAndPlaceFreeOrder,
  answer,
});

defineMutation({
  ...sessionPaymentMutationKind,
  name: "hostedCheckoutSessionComplete",
  description:
    "Places the order of a checkout whose payment is authorized. The service also does this " +
    "automatically. While the result of the payment is not known, the call fails with 409 " +
    "checkout_session_processing and can be repeated.",
  failures: [...sessionPaymentMutationKind.failures, "checkout_session_processing"],
  callers: frontendCallers,
  input: CompleteInput,
  type: CheckoutSessionRef,
  run: completeCheckoutSession,
  answer,
});

defineMutation({
  ...sessionPaymentMutationKind,
  name: "hostedCheckoutSessionFail",
  description:
    "Gives up a payment whose result is not known yet. The session is open again, or expired " +
    "if its time is over. If the payment succeeds later, the money is refunded.",
  input: FailInput,
  type: CheckoutSessionRef,
  run: failCheckoutSession,
  answer,
});
