/** Translates all texts of an after-sales eligibility answer into the language of the caller. */
import {
  chooseEligibilityAnswerLanguage,
  summarizeOrderPolicy,
} from "#commerce/eligibility-texts/answer-language.ts";
import {
  type EligibilityLanguage,
  getEligibilityObstacleText,
} from "#commerce/eligibility-texts/eligibility-catalogue.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { AfterSalesOptionOfKind } from "./after-sales-option.ts";
import type { AfterSalesEligibility } from "./eligibility.ts";

export type TranslatedAfterSalesEligibility = AfterSalesEligibility & {
  /** The language of all texts in the eligibility answer. */
  readonly locale: EligibilityLanguage;
};

/**
 * Translates the eligibility answer into the first of the caller's locales for which translations exist, or
 * else into the language of the order.
 */
export function translateAfterSalesEligibility(
  order: OrderAggregate,
  answer: AfterSalesEligibility,
  callerLocales: readonly string[],
): TranslatedAfterSalesEligibility {
  const answerLanguage = chooseEligibilityAnswerLanguage(order, callerLocales);
  const { language } = answerLanguage;
  const translate = <Kind extends string>(
    option: AfterSalesOptionOfKind<Kind>,
  ): AfterSalesOptionOfKind<Kind> => ({
    ...option,
    reasons: option.reasons.map((reason) => ({
      ...reason,
      message: getEligibilityObstacleText("afterSalesObstacles", reason, language),
    })),
  });
  return {
    ...answer,
    locale: language,
    lines: answer.lines.map((line) => ({ ...line, options: line.options.map(translate) })),
    orderLevel: answer.orderLevel.map(translate),
    policies: answer.policies.map((policy) => ({
      ...policy,
      summary: summarizeOrderPolicy(order, policy.type, answerLanguage),
    })),
  };
}
