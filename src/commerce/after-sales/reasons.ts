/**
 * The codes of after-sales requests: reasons that a buyer can give for a return, and obstacles. An obstacle
 * denies a request or leaves the decision to the merchant.
 */
import { getEligibilityObstacleText } from "#commerce/eligibility-texts/eligibility-catalogue.ts";
import { englishTexts } from "#commerce/eligibility-texts/english-texts.ts";
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
 * Returns true if the merchant is at fault for a return with this reason. The buyer then pays no fee and has
 * the longer time window of the statutory guarantee.
 */
export const isMerchantFaultReason = (reason: ReturnReason): boolean => merchantFaultReasons.has(reason);

/** Returns true if the buyer requests a refund for units that were sent but never delivered. */
export const isRefundRequestForUndeliveredUnits = ({
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

/**
 * The English messages of the obstacles to an after-sales request, by obstacle code. The messages are for
 * people; programs should use the code.
 */
export const afterSalesObstacleMessages = englishTexts.afterSalesObstacles;
export type AfterSalesObstacleCode = keyof typeof afterSalesObstacleMessages;

export type AfterSalesObstacle = EligibilityReason<AfterSalesObstacleCode>;

/**
 * Creates a reason against an after-sales option. A blocking reason denies the option; any other reason
 * leaves the decision to the merchant.
 */
export function createAfterSalesObstacle(
  code: AfterSalesObstacleCode,
  {
    blocking = true,
    data = {},
  }: { readonly blocking?: boolean; readonly data?: Readonly<Record<string, unknown>> } = {},
): AfterSalesObstacle {
  const message = getEligibilityObstacleText("afterSalesObstacles", { code, blocking }, "en");
  return { code, message, blocking, data };
}
