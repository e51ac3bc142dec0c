/** The words of after-sales: why a buyer asks, and why something is not possible, or not without the merchant. */
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

/** The merchant's fault: the buyer pays no fee, and has the time of the legal guarantee. */
export const isMerchantFault = (reason: ReturnReason): boolean => merchantFaultReasons.has(reason);

/** Paid for though it never came. */
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

/** Code → what it says to people. */
const obstacleMessages = {
  not_fulfilled: "It has not been sent; it can be canceled instead.",
  not_delivered_yet: "It has not arrived yet.",
  already_returned: "It has been returned.",
  return_in_progress: "A return of it is under way.",
  quantity_exhausted: "Nothing of it is left to be returned.",
  return_window_elapsed: "The time for it is over.",
  return_window_not_started: "The time for it has not begun.",
  final_sale: "It was sold for good.",
  category_excluded: "The merchant takes nothing of its kind back.",
  custom_made: "It was made for the buyer.",
  perishable: "It spoils.",
  hygiene_unsealed: "It comes back only with its seal unbroken, which the merchant checks.",
  digital_content_used: "It was delivered digitally.",
  gift_card: "It is a gift card.",
  order_canceled: "The order is canceled.",
  order_refunded: "The order has been refunded.",
  payment_disputed: "The payment is disputed.",
  order_on_hold: "The merchant holds the order back.",
  exchange_out_of_stock: "Nothing that it could be exchanged for is in stock.",
  exchange_not_offered: "The merchant does not exchange.",
  warranty_not_registered: "No warranty is registered for it.",
  warranty_expired: "The warranty is over.",
  warranty_void: "The warranty is void.",
  benefit_exhausted: "The warranty has no more of this to give.",
  region_not_supported: "It is not offered in the order's country.",
  self_service_disabled: "The merchant decides about it.",
  buyer_limit_reached: "The buyer has returned as often as the merchant accepts.",
} as const;

export type AfterSalesObstacle = keyof typeof obstacleMessages;
export const afterSalesObstacleMessages: Readonly<Record<AfterSalesObstacle, string>> = obstacleMessages;

export type AfterSalesReason = EligibilityReason<AfterSalesObstacle>;

export function afterSalesObstacle(
  code: AfterSalesObstacle,
  {
    blocking = true,
    data = {},
  }: { readonly blocking?: boolean; readonly data?: Readonly<Record<string, unknown>> } = {},
): AfterSalesReason {
  return { code, message: obstacleMessages[code], blocking, data };
}
