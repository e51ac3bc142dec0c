/** The console judges an endpoint by its status and the success rate of its recent attempts. */
import { expect, it } from "vitest";
import { assessEndpointHealth } from "#pages/console/browser/endpoints/judge-health.ts";

const health = {
  state: "HEALTHY",
  consecutiveFailures: 0,
  successRate24h: 1,
  lastSuccessAt: null,
  lastFailureAt: null,
  lastFailure: null,
  pausedUntil: null,
} as const;

it.each([
  ["DISABLED", {}, "DISABLED", "receives no deliveries"],
  ["AUTO_DISABLED", { state: "FAILING" }, "DISABLED", "receives no deliveries"],
  ["ENABLED", {}, "HEALTHY", "100 % successful in 24 hours"],
  ["ENABLED", { successRate24h: 0.9999 }, "HEALTHY", "99.9 % successful in 24 hours"],
  ["ENABLED", { successRate24h: 0.95 }, "HEALTHY", "95 % successful in 24 hours"],
  ["ENABLED", { successRate24h: 0.94 }, "SOME_FAILURES", "94 % successful in 24 hours"],
  [
    "ENABLED",
    { successRate24h: 0.125, consecutiveFailures: 7 },
    "SOME_FAILURES",
    "12.5 % successful in 24 hours, 7 failures in a row",
  ],
  [
    "ENABLED",
    { consecutiveFailures: 1 },
    "SOME_FAILURES",
    "100 % successful in 24 hours, 1 failure in a row",
  ],
  ["ENABLED", { state: "FAILING", successRate24h: null }, "FAILING", "no attempt in 24 hours"],
  ["ENABLED", { state: "DEGRADED", successRate24h: null }, "DEGRADED", "no attempt in 24 hours"],
  ["ENABLED", { state: "UNKNOWN", successRate24h: null }, "UNKNOWN", "no attempt in 24 hours"],
] as const)("judges an endpoint that is %s with %o as %s", (status, changes, state, reason) => {
  expect(assessEndpointHealth({ status, health: { ...health, ...changes } })).toEqual({
    state,
    reason,
    pausedUntil: null,
  });
});

it("says until when an endpoint is paused, and nothing about a time in the past", () => {
  const pausedUntil = "2026-11-23T14:05:00Z";
  const paused = { ...health, state: "FAILING" as const, consecutiveFailures: 20, pausedUntil };
  const judgeAt = (now: string) =>
    assessEndpointHealth({ status: "ENABLED", health: paused }, Date.parse(now));
  expect(judgeAt("2026-11-23T14:04:59Z")).toEqual({
    state: "FAILING",
    reason: "after 20 failures in a row",
    pausedUntil,
  });
  expect(judgeAt(pausedUntil)).toEqual({
    state: "FAILING",
    reason: "20 failures in a row; the next delivery is tried now",
    pausedUntil: null,
  });
});
