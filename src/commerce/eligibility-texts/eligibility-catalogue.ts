/**
 * The texts of eligibility answers. For each language, there is one file with texts and one file with
 * functions that describe policies. A new language needs these two files and an entry in this file.
 */
import type { PolicyRulesByType } from "#commerce/markets/policy-rules.ts";
import { englishSummaries, type PolicySummaryWritersByType } from "./english-summaries.ts";
import { type EligibilityTexts, englishTexts } from "./english-texts.ts";
import { germanSummaries } from "./german-summaries.ts";
import { germanTexts } from "./german-texts.ts";
import { japaneseSummaries } from "./japanese-summaries.ts";
import { japaneseTexts } from "./japanese-texts.ts";

export const eligibilityLanguages = ["en", "de", "ja"] as const;
export type EligibilityLanguage = (typeof eligibilityLanguages)[number];

interface CatalogueEntry {
  readonly texts: EligibilityTexts;
  readonly summaries: PolicySummaryWritersByType;
}

const catalogue: Readonly<Record<EligibilityLanguage, CatalogueEntry>> = {
  en: { texts: englishTexts, summaries: englishSummaries },
  de: { texts: germanTexts, summaries: germanSummaries },
  ja: { texts: japaneseTexts, summaries: japaneseSummaries },
};

export const getEligibilityTexts = (language: EligibilityLanguage): EligibilityTexts =>
  catalogue[language].texts;

/** Returns the language of a locale, for example `de` for `de-AT`. */
export const getLanguageOfLocale = (locale: string): string => locale.split("-", 1)[0] ?? "";

/** Returns the language of the first locale for which eligibility texts exist; English if there is none. */
export function chooseEligibilityTextLanguage(locales: readonly string[]): EligibilityLanguage {
  for (const locale of locales) {
    const found = eligibilityLanguages.find((language) => language === getLanguageOfLocale(locale));
    if (found !== undefined) return found;
  }
  return "en";
}

/**
 * Describes the rules of a policy in the given language. Used if the merchant has written no summary of the
 * policy in this language.
 */
export function generatePolicySummaryFromRules<Type extends keyof PolicyRulesByType>(
  type: Type,
  rules: PolicyRulesByType[Type],
  language: EligibilityLanguage,
): string {
  const { summaries } = catalogue[language];
  return summaries[type](rules);
}

/** The sections of the eligibility texts that say why a buyer's request is refused. */
type ObstacleSection = "cancellationObstacles" | "afterSalesObstacles";

/**
 * Returns the text of an obstacle to a buyer's request. Some obstacles have two texts: one for a denied
 * request, and one for a request about which the merchant decides.
 */
export function getEligibilityObstacleText<Section extends ObstacleSection>(
  section: Section,
  { code, blocking }: { readonly code: keyof EligibilityTexts[Section]; readonly blocking: boolean },
  language: EligibilityLanguage,
): string {
  const texts = getEligibilityTexts(language);
  const toApprove: Readonly<Partial<Record<PropertyKey, string>>> = texts[`${section}ToApprove`];
  return (blocking ? undefined : toApprove[code]) ?? texts[section][code];
}
