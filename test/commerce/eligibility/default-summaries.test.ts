/** The default summary of a policy describes exactly its rules, if the merchant wrote no summary. */
import { describe, expect, it } from "vitest";
import { defaultPolicyRules, type PolicyRulesByType } from "#commerce/markets/policy-rules.ts";
import { generatePolicySummaryFromRules } from "#commerce/eligibility-texts/eligibility-catalogue.ts";

const said = <Type extends keyof PolicyRulesByType>(
  type: Type,
  rules: Partial<PolicyRulesByType[Type]>,
): string => generatePolicySummaryFromRules(type, Object.assign({}, defaultPolicyRules[type], rules), "en");

describe("a policy without a summary", () => {
  it.each([
    [{}, "You may cancel an order within 60 minutes; after that you may ask for it until it is shipped."],
    [
      { windowMinutes: 1, afterWindow: "deny" },
      "You may cancel an order within 1 minute, and not after that.",
    ],
    [
      { windowMinutes: null },
      "You may cancel an order until it is being packed; after that you may ask for it.",
    ],
    [{ mode: "request" }, "You may ask for the cancellation of an order until it is shipped."],
    [
      { mode: "request", windowMinutes: null },
      "You may ask for the cancellation of an order until it is shipped.",
    ],
    [
      { mode: "request", afterWindow: "deny" },
      "You may ask for the cancellation of an order within 60 minutes, and not after that.",
    ],
    [{ mode: "none" }, "An order cannot be canceled by its buyer."],
  ] as const)("describes cancellations %o: %s", (rules, text) => {
    expect(said("cancellation", rules)).toBe(text);
  });

  it.each([
    [
      {},
      "You may return what you bought within 30 days of its delivery, and exchange it within 30 days of " +
        "its delivery.",
    ],
    [
      { windowDays: null, exchangeWindowDays: null },
      "You may return what you bought at any time; there are no exchanges.",
    ],
    [
      { mode: "request", windowDays: 1, exchangeWindowDays: null, extendUntil: "2027-01-31" },
      "You may ask to return what you bought within 1 day of its delivery; there are no exchanges; in no " +
        "case does that end before the end of 2027-01-31.",
    ],
    [{ mode: "none" }, "The merchant accepts returns only where the law requires it."],
  ] as const)("describes returns %o: %s", (rules, text) => {
    expect(said("return", rules)).toBe(text);
  });

  it("says so if the policy does not exist", () => {
    expect([said("withdrawal", {}), said("warranty", {})]).toEqual([
      "There is no right of withdrawal.",
      "There is no warranty beyond the statutory one.",
    ]);
    expect(said("warranty", { months: 1 })).toBe(
      "What you bought is guaranteed for 1 month from its delivery.",
    );
  });
});
