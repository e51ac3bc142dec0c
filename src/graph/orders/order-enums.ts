/** The words of orders and of what belongs to them. */
import type { OrderFulfillment, OrderReturn, OrderWarranty } from "#commerce/orders/order-aggregate.ts";
import type {
  FulfillmentStatus,
  OrderActor,
  OrderFulfillmentStatus,
  OrderPaymentStatus,
  OrderReturnStatus,
  OrderStatus,
  PaymentStatus,
  RefundStatus,
  ReturnKind,
  ReturnStatus,
} from "#commerce/orders/order-states.ts";
import { defineEnum } from "#graph/builder.ts";

export const OrderStatusEnum = defineEnum<OrderStatus>("OrderStatus", {
  description: "Where an order is in its life.",
  values: {
    pending: "Placed; the merchant has not taken it on yet.",
    confirmed: "The merchant has taken it on.",
    on_hold: "The merchant has stopped it for the time being.",
    completed: "Nothing is left to be sent or paid.",
    canceled: "The whole of it was canceled.",
  },
});

export const OrderPaymentStatusEnum = defineEnum<OrderPaymentStatus>("OrderPaymentStatus", {
  description: "What has become of an order's money; follows from its payments.",
  values: {
    not_required: "There was nothing to pay.",
    pending: "Nobody has paid yet.",
    authorized: "The amount is held for the merchant, and not taken yet.",
    partially_paid: "A part of it was taken.",
    paid: "All of it was taken.",
    partially_refunded: "A part of what was taken has been given back.",
    refunded: "All that was taken has been given back.",
    voided: "What was held was let go.",
    failed: "The payment failed.",
    disputed: "The buyer disputes the payment.",
  },
});

export const OrderFulfillmentStatusEnum = defineEnum<OrderFulfillmentStatus>("OrderFulfillmentStatus", {
  description: "How far an order has come to its buyer; follows from its lines and fulfillments.",
  values: {
    unfulfilled: "Nothing was begun.",
    in_progress: "It is being prepared.",
    partially_shipped: "A part was sent.",
    shipped: "All of it was sent.",
    partially_delivered: "A part has arrived.",
    delivered: "All of it has arrived.",
    canceled: "Nothing of it is wanted any more.",
    not_required: "Nothing of it needs to be sent.",
  },
});

export const OrderReturnStatusEnum = defineEnum<OrderReturnStatus>("OrderReturnStatus", {
  description: "What comes back of an order; follows from its returns.",
  values: {
    none: "Nothing.",
    requested: "The buyer asks to return something.",
    in_progress: "Something is on its way back.",
    partially_returned: "A part of what arrived came back.",
    returned: "All that arrived came back.",
  },
});

export const FulfillmentStatusEnum = defineEnum<FulfillmentStatus>("FulfillmentStatus", {
  description: "Where a fulfillment is.",
  values: {
    pending: "Not begun.",
    packing: "It is being packed: from here on a cancellation is asked for.",
    ready_for_pickup: "The buyer can fetch it.",
    shipped: "It was handed over.",
    in_transit: "It is under way.",
    out_for_delivery: "It is on the last stretch.",
    delivered: "The buyer has it.",
    failed: "It got lost or broken.",
    returned_to_sender: "It came back undelivered.",
    canceled: "It was called off before it was sent.",
  },
});

export const FulfillmentTypeEnum = defineEnum<OrderFulfillment["type"]>("FulfillmentType", {
  description: "How a fulfillment reaches the buyer.",
  values: {
    shipping: "It is sent.",
    pickup: "The buyer fetches it.",
    digital: "It is given access to; nothing is carried.",
  },
});

export const PaymentStatusEnum = defineEnum<PaymentStatus>("PaymentStatus", {
  description: "Where a payment is.",
  values: {
    pending: "The provider has not decided yet.",
    authorized: "The amount is held, and not taken yet.",
    captured: "It was taken.",
    partially_refunded: "A part was given back.",
    refunded: "All of it was given back.",
    failed: "The provider declined it.",
    canceled: "It was let go without having been taken.",
  },
});

export const RefundStatusEnum = defineEnum<RefundStatus>("RefundStatus", {
  description: "Where a refund is.",
  values: {
    pending: "The provider was asked.",
    succeeded: "The money is on its way to the buyer.",
    failed: "The provider refused.",
    canceled: "It was called off.",
  },
});

export const ReturnStatusEnum = defineEnum<ReturnStatus>("ReturnStatus", {
  description: "Where a return is.",
  values: {
    requested: "The buyer asks for it.",
    approved: "The merchant agrees.",
    declined: "The merchant does not agree.",
    in_transit: "It is on its way back.",
    received: "It has arrived.",
    inspected: "It was looked at.",
    closed: "It is settled.",
    canceled: "It was called off.",
  },
});

export const ReturnKindEnum = defineEnum<ReturnKind>("ReturnKind", {
  description: "What a return is for.",
  values: {
    return_refund: "The thing comes back, the money goes back.",
    exchange: "The thing comes back, another one is sent.",
    refund_only: "The money goes back, the thing stays.",
    repair: "The thing comes back, and is sent again repaired, under its warranty.",
    replacement: "The thing comes back, and the same is sent new, under its warranty.",
    withdrawal: "The buyer withdraws from the purchase, as the law allows.",
  },
});

export const ReturnMethodEnum = defineEnum<NonNullable<OrderReturn["method"]>>("ReturnMethod", {
  description: "How a thing comes back.",
  values: {
    mail: "The buyer sends it.",
    store: "The buyer brings it.",
    pickup: "It is fetched.",
    keep_item: "It stays with the buyer.",
  },
});

export const ReturnSettlementEnum = defineEnum<NonNullable<OrderReturn["settlement"]>>("ReturnSettlement", {
  description: "What the buyer gets for what comes back.",
  values: {
    original_payment: "The money, the way it was paid.",
    store_credit: "Credit with the merchant.",
    replacement: "Another thing.",
  },
});

export const OrderActorEnum = defineEnum<OrderActor>("OrderActor", {
  description: "Who did something to an order.",
  values: {
    buyer: "Its buyer.",
    merchant: "Who runs the merchant.",
    system: "Time, or a provider's answer.",
  },
});

export const WarrantyStatusEnum = defineEnum<OrderWarranty["status"]>("WarrantyStatus", {
  description: "Whether a warranty registration counts.",
  values: { active: "It counts until its end.", void: "It counts no longer." },
});

export const WarrantyClaimKindEnum = defineEnum<OrderWarranty["claims"][number]["kind"]>(
  "WarrantyClaimKind",
  {
    description: "What a warranty claim asks for.",
    values: { repair: "That it is repaired.", replacement: "That another one is sent." },
  },
);

export const WarrantyClaimStatusEnum = defineEnum<OrderWarranty["claims"][number]["status"]>(
  "WarrantyClaimStatus",
  {
    description: "Where a warranty claim is.",
    values: {
      open: "Nobody has decided it.",
      accepted: "The merchant grants it.",
      rejected: "The merchant does not grant it.",
    },
  },
);
