/** Refunds that the merchant gives. Those of cancellations and returns come by themselves. */
import { createRefund } from "#commerce/orders/create-refund.ts";
import { RefundRef } from "#graph/refs.ts";
import { RefundCreateInput } from "./order-inputs.ts";
import { orderMutation } from "./order-mutation.ts";
import { showPart } from "./orders.ts";

orderMutation("refundCreate", {
  description:
    "Gives money back for units that were sent, for the shipping, or as a goodwill; never more than was captured. The provider answers later: `refund.succeeded` or `refund.failed` tells.",
  on: "orderId",
  input: RefundCreateInput,
  type: RefundRef,
  change: createRefund,
  answer: (_context, { order, refundId }) => showPart(order, "refunds", refundId),
});
