/**
 * The summary of the readiness checks, and the cases that need no database: boundaries to the millisecond,
 * access tokens, and calls from outside.
 */
import { describe, expect, it } from "vitest";
import { type InstallationReadinessCheck, assessInstallationReadiness } from "#access/readiness/readiness.ts";
import type { InstallationForReadinessCheck, ReadinessCheckInput } from "#access/readiness/readiness-data.ts";
import type { ApiKeyViewer, OauthViewer, PermissionScope } from "#access/viewer.ts";

const now = new Date("2026-06-01T00:00:00.000Z");
const dayMs = 86_400_000;
const later = (ms: number): Date => new Date(now.getTime() + ms);

const key = {
  id: "key_1",
  scopes: ["catalog:read"],
  createdAt: later(-dayMs),
  expiresAt: null,
  rotatesTo: null,
};
const facts: InstallationForReadinessCheck = {
  installationId: "ins_1",
  status: "active",
  scopes: ["catalog:read"],
  suspendedAt: null,
  updatedAt: now,
  merchantMode: "test",
  merchantStatus: "active",
  merchantSuspendedAt: null,
  defaultMarket: "DE",
  paymentConnection: null,
  keys: [key],
  lastKeyEndedAt: null,
  grants: [],
  marketCount: 1,
  isDefaultMarketServed: true,
  untaxedCountries: [],
  retryingDeliveries: {},
  marketsWithoutReturnPolicy: [],
  clockSkewMs: 0,
};
const owner = {
  installationId: "ins_1",
  appId: "app_1",
  merchantId: "mer_1",
  scopes: new Set<PermissionScope>(),
  suspended: null,
} as const;
const withKey: ApiKeyViewer = { ...owner, kind: "api_key", apiKeyId: "key_1", keyPrefix: "cpk_test_1" };
const withToken: OauthViewer = { ...owner, kind: "oauth", grantId: "grt_1", clientId: "oac_1" };

const judge = (
  change: Partial<InstallationForReadinessCheck> = {},
  more: Partial<ReadinessCheckInput> = {},
) =>
  assessInstallationReadiness({
    now,
    installation: { ...facts, ...change },
    credential: withKey,
    endpoints: [],
    ...more,
  });
const check = (
  code: InstallationReadinessCheck["code"],
  ...given: Parameters<typeof judge>
): InstallationReadinessCheck | undefined => judge(...given).checks.find((one) => one.code === code);

describe("the summary of the checks", () => {
  const [warns, advisoryFails, blockingFails] = [
    { untaxedCountries: ["DE"] },
    { clockSkewMs: 60_000 },
    { marketCount: 0 },
  ];
  it.each([
    ["nothing is wrong", {}, "ready"],
    ["an advisory check warns", warns, "degraded"],
    ["an advisory check fails", advisoryFails, "degraded"],
    ["a blocking check warns", { isDefaultMarketServed: false }, "degraded"],
    ["a blocking check fails", blockingFails, "action_required"],
    [
      "a blocking and an advisory check fail",
      { ...warns, ...advisoryFails, ...blockingFails },
      "action_required",
    ],
    ["the merchant is suspended", { merchantStatus: "suspended" }, "blocked"],
    ["the installation is suspended", { status: "suspended" }, "blocked"],
    ["the app is uninstalled", { status: "uninstalled" }, "blocked"],
    ["suspended, and more is wrong", { status: "suspended", ...blockingFails }, "blocked"],
  ] as const)("when %s", (_name, change, status) => {
    expect(judge(change).status).toBe(status);
  });
});

