/** The GraphQL input types of the mutations of orders, payments and refunds. */
import { type CancellationReason } from "#commerce/orders/cancellation/reasons.ts";
import { noteLengthMax } from "#commerce/orders/order-checks.ts";
import type { RefundCause, RefundReason } from "#commerce/orders/order-states.ts";
import type {
  PaymentDisputeOutcomeCode,
  PaymentDisputeReasonCode,
} from "#commerce/orders/payment/disputes.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";

export const orderVersionDescription =
  "The version of the order that the caller last read. If the order has another version now, nothing is " +
  "changed and the error is version_conflict (409).";

export const CancellationReasonEnum = defineGraphqlEnum<CancellationReason>("OrderCancellationReason", {
  description: "The reason for canceling an order or some of its units.",
  values: {
    ordered_by_mistake: "The buyer ordered by mistake.",
    changed_mind: "The buyer no longer wants the product.",
    better_price: "The buyer found a better price elsewhere.",
    arrives_too_late: "The delivery would be too late.",
    wrong_address: "The delivery address is wrong.",
    out_of_stock: "The product is out of stock. Only the merchant may give this reason.",
    fraud_suspected: "The merchant suspects fraud. Only the merchant may give this reason.",
    price_error: "The price was wrong. Only the merchant may give this reason.",
    buyer_unreachable: "The buyer cannot be reached. Only the merchant may give this reason.",
    other: "A reason that no other value of this enum names.",
  },
});

const refundReasonDescriptions = {
  requested_by_customer: "The buyer asked for the refund.",
  damaged: "The goods arrived damaged.",
  not_received: "The goods did not arrive.",
  wrong_item: "A wrong product was delivered.",
  price_adjustment: "The price was reduced after the purchase.",
  duplicate: "The order or payment was made twice.",
  fraudulent: "The payment was fraudulent.",
  other: "A reason that no other value of this enum names.",
};

const RefundReasonEnum = defineGraphqlEnum<RefundReason>("RefundReason", {
  description: "The reason that staff give for a refund.",
  values: refundReasonDescriptions,
});

export const RefundCauseEnum = defineGraphqlEnum<RefundCause>("RefundCause", {
  description:
    "Why a refund was made: the reason that staff gave, or the reason of a refund that the service requests " +
    "itself.",
  values: {
    ...refundReasonDescriptions,
    order_canceled: "The order or some of its units were canceled.",
    order_returned: "The buyer returned units.",
    late_payment: "The payment succeeded too late to place an order.",
  },
});

const DisputeReasonEnum = defineGraphqlEnum<PaymentDisputeReasonCode>("PaymentDisputeReason", {
  description: "The reason for which the buyer's bank disputes a payment, as the bank reports it.",
  values: {
    fraudulent: "The buyer says that another person made the payment.",
    unrecognized: "The buyer says that the payment is unknown to the buyer.",
    not_received: "The goods did not arrive.",
    not_as_described: "The buyer says that the goods differ from their description.",
    duplicate: "The buyer says that the payment was made twice.",
    canceled: "The buyer says that the order was canceled and not refunded.",
    other: "A reason that no other value of this enum names.",
  },
});

const DisputeOutcomeEnum = defineGraphqlEnum<PaymentDisputeOutcomeCode>("PaymentDisputeOutcome", {
  description: "The outcome of a payment dispute with the buyer's bank.",
  values: {
    won: "The bank decided for the merchant, who keeps the disputed amount.",
    lost: "The bank decided for the buyer, who has got the disputed amount back.",
  },
});

export const OrderLineQuantityInput = builder.inputType("OrderLineQuantityInput", {
  description: "A number of units of an order line.",
  fields: (t) => ({
    lineId: t.id({ required: true, description: "The id of the order line, `oln_…`." }),
    quantity: t.int({ required: true, description: "The number of units, 1 to 9999." }),
  }),
});

export const OrderAmountInput = builder.inputType("OrderAmountInput", {
  description: "An amount in the order's currency.",
  fields: (t) => ({
    amountMinor: t.field({
      type: "MinorUnits",
      required: true,
      description: "The amount in minor units of the currency, 1 or more.",
    }),
    currency: t.field({
      type: "CurrencyCode",
      required: true,
      description: "The currency of the amount; must be the currency of the order.",
    }),
  }),
});

