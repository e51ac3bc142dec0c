/** Cancellations of orders: by the buyer or the merchant, and the merchant's answers to a buyer's request. */
import { cancelOrder } from "#commerce/orders/cancel-order.ts";
import { approveCancellation, declineCancellation } from "#commerce/orders/cancellation-request.ts";
import { OrderRef } from "#graph/refs.ts";
import { CancellationAnswerInput, OrderCancelInput } from "./order-inputs.ts";
import { buyersAndStaff, orderMutation } from "./order-mutation.ts";
import { showOrder } from "./orders.ts";

orderMutation("orderCancel", {
  description:
    "Cancels an order or some of it, decided by the same rules as `cancellationEligibility` (409 invalid_state gives the reasons). Where a buyer may only ask, it becomes a request that the merchant answers. What was paid for it goes back, and what was reserved is free again.",
  on: "orderId",
  callers: buyersAndStaff,
  input: OrderCancelInput,
  type: OrderRef,
  change: cancelOrder,
  answer: (context, order) => showOrder(order, context),
});

orderMutation("orderCancellationApprove", {
  description: "Cancels what a buyer asked to have canceled, if it still can be.",
  on: "orderId",
  input: CancellationAnswerInput,
  type: OrderRef,
  change: approveCancellation,
  answer: (context, order) => showOrder(order, context),
});

orderMutation("orderCancellationDecline", {
  description: "Tells a buyer that the order is not canceled; all stays as it is.",
  on: "orderId",
  input: CancellationAnswerInput,
  type: OrderRef,
  change: declineCancellation,
  answer: (context, order) => showOrder(order, context),
});
