/**
 * Chooses the language of an eligibility answer, which is the same for all of its texts. The caller's
 * languages come first, then the language of the order, then English. If the merchant has written no summary
 * of a policy in this language, the answer contains a description of the policy's rules instead.
 */
import type { PolicyTypeWithRules } from "#commerce/markets/policy-rules.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { getOrderPolicy } from "#commerce/orders/order-terms.ts";
import { chooseBestLocale } from "#foundation/text.ts";
import {
  chooseEligibilityTextLanguage,
  generatePolicySummaryFromRules,
  type EligibilityLanguage,
  getLanguageOfLocale,
} from "./eligibility-catalogue.ts";

export interface EligibilityAnswerLanguageAndLocales {
  readonly language: EligibilityLanguage;
  /**
   * The locales in which the answer may be written, in the order of preference: the caller's locales, then
   * the order's locale.
   */
  readonly locales: readonly string[];
}

export function chooseEligibilityAnswerLanguage(
  { locale }: Pick<OrderAggregate, "locale">,
  callerLocales: readonly string[],
): EligibilityAnswerLanguageAndLocales {
  const locales = [...callerLocales, locale];
  return { language: chooseEligibilityTextLanguage(locales), locales };
}

/**
 * Returns the merchant's summary of an order's policy in the given language; if there is none, a description
 * of the policy's rules.
 */
export function summarizeOrderPolicy(
  order: Pick<OrderAggregate, "id" | "policies">,
  type: PolicyTypeWithRules,
  { language, locales }: EligibilityAnswerLanguageAndLocales,
): string {
  const { summaries, rules } = getOrderPolicy(order, type);
  const available = Object.keys(summaries).filter((locale) => getLanguageOfLocale(locale) === language);
  const chosen = chooseBestLocale(available, locales, []);
  return summaries[chosen ?? ""] ?? generatePolicySummaryFromRules(type, rules, language);
}
