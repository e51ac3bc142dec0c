/**
 * Reasons why an action on an order is denied or needs the merchant's approval. The decision is always
 * computed from the reasons, so the two cannot differ.
 */

export interface EligibilityReason<Code extends string = string> {
  readonly code: Code;
  /**
   * The reason as a text for people; programs use `code`. English, until an eligibility answer is translated
   * for its caller.
   */
  readonly message: string;
  /** True if the reason denies the action; false if the merchant may still approve it. */
  readonly blocking: boolean;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The decisions, from the most to the least favorable for the caller. */
export const eligibilityDecisions = ["allowed", "request_required", "denied"] as const;
export type EligibilityDecision = (typeof eligibilityDecisions)[number];

export function decideEligibility(reasons: readonly EligibilityReason[]): EligibilityDecision {
  if (reasons.length === 0) return "allowed";
  return reasons.some(({ blocking }) => blocking) ? "denied" : "request_required";
}

export function findBestDecision(list: readonly EligibilityDecision[]): EligibilityDecision {
  return eligibilityDecisions.find((decision) => list.includes(decision)) ?? "denied";
}

/** Keeps only the first reason of each code. */
export function removeRepeatedReasons<Reason extends EligibilityReason>(
  reasons: readonly Reason[],
): Reason[] {
  return reasons.filter(({ code }, index) => reasons.findIndex((other) => other.code === code) === index);
}

const answerMinutesMax = 15;

/**
 * The time until which an eligibility answer is valid if the order does not change: the earliest of
 * `instants` (milliseconds since the epoch) after `now`, but at most 15 minutes.
 */
export function calculateValidUntil(now: Date, instants: readonly number[]): string {
  const at = now.getTime();
  return new Date(
    Math.min(at + answerMinutesMax * 60_000, ...instants.filter((instant) => instant > at)),
  ).toISOString();
}
