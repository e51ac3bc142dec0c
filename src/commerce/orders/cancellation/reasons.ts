/**
 * The codes of cancellations, with their English texts. Reasons are what an actor can give for canceling.
 * Obstacles deny a cancellation or require the merchant's approval.
 */
import { getEligibilityObstacleText } from "#commerce/eligibility-texts/eligibility-catalogue.ts";
import { englishTexts } from "#commerce/eligibility-texts/english-texts.ts";
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

export interface CancellationReasonOption {
  readonly code: CancellationReason;
  readonly label: string;
  readonly actor: "buyer" | "merchant";
}

export const cancellationReasonOptions: readonly CancellationReasonOption[] = [
  ...buyerCancellationReasons.map((code) => ({
    code,
    label: englishTexts.cancellationReasons[code],
    actor: "buyer" as const,
  })),
  ...merchantCancellationReasons.map((code) => ({
    code,
    label: englishTexts.cancellationReasons[code],
    actor: "merchant" as const,
  })),
];

/**
 * The English texts of the obstacles, by obstacle code. The texts are for people; programs should use the
 * code.
 */
export const cancellationObstacles = englishTexts.cancellationObstacles;
export type CancellationObstacleCode = keyof typeof cancellationObstacles;

export type CancellationObstacle = EligibilityReason<CancellationObstacleCode>;

export function createCancellationObstacle(
  code: CancellationObstacleCode,
  {
    blocking = true,
    data = {},
  }: { readonly blocking?: boolean; readonly data?: Readonly<Record<string, unknown>> } = {},
): CancellationObstacle {
  const message = getEligibilityObstacleText("cancellationObstacles", { code, blocking }, "en");
  return { code, message, blocking, data };
}
