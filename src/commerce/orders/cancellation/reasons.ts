/**
 * The words of cancellations: why an order, or some of it, is canceled, and why it cannot be, or not without
 * the merchant.
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

export interface ReasonChoice {
  readonly code: CancellationReason;
  readonly label: string;
  readonly actor: "buyer" | "merchant";
}

export const cancellationReasonChoices: readonly ReasonChoice[] = [
  ...buyerCancellationReasons.map((code) => ({ code, label: labels[code], actor: "buyer" as const })),
  ...merchantCancellationReasons.map((code) => ({ code, label: labels[code], actor: "merchant" as const })),
];

/** Code → what it says to people. */
const obstacles = {
  order_already_canceled: "The order is canceled.",
  order_completed: "The order is completed.",
  order_on_hold: "The merchant holds the order back; it cannot be canceled meanwhile.",
  cancellation_already_requested: "A cancellation was asked for and waits for the merchant.",
  cancellation_window_elapsed: "The time to cancel is over.",
  self_service_disabled: "The merchant decides about cancellations.",
  fulfillment_in_progress: "It is being packed.",
  fulfillment_shipped: "It has been shipped.",
  fulfillment_delivered: "It has been delivered.",
  payment_processing: "The payment is being processed.",
  payment_disputed: "The payment is disputed.",
  refund_in_progress: "A refund is under way.",
  return_open: "A return of it is open.",
  line_already_canceled: "It is canceled.",
  line_custom_made: "It is made for the buyer, and its making has begun.",
  line_digital_delivered: "It has been delivered digitally.",
  // Never given at present: whether a gift card was used is known only where it is cashed in.
  line_gift_card_used: "It is a gift card that was used.",
  line_not_separable: "A promotion joins it to lines that can no longer be canceled with it.",
  merchant_suspended: "The merchant is suspended.",
} as const;

export type CancellationObstacle = keyof typeof obstacles;
export const cancellationObstacles: Readonly<Record<CancellationObstacle, string>> = obstacles;

export type CancellationReasonView = EligibilityReason<CancellationObstacle>;

export function obstacle(
  code: CancellationObstacle,
  {
    blocking = true,
    data = {},
  }: { readonly blocking?: boolean; readonly data?: Readonly<Record<string, unknown>> } = {},
): CancellationReasonView {
  return { code, message: obstacles[code], blocking, data };
}
