/**
 * The language of eligibility answers: every text of an answer is in one language, the caller's if the
 * catalogue has it, and no text contradicts the decision.
 */
import { describe, expect, it } from "vitest";
import { evaluateAfterSalesEligibility } from "#commerce/after-sales/eligibility.ts";
import {
  translateAfterSalesEligibility,
  type TranslatedAfterSalesEligibility,
} from "#commerce/after-sales/translate-eligibility.ts";
import {
  chooseEligibilityTextLanguage,
  generatePolicySummaryFromRules,
  type EligibilityLanguage,
  eligibilityLanguages,
  getEligibilityTexts,
} from "#commerce/eligibility-texts/eligibility-catalogue.ts";
import { defaultPolicyRules, type PolicyRulesByType } from "#commerce/markets/policy-rules.ts";
import { policyTypes } from "#commerce/markets/change-policy.ts";
import { evaluateCancellationEligibility } from "#commerce/orders/cancellation/eligibility.ts";
import {
  translateCancellationEligibility,
  type TranslatedCancellationEligibility,
} from "#commerce/orders/cancellation/translate-eligibility.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { at, soon } from "./paper-answer.ts";
import { delivered, factsAt, later, paperOrder, placedAt, type PaperOrder } from "./paper-order.ts";

const { de, en, ja } = {
  de: getEligibilityTexts("de"),
  en: getEligibilityTexts("en"),
  ja: getEligibilityTexts("ja"),
};

/** Gives all policies of the order the merchant's summaries. */
const withSummaries = (
  order: OrderAggregate,
  summaries: Readonly<Record<string, string>>,
): OrderAggregate => ({
  ...order,
  policies: order.policies.map((policy) => ({ ...policy, summaries })),
});

const afterSales = (order: OrderAggregate, languages: readonly string[]): TranslatedAfterSalesEligibility =>
  translateAfterSalesEligibility(order, evaluateAfterSalesEligibility(order, factsAt(soon)), languages);

const cancellation = (
  order: OrderAggregate,
  languages: readonly string[],
  now = later(placedAt, 1000),
): TranslatedCancellationEligibility =>
  translateCancellationEligibility(order, evaluateCancellationEligibility(order, now), languages);

/** Returns every text of an answer that is written for people. */
function textsOf(answer: unknown): string[] {
  if (Array.isArray(answer)) return answer.flatMap(textsOf);
  if (typeof answer !== "object" || answer === null) return [];
  return Object.entries(answer).flatMap(([name, value]) =>
    typeof value === "string" && ["message", "label", "summary"].includes(name) ? [value] : textsOf(value),
  );
}

const languageOf = (text: string): EligibilityLanguage => {
  if (/[\u3040-\u30ff\u4e00-\u9fff]/.test(text)) return "ja";
  const isGerman = eligibilityTextsOf("de").includes(text) || /\b(Sie|Ihren|Widerrufsrecht)\b/.test(text);
  return isGerman ? "de" : "en";
};

const eligibilityTextsOf = (language: EligibilityLanguage): string[] =>
  Object.values(getEligibilityTexts(language)).flatMap((section) => Object.values<string>(section));

const orders: readonly (readonly [string, PaperOrder])[] = [
  ["canceled", { order: { status: "canceled" } }],
  ["new", {}],
  ["delivered", delivered(at)],
  ["delivered digitally", delivered(at, { lines: [{ restrictions: ["digital", "final_sale"] }] })],
  ["delivered, with approval", delivered(at, { rules: { return: { mode: "request" } } })],
];

describe("the catalogue", () => {
  it("has a text of its own for each code in each language", () => {
    for (const language of ["de", "ja"] as const) {
      const own = eligibilityTextsOf(language);
      expect(own.filter((text) => eligibilityTextsOf("en").includes(text))).toEqual([]);
      expect(own.filter((text) => languageOf(text) !== language)).toEqual([]);
    }
    for (const section of ["cancellationObstacles", "afterSalesObstacles"] as const)
      for (const language of eligibilityLanguages) {
        const texts = Object.values<string>(getEligibilityTexts(language)[section]);
        expect(new Set(texts).size).toBe(texts.length);
        for (const text of texts) expect(text).toMatch(/[.。]$/);
      }
  });

  it.each([
    [["fr", "ja-JP", "de"], "ja"],
    [["de-AT", "en"], "de"],
    [["fr"], "en"],
    [[], "en"],
  ] as const)("answers %o in %s", (locales, language) => {
    expect(chooseEligibilityTextLanguage(locales)).toBe(language);
  });

  const rules: {
    readonly [Type in keyof PolicyRulesByType]: readonly Partial<PolicyRulesByType[Type]>[];
  } = {
    cancellation: [
      {},
      { mode: "none" },
      { mode: "request" },
      { mode: "request", afterWindow: "deny" },
      { mode: "request", windowMinutes: null },
      { windowMinutes: null },
      { afterWindow: "deny" },
    ],
    return: [
      {},
      { mode: "none" },
      { mode: "request" },
      { windowDays: null, exchangeWindowDays: null },
      { extendUntil: "2027-01-31" },
    ],
    withdrawal: [{}, { windowDays: 14 }],
    warranty: [{}, { months: 24 }],
  };
  it.each(policyTypes)("describes each rule of a %s policy, with its numbers, in each language", (type) => {
    const texts = eligibilityLanguages.map((language) =>
      rules[type].map((own) =>
        generatePolicySummaryFromRules(type, Object.assign({}, defaultPolicyRules[type], own), language),
      ),
    );
    const numbers = (list: readonly string[]) => list.map((text) => new Set(text.match(/\d+/g)));
    for (const [index, language] of eligibilityLanguages.entries()) {
      const own = texts[index] ?? [];
      expect(numbers(own)).toEqual(numbers(texts[0] ?? []));
      expect(new Set(own).size).toBe(new Set(texts[0]).size);
      if (language !== "en") expect(own.filter((text) => texts[0]?.includes(text))).toEqual([]);
    }
  });
});

