/**
 * A reason why an action on an order is denied or needs the merchant's approval. The decision is always
 * computed from the reasons, so the decision and the reasons cannot contradict each other.
 */

export interface EligibilityReason<Code extends string = string> {
  readonly code: Code;
  /**
   * The reason as a text for people; programs should use `code`. The text is in English until the eligibility
   * answer is translated.
   */
  readonly message: string;
  /** True if the reason denies the action; false if the merchant may still approve it. */
  readonly blocking: boolean;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The decisions about an action, from the best to the worst for the caller. */
export const eligibilityDecisions = ["allowed", "request_required", "denied"] as const;
export type EligibilityDecision = (typeof eligibilityDecisions)[number];

export function decideEligibilityFromReasons(reasons: readonly EligibilityReason[]): EligibilityDecision {
  if (reasons.length === 0) return "allowed";
  return reasons.some(({ blocking }) => blocking) ? "denied" : "request_required";
}

export function findMostFavorableEligibilityDecision(
  list: readonly EligibilityDecision[],
): EligibilityDecision {
  return eligibilityDecisions.find((decision) => list.includes(decision)) ?? "denied";
}

/** Removes repeated reasons: of several reasons with the same code, only the first is returned. */
export function removeReasonsWithRepeatedCode<Reason extends EligibilityReason>(
  reasons: readonly Reason[],
): Reason[] {
  return reasons.filter(({ code }, index) => reasons.findIndex((other) => other.code === code) === index);
}

const answerMinutesMax = 15;

/**
 * Returns the time until which an eligibility answer is valid if the order does not change. This is the
 * earliest of those `instants` (in milliseconds since 1970) that are later than `now`, but at most 15 minutes
 * after `now`.
 */
export function calculateEligibilityAnswerExpiry(now: Date, instants: readonly number[]): string {
  const at = now.getTime();
  return new Date(
    Math.min(at + answerMinutesMax * 60_000, ...instants.filter((instant) => instant > at)),
  ).toISOString();
}
