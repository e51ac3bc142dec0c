/**
 * The codes and texts of cancellations: reasons for canceling, and obstacles that deny a cancellation or
 * require the merchant's approval.
 */
import type { EligibilityReason } from "#commerce/orders/eligibility-reason.ts";

export const buyerCancellationReasons = [
  "ordered_by_mistake",
  "changed_mind",
  "better_price",
  "arrives_too_late",
  "wrong_address",
  "other",
] as const;
export const merchantCancellationReasons = [
  "out_of_stock",
  "fraud_suspected",
  "price_error",
  "buyer_unreachable",
  "other",
] as const;

export type CancellationReason =
  | (typeof buyerCancellationReasons)[number]
  | (typeof merchantCancellationReasons)[number];

const labels: Readonly<Record<CancellationReason, string>> = {
  ordered_by_mistake: "Ordered by mistake",
  changed_mind: "Changed my mind",
  better_price: "Found a better price",
  arrives_too_late: "Arrives too late",
  wrong_address: "Wrong address",
  other: "Another reason",
  out_of_stock: "Out of stock",
  fraud_suspected: "Fraud suspected",
  price_error: "Wrong price",
  buyer_unreachable: "The buyer cannot be reached",
};

export interface CancellationReasonOption {
  readonly code: CancellationReason;
  readonly label: string;
  readonly actor: "buyer" | "merchant";
}

export const cancellationReasonOptions: readonly CancellationReasonOption[] = [
  ...buyerCancellationReasons.map((code) => ({ code, label: labels[code], actor: "buyer" as const })),
  ...merchantCancellationReasons.map((code) => ({ code, label: labels[code], actor: "merchant" as const })),
];

/** The English text of each obstacle. */
const obstacles = {
  order_already_canceled: "The order is canceled.",
  order_completed: "The order is completed.",
  order_on_hold: "The merchant has put the order on hold. It cannot be canceled until the hold is released.",
  cancellation_already_requested: "A cancellation request already waits for the merchant's decision.",
  cancellation_window_elapsed: "The time in which the order can be canceled is over.",
  self_service_disabled: "Cancellations need the merchant's approval.",
  fulfillment_in_progress: "The line is being packed.",
  fulfillment_shipped: "The line has been shipped.",
  fulfillment_delivered: "The line has been delivered.",
  payment_processing: "The payment is being processed.",
  payment_disputed: "The payment is disputed.",
  refund_in_progress: "A refund is in progress.",
  return_open: "A return of the line is open.",
  line_already_canceled: "The line is already canceled.",
  line_custom_made: "The line is custom-made, and its production has started.",
  line_digital_delivered: "The line has been delivered digitally.",
  // Currently never returned: the service does not know whether a gift card was used.
  line_gift_card_used: "The line is a gift card that was used.",
  line_not_separable: "A promotion joins the line with other lines that can no longer be canceled.",
  merchant_suspended: "The merchant is suspended.",
} as const;

export type CancellationObstacle = keyof typeof obstacles;
export const cancellationObstacles: Readonly<Record<CancellationObstacle, string>> = obstacles;

export type CancellationReasonView = EligibilityReason<CancellationObstacle>;

export function toCancellationReason(
  code: CancellationObstacle,
  {
    blocking = true,
    data = {},
  }: { readonly blocking?: boolean; readonly data?: Readonly<Record<string, unknown>> } = {},
): CancellationReasonView {
  return { code, message: obstacles[code], blocking, data };
}