export const OrderCancelInputType = builder.inputType("OrderCancelInput", {
  description: "The units of an order to cancel, and the reason.",
  fields: (t) => ({
    lines: t.field({
      type: [OrderLineQuantityInput],
      description:
        "The lines and quantities to cancel, 1 to 200 lines. If left out, all units that can be canceled " +
        "are canceled. A buyer may not combine units that are canceled at once with units whose " +
        "cancellation needs the merchant's approval.",
    }),
    reason: t.field({
      type: CancellationReasonEnum,
      required: true,
      description:
        "The reason for the cancellation. Some reasons may only be given by the merchant. The order shows " +
        "the reason in `cancellation` or `cancellationRequest`, and the refund of the cancellation shows " +
        "it too.",
    }),
    note: t.string({
      description:
        `The reason for the cancellation in words, at most ${noteLengthMax} characters, line breaks ` +
        "included. The merchant's staff can read the note. The buyer's frontend can read the note in a " +
        "cancellation request and in a refund. Events do not contain the note.",
    }),
    expectedVersion: t.int({ description: orderVersionDescription }),
  }),
});

export const CancellationAnswerInput = builder.inputType("OrderCancellationAnswerInput", {
  description: "The merchant's decision on a cancellation request.",
  fields: (t) => ({ expectedVersion: t.int({ description: orderVersionDescription }) }),
});

export const PaymentCaptureInput = builder.inputType("PaymentCaptureInput", {
  description: "The amount of an authorized payment to capture.",
  fields: (t) => ({
    amount: t.field({
      type: OrderAmountInput,
      description:
        "The amount to capture. If left out, the service captures the authorized amount, but no more than " +
        "the buyer still owes.",
    }),
    expectedVersion: t.int({ description: orderVersionDescription }),
  }),
});

export const PaymentVoidInput = builder.inputType("PaymentVoidInput", {
  description: "The payment whose authorization is voided, with the expected version of its order.",
  fields: (t) => ({ expectedVersion: t.int({ description: orderVersionDescription }) }),
});

export const DisputeOpenInputType = builder.inputType("PaymentDisputeOpenInput", {
  description: "The dispute that the buyer's bank has opened about a payment.",
  fields: (t) => ({
    reason: t.field({
      type: DisputeReasonEnum,
      required: true,
      description: "The reason for which the buyer's bank disputes the payment.",
    }),
    expectedVersion: t.int({ description: orderVersionDescription }),
  }),
});

export const DisputeCloseInputType = builder.inputType("PaymentDisputeCloseInput", {
  description: "The outcome of a payment dispute with the buyer's bank.",
  fields: (t) => ({
    outcome: t.field({
      type: DisputeOutcomeEnum,
      required: true,
      description: "The bank's decision: whether the merchant or the buyer gets the disputed amount.",
    }),
    expectedVersion: t.int({ description: orderVersionDescription }),
  }),
});

export const RefundCreateInputType = builder.inputType("RefundCreateInput", {
  description:
    "The units, shipping or additional amount to refund. At least one of `lines`, `shipping` and `amount` " +
    "is required; the refunded amount is their sum.",
  fields: (t) => ({
    lines: t.field({
      type: [OrderLineQuantityInput],
      description:
        "The units to refund, in 1 to 200 order lines: shipped units that were not returned. Refunded are " +
        "the prices of the units less their share of the discounts, with their share of the tax.",
    }),
    shipping: t.boolean({
      description:
        "Whether to refund the part of the shipping price that was not refunded before; false by default.",
    }),
    amount: t.field({
      type: OrderAmountInput,
      description: "An additional amount to refund, for example as goodwill.",
    }),
    reason: t.field({
      type: RefundReasonEnum,
      required: true,
      description:
        "The reason for the refund. Every caller that can read the refund can read the reason, and the " +
        "refund's event contains it.",
    }),
    note: t.string({
      description:
        `The reason for the refund in words, at most ${noteLengthMax} characters, line breaks included. ` +
        "The merchant's staff and the buyer's frontend can read the note; analysts cannot, and events do " +
        "not contain the note.",
    }),
    expectedVersion: t.int({ description: orderVersionDescription }),
  }),
});
