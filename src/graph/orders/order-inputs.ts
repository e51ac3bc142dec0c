/** What the mutations of orders, of their payments and of refunds take. */
import { type CancellationReason } from "#commerce/orders/cancellation/reasons.ts";
import { noteMax } from "#commerce/orders/order-checks.ts";
import type { RefundReason } from "#commerce/orders/payment/refunds.ts";
import type { DisputeOutcome, DisputeReason } from "#commerce/orders/payment/disputes.ts";
import { builder, defineEnum } from "#graph/builder.ts";

export const orderVersion =
  "The version of the order that the caller has seen; when it has another by now, nothing is changed (409 version_conflict).";

export const CancellationReasonEnum = defineEnum<CancellationReason>("OrderCancellationReason", {
  description: "Why an order, or some of it, is canceled.",
  values: {
    ordered_by_mistake: "It was ordered by mistake.",
    changed_mind: "The buyer no longer wants it.",
    better_price: "There is a better price elsewhere.",
    arrives_too_late: "It would come too late.",
    wrong_address: "It would go to the wrong address.",
    out_of_stock: "There is none left. For the merchant alone.",
    fraud_suspected: "It seems to be a fraud. For the merchant alone.",
    price_error: "The price was wrong. For the merchant alone.",
    buyer_unreachable: "The buyer cannot be reached. For the merchant alone.",
    other: "Something else.",
  },
});

const RefundReasonEnum = defineEnum<RefundReason>("RefundReason", {
  description: "Why money is given back.",
  values: {
    requested_by_customer: "The buyer asked for it.",
    damaged: "It came damaged.",
    not_received: "It did not come.",
    wrong_item: "It was something else than ordered.",
    price_adjustment: "The price was lowered afterwards.",
    duplicate: "It was ordered or paid twice.",
    fraudulent: "It was a fraud.",
    other: "Something else.",
  },
});

const DisputeReasonEnum = defineEnum<DisputeReason>("PaymentDisputeReason", {
  description: "What a buyer's bank disputes a payment for.",
  values: {
    fraudulent: "The buyer did not pay it.",
    unrecognized: "The buyer does not know what it is for.",
    not_received: "What was bought did not come.",
    not_as_described: "What came is something else.",
    duplicate: "It was paid twice.",
    canceled: "It was canceled, and not refunded.",
    other: "Something else.",
  },
});

const DisputeOutcomeEnum = defineEnum<DisputeOutcome>("PaymentDisputeOutcome", {
  description: "How a dispute ended.",
  values: { won: "The merchant keeps the money.", lost: "The bank has given the money back to the buyer." },
});

export const OrderLineQuantityInput = builder.inputType("OrderLineQuantityInput", {
  description: "So many units of a line of an order.",
  fields: (t) => ({
    lineId: t.id({ required: true, description: "The line, `oln_…`." }),
    quantity: t.int({ required: true, description: "How many, 1 to 9999." }),
  }),
});

export const OrderAmountInput = builder.inputType("OrderAmountInput", {
  description: "An amount in the order's currency.",
  fields: (t) => ({
    amountMinor: t.field({
      type: "MinorUnits",
      required: true,
      description: "How much, in the currency's minor unit; 1 or more.",
    }),
    currency: t.field({ type: "CurrencyCode", required: true, description: "The order's currency." }),
  }),
});

export const OrderCancelInput = builder.inputType("OrderCancelInput", {
  description: "What of an order shall be canceled, and why.",
  fields: (t) => ({
    lines: t.field({
      type: [OrderLineQuantityInput],
      description:
        "The lines, 1 to 200; without it all that can be canceled. What a buyer can cancel at once is not mixed with what the merchant must agree to.",
    }),
    reason: t.field({
      type: CancellationReasonEnum,
      required: true,
      description:
        "What made somebody cancel it, by one of these words; those that are the merchant's alone are refused from a buyer. Whoever may read the order reads it in its `cancellation` or `cancellationRequest`; a refund that comes of it has it as well.",
    }),
    note: t.string({
      description: `The same in words: at most ${noteMax} characters, lines and all. It is kept with a request, with an order that is canceled as a whole, and with a refund that comes of it, for who runs the merchant; of a request and a refund the buyer's frontend is told as well. No event has it.`,
    }),
    expectedVersion: t.int({ description: orderVersion }),
  }),
});

export const CancellationAnswerInput = builder.inputType("OrderCancellationAnswerInput", {
  description: "The merchant's answer to a request to cancel.",
  fields: (t) => ({ expectedVersion: t.int({ description: orderVersion }) }),
});

export const PaymentCaptureInput = builder.inputType("PaymentCaptureInput", {
  description: "What shall be taken of an authorized payment.",
  fields: (t) => ({
    amount: t.field({
      type: OrderAmountInput,
      description: "How much; without it all that is authorized and still owed.",
    }),
    expectedVersion: t.int({ description: orderVersion }),
  }),
});

export const PaymentVoidInput = builder.inputType("PaymentVoidInput", {
  description: "An authorization that shall be let go.",
  fields: (t) => ({ expectedVersion: t.int({ description: orderVersion }) }),
});

export const DisputeOpenInput = builder.inputType("PaymentDisputeOpenInput", {
  description: "What a buyer's bank says.",
  fields: (t) => ({
    reason: t.field({ type: DisputeReasonEnum, required: true, description: "What it is disputed for." }),
    expectedVersion: t.int({ description: orderVersion }),
  }),
});

export const DisputeCloseInput = builder.inputType("PaymentDisputeCloseInput", {
  description: "How a dispute ended.",
  fields: (t) => ({
    outcome: t.field({ type: DisputeOutcomeEnum, required: true, description: "Who has the money." }),
    expectedVersion: t.int({ description: orderVersion }),
  }),
});

export const RefundCreateInput = builder.inputType("RefundCreateInput", {
  description:
    "What shall be given back. Lines, shipping and amount are added up; one of them must be given.",
  fields: (t) => ({
    lines: t.field({
      type: [OrderLineQuantityInput],
      description:
        "Units that were sent and have not come back, 1 to 200 lines: their worth, discount and tax in it.",
    }),
    shipping: t.boolean({
      description: "Whether all that is left of the shipping goes back; false unless told.",
    }),
    amount: t.field({ type: OrderAmountInput, description: "An amount beside them, as a goodwill." }),
    reason: t.field({
      type: RefundReasonEnum,
      required: true,
      description:
        "What the money goes back for, by one of these words. Whoever may read the refund reads it, and it stands in its event.",
    }),
    note: t.string({
      description: `The same in words: at most ${noteMax} characters, lines and all. Staff and the buyer's frontend are told, analysts and events are not.`,
    }),
    expectedVersion: t.int({ description: orderVersion }),
  }),
});
