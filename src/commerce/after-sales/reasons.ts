/**
 * The codes of after-sales: the reasons that a buyer can give, and the obstacles that deny a request or leave
 * the decision to the merchant.
 */
import type { EligibilityReason } from "#commerce/orders/eligibility-reason.ts";
import type { ReturnKind } from "#commerce/orders/order-states.ts";

export const returnReasons = [
  "size_too_small",
  "size_too_large",
  "color",
  "style",
  "unwanted",
  "not_as_described",
  "wrong_item",
  "missing_item",
  "defective",
  "damaged_in_transit",
  "arrived_late",
  "not_received",
  "better_price",
  "ordered_by_mistake",
  "other",
] as const;
export type ReturnReason = (typeof returnReasons)[number];

const merchantFaultReasons: ReadonlySet<ReturnReason> = new Set([
  "wrong_item",
  "missing_item",
  "defective",
  "damaged_in_transit",
  "not_as_described",
  "not_received",
]);

/**
 * Returns true if the reason is the merchant's fault. The buyer then pays no fee and has the longer window of
 * the statutory guarantee.
 */
export const isMerchantFault = (reason: ReturnReason): boolean => merchantFaultReasons.has(reason);

/** Returns true for a request to refund units that were sent but never delivered. */
export const isUndeliveredRefund = ({
  kind,
  reason,
}: {
  readonly kind: ReturnKind;
  readonly reason: string;
}): boolean => kind === "refund_only" && reason === "not_received";

const reasonsToSendBack: readonly ReturnReason[] = returnReasons.filter(
  (reason) => reason !== "not_received" && reason !== "missing_item",
);

export const returnReasonsByKind: Readonly<Record<ReturnKind, readonly ReturnReason[]>> = {
  return_refund: reasonsToSendBack,
  exchange: [
    "size_too_small",
    "size_too_large",
    "color",
    "style",
    "not_as_described",
    "wrong_item",
    "defective",
    "damaged_in_transit",
    "other",
  ],
  refund_only: returnReasons,
  repair: ["defective", "damaged_in_transit", "not_as_described"],
  replacement: ["defective", "damaged_in_transit", "not_as_described", "wrong_item", "missing_item"],
  withdrawal: reasonsToSendBack,
};

/** Obstacle code → message for people. */
const obstacleMessages = {
  not_fulfilled:
    "The item has not been sent yet. The order's cancellation eligibility says whether it can be canceled.",
  not_delivered_yet: "The item has not been delivered yet.",
  already_returned: "The item has already been returned.",
  return_in_progress: "A return or warranty claim for this item is open.",
  quantity_exhausted: "No units of this item are left to return.",
  return_window_elapsed: "The time limit for this request has passed.",
  return_window_not_started: "This request cannot be made yet.",
  final_sale: "The item was sold as a final sale.",
  category_excluded: "The merchant does not accept returns of this product category.",
  custom_made: "The item was custom-made for the buyer.",
  perishable: "The item is perishable.",
  hygiene_unsealed:
    "The item can be returned only with an unbroken seal. The merchant checks the seal when the item arrives.",
  digital_content_used: "The item was delivered digitally.",
  gift_card: "The item is a gift card.",
  order_canceled: "The order is canceled.",
  order_refunded: "The order has been fully refunded.",
  payment_disputed: "The payment is disputed.",
  order_on_hold: "The merchant has put the order on hold.",
  exchange_out_of_stock: "No variant that the item could be exchanged for is in stock.",
  exchange_not_offered: "The merchant does not offer exchanges.",
  warranty_not_registered: "No warranty is registered for the item.",
  warranty_expired: "The warranty or statutory guarantee has expired.",
  warranty_void: "The warranty is void.",
  benefit_exhausted: "The warranty has no repairs or replacements of this kind left.",
  region_not_supported: "This request is not offered in the order's country.",
  self_service_disabled: "The merchant decides about this request.",
  buyer_limit_reached: "The maximum number of returns has been reached.",
} as const;

export type AfterSalesObstacle = keyof typeof obstacleMessages;
export const afterSalesObstacleMessages: Readonly<Record<AfterSalesObstacle, string>> = obstacleMessages;

export type AfterSalesReason = EligibilityReason<AfterSalesObstacle>;

/**
 * Creates a reason against an option. A blocking reason denies the option; any other leaves the decision to
 * the merchant.
 */
export function createAfterSalesObstacle(
  code: AfterSalesObstacle,
  {
    blocking = true,
    data = {},
  }: { readonly blocking?: boolean; readonly data?: Readonly<Record<string, unknown>> } = {},
): AfterSalesReason {
  return { code, message: obstacleMessages[code], blocking, data };
}
