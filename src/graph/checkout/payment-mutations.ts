/**
 * The GraphQL mutations that pay for a hosted checkout session: they submit the payment, create the order
 * after the payment, or abandon a pending payment.
 */
import { frontendCallers, type GraphqlContext } from "#graph/context.ts";
import { z } from "zod";
import type { LockedCartAndCheckoutSession } from "#commerce/checkout/session-aggregate.ts";
import {
  failPaymentOfCheckoutSession,
  type CheckoutSessionFailReason,
} from "#commerce/checkout/fail-session.ts";
import {
  completeCheckoutSessionAndPlaceOrder,
  submitCheckoutSessionAndPlaceFreeOrder,
} from "#commerce/orders/complete-session.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { sessionPaymentMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";
import { CheckoutSessionRef, type GraphqlCheckoutSession } from "#graph/refs.ts";
import { toGraphqlCheckoutSession } from "./sessions.ts";

const expectedVersionDescription =
  "The version of the checkout session that the caller last read. If the session has another version now, " +
  "nothing is changed and the error is checkout_session_version_conflict (409).";
const versionSchema = z.int32().min(1);

const ExpectedAmount = builder.inputType("ExpectedAmountInput", {
  description: "The total amount that the checkout has shown to the buyer.",
  fields: (t) => ({
    amountMinor: t.field({
      type: "MinorUnits",
      required: true,
      description: "The amount in minor units of the currency, for example cents.",
    }),
    currency: t.string({ required: true, description: "The currency of the amount, a code of ISO 4217." }),
  }),
});

const SubmitInput = builder.inputType("HostedCheckoutSessionSubmitInput", {
  description: "The amount that the buyer confirms, and the payment token of the buyer's payment method.",
  fields: (t) => ({
    expectedAmount: t.field({
      type: ExpectedAmount,
      required: true,
      description:
        "The total of the checkout that the buyer has confirmed. If the checkout has another total now, " +
        "nothing is changed and the error is checkout_amount_changed (409).",
    }),
    paymentToken: t.string({
      description:
        "The token that the payment provider's form returned for the buyer's payment method, 1 to 255 " +
        "printable ASCII characters. The token is not needed if the total is 0, and is ignored if the " +
        "buyer pays on a page of the provider, to which the checkout page leads. The built-in provider " +
        "accepts tok_success, tok_decline, tok_decline_insufficient_funds, tok_decline_expired_card, " +
        "tok_decline_incorrect_cvc, tok_slow and tok_late_success. It also accepts tok_challenge and " +
        "tok_challenge_decline, which the buyer must confirm on the checkout page.",
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
    other: "A reason that no other value of this enum names.",
  },
});

const FailInput = builder.inputType("HostedCheckoutSessionFailInput", {
  description: "The reason for giving up a pending payment.",
  fields: (t) => ({
    reason: t.field({
      type: FailReasonEnum,
      required: true,
      description:
        "The reason for giving up the payment. The reason becomes the `failureCode` of the payment and of " +
        "its event; every caller that may read the payment can read the code.",
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
    "Submits the payment of a checkout. The session is then `processing` and cannot be changed until the " +
    "payment provider has answered. If the payment succeeds, the service places the order; if the payment " +
    "fails, the session is open again. If the total is 0, the order is placed at once.",
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
    "Places the order of a checkout whose payment is authorized. The service also places the order by " +
    "itself. While the result of the payment is not known, the call fails with 409 " +
    "checkout_session_processing and can be repeated.",
  failures: [...sessionPaymentMutationKind.failures, "checkout_session_processing"],
  callers: frontendCallers,
  input: CompleteInput,
  type: CheckoutSessionRef,
  run: completeCheckoutSessionAndPlaceOrder,
  answer,
});

defineMutation({
  ...sessionPaymentMutationKind,
  name: "hostedCheckoutSessionFail",
  description:
    "Gives up a payment whose result is not known yet. The session is then open again, or expired if its " +
    "time is over. If the payment succeeds later, the service refunds the money.",
  input: FailInput,
  type: CheckoutSessionRef,
  run: failPaymentOfCheckoutSession,
  answer,
});
