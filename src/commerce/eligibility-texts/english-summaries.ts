/**
 * Describes policies in English, from the rules of each policy. Also defines the type of the functions that
 * describe policies, which all languages use.
 */
import type { CancellationRules, PolicyRulesByType, ReturnRules } from "#commerce/markets/policy-rules.ts";

/**
 * The functions that describe policies in one language: for each policy type, the function that describes the
 * rules of a policy of this type.
 */
export type PolicySummaryWritersByType = {
  readonly [Type in keyof PolicyRulesByType]: (rules: PolicyRulesByType[Type]) => string;
};

export const englishSummaries: PolicySummaryWritersByType = {
  cancellation: (rules) => cancellationSummary(rules),
  return: (rules) => returnSummary(rules),
  withdrawal: ({ windowDays }) =>
    windowDays === 0
      ? "There is no right of withdrawal."
      : `You may withdraw from the purchase within ${days(windowDays)} of the delivery, or of the ` +
        "order where nothing is delivered, without giving a reason.",
  warranty: ({ months }) =>
    months === 0
      ? "There is no warranty beyond the statutory one."
      : `What you bought is guaranteed for ${counted(months, "month")} from its delivery.`,
};

function cancellationSummary({ mode, windowMinutes, afterWindow }: CancellationRules): string {
  if (mode === "none") return "An order cannot be canceled by its buyer.";
  const may = mode === "request" ? "You may ask for the cancellation of an order" : "You may cancel an order";
  if (windowMinutes === null)
    return mode === "request"
      ? `${may} until it is shipped.`
      : `${may} until it is being packed; after that you may ask for it.`;
  const within = `${may} within ${counted(windowMinutes, "minute")}`;
  if (afterWindow === "deny") return `${within}, and not after that.`;
  return mode === "request"
    ? `${may} until it is shipped.`
    : `${within}; after that you may ask for it until it is shipped.`;
}

function returnSummary(rules: ReturnRules): string {
  const { mode, windowDays, exchangeWindowDays, extendUntil } = rules;
  if (mode === "none") return "The merchant accepts returns only where the law requires it.";
  const may = mode === "request" ? "You may ask to" : "You may";
  const returned = `${may} return what you bought ${within(windowDays)}`;
  const exchanged =
    exchangeWindowDays === null
      ? "; there are no exchanges"
      : `, and exchange it ${within(exchangeWindowDays)}`;
  const extended = extendUntil === null ? "" : `; in no case does that end before the end of ${extendUntil}`;
  return `${returned}${exchanged}${extended}.`;
}

const within = (windowDays: number | null): string =>
  windowDays === null ? "at any time" : `within ${days(windowDays)} of its delivery`;
const days = (count: number): string => counted(count, "day");
const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? "" : "s"}`;
