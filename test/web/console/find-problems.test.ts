/** The overview lists what needs attention, and nothing that is well. */
import { expect, it } from "vitest";
import type { ConsoleWebhookEndpoint } from "#pages/console/browser/endpoints/endpoint-documents.ts";
import { findInstallationProblems } from "#pages/console/browser/overview/find-problems.ts";
import type { EventWithDeliveryStatuses } from "#pages/console/browser/overview/overview-documents.ts";

const nowMs = Date.parse("2026-11-23T15:00:00Z");
const well = {
  id: "whe_1",
  url: "https://shop.example/hooks",
  status: "ENABLED",
  disabledReason: null,
  health: {
    state: "HEALTHY",
    consecutiveFailures: 0,
    successRate24h: 1,
    lastSuccessAt: null,
    lastFailureAt: null,
    lastFailure: null,
    pausedUntil: null,
  },
} as unknown as ConsoleWebhookEndpoint;

type Logged = EventWithDeliveryStatuses["deliveries"][number];

const logged = (delivery: Partial<Logged>): Logged => ({
  id: "whd_1",
  endpointId: "whe_1",
  status: "SUCCEEDED",
  replayOf: null,
  ...delivery,
});

const event = (...deliveries: Partial<Logged>[]): EventWithDeliveryStatuses => ({
  id: "evt_1",
  type: "order.placed",
  occurredAt: "2026-11-23T14:00:00Z",
  deliveries: deliveries.map(logged),
});

type Check = Parameters<typeof findInstallationProblems>[0]["installation"]["readiness"]["checks"][number];

const problemsOf = (
  endpoint: ConsoleWebhookEndpoint,
  events: readonly EventWithDeliveryStatuses[] = [],
  checks: readonly Partial<Check>[] = [],
): readonly string[] =>
  findInstallationProblems({
    installation: { id: "ins_1", readiness: { checks } } as Parameters<
      typeof findInstallationProblems
    >[0]["installation"],
    endpoints: [endpoint],
    events,
    nowMs,
    titleOf: (code) => (code === "API_KEY_ACTIVE" ? "API key" : code),
  }).map(({ tone, text, link }) => `${tone} ${text} ${link.to}`);

it("an endpoint that is well, or was switched off on purpose, is no problem", () => {
  expect(problemsOf(well, [event({})])).toEqual([]);
  expect(problemsOf({ ...well, status: "DISABLED", disabledReason: "MANUAL" })).toEqual([]);
});

it("a failing, paused or switched-off endpoint is a problem with a link to it", () => {
  const failing = { ...well.health, successRate24h: 0.2, consecutiveFailures: 5 };
  expect(problemsOf({ ...well, health: failing })).toEqual([
    `warn ${well.url}: 20 % successful in 24 hours, 5 failures in a row. /endpoints/whe_1`,
  ]);
  expect(problemsOf({ ...well, health: { ...failing, state: "FAILING" } })).toEqual([
    `fault ${well.url}: 20 % successful in 24 hours, 5 failures in a row. /endpoints/whe_1`,
  ]);
  const paused = {
    ...failing,
    state: "FAILING" as const,
    consecutiveFailures: 20,
    pausedUntil: "2026-11-23T15:01:00Z",
  };
  expect(problemsOf({ ...well, health: paused })).toEqual([
    `fault ${well.url}: paused after 20 failures in a row. /endpoints/whe_1`,
  ]);
  expect(problemsOf({ ...well, status: "AUTO_DISABLED", disabledReason: "GONE" })[0]).toContain(
    "was switched off, because the receiver answered 410",
  );
});

it("a lost delivery counts until a replay of it succeeded or is in progress", () => {
  const lost = event({ status: "EXHAUSTED" });
  const link = "/endpoints/whe_1?status=exhausted";
  const text = `fault 1 delivery to ${well.url} failed and will not be retried. Repair the receiver, then replay it. ${link}`;
  expect(problemsOf(well, [lost])).toEqual([text]);
  const replay = { id: "whd_2", replayOf: "whd_1" };
  expect(problemsOf(well, [event({ status: "EXHAUSTED" }, { ...replay, status: "EXHAUSTED" })])).toEqual([
    text,
  ]);
  expect(problemsOf(well, [event({ status: "EXHAUSTED" }, replay)])).toEqual([]);
  expect(problemsOf(well, [event({ status: "RETRYING" }), event({ status: "RETRYING" })])).toEqual([
    `warn 2 deliveries to ${well.url} failed and will be retried. /endpoints/whe_1?status=retrying`,
  ]);
});

it("open readiness checks are listed, those that block first; passed ones are not", () => {
  const checks = [
    { code: "CLOCK_SKEW", status: "WARN", severity: "ADVISORY", message: "The clocks differ." },
    { code: "API_KEY_ACTIVE", status: "FAIL", severity: "REQUIRED", message: "There is no key." },
    { code: "TAX_CONFIGURED", status: "PASS", severity: "REQUIRED", message: "All set." },
  ] as unknown as readonly Partial<Check>[];
  expect(problemsOf(well, [], checks)).toEqual([
    "fault API key: There is no key. /installations/ins_1",
    "warn CLOCK_SKEW: The clocks differ. /installations/ins_1",
  ]);
});