describe.each(orders)("an answer about an order that is %s", (_name, paper) => {
  it.each(eligibilityLanguages)("has all its texts in one language: %s", (language) => {
    // The merchant's summaries exist in German only, so the other languages describe the rules.
    const order = withSummaries(paperOrder(paper), { "de-AT": de.cancellationReasons.other });
    for (const answer of [
      cancellation(order, ["fr", language, "en"]),
      afterSales(order, ["fr", language, "en"]),
    ]) {
      expect(answer.locale).toBe(language);
      const texts = textsOf(answer);
      expect(texts.length).toBeGreaterThan(0);
      expect(texts.filter((text) => languageOf(text) !== language)).toEqual([]);
    }
  });
});

describe("the language", () => {
  const order = withSummaries(paperOrder(), { en: "Own", "en-GB": "British", de: "Eigene", ja: "自分の" });

  it("is the caller's, else the order's, else English", () => {
    const of = (locale: string, languages: readonly string[]) =>
      cancellation({ ...order, locale }, languages).locale;
    expect(of("ja", ["de"])).toBe("de");
    expect(of("ja", [])).toBe("ja");
    expect(of("ja", ["fr"])).toBe("ja");
    expect(of("fr", ["es"])).toBe("en");
    expect(afterSales({ ...order, locale: "ja" }, ["de-CH"]).locale).toBe("de");
  });

  it("decides which summary of the merchant is shown, the caller's region first", () => {
    const summaryFor = (...languages: string[]) => cancellation(order, languages).policy.summary;
    expect(summaryFor("en-GB")).toBe("British");
    expect(summaryFor("en-US")).toBe("Own");
    expect(summaryFor("de-CH")).toBe("Eigene");
    expect(afterSales(order, ["ja"]).policies.map(({ summary }) => summary)).toEqual([
      "自分の",
      "自分の",
      "自分の",
    ]);
  });

  it("describes the rules of a policy whose merchant wrote no summary in the language", () => {
    const { policy } = cancellation(withSummaries(order, { de: "Eigene" }), ["en"]);
    expect(policy.summary).toBe(
      generatePolicySummaryFromRules("cancellation", defaultPolicyRules.cancellation, "en"),
    );
  });

  it("does not change codes, decisions and amounts", () => {
    const withoutTexts = (answer: unknown): unknown =>
      JSON.parse(JSON.stringify(answer), (name, value: unknown) =>
        ["message", "label", "summary", "locale"].includes(name) ? undefined : value,
      );
    const sold = paperOrder(delivered(at));
    expect(withoutTexts(afterSales(sold, ["ja"]))).toEqual(withoutTexts(afterSales(sold, ["en"])));
    expect(withoutTexts(cancellation(sold, ["ja"]))).toEqual(withoutTexts(cancellation(sold, ["en"])));
  });
});

describe("a reason's text", () => {
  const messages = (answer: TranslatedCancellationEligibility): string[] =>
    answer.reasons.map(({ message }) => message);
  const hour = later(placedAt, 61 * 60_000);

  it("says whether the merchant decides or denies", () => {
    const asking = paperOrder({ rules: { cancellation: { mode: "request" } } });
    expect(messages(cancellation(asking, ["de"]))).toEqual([
      "Stornierungen brauchen die Zustimmung des Händlers.",
    ]);
    const denying = paperOrder({ rules: { cancellation: { mode: "none" } } });
    expect(messages(cancellation(denying, ["de"]))).toEqual([
      "Der Händler bietet keine Stornierung durch den Käufer an.",
    ]);
    expect(messages(cancellation(paperOrder(), ["en"], hour))).toEqual([
      en.cancellationObstaclesToApprove.cancellation_window_elapsed,
    ]);
    const late = paperOrder({ rules: { cancellation: { afterWindow: "deny" } } });
    expect(messages(cancellation(late, ["ja"], hour))).toEqual([
      ja.cancellationObstacles.cancellation_window_elapsed,
    ]);
    const [option] =
      afterSales(paperOrder(delivered(at, { rules: { return: { mode: "none" } } })), ["de"]).lines[0]
        ?.options ?? [];
    expect(option?.reasons.map(({ message }) => message)).toEqual([
      de.afterSalesObstacles.self_service_disabled,
    ]);
  });
});
