/** An order is taken on by its merchant, stopped for a while, and let go on. */
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { confirmOrder, holdOrder, holdReasonMax, releaseOrder } from "#commerce/orders/order-life.ts";
import { builder } from "#graph/builder.ts";
import type { GraphContext } from "#graph/context.ts";
import { OrderRef, type OrderShown } from "#graph/refs.ts";
import { orderVersion } from "./order-inputs.ts";
import { orderMutation } from "./order-mutation.ts";
import { showOrder } from "./orders.ts";

const OrderStepInput = builder.inputType("OrderStepInput", {
  description: "A step in an order's life.",
  fields: (t) => ({ expectedVersion: t.int({ description: orderVersion }) }),
});

const OrderHoldInput = builder.inputType("OrderHoldInput", {
  description: "Why an order is stopped.",
  fields: (t) => ({
    reason: t.string({ required: true, description: `For who runs the merchant. 1 to ${holdReasonMax} characters.` }),
    expectedVersion: t.int({ description: orderVersion }),
  }),
});

const answerOrder = (context: GraphContext, order: OrderAggregate): OrderShown => showOrder(order, context);

orderMutation("orderConfirm", {
  description: "Takes an order on: from then on it can be sent.",
  on: "orderId",
  input: OrderStepInput,
  type: OrderRef,
  change: confirmOrder,
  answer: answerOrder,
});

orderMutation("orderHold", {
  description: "Stops an order for the time being: nothing new of it is sent.",
  on: "orderId",
  input: OrderHoldInput,
  type: OrderRef,
  change: holdOrder,
  answer: answerOrder,
});

orderMutation("orderRelease", {
  description: "Lets an order that is on hold go on.",
  on: "orderId",
  input: OrderStepInput,
  type: OrderRef,
  change: releaseOrder,
  answer: answerOrder,
});
