/** All statuses and kinds of orders and their parts, as the database and the REST API spell them. */
export const orderStatuses = ["pending", "confirmed", "on_hold", "completed", "canceled"] as const;
export type OrderStatus = (typeof orderStatuses)[number];

export const paymentStatusesOfOrder = [
  "not_required",
  "pending",
  "authorized",
  "partially_paid",
  "paid",
  "partially_refunded",
  "refunded",
  "voided",
  "failed",
  "disputed",
] as const;
export type OrderPaymentStatus = (typeof paymentStatusesOfOrder)[number];

export const fulfillmentStatusesOfOrder = [
  "unfulfilled",
  "in_progress",
  "partially_shipped",
  "shipped",
  "partially_delivered",
  "delivered",
  "canceled",
  "not_required",
] as const;
export type OrderFulfillmentStatus = (typeof fulfillmentStatusesOfOrder)[number];

export const returnStatusesOfOrder = [
  "none",
  "requested",
  "in_progress",
  "partially_returned",
  "returned",
] as const;
export type OrderReturnStatus = (typeof returnStatusesOfOrder)[number];

export const fulfillmentStatuses = [
  "pending",
  "packing",
  "ready_for_pickup",
  "shipped",
  "in_transit",
  "out_for_delivery",
  "delivered",
  "failed",
  "returned_to_sender",
  "canceled",
] as const;
export type FulfillmentStatus = (typeof fulfillmentStatuses)[number];

export const paymentStatuses = [
  "pending",
  "authorized",
  "captured",
  "partially_refunded",
  "refunded",
  "failed",
  "canceled",
] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];

export const refundStatuses = ["pending", "succeeded", "failed"] as const;
export type RefundStatus = (typeof refundStatuses)[number];

export const returnStatuses = [
  "requested",
  "approved",
  "declined",
  "in_transit",
  "received",
  "inspected",
  "closed",
  "canceled",
] as const;
export type ReturnStatus = (typeof returnStatuses)[number];

export const returnKinds = [
  "return_refund",
  "exchange",
  "refund_only",
  "repair",
  "replacement",
  "withdrawal",
] as const;
export type ReturnKind = (typeof returnKinds)[number];

/** The party that changed an order, as the buyer sees it in the order's timeline. */
export type OrderActor = "buyer" | "merchant" | "system";

/** The reasons that staff can give for a refund. */
export type RefundReason =
  | "requested_by_customer"
  | "damaged"
  | "not_received"
  | "wrong_item"
  | "price_adjustment"
  | "duplicate"
  | "fraudulent"
  | "other";

/**
 * The cause of a refund: the reason that staff gave, or a cause for which the service itself refunds.
 * `late_payment` means that the payment succeeded too late to place an order.
 */
export type RefundCause = RefundReason | "order_canceled" | "order_returned" | "late_payment";
