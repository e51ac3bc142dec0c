/** The overview of the console says in one sentence how many delivery attempts succeeded and failed. */
import { expect, it } from "vitest";
import { summarizeDeliveryAttempts } from "#pages/console/browser/overview/attempt-summary.ts";

it.each([
  [1, 7, "1 delivery attempt succeeded, 7 failed in the last 24 hours."],
  [2000, 0, "2,000 delivery attempts succeeded, 0 failed in the last 24 hours."],
])("the summary of %i successes and %i failures", (successes, failures, text) => {
  expect(summarizeDeliveryAttempts({ successes, failures }, "the last 24 hours")).toBe(text);
});
