/**
 * The language of an eligibility answer. Every text of an answer is in the same language: the first of the
 * caller's languages that the catalogue has, else the language of the order, else English. A policy whose
 * merchant wrote no summary in this language is described by its rules instead.
 */
import type { PolicyRulesType } from "#commerce/markets/policy-rules.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { getOrderPolicy } from "#commerce/orders/order-terms.ts";
import { chooseLocale } from "#foundation/text.ts";
import {
  chooseEligibilityLanguage,
  createDefaultPolicySummary,
  type EligibilityLanguage,
  getLocaleLanguage,
} from "./eligibility-catalogue.ts";

export interface AnswerLanguage {
  readonly language: EligibilityLanguage;
  /** The locales from which the language was chosen, best first: the caller's locales, then the order's. */
  readonly locales: readonly string[];
}

export function chooseAnswerLanguage(
  { locale }: Pick<OrderAggregate, "locale">,
  callerLocales: readonly string[],
): AnswerLanguage {
  const locales = [...callerLocales, locale];
  return { language: chooseEligibilityLanguage(locales), locales };
}

/** Returns the merchant's summary of an order's policy in the language, or else one of the policy's rules. */
export function summarizeOrderPolicy(
  order: Pick<OrderAggregate, "id" | "policies">,
  type: PolicyRulesType,
  { language, locales }: AnswerLanguage,
): string {
  const { summaries, rules } = getOrderPolicy(order, type);
  const available = Object.keys(summaries).filter((locale) => getLocaleLanguage(locale) === language);
  const chosen = chooseLocale(available, locales, []);
  return summaries[chosen ?? ""] ?? createDefaultPolicySummary(type, rules, language);
}