describe("the check of", () => {
  it.each([
    [0, "pass"],
    [2_000, "pass"],
    [2_001, "warn"],
    [30_000, "warn"],
    [30_001, "fail"],
  ] as const)("clocks that differ by %i ms is a %s", (clockSkewMs, status) => {
    expect(check("clock_skew", { clockSkewMs })).toMatchObject({ status, severity: "advisory" });
  });

  it.each([
    [14 * dayMs, "pass", null],
    [14 * dayMs - 1, "warn", later(-1)],
    [13 * dayMs, "warn", later(-dayMs)],
    // The key was created with less than 14 days to live.
    [5 * dayMs, "warn", key.createdAt],
  ] as const)("a key that expires in %i ms is a %s", (ms, status, since) => {
    expect(check("api_key_expiry", { keys: [{ ...key, expiresAt: later(ms) }] })).toMatchObject({
      status,
      since,
    });
    expect(judge({ keys: [{ ...key, expiresAt: later(ms) }] }).nextActionAt).toEqual(later(ms));
  });

  it("suspension names since when, and of which account", () => {
    const suspended = {
      status: "suspended",
      suspendedAt: later(-5),
      merchantStatus: "suspended",
      merchantSuspendedAt: later(-3),
    } as const;
    expect(check("merchant_active", suspended)).toMatchObject({
      status: "fail",
      since: later(-3),
      message: "The merchant is suspended.",
    });
    expect(check("merchant_active", { status: "suspended", suspendedAt: later(-5) })).toMatchObject({
      status: "fail",
      since: later(-5),
    });
    expect(check("merchant_active", { status: "uninstalled", updatedAt: later(-7) })).toMatchObject({
      status: "fail",
      since: later(-7),
    });
  });
});

describe("with an access token", () => {
  it("the check of keys is skipped, and the grant's scopes count", () => {
    const grants = [
      { id: "grt_1", scopes: ["catalog:read"] },
      { id: "grt_2", scopes: ["webhooks:read"] },
    ];
    const judged = judge(
      { keys: [], grants, scopes: ["catalog:read", "checkout:quote"] },
      { credential: withToken },
    );
    expect(judged.checks.slice(0, 2).map(({ status }) => status)).toEqual(["skipped", "skipped"]);
    expect(judged).toMatchObject({
      status: "action_required",
      requiredScopes: ["catalog:read", "checkout:quote"],
      grantedScopes: ["catalog:read"],
      missingScopes: ["checkout:quote"],
    });
    expect(judge({ keys: [], grants }, { credential: withToken }).status).toBe("ready");
  });
});

describe("without a credential of the installation", () => {
  const credential = null;

  it("a single active key is enough, and the scopes of all keys count together", () => {
    const keys = [key, { ...key, id: "key_2", scopes: ["webhooks:read"] }];
    const judged = judge({ keys, scopes: ["catalog:read", "webhooks:read"] }, { credential });
    expect(judged).toMatchObject({ grantedScopes: ["catalog:read", "webhooks:read"], missingScopes: [] });
    expect(check("api_key_active", { keys }, { credential })).toMatchObject({ status: "pass" });
  });

  it("the check fails without an active key since the last one's end, unless there are grants", () => {
    const ended = { keys: [], lastKeyEndedAt: later(-1) };
    expect(check("api_key_active", ended, { credential })).toMatchObject({
      status: "fail",
      since: later(-1),
    });
    expect(judge(ended, { credential })).toMatchObject({
      status: "action_required",
      missingScopes: ["catalog:read"],
    });
    const grants = [{ id: "grt_1", scopes: ["catalog:read"] }];
    expect(check("api_key_active", { ...ended, grants }, { credential })).toMatchObject({
      status: "skipped",
    });
    expect(judge({ ...ended, grants }, { credential }).status).toBe("ready");
  });

  it("the end of a key with a successor causes no warning", () => {
    const keys = [
      { ...key, expiresAt: later(1), rotatesTo: "key_2" },
      { ...key, id: "key_2" },
    ];
    expect(check("api_key_expiry", { keys }, { credential })).toMatchObject({ status: "pass" });
    expect(check("api_key_expiry", { keys })).toMatchObject({
      status: "warn",
      remedy: "Use its successor, the API key key_2.",
    });
  });
});
