/**
 * The GraphQL mutations of payments: capture, void, disputes and refunds. Captures, voids and refunds are
 * queued; a background job sends them to the payment provider after the mutation has returned.
 */
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { type GraphqlContext } from "#graph/context.ts";
import { orderMutationKind, paymentMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";
import { PaymentRef, RefundRef } from "#graph/refs.ts";
import type { OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { PaymentView } from "#commerce/orders/render-parts.ts";
import {
  capturePayment,
  type PaymentIdAndExpectedVersion,
  voidPayment,
} from "#commerce/orders/payment/order-payment.ts";
import { closePaymentDispute, openPaymentDispute } from "#commerce/orders/payment/disputes.ts";
import type { Transaction } from "#database/transaction.ts";
import { createRefund } from "#commerce/orders/payment/refunds.ts";
import {
  DisputeCloseInputType,
  DisputeOpenInputType,
  PaymentCaptureInput,
  PaymentVoidInput,
  RefundCreateInputType,
} from "./order-inputs.ts";
import { requireOrderPart } from "./orders.ts";

const runPaymentCommand =
  <Input extends PaymentIdAndExpectedVersion>(
    command: (
      transaction: Transaction,
      context: OrderCommandContext,
      input: Input,
    ) => Promise<OrderAggregate>,
  ) =>
  async (transaction: Transaction, context: OrderCommandContext, input: Input): Promise<ChangedPayment> => ({
    order: await command(transaction, context, input),
    paymentId: input.paymentId,
  });

interface ChangedPayment {
  readonly order: OrderAggregate;
  readonly paymentId: string;
}

const answerPayment = (_request: GraphqlContext, { order, paymentId }: ChangedPayment): PaymentView =>
  requireOrderPart(order, "payments", paymentId);

defineMutation({
  ...paymentMutationKind,
  name: "paymentCapture",
  description:
    "Captures an authorized payment, up to the amount that the buyer still owes. The payment provider " +
    "answers later; the event `payment.captured` reports the capture.",
  input: PaymentCaptureInput,
  type: PaymentRef,
  run: runPaymentCommand(capturePayment),
  answer: answerPayment,
});

defineMutation({
  ...paymentMutationKind,
  name: "paymentVoid",
  description:
    "Voids the uncaptured part of an authorization. The payment provider answers later; the event " +
    "`payment.canceled` reports the end of the authorization.",
  input: PaymentVoidInput,
  type: PaymentRef,
  run: runPaymentCommand(voidPayment),
  answer: answerPayment,
});

defineMutation({
  ...paymentMutationKind,
  name: "paymentDisputeOpen",
  description:
    "Records that the buyer's bank disputes a payment. Until the dispute is closed, the order's payments " +
    "cannot be captured or refunded, and the order cannot be canceled.",
  input: DisputeOpenInputType,
  type: PaymentRef,
  run: runPaymentCommand(openPaymentDispute),
  answer: answerPayment,
});

defineMutation({
  ...paymentMutationKind,
  name: "paymentDisputeClose",
  description:
    "Records the outcome of a dispute. If the merchant loses the dispute, the remaining captured amount " +
    "counts as refunded, and the amount that the buyer owes falls by the same amount.",
  input: DisputeCloseInputType,
  type: PaymentRef,
  run: runPaymentCommand(closePaymentDispute),
  answer: answerPayment,
});

/**
 * The GraphQL mutation with which a merchant refunds money. Cancellations and returns create their refunds
 * without this mutation.
 */
defineMutation({
  ...orderMutationKind,
  name: "refundCreate",
  description:
    "Refunds money for shipped units, for shipping, or as goodwill, up to the captured amount. The payment " +
    "provider answers later; the event `refund.succeeded` or `refund.failed` reports the outcome.",
  input: RefundCreateInputType,
  type: RefundRef,
  run: createRefund,
  answer: (_context, { order, refundId }) => requireOrderPart(order, "refunds", refundId),
});
