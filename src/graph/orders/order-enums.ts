/** The GraphQL enums of orders, fulfillments, payments, refunds, returns and warranties. */
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
import { defineGraphqlEnum } from "#graph/builder.ts";

export const OrderStatusEnum = defineGraphqlEnum<OrderStatus>("OrderStatus", {
  description: "The status of an order, from its placing to its completion or cancellation.",
  values: {
    pending: "The order was placed, and the merchant has not confirmed it yet.",
    confirmed: "The merchant has confirmed the order.",
    on_hold: "The merchant has put the order on hold.",
    completed: "The order is paid, all units that need delivery are delivered, and no return is open.",
    canceled: "The whole order was canceled.",
  },
});

export const OrderPaymentStatusEnum = defineGraphqlEnum<OrderPaymentStatus>("OrderPaymentStatus", {
  description: "The status of an order's payment, computed from its payments and refunds.",
  values: {
    not_required: "The order has nothing to pay.",
    pending: "The order is not paid yet.",
    authorized: "The amount to pay is authorized and not captured yet.",
    partially_paid: "A part of the order's amount was captured.",
    paid: "The whole amount of the order was captured.",
    partially_refunded: "A part of the captured amount was refunded.",
    refunded: "The whole captured amount was refunded.",
    voided: "The payment's authorization was voided before any amount was captured.",
    failed: "The payment of the order failed.",
    disputed: "The buyer's bank disputes the payment.",
  },
});

export const OrderFulfillmentStatusEnum = defineGraphqlEnum<OrderFulfillmentStatus>(
  "OrderFulfillmentStatus",
  {
    description: "The status of an order's delivery, computed from its lines and fulfillments.",
    values: {
      unfulfilled: "No fulfillment of the order was started.",
      in_progress: "A fulfillment of the order is being prepared.",
      partially_shipped: "A part of the order was shipped.",
      shipped: "The whole order was shipped.",
      partially_delivered: "A part of the order was delivered.",
      delivered: "The whole order was delivered.",
      canceled: "All units of the order were canceled before they were shipped.",
      not_required: "No unit of the order needs to be shipped.",
    },
  },
);

export const OrderReturnStatusEnum = defineGraphqlEnum<OrderReturnStatus>("OrderReturnStatus", {
  description: "The status of an order's returns, computed from the returns.",
  values: {
    none: "The order has no return.",
    requested: "The buyer has requested a return.",
    in_progress: "Returned units are in transit or being inspected.",
    partially_returned: "A part of the delivered units was returned.",
    returned: "All delivered units were returned.",
  },
});

export const FulfillmentStatusEnum = defineGraphqlEnum<FulfillmentStatus>("FulfillmentStatus", {
  description: "The status of a fulfillment, from its creation to its delivery, return or cancellation.",
  values: {
    pending: "The fulfillment was created, and packing has not started.",
    packing:
      "The fulfillment is being packed. After packing has started, a cancellation needs the merchant's " +
      "approval.",
    ready_for_pickup: "The buyer can pick the fulfillment up.",
    shipped: "The fulfillment was handed over to the carrier.",
    in_transit: "The fulfillment is in transit.",
    out_for_delivery: "The carrier is delivering the fulfillment today.",
    delivered: "The buyer has received the fulfillment.",
    failed: "The fulfillment was lost or damaged in transit.",
    returned_to_sender: "The fulfillment came back undelivered.",
    canceled: "The fulfillment was canceled before it was shipped.",
  },
});

export const FulfillmentTypeEnum = defineGraphqlEnum<OrderFulfillment["type"]>("FulfillmentType", {
  description: "How a fulfillment reaches the buyer.",
  values: {
    shipping: "A carrier delivers the fulfillment to the buyer.",
    pickup: "The buyer picks the fulfillment up instead of having it delivered.",
    digital: "The buyer gets access to digital goods; nothing is shipped.",
  },
});

