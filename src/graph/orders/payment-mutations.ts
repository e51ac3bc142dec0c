/** Mutations of payments: capturing, voiding, disputes and refunds. The provider is called after the answer. */
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { type GraphContext } from "#graph/context.ts";
import { orderMutationKind, paymentMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";
import { PaymentRef, RefundRef } from "#graph/refs.ts";
import type { OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { PaymentView } from "#commerce/orders/render-parts.ts";
import { capturePayment, type PaymentTarget, voidPayment } from "#commerce/orders/payment/order-payment.ts";
import { closeDispute, openDispute } from "#commerce/orders/payment/disputes.ts";
import type { Transaction } from "#database/transaction.ts";
import { createRefund } from "#commerce/orders/payment/refunds.ts";
import {
  DisputeCloseInput,
  DisputeOpenInput,
  PaymentCaptureInput,
  PaymentVoidInput,
  RefundCreateInput,
} from "./order-inputs.ts";
import { showPart } from "./orders.ts";

const changesPayment =
  <Input extends PaymentTarget>(
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

const answerPayment = (_request: GraphContext, { order, paymentId }: ChangedPayment): PaymentView =>
  showPart(order, "payments", paymentId);

defineMutation({
  ...paymentMutationKind,
  name: "paymentCapture",
  description:
    "Takes what was authorized, no more than is still owed. The provider answers later: `payment.captured` tells.",
  input: PaymentCaptureInput,
  type: PaymentRef,
  run: changesPayment(capturePayment),
  answer: answerPayment,
});

defineMutation({
  ...paymentMutationKind,
  name: "paymentVoid",
  description:
    "Lets go what was authorized and not captured. The provider answers later: `payment.canceled` tells when nothing is left of it.",
  input: PaymentVoidInput,
  type: PaymentRef,
  run: changesPayment(voidPayment),
  answer: answerPayment,
});

defineMutation({
  ...paymentMutationKind,
  name: "paymentDisputeOpen",
  description:
    "Notes that the buyer's bank disputes a payment. Until it is closed nothing is captured, refunded or canceled.",
  input: DisputeOpenInput,
  type: PaymentRef,
  run: changesPayment(openDispute),
  answer: answerPayment,
});

defineMutation({
  ...paymentMutationKind,
  name: "paymentDisputeClose",
  description:
    "Notes how a dispute ended. Lost, what was kept of the payment counts as given back, and the buyer owes that much less.",
  input: DisputeCloseInput,
  type: PaymentRef,
  run: changesPayment(closeDispute),
  answer: answerPayment,
});

/** Refunds that the merchant creates. Cancellations and returns create theirs by themselves. */
defineMutation({
  ...orderMutationKind,
  name: "refundCreate",
  description:
    "Gives money back for units that were sent, for the shipping, or as a goodwill; never more than was captured. The provider answers later: `refund.succeeded` or `refund.failed` tells.",
  input: RefundCreateInput,
  type: RefundRef,
  run: createRefund,
  answer: (_context, { order, refundId }) => showPart(order, "refunds", refundId),
});
