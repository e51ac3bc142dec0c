/** Payments of orders: taking what was authorized, letting it go, and disputes. The provider is asked after the answer. */
import { capturePayment } from "#commerce/orders/capture-payment.ts";
import { closeDispute, openDispute } from "#commerce/orders/disputes.ts";
import type { OrderTenant } from "#commerce/orders/change-order.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { PaymentTarget } from "#commerce/orders/order-payment.ts";
import { voidPayment } from "#commerce/orders/void-payment.ts";
import type { Transaction } from "#database/transaction.ts";
import type { InputRef } from "@pothos/core";
import { PaymentRef } from "#graph/refs.ts";
import { DisputeCloseInput, DisputeOpenInput, PaymentCaptureInput, PaymentVoidInput } from "./order-inputs.ts";
import { orderMutation } from "./order-mutation.ts";
import { showPart } from "./orders.ts";

interface PaymentMutation<Input extends object> {
  readonly description: string;
  readonly input: InputRef<Input>;
  readonly change: (transaction: Transaction, tenant: OrderTenant, input: Input & PaymentTarget) => Promise<OrderAggregate>;
}

/** Answers with the payment as it stands now. */
function paymentMutation<Input extends object>(name: string, { description, input, change }: PaymentMutation<Input>): void {
  orderMutation(name, {
    description,
    on: "paymentId",
    input,
    type: PaymentRef,
    change: async (transaction, tenant, asked) => ({ order: await change(transaction, tenant, asked), paymentId: asked.paymentId }),
    answer: (_context, { order, paymentId }) => showPart(order, "payments", paymentId),
  });
}

paymentMutation("paymentCapture", {
  description: "Takes what was authorized, no more than is still owed. The provider answers later: `payment.captured` tells.",
  input: PaymentCaptureInput,
  change: capturePayment,
});

paymentMutation("paymentVoid", {
  description: "Lets go what was authorized and not captured. The provider answers later: `payment.canceled` tells when nothing is left of it.",
  input: PaymentVoidInput,
  change: voidPayment,
});

paymentMutation("paymentDisputeOpen", {
  description: "Notes that the buyer's bank disputes a payment. Until it is closed nothing is captured, refunded or canceled.",
  input: DisputeOpenInput,
  change: openDispute,
});

paymentMutation("paymentDisputeClose", {
  description: "Notes how a dispute ended. Lost, what was kept of the payment counts as given back, and the buyer owes that much less.",
  input: DisputeCloseInput,
  change: closeDispute,
});