export const PaymentStatusEnum = defineGraphqlEnum<PaymentStatus>("PaymentStatus", {
  description:
    "The status of a payment, from the request to the payment provider to its capture, refund or failure.",
  values: {
    pending: "The payment provider has not answered yet.",
    authorized: "The amount to pay is authorized and not captured yet.",
    captured: "The amount of the payment was captured.",
    partially_refunded: "A part of the captured amount was refunded.",
    refunded: "The whole captured amount was refunded.",
    failed: "The payment provider declined the payment.",
    canceled: "The payment's authorization was voided before any amount was captured.",
  },
});

export const RefundStatusEnum = defineGraphqlEnum<RefundStatus>("RefundStatus", {
  description: "Whether the payment provider has answered a refund, and how.",
  values: {
    pending: "The refund was requested from the payment provider, which has not answered yet.",
    succeeded: "The payment provider has accepted the refund.",
    failed: "The payment provider has refused the refund.",
  },
});

export const ReturnStatusEnum = defineGraphqlEnum<ReturnStatus>("ReturnStatus", {
  description: "The status of a return, from the buyer's request to its settlement, refusal or cancellation.",
  values: {
    requested: "The buyer has requested the return.",
    approved: "The merchant has approved the return.",
    declined: "The merchant has declined the return.",
    in_transit: "The units are being sent back.",
    received: "The units have arrived at the merchant.",
    inspected: "The merchant has inspected the units.",
    closed: "The return is settled, for example by a refund, and has ended.",
    canceled: "The return was canceled.",
  },
});

export const ReturnKindEnum = defineGraphqlEnum<ReturnKind>("ReturnKind", {
  description: "What a buyer requests with a return, for example a refund, an exchange or a repair.",
  values: {
    return_refund: "The units are sent back and refunded.",
    exchange: "The units are sent back and exchanged for other units.",
    refund_only: "The units are refunded without being sent back.",
    repair: "The units are sent back and repaired under a warranty.",
    replacement: "The units are sent back and replaced by the same product under a warranty.",
    withdrawal: "The buyer withdraws from the purchase under consumer law.",
  },
});

export const ReturnMethodEnum = defineGraphqlEnum<NonNullable<OrderReturn["method"]>>("ReturnMethod", {
  description: "How returned units reach the merchant.",
  values: {
    mail: "The buyer sends the units by mail.",
    store: "The buyer brings the units to a store.",
    pickup: "A carrier picks the units up at the buyer's address.",
    keep_item: "The buyer keeps the units and does not send them back.",
  },
});

export const ReturnSettlementEnum = defineGraphqlEnum<NonNullable<OrderReturn["settlement"]>>(
  "ReturnSettlement",
  {
    description: "How a return is settled for the buyer.",
    values: {
      original_payment: "The money is refunded to the payment method that the buyer paid with.",
      replacement: "The buyer gets a replacement or another product in exchange.",
    },
  },
);

export const OrderActorEnum = defineGraphqlEnum<OrderActor>("OrderActor", {
  description: "Who made a change of an order.",
  values: {
    buyer: "The buyer made the change.",
    merchant: "The merchant's staff made the change.",
    system: "The service itself made the change, after a deadline or an answer of the payment provider.",
  },
});

export const WarrantyStatusEnum = defineGraphqlEnum<OrderWarranty["status"]>("WarrantyStatus", {
  description: "The status of a warranty registration.",
  values: { active: "The warranty is valid until its end.", void: "The warranty is no longer valid." },
});

export const WarrantyClaimKindEnum = defineGraphqlEnum<OrderWarranty["claims"][number]["kind"]>(
  "WarrantyClaimKind",
  {
    description: "What a warranty claim requests.",
    values: {
      repair: "The claim requests the repair of the product.",
      replacement: "The claim requests a replacement for the product.",
    },
  },
);

export const WarrantyClaimStatusEnum = defineGraphqlEnum<OrderWarranty["claims"][number]["status"]>(
  "WarrantyClaimStatus",
  {
    description: "The status of a warranty claim.",
    values: {
      open: "The merchant has not decided about the claim yet.",
      accepted: "The merchant has accepted the claim.",
      rejected: "The merchant has rejected the claim.",
    },
  },
);
