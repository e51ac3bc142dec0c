/**
 * Why something cannot be done with an order, or not without the merchant: a decision always follows from its
 * reasons, so the two cannot differ.
 */

export interface EligibilityReason<Code extends string = string> {
  readonly code: Code;
  /** English, for people. */
  readonly message: string;
  /** False: the merchant decides. */
  readonly blocking: boolean;
  readonly data: Readonly<Record<string, unknown>>;
}

/** From the best for who asks to the worst. */
export const decisions = ["allowed", "request_required", "denied"] as const;
export type Decision = (typeof decisions)[number];

export function decisionOf(reasons: readonly EligibilityReason[]): Decision {
  if (reasons.length === 0) return "allowed";
  return reasons.some(({ blocking }) => blocking) ? "denied" : "request_required";
}

export function bestDecision(list: readonly Decision[]): Decision {
  return decisions.find((decision) => list.includes(decision)) ?? "denied";
}

/** Each code once: the first that gives it. */
export function withoutRepeats<Reason extends EligibilityReason>(reasons: readonly Reason[]): Reason[] {
  return reasons.filter(({ code }, index) => reasons.findIndex((other) => other.code === code) === index);
}

const answerMinutesMax = 15;

/**
 * Until when an answer holds if nobody changes the order: the next of the instants (milliseconds) at which
 * time alone may change it.
 */
export function validUntil(now: Date, instants: readonly number[]): string {
  const at = now.getTime();
  return new Date(
    Math.min(at + answerMinutesMax * 60_000, ...instants.filter((instant) => instant > at)),
  ).toISOString();
}
