/** Translates all texts of a cancellation eligibility answer into the language of the caller. */
import {
  chooseEligibilityAnswerLanguage,
  summarizeOrderPolicy,
} from "#commerce/eligibility-texts/answer-language.ts";
import {
  type EligibilityLanguage,
  getEligibilityTexts,
  getEligibilityObstacleText,
} from "#commerce/eligibility-texts/eligibility-catalogue.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { CancellationEligibility } from "./eligibility.ts";
import type { CancellationObstacle } from "./reasons.ts";

export type TranslatedCancellationEligibility = CancellationEligibility & {
  /** The language of all texts in the eligibility answer. */
  readonly locale: EligibilityLanguage;
};

/**
 * Translates the eligibility answer into the first of the caller's locales for which translations exist, or
 * else into the language of the order.
 */
export function translateCancellationEligibility(
  order: OrderAggregate,
  answer: CancellationEligibility,
  callerLocales: readonly string[],
): TranslatedCancellationEligibility {
  const answerLanguage = chooseEligibilityAnswerLanguage(order, callerLocales);
  const { language } = answerLanguage;
  const { cancellationReasons } = getEligibilityTexts(language);
  const translate = (reasons: readonly CancellationObstacle[]): CancellationObstacle[] =>
    reasons.map((reason) => ({
      ...reason,
      message: getEligibilityObstacleText("cancellationObstacles", reason, language),
    }));
  return {
    ...answer,
    locale: language,
    reasons: translate(answer.reasons),
    lines: answer.lines.map((line) => ({ ...line, reasons: translate(line.reasons) })),
    allowedReasonCodes: answer.allowedReasonCodes.map((choice) => ({
      ...choice,
      label: cancellationReasons[choice.code],
    })),
    policy: { ...answer.policy, summary: summarizeOrderPolicy(order, "cancellation", answerLanguage) },
  };
}
